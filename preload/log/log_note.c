/* SPDX-License-Identifier: MIT */
/* Notes: sentences for the report, each a record. Called by the rooms that have something to say. */
#define _GNU_SOURCE
#include "log_file.h"

#include <string.h>

void vt_log_note(const char *text) {
    struct vt_thread *t = vt_tls.thread;
    if (!vt_log_is_open() || !t)
        return;
    uint32_t n = (uint32_t)strnlen(text, 1024),
             bytes = (uint32_t)(sizeof(struct vt_rec_note) + ((n + 7) & ~7u));
    struct vt_rec_note *r = (void *)vt_log_reserve_entry(t, bytes);
    if (!r)
        return;
    r->text_bytes = n;
    r->zero = 0;
    memset(r + 1, 0, bytes - sizeof *r);
    memcpy(r + 1, text, n);
    vt_log_commit(t, &r->word, vt_word(VT_REC_NOTE, 0, 0, bytes), bytes);
}
