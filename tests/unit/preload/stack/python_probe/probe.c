/* SPDX-License-Identifier: MIT */
/*
 * The Python half of the call stacks, alone in a library that Python itself can load with ctypes:
 * the tests ask it what it sees and compare that with what Python says (frames.py, churn.py,
 * ends.py). Built by tests/unit/preload/stack/python_probe/build.sh from this file and preload/stack/python*.c.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <link.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include "base/libc.h"
#include "base/locks.h"
#include "base/process.h"
#include "log/log.h"
#include "stack/python.h"
#include "stack/python_layout.h"

#define EXPORT      __attribute__((visibility("default")))
#define MOST_NATIVE 1024

/* What base/libc.c provides in the tracer. */
void *vt_libc_dlsym(void *handle, const char *name) {
    return dlsym(handle, name);
}

bool vt_sys_sealed;
bool vt_sys_careful;
bool vt_sys_is_free(void) {
    return true;
}

bool vt_locks_lost(uint32_t which) {
    (void)which;
    return false;
}

const char *vt_process_program(char *buffer, size_t size) {
    ssize_t n = readlink("/proc/self/exe", buffer, size - 1);
    buffer[n > 0 ? n : 0] = 0;
    return buffer;
}

void *vt_libc_dlopen(const char *path, int flags) {
    return dlopen(path, flags);
}

void vt_libc_dlerror_clear(void) {
    dlerror();
}

int vt_libc_each_object(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data) {
    return dl_iterate_phdr(visit, data);
}

/* What log/ provides there: nothing is written. */
bool vt_log_entry(struct vt_thread *t, const void *record, uint32_t bytes, struct vt_log_part first,
                  struct vt_log_part second) {
    (void)t, (void)record, (void)bytes, (void)first, (void)second;
    return true;
}

/* CPython's own daemon threads can crash it while it ends (seen: 3.12, once in some hundred runs). With
 * PROBE_GUARD=1 a fault says whether one of our captures was at it: that would be ours. */
static __thread volatile bool inside;

static void on_fault(int signal_number) {
    static const char in[] = "probe: a fault inside a capture\n",
                      out[] = "probe: a fault outside\n",
                      late[] =
                          "probe: a fault outside, of a thread that outlived the interpreter\n";
    const char *text = inside ? in : out;
    if (!inside && syscall(SYS_gettid) != getpid() && vt_pyimage.is_initialized &&
        vt_pyimage.is_finalizing && (!vt_pyimage.is_initialized() || vt_pyimage.is_finalizing()))
        text = late;
    ssize_t written = write(2, text, strlen(text));
    (void)written;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* The chain as it is remembered, against one that remembers nothing, and against the frames. */
static void check_chain(const struct vt_pylast *last, uint64_t id, const struct vt_pystack *stack) {
    static __thread struct vt_pylast *fresh;
    static __thread struct vt_pystack *room;
    if (fresh == NULL) {
        fresh = calloc(1, sizeof *fresh);
        room = calloc(1, sizeof *room);
    }
    memset(fresh, 0, sizeof *fresh);
    bool right = vt_python_identify(fresh, room) == id && (id != 0) == (stack->n_frames != 0);
    uint32_t frame = 0;
    for (uint32_t i = last->n; i-- > 0 && right;) {
        if (last->step[i].frames == (i ? last->step[i - 1].frames : 0))
            continue; /* not shown */
        right = frame < stack->n_frames &&
                stack->frames[frame].code == (last->step[i].code & ~(uint64_t)7);
        frame++;
    }
    if (right && (last->n == 0 || frame == stack->n_frames))
        return;
    if (!vt_python_lives()) /* it has ended in between */
        return;
    fprintf(stderr, "probe: the chain as it is remembered differs at frame %u of %u\n", frame,
            stack->n_frames);
    abort();
}

static struct vt_pylast *own_last(void) {
    static __thread struct vt_pylast *last;
    if (last == NULL)
        last = calloc(1, sizeof *last);
    return last;
}

static uint32_t capture(struct vt_pystack *stack) {
    struct vt_pylast *last = own_last();
    inside = true;
    bool trusted = vt_python_is_trusted();
    uint64_t id = vt_python_identify(last, stack);
    uint32_t n = vt_python_capture(stack);
    inside = false;
    if (trusted)
        check_chain(last, id, stack);
    return n;
}

static bool describe(const struct vt_pyframe *frame, struct vt_pycode *code) {
    inside = true;
    bool done = vt_python_describe(frame, code);
    inside = false;
    return done;
}

__attribute__((constructor)) static void start(void) {
    vt_python_resolve();
    if (getenv("PROBE_GUARD")) {
        signal(SIGSEGV, on_fault);
        signal(SIGBUS, on_fault);
    }
}

static struct vt_pystack *own_stack(void) {
    static __thread struct vt_pystack *stack;
    if (stack == NULL)
        stack = calloc(1, sizeof *stack);
    return stack;
}

EXPORT int probe_state(void) {
    return (int)vt_python_state(NULL);
}

EXPORT const char *probe_why(void) {
    const char *why;
    vt_python_state(&why);
    return why ? why : "";
}

EXPORT void probe_resolve(void) {
    vt_python_resolve();
}

EXPORT void probe_forked(void) {
    vt_python_forked();
}

static size_t put_frame(char *to, size_t room, const struct vt_pyframe *frame) {
    struct vt_pycode code;
    if (!describe(frame, &code))
        return (size_t)snprintf(to, room, "?\t?\t0\n");
    int n = snprintf(to, room, "%.*s\t%.*s\t%u\n", (int)code.name_bytes, code.name,
                     (int)code.file_bytes, code.file, code.line);
    return n < 0 || (size_t)n >= room ? 0 : (size_t)n;
}

/* "name TAB file TAB line" for each Python frame, innermost first. Answers the number of frames. */
EXPORT int probe(char *to, size_t room) {
    struct vt_pystack *s = own_stack();
    size_t n = 0;
    capture(s);
    for (uint32_t i = 0; i < s->n_frames; i++)
        n += put_frame(to + n, room - n, &s->frames[i]);
    to[n] = 0;
    return (int)s->n_frames;
}

EXPORT int probe_truncated(void) {
    return own_stack()->truncated;
}

struct native {
    uint64_t address[MOST_NATIVE], sp[MOST_NATIVE];
    size_t n;
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg) {
    struct native *native = arg;
    if (native->n == MOST_NATIVE)
        return _URC_END_OF_STACK;
    native->address[native->n] = _Unwind_GetIP(context);
    native->sp[native->n++] = _Unwind_GetCFA(context);
    return _URC_NO_REASON;
}

/* The merged stack: "P name TAB file TAB line", "N symbol" for native frames, "I symbol" for the
 * interpreter's. Its first line is "ordered" or "unordered". `depth` native frames at most,
 * `with_sp` 0: as if no stack pointers were known. */
EXPORT int probe_merged(char *to, size_t room, int depth, int with_sp) {
    struct vt_pystack *s = own_stack();
    static __thread struct native native;
    native.n = 0;
    capture(s);
    _Unwind_Backtrace(step, &native);
    bool cut = native.n > (size_t)depth;
    struct vt_merge in = {.address = native.address,
                          .sp = with_sp ? native.sp : NULL,
                          .n = cut ? (size_t)depth : native.n,
                          .cut = cut,
                          .python = s,
                          .owns = vt_python_owns,
                          .is_eval = vt_python_is_eval};
    static __thread uint64_t out[MOST_NATIVE + VT_PYTHON_FRAMES];
    bool unordered;
    size_t words = vt_python_merge(&in, out, &unordered);
    size_t n = (size_t)snprintf(to, room, unordered ? "unordered\n" : "ordered\n");
    for (size_t i = 0; i < words; i++) {
        if (out[i] & VT_MERGED_PYTHON) {
            n += (size_t)snprintf(to + n, room - n, "P ");
            n += put_frame(to + n, room - n, &s->frames[(uint32_t)out[i]]);
            continue;
        }
        Dl_info info = {0};
        dladdr((void *)((out[i] & ~VT_MERGED_INTERPRETER) - 1), &info);
        n += (size_t)snprintf(to + n, room - n, "%c %s\n",
                              out[i] & VT_MERGED_INTERPRETER ? 'I' : 'N',
                              info.dli_sname ? info.dli_sname : "?");
    }
    return (int)words;
}

/* Calls back: a C frame between Python frames. The empty statement after keeps it a frame of its
 * own. */
EXPORT int probe_call(int (*callback)(void)) {
    int result = callback();
    __asm__ volatile("");
    return result;
}

static void *run_callback(void *arg) {
    int (*callback)(void);
    memcpy(&callback, &arg, sizeof callback);
    callback();
    return NULL;
}

/* The same from a thread that Python did not start. */
EXPORT int probe_call_on_thread(int (*callback)(void)) {
    pthread_t thread;
    void *arg;
    memcpy(&arg, &callback, sizeof arg);
    if (pthread_create(&thread, NULL, run_callback, arg) != 0)
        return -1;
    return pthread_join(thread, NULL);
}

static void *capture_alone(void *arg) {
    *(int *)arg = (int)capture(own_stack());
    return NULL;
}

/* Frames seen by a thread that never ran Python: 0. */
EXPORT int probe_on_thread(void) {
    pthread_t thread;
    int frames = -1;
    if (pthread_create(&thread, NULL, capture_alone, &frames) != 0)
        return -1;
    pthread_join(thread, NULL);
    return frames;
}

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Nanoseconds that it costs to identify the calling stack, warm. Negative when it was not seen as the
 * same again. */
EXPORT double probe_cost(int rounds) {
    struct vt_pystack *s = own_stack();
    struct vt_pylast *last = own_last();
    bool same = true;
    capture(s);
    uint64_t id = vt_python_identify(last, s);
    double start = now_ns();
    for (int i = 0; i < rounds; i++)
        same &= vt_python_identify(last, s) == id;
    double cost = (now_ns() - start) / rounds;
    return same ? cost : -1;
}

/* --- churn --- */

/* What (code, tag) was called when it was first seen. The tracer trusts that pair, so does this;
 * then each later sight is compared with what the live code object says. Fixed, lock-free: a slot
 * is claimed by its key and published by `ready`. */
#define SLOTS (1u << 19)
struct seen {
    uint64_t code, tag;
    char text[56];
    int ready;
};
static struct seen *table;
static uint64_t captures, frames_seen, wrong, unknown, full;

static void know(const struct vt_pyframe *frame) {
    struct vt_pycode code;
    char text[56];
    if (!describe(frame, &code)) {
        __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
        return;
    }
    snprintf(text, sizeof text, "%.*s|%u", (int)(code.name_bytes < 40 ? code.name_bytes : 40),
             code.name, code.first_line);
    /* Self-describing: f_<id>_<line> lives in file <id> at that line. */
    unsigned long id, line;
    int end = 0;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)code.name_bytes, code.name);
    if (sscanf(name, "f_%lu_%lu%n", &id, &line, &end) == 2 && name[end] == 0) {
        char file[64];
        int k = snprintf(file, sizeof file, "churn %lu", id);
        bool right = (uint32_t)k == code.file_bytes && memcmp(file, code.file, (size_t)k) == 0 &&
                     code.first_line == line && code.line == line + 1;
        if (!right)
            __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
    }
    uint64_t h = (frame->code ^ frame->tag * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu >> 45;
    for (unsigned i = 0; i < 64; i++) {
        struct seen *s = &table[(h + i) & (SLOTS - 1)];
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&s->code, &none, frame->code, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            s->tag = frame->tag;
            memcpy(s->text, text, sizeof text);
            __atomic_store_n(&s->ready, 1, __ATOMIC_RELEASE);
            return;
        }
        if (!__atomic_load_n(&s->ready, __ATOMIC_ACQUIRE))
            continue;
        if (none == frame->code && s->tag == frame->tag) {
            if (strcmp(s->text, text) != 0)
                __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
            return;
        }
    }
    __atomic_add_fetch(&full, 1, __ATOMIC_RELAXED);
}

/* Captures and checks every frame. `expect` is the innermost function's id, or 0. */
EXPORT int probe_churn(unsigned long expect) {
    struct vt_pystack *s = own_stack();
    if (table == NULL) {
        struct seen *fresh = calloc(SLOTS, sizeof *fresh), *none = NULL;
        if (!__atomic_compare_exchange_n(&table, &none, fresh, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            free(fresh);
    }
    uint32_t n = capture(s);
    __atomic_add_fetch(&captures, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&frames_seen, n, __ATOMIC_RELAXED);
    if (n == 0) {
        __atomic_add_fetch(&unknown, 1, __ATOMIC_RELAXED);
        return 0;
    }
    for (uint32_t i = 0; i < n; i++)
        know(&s->frames[i]);
    if (expect != 0) {
        struct vt_pycode code;
        char start[32];
        int k = snprintf(start, sizeof start, "f_%lu_", expect);
        if (!describe(&s->frames[0], &code) || memcmp(start, code.name, (size_t)k) != 0)
            __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
    }
    return (int)n;
}

/* captures, frames, wrong names, captures without frames, keys that found no room */
EXPORT void probe_churn_result(unsigned long out[5]) {
    out[0] = captures;
    out[1] = frames_seen;
    out[2] = wrong;
    out[3] = unknown;
    out[4] = full;
}
