/* SPDX-License-Identifier: MIT */
/*
 * Stacks: captured, and each different one numbered and written to the log once.
 *
 * libunwind is opened privately (RTLD_LOCAL) at arming: linked, it would enter the global scope
 * with the preload and capture _Unwind_RaiseException and its kin for every library loaded later,
 * C++ exceptions included.
 *
 * A number is a slot of one hash table of stacks' hashes, so two threads that meet the same stack
 * agree on its number without a word: the one that claims the slot writes the record. A number
 * whose record is missing (its writer was killed in between, the disk was full) is an unknown stack
 * to the reader.
 *
 * Exception to the record path's law: a stack that was never seen takes libunwind's cache lock and
 * the loader's lock (dl_iterate_phdr), and blocks signals while it does.
 */
#define _GNU_SOURCE
#include "preload.h"
#include "atomic.h"
#include "sys.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

#define TABLE_SLOTS    (1u << 22)
#define PROBES         128u
#define OWN_FRAMES_MAX 48u /* ours and a runtime's, before the caller's */

typedef int backtrace_function(void **buffer, int size);

static backtrace_function *backtrace_; /* atomic; unw_backtrace */
static uint64_t *table;                /* atomic; of hashes, 0: free */
static uint64_t epoch;                 /* atomic; another one after a library was unloaded */

void vt_stack_arm(void) {
    if (vt_see(&backtrace_))
        return;
    void *handle = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    void *function = handle ? vt_real_dlsym(handle, "unw_backtrace") : NULL;
    if (!function) {
        vt_log_flag(VT_FLAG_NO_UNWINDER);
        dlerror();
        return;
    }
    /* The first unwind opens what it needs now, not at an event. */
    void *frames[8];
    backtrace_function *f = __extension__(backtrace_function *) function;
    f(frames, 8);
    vt_publish(&backtrace_, f);
}

void vt_stack_modules_changed(void) {
    vt_add(&epoch, 1);
}

size_t vt_stack_raw(void **frames, size_t max) {
    backtrace_function *f = vt_see(&backtrace_);
    int n = f ? f(frames, (int)max) : 0;
    return n > 0 ? (size_t)n : 0;
}

static uint64_t hash_frames(void *const *frames, size_t n) {
    uint64_t h = 0x9e3779b97f4a7c15ull + vt_get(&epoch);
    for (size_t i = 0; i < n; i++) {
        h ^= (uint64_t)(uintptr_t)frames[i];
        h *= 0xff51afd7ed558ccdull;
        h ^= h >> 32;
    }
    return h ? h : 1;
}

static uint64_t *get_table(void) {
    uint64_t *t = vt_see(&table);
    if (VT_LIKELY(t != NULL))
        return t;
    size_t bytes = TABLE_SLOTS * sizeof *t;
    uint64_t *fresh = vt_sys_mmap(bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!fresh)
        return NULL;
    if (vt_claim(&table, NULL, fresh))
        return fresh;
    VT_SYS2(SYS_munmap, fresh, bytes);
    return vt_see(&table);
}

/* The number of a hash, from 1; *fresh: the caller is the one who writes its record. 0: no room. */
static uint32_t number_of(uint64_t hash, bool *fresh) {
    uint64_t *t = get_table();
    *fresh = false;
    for (uint32_t i = 0; t && i < PROBES; i++) {
        uint32_t slot = (uint32_t)(hash + i) & (TABLE_SLOTS - 1);
        uint64_t has = vt_see(&t[slot]);
        if (has == hash)
            return slot + 1;
        if (has)
            continue;
        if (vt_claim(&t[slot], 0, hash)) {
            *fresh = true;
            return slot + 1;
        }
        if (vt_see(&t[slot]) == hash)
            return slot + 1;
    }
    return 0;
}

static void write_stack(struct vt_thread *thread, uint32_t number, void *const *frames, size_t n,
                        unsigned flags) {
    vt_modules_write(thread);
    uint32_t bytes = (uint32_t)(sizeof(struct vt_rec_stack) + n * 8);
    struct vt_rec_stack *r = (void *)vt_log_reserve(thread, bytes);
    if (!r)
        return;
    r->number = number;
    r->frames = (uint16_t)n;
    r->flags = (uint16_t)flags;
    uint64_t *words = (uint64_t *)(r + 1);
    for (size_t i = 0; i < n; i++)
        words[i] = (uint64_t)(uintptr_t)frames[i];
    vt_log_commit(thread, &r->word, vt_word(VT_REC_STACK, 0, 0, bytes), bytes);
}

uint32_t vt_stack_capture(struct vt_thread *thread, void *caller) {
    void *frames[VT_DEPTH_MAX + OWN_FRAMES_MAX];
    size_t max = vt_options.depth + OWN_FRAMES_MAX, first = 0, n = vt_stack_raw(frames, max);
    if (!n)
        return 0;
    while (first < n && frames[first] != caller)
        first++;
    if (first ==
        n) /* never seen: an unwinder that lost its way; what it found is better than nothing */
        first = 0;
    bool cut = n == max;
    n -= first;
    if (n > vt_options.depth) {
        n = vt_options.depth;
        cut = true;
    }
    bool fresh;
    uint32_t number = number_of(hash_frames(frames + first, n), &fresh);
    if (VT_UNLIKELY(!number))
        vt_log_drop(VT_DROP_STACKS);
    if (VT_UNLIKELY(fresh))
        write_stack(thread, number, frames + first, n, cut ? VT_STACK_CUT : 0);
    return number;
}

/* The child writes its own log: every stack is new again. */
void vt_stack_forked(void) {
    if (vt_see(&table))
        VT_SYS3(SYS_madvise, table, TABLE_SLOTS * sizeof *table, MADV_DONTNEED);
}
