/* SPDX-License-Identifier: MIT */
/*
 * The list of live allocations at the end of a log with dropped events. It follows the header in chunk 0 and continues
 * in its own chunks. Called by exit.c.
 */
#include "log_file.h"
#include "base/base.h"

static uint32_t listing;                /* atomic: a thread is writing the list */
static struct vt_log_live_chunk *chunk; /* the list's last chunk; NULL: none */

bool vt_log_list_begin(void) {
    if (!vt_log_is_open() || !vt_claim(&listing, 0, 1))
        return false;
    vt_log_header->live_total = vt_log_header->live_listed = vt_log_header->live_last = 0;
    return true;
}

void vt_log_list_add(const struct vt_log_live *entry) {
    uint64_t at = vt_log_header->live_listed;
    struct vt_log_live *list = (void *)(vt_log_header + 1);
    if (vt_log_header->live_total++ != at)
        return; /* the previous entry did not fit */
    if (at >= VT_LIVE_LISTED_MOST) {
        at = (at - VT_LIVE_LISTED_MOST) % VT_LIVE_IN_CHUNK;
        if (!at)
            chunk = vt_log_next_live(chunk, true);
        if (!chunk)
            return;
        list = chunk->entries;
    }
    list[at] = *entry;
    vt_log_header->live_listed++;
}

void vt_log_list_done(void) {
    chunk = vt_log_next_live(chunk, false);
    vt_log_flag(VT_FLAG_LIVE_LISTED);
    vt_publish(&listing, 0);
}

void vt_log_live_forked(void) {
    chunk = NULL;
    vt_put(&listing, 0);
}
