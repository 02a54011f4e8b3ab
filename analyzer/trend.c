/* SPDX-License-Identifier: MIT */
/*
 * The statistic that growth.c rests on. It looks at the order of values alone, so that a few wild ones (a batch that was larger, a trim that came late) do not decide.
 */
#include "growth.h"

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
