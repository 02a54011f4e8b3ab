/* SPDX-License-Identifier: MIT */
/*
 * The limits of a snapshot of the owners, and whether the memory may be copied for it.
 *
 * The main limits are memory and work, not time, so that a program gets the same answer on a slow machine. Time limits
 * only end a search that takes far longer than its work should. A limit of processor time ends the walk. A limit of
 * elapsed time ends a child that hangs, unless the child is only waiting for a processor. All limits scale with the
 * process, because the number of objects grows with its memory.
 *
 * Called by snapshot.c.
 */
#define _GNU_SOURCE
#include "copy.h"
#include "preload.h"
#include "stack/stack.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

/* the resident memory to which the limits apply; a larger process gets multiples */
#define UNIT_BYTES  ((uint64_t)4 << 30)
#define UNIT_NS     2000000000ull         /* processor time; VRAMTRACE_SNAPSHOT_LIMIT */
#define UNIT_SPACE  ((uint64_t)256 << 20) /* memory; VRAMTRACE_SNAPSHOT_LIMIT */
#define SPACE_MOST  ((uint64_t)64 << 30)
#define SPACE_LEAST ((uint64_t)1 << 20) /* with less, nothing is found */
#define WORK_PER_S  50000000u           /* reads and edges; a slow machine manages 80 million */
/* limit of elapsed time, as a multiple of the processor time */
#define HANGS       4u
#define FORK_SAFE   509u /* Linux 5.9: fork copies pinned pages for the child */
#define TASKS_SPARE 32u  /* a copy and its watcher are two tasks, and the program needs more */
#define CRASH_SAFE  516u /* Linux 5.16: a crash ends no other process that shares its memory */

struct vt_room vt_bounds_room;

uint64_t vt_snapshot_private_bytes(void) {
    uint64_t all, files;
    return vt_scan_resident_bytes(&all, &files) && all > files ? all - files : 0;
}

void vt_bounds_set(struct vt_owners *w) {
    uint64_t resident = 0, files;
    vt_scan_resident_bytes(&resident, &files);
    uint64_t units = resident / UNIT_BYTES + 1,
             ns = vt_settings.snapshot_ns ? vt_settings.snapshot_ns : UNIT_NS,
             space = vt_settings.snapshot_bytes ? vt_settings.snapshot_bytes : UNIT_SPACE;
    w->most_cpu_ns = units * ns;
    w->most_ns = vt_sys_clock_ns(CLOCK_MONOTONIC) + HANGS * units * ns;
    w->most_work = units * (ns / 1000) * (WORK_PER_S / 1000000);
    w->most_bytes = space < SPACE_MOST / units ? units * space : SPACE_MOST;
}

bool vt_bounds_is_runnable(uint32_t pid) {
    char path[32] = "/proc/";
    memcpy(vt_scan_write_number(path + strlen(path), pid), "/stat", 6);
    return vt_room_state(path) == 'R';
}

/* --- whether to copy --- */

static uint64_t registered_bytes(const struct vt_owners *w) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < w->target_count; i++)
        if (w->targets[i].kind == VT_KIND_REGISTERED)
            bytes += w->targets[i].end - w->targets[i].start;
    return bytes;
}

/* Linux 5.9 gives 100 * 5 + 9; 0: unknown. */
static uint64_t kernel_version(void) {
    char text[128];
    const char *at = text;
    if (!vt_scan_read_file("/proc/sys/kernel/osrelease", text, sizeof text))
        return 0;
    uint64_t version = vt_scan_parse_number(at, 0) * 100;
    while (*at && *at != '.')
        at++;
    return version + (*at ? vt_scan_parse_number(at + 1, 0) : 0);
}

/* Whether a child may be in another namespace than this thread. The first process in a pid namespace becomes its init,
 * and the namespace ends with it; a time namespace's clocks cannot be set after its first process. Also true if the
 * kernel does not report this (before Linux 4.12). */
static bool leads_elsewhere(const char *ours, const char *childrens) {
    char text[2][64];
    long bytes = VT_SYS4(SYS_readlinkat, AT_FDCWD, ours, text[0], sizeof text[0]);
    return bytes != -ENOENT &&
           (bytes <= 0 ||
            VT_SYS4(SYS_readlinkat, AT_FDCWD, childrens, text[1], sizeof text[1]) != bytes ||
            memcmp(text[0], text[1], (size_t)bytes) != 0);
}

static bool children_are_elsewhere(void) {
    return leads_elsewhere("/proc/thread-self/ns/pid", "/proc/thread-self/ns/pid_for_children") ||
           leads_elsewhere("/proc/thread-self/ns/time", "/proc/thread-self/ns/time_for_children");
}

/* Under strict overcommit, a copy counts as if all its pages were written to. Before Linux 5.9, the parent's write to a
 * page to which a device also writes moves the parent to another page. */
uint32_t vt_bounds_why_not_copy(struct vt_owners *w, uint64_t *needed, uint64_t *left) {
    char text[128];
    uint64_t registered = registered_bytes(w);
    if ((vt_scan_read_file("/proc/sys/vm/overcommit_memory", text, sizeof text) &&
         text[0] == '2') ||
        (registered && kernel_version() < FORK_SAFE))
        return VT_MISSED_REFUSED;
    if (children_are_elsewhere())
        return VT_MISSED_NAMESPACE;
    if (!vt_room_find(&vt_bounds_room, ""))
        return VT_MISSED_UNSEEN;
    if (vt_room_tasks(&vt_bounds_room, TASKS_SPARE) < TASKS_SPARE)
        return VT_MISSED_REFUSED;
    *needed = vt_room_needed("", registered);
    *left = vt_room_left(&vt_bounds_room, *needed);
    return *left < *needed ? VT_MISSED_NO_ROOM : 0;
}

bool vt_bounds_may_search_in_place(struct vt_owners *w, uint64_t *turns) {
    if (!vt_room_asleep(turns))
        return false;
    vt_room_find(&vt_bounds_room, "");
    vt_bounds_room.waits = true;
    uint64_t room = vt_room_left(&vt_bounds_room, w->most_bytes) / 2;
    w->most_bytes = w->most_bytes < room ? w->most_bytes : room;
    return w->most_bytes >= SPACE_LEAST;
}

bool vt_bounds_may_share(struct vt_owners *w) {
    vt_room_find(&vt_bounds_room, "");
    return w->native && w->native->alone && kernel_version() >= CRASH_SAFE &&
           !children_are_elsewhere() && vt_room_tasks(&vt_bounds_room, TASKS_SPARE) >= TASKS_SPARE;
}
