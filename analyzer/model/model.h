/* SPDX-License-Identifier: MIT */
/*
 * Public header of model/: the model, which holds all results that a report can show.
 *
 * Invariants: data only. build.c makes it from logs; every format reads only the model, so all formats agree. Sizes are
 * in bytes, times in ns since the log began. An unknown number is VT_UNKNOWN, never 0; an unknown pointer is NULL.
 * Everything lives until the builder frees it. Strings may be in any encoding. Uses base.
 *
 *     model.h         the data, and small functions that read it (below)
 *     figures.h       the figures of sites, devices, leaks and processes: figures.def has a row for each
 *     builder.h       the options of a model, and its builder
 *     vocabulary.h    enums and the word for each value: verdicts, layers, endings, causes
 *     frame_text.h    a frame as text, and its source line
 *     source_line.h   which source line a call site is on
 *     stack_text.h    a call site as text, with the autograd node that runs
 *     owner.h         the owners of memory
 *     user_code.h     which frames are user code
 *     stack_key.h     names of stacks that stay the same from one build to the next
 *     amount.h        the bytes and blocks that a leak counts
 *     failed.h        allocations that failed, and CUDA's errors in words
 *     suppress.h      patterns of leaks to ignore
 *     timeline.h      the run over time, for pictures
 *     job_data.h      many processes, reduced to comparable figures
 */
#ifndef VRAMTRACE_ANALYZER_MODEL_H
#define VRAMTRACE_ANALYZER_MODEL_H

#include "base/base.h"

#include "figures.h"
#include "vocabulary.h"

/* A rank and a device's ordinal as figures. VT_UNKNOWN: no such number (a negative rank, host memory). */
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
    const char *source;   /* the line's text if no file contains it; NULL */
    const char *module;   /* path of the library or program; NULL: Python, or generated code */
    bool other;           /* the module has a known library's name, but not its exports */
    uint64_t offset;      /* the call's, in the module; in generated code its address; VT_UNKNOWN:
                             Python */
    bool python;
    bool inlined; /* into the next frame, with the same module and offset */
    bool user_code;
    bool interpreter; /* native, inside the Python interpreter: shown only on request */
    bool waiting;     /* on the thread that waited in backward() for the allocating thread */
};

/* Innermost frame first: the caller of the allocation function. Read frames with vt_stack_frame: a million stacks share
 * most frames, so each frame is stored once and stacks contain frame numbers. */
struct vt_stack {
    union {
        const struct vt_frame *frames; /* if `numbers` is NULL */
        struct vt_frame *const *pool;  /* each part has VT_STACK_POOL_PART frames */
    };
    const void *numbers; /* of the frames in `pool`: 16 bits each, or 32 if `wide` */
    uint32_t count;
    uint32_t user_frame; /* index of the innermost frame of user code; `count`: none */
    uint64_t line;       /* vt_stack_line by VT_LINE_CODE: equal on one source line; 0: no frames */
    bool wide;
    bool cut; /* outermost frames are missing */
    /* outermost Python frames are missing; false if only native frames were cut */
    bool python_cut;
    bool unplaced; /* Python frames come first: their position among the native ones is unknown */
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
    /* the unit of iteration: the name of a repeating phase (`marked`), or "rhythm": a repeating pattern of allocations
     * */
    const char *per;
    bool marked;
    enum vt_growth_rule rule;
    uint32_t rises;      /* how often the kept memory rose; the rule's sentence names the unit */
    uint64_t iterations; /* of the run */
    /* by rhythm: this stack allocates once per iteration; else NULL */
    const struct vt_stack *period;
    double pace; /* average bytes per iteration since growth began */
    uint64_t since_iteration, since;
    uint64_t full_in_iterations, full_in; /* from the run's end; 0: the device was full then */
    const char *outer;         /* a phase that contains iterations; NULL: a longer rhythm */
    uint64_t outer_iterations; /* iterations in each `outer`; 0: there is none */
    uint64_t bytes;            /* growth up to the process's last allocation */
    uint64_t blocks;           /* by these rises; 0: the rule examines levels, not blocks */
    /* probability that the trend is random (Mann-Kendall); 1: found without a trend */
    double chance;
    /* VT_RULE_APPENDS: the operation that extends one buffer: "cat"; else NULL */
    const char *operation;
};

/* Bytes per iteration, rounded for display. `pace` stays exact, so that callers' paces add up to their line's. */
static inline uint64_t vt_growth_bytes(const struct vt_growth *growth) {
    return (uint64_t)(growth->pace + 0.5);
}

/* What the pytest plugin recorded about a site's memory. Counts include only blocks live at the end. */
struct vt_tested {
    char *fixture, *scope; /* of the fixture that holds most of it; NULL: none */
    uint64_t fixture_bytes, fixture_count;
    uint64_t models, models_bytes,
        models_count; /* models that belong to no fixture, and the memory they hold */
    /* the test of the worst kind that left most of it behind; NULL: none */
    char *test;
    bool fails;             /* it kept more in each of many rounds, or exceeded its limit */
    const char *per;        /* "round"; "test" or "parameter" if each of many tests left some */
    uint32_t rounds, tests; /* number of rounds; number of tests that left some of it behind */
    uint64_t left_bytes, left_count; /* left by `test`, or by all tests counted in `tests` */
};

#include "bound.h"
#include "log_quality.h"
#include "owner.h"
#include "timeline.h"

struct vt_site {
    uint64_t id;
    char name[17]; /* the id in hex */
    bool before;   /* not a call site: all memory live when --since began */
    /* not a leak: it would fail or is inconclusive, but matches a built-in suppression */
    bool library_own;
    bool segments; /* contained a caching allocator's blocks */
    /* host memory that a caching allocator reuses: the number of buffers depends on when they were returned */
    bool recycled;
    bool at_exit;      /* a snapshot shows that some of it was live when the program's code ended */
    bool graph_memory; /* all of it was allocated by launches of CUDA graphs */
    enum vt_verdict verdict : 8; /* one byte each: there may be a million sites */
    enum vt_class class : 8;     /* of driver memory */
    enum vt_reachable reachable : 8;
    enum vt_growth_rule inconclusive : 8; /* why it may leak: a suspect's reason; VT_RULE_NONE */
    uint8_t layer;                        /* enum vt_layer */
    uint8_t device; /* ordinal; VT_DEVICE_HOST for host and managed memory; VT_DEVICE_UNKNOWN */
    uint32_t unrecorded_count; /* live blocks whose records were dropped */
    uint32_t mapped_count;     /* live physical memory (cuMemCreate) that is mapped at the end */
    uint32_t number;           /* in the replay */
    const char *why;           /* one sentence, an element of vt_process.whys */
    const char *api;           /* as in source code: "cudaMalloc", "cuMemAlloc"; NULL: unknown */
    VT_EMBED_SITE_FIGURES;
    /* the call that released context_freed_bytes; NULL: none, or unknown */
    const char *context_freed_by;
    struct vt_growth *growth;    /* NULL: does not grow */
    struct vt_growth *suspected; /* how a suspect rose to the end; NULL: it is none */
    /* how it grew until the program freed all of it; NULL: it did not */
    struct vt_growth *freed_at_exit;
    struct vt_bound *bound;     /* NULL: not all of it is kept by bounded containers */
    struct vt_tested *tested;   /* NULL: no record of the pytest plugin */
    uint64_t first_at, last_at; /* of its allocations; VT_UNKNOWN: none */
    uint64_t longest_life; /* ns, of freed blocks, rounded up to a power of two; VT_UNKNOWN: none */
    uint64_t oldest_age;   /* ns, of the oldest live block; VT_UNKNOWN: none */
    const struct vt_stack *stack;
    /* The calling frame in `stack` that separates it from other sites of its line, if most of the process's memory
     * comes through that line; NULL: listed by its line alone. */
    const struct vt_frame *caller;
    const char *class_name; /* "PyTorch", "cuBLAS"; NULL: the program's */
    /* From vt_process_snapshot; if it shows none of this memory, from the last snapshot that does. */
    uint64_t unowned_bytes; /* live at that snapshot, but without a known path */
    struct vt_owned_list owned;
};

/* Failing sites, or suspects, that grow together or belong to one line of code. A process lists lost and growing ones
 * first, then unfreed ones if those fail, then suspects; each by size. */
struct vt_leak {
    enum vt_verdict verdict; /* VT_VERDICT_SUSPECT: its grade is "suspect"; else "leak" */
    char *why, *advice;      /* advice: may be NULL */
    bool advice_of_owner; /* the advice follows from the leak's owner, else from names and counts */
    VT_EMBED_SITE_FIGURES;        /* of all its sites together */
    const struct vt_stack *stack; /* of its largest site */
    const uint32_t *sites;        /* indices into vt_process.sites, the largest first */
    uint32_t site_count;
    struct vt_growth *growth;    /* of all its sites together; NULL: it does not rise */
    bool no_cache;               /* its owner shows that it is not a cache: lists */
    struct vt_owned_list owned;  /* of all its sites together */
    struct vt_owner_group *kept; /* the main owners, the largest first; NULL: none, or unknown */
    uint32_t kept_count;
    uint64_t spread_owners; /* if many owners hold most of it, their number; else 0 */
    char *kept_by;          /* these owners as text, the same in every format; NULL: unknown */
};

/* Device memory held by caching allocators at one moment. */
struct vt_moment {
    uint64_t at;
    uint64_t reserved_bytes, in_use_bytes, largest_free_bytes;
    uint64_t pinned_bytes; /* idle, in segments that live blocks keep from being released */
};

/* Live blocks of a site that pin mostly idle segments. */
struct vt_pin {
    uint32_t site; /* index into vt_process.sites, or VT_NO_SITE */
    uint64_t blocks, block_bytes, segments;
    uint64_t pinned_bytes; /* idle bytes in those segments */
};
#define VT_PINS 8 /* maximum recorded per moment */

/* A caching allocator's segment, tiled by vt_fragmentation.pieces from `first` on. */
struct vt_segment_map {
    uint64_t address, bytes, in_use_bytes, largest_free_bytes;
    uint32_t first, count;
};
struct vt_piece {
    uint64_t offset, bytes;
    uint32_t site; /* of a block: index into vt_process.sites, or VT_NO_SITE */
    bool idle;
};

/* Memory that is reserved but not in use, at the end. VT_UNKNOWN: not in the log. */
struct vt_fragmentation {
    uint64_t reserved_bytes, in_use_bytes, free_bytes, largest_free_bytes;
    double ratio; /* vt_fragmentation_ratio; negative: unknown */
    /* when the process last requested memory; the figures above are of the end */
    struct vt_moment last;
    struct vt_moment worst;    /* when most was pinned, up to `last`; never: `at` is VT_UNKNOWN */
    struct vt_moment *moments; /* over the run, with equal numbers of changes between them */
    uint32_t moment_count;
    struct vt_pin *pins; /* the most pinned first */
    uint32_t pin_count;
    struct vt_segment_map *segments; /* by address */
    struct vt_piece *pieces;
    uint32_t segment_count, piece_count, segments_left_out;
    uint64_t granule_waste_bytes; /* an estimate: waste by rounding to the driver's 2 MiB pages,
                                     outside caching allocators' segments */
};

/* 1 - largest / free; 0 if nothing is free. */
static inline double vt_fragmentation_ratio(uint64_t free_bytes, uint64_t largest_bytes) {
    return free_bytes ? 1 - (double)largest_bytes / (double)free_bytes : 0;
}
#define VT_FRAGMENTATION_ALARM 0.3 /* above this a report warns */

/* The blocks of a device's caching allocators. */
struct vt_blocks {
    const char *name; /* "PyTorch" */
    VT_EMBED_LAYER_FIGURES;
    uint64_t at_peak_bytes;                       /* in use at the device's peak */
    uint64_t reserved_bytes, reserved_peak_bytes; /* in segments; VT_UNKNOWN */
    /* the framework's own counters for its device of this number; VT_UNKNOWN: not recorded */
    uint64_t reported_allocated, reported_reserved, reported_peak_allocated;
    uint64_t mismatch_count; /* how often these counters disagreed with the blocks in the log */
};

/* Untracked memory over time, from the samples of `vramtrace run`. VT_UNKNOWN without samples, or if NVML does not
 * report memory per process. */
struct vt_untracked {
    uint64_t first_bytes, last_bytes, max_bytes, max_at;
    uint64_t samples; /* 0: none */
};

/* Live driver memory over the run or the window, for small pictures. Each of `count` equal parts has the level at its
 * end (of its slot: timeline.h); the part with the peak has the peak. */
struct vt_levels {
    uint64_t from, to;
    uint64_t *bytes;
    uint32_t count; /* 0: no memory was held, or the run took no time */
    uint32_t peak;  /* the part with the peak */
};

struct vt_device {
    unsigned ordinal; /* VT_DEVICE_UNKNOWN: the creation of its context was not recorded */
    char *uuid;       /* "GPU-xxxxxxxx-..."; NULL: the program never queried it */
    char *name;
    VT_EMBED_LAYER_FIGURES; /* of its driver layer */
    /* from NVML: this process's use nearest to the peak; else all processes' use at the program's last query */
    VT_EMBED_DEVICE_FIGURES;
    bool from_nvml; /* the device figures come from it */
    struct vt_levels levels;
    uint64_t sure_peak_bytes; /* less than peak_bytes if frees before the peak may be missing */
    bool has_blocks;          /* of caching allocators: see `blocks` */
    struct vt_blocks blocks;
    struct vt_untracked untracked;
    struct vt_fragmentation fragmentation;
};

#include "failed.h"

/* A mapped file that contains a frame of some stack. */
struct vt_module {
    const char *path;          /* its frames have the same pointer; "": unknown */
    char *build_id;            /* lower-case hex; NULL: unknown */
    uint64_t start, end, bias; /* addresses; an address is an offset plus `bias` */
};

struct vt_object_life {
    const char *kind;
    uint64_t created, destroyed; /* VT_UNKNOWN: not seen */
    unsigned device;
    const struct vt_stack *stack;
};

/* A phase or a mark that the program named. Bytes: driver layer, all devices; VT_UNKNOWN for a mark. `end` and
 * `live_at_end` are VT_UNKNOWN if the phase was open when the log ended. */
struct vt_phase {
    const char *name, *domain; /* NULL: unknown name; no domain, or vramtrace.h */
    uint64_t start, end, live_at_start, live_at_end, peak_bytes;
    uint32_t thread;
    bool mark; /* start equals end */
};

/* Phases or marks of one name group that were evicted from a summary. vt_process.phases keeps the first and the last,
 * the longest, the one with the highest peak, and the one that rose most. */
struct vt_phase_sum {
    const char *name;   /* vt_phase_group_name; NULL: unknown */
    bool mark, several; /* several: with more than one name */
    uint64_t count;
    uint64_t rose, fell; /* memory change, summed over phases that rose and phases that fell */
};

/* A name with '*' for each number ("epoch *", "layer*", but "conv2d"), without the suffix of emit_nvtx(). Free it. A
 * report shows phases with the same result as one row. */
char *vt_phase_group_name(const char *name);
/* The length of an operator's name, without the suffix of emit_nvtx(). */
size_t vt_phase_operator_length(const char *name);

/* Memory outside devices: pinned host memory, or managed memory, which the driver migrates. */
struct vt_apart {
    VT_EMBED_LAYER_FIGURES;
};

struct vt_process {
    char *log;    /* the path given by the user */
    char *run_id; /* NULL: not in the log; likewise the strings below */
    char *host, *job, *version, *cwd, *exe;
    char *boot;             /* boot id of the host */
    char *launch;           /* equal in all ranks launched together */
    uint64_t pid_namespace; /* the namespace of pid and ppid; 0: unknown */
    /* in clock ticks since boot: identifies the process together with boot and pid */
    uint64_t process_start;
    uint64_t started_monotonic; /* CLOCK_MONOTONIC, ns: at the same moment as started_at */
    uint32_t pid, ppid;
    int rank, local_rank; /* -1: unknown; local: on its machine */
    uint32_t world_size;  /* ranks in all; 0: unknown */
    uint32_t restart;     /* number of earlier restarts by the launcher */
    char **command;
    uint32_t command_count;
    /* The function that a child of Python's multiprocessing runs: "work() in train.py". NULL: none, or unknown. */
    char *task;
    uint64_t started_at; /* CLOCK_REALTIME, ns */
    uint64_t duration;
    bool simulated, python;
    bool hides_source;          /* another user's log, which could name any of our files */
    struct vt_answers *answers; /* source lines, recorded or replayed; NULL: neither */
    struct vt_ending ending;
    struct vt_log_quality quality; /* of its log */
    char **notes;                  /* sentences; reasons for an incomplete log come first */
    uint32_t note_count, note_room;
    uint64_t events;
    uint64_t evicted_sites; /* counted under the sites without a stack: "other call sites" */
    bool bare_end;          /* the tracer missed its exit; its parent recorded the status */
    /* the program's own memory that was released with its context, not by a call */
    uint64_t context_freed_bytes;
    /* the note about this memory if it is no failure, an element of `notes`; NULL: none */
    const char *context_freed_note;
    uint64_t window_since, window_until; /* VT_UNKNOWN: no limit */
    uint64_t scan_bytes, scan_ns;        /* scanned at exit; VT_UNKNOWN: no conclusive exit scan */
    /* some pointers to allocations lie only in memory whose blocks are unknown */
    bool scan_unknown;

    struct vt_device *devices;
    uint32_t device_count;
    struct vt_apart pinned, managed;
    struct vt_site *sites; /* sorted by memory held, then by memory held at the peak */
    char **whys;           /* the sites' texts, each stored once */
    size_t why_count, why_room;
    uint32_t site_count;
    struct vt_leak *leaks; /* `leak_count` leaks, then `suspect_count` suspects */
    uint32_t leak_count, suspect_count, found_count; /* found: of both */
    struct vt_oom *ooms;
    uint32_t oom_count;
    uint64_t ooms_left_out;   /* beyond the number that the model keeps */
    struct vt_failed *failed; /* sorted by first occurrence */
    uint32_t failed_count;
    uint64_t failed_in_all; /* failed allocations, including places beyond the model's limit */
    bool nothing_allocated; /* some allocations failed, none succeeded, and no event is missing */
    struct vt_variable *variables;
    uint32_t variable_count;
    struct vt_object_life *objects;
    uint32_t object_count;
    struct vt_module *modules; /* by address */
    uint32_t module_count;
    struct vt_phase *phases; /* sorted by start, outer phases first */
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

/* All logs of a model with too many processes to hold at once. A format that writes all processes builds one at a
 * time. */
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
    struct vt_model_logs *apart; /* all logs, if `processes` are only some of them; else NULL */
    unsigned id_digits;          /* hex digits that keep all site ids distinct, at least 4 */
    /* all processes of the logs (`processes` may be a part of them); NULL: one process */
    struct vt_job *job;
    struct vt_model_memory *memory;
};

/* Computes id_digits. */
unsigned vt_model_id_digits(const struct vt_model *model);

/* Adds a sentence to the process's notes. */
void vt_model_note(struct vt_process *process, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Determines a process's `task` from its stacks. Free it. */
char *vt_process_task(const struct vt_process *p);

/* The name of its program: "train.py" of "/usr/bin/python3 -u train.py --epochs 2", its `task` if it has one. Never NULL
 * or empty. Valid as long as the process. */
const char *vt_process_program(const struct vt_process *p);

/* Frees the contents of `process`, but not the struct. */
void vt_process_free(struct vt_process *process);

/* The value of an environment variable; NULL: not set, or not recorded. Points into the process. */
const char *vt_process_variable(const struct vt_process *process, const char *name);

/* The sum of a process's peaks: each device, pinned and managed memory. */
uint64_t vt_process_peak_bytes(const struct vt_process *process);

struct vt_process_figures vt_process_figures(const struct vt_process *process);

/* The most important failure: the last one without a recovery. NULL: none. */
const struct vt_oom *vt_process_oom(const struct vt_process *process);

/* failing_verdicts.c: the single definition of a leak, for the gate and for reports. `chosen`: verdicts that fail.
 * NULL, the default: lost, growing, and in processes without Python unfreed. Cache, runtime and freed never fail. */
bool vt_verdict_fails(const struct vt_process *process, enum vt_verdict verdict,
                      const bool chosen[VT_VERDICTS]);

/* vt_site_may_fail: whether a site's verdict fails. vt_site_fails: whether the site still fails if each missing event
 * was one of its frees. */
bool vt_site_may_fail(const struct vt_process *process, const struct vt_site *site,
                      const bool chosen[VT_VERDICTS]);
bool vt_site_fails(const struct vt_process *process, const struct vt_site *site,
                   const bool chosen[VT_VERDICTS]);

/* Whether it is open that it leaks, and it is no suspect. */
static inline bool vt_site_is_inconclusive(const struct vt_site *site) {
    return site->inconclusive && site->verdict != VT_VERDICT_SUSPECT;
}

/* Whether the process could free its memory: it returned, exited, or replaced itself. It could not if it was killed, ran
 * out of memory, still runs, or has no recorded end. */
bool vt_process_ended_itself(const struct vt_process *process);

/* The leak of each site, or NULL; with `suspects` also the suspect. Free it. */
const struct vt_leak **vt_process_leaks_by_site(const struct vt_process *process, bool suspects);

/* Whether the program itself freed all of a site. Always false in Python processes: the interpreter frees everything
 * when it finalizes. */
bool vt_site_freed_at_exit(const struct vt_process *process, const struct vt_site *site);

/* The bytes to compare between runs: an interpreter frees nearly everything as it ends. */
static inline uint64_t vt_site_compared_bytes(const struct vt_process *p,
                                              const struct vt_site *site) {
    return p->python ? site->held_bytes : site->live_bytes;
}

/* Whether a pytest fixture with a wider scope than one test holds all live memory of the site. */
bool vt_site_is_fixtures(const struct vt_site *site);

/* The device with this ordinal; NULL: there is none. */
const struct vt_device *vt_process_device(const struct vt_process *process, unsigned ordinal);

/* Whether a site's id begins with `prefix`; NULL matches all. */
bool vt_site_wanted(const struct vt_site *site, const char *prefix);

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx". Free it. */
char *vt_model_uuid(const uint8_t uuid[16]);

#include "amount.h"
#include "job_data.h"
#include "frame_text.h"
#include "growth_text.h"
#include "source_line.h"
#include "stack_key.h"
#include "stack_text.h"
#include "suppress.h"
#include "user_code.h"
#include "builder.h"

#endif
