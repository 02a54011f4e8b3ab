/* SPDX-License-Identifier: MIT */
/*
 * Names of call stacks that stay the same from one build to the next. A site's id contains offsets and line numbers, so
 * it changes with every build. Baselines and comparisons of runs need a stable key: the names of the functions and of
 * the files (without folders). For gate/ and diff/.
 */
#ifndef VRAMTRACE_ANALYZER_STACK_KEY_H
#define VRAMTRACE_ANALYZER_STACK_KEY_H

#include "model.h"

/* Frames as "function (file)", innermost first; never empty. Frames of the interpreter, frames outside the outermost
 * frame of user code (the C library's start-up, a test runner), and repeated frames of a recursion are left out. */
struct vt_stack_key {
    char *call; /* layer and API: "driver cudaMalloc" */
    char **frames;
    uint32_t count;
    uint64_t hash; /* of `call` and `frames` */
};

/* Free with vt_stack_key_free. */
void vt_stack_key_make(const struct vt_site *site, struct vt_stack_key *key);
void vt_stack_key_free(struct vt_stack_key *key);

/* The hash alone of a site's key. */
uint64_t vt_stack_key_of(const struct vt_site *site);

/* The hash of a key with these parts. */
uint64_t vt_stack_key_hash(const char *call, char *const *frames, uint32_t count);

/* "cudaMalloc on GPU 0", "cuMemAllocHost, pinned host memory". Free it. */
char *vt_stack_key_call_text(const struct vt_site *site);

#endif
