/* SPDX-License-Identifier: MIT */
/*
 * A copy of the process first releases everything that the program may want for itself again, because the kernel would
 * hold these things until the copy ends. A port can be bound again, a lock taken, and a pipe ends, only when no process
 * has the descriptor. A file system can be unmounted only when no process has a file, a folder or a mapping there. A
 * memory file can be sealed, and a System V segment is unused, only when no process maps it. The thread that made the
 * copy waits until all is released.
 *
 * Other threads do not wait, and may close descriptors meanwhile. So the copy starts with the program's own table of
 * descriptors, in which a close takes effect, and then gets an empty table of its own (Linux 5.9). On older kernels it
 * gets copies of the descriptors, and closes them.
 *
 * Called by snapshot.c.
 */
#define _GNU_SOURCE
#include "copy.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <string.h>

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1u << 1)
#endif

/* For Linux before 5.9. */
static bool close_each(void) {
    static char block[4096];
    long fd = VT_SYS4(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0),
         got = -1;
    uint32_t open;
    for (long at; fd >= 0 && (got = VT_SYS3(SYS_getdents64, fd, block, sizeof block)) > 0;)
        for (at = 0; vt_scan_next_entry(block, got, &at, &open);)
            if (open != (uint32_t)fd)
                VT_SYS1(SYS_close, open); /* the entries "." and ".." read as 0 */
    VT_SYS1(SYS_close, fd);
    return got == 0;
}

/* Unmaps files that are neither executed nor written to, but keeps the code and data of modules, which the walk reads.
 * A file's parts are consecutive. */
static bool unmap_files(void) {
    static struct vt_maps maps;
    struct vt_mapping m, file = {.inode = 0}; /* all its parts so far */
    bool needed = true, more = vt_maps_open(&maps);
    if (!more)
        return false;
    do {
        more = vt_maps_next(&maps, &m);
        if (!more || m.inode != file.inode) {
            if (!needed)
                VT_SYS2(SYS_munmap, file.start, file.end - file.start);
            file = m;
            needed = !m.inode;
        }
        file.end = m.end;
        /* the exceptions are ordinary memory, or this library's own */
        bool shared = m.access[3] == 's' && !vt_maps_begins(m.name, "/dev/zero") &&
                      !vt_maps_begins(m.name, "[anon_shmem:");
        if (more && m.inode && (shared || m.device))
            VT_SYS2(SYS_munmap, m.start, m.end - m.start);
        else
            needed |= m.access[1] == 'w' || m.access[2] == 'x' || m.access[3] == 's';
    } while (more);
    vt_maps_close(&maps);
    return true;
}

enum vt_detached vt_copy_detach(bool shares_descriptors) {
    if (VT_SYS3(SYS_close_range, 0, ~0u, shares_descriptors ? CLOSE_RANGE_UNSHARE : 0) < 0 &&
        (shares_descriptors || !close_each()))
        return shares_descriptors ? VT_DETACH_NO_TABLE : VT_DETACH_FAILED;
    return VT_SYS1(SYS_chdir, "/") == 0 && unmap_files() ? VT_DETACHED : VT_DETACH_FAILED;
}

#define NICE_0 20 /* the system call getpriority returns 20 minus the niceness */

/* The program may run at a real-time or raised priority, or on one processor; a search must not. If the program does
 * not wait, the search uses only idle time. */
void vt_copy_give_way(bool idle) {
    static uint8_t all[1024]; /* a bit for each of 8192 processors */
    static const int priority = 0;
    long policy = VT_SYS1(SYS_sched_getscheduler, 0) & ~SCHED_RESET_ON_FORK;
    memset(all, 0xff, sizeof all);
    VT_SYS3(SYS_sched_setaffinity, 0, sizeof all, all);
    if (idle)
        VT_SYS3(SYS_sched_setscheduler, 0, SCHED_IDLE, &priority);
    else if (policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE)
        VT_SYS3(SYS_sched_setscheduler, 0, SCHED_OTHER, &priority);
    if (VT_SYS2(SYS_getpriority, PRIO_PROCESS, 0) > NICE_0)
        VT_SYS3(SYS_setpriority, PRIO_PROCESS, 0, 0);
}
