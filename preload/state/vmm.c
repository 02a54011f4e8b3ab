/* SPDX-License-Identifier: MIT */
/*
 * References to physical memory. A program makes memory (cuMemCreate), maps it, and may release the handle while the
 * memory is mapped (as ggml does) or add references by address (as NCCL does). The memory is freed with its last
 * reference. We count references ourselves and do not ask the driver.
 *
 * A reference is added here before the driver's call that makes it, and dropped after the call that ends it, so that
 * the count is never 0 while the driver still holds the memory. The exception is a handle's entry: it is removed before
 * the release, because the driver may give the same handle to another thread before the call returns.
 *
 * Called by wrap_vmm.c.
 */
#include "state.h"
#include "base/base.h"

#define FIRST_NUMBER 16u /* table keys start at 3 */
#define KEY(x)       ((x) + FIRST_NUMBER)

static struct vt_table numbers;  /* number -> kind << 8 | device; counts references */
static struct vt_table handles;  /* handle -> number; counts references through this handle */
static struct vt_table mappings; /* address -> bytes, number */
static uint64_t last;            /* atomic */

uint64_t vt_vmm_hold_handle(uint64_t handle) {
    uint64_t words[VT_TABLE_WORDS];
    if (!vt_table_find(&handles, KEY(handle), words))
        return 0;
    return vt_table_count_up(&numbers, words[0], NULL) ? words[0] : 0;
}

bool vt_vmm_drop(uint64_t number, unsigned *kind, unsigned *device) {
    uint64_t words[VT_TABLE_WORDS];
    if (!number || !vt_table_count_down(&numbers, number, words) || words[2])
        return false;
    *kind = (unsigned)words[0] >> 8;
    *device = words[0] & 0xff;
    return true;
}

unsigned vt_vmm_device(uint64_t number) {
    uint64_t words[VT_TABLE_WORDS];
    return vt_table_find(&numbers, number, words) ? words[0] & 0xff : VT_DEVICE_UNKNOWN;
}

void vt_vmm_handle(uint64_t handle, uint64_t number) {
    const uint64_t words[VT_TABLE_WORDS] = {number, 0, 1};
    /* If two threads both find no entry, they make two for one number, whose counts add up. */
    if (!vt_table_count_up(&handles, KEY(handle), NULL) &&
        !vt_table_insert(&handles, KEY(handle), words))
        vt_log_drop(VT_DROP_LIVE);
}

uint64_t vt_vmm_made(uint64_t handle, unsigned kind, unsigned device) {
    uint64_t number = vt_add(&last, 1) + FIRST_NUMBER;
    const uint64_t words[VT_TABLE_WORDS] = {(uint64_t)kind << 8 | (device & 0xff), 0, 1};
    if (!vt_table_insert(&numbers, number, words))
        vt_log_drop(VT_DROP_LIVE);
    vt_vmm_handle(handle, number);
    return number;
}

bool vt_vmm_release(uint64_t handle, uint64_t *number) {
    uint64_t words[VT_TABLE_WORDS];
    if (!vt_table_count_down(&handles, KEY(handle), words))
        return false;
    *number = words[0];
    return true;
}

void vt_vmm_mapped(uint64_t address, uint64_t size, uint64_t number) {
    const uint64_t words[VT_TABLE_WORDS] = {size, number};
    if (!vt_table_replace(&mappings, KEY(address), words))
        vt_log_drop(VT_DROP_LIVE);
}

struct range {
    uint64_t start, end; /* first byte, byte after the last */
    uint64_t key;        /* result: the first mapping's key; 0: none */
};

static bool in_range(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data) {
    struct range *range = data;
    uint64_t address = key - FIRST_NUMBER;
    if (address < range->end && address + words[0] > range->start &&
        (!range->key || key < range->key))
        range->key = key;
    return false;
}

/* The key of a mapping in a range: usually the one at its start, otherwise any. */
static uint64_t mapping_in(uint64_t address, uint64_t size) {
    uint64_t words[VT_TABLE_WORDS];
    if (vt_table_find(&mappings, KEY(address), words))
        return KEY(address);
    struct range range = {.start = address, .end = address + size};
    vt_table_each(&mappings, in_range, NULL, &range);
    return range.key;
}

uint64_t vt_vmm_hold_address(uint64_t address) {
    uint64_t words[VT_TABLE_WORDS];
    uint64_t key = mapping_in(address, 1);
    if (!key || !vt_table_find(&mappings, key, words))
        return 0;
    return vt_table_count_up(&numbers, words[1], NULL) ? words[1] : 0;
}

bool vt_vmm_unmapped(uint64_t *address, uint64_t end, uint64_t *number) {
    uint64_t words[VT_TABLE_WORDS];
    uint64_t key = *address < end ? mapping_in(*address, end - *address) : 0;
    if (!key || !vt_table_take(&mappings, key, words))
        return false;
    *address = key - FIRST_NUMBER + words[0];
    *number = words[1];
    return true;
}

void vt_vmm_forked(void) {
    vt_table_forget(&numbers);
    vt_table_forget(&handles);
    vt_table_forget(&mappings);
}
