/* SPDX-License-Identifier: MIT */
/*
 * The statistics of growth_trend.c: the Mann-Kendall test for a trend of levels, and the figures of Laplace's test for
 * a trend of events. doc/GROWTH.md explains them.
 */
#include "growth_search.h"

#include <math.h>
#include <stdlib.h>

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double vt_growth_mann_kendall(const double *values, uint32_t count) {
    if (count < 4)
        return 1;
    double s = 0, n = count, *sorted = vt_alloc(count, sizeof *sorted);
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = values[i];
        for (uint32_t j = i + 1; j < count; j++)
            s += values[j] > values[i] ? 1 : values[j] < values[i] ? -1 : 0;
    }
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    double variance = n * (n - 1) * (2 * n + 5);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && !(sorted[end] > sorted[i]);)
            end++;
        double tied = end - i;
        variance -= tied * (tied - 1) * (2 * tied + 5);
    }
    free(sorted);
    variance /= 18;
    if (variance <= 0 || s <= 0)
        return 1;
    return 0.5 * erfc((s - 1) / sqrt(variance) / sqrt(2)); /* s - 1: continuity */
}

/* The variance of the number of blocks in equal windows, divided by its mean. */
static double dispersion(const struct rise *rises, uint32_t count, double start, double end) {
    double in[COUNT_WINDOWS] = {0}, all = 0, squares = 0;
    int windows = count / 2 > COUNT_WINDOWS ? COUNT_WINDOWS : (int)(count / 2);
    for (uint32_t i = 0; i < count; i++) {
        int w = (int)((rises[i].at - start) / (end - start) * windows);
        in[w < 0 ? 0 : w < windows ? w : windows - 1] += (double)rises[i].count;
        all += (double)rises[i].count;
    }
    for (int w = 0; w < windows; w++)
        squares += (in[w] - all / windows) * (in[w] - all / windows);
    return squares / (windows - 1) / (all / windows);
}

/* The squared coefficient of variation of the pauses between rises, which equals the dispersion if each rise is one
 * block. This needs fewer rises to distinguish regular from random ones. */
static double unevenness(const struct rise *rises, uint32_t count, double start) {
    double before = start, mean = 0, squares = 0;
    for (uint32_t i = 0; i < count; i++)
        mean += (rises[i].at - (i ? rises[i - 1].at : start)) / count;
    for (uint32_t i = 0; i < count; i++) {
        double apart = rises[i].at - before - mean;
        squares += apart * apart;
        before = rises[i].at;
    }
    return mean > 0 ? squares / (count - 1) / (mean * mean) : 0;
}

struct steadiness vt_growth_steadiness(const struct rise *rises, uint32_t count, double end) {
    double start = rises[0].at, blocks = 0, positions = 0;
    struct steadiness found = {0};
    const struct rise *later = rises + 1;
    uint32_t n = count - 1;
    for (uint32_t i = 0; i < n; i++) {
        blocks += (double)later[i].count;
        positions += (double)later[i].count * (later[i].at - start) / (end - start);
    }
    found.mean_position = positions / blocks;
    found.dispersion = dispersion(later, n, start, end);
    found.error = sqrt(found.dispersion / (12 * blocks));
    double uneven = unevenness(later, n, start), error = sqrt(uneven / (12 * n));
    if (error < found.error) {
        found.error = error;
        found.dispersion = uneven < found.dispersion ? uneven : found.dispersion;
    }
    return found;
}
