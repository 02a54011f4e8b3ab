/* SPDX-License-Identifier: MIT */
/*
 * Device addresses of memory that is another's: imported by IPC, as external memory, or out of
 * another process's pool. They are never in the live table, but cuMemFree and cuMemFreeAsync take
 * some of them, and then nothing of this process's own is freed.
 *
 * Called by wrap_share.c and wrap_pool.c when they come, by event.c when an unknown address is
 * freed.
 */
#include "books.h"
#include "base/base.h"

static struct vt_table imported; /* address -> nothing */
static uint32_t any;             /* atomic: some were seen, ever */

void vt_share_seen(uint64_t address) {
    const uint64_t words[VT_TABLE_WORDS] = {0};
    vt_put(&any, 1);
    vt_table_replace(&imported, address, words);
}

bool vt_share_take(uint64_t address) {
    uint64_t words[VT_TABLE_WORDS];
    return vt_get(&any) && vt_table_take(&imported, address, words);
}

void vt_share_back(uint64_t address) {
    const uint64_t words[VT_TABLE_WORDS] = {0};
    vt_table_insert(&imported, address, words);
}

void vt_share_forked(void) {
    vt_put(&any, 0);
    vt_table_forget(&imported);
}
