/* SPDX-License-Identifier: MIT */
/*
 * Per-thread data, and how a later thread takes it over.
 *
 * There is no thread-exit hook: such hooks allocate, and run too late for frees made by other destructors. Instead, a
 * new thread checks a few existing entries and takes over one whose thread no longer exists. If the kernel has reused
 * the tid, the entry looks alive and stays for a later attempt.
 */
#include "log.h"
#include "base/base.h"

#include <errno.h>
#include <sys/mman.h>

#define TAKEOVER_TRIES 32u

__thread struct vt_tls vt_tls __attribute__((tls_model("initial-exec"), visibility("hidden")));

static struct vt_thread *all;         /* atomic: every entry */
static struct vt_thread *search_from; /* atomic: start of the next search for a dead thread */

struct vt_thread *vt_thread_first(void) {
    return vt_see(&all);
}

static uint32_t own_tid(void) {
    return (uint32_t)VT_SYS0(SYS_gettid);
}

static bool is_dead(uint32_t tid) {
    return VT_SYS3(SYS_tgkill, vt_log_pid(), tid, 0) == -ESRCH;
}

/* Gives a dead thread's entry, with its slot, to `tid`. NULL: none found in a few tries. */
static struct vt_thread *take_over(uint32_t tid) {
    struct vt_thread *t = vt_see(&search_from);
    for (unsigned i = 0; i < TAKEOVER_TRIES; i++) {
        if (!t)
            t = vt_see(&all);
        if (!t)
            return NULL;
        uint32_t owner = vt_see(&t->tid);
        /* An entry with our own tid that is not ours belonged to a dead thread with the same tid. */
        if ((owner == tid || is_dead(owner)) && vt_claim(&t->tid, owner, tid)) {
            vt_fence(); /* to see all that the thread wrote before its end; model: TAKE_OVER */
            vt_publish(&search_from, t->next);
            t->named = t->fills = false;
            t->retry = 0;
            t->held = 0;
            vt_log_abandon(t);
            return t;
        }
        t = t->next;
    }
    vt_publish(&search_from, t);
    return NULL;
}

static struct vt_thread *fresh(uint32_t tid) {
    struct vt_thread *t = vt_sys_mmap(sizeof(struct vt_thread), PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!t)
        return NULL;
    vt_put(&t->tid, tid);
    t->entered_at = &t->nowhere;
    do
        t->next = vt_see(&all);
    while (!vt_claim(&all, t->next, t));
    return t;
}

struct vt_thread *vt_thread_make_(void) {
    uint32_t tid = own_tid();
    struct vt_thread *t = take_over(tid);
    vt_tls.thread = t ? t : fresh(tid);
    return vt_tls.thread;
}

/* The forking thread may still use its entry if another thread of the child records first. */
void vt_thread_forked(void) {
    for (struct vt_thread *t = vt_thread_first(); t; t = t->next) {
        vt_put(&t->orphan, true);
        t->entered_at = &t->nowhere; /* the slot is the parent's */
    }
    vt_put(&all, NULL);
    vt_put(&search_from, NULL);
}
