/* SPDX-License-Identifier: MIT */
/*
 * Captures stacks; each distinct one gets a number and is written to the log.
 *
 * libunwind is opened privately (RTLD_LOCAL) at arming: our own copy, or else the system's. If we linked it, it would
 * enter the global scope with the preload and replace _Unwind_RaiseException and related functions, and so C++
 * exceptions, for every library loaded later.
 *
 * A number is a slot in one hash table of stack hashes, so two threads with the same stack get the same number without
 * communicating. A stack's record is in the log before the first event that names the stack. If the record is missing
 * (the disk was full), the reader takes the stack as unknown.
 *
 * An exception to the record path's invariants: a new stack takes libunwind's cache lock and the loader's lock
 * (dl_iterate_phdr). It waits for them while another thread forks, and blocks signals. A forked child avoids locks that
 * may stay locked (base/locks.h): there, a stack that needs libunwind is cut.
 */
#define _GNU_SOURCE
#include "stack.h"
#include "base/base.h"
#include "modules.h"
#include "unwind_guard.h"
#include "unwind_recall.h"
#include "unwind_rules.h"
#include "unwind_walk.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#ifdef VT_CHECK_WALKS
#include "unwind_check.h"
#endif

/* Our own frames and a runtime's frames, which libunwind reports before the caller's. */
#define OWN_FRAMES_MAX 48u

/* Working memory for one stack. */
struct scratch {
    const uintptr_t *frames; /* the caller's native frames, innermost first */
    const uintptr_t *sps;    /* their stack pointers; NULL: not known yet */
    size_t n;
    void *unwound[VT_DEPTH_MAX + OWN_FRAMES_MAX]; /* libunwind's frames */
    uintptr_t sp[VT_DEPTH_MAX];
    uint64_t words[VT_DEPTH_MAX + VT_PYTHON_FRAMES + 1];
    unw_context_t context;
    unw_cursor_t cursor;
    struct vt_pycode code;
};

/* Kept per thread, in vt_thread.stack. */
struct kept {
    struct vt_pystack python; /* the Python frames of a new stack */
    struct vt_pylast chain;
    uint64_t python_id; /* from vt_python_identify */
    struct scratch scratch;
    struct vt_walks walks;
    struct vt_recall recall;
};
static_assert(sizeof(struct kept) <= VT_THREAD_STACK_BYTES, "a thread has room for it");

static struct kept *kept_of(struct vt_thread *thread) {
    return (struct kept *)(void *)thread->stack;
}

#define TEXT_(name) #name
#define TEXT(name)  TEXT_(name)

/* libunwind's functions. Its header's macros turn these into the architecture's names. */
static struct {
    int (*backtrace)(void **buffer, int size); /* atomic, set last */
    int (*getcontext)(unw_context_t *context);
    int (*init_local)(unw_cursor_t *cursor, unw_context_t *context);
    int (*step)(unw_cursor_t *cursor);
    int (*get_reg)(unw_cursor_t *cursor, int reg, unw_word_t *value);
} unwinder;

static uint64_t epoch; /* atomic; changes after a library was unloaded */

/* A copy installed beside our library: a wheel brings one, for machines without libunwind. Its name and SONAME are
 * unique, so the program never gets it instead of its own libunwind. */
#define OWN_UNWINDER "vramtrace/libs/libunwind-vramtrace.so.8"

static void *open_unwinder(void) {
    char path[1024]; /* small: the first CUDA call may be on any stack */
    struct vt_elf own;
    const char *name = vt_elf_containing(&unwinder, &own) ? own.name : "";
    const char *slash = strrchr(name, '/');
    size_t folder = slash ? (size_t)(slash + 1 - name) : 0;
    void *handle = NULL;
    if (folder && folder + sizeof OWN_UNWINDER <= sizeof path) {
        memcpy(path, name, folder);
        memcpy(path + folder, OWN_UNWINDER, sizeof OWN_UNWINDER);
        handle = vt_descriptors_dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!handle)
        vt_libc_dlerror_clear();
    return handle ? handle : vt_descriptors_dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
}

static void arm_unwinder(void) {
    if (vt_see(&unwinder.backtrace) || vt_locks_lost(VT_LOST_INSIDE))
        return;
    void *handle = open_unwinder();
    void *backtrace = handle ? vt_libc_dlsym(handle, "unw_backtrace") : NULL;
    if (!backtrace) {
        vt_log_flag(VT_FLAG_NO_UNWINDER);
        vt_libc_dlerror_clear();
        return;
    }
    vt_unwind_guard(backtrace);
    if (VT_UNWINDER_HAS_GETCONTEXT)
        *(void **)&unwinder.getcontext = vt_libc_dlsym(handle, TEXT(UNW_ARCH_OBJ(getcontext)));
    *(void **)&unwinder.init_local = vt_libc_dlsym(handle, TEXT(UNW_OBJ(init_local)));
    *(void **)&unwinder.get_reg = vt_libc_dlsym(handle, TEXT(UNW_OBJ(get_reg)));
    *(void **)&unwinder.step = vt_libc_dlsym(handle, TEXT(UNW_OBJ(step)));
    if ((VT_UNWINDER_HAS_GETCONTEXT && !unwinder.getcontext) || !unwinder.init_local ||
        !unwinder.get_reg)
        unwinder.step = NULL;
    /* An unwind opens libunwind's files now, not at the first event. */
    void *frames[8];
    __typeof__(unwinder.backtrace) function =
        __extension__(__typeof__(unwinder.backtrace)) backtrace;
    function(frames, 8);
    vt_publish(&unwinder.backtrace, function);
}

void vt_stack_arm(void) {
    arm_unwinder();
    vt_unwind_arm();
    if (!vt_settings.python)
        vt_python_switch_off();
    vt_python_resolve();
}

void vt_stack_write_modules(struct vt_thread *thread) {
    vt_modules_write(thread, NULL, 0);
}

void vt_stack_modules_changed(void) {
    vt_add(&epoch, 1);
    vt_unwind_forget();
}

static bool is_signal_frame(uintptr_t address) {
    uint32_t of = vt_unwind_epoch();
    uint64_t rule = of ? vt_unwind_rule(address, of) : 0;
    return rule && vt_rule_kind(rule) == VT_RULE_OTHER && vt_rule_other(rule) == VT_UNWIND_SIGNAL;
}

/* libunwind 1.3 returns addresses inside the call instructions, one less than the return addresses; but an interrupted
 * address is unchanged. */
VT_COLD static void make_return_addresses(void **frames, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!i || !is_signal_frame((uintptr_t)frames[i - 1]))
            frames[i] = (char *)frames[i] + 1;
}

/* Not inlined: its own return address, in the second frame, shows which kind of address libunwind returns. */
__attribute__((noinline)) size_t vt_stack_raw(void **frames, size_t max) {
    __typeof__(unwinder.backtrace) f =
        vt_locks_lost(VT_LOST_INSIDE) ? NULL : vt_see(&unwinder.backtrace);
    int saved_errno = errno;
    int n = f ? f(frames, (int)max) : 0;
    errno = saved_errno;
    if (n > 1 && (char *)frames[1] + 1 == (char *)__builtin_return_address(0))
        make_return_addresses(frames, (size_t)n);
    return n > 0 ? (size_t)n : 0;
}

bool vt_stack_in_exit(const struct vt_caller *caller) {
    void *frames[64];
    bool again;
    if (vt_tls.thread && !vt_tls.busy) {
        /* keeps signal handlers from walking meanwhile */
        vt_tls.busy = (uintptr_t)__builtin_frame_address(0);
        const struct vt_walk *w =
            vt_unwind_walk(&kept_of(vt_tls.thread)->walks, caller, VT_DEPTH_MAX, &again);
        bool inside = w && vt_process_in_exit((void *const *)w->address, w->n);
        vt_tls.busy = 0;
        if (w)
            return inside;
    }
    return vt_process_in_exit(frames, vt_stack_raw(frames, sizeof frames / sizeof frames[0]));
}

static uint64_t hash_word(uint64_t h, uint64_t word) {
    h ^= word;
    h *= 0xff51afd7ed558ccdull;
    return h ^ h >> 32;
}

static uint64_t hash_text(uint64_t h, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3ull;
    h = hash_word(h, n);
    return h < 2 ? 2 : h;
}

static struct vt_numbering stacks; /* its notes: enum vt_allocator */
static struct vt_numbering codes;
static struct vt_numbering lines; /* source lines of code that is not in a file */

/* Counts an item that has no number (0) or no record. */
static void lacks(struct vt_numbering *numbering, uint32_t number) {
    if (vt_numbering_unwritten(numbering, number) && !vt_process_is_fresh_child())
        vt_log_drop(VT_DROP_STACKS);
}

/* The number of a Python code object's text; writes its record if the text is new. 0: no space. */
static uint32_t code_number(struct vt_thread *thread, const struct vt_pycode *code) {
    uint64_t h = hash_text(code->first_line + 1, code->name, code->name_bytes);
    bool fresh;
    uint32_t number = vt_numbering_of(&codes, hash_text(h, code->file, code->file_bytes), &fresh);
    if (number && !fresh)
        return number;
    const struct vt_rec_code r = {.word = VT_REC_CODE,
                                  .number = number,
                                  .first_line = code->first_line,
                                  .name_bytes = code->name_bytes,
                                  .file_bytes = code->file_bytes};
    if (!number ||
        !vt_log_entry(thread, &r, sizeof r, (struct vt_log_part){code->name, code->name_bytes},
                      (struct vt_log_part){code->file, code->file_bytes})) {
        lacks(&codes, number);
        return 0;
    }
    vt_numbering_written(&codes, number);
    return number;
}

/* Requests the source of a line that is not in a file, once. */
static void want_line(uint32_t number, const struct vt_pycode *code) {
    bool fresh;
    if (!number || !vt_python_is_no_file(code))
        return;
    uint32_t line = vt_numbering_of(&lines, hash_word(number, code->line), &fresh);
    if (fresh && vt_python_want_line(number, code)) {
        vt_numbering_written(&lines, line);
        vt_tls.due |= VT_DUE_LOOK;
    }
}

/* Finds each native frame's stack pointer by libunwind, to place the Python frames. It takes a microsecond per frame,
 * so we do it only for a new stack. False: libunwind's steps differ from its backtrace. */
static bool find_stack_pointers(struct scratch *s) {
    unw_word_t ip = 0, sp = 0;
    size_t i = 0;
    if (!unwinder.step || vt_locks_lost(VT_LOST_INSIDE) ||
        VT_UNWINDER_GETCONTEXT(unwinder.getcontext, &s->context) != 0 ||
        unwinder.init_local(&s->cursor, &s->context) != 0)
        return false;
    for (size_t steps = 0; i < s->n && steps < VT_DEPTH_MAX + 2 * OWN_FRAMES_MAX; steps++) {
        if (unwinder.get_reg(&s->cursor, UNW_REG_IP, &ip) != 0 ||
            unwinder.get_reg(&s->cursor, UNW_REG_SP, &sp) != 0)
            return false;
        if (ip == s->frames[i])
            s->sp[i++] = sp;
        else if (i)
            return false;
        if (unwinder.step(&s->cursor) <= 0)
            break;
    }
    return i == s->n;
}

/* The record's frame words: native frames, with the Python frames in between. */
VT_COLD static size_t merge_python(struct vt_thread *thread, bool cut, uint64_t *words,
                                   unsigned *flags) {
    struct scratch *s = &kept_of(thread)->scratch;
    bool unordered = false;
    if (!s->sps && find_stack_pointers(s))
        s->sps = s->sp;
    const struct vt_merge in = {.address = s->frames,
                                .sp = s->sps,
                                .n = s->n,
                                .cut = cut,
                                .python = &kept_of(thread)->python,
                                .owns = vt_python_owns,
                                .is_eval = vt_python_is_eval};
    size_t n = vt_python_merge(&in, words, &unordered);
    for (size_t i = 0; i < n; i++) {
        if (!(words[i] & VT_MERGED_PYTHON))
            continue;
        if (!vt_python_describe(&kept_of(thread)->python.frames[words[i] & ~VT_MERGED_PYTHON],
                                &s->code)) {
            s->code =
                (struct vt_pycode){.name_bytes = 1, .file_bytes = 1, .name = "?", .file = "?"};
        }
        uint32_t number = code_number(thread, &s->code);
        words[i] = vt_frame_python(number, s->code.line);
        want_line(number, &s->code);
    }
    *flags |= (unordered ? VT_STACK_UNORDERED : 0) |
              (kept_of(thread)->python.truncated ? VT_STACK_PYTHON_CUT : 0);
    return n;
}

/* Notes once why there are no Python frames although there is an interpreter. */
static void note_python(void) {
    static uint32_t said; /* atomic */
    const char *why = NULL;
    if (vt_python_state(&why) == VT_PYTHON_REFUSED && why && vt_claim(&said, 0, 1))
        vt_log_note(why);
}

static uint32_t said_lost; /* atomic */

static void note_lost_unwinder(void) {
    if (vt_locks_lost(VT_LOST_INSIDE) && vt_claim(&said_lost, 0, 1))
        vt_log_note(
            "a thread of the parent was in libunwind or the loader at the fork: stacks that need "
            "libunwind are cut");
}

enum vt_allocator vt_stack_allocator(uint32_t number) {
    return number ? (enum vt_allocator)vt_get(vt_numbering_note(&stacks, number))
                  : VT_ALLOCATOR_PROGRAM;
}

/* False: no space. */
VT_COLD static bool write_stack(struct vt_thread *thread, uint32_t number, bool cut) {
    struct scratch *s = &kept_of(thread)->scratch;
    unsigned flags = cut ? VT_STACK_CUT : 0;
    size_t n = s->n;
    if (!thread->chunk && thread->retry) /* no chunk, and it is too early to try again */
        return false;
    vt_modules_write(thread, s->frames, s->n);
    note_python();
    note_lost_unwinder();
    if (kept_of(thread)->python_id && vt_python_capture(&kept_of(thread)->python)) {
        vt_python_note_lived();
        n = merge_python(thread, cut, s->words, &flags);
    } else {
        memcpy(s->words, s->frames, n * sizeof *s->words);
    }
    if (vt_tls.caller_stack)
        s->words[n++] = vt_frame_caller(vt_tls.caller_stack);
    if (!vt_log_stack(thread, number, flags, s->words, (uint32_t)n))
        return false;
    vt_put(vt_numbering_note(&stacks, number), (uint8_t)vt_library_allocator(s->frames, s->n));
    vt_numbering_written(&stacks, number);
    return true;
}

/* Finds the native frames from `caller` outwards, by libunwind. True: the outermost frames are missing. */
VT_COLD static bool unwind(struct scratch *s, const void *caller) {
    size_t max = vt_settings.depth + OWN_FRAMES_MAX, n = vt_stack_raw(s->unwound, max), first = 0;
    bool lost = vt_locks_lost(VT_LOST_INSIDE);
    if (lost) {
        s->unwound[0] = (void *)(uintptr_t)caller;
        n = 1;
    }
    while (first < n && s->unwound[first] != caller)
        first++;
    if (first == n) /* the caller was not found: keep all frames */
        first = 0;
    s->frames = (const uintptr_t *)s->unwound + first;
    s->sps = NULL;
    s->n = n - first;
    if (s->n <= vt_settings.depth)
        return n == max || lost;
    s->n = vt_settings.depth;
    return true;
}

/* The same, but uses `walk`, the stack walked by rules, unless it is NULL. */
static bool capture_native(struct scratch *s, const struct vt_walk *walk, const void *caller) {
    if (!walk)
        return unwind(s, caller);
    s->frames = walk->address;
    s->sps = walk->sp;
    s->n = walk->n;
    return walk->cut;
}

VT_HOT static void identify_python(struct kept *k) {
    k->python_id =
        vt_python_state(NULL) == VT_PYTHON_ACTIVE ? vt_python_identify(&k->chain, &k->python) : 0;
}

VT_HOT static uint64_t hash_native(const uintptr_t *frames, size_t n) {
    return hash_word(vt_walk_hash(frames, n) + vt_get(&epoch), n);
}

static uint64_t hash_stack(uint64_t native, uint64_t python_id) {
    uint64_t h = native;
    if (python_id)
        h = hash_word(h, python_id);
    if (vt_tls.caller_stack)
        h = hash_word(h, vt_tls.caller_stack);
    return h < 2 ? 2 : h;
}

/* The number that this stack got before; 0: unknown. */
static uint32_t known_number(const struct kept *k, const struct vt_walk *w) {
    return w->caller_stack == vt_tls.caller_stack && w->python == k->python_id ? w->number : 0;
}

static void remember_number(const struct kept *k, struct vt_walk *w, uint32_t number) {
    w->number = number;
    w->caller_stack = vt_tls.caller_stack;
    w->python = k->python_id;
}

/* The number of the predicted stack, if the prediction is right; else 0. */
VT_HOT static uint32_t expected_number(struct kept *k, const struct vt_caller *caller) {
    struct vt_recalled *r = vt_recall_expected(&k->recall, caller);
    bool fresh;
    if (!r)
        return 0;
#ifdef VT_CHECK_WALKS
    bool again;
    const struct vt_walk *walk = vt_unwind_walk(&k->walks, caller, vt_settings.depth, &again);
    vt_check_walk(walk, vt_settings.depth + OWN_FRAMES_MAX, (uintptr_t)caller->to);
    if (!walk || r->hash != hash_native(walk->address, walk->n))
        abort();
#endif
    uint32_t number = vt_recall_number(r, k->python_id, vt_tls.caller_stack);
    if (VT_UNLIKELY(!number)) {
        number = vt_numbering_of(&stacks, hash_stack(r->hash, k->python_id), &fresh);
        if (!number || fresh)
            return 0;
        vt_recall_number_is(r, k->python_id, vt_tls.caller_stack, number);
    }
    vt_recall_was(&k->recall, r);
    return number;
}

static void expect(struct kept *k, const struct vt_walk *walk, const struct vt_caller *caller,
                   uint64_t native, uint32_t number) {
    struct vt_recalled *r = vt_recall_keep(&k->recall, walk, caller, native);
    if (r && vt_recall_number(r, k->python_id, vt_tls.caller_stack) != number)
        vt_recall_number_is(r, k->python_id, vt_tls.caller_stack, number);
}

VT_HOT uint32_t vt_stack_capture(struct vt_thread *thread, const struct vt_caller *caller) {
    struct kept *k = kept_of(thread);
    bool again, fresh;
    identify_python(k);
    uint32_t number = expected_number(k, caller);
    if (VT_LIKELY(number))
        return number;
    struct vt_walk *walk = vt_unwind_walk(&k->walks, caller, vt_settings.depth, &again);
#ifdef VT_CHECK_WALKS
    vt_check_walk(walk, vt_settings.depth + OWN_FRAMES_MAX, (uintptr_t)caller->to);
#endif
    number = walk && again ? known_number(k, walk) : 0;
    if (number) {
        if (vt_recall_wants(&k->recall, walk))
            expect(k, walk, caller, hash_native(walk->address, walk->n), number);
        return number;
    }
    bool cut = capture_native(&k->scratch, walk, caller->to);
    if (!k->scratch.n && !k->python_id)
        return 0;
    uint64_t native = hash_native(k->scratch.frames, k->scratch.n);
    number = vt_numbering_of(&stacks, hash_stack(native, k->python_id), &fresh);
    if (VT_UNLIKELY(!number))
        lacks(&stacks, 0);
    if (VT_UNLIKELY(fresh)) {
        /* A later dlopen may have loaded an interpreter. We look for it here, because a new stack is slow in any
         * case. */
        if (vt_python_state(NULL) == VT_PYTHON_ABSENT) {
            vt_python_resolve();
            if (vt_python_state(NULL) == VT_PYTHON_ACTIVE)
                return vt_stack_capture(thread, caller);
        }
        if (!write_stack(thread, number, cut)) {
            lacks(&stacks, number);
            return number; /* the next event tries again */
        }
    }
    if (walk)
        remember_number(k, walk, number);
    if (number && vt_recall_wants(&k->recall, walk))
        expect(k, walk, caller, native, number);
    return number;
}

/* The child writes its own log, where every stack is new. */
void vt_stack_forked(void) {
    vt_put(&said_lost, 0);
    vt_numbering_forget(&stacks);
    vt_numbering_forget(&codes);
    vt_numbering_forget(&lines);
    vt_python_lines_forked();
    vt_modules_forked();
    vt_python_forked();
}
