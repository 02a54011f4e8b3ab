/* SPDX-License-Identifier: MIT */
/*
 * Finds what PyTorch's allocator stores about a block but does not report: the requested bytes, the stream, and whether
 * the block belongs to a private pool. Called by torch.c for the few reports that need it.
 *
 * The allocator has an entry for each block. While it reports, a pointer to the entry is in the allocator's frame, or
 * in a register that one of our functions has saved in its own frame. The location differs between versions, but an
 * entry identifies itself: it has the reported size and address at fixed offsets. So the first report searches both
 * frames and notes where the pointer was. Later reports look there and check again. After SEARCHES failures we stop:
 * this version has other entries.
 *
 * Layout of an entry (struct Block): word 1 is the stream's handle. The size is word 7, or word 9 before PyTorch 2.0,
 * where the set of streams is larger. Size, requested size, pool and address are consecutive. A pool (struct BlockPool)
 * begins with one, two or three sets of blocks, six words each; a flag and the owner follow. A private pool lies inside
 * its owner, just after the owner's start, so no other word can look like a pointer to the owner. The device's own
 * pools have no owner.
 *
 * A search reads by a call that cannot fault. Once the frame's layout is known, we read only one word of the frame, in
 * place. The entry and its pool are read in place after the kernel confirms that they are readable. The allocator holds
 * its mutex, so neither is freed meanwhile.
 */
#include "torch_hooks.h"

#include "base/base.h"
#include "stack/stack.h"

#include <string.h>

#define SEARCHES    64u /* give up after this many */
#define ENTRY_WORDS 13u
#define FRAME_MOST  512u /* bytes of the caller's frame */
#define OWN_MOST    1024u
#define OWNER_MOST  512u /* bytes from an owner's start to its pools: max */

static uint64_t
    known; /* atomic: distance of the pointer from our frame << 48 | return address; 0: unknown */
static uint32_t searches; /* atomic */

/* Reads an entry or its pool in place; the allocator is using both while it reports. */
static bool read_in_use(uint64_t words[], uint64_t from, size_t bytes) {
    if (from % 8 || !vt_python_readable(from, bytes))
        return false;
    memcpy(words, (const void *)from, bytes);
    return true;
}

static bool is_entry(const uint64_t words[ENTRY_WORDS], uint64_t address, uint64_t size,
                     struct vt_torch_block *found) {
    for (unsigned at = 7; at <= 9; at += 2)
        if (words[at] == size && words[at + 3] == address && words[at + 1] <= size) {
            *found = (struct vt_torch_block){
                .requested = words[at + 1], .stream = words[1], .pool = words[at + 2]};
            return true;
        }
    return false;
}

/* Searches memory from `start` on for a pointer to the block's entry. Returns the pointer's address; 0: not found. */
__attribute__((noinline)) static uintptr_t find_pointer(uintptr_t start, size_t bytes,
                                                        uint64_t address, uint64_t size,
                                                        struct vt_torch_block *found) {
    uint64_t words[OWN_MOST / 8], entry[ENTRY_WORDS];
    if (bytes > sizeof words || !vt_python_peek(words, start, bytes))
        return 0;
    for (size_t i = 0; i < bytes / 8; i++)
        if (words[i] % 8 == 0 && words[i] >= 4096 && words[i] < VT_MACHINE_ADDRESSES &&
            vt_python_peek(entry, words[i], sizeof entry) && is_entry(entry, address, size, found))
            return start + 8 * i;
    return 0;
}

__attribute__((noinline)) bool vt_torch_block_find(const struct vt_caller *caller, uint64_t address,
                                                   uint64_t size, struct vt_torch_block *found) {
    VT_MACHINE_SAVE_REGISTERS(); /* in this function's frame */
    const uintptr_t own = (uintptr_t)__builtin_frame_address(0) - VT_MACHINE_SAVED_BELOW;
    const uintptr_t theirs = vt_caller_sp(caller);
    const uint64_t to = (uintptr_t)caller->to & (UINT64_MAX >> 16), place = vt_get(&known);
    uint64_t entry[ENTRY_WORDS];
    if (place << 16 == to << 16 &&
        read_in_use(entry, *(const uint64_t *)(own + 8 * (place >> 48)), sizeof entry) &&
        is_entry(entry, address, size, found))
        return true;
    if (vt_get(&searches) >= SEARCHES)
        return false;
    vt_add(&searches, 1);
    uintptr_t at = find_pointer(theirs, FRAME_MOST, address, size, found);
    if (!at)
        at = find_pointer(own, theirs - own, address, size, found);
    if (at)
        vt_put(&known, (at - own) / 8 << 48 | to);
    return at != 0;
}

uint64_t vt_torch_block_owner(const struct vt_torch_block *block) {
    uint64_t words[20];
    if (!read_in_use(words, block->pool, sizeof words))
        return 0;
    for (unsigned at = 7; at <= 19; at += 6)
        if (words[at] < block->pool && block->pool - words[at] < OWNER_MOST)
            return words[at];
    return 0;
}
