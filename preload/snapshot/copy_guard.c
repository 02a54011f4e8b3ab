/* SPDX-License-Identifier: MIT */
/*
 * Keeps a copy of the process from doing harm. If memory runs short nevertheless, the kernel should end the copy first.
 * A thread checks every few milliseconds how much memory is left. If others need it, the copy releases its memory, and
 * then ends. That order matters: an ending process still has its memory for a while, so the kernel would kill another
 * process. The walking thread may fault on released memory; it then waits (vt_copy_guard_wait_if_leaving). The compiler
 * must not protect stacks in this file (Makefile), because the canary is in released memory.
 *
 * Called by snapshot.c, only in the copy: a child that shares the program's memory would set the program's OOM score.
 */
#define _GNU_SOURCE
#include "copy.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#define LOOK_NS 5000000

/* The watcher's data, in a shared mapping, because private memory is released. */
struct watch {
    const struct vt_room *room; /* in memory that will be released */
    struct vt_owners_answer *answer;
    uint32_t ended; /* futex: the walk is done */
    struct vt_maps maps;
    uint8_t stack[65536] __attribute__((aligned(16)));
};

static struct watch *watching;
/* 2: leaving. Initially nonzero, so that the variable lies in a file's mapping, which stays. */
static uint32_t state = 1;

void vt_copy_guard_die_first(void) {
    long fd = vt_descriptors_open("/proc/self/oom_score_adj", O_WRONLY, 0);
    if (fd < 0)
        return;
    VT_SYS3(SYS_write, fd, "1000", 4);
    VT_SYS1(SYS_close, fd);
}

static void give_back(struct watch *w) {
    struct vt_mapping m;
    vt_publish(&state, 2);
    if (!vt_maps_open(&w->maps))
        return;
    while (vt_maps_next(&w->maps, &m))
        if (m.access[1] == 'w' && m.access[3] == 'p' && !m.device &&
            (!m.name[0] || strncmp(m.name, "[heap]", 6) == 0 || strncmp(m.name, "[anon", 5) == 0))
            VT_SYS3(SYS_madvise, m.start, m.end - m.start, MADV_DONTNEED);
}

static void watch_room(void *data) {
    struct watch *w = data;
    const long moment[2] = {0, LOOK_NS};
    while (!vt_see(&w->ended)) {
        if (!vt_room_left(w->room, 1)) {
            vt_publish(&w->answer->left, VT_MISSED_LEFT);
            break;
        }
        VT_SYS4(SYS_futex, &w->ended, FUTEX_WAIT, 0, moment);
    }
    give_back(w);
    for (;;)
        VT_SYS1(SYS_exit_group, 0);
}

void vt_copy_guard_begin(struct vt_owners_answer *answer, const struct vt_room *room) {
    watching =
        vt_sys_mmap(sizeof *watching, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (watching)
        watching->answer = answer, watching->room = room;
    if (!watching ||
        vt_machine_clone(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                             CLONE_SYSVSEM,
                         watch_room, watching, watching->stack + sizeof watching->stack) < 0) {
        vt_publish(&answer->left, VT_MISSED_REFUSED);
        VT_SYS1(SYS_exit_group, 0);
    }
}

void vt_copy_guard_end(void) {
    vt_publish(&watching->ended, 1);
    VT_SYS4(SYS_futex, &watching->ended, FUTEX_WAKE, 1, NULL);
    vt_copy_guard_wait_if_leaving();
}

void vt_copy_guard_wait_if_leaving(void) {
    const long second[2] = {1, 0};
    while (vt_see(&state) == 2 || (watching && vt_see(&watching->ended)))
        VT_SYS2(SYS_nanosleep, second, NULL);
}
