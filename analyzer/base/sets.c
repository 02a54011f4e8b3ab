/* SPDX-License-Identifier: MIT */
/*
 * Union-find (see sets.h): sets[i] leads towards the least number of the set.
 */
#include "sets.h"

#include "util.h"

uint32_t *vt_sets_make(uint32_t count) {
    uint32_t *sets = vt_alloc(count, sizeof *sets);
    for (uint32_t i = 0; i < count; i++)
        sets[i] = i;
    return sets;
}

/* Halves the way, so that ways stay short. */
uint32_t vt_sets_find(uint32_t *sets, uint32_t i) {
    while (sets[i] != i)
        i = sets[i] = sets[sets[i]];
    return i;
}

void vt_sets_join(uint32_t *sets, uint32_t a, uint32_t b) {
    a = vt_sets_find(sets, a);
    b = vt_sets_find(sets, b);
    sets[a > b ? a : b] = a < b ? a : b;
}
