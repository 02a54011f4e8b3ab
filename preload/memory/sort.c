/* SPDX-License-Identifier: MIT */
/* Sorts ranges, spans and targets in place. */
#include "memory.h"

typedef uintptr_t word __attribute__((may_alias)); /* aliases items of any type */

static void swap(word *a, word *b, size_t words) {
    for (size_t i = 0; i < words; i++) {
        word t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

static void sift(word *items, size_t i, size_t count, size_t words) {
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && items[(child + 1) * words] > items[child * words])
            child++;
        if (items[i * words] >= items[child * words])
            return;
        swap(items + i * words, items + child * words, words);
    }
}

void vt_scan_sort(void *items, size_t count, size_t bytes) {
    const size_t words = bytes / sizeof(word);
    for (size_t i = count / 2; i-- > 0;)
        sift(items, i, count, words);
    for (size_t i = count; i-- > 1;) {
        swap(items, (word *)items + i * words, words);
        sift(items, 0, i, words);
    }
}
