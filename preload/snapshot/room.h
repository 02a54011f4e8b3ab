/* SPDX-License-Identifier: MIT */
/*
 * Whether a copy of this process has room, and what its other threads do: room.c.
 */
#ifndef VT_PRELOAD_ROOM_H
#define VT_PRELOAD_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VT_ROOM_PATH 4096u

/* Where memory's limits are. Too large for a small stack. */
struct vt_room {
    const char *root; /* before all paths: "", but in tests */
    bool waits;       /* the program waits, so no margin is needed */
    struct vt_room_group {
        char folder[VT_ROOM_PATH]; /* this process's control group; "": there is none */
        size_t mount;              /* length of the part under which its parents are not seen */
    } groups[3];                   /* of version 1 and 2; of version 1's tasks */
};

/* False: the limits of this process cannot be known here. */
bool vt_room_find(struct vt_room *room, const char *root);
/* How many bytes more may come into use, by all limits; 0: the margin is reached. What files left in
 * memory and can go counts only if there are fewer than `enough` without it. */
uint64_t vt_room_left(const struct vt_room *room, uint64_t enough);
/* How many more threads and processes may be made, at least, by all control groups, RLIMIT_NPROC and the machine's limits;
 * UINT64_MAX: there is no limit. Whose the machine's tasks are is looked at only until `enough` are left. */
uint64_t vt_room_tasks(const struct vt_room *room, uint64_t enough);
/* What a copy takes at most, if all that it shares is written to. UINT64_MAX: unknown, as with huge
 * pages of a pool: when that is empty, the write to a page that a copy shares ends the program. `registered`: bytes of
 * host memory that CUDA was told of. */
uint64_t vt_room_needed(const char *root, uint64_t registered);

/* A task's state, by its file "stat": 'R' is runnable; 0: there is no such file. */
char vt_room_state(const char *file);
/* Whether all other threads of this process sleep, as far as is known; and how often they ran so far, in all. */
bool vt_room_asleep(uint64_t *turns);

#endif
