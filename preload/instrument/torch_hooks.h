/* SPDX-License-Identifier: MIT */
/* Inside instrument/: functions shared by torch.c, torch_block.c, torch_backward.c and jump.c. */
#ifndef VT_PRELOAD_TORCH_HOOKS_H
#define VT_PRELOAD_TORCH_HOOKS_H

#include "log/log.h"

/* The function `name` after ours: in the next object in load order that defines it, another interposer or PyTorch's
 * library. RTLD_NEXT does not find PyTorch's library, because Python opens it outside the global scope. NULL: none.
 * `known` (atomic, NULL at first) caches the result. */
void *vt_torch_next(void **known, const char *name);

/* The allocator's own data on a block that it is about to report. */
struct vt_torch_block {
    uint64_t requested, stream; /* as in vt_rec_blockinfo */
    uint64_t pool;              /* address of the allocator's pool: a private one or the device's */
};
/* Finds the allocator's entry for the block that is being reported. `caller`: the caller of the reporting function.
 * False: not found. */
bool vt_torch_block_find(const struct vt_caller *caller, uint64_t address, uint64_t size,
                         struct vt_torch_block *found);
/* The private pool to which the block belongs; 0: none. */
uint64_t vt_torch_block_owner(const struct vt_torch_block *block);

/* This thread jumps to a frame at `target`: ends the calls of backward() that the jump leaves. */
void vt_torch_jumped(uintptr_t target);

#endif
