/* SPDX-License-Identifier: MIT */
/* Locks that a forked child may find locked for ever (see locks.h). Called by libc.c, fork.c and stack/. */
#define _GNU_SOURCE
#include "locks.h"
#include "atomic.h"
#include "elf.h"
#include "libc.h"
#include "preload.h"
#include "sys.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>

static const uint32_t never;
const uint32_t *vt_process_settled = &never;
uint32_t vt_process_pid;

/* vfork_entry.S jumps here. */
int vt_locks_vfork_failed(int result);
int vt_locks_vfork_failed(int result) {
    errno = -result;
    return -1;
}

static uint32_t lost; /* atomic: locks that this process must avoid */

/* The number of threads between vt_locks_enter and vt_locks_leave, plus FORK times the number of forking threads. A
 * fork waits for the threads inside, and entering threads for the fork: at most PATIENCE checks (some ms), as one may
 * hold what the other needs. */
static uint32_t inside; /* atomic */
enum { FORK = 1 << 16, PATIENCE = 10000 };
static __thread uint32_t mine;  /* per thread: depth of its vt_locks_enter calls */
static __thread uint32_t forks; /* ... and its forks in progress */

static const char *single_threaded;        /* the C library's flag; NULL: none */
static const pthread_mutex_t *loader_list; /* the lock of dl_iterate_phdr; NULL: not found */

void vt_locks_enter(void) {
    if (mine++)
        return;
    for (unsigned n = 0; vt_add(&inside, 1) / FORK > forks && n < PATIENCE; n++) {
        vt_add(&inside, -1u);
        sched_yield();
    }
}

void vt_locks_leave(void) {
    vt_fence(); /* the lock is released first; pairs with vt_locks_fork_begins */
    if (--mine == 0)
        vt_add(&inside, -1u);
}

static bool are_others_inside(void) {
    return vt_see(&inside) % FORK > (mine != 0);
}

void vt_locks_fork_begins(void) {
    forks++;
    vt_add(&inside, FORK);
    for (unsigned n = 0; are_others_inside() && n < PATIENCE; n++)
        sched_yield();
}

void vt_locks_fork_in_parent(void) {
    forks--;
    vt_add(&inside, -(uint32_t)FORK);
}

/* Whether the lock's owner does not exist in this process. Just after fork no other thread exists; later, the id may
 * lag the lock, so we wait. */
static bool is_taken_for_ever(const pthread_mutex_t *lock, uint32_t pid, bool whole) {
    for (unsigned n = 0; !whole && n < PATIENCE && vt_see(&lock->__data.__lock); n++) {
        int owner = vt_get(&lock->__data.__owner);
        if (owner)
            return VT_SYS3(SYS_tgkill, pid, owner, 0) == -ESRCH;
        sched_yield();
    }
    return vt_see(&lock->__data.__lock) != 0;
}

void vt_locks_fork_in_child(bool whole) {
    uint32_t pid = (uint32_t)VT_SYS0(SYS_getpid), now = vt_get(&lost) & VT_LOST_INSIDE;
    uint32_t count = vt_see(&inside);
    if (are_others_inside())
        now |= VT_LOST_INSIDE;
    if (!whole && !(single_threaded && *single_threaded))
        now |= VT_LOST_LOADER;
    if (loader_list ? is_taken_for_ever(loader_list, pid, whole) : now & VT_LOST_INSIDE)
        now |= VT_LOST_LIST;
    if (vt_locks_vforks) { /* this child of a vfork child inherits its seccomp filter */
        bool is_free = vt_sys_is_free();
        vt_locks_vforks = 0;
        if (!is_free)
            vt_sys_seal(true);
    }
    forks = 0;
    /* By now, new threads may also be inside. */
    vt_claim(&inside, count, whole ? mine != 0 : count % FORK);
    vt_put(&lost, now);
    vt_publish(&vt_process_pid, pid);
}

bool vt_locks_lost_as_known(uint32_t which) {
    return vt_get(&lost) & which;
}

void vt_locks_check(void) {
    uint32_t pid = vt_see(&vt_process_pid);
    if (pid && !vt_locks_vforks && !vt_get(&vt_sys_sealed) && !vt_get(&vt_sys_unsure) &&
        pid != (uint32_t)VT_SYS0(SYS_getpid))
        vt_locks_fork_in_child(false);
}

bool vt_locks_lost(uint32_t which) {
    if (!vt_get(vt_see(
            /* A vfork child shares its parent's state; so does a snapshot's child that shares memory. */
            &vt_process_settled)))
        vt_locks_check();
    return vt_locks_lost_as_known(which);
}

/* Finds the lock that this thread just took, in the loader's data. */
static int find_lock(struct dl_phdr_info *info, size_t size, void *data) {
    const struct vt_range *in = data;
    int tid = (int)VT_SYS0(SYS_gettid);
    (void)info, (void)size;
    for (uintptr_t at = in->start; at + sizeof(pthread_mutex_t) <= in->end; at += sizeof(void *)) {
        const pthread_mutex_t *m = (const void *)at;
        if (m->__data.__owner == tid && m->__data.__count == 1 && m->__data.__lock &&
            m->__data.__kind == PTHREAD_MUTEX_RECURSIVE_NP)
            loader_list = m;
    }
    return 1;
}

void vt_locks_load(void) {
    struct vt_elf loader;
    struct vt_range data;
    vt_process_pid = (uint32_t)VT_SYS0(SYS_getpid);
    single_threaded = vt_libc_own("__libc_single_threaded");
    if (vt_elf_at_start(_r_debug.r_map, "ld-linux", &loader) &&
        vt_elf_function(&loader, "_rtld_global", &data))
        vt_libc_each_object(find_lock, &data);
}
