/* SPDX-License-Identifier: MIT */
/*
 * Rows of words: see words.h.
 */
#include "words.h"

#include <stdlib.h>

struct vt_words_row *vt_words_add(struct vt_words *words, enum vt_words_kind kind,
                                  const char *label, char *text) {
    VT_GROW(words->rows, words->count, words->room);
    struct vt_words_row *row = &words->rows[words->count++];
    *row = (struct vt_words_row){
        .kind = kind, .label = label, .text = vt_printable(text), .bytes = VT_UNKNOWN};
    return row;
}

void vt_words_free(struct vt_words *words) {
    for (uint32_t i = 0; i < words->count; i++) {
        free(words->rows[i].text);
        free(words->rows[i].source);
    }
    free(words->rows);
    free(words->headline);
    free(words->remark);
    *words = (struct vt_words){0};
}
