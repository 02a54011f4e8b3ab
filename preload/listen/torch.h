/* SPDX-License-Identifier: MIT */
/* Inside listen/: what torch.c, torch_backward.c and jump.c share. */
#ifndef VT_PRELOAD_TORCH_H
#define VT_PRELOAD_TORCH_H

#include <stdint.h>

/* The function of this name behind ours: the next object in load order that defines it, another
 * interposer or PyTorch's library. RTLD_NEXT does not find that one, because Python opens it
 * privately, outside the global scope. NULL: there is none. `known` (atomic, NULL at first) keeps
 * the answer. */
void *vt_torch_next(void **known, const char *name);

/* A longjmp of this thread to a frame at `target`: ends the calls of backward() that it leaves. */
void vt_torch_jumped(uintptr_t target);

#endif
