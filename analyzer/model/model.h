/* SPDX-License-Identifier: MIT */
/*
 * The door of model/: THE model: everything that a report can say, as plain results.
 *
 * Law: data only. build.c makes it from logs; every format reads it and nothing else, so all
 * formats tell one truth. Bytes are bytes, times are ns since the log's first moment, VT_UNKNOWN is
 * never 0. Everything lives until the builder frees it; strings may be in any encoding, NULL means
 * unknown. Uses base.
 *
 *     model.h         the data, and its small readers (below)
 *     frame_text.h    a frame in words, and its source line
 *     user_code.h     whose code a frame is
 *     stack_key.h     what a stack is called from one build to the next
 *     amount.h        the bytes and blocks that are said of a leak
 */
#ifndef VRAMTRACE_ANALYZER_MODEL_H
#define VRAMTRACE_ANALYZER_MODEL_H

#include "base/base.h"

#define VT_UNKNOWN UINT64_MAX /* of a 64-bit field: not known */

enum vt_verdict { /* in the order in which a report lists them */
                  VT_VERDICT_LOST,
                  VT_VERDICT_GROWING,
                  VT_VERDICT_UNFREED,
                  VT_VERDICT_CACHE,
                  VT_VERDICT_RUNTIME,
                  VT_VERDICT_FREED,
                  VT_VERDICTS
};
extern const char *const vt_verdict_names[VT_VERDICTS];

/* Whose driver memory is. */
enum vt_class {
    VT_CLASS_PROGRAM, /* the program's own, as far as anyone knows */
    VT_CLASS_CACHE,   /* a caching allocator's: what is inside is judged block by block */
    VT_CLASS_RUNTIME  /* a CUDA library's, for the life of the process */
};

struct vt_frame {
    const char *function; /* demangled; NULL */
    const char *file;     /* NULL */
    uint32_t line;        /* 0: unknown */
    const char *module;   /* path of the file it is in; NULL: Python, or generated code */
    uint64_t offset;      /* of the call in the module's own terms; address in generated code;
                             VT_UNKNOWN: Python */
    bool python;
    bool user_code;
    bool interpreter; /* native, inside the Python interpreter: shown only where native frames are
                         asked for */
};

/* Innermost frame first: the caller of the allocation function. */
struct vt_stack {
    struct vt_frame *frames;
    uint32_t count;
    uint32_t user_frame; /* index of the innermost frame of user code; `count`: none */
    bool cut;            /* outermost frames are missing */
    bool unplaced; /* Python frames stand first because their place among the native ones was not
                      found */
};

#define VT_GROWTH_PARTS 32

/* How a site, or a leak, grows. Iterations are counted from 1. */
struct vt_growth {
    const char *per; /* what an iteration is: the name of a phase that repeats (`marked`); "rhythm":
                        a round of the run's allocations; "second" */
    bool marked;
    uint64_t iterations;          /* of the run; VT_UNKNOWN by the second; so since_iteration */
    const struct vt_stack *beat;  /* by rhythm: a round is one allocation from here; else NULL */
    uint64_t bytes_per_iteration; /* on average since it began to grow */
    uint64_t since_iteration, since;
    uint64_t full_in_iterations, full_in; /* from the run's end; 0: it was full; VT_UNKNOWN */
    const char *outer;         /* a phase that so many of these iterations make up; NULL: the run's
                                  rhythm has it */
    uint64_t outer_iterations; /* 0: nothing of the kind was seen */
    uint64_t bytes;            /* that it grew by, to the process's last allocation */
    uint64_t rises;            /* how often it was seen to keep more */
    uint64_t blocks;           /* kept by these rises; 0: it was found by levels, not by blocks */
    double chance;             /* of such a trend in what does not grow: Mann-Kendall */
    double shape[VT_GROWTH_PARTS]; /* the shares of `bytes` in equal parts of the time since
                                             it began, by events */
};

struct vt_site {
    uint64_t id;
    char name[17]; /* the id in hex */
    enum vt_verdict verdict;
    char *why;     /* one sentence */
    int reachable; /* 1: a pointer to it was found at the end, 0: none was, -1: not looked for */
    const char
        *api;       /* as a program writes it: "cudaMalloc", "cuMemAlloc"; NULL: a newer tracer's */
    unsigned layer; /* enum vt_layer */
    unsigned device; /* ordinal; VT_DEVICE_HOST for host and managed memory; VT_DEVICE_UNKNOWN */
    bool before;     /* not a place: what was live when --since began */
    uint64_t live_bytes, live_count;
    uint64_t held_bytes, held_count; /* when the process last allocated anything */
    struct vt_growth *growth;        /* NULL: it does not grow */
    uint64_t lost_count;             /* of those live, those that no pointer was left to */
    uint64_t peak_bytes;             /* its own largest */
    uint64_t bytes_at_peak; /* what it held at its device's peak (host, managed: at that layer's) */
    uint64_t count_at_peak;
    uint64_t allocated_bytes, alloc_count, free_count;
    uint64_t first_at, last_at;        /* ns, of its allocations; VT_UNKNOWN where there are none */
    uint64_t usual_life, longest_life; /* ns that those which were freed lived: the middle one, the
                                          longest, to the next power of two; VT_UNKNOWN: none was */
    uint64_t oldest_age; /* ns since the oldest that is live was allocated; VT_UNKNOWN: none is */
    const struct vt_stack *stack;
    enum vt_class class;    /* of driver memory */
    const char *class_name; /* "PyTorch", "cuBLAS": whose; NULL: the program's */
    bool segments;          /* blocks of a caching allocator lay in it */
};

/* Failing sites that rise together, or are one place. The list of a process has lost ones first,
 * then growing ones, then unfreed ones where those fail; of each the largest first. */
struct vt_leak {
    enum vt_verdict verdict;
    char *why, *advice;              /* advice: NULL where none is known */
    uint64_t live_bytes, live_count; /* at the end */
    uint64_t held_bytes, held_count; /* when the process last allocated anything: more than live
                                        where all was freed at the very end */
    const struct vt_stack *stack;    /* of its largest site: user frame and source */
    const uint32_t *sites;           /* indices into vt_process.sites, the largest first */
    uint32_t site_count;
    struct vt_growth *growth; /* of all its sites together; NULL: not growing */
};

/* What caching allocators hold of a device, at one moment. */
struct vt_moment {
    uint64_t at;
    uint64_t reserved_bytes, in_use_bytes, largest_free_bytes;
    uint64_t pinned_bytes; /* idle in segments that cannot be given back for the blocks in them */
};

/* Live blocks that keep segments which are mostly idle from being given back. */
struct vt_pin {
    uint32_t site; /* index into vt_process.sites, or VT_NO_SITE */
    uint64_t blocks, block_bytes, segments;
    uint64_t pinned_bytes; /* idle in those segments */
};

/* A caching allocator's segment, and the pieces of vt_fragmentation.pieces that tile it. */
struct vt_segment_map {
    uint64_t address, bytes, in_use_bytes, largest_free_bytes;
    uint32_t first, count;
};
struct vt_piece {
    uint64_t offset, bytes;
    uint32_t site; /* of a block: index, or VT_NO_SITE */
    bool idle;
};

/* Memory that is reserved and not in use, at the end. Each VT_UNKNOWN where the log cannot say. */
struct vt_fragmentation {
    uint64_t reserved_bytes, in_use_bytes, free_bytes, largest_free_bytes;
    double ratio;           /* 1 - largest_free / free, 0 when nothing is free; below 0: unknown */
    struct vt_moment worst; /* when most was pinned; at VT_UNKNOWN: nothing ever was */
    struct vt_moment *moments; /* over the run, evenly many changes apart */
    uint32_t moment_count;
    struct vt_pin *pins; /* the most pinned first */
    uint32_t pin_count;
    struct vt_segment_map *segments; /* by address */
    struct vt_piece *pieces;
    uint32_t segment_count, piece_count, segments_left_out;
    uint64_t granule_waste_bytes; /* an estimate: what the driver's granules of 2 MiB take more than
                                     was asked for, outside caching allocators' segments */
};

/* 1 - largest / free; 0 where nothing is free. */
static inline double vt_fragmentation_ratio(uint64_t free_bytes, uint64_t largest_bytes) {
    return free_bytes ? 1 - (double)largest_bytes / (double)free_bytes : 0;
}
#define VT_FRAGMENTATION_ALARM 0.3 /* the usual line */

/* The blocks of a device's caching allocators. */
struct vt_blocks {
    const char *name; /* "PyTorch" */
    uint64_t live_bytes, live_count, peak_bytes, peak_at;
    uint64_t alloc_count, free_count;
    uint64_t at_peak_bytes;                       /* in use when the device was at its peak */
    uint64_t reserved_bytes, reserved_peak_bytes; /* the segments; VT_UNKNOWN */
    /* the framework's own counters for the device as it numbers it; VT_UNKNOWN: not overheard */
    uint64_t said_allocated, said_reserved, said_peak_allocated;
    uint64_t said_apart; /* how often they and its blocks in the log came apart */
};

/* How `untracked` went, as `vramtrace run` sampled it. Each VT_UNKNOWN where it did not, or NVML did
 * not tell the process's own figure. */
struct vt_untracked {
    uint64_t first_bytes, last_bytes, max_bytes, max_at;
    uint64_t samples; /* 0: none */
};

struct vt_device {
    unsigned ordinal; /* VT_DEVICE_UNKNOWN: no context that was seen made */
    char *uuid;       /* "GPU-xxxxxxxx-...": NULL: the program never asked for it */
    char *name;
    uint64_t total_bytes;
    uint64_t live_bytes, live_count, peak_bytes, peak_at;
    uint64_t allocated_bytes, alloc_count, free_count, failed_count;
    bool has_blocks; /* some were seen */
    struct vt_blocks blocks;
    uint64_t driver_used_bytes; /* what the driver said: through NVML, of this process, nearest to
                                   the peak; else of all processes, when the program last asked */
    uint64_t driver_used_at;    /* when that was */
    uint64_t untracked_bytes;   /* of this process, not in the books, at that moment */
    uint64_t other_processes_bytes; /* at that moment */
    bool from_nvml;                 /* these four are */
    struct vt_untracked untracked;
    struct vt_fragmentation fragmentation;
};

/* An allocation that was refused for want of memory. Refusals that were one request of a framework,
 * which gave its cache back in between, are one; what is said of memory was so at the last. */
struct vt_oom {
    uint64_t at;
    unsigned device;
    unsigned layer;
    const char *outcome; /* "raised", "recovered", "unknown" */
    const char *api;
    uint64_t requested_bytes; /* of the framework, where it said so */
    uint64_t
        driver_requested_bytes; /* the segment that it wanted for it; VT_UNKNOWN: it did not ask
                                        the driver */
    uint32_t attempts;          /* refusals of the driver */
    uint32_t thread;
    uint64_t free_bytes, total_bytes; /* of the device then */
    uint64_t free_said_at; /* when the driver said it; what was allocated in between is allowed for;
                              VT_UNKNOWN: it never said, or not near; free is then total - tracked */
    uint64_t others_bytes; /* other processes', as estimated then; VT_UNKNOWN */
    bool others_said;      /* by NVML: it is no estimate */
    const char *allocator; /* whose request it was: "PyTorch"; NULL: the program's */
    uint64_t tracked_bytes; /* driver layer, this process */
    uint64_t cached_bytes, largest_free_bytes;
    const char *cause; /* "capacity", ...; NULL: unknown */
    char *why, *advice;
    uint32_t holders[8]; /* indices into vt_process.sites, the largest first; VT_NO_SITE: left out
                            by a filter */
    uint64_t holder_bytes[8];
    uint32_t holder_count;
    bool expandable;       /* the allocator's segments were mapped piece by piece */
    bool unasked;          /* the framework refused it itself */
    struct vt_pin pins[8]; /* the most pinned first */
    uint32_t pin_count;
    const struct vt_stack *stack;
};

/* A variable of the process's environment that decides how GPU memory is taken. */
struct vt_variable {
    char *name, *value;
};

struct vt_object_life {
    const char *kind;
    uint64_t created, destroyed; /* VT_UNKNOWN: not seen */
    unsigned device;
    const struct vt_stack *stack;
};

/* A phase that the program named, or a mark. Bytes: device memory, driver layer, all devices;
 * VT_UNKNOWN for a mark; `end` and `live_at_end` VT_UNKNOWN where it was open when the log ended. */
struct vt_phase {
    const char *name, *domain; /* NULL: unknown; NVTX's default domain, or vramtrace.h */
    uint64_t start, end, live_at_start, live_at_end, peak_bytes;
    uint32_t thread;
    bool mark; /* a moment: start is end */
};

/* Memory that is no device's: pinned host memory, and managed memory, which the driver moves about.
 */
struct vt_apart {
    uint64_t live_bytes, live_count, peak_bytes, peak_at, alloc_count, free_count, failed_count;
};

struct vt_process {
    char *log;    /* path as the user gave it */
    char *run_id; /* NULL where the log has none; so the strings below */
    char *host, *job, *version, *cwd, *exe;
    uint32_t pid, ppid;
    int rank; /* -1: unknown */
    char **command;
    uint32_t command_count;
    bool command_cut;
    uint64_t started_at; /* CLOCK_REALTIME, ns */
    uint64_t duration;
    bool simulated, python;
    const char *exit_kind; /* "exited", "signaled", "exec", "running", "unknown" */
    int exit_status;       /* VT_NO_STATUS where there is none */
    bool complete;
    char **notes; /* sentences for the reader, what makes it incomplete first */
    uint32_t note_count, note_room;
    uint64_t events, dropped_events;
    uint64_t went_bytes;   /* never freed by the program: its contexts' ends took it */
    const char *went_note; /* what the notes say of that; NULL: nothing */
    uint64_t window_since, window_until; /* ns; VT_UNKNOWN: not cut there */
    uint64_t scan_bytes, scan_ns; /* the exit scan: what it looked through, how long; VT_UNKNOWN:
                                     there was none that says anything */

    struct vt_device *devices;
    uint32_t device_count;
    struct vt_apart pinned, managed;
    struct vt_site *sites; /* what is held most first, then by what it held at the peak */
    uint32_t site_count;
    struct vt_leak *leaks;
    uint32_t leak_count;
    struct vt_oom *ooms;
    uint32_t oom_count;
    uint64_t ooms_left_out; /* more than the model keeps */
    struct vt_variable *variables;
    uint32_t variable_count;
    struct vt_object_life *objects;
    uint32_t object_count;
    struct vt_phase *phases; /* by start; of the same moment the outer first */
    uint32_t phase_count;
    char **phase_names; /* what the phases' names point to */
    uint32_t phase_name_count;
};
#define VT_NO_STATUS INT32_MIN
#define VT_NO_SITE   UINT32_MAX

struct vt_model {
    struct vt_process *processes;
    uint32_t process_count;
    unsigned id_digits; /* hex digits that tell all its sites apart: at least 4 */
    struct vt_model_memory *memory;
};

/* What part of the logs is asked for. Start it as {.device = -1}. */
struct vt_model_options {
    const char *since, *until;    /* "90s", "80%", "epoch#3"; NULL: from the start, to the end */
    const char *phase;            /* only while this phase lasted: a name, or "name#3"; NULL */
    int device;                   /* only this ordinal; -1: all */
    const char *const *user_code; /* patterns, NULL-terminated; NULL: none */
    const char *classes;          /* a file with more rows for classes.def; NULL: none */
};

/* How a model is made of logs, and given back: build.c at the top has the one that there is. Rooms
 * below it that need models are handed this. `build` returns 0, or -errno with `message` filled. */
struct vt_model_builder {
    int (*build)(const char *const *logs, uint32_t log_count,
                 const struct vt_model_options *options, struct vt_model *model,
                 struct vt_string *message);
    void (*free)(struct vt_model *model);
};

/* Adds a sentence to the process's notes. */
void vt_model_note(struct vt_process *process, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Frees what a process holds. */
void vt_process_free(struct vt_process *process);

/* The value of a variable of the process's environment, as far as the log has it; NULL. */
const char *vt_process_variable(const struct vt_process *process, const char *name);

/* Whether a verdict fails the gate where nobody chose otherwise. */
bool vt_verdict_fails_by_default(const struct vt_process *process, enum vt_verdict verdict);

/* Whether a site's id begins with `prefix`; true for NULL. */
bool vt_site_wanted(const struct vt_site *site, const char *prefix);

/* A hash of the line that a stack's main frame is at: the same for all stacks from that line. */
uint64_t vt_stack_line_key(const struct vt_stack *stack);

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx". Free it. */
char *vt_model_uuid(const uint8_t uuid[16]);

/* A stack's frame of user code; its innermost frame where it has none; NULL where it is empty. */
const struct vt_frame *vt_stack_main_frame(const struct vt_stack *stack);

#include "amount.h"
#include "frame_text.h"
#include "stack_key.h"
#include "user_code.h"

#endif
