/* SPDX-License-Identifier: MIT */
/*
 * The list of what is live at the end, behind the header in chunk 0, for a log from which events were
 * dropped. exit.c writes it.
 */
#include "log_file.h"
#include "base/base.h"

static uint32_t listing; /* atomic: one thread lists what is live */

bool vt_log_list_begin(void) {
    if (!vt_log_is_open() || !vt_claim(&listing, 0, 1))
        return false;
    vt_log_header->live_total = vt_log_header->live_listed = 0;
    return true;
}

void vt_log_list_add(const struct vt_log_live *entry) {
    if (vt_log_header->live_total++ >= VT_LIVE_LISTED_MOST)
        return;
    struct vt_log_live *list = (void *)(vt_log_header + 1);
    list[vt_log_header->live_listed++] = *entry;
}

void vt_log_list_done(void) {
    vt_log_flag(VT_FLAG_LIVE_LISTED);
    vt_publish(&listing, 0);
}

void vt_log_live_forked(void) {
    vt_put(&listing, 0);
}
