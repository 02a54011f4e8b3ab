/* SPDX-License-Identifier: MIT */
/*
 * What a call stack is called from one build to the next. A site's id is of one build: offsets and
 * line numbers are in it. Baselines and comparisons of two runs need what stays when a line moves
 * or a library is built anew: the functions' names and the files' without their folders. For
 * baseline.c, diff.c, gate.c.
 */
#ifndef VRAMTRACE_ANALYZER_STACK_KEY_H
#define VRAMTRACE_ANALYZER_STACK_KEY_H

#include "model.h"

/* Frames as "function (file)", innermost first: without the interpreter's own, without what stands
 * outward of the outermost own frame (the C library's start, a test runner), a recursion once.
 * Never empty. */
struct vt_stack_key {
    char *call; /* layer and API: "driver cudaMalloc" */
    char **frames;
    uint32_t count;
    uint64_t hash; /* of all of it */
};

/* Free with vt_stack_key_free. */
void vt_stack_key_make(const struct vt_site *site, struct vt_stack_key *key);
void vt_stack_key_free(struct vt_stack_key *key);

/* The hash over a call and frames, as vt_stack_key_make makes it. */
uint64_t vt_stack_key_hash(const char *call, char *const *frames, uint32_t count);

/* "driver", "framework", "host", "managed" */
const char *vt_stack_key_layer(unsigned layer);

/* "cudaMalloc on GPU 0", "cuMemAllocHost, pinned host memory": what was called. Free it. */
char *vt_stack_key_call_text(const struct vt_site *site);

#endif
