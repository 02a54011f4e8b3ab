/* SPDX-License-Identifier: MIT */
/*
 * Public header of model/: the model, which holds everything that a report can say, as plain results.
 *
 * Invariants: data only. build.c makes it from logs; every format reads the model and nothing else, so all
 * formats agree. Sizes are in bytes, times in ns since the log began; unknown is VT_UNKNOWN, never
 * 0, or NULL. Everything lives until the builder frees it. Strings may be in any encoding. Uses
 * base.
 *
 *     model.h         the data, and small functions that read it (below)
 *     figures.h       the figures of sites, devices, leaks and processes: figures.def has a row for each
 *     builder.h       what a model is made of, and who makes it
 *     vocabulary.h    what is one of a few, and the word for each: verdicts, layers, endings, causes
 *     frame_text.h    a frame as text, and its source line
 *     source_line.h   which source line a call site is on
 *     stack_text.h    a call site as text, with the autograd node that runs
 *     owner.h         what holds the memory
 *     user_code.h     which frames are the user's code
 *     stack_key.h     names of stacks that stay the same from one build to the next
 *     amount.h        how many bytes and blocks a leak counts
 *     failed.h        allocations that failed, and CUDA's errors in words
 *     suppress.h      what is no leak, by patterns
 *     timeline.h      the run over time, for pictures
 *     job.h         many processes, reduced to what can be compared
 */
#ifndef VRAMTRACE_ANALYZER_MODEL_H
#define VRAMTRACE_ANALYZER_MODEL_H

#include "base/base.h"

#include "figures.h"
#include "vocabulary.h"

/* A rank (negative: unknown) and a device's ordinal as figures: VT_UNKNOWN where there is no such number, of
 * a device also for host memory. */
static inline uint64_t vt_rank_number(int rank) {
    return rank < 0 ? VT_UNKNOWN : (uint64_t)rank;
}
static inline uint64_t vt_device_number(unsigned ordinal) {
    return ordinal < VT_DEVICE_HOST ? ordinal : VT_UNKNOWN;
}

struct vt_frame {
    const char *function; /* demangled; NULL */
    const char *file;     /* NULL */
    uint32_t line;        /* 0: unknown */
    const char *source;   /* that line, where it is in no file; NULL */
    const char *module;   /* path of the library or program; NULL: Python, or generated code */
    bool other;           /* the module has a known library's name, and not its exports */
    uint64_t offset;      /* of the call, in the module; in generated code its address; VT_UNKNOWN:
                             Python */
    bool python;
    bool inlined; /* into the next frame, which has the same module and offset */
    bool user_code;
    bool interpreter; /* native, inside the Python interpreter: shown only on request */
    bool waiting;     /* of a thread that waited while this one worked for it: the one that called
                         backward() */
};

/* Innermost frame first: the caller of the allocation function. Read them by vt_stack_frame: of a million
 * stacks the frames are mostly the same, so each stands once and stacks have their numbers. */
struct vt_stack {
    union {
        const struct vt_frame *frames; /* if `numbers` is NULL */
        struct vt_frame *const *pool;  /* each part has VT_STACK_POOL_PART frames */
    };
    const void *numbers; /* of the frames in `pool`: of 16 bits, or of 32 if `wide` */
    uint32_t count;
    uint32_t user_frame; /* index of the innermost frame of user code; `count`: none */
    uint64_t line;       /* vt_stack_line by VT_LINE_CODE: equal on one source line; 0: no frames */
    bool wide;
    bool cut; /* outermost frames are missing */
    /* outermost Python frames are missing: where only native ones were too many, all are there */
    bool python_cut;
    bool unplaced; /* Python frames come first, because their position among the native ones is
                      unknown */
};

#define VT_STACK_POOL_PART 1024u

static inline const struct vt_frame *vt_stack_frame(const struct vt_stack *stack, uint32_t i) {
    if (!stack->numbers)
        return &stack->frames[i];
    uint32_t number =
        stack->wide ? ((const uint32_t *)stack->numbers)[i] : ((const uint16_t *)stack->numbers)[i];
    return &stack->pool[number / VT_STACK_POOL_PART][number % VT_STACK_POOL_PART];
}

/* How a site or a leak grows. Iterations count from 1. */
struct vt_growth {
    const char *per; /* what an iteration is: the name of a phase that repeats (`marked`); "rhythm":
                        a repeating pattern of allocations */
    bool marked;
    enum vt_growth_rule rule;
    uint32_t rises; /* how often it kept more than before, in the unit of its rule's sentence */
    uint64_t iterations;           /* of the run */
    const struct vt_stack *period; /* by rhythm: it allocates once per iteration; else NULL */
    double pace;                   /* bytes per iteration, on average since it began to grow */
    uint64_t since_iteration, since;
    uint64_t full_in_iterations, full_in; /* from the run's end; 0: the device was full then */
    const char *outer;         /* a phase that contains iterations; NULL: a longer rhythm */
    uint64_t outer_iterations; /* iterations in each `outer`; 0: there is none */
    uint64_t bytes;            /* growth up to the process's last allocation */
    uint64_t blocks;           /* kept by these rises; 0: found by levels, not by blocks */
    double chance; /* that such a trend is random: Mann-Kendall; 1: found without a trend */
    const char
        *operation; /* VT_RULE_APPENDS: makes one buffer longer and longer: "cat"; else NULL */
};

/* Bytes per iteration, as they are shown. The pace itself is not rounded: that of a line is the sum of its
 * callers'. */
static inline uint64_t vt_growth_bytes(const struct vt_growth *growth) {
    return (uint64_t)(growth->pace + 0.5);
}

/* What the pytest plugin said of a site's memory. The counts are of what is live at the end. */
struct vt_tested {
    char *fixture, *scope; /* of the fixture that holds it, or most of it; NULL: none does */
    uint64_t fixture_bytes, fixture_count;
    uint64_t models, models_bytes, models_count; /* that are no fixture's, and what they hold */
    /* the test that left most of it behind, among those of the worst kind; NULL: none */
    char *test;
    bool fails;      /* it kept more with each of many rounds, or more than its limit allows */
    const char *per; /* "round", or "test", "parameter" where each of many tests left some */
    uint32_t rounds, tests;          /* how many of these; how many tests left some of it behind */
    uint64_t left_bytes, left_count; /* by this test, or by all of those */
};

#include "bound.h"
#include "log_quality.h"
#include "owner.h"
#include "timeline.h"

struct vt_site {
    uint64_t id;
    char name[17];    /* the id in hex */
    bool before;      /* no call site: everything that was live when --since began */
    bool library_own; /* no leak, by the built-in suppressions: it would fail, or is inconclusive */
    bool segments;    /* a caching allocator used it: blocks lay in it */
    bool recycled;    /* host memory that a caching allocator hands out again and again: how many
                          buffers there are depends on the moments at which they came back */
    bool at_exit;     /* some of it was live when the program's code ended: a snapshot saw it */
    bool graph_memory;           /* launches of CUDA graphs allocated all of it */
    enum vt_verdict verdict : 8; /* a byte each: there may be a million sites */
    enum vt_class class : 8;     /* of driver memory */
    enum vt_reachable reachable : 8;
    enum vt_growth_rule inconclusive : 8; /* the reason, or VT_RULE_NONE */
    uint8_t layer;                        /* enum vt_layer */
    uint8_t device; /* ordinal; VT_DEVICE_HOST for host and managed memory; VT_DEVICE_UNKNOWN */
    uint32_t unrecorded_count; /* live blocks whose records the log had to drop */
    uint32_t mapped_count;     /* live physical memory (cuMemCreate) that is mapped at the end */
    uint32_t number;           /* in the replay */
    const char *why;           /* one sentence, of vt_process.whys */
    const char *api;           /* as in source code: "cudaMalloc", "cuMemAlloc"; NULL: unknown */
    VT_EMBED_SITE_FIGURES;
    const char
        *context_freed_by;    /* the call that took context_freed_bytes; NULL: none, or unknown */
    struct vt_growth *growth; /* NULL: does not grow */
    struct vt_growth
        *freed_at_exit;         /* NULL, or how it grew until the program itself freed all of it */
    struct vt_bound *bound;     /* NULL: what keeps it has none, or not all of it */
    struct vt_tested *tested;   /* NULL: the pytest plugin said nothing of it */
    uint64_t first_at, last_at; /* of its allocations; VT_UNKNOWN: none */
    uint64_t longest_life; /* ns, of freed blocks, rounded up to a power of two; VT_UNKNOWN: none */
    uint64_t oldest_age;   /* ns, of the oldest live block; VT_UNKNOWN: none */
    const struct vt_stack *stack;
    /* its caller, a frame of `stack`, by which it is listed apart from other sites of its line: most of the
     * process's memory comes through that line; NULL: it is listed by its line alone */
    const struct vt_frame *caller;
    const char *class_name; /* "PyTorch", "cuBLAS"; NULL: the program's */
    /* By the snapshot vt_process_snapshot; if that saw nothing of it, by the last one that did. */
    uint64_t unowned_bytes; /* live then, but no way to it is known */
    struct vt_owned_list owned;
};

/* Failing sites that grow together or belong to one line of code. A process lists lost and
 * growing ones first, then unfreed ones if those fail; each by size. */
struct vt_leak {
    enum vt_verdict verdict;
    char *why, *advice;    /* advice: may be NULL */
    bool advice_of_owner;  /* it follows from what keeps the leak, else from names and counts */
    VT_EMBED_SITE_FIGURES; /* of all its sites together */
    const struct vt_stack *stack; /* of its largest site */
    const uint32_t *sites;        /* indices into vt_process.sites, the largest first */
    uint32_t site_count;
    struct vt_growth *growth;    /* of all its sites together; NULL: not growing */
    bool no_cache;               /* what keeps it shows that it is none: lists */
    struct vt_owned_list owned;  /* of all its sites together */
    struct vt_owner_group *kept; /* what holds most, the largest first; NULL: nothing, or unknown */
    uint32_t kept_count;
    uint64_t spread_owners; /* that hold most of it, where no few of them do; 0: it is not so */
    char *kept_by;          /* these owners in words, the same in every format; NULL: unknown */
};

/* What caching allocators hold of a device at a moment. */
struct vt_moment {
    uint64_t at;
    uint64_t reserved_bytes, in_use_bytes, largest_free_bytes;
    uint64_t pinned_bytes; /* idle, in segments that live blocks keep from being released */
};

/* Live blocks of a site that keep mostly idle segments from being released. */
struct vt_pin {
    uint32_t site; /* index into vt_process.sites, or VT_NO_SITE */
    uint64_t blocks, block_bytes, segments;
    uint64_t pinned_bytes; /* idle in those segments */
};
#define VT_PINS 8 /* the most that are looked for at a moment */

/* A caching allocator's segment; vt_fragmentation.pieces from `first` on tile it. */
struct vt_segment_map {
    uint64_t address, bytes, in_use_bytes, largest_free_bytes;
    uint32_t first, count;
};
struct vt_piece {
    uint64_t offset, bytes;
    uint32_t site; /* of a block: index into vt_process.sites, or VT_NO_SITE */
    bool idle;
};

/* Memory that is reserved but not in use, at the end. VT_UNKNOWN where the log cannot say. */
struct vt_fragmentation {
    uint64_t reserved_bytes, in_use_bytes, free_bytes, largest_free_bytes;
    double ratio;           /* vt_fragmentation_ratio; negative: unknown */
    struct vt_moment last;  /* when the process last asked for memory; the others are the end's */
    struct vt_moment worst; /* when most was pinned, up to then; its `at` VT_UNKNOWN: never */
    struct vt_moment *moments; /* over the run, with equally many changes between them */
    uint32_t moment_count;
    struct vt_pin *pins; /* the most pinned first */
    uint32_t pin_count;
    struct vt_segment_map *segments; /* by address */
    struct vt_piece *pieces;
    uint32_t segment_count, piece_count, segments_left_out;
    uint64_t granule_waste_bytes; /* an estimate: waste by rounding to the driver's 2 MiB pages,
                                     outside caching allocators' segments */
};

/* 1 - largest / free; 0 where nothing is free. */
static inline double vt_fragmentation_ratio(uint64_t free_bytes, uint64_t largest_bytes) {
    return free_bytes ? 1 - (double)largest_bytes / (double)free_bytes : 0;
}
#define VT_FRAGMENTATION_ALARM 0.3 /* above this a report warns */

/* The blocks of a device's caching allocators. */
struct vt_blocks {
    const char *name; /* "PyTorch" */
    uint64_t live_bytes, live_count, peak_bytes, peak_at;
    uint64_t alloc_count, free_count;
    uint64_t at_peak_bytes;                       /* in use at the device's peak */
    uint64_t reserved_bytes, reserved_peak_bytes; /* in segments; VT_UNKNOWN */
    /* the framework's own counters for its device of this number; VT_UNKNOWN: not recorded */
    uint64_t said_allocated, said_reserved, said_peak_allocated;
    uint64_t said_apart; /* how often these disagreed with its blocks in the log */
};

/* The course of untracked memory by the samples of `vramtrace run`. VT_UNKNOWN without samples, and
 * if NVML does not tell the process's own memory. */
struct vt_untracked {
    uint64_t first_bytes, last_bytes, max_bytes, max_at;
    uint64_t samples; /* 0: none */
};

/* Live driver memory over the run (in a window: over that): at the end of each of `count` equal parts of
 * the time (of the slot in which that is: timeline.h), and in the one with the peak the peak. For small pictures; the timeline has it all. */
struct vt_levels {
    uint64_t from, to;
    uint64_t *bytes;
    uint32_t count; /* 0: nothing was held, or the run took no time */
    uint32_t peak;  /* the part with the peak */
};

struct vt_device {
    unsigned ordinal; /* VT_DEVICE_UNKNOWN: its context was created unseen */
    char *uuid;       /* "GPU-xxxxxxxx-..."; NULL: the program never asked for it */
    char *name;
    uint64_t total_bytes;
    uint64_t live_bytes, live_count, peak_bytes, peak_at;
    struct vt_levels levels;
    uint64_t sure_peak_bytes; /* less than peak_bytes where frees may have been lost before it */
    uint64_t allocated_bytes, alloc_count, free_count, failed_count;
    bool has_blocks; /* of caching allocators: see `blocks` */
    struct vt_blocks blocks;
    uint64_t driver_used_bytes; /* by NVML, of this process, nearest to the peak; else of all
                                   processes, when the program last asked the driver */
    uint64_t driver_used_at;
    uint64_t untracked_bytes;       /* of this process, but not in the log, at that moment */
    uint64_t other_processes_bytes; /* at that moment */
    bool from_nvml;                 /* the source of these four */
    struct vt_untracked untracked;
    struct vt_fragmentation fragmentation;
};

#include "failed.h"

/* A file that was mapped into the process, and that a stack has a frame in. */
struct vt_module {
    const char *path;          /* the pointer that its frames have too; "": unknown */
    char *build_id;            /* lower-case hex; NULL: unknown */
    uint64_t start, end, bias; /* addresses; an offset and `bias` are one */
};

struct vt_object_life {
    const char *kind;
    uint64_t created, destroyed; /* VT_UNKNOWN: not seen */
    unsigned device;
    const struct vt_stack *stack;
};

/* A phase or a mark that the program named. Bytes: driver layer, all devices; VT_UNKNOWN for a
 * mark. `end` and `live_at_end` are VT_UNKNOWN if it was open when the log ended. */
struct vt_phase {
    const char *name, *domain; /* NULL: unknown name; no domain, or vramtrace.h */
    uint64_t start, end, live_at_start, live_at_end, peak_bytes;
    uint32_t thread;
    bool mark; /* start equals end */
};

/* Phases or marks that a summary let go of: all of one group's names. The first and the last of them are in the list, and the
 * longest, the one with the highest peak, and the one that rose most. */
struct vt_phase_sum {
    const char *name;   /* vt_phase_group_name; NULL: unknown */
    bool mark, several; /* several: of more than one name */
    uint64_t count;
    uint64_t rose,
        fell; /* by how much memory did in them: those that left more, and those that left less */
};

/* A name with '*' for each number: "epoch *", "layer*", but "conv2d", and without what emit_nvtx() adds. Free it. Phases whose
 * names are the same then are one row of a report. */
char *vt_phase_group_name(const char *name);
/* The length of an operator's name, without what emit_nvtx() adds. */
size_t vt_phase_operator_length(const char *name);

/* Memory of no device: pinned host memory, or managed memory, which the driver migrates. */
struct vt_apart {
    uint64_t live_bytes, live_count, peak_bytes, peak_at, alloc_count, free_count, failed_count;
};

struct vt_process {
    char *log;    /* path as the user gave it */
    char *run_id; /* NULL: not in the log; likewise the strings below */
    char *host, *job, *version, *cwd, *exe;
    char *boot;             /* boot id of the host */
    char *launch;           /* the same in all ranks that were launched together */
    uint64_t pid_namespace; /* in which pid and ppid are numbers; 0: unknown */
    uint64_t process_start; /* in clock ticks since boot: with boot and pid, which process it is */
    uint64_t started_monotonic; /* CLOCK_MONOTONIC, ns: at the same moment as started_at */
    uint32_t pid, ppid;
    int rank, local_rank; /* -1: unknown; local: among those of its machine */
    uint32_t world_size;  /* ranks in all; 0: unknown */
    uint32_t restart;     /* how often the launcher had started the ranks anew before */
    char **command;
    uint32_t command_count;
    /* "work() in train.py": what a child of Python's multiprocessing runs; NULL: it is none, or
     * unknown */
    char *task;
    uint64_t started_at; /* CLOCK_REALTIME, ns */
    uint64_t duration;
    bool simulated, python;
    bool hides_source; /* the log belongs to another user: it may name any file of the reader's */
    struct vt_answers *answers; /* its sources' lines, recorded or replayed; NULL: neither */
    struct vt_ending ending;
    struct vt_log_quality quality; /* of its log */
    char **notes;                  /* sentences; first those that say why the log is incomplete */
    uint32_t note_count, note_room;
    uint64_t events;
    uint64_t sites_let_go;    /* are in those without a stack: "other call sites" */
    uint64_t compacted_until; /* single events are there from then on; 0: from the start */
    uint64_t events_until; /* the bound left no space for later ones; VT_UNKNOWN: all are there */
    bool bare_end;         /* it exited unseen by the tracer; its parent knew the status */
    uint64_t
        context_freed_bytes; /* of its own memory, released with its context: no call freed it */
    const char
        *context_freed_note; /* the note about it if it does not fail, one of `notes`; NULL: none */
    uint64_t window_since, window_until; /* VT_UNKNOWN: no limit */
    uint64_t scan_bytes, scan_ns;        /* scanned at exit; VT_UNKNOWN: no conclusive exit scan */
    bool scan_unknown; /* some allocations are pointed to only in memory whose blocks are unknown */

    struct vt_device *devices;
    uint32_t device_count;
    struct vt_apart pinned, managed;
    struct vt_site *sites; /* by what they hold, then by what they held at the peak */
    char **whys;           /* of the sites: each text once */
    size_t why_count, why_room;
    uint32_t site_count;
    struct vt_leak *leaks;
    uint32_t leak_count;
    struct vt_oom *ooms;
    uint32_t oom_count;
    uint64_t ooms_left_out;   /* beyond those that the model keeps */
    struct vt_failed *failed; /* by their first time */
    uint32_t failed_count;
    uint64_t failed_in_all; /* allocations, also at places beyond those that the model keeps */
    bool nothing_allocated; /* some failed so, none succeeded, and no event is missing */
    struct vt_variable *variables;
    uint32_t variable_count;
    struct vt_object_life *objects;
    uint32_t object_count;
    struct vt_module *modules; /* by address */
    uint32_t module_count;
    struct vt_phase *phases; /* by start, then the outer first */
    uint32_t phase_count;
    struct vt_phase_sum *phase_sums;
    uint32_t phase_sum_count;
    struct vt_snapshot *snapshots; /* by time */
    uint32_t snapshot_count;
    struct vt_missed_snapshots *missed;
    uint32_t missed_count, missed_room;
    char **phase_names; /* storage for the phases' names */
    uint32_t phase_name_count;
    struct vt_timeline *timeline; /* NULL: not asked for */
};
#define VT_NO_SITE UINT32_MAX

/* All logs of a model whose processes are too many to be held at once: a format that writes all of them
 * builds one at a time. */
struct vt_model_builder;
struct vt_model_options;
struct vt_model_logs {
    const char *const *logs; /* in the order of the job's processes; NULL: of a merged file */
    uint32_t count;
    const struct vt_model_options *options;
    const struct vt_model_builder *builder;
};

struct vt_model {
    struct vt_process *processes;
    uint32_t process_count;
    struct vt_model_logs *apart; /* `processes` are a few of these; NULL: they are all */
    unsigned id_digits;          /* hex digits that make all site ids distinct: at least 4 */
    struct vt_job *job; /* all processes of the logs side by side; `processes` may be a few of
                               them. NULL: one process */
    struct vt_model_memory *memory;
};

/* What id_digits is: how many hex digits make all site ids distinct, at least 4. */
unsigned vt_model_id_digits(const struct vt_model *model);

/* Adds a sentence to the process's notes. */
void vt_model_note(struct vt_process *process, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What a process's `task` is to be, from its stacks. Free it. */
char *vt_process_task(const struct vt_process *p);

/* Frees everything in `process`, but not the struct. */
void vt_process_free(struct vt_process *process);

/* The value of an environment variable; NULL: not set, or not recorded. Points into the process. */
const char *vt_process_variable(const struct vt_process *process, const char *name);

/* The sum of the peaks of all memory of a process: of its devices, pinned and managed. */
uint64_t vt_process_peak_bytes(const struct vt_process *process);

/* The failure that most likely mattered: the last one without a recovery. NULL: none. */
const struct vt_oom *vt_process_oom(const struct vt_process *process);

/* failing_verdicts.c: the one rule of what is a leak, for the gate and for reports. `chosen`: which verdicts fail;
 * NULL: the default: lost and growing, and unfreed in processes without Python; cache, runtime and freed
 * never do. */
bool vt_verdict_fails(const struct vt_process *process, enum vt_verdict verdict,
                      const bool chosen[VT_VERDICTS]);

/* Whether a site fails by its verdict; and whether it does though events were lost, each of which could
 * have been one of its frees. */
bool vt_site_may_fail(const struct vt_process *process, const struct vt_site *site,
                      const bool chosen[VT_VERDICTS]);
bool vt_site_fails(const struct vt_process *process, const struct vt_site *site,
                   const bool chosen[VT_VERDICTS]);

/* For each site the leak that it belongs to, or NULL. Free it. */
const struct vt_leak **vt_process_leaks_by_site(const struct vt_process *process);

/* Whether the program itself freed all of a site. An interpreter gives everything back when it
 * finalizes, so of its processes that is not known. */
bool vt_site_freed_at_exit(const struct vt_process *process, const struct vt_site *site);

/* What it holds, where runs are compared: an interpreter frees nearly everything at its end. */
static inline uint64_t vt_site_compared_bytes(const struct vt_process *p,
                                              const struct vt_site *site) {
    return p->python ? site->held_bytes : site->live_bytes;
}

/* Whether all that is live of it is held by a pytest fixture of a wider scope than one test. */
bool vt_site_is_fixtures(const struct vt_site *site);

/* The device with this ordinal; NULL: there is none. */
const struct vt_device *vt_process_device(const struct vt_process *process, unsigned ordinal);

/* Whether a site's id begins with `prefix`; NULL matches all. */
bool vt_site_wanted(const struct vt_site *site, const char *prefix);

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx". Free it. */
char *vt_model_uuid(const uint8_t uuid[16]);

#include "amount.h"
#include "job.h"
#include "frame_text.h"
#include "growth_text.h"
#include "source_line.h"
#include "stack_key.h"
#include "stack_text.h"
#include "suppress.h"
#include "user_code.h"
#include "builder.h"

#endif
