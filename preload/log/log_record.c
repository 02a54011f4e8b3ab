/* SPDX-License-Identifier: MIT */
/*
 * Writes whole records: an event's, and what is written once (names, modules, notes). Called by the
 * rooms that have something to say. ALLOC, FREE and STACK are log_short.c's.
 */
#include "log_file.h"

#include <string.h>

/* The first word is stored last, which publishes the record. */
static void fill_record(struct vt_thread *t, uint64_t *to, const void *record, uint32_t bytes,
                        uint64_t word, uint32_t whole) {
    memcpy(to + 1, (const uint64_t *)record + 1, bytes - sizeof *to);
    vt_log_commit(t, to, word, whole);
}

bool vt_log_event(struct vt_thread *t, const void *record, uint32_t bytes) {
    uint64_t *to = vt_log_reserve(t, bytes);
    if (to)
        fill_record(t, to, record, bytes, *(const uint64_t *)record, bytes);
    return to != NULL;
}

bool vt_log_entry(struct vt_thread *t, const void *record, uint32_t bytes, struct vt_log_part first,
                  struct vt_log_part second) {
    uint32_t whole = bytes + ((first.bytes + second.bytes + 7) & ~7u);
    uint64_t *to = vt_log_reserve_entry(t, whole);
    if (!to)
        return false;
    char *parts = (char *)to + bytes;
    if (first.bytes)
        memcpy(parts, first.data, first.bytes);
    if (second.bytes)
        memcpy(parts + first.bytes, second.data, second.bytes);
    fill_record(t, to, record, bytes, *(const uint64_t *)record | (uint64_t)whole << 32, whole);
    return true;
}

void vt_log_note(const char *text) {
    const struct vt_rec_note r = {.word = VT_REC_NOTE, .text_bytes = (uint32_t)strnlen(text, 1024)};
    if (vt_log_is_open() && vt_tls.thread)
        vt_log_entry(vt_tls.thread, &r, sizeof r, (struct vt_log_part){text, r.text_bytes},
                     VT_LOG_NOTHING);
}
