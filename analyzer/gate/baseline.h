/* SPDX-License-Identifier: MIT */
/*
 * Baselines: today's leaks, accepted until they grow. A file of text, sorted, to be kept beside the
 * source and read in its diffs; what names a leak in it outlives moved lines and new builds
 * (stack_key.h). For cmd_check.c, gate.c.
 *
 *     vramtrace-baseline 1
 *     # comments
 *
 *     leak driver cudaMalloc: 31457280 bytes in 10 blocks
 *       new_buffer (leak.c)
 *       scale_frame (leak.c)
 *       main (leak.c)
 *
 * The bytes are the most that one process may hold of it.
 */
#ifndef VRAMTRACE_ANALYZER_BASELINE_H
#define VRAMTRACE_ANALYZER_BASELINE_H

#include "model/model.h"

#define VT_BASELINE_VERSION 1u

struct vt_baseline_entry {
    struct vt_stack_key key;
    uint64_t bytes, blocks;
    uint32_t line; /* in the file */
    bool seen;     /* gate.c: the run still has it */
};

/* Start it as {0}; free with vt_baseline_free. */
struct vt_baseline {
    char *path;
    struct vt_baseline_entry *entries;
    uint32_t count, room;
    struct vt_map by_hash; /* key.hash -> index */
};

/* 0, or -errno and a message that names file and line, what was expected and what was found. */
int vt_baseline_read(const char *path, struct vt_baseline *baseline, struct vt_string *message);

/* The entry of a key, NULL: there is none. */
struct vt_baseline_entry *vt_baseline_find(const struct vt_baseline *baseline, uint64_t hash);

/* Adds an entry, or raises the one that is there to these figures where they are larger. Takes the
 * key over. */
void vt_baseline_raise(struct vt_baseline *baseline, struct vt_stack_key *key, uint64_t bytes,
                       uint64_t blocks);

/* Writes it, sorted, in one step: a reader sees the old file or the new one. 0, or -errno and a
 * message. */
int vt_baseline_write(struct vt_baseline *baseline, const char *path, struct vt_string *message);

void vt_baseline_free(struct vt_baseline *baseline);

#endif
