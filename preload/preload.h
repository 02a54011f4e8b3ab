/* SPDX-License-Identifier: MIT */
/*
 * The room that runs inside someone else's process, and each file's door.
 *
 * The law of this room:
 *   - The program's result never changes. We return what the driver returned, keep errno, never
 * exit, never abort. When we cannot record, we count (vt_log_drop) and the report says it.
 *   - The record path (event.c and what it calls) takes no lock, calls no malloc, no stdio and no
 * CUDA, and can be entered from any thread at any time: a framework's allocator mutex or Python's
 * GIL may be held. It waits for nobody. Two exceptions, stated where they stand: a stack never seen
 * before (libunwind's cache and the loader's lock, stack.c), and the first look-ups and the log's
 * opening (real.c, log.c).
 *   - Nothing happens before the program first reaches for CUDA: no file, no output, no library
 * opened.
 *   - System calls are made directly (sys.h). File descriptors are the program's: ours is checked
 * before each use.
 *
 * Reading order: init.c (a life from start to end), lookup.c (how a program is led to our
 * wrappers), real.c (what stands behind them), wrap_device.c (what a wrapper looks like), event.c
 * (the one door), log.c (where it goes), live.c, stack.c.
 */
#ifndef VT_PRELOAD_PRELOAD_H
#define VT_PRELOAD_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "base/mappings.h"
#include "stack/python.h"
#include "vramtrace/cuda_abi.h"
#include "vramtrace/log_format.h"

#define VT_VERSION     "0.1.0"
#define VT_EXPORT      __attribute__((visibility("default")))
#define VT_LIKELY(x)   __builtin_expect(!!(x), 1)
#define VT_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The permanent ids of hooks.def by name: VT_HOOK_cuMemAlloc_v2, VT_HOOK_cudaMalloc, ... */
enum vt_hook {
    VT_HOOK_NONE = 0,
#define VT_DRIVER(id, symbol, base, since, stream, role, prototype)        VT_HOOK_##symbol = id,
#define VT_RUNTIME(id, symbol, since, until, role, prototype)              VT_HOOK_##symbol = id,
#define VT_RUNTIME_AS(id, symbol, exported, since, until, role, prototype) VT_HOOK_##symbol = id,
#define VT_FRAMEWORK(id, symbol)                                           VT_HOOK_##symbol = id,
#include "vramtrace/hooks.def"
};

/* --- options.c --- */

struct vt_options {
    const char *output;     /* VRAMTRACE_OUTPUT as given, or NULL */
    bool quiet;             /* VRAMTRACE_QUIET */
    unsigned depth;         /* VRAMTRACE_DEPTH: native frames kept, 1..VT_DEPTH_MAX */
    bool python;            /* VRAMTRACE_PYTHON */
    bool framework;         /* VRAMTRACE_FRAMEWORK: caching allocators' blocks */
    uint64_t limit;         /* VRAMTRACE_LIMIT: bytes a device; UINT64_MAX: none */
    uint64_t inject;        /* VRAMTRACE_INJECT: the number of the allocation that fails; 0: none */
    bool inject_on;         /* ... and every later one */
    uint64_t alarm;         /* VRAMTRACE_ALARM: bytes; 0: none */
    unsigned alarm_percent; /* ... or that share of the device; 0: none */
    bool scan_off;          /* VRAMTRACE_SCAN=off: no search for pointers at the end */
    uint64_t scan_bytes;    /* ... or the most resident memory to look through; 0: auto */
};
#define VT_DEPTH_MAX 256u

extern struct vt_options vt_options;

/* Reads the VRAMTRACE_* variables; a bad value is one line on stderr and the default. */
void vt_options_read(void);

/* A variable's value in the process's environment, or NULL. Not getenv: shells bring their own. */
const char *vt_options_env(const char *name);

/* One line on stderr, "vramtrace: " in front, if stderr is still what it was at the start. No
 * stdio, no allocation. */
void vt_options_say(const char *text);
/* The same in three parts: no copy of a path is made, because the caller's stack may be small. */
void vt_options_say_path(const char *before, const char *path, const char *after);

/* --- elf.c --- */

/* A loaded object, found by address. */
struct vt_elf {
    uintptr_t bias;
    const void *dynamic;  /* its PT_DYNAMIC */
    const char *name;     /* as the loader knows it; the loader's memory */
    uintptr_t start, end; /* mapped range */
};

/* The object that `address` lies in. False: none. Takes the loader's lock. */
bool vt_elf_containing(const void *address, struct vt_elf *out);

/* The first object whose file name or SONAME begins with `prefix`. False: none. Takes the loader's
 * lock. */
bool vt_elf_named(const char *prefix, struct vt_elf *out);

/* The first object, in load order, behind the one that `after` lies in, that defines the symbol.
 * False: none. Takes the loader's lock. */
bool vt_elf_behind(const void *after, const char *symbol, struct vt_elf *out);

/* Where a defined function of that object itself lies, as far as its symbol says. False: not there.
 */
bool vt_elf_function(const struct vt_elf *object, const char *name, struct vt_range *out);

/* Address of a defined symbol of that object itself; with a version node (or NULL: its default
 * version). NULL: not there. */
void *vt_elf_symbol(const struct vt_elf *object, const char *name, const char *version);

/* Whether that object has some exported symbol at exactly `address`. */
bool vt_elf_names_address(const struct vt_elf *object, const void *address);

/* --- event.c --- */

/* Who called us. Made by VT_CALL at the top of each wrapper. */
struct vt_call {
    unsigned hook;
    uint8_t refused;         /* enum vt_fail_flag: we answer in the driver's place (limit.c) */
    uint8_t reserved_device; /* where `reserved` was taken from */
    void *caller;            /* return address: where the caller's stack starts */
    uint64_t reserved;       /* bytes taken from the limit beforehand */
};
#define VT_CALL(symbol)                                                                            \
    ((struct vt_call){.hook = VT_HOOK_##symbol, .caller = __builtin_return_address(0)})

/* One live allocation, as live.c keeps it. */
struct vt_live {
    uint64_t address, size;
    uint32_t stack;
    uint16_t context, hook;
    uint8_t kind, device;
};

/* A free under way: stamped, and taken out of the live table, before the real call. */
struct vt_freeing {
    uint64_t ticks, address;
    struct vt_live was; /* what it was, if known */
    unsigned kind;
    bool known, null;
    bool shared; /* another's memory: nothing of this process's is freed */
};

/* An allocation came back from the driver: recorded when it succeeded (`address`, `size` in bytes)
 * and when it was refused
 * (`size` as asked, address 0). It belongs to the calling thread's current context. */
void vt_event_alloc(const struct vt_call *call, int result, unsigned kind, uint64_t address,
                    uint64_t size);

/* The same for what the caller knows better: `what` has address, size, kind, device and context.
 * With a stack and a hook it is an allocation described earlier (a graph's node); without (0), the
 * stack and the name are the calling thread's. */
void vt_event_born(const struct vt_call *call, int result, struct vt_live what);
/* With a limit or an injection in force, before an allocation: false when it must not be tried;
 * that is recorded then. */
bool vt_event_may_alloc(struct vt_call *call, unsigned kind, uint64_t size, unsigned device);
/* The calling thread's stack and the name it called by, for a birth later on. */
uint32_t vt_event_stack(const struct vt_call *call, uint16_t *hook);

/* The door itself, for files that write records of their own kinds (torch.c, phase.c). `thread`
 * NULL: nothing can be recorded, and that is counted; then there is nothing to close. */
struct vt_recording {
    struct vt_thread *thread;
    int saved_errno;
};
struct vt_recording vt_event_open(void);
void vt_event_close(const struct vt_recording *recording);

/* Around a free. `kind`: any of the address's space; the free may turn out to be of another. */
struct vt_freeing vt_event_free_begin(uint64_t address, unsigned kind);
void vt_event_free_end(const struct vt_call *call, const struct vt_freeing *f, int result);

/* The time before a driver's call, for what is recorded after it. */
uint64_t vt_event_before_call(void);

/* A free that the driver has done already, with the time from before it did: for what is in the books under an address that the driver does not give out again by itself. */
void vt_event_freed(const struct vt_call *call, uint64_t ticks, uint64_t address, unsigned kind);

/* Around a context's end. The exit scan runs first where it is from within exit. `context` is its number. From within exit it is a teardown, and frees
 * nothing in the books. */
uint64_t vt_event_bulk_begin(void);
void vt_event_bulk_end(const struct vt_call *call, uint64_t ticks, unsigned context);

void vt_event_object(const struct vt_call *call, unsigned object, uint64_t handle, unsigned flags,
                     unsigned context);
void vt_event_meminfo(const struct vt_call *call, uint64_t free_bytes, uint64_t total_bytes);
void vt_event_poolinfo(const struct vt_call *call, unsigned device, uint64_t pool,
                       enum vt_pool_figure figure, uint64_t bytes);
/* `number` is the physical memory's that lies there now; 0: none any more. */
void vt_event_map(const struct vt_call *call, uint64_t ticks, unsigned device, uint64_t address,
                  uint64_t size, uint64_t number);
void vt_event_device(unsigned ordinal, const char *name, uint64_t total_bytes, const void *uuid);

/* A runtime call as a label for the driver events inside it (wrap_runtime.c). Nested calls: the
 * outermost counts. */
struct vt_label {
    struct vt_call call;
    uint64_t ticks; /* when it was opened */
    uint32_t events_before;
    bool outermost;
};
struct vt_label vt_event_label_begin(struct vt_call call);
/* True when no driver event happened inside: then the runtime wrapper records for itself. */
bool vt_event_label_end(const struct vt_label *label);

/* --- limit.c --- */

/* VRAMTRACE_LIMIT, VRAMTRACE_INJECT or VRAMTRACE_ALARM is set. Without, nothing below costs more
 * than reading this. */
extern bool vt_limit_on;
void vt_limit_arm(void); /* when the options are read */

/* Before an allocation: takes device memory from the limit of its device. False: it must not be
 * tried, and call->refused says why. */
bool vt_limit_take(struct vt_call *call, unsigned kind, unsigned device, uint64_t bytes);

/* After it: what was taken becomes what is live now, or is given back (NULL: it failed, or its
 * record was lost). */
void vt_limit_settle_(const struct vt_call *call, const struct vt_live *now);
/* After a free that the driver accepted. */
void vt_limit_freed_(const struct vt_live *was);

static inline void vt_limit_settle(const struct vt_call *call, const struct vt_live *now) {
    if (VT_UNLIKELY(vt_limit_on))
        vt_limit_settle_(call, now);
}
static inline void vt_limit_freed(const struct vt_live *was) {
    if (VT_UNLIKELY(vt_limit_on))
        vt_limit_freed_(was);
}

/* What the program may believe a device has: never more than the limit leaves. `total` is the
 * driver's figure, remembered for VRAMTRACE_ALARM's percent. */
uint64_t vt_limit_total(unsigned device, uint64_t total);
uint64_t vt_limit_free(unsigned device, uint64_t free_bytes);
void vt_limit_forked(void);

/* --- context.c --- */

/* Contexts are numbered; what the program does with them is watched, nothing is asked. */
unsigned vt_context_made(CUcontext handle, unsigned device,
                         bool primary);       /* its number, VT_CONTEXT_UNKNOWN when full */
unsigned vt_context_number(CUcontext handle); /* adds one of unknown device */
unsigned vt_context_primary(unsigned device);
/* Before the driver ends it: from now on its handle is another's. Answers the handle, to be given
 * back where the driver refuses. */
uint64_t vt_context_ends(unsigned number);
void vt_context_stays(unsigned number, uint64_t handle);
void vt_context_gone(unsigned number);
unsigned vt_context_device(unsigned number);
void vt_context_set_device(unsigned number, unsigned device);
/* A green context is a share of its device's primary one, which owns what is allocated in it: these
 * answer and take that one's number. */
unsigned vt_context_green_made(CUgreenCtx handle, unsigned device);
unsigned vt_context_green(CUgreenCtx handle);
void vt_context_green_gone(CUgreenCtx handle);
void vt_context_alias(CUcontext handle, unsigned owner); /* the context that stands for it */
/* The calling thread's stack of current contexts, as far as we saw it. */
void vt_context_push(CUcontext handle);
void vt_context_pop(void);
void vt_context_replace(CUcontext handle);
unsigned vt_context_current(
    void); /* number; with none seen: the only one there is, else VT_CONTEXT_UNKNOWN */
void vt_context_forked(void);

/* --- live.c --- */

/* What is live now: a lock-free table (address space, address) -> what it is. A kind stands for its
 * space. */
bool vt_live_insert(const struct vt_live *what); /* false: no room, counted by the caller */
bool vt_live_remove(uint64_t address, unsigned kind, struct vt_live *taken); /* false: not known */
bool vt_live_known(uint64_t address, unsigned kind);                         /* of just that kind */
/* From now on contexts may end: their addresses may be handed out again before they are taken out. */
void vt_live_contexts_end(void);
/* Takes out all that ends with a context; answers their bytes. */
uint64_t vt_live_remove_context(unsigned context);
/* Sums what is live on the devices (driver layer). */
void vt_live_total(uint64_t *bytes, uint64_t *count);
uint64_t vt_live_on_device(int device); /* -1: all */
/* Shows everything that is live; `visit` may free what it is shown. Walks the whole table. */
void vt_live_each(void (*visit)(const struct vt_live *what, void *data), void *data);
void vt_live_forked(void);

/* --- stack.c --- */

/* Opens the unwinder. Once, at arming. */
void vt_stack_arm(void);
/* The number of the calling thread's stack from `caller` outwards; written to the log when new. 0:
 * unknown. */
struct vt_thread;
uint32_t vt_stack_capture(struct vt_thread *thread, void *caller);
/* Raw return addresses of the calling thread, innermost first. */
size_t vt_stack_raw(void **frames, size_t max);
void vt_stack_modules_changed(void);

/* unwind_guard.c: makes the unwinder that this address lies in leave the program's descriptors and
 * its threads' cancellation alone. Before its first use. */
void vt_unwind_guard(void *inside);
void vt_stack_forked(void);

/* --- modules.c --- */

/* Writes the modules that are new since the last call. Takes the loader's lock; skips when another
 * thread is at it. */
void vt_modules_write(struct vt_thread *thread);
void vt_modules_forked(void);

/* --- phase.c --- */

/* Phases and marks of the program, from vramtrace.h and NVTX (nvtx.c). Only an open log takes them:
 * a phase alone opens none. One that is open when the log opens is written at its thread's next
 * event. `domain` is a number of vt_phases_domain(), 0 for the default; `name` is copied. */
int vt_phase_push(uint32_t domain, const char *name); /* its level, from 0; -1: too deep */
int vt_phase_pop(uint32_t domain);                    /* the level that ended; -1: none was open */
uint64_t vt_phase_start(uint32_t domain, const char *name); /* its range number */
void vt_phase_end(uint64_t range);
void vt_phase_mark(uint32_t domain, const char *name);

/* --- nvtx.c, torch.c --- */

/* In the constructor: sees to it that NVTX finds us. No allocation. */
void vt_nvtx_load(void);
/* Whether NVTX's copies are to be answered at all: we are preloaded, and VRAMTRACE_NVTX is not 0. */
bool vt_nvtx_wanted(void);
/* A function of the tool that the user had named before us. NULL: none. */
void *vt_nvtx_next(const char *symbol);

void vt_torch_forked(void);

/* --- thread.c and log.c --- */

#define VT_OWN_FRAMES_MAX 48u /* ours and a runtime's, before the caller's */

/* Where a stack is put together: here and not on the program's stack, which may be small. */
struct vt_stack_scratch {
    size_t first, n; /* the caller's frames among `frames` */
    void *frames[VT_DEPTH_MAX + VT_OWN_FRAMES_MAX];
    /* The last event's stack: most events repeat it. */
    size_t last_n;
    uint64_t last_epoch;
    uint32_t last_number; /* 0: none */
    void *last_frames[VT_DEPTH_MAX];
    uint64_t sp[VT_DEPTH_MAX];
    uint64_t words[VT_DEPTH_MAX + VT_PYTHON_FRAMES];
    unw_context_t context;
    unw_cursor_t cursor;
    struct vt_pycode code;
};

/* What a recording thread has. Kept when it dies, taken over by a later one. */
struct vt_thread {
    struct vt_thread *next;        /* all threads; only ever pushed */
    uint32_t tid;                  /* atomic: who owns this now */
    uint32_t used;                 /* bytes of the chunk that are written, header included */
    struct vt_chunk_header *chunk; /* NULL: none */
    uint64_t chunk_number;         /* 0: none reserved */
    uint64_t flushed_ticks;        /* buffered mode: when the chunk was last written out */
    uint32_t flushed;              /* ... and how much of it then was */
    uint32_t retry;                /* events to drop before trying to get a chunk again */
    bool named;                    /* its THREAD record stands in this chunk */
    struct vt_pystack python;      /* the last Python stack captured */
    struct vt_phases *phases;      /* books/phases.c's; NULL: none yet */
    struct vt_stack_scratch scratch;
};

/* Everything the library keeps in thread-local storage. */
struct vt_tls {
    struct vt_thread *thread;
    uint64_t generation; /* of the process: differs in a forked child */
    uint32_t busy;       /* inside the record path */
    uint32_t events;     /* driver events so far, for labels */
    uint32_t label_depth;
    uint32_t label_hook;
    void *label_caller;
    uint16_t contexts[14];
    uint32_t context_depth;
};
extern __thread struct vt_tls vt_tls __attribute__((tls_model("initial-exec")));

/* The calling thread's own, made or taken over at need. NULL: no memory. */
struct vt_thread *vt_thread_self(void);
struct vt_thread *vt_thread_first(void);
void vt_thread_forked(void);

/* Opens the log at the first record. False: there is none and will be none. */
bool vt_log_ready(void);
bool vt_log_is_open(void);
void vt_log_start_clock(void); /* at load: all times count from here */
uint64_t vt_log_ticks(void);   /* ticks since the log's start; ordered after everything before it */
/* Room for a record of that many bytes in the thread's chunk, zeroed word behind it; NULL: no
 * space, counted. */
uint64_t *vt_log_reserve(struct vt_thread *thread, uint32_t bytes);
/* Publishes the record: the body is written already, this stores the first word. */
void vt_log_commit(struct vt_thread *thread, uint64_t *record, uint64_t word, uint32_t bytes);
void vt_log_enter(struct vt_thread *thread); /* sets entered_at */
void vt_log_leave(struct vt_thread *thread);
void vt_log_drop(enum vt_drop reason);
void vt_log_flag(uint32_t flag);
/* A sentence for the report. Within a recording. */
void vt_log_note(const char *text);
void vt_log_end(enum vt_exit kind, int status); /* the END mark; again: the last counts */
void vt_log_unend(void);                        /* an exec that failed */
const char *vt_log_path(void);
uint64_t vt_log_dropped(void);
uint32_t vt_log_pid(void);
void vt_log_forked(void);

#endif
