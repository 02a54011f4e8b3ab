/* SPDX-License-Identifier: MIT */
/*
 * Whether a copy of this process fits into memory, and whether its other threads sleep (room.c).
 */
#ifndef VT_PRELOAD_ROOM_H
#define VT_PRELOAD_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VT_ROOM_PATH 4096u

/* The memory limits of this process. Too large for a small stack. */
struct vt_room {
    const char *root; /* prefix of all paths; "" except in tests */
    bool waits;       /* the program waits, so no margin is needed */
    struct vt_room_group {
        char folder[VT_ROOM_PATH]; /* this process's control group; "": there is none */
        /* length of the mount point in `folder`; groups above it are not visible */
        size_t mount;
    } groups[3]; /* memory by version 1, by version 2; tasks by version 1 */
};

/* Finds the limits. False: they cannot be determined here. */
bool vt_room_find(struct vt_room *room, const char *root);
/* How many more bytes may come into use under all limits; 0: the margin is reached. Unused cached pages of files count
 * as left only if fewer than `enough` bytes are left without them. */
uint64_t vt_room_left(const struct vt_room *room, uint64_t enough);
/* How many more threads and processes can be created, at least, under all control groups, RLIMIT_NPROC and the
 * machine's limits. UINT64_MAX: no limit. Other users' tasks are counted only until `enough` are left. */
uint64_t vt_room_tasks(const struct vt_room *room, uint64_t enough);
/* Bytes that a copy takes at most, if all shared pages are written to. UINT64_MAX: unknown, as with huge pages from a
 * pool: if the pool is empty, a write to a page shared with a copy ends the program. `registered`: bytes of host memory
 * registered with CUDA. */
uint64_t vt_room_needed(const char *root, uint64_t registered);

/* A task's state, from its file "stat": 'R': runnable; 0: no such file. */
char vt_room_state(const char *file);
/* Whether all other threads of this process seem to sleep. *turns: how often these threads ran so far, in total. */
bool vt_room_asleep(uint64_t *turns);

#endif
