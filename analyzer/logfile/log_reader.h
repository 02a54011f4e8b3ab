/* SPDX-License-Identifier: MIT */
/*
 * The reader of logs. It checks everything that it returns, and hides where records lie in a log.
 *
 * Opening a log reads the whole file once and keeps everything except the events: modules, stacks,
 * code objects, threads, devices, notes. For each chunk it keeps where the last complete record
 * ends. The events are read later, chunk by chunk (vt_log_read_chunk) and as often as needed, into
 * the caller's memory. So 30 million events need no more memory than a few chunks, and every pass
 * sees the same records.
 */
#ifndef VRAMTRACE_ANALYZER_LOG_READER_H
#define VRAMTRACE_ANALYZER_LOG_READER_H

#include "base/base.h"
#include "pack.h"
#include "short_records.h"
#include "vramtrace/log_format.h"

#include <string.h>

/* A part of a chunk that was read at once: the whole chunk, unless the log was still being written. */
struct vt_log_chunk {
    uint32_t number; /* the chunk starts at number * VT_CHUNK_BYTES in the file */
    /* offsets in the chunk of the part's first record (0: the chunk's first), and of the end of its last complete
     * record */
    uint32_t begin, end;
    uint32_t events;      /* records of fixed length in it */
    uint32_t tid;         /* the chunk's last writer */
    uint64_t first_ticks; /* smallest and largest time of its events; unset if there are none */
    uint64_t last_ticks;
    uint64_t
        after; /* events up to this time were already replayed when the log was saved (log_state.c); 0: none */
    bool sorted; /* its events are in vt_log_key's order */
};

/* A file mapped into the process; `end` is exclusive. */
struct vt_log_module {
    uint64_t ticks; /* when first seen; valid until another is mapped at these addresses */
    uint64_t start, end, bias;
    char *path;         /* "": unknown */
    char build_id[129]; /* lower-case hex; "": unknown */
    uint8_t other;      /* has a known library's name (vramtrace/library.h) but not its exports */
};

#define VT_NO_STACK UINT32_MAX /* instead of an index into vt_log.stacks */

struct vt_log_stack {
    uint64_t frames; /* index in vt_log.frames of its first frame word; see vt_log_words */
    uint64_t ticks;  /* time of its first event */
    uint16_t count, flags;
    uint32_t caller; /* number of the waiting thread's stack, which continues it; 0: none */
};
/* The longest chain of stacks by `caller`; in a forged log they may form a circle. */
#define VT_LOG_CALLERS 16

struct vt_log_code {
    char *name, *file;
    uint32_t first_line;
};

struct vt_log_thread {
    uint32_t tid;
    char name[17];
};

struct vt_log_device {
    uint32_t ordinal;
    bool has_uuid;
    uint64_t total_bytes; /* 0: unknown */
    uint8_t uuid[16];
    char name[65]; /* "": unknown */
};

/* A GPU of the machine, as NVML described it to `vramtrace run`. */
struct vt_log_gpu {
    uint32_t number;  /* as in the samples */
    uint32_t ordinal; /* in the process, from CUDA_VISIBLE_DEVICES; or VT_DEVICE_UNKNOWN */
    bool has_uuid;
    uint64_t total_bytes; /* 0: unknown */
    uint8_t uuid[16];
    char name[65]; /* "": unknown */
};

/* A phase or a mark that the program named. */
struct vt_log_phase {
    uint64_t range;        /* its number in the log; 0: a mark */
    uint64_t began, ended; /* ticks; VT_TICKS_MASK: still open at the end of the log */
    uint64_t written; /* when its begin was recorded: after `began` if it began before the log */
    uint32_t name, domain; /* indices in vt_log.names; VT_MAP_NONE: unknown name, default domain */
    uint32_t tid;
    bool of_thread; /* pushed: nested in its thread's phases; else it may end on another thread */
};

/* The memory around a variable's word, or around a word that it leads to (VT_REC_AROUND, VT_REC_HOP). */
struct vt_log_around {
    uint8_t *halves;                    /* two bytes of memory each; NULL: unknown */
    uint32_t before, count;             /* bytes of memory: before the word, and in total */
    int32_t offset;                     /* from the target of the parent's word */
    const struct vt_log_around *parent; /* NULL: this is the variable's word */
};

/* A step of a path to memory (VT_REC_STEP). */
struct vt_log_step {
    uint32_t number;
    uint32_t parent; /* its index in vt_log.steps, always smaller; VT_MAP_NONE: the first step */
    uint32_t root;   /* index of the path's first step */
    uint16_t kind;   /* enum vt_step, or anything else */
    bool many, repeats, in_doubt;
    bool lost;                          /* its parent is missing in the log */
    uint32_t line;                      /* of a root */
    uint64_t address;                   /* of a root */
    const struct vt_log_around *around; /* of the path's last word; NULL: unknown */
    struct vt_step_counts {
        uint32_t objects, row, length; /* see records.def; the last two for CLASS; 0: unknown */
    } counts;
    /* for bounded containers: summed over the step's objects; capacity 0: unknown */
    uint32_t entries, capacity;
    char *name, *type;
};

/* Only a log's last snapshots are kept, so that reading takes time linear in the log. */
#define VT_LOG_SNAPSHOTS 1000

/* One allocation in a snapshot. */
struct vt_log_owned {
    uint32_t snapshot, order;
    struct vt_owned entry; /* `step`: index in vt_log.steps, or VT_MAP_NONE */
    uint64_t seen; /* bytes of the allocation that tensors cover; UINT64_MAX: all, or unknown */
};

/* Why the rest of a chunk was ignored. */
struct vt_log_damage {
    uint64_t offset; /* in the file */
    char *what;
    uint64_t found;
};

struct vt_log {
    char *path;
    int fd;
    struct vt_answers *answers; /* its pack's, which outlive the log; NULL: not packed */
    bool packed;
    uint64_t file_bytes;
    struct vt_log_header header; /* its text fields are NUL-terminated */
    uint64_t summary;            /* generation of the summary when opened (summary.h); 0: none */
    uint64_t summary_bytes;      /* of the last summary written; 0: none */
    uint64_t until; /* ticks: event details start here, earlier ones are in the summary */
    struct vt_summary_rest *rest; /* for vt_summary_load */

    struct vt_log_chunk *chunks;
    size_t chunk_count, chunk_room;
    struct vt_log_passes *passes;
    bool awaits_snapshots; /* vt_log_open_to_follow */

    uint64_t *words; /* the words of all frames, each once */
    size_t word_count, word_room;
    struct vt_map word_numbers; /* word -> index into words */
    uint8_t *frames; /* of all stacks: indices into words, seven bits to a byte, the lowest first */
    size_t frame_bytes, frame_room;
    uint64_t *unpacked; /* for vt_log_words */
    struct vt_log_stack *stacks;
    size_t stack_count, stack_room;
    struct vt_map stack_numbers;   /* number -> index into stacks */
    struct vt_log_module *modules; /* by start address */
    struct vt_module_index *module_index;
    size_t module_count, module_room, modules_sorted;
    struct vt_log_code *codes;
    size_t code_count, code_room;
    struct vt_map code_numbers; /* number -> index into codes */
    struct vt_log_thread *threads;
    size_t thread_count, thread_room;
    struct vt_log_device *devices; /* one for each ordinal; later records are merged in */
    size_t device_count, device_room;
    struct vt_log_gpu *gpus; /* by number */
    size_t gpu_count, gpu_room;
    struct vt_rec_sample *samples; /* from LOG.nvml, by time */
    size_t sample_count, sample_room;
    uint32_t nvml_read; /* bytes of LOG.nvml read so far */
    char **lines;       /* source lines of Python code without a file */
    size_t line_count, line_room;
    struct vt_map line_keys; /* (CODE's number << 32 | line) -> index into lines */
    char **notes;
    size_t note_count, note_room;
    struct vt_map note_keys;       /* hash of the text -> index into notes */
    struct vt_variable *variables; /* the environment variables that the tracer records */
    size_t variable_count, variable_room;

    /* By `began`, then the outer first; phases from a later pass come later. */
    struct vt_log_phase *phases;
    size_t phase_count, phase_room;
    struct vt_log_phase *phase_rows; /* begins and ends that are not in `phases` yet */
    size_t phase_row_count, phase_row_room;
    struct vt_map phase_ranges; /* range -> index into phases */
    char **names;               /* of phases and domains */
    size_t name_count, name_room;
    struct vt_map name_numbers; /* number -> index into names */

    struct vt_rec_scan scan; /* the exit scan; word 0: none, or inconclusive */
    uint64_t *lost;          /* vt_lost_entry, in the log's order */
    size_t lost_count, lost_room;
    uint64_t lost_ticks; /* time of the scan that found them; 0: unknown */

    struct vt_log_step *steps; /* parents before their children */
    size_t step_count, step_room;
    struct vt_map step_numbers;   /* number -> index into steps */
    struct vt_log_step *unlinked; /* not in `steps` yet */
    size_t unlinked_count, unlinked_room;
    struct vt_log_around_of {
        uint32_t step, number, parent; /* numbers in the log; step 0: a HOP */
        uint32_t hop;                  /* AROUND: the HOP that it describes; 0: none */
        struct vt_log_around around;
    } * arounds; /* in the log's order */
    size_t around_count, around_room;
    struct vt_log_owned *owned; /* by snapshot, then in the log's order */
    size_t owned_count, owned_room;
    struct vt_log_owned *owned_rows; /* not in `owned` yet: `step` is a number */
    size_t owned_row_count, owned_row_room;
    uint32_t owned_taken;
    struct vt_rec_snapshot *snapshots; /* by time */
    size_t snapshot_count, snapshot_room;
    struct vt_rec_missed *missed; /* snapshots that were not taken; in the log's order */
    size_t missed_count, missed_room;

    /* the live list: live memory at header.exit_ticks, which overrides the records */
    bool live_listed; /* the list is complete */
    struct vt_log_live *live;
    size_t live_count;

    uint64_t events;     /* in all chunks */
    uint64_t last_ticks; /* largest time of an event */
    uint64_t frontier;   /* later events are ignored, because threads were still writing;
                            VT_TICKS_MASK: no limit */
    /* events from then on are ignored: the log had reached its bound and is incomplete. 0: complete */
    uint64_t bound_at;
    bool
        running; /* when the log was opened (or packed), the process was alive and had recorded no end */
    bool foreign;   /* the log belongs to another user than its reader or packer */
    bool cut;       /* the file is shorter than the chunks that the tracer allocated */
    bool in_flight; /* a thread was inside the tracer when the log ended */
    struct vt_log_damage *damage;
    size_t damage_count, damage_room;
};

/* Opens `path` and reads everything except the events. Returns 0, or -errno with a `message` that
 * names the file, the offset, the expected and the actual value (-EINVAL: not a log, or not a
 * readable one). Call vt_log_close only after 0. */
int vt_log_open(const char *path, struct vt_log *log, struct vt_string *message);
/* The same for callers that will resume: reads only up to the begin of an unfinished snapshot, since its results
 * belong to that moment. */
int vt_log_open_to_follow(const char *path, struct vt_log *log, struct vt_string *message);
/* Reads records written since the last call, or since the log was opened. Indices stay valid in each table except
 * `modules`; pointers into tables do not. Returns as vt_log_open. */
int vt_log_resume(struct vt_log *log, struct vt_string *message);
void vt_log_close(struct vt_log *log);

/* Whether a summary covers all records of a chunk in this generation, so that the chunk may be released. The summary
 * is that with which the log was opened, or a newer one. `number`: below vt_log_chunks. */
bool vt_log_is_covered(const struct vt_log *log, uint32_t number, uint32_t *generation);
uint32_t vt_log_chunks(const struct vt_log *log);

/* Copies a chunk up to chunk->end, header included, to `bytes` (VT_CHUNK_BYTES). *got: the bytes copied; fewer if
 * the file was truncated since. Read its records with short_records.h. Returns 0, or -errno with `message`. */
int vt_log_read_chunk(const struct vt_log *log, const struct vt_log_chunk *chunk, void *bytes,
                      uint32_t *got, struct vt_string *message);

/* The order of events: by time, and at equal times frees first. */
static inline uint64_t vt_log_key(uint64_t word, uint64_t when) {
    unsigned type = vt_word_type(word);
    return vt_when_ticks(when) << 1 | !(type == VT_REC_FREE || type == VT_REC_BULK);
}

/* The stack with this number; NULL: not in the log. Returned pointers, here and below, point into `log`. */
const struct vt_log_stack *vt_log_stack(const struct vt_log *log, uint32_t number);

/* The frame words of a stack, the innermost first. Never NULL; valid until the next call. */
const uint64_t *vt_log_words(const struct vt_log *log, const struct vt_log_stack *stack);

/* Evicts all stacks but those that `stays` selects; their numbers become unknown. Returns each stack's new index,
 * VT_NO_STACK if evicted; free it. */
uint32_t *vt_log_keep_stacks(struct vt_log *log, const bool *stays);

/* Evicts the phases that have no bit set in `keep`; their ends will be ignored. */
void vt_log_keep_phases(struct vt_log *log, const uint8_t *keep);

/* Frees the stacks, the results of the exit scan, and the owners: the log can no longer be replayed. */
void vt_log_drop_stacks(struct vt_log *log);

/* The module at `address` at time `ticks`; NULL: none. */
const struct vt_log_module *vt_log_module_at(const struct vt_log *log, uint64_t address,
                                             uint64_t ticks);

/* Whether the log was written since this machine booted; and whether the process that wrote it is alive, by boot,
 * pid and start time. */
bool vt_log_is_of_boot(const struct vt_log_header *header);
bool vt_log_is_running(const struct vt_log_header *header);

/* Waits. Readers of a running log call it between reading a time and the first `entered_at`. */
void vt_log_await_stores(void);

/* Reads and checks only the header, as vt_log_open does, to choose among many files. */
int vt_log_read_header(int fd, const char *path, struct vt_log_header *header, uint64_t *file_bytes,
                       struct vt_string *message);

/* Whether the file is a log or a pack, by its first bytes, so that commands do not overwrite it. */
bool vt_log_is_log(const char *path);

/* Whether the file is a merged file (job/merged.h), by its first row. */
bool vt_log_is_merged(int fd);

/* The Python script in the command that ran, with its folder. Free it. NULL: there is none. */
char *vt_log_script(const struct vt_log *log);

#endif
