/* SPDX-License-Identifier: MIT */
/* Inside instrument/: what torch.c, torch_block.c, torch_backward.c and jump.c share. */
#ifndef VT_PRELOAD_TORCH_H
#define VT_PRELOAD_TORCH_H

#include "log/log.h"

/* The function of this name behind ours: the next object in load order that defines it, another
 * interposer or PyTorch's library. RTLD_NEXT does not find that one, because Python opens it
 * privately, outside the global scope. NULL: there is none. `known` (atomic, NULL at first) keeps
 * the answer. */
void *vt_torch_next(void **known, const char *name);

/* What the allocator's own entry says of a block that it is about to report. */
struct vt_torch_block {
    uint64_t requested, stream; /* as in vt_rec_blockinfo */
    uint64_t pool;              /* the allocator's, a private one or the device's */
};
/* `caller`: of the function that the allocator reports to. False: the entry was not found. */
bool vt_torch_block_find(const struct vt_caller *caller, uint64_t address, uint64_t size,
                         struct vt_torch_block *found);
/* The private pool that it is of; 0: none. */
uint64_t vt_torch_block_owner(const struct vt_torch_block *block);

/* A longjmp of this thread to a frame at `target`: ends the calls of backward() that it leaves. */
void vt_torch_jumped(uintptr_t target);

#endif
