/* SPDX-License-Identifier: MIT */
/*
 * Baselines: known leaks, accepted until they grow. A baseline is a sorted text file with readable diffs, kept beside
 * the source. Its names for leaks stay the same when lines move, and between builds (stack_key.h). For check_options.c
 * and gate.c.
 *
 *     vramtrace-baseline 1
 *     # comments
 *
 *     leak driver cudaMalloc: 31457280 bytes in 10 blocks
 *       new_buffer (leak.c)
 *       scale_frame (leak.c)
 *       main (leak.c)
 *
 * One process may hold at most these bytes.
 */
#ifndef VRAMTRACE_ANALYZER_BASELINE_H
#define VRAMTRACE_ANALYZER_BASELINE_H

#include "model/model.h"

#define VT_BASELINE_VERSION 1u

struct vt_baseline_entry {
    struct vt_stack_key key;
    uint64_t bytes, blocks;
    uint32_t line; /* in the file */
    bool seen;     /* set by gate.c: the run still has it */
};

/* Start it as {0}; free with vt_baseline_free. */
struct vt_baseline {
    char *path;
    struct vt_baseline_entry *entries;
    uint32_t count, room;
    struct vt_map by_hash; /* key.hash -> index */
};

/* Reads a file. Returns 0, or -errno with a `message` (file, line, expected, found). Free it in either case. */
int vt_baseline_read(const char *path, struct vt_baseline *baseline, struct vt_string *message);

/* The entry with this key; NULL: none. Valid until the baseline changes. */
struct vt_baseline_entry *vt_baseline_find(const struct vt_baseline *baseline, uint64_t hash);

/* Adds an entry, or raises the existing one's figures to these. Takes over `key`. */
void vt_baseline_raise(struct vt_baseline *baseline, struct vt_stack_key *key, uint64_t bytes,
                       uint64_t blocks);

/* Sorts the baseline and replaces the file at once: a reader sees either the old file or the new one. Returns 0, or
 * -errno with `message`. */
int vt_baseline_write(struct vt_baseline *baseline, const char *path, struct vt_string *message);

void vt_baseline_free(struct vt_baseline *baseline);

#endif
