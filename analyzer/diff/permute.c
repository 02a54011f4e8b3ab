/* SPDX-License-Identifier: MIT */
/*
 * Finds the figures of two sets of runs that differ more than the runs within a set: a permutation test on the
 * largest statistic. For runs.c.
 *
 * If nothing changed, any split of all runs into two sets of these sizes is as likely as the real one. So a figure's
 * statistic is compared with the largest statistic of all figures at each split. This maximum rises with the number of
 * figures, so the chance of any false report stays the same. If there are few splits, all are tried; otherwise random
 * ones, which are the same each time. Five and five runs have 252 splits. The real one and its mirror image are two of
 * them, so p is at least 0.8 %.
 *
 * The statistic is the gap between the two sets divided by the sum of their widths; it is negative if they overlap.
 * So each figure is measured against its own noise. If a set has two modes, its width spans both; a single outlier
 * widens its set, so nothing is reported. In sets of eight or more, an eighth is left out at either end.
 */
#include "runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT = 20000, RANDOM = 10000 };

/* Returns 0 for more than EXACT. */
static uint32_t count_splits(const uint32_t runs[2]) {
    double splits = 1;
    for (uint32_t i = 1; i <= runs[0] && splits <= EXACT; i++)
        splits = splits * (runs[1] + i) / i;
    return splits > EXACT ? 0 : (uint32_t)(splits + 0.5);
}

/* Moves to the next split in lexical order. The first set's last run with a free place behind it moves there, and the
 * set's runs behind it follow directly. `in_first`: whether a run is in the first set. */
static void next_split(bool *in_first, uint32_t runs) {
    uint32_t at = runs - 1, behind = 0;
    for (; !in_first[at - 1] || in_first[at]; at--)
        behind += in_first[at];
    memset(in_first + at - 1, 0, runs - at + 1);
    memset(in_first + at, 1, behind + 1);
}

static void shuffle(bool *in_first, uint32_t runs, uint64_t *seed) {
    for (uint32_t i = runs; i > 1; i--) {
        *seed = vt_mix(*seed + 1);
        bool *other = &in_first[*seed % i], last = in_first[i - 1];
        in_first[i - 1] = *other;
        *other = last;
    }
}

struct value {
    uint64_t value;
    uint32_t run;
};

static int by_value(const void *a, const void *b) {
    const struct value *x = a, *y = b;
    return VT_ORDER({x->value, y->value}, {x->run, y->run});
}

/* `sorted`: the values of a figure. */
static double statistic(const struct value *sorted, const bool *in_first, const uint32_t runs[2]) {
    uint32_t seen[2] = {0, 0};
    double low[2] = {0, 0}, high[2] = {0, 0};
    for (uint32_t i = 0; i < runs[0] + runs[1]; i++) {
        unsigned set = !in_first[sorted[i].run];
        uint32_t at = seen[set]++, out = runs[set] / 8;
        if (at == out)
            low[set] = (double)sorted[i].value;
        if (at == runs[set] - 1 - out)
            high[set] = (double)sorted[i].value;
    }
    double gap = fmax(low[1] - high[0], low[0] - high[1]);
    double width = high[0] - low[0] + high[1] - low[1];
    return width > 0 ? gap / width : gap > 0 ? INFINITY : -INFINITY;
}

uint32_t vt_permute(struct vt_runs_figure *figures, uint32_t count, const uint32_t runs[2]) {
    uint32_t all = runs[0] + runs[1], exact = count_splits(runs), splits = exact ? exact : RANDOM;
    VT_SCOPED struct value *sorted = vt_alloc((size_t)count * all, sizeof *sorted);
    VT_SCOPED bool *in_first = vt_alloc(all, sizeof *in_first);
    VT_SCOPED double *largest = vt_alloc(splits, sizeof *largest);
    bool enough = runs[0] >= VT_PERMUTE_RUNS && runs[1] >= VT_PERMUTE_RUNS;
    uint64_t seed = 1;
    memset(in_first, 1, runs[0]); /* the real split comes first */
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t run = 0; run < all; run++)
            sorted[(size_t)i * all + run] = (struct value){
                run < runs[0] ? figures[i].values[0][run] : figures[i].values[1][run - runs[0]],
                run};
        vt_sort(sorted + (size_t)i * all, all, sizeof *sorted, by_value);
        figures[i].p = enough ? statistic(sorted + (size_t)i * all, in_first, runs) : -1;
    }
    for (uint32_t split = 0; split < splits && enough; split++) {
        largest[split] = -INFINITY;
        for (uint32_t i = 0; i < count; i++)
            largest[split] =
                fmax(largest[split], statistic(sorted + (size_t)i * all, in_first, runs));
        if (!exact)
            shuffle(in_first, all, &seed);
        else if (split + 1 < splits)
            next_split(in_first, all);
    }
    for (uint32_t i = 0; i < count && enough; i++) {
        uint32_t as_large = 0;
        for (uint32_t split = 0; split < splits; split++)
            as_large += largest[split] >= figures[i].p;
        figures[i].p = (double)as_large / splits;
    }
    return enough ? splits : 0;
}
