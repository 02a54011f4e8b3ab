/* SPDX-License-Identifier: MIT */
/* Arming, forks, and whether exit() is running (see process.h). */
#define _GNU_SOURCE
#include "process.h"
#include "atomic.h"
#include "elf.h"
#include "settings.h"
#include "preload.h"
#include "sys.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
/* An emulator that accepts this invalid advice ignores all advice, including MADV_WIPEONFORK. */
#define MADV_OF_NO_KERNEL 0x7fff

/* Defined by the linker. Weak, because without load.c there is no such section. */
extern const struct vt_process_steps __start_vt_process_steps[]
    __attribute__((weak, visibility("hidden")));
extern const struct vt_process_steps __stop_vt_process_steps[]
    __attribute__((weak, visibility("hidden")));

#define STEP(name)                                                                                 \
    do                                                                                             \
        for (const struct vt_process_steps *steps_ = __start_vt_process_steps;                     \
             steps_ != __stop_vt_process_steps; steps_++)                                          \
            steps_->name();                                                                        \
    while (0)

/* Lies in memory that every kind of fork clears. */
struct guard {
    uint32_t own; /* atomic: 1 */
    /* atomic: set while a thread arms, to the pid if forks do not clear memory */
    uint32_t arming;
};

static struct guard *guard;   /* atomic */
static struct guard fallback; /* the guard if the kernel cannot clear memory: pids are compared */
static uint32_t guard_pid;
static bool armed; /* atomic */

const char *vt_process_command;
size_t vt_process_command_bytes;

const char *vt_process_program(char *buffer, size_t size) {
    long n = VT_SYS4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", buffer, size - 1);
    buffer[n > 0 ? n : 0] = 0;
    const char *given = n > 0 ? NULL : (const char *)getauxval(AT_EXECFN);
    return given ? given : buffer;
}

static struct guard *guard_made(void) {
    if (vt_see(&guard))
        return guard;
    struct guard *page =
        vt_sys_mmap(4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool wipes = page && VT_SYS3(SYS_madvise, page, 4096, MADV_WIPEONFORK) == 0 &&
                 VT_SYS3(SYS_madvise, page, 4096, MADV_OF_NO_KERNEL) != 0;
    if (!(vt_claim(&guard, NULL, wipes ? page : &fallback) && wipes) && page)
        vt_sys_munmap(page, 4096);
    return vt_see(&guard);
}

static bool is_guard_wiped(void) {
    return vt_get(&guard) != &fallback;
}

/* If the parent was arming at the fork, no thread is arming in the child. */
static bool claim_arming(struct guard *g) {
    const bool wiped = is_guard_wiped();
    uint32_t pid = wiped ? 1 : (uint32_t)VT_SYS0(SYS_getpid), by = vt_see(&g->arming);
    return (!by || (!wiped && by != pid)) && vt_claim(&g->arming, by, pid);
}

static void arm(struct guard *g) {
    vt_settings_read();
    STEP(armed);
    guard_pid = (uint32_t)VT_SYS0(SYS_getpid);
    vt_put(&g->own, 1);
    if (is_guard_wiped())
        vt_publish(&vt_process_settled, &g->own);
    vt_publish(&armed, true);
}

void vt_process_begin(void) {
    if (vt_get(&vt_sys_sealed))
        return;
    STEP(begins);
    vt_locks_lost(0); /* only checks */
}

/* Concurrent threads wait until the first one has read the options, which takes no lock. Then each thread opens the
 * missing parts that need the loader's lock: no thread waits for another here, because a waiting thread might hold that
 * lock. */
void vt_process_arm(void) {
    if (vt_get(&vt_sys_sealed)) /* too late: opening the unwinder takes system calls */
        return;
    uint64_t held = vt_sys_hold_signals();
    vt_process_begin();
    struct guard *g = guard_made();
    while (!vt_see(&armed))
        if (claim_arming(g))
            arm(g);
        else
            sched_yield();
    STEP(open);
    vt_sys_let_signals(held);
}

bool vt_process_is_armed(void) {
    return vt_see(&armed);
}

static void become_own_process(void) {
    STEP(forked);
    guard_pid = (uint32_t)VT_SYS0(SYS_getpid);
    vt_put(&guard->own, 1);
}

void vt_process_check_fork_(void) {
    if (VT_UNLIKELY(!vt_see(&armed))) { /* and the words beside it */
        vt_process_arm();
        return;
    }
    if (VT_LIKELY(is_guard_wiped() ? vt_get(&guard->own) != 0
                                   : guard_pid == (uint32_t)VT_SYS0(SYS_getpid)))
        return;
    become_own_process();
}

void vt_process_due(void) {
    STEP(due);
}

bool vt_process_is_fresh_child_(void) {
    return vt_see(&armed) && is_guard_wiped() && !vt_get(&guard->own);
}

bool vt_process_is_ours(void) {
    return vt_see(&armed) && (!is_guard_wiped() || vt_get(&guard->own));
}

/* The last instruction of exit() is the call that runs the handlers, so the address just after the function also
 * counts. */
bool vt_process_in_exit(void *const *frames, size_t count) {
    static struct vt_range exit_code; /* atomic; the start is published last */
    struct vt_range code = {.start = vt_see(&exit_code.start)};
    struct vt_elf libc;
    if (code.start)
        code.end = vt_get(&exit_code.end);
    else if (vt_elf_named("libc.so.", "exit", &libc) && vt_elf_function(&libc, "exit", &code)) {
        vt_put(&exit_code.end, code.end);
        vt_publish(&exit_code.start, code.start);
    }
    for (size_t i = 0; i < count; i++)
        if ((uintptr_t)frames[i] - 1 - code.start < code.end - code.start)
            return true;
    return false;
}
