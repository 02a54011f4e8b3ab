/* SPDX-License-Identifier: MIT */
/*
 * Device addresses of memory that other processes own: imported by IPC, as external memory, or from another process's
 * pool. They are never in the live table. cuMemFree and cuMemFreeAsync accept some of them; that frees no memory of
 * this process.
 *
 * Called by wrap_share.c and wrap_pool.c for imports, and by event.c when an unknown address is freed.
 */
#include "state.h"
#include "base/base.h"

static struct vt_table imported; /* set of addresses */
static uint32_t any;             /* atomic: whether any address was ever seen */

void vt_share_seen(uint64_t address) {
    const uint64_t words[VT_TABLE_WORDS] = {0};
    vt_put(&any, 1);
    vt_table_replace(&imported, address, words);
}

bool vt_share_remove(uint64_t address) {
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
