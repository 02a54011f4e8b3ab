/* SPDX-License-Identifier: MIT */
/*
 * The reader: bytes -> trust. It alone knows where records lie in a log; nothing that it hands out
 * can point outside what it has read and checked, whatever the file holds, and also while the file
 * is still being written or cut.
 *
 * A log is opened once: one pass over the file takes in everything but the events (modules, stacks,
 * code objects, threads, devices, notes) and notes for each chunk how far its whole records go. The
 * events are read later, chunk by chunk (vt_log_read_chunk), as often as wanted, into the caller's
 * memory: so 30 million events need no more memory than a few chunks, and a pass that comes later
 * sees exactly the records of the first.
 */
#ifndef VRAMTRACE_ANALYZER_LOG_READER_H
#define VRAMTRACE_ANALYZER_LOG_READER_H

#include "base/base.h"
#include "vramtrace/log_format.h"

#include <string.h>

/* What is trusted of a chunk. */
struct vt_log_chunk {
    uint32_t number;      /* in the file; it starts at number * VT_CHUNK_BYTES */
    uint32_t end;         /* offset in the chunk behind the last whole record */
    uint32_t events;      /* records of a fixed type up to there */
    uint32_t tid;         /* who wrote in it last */
    uint64_t first_ticks; /* smallest and largest time of its events; unset where events is 0 */
    uint64_t last_ticks;
    bool sorted; /* its events stand in the order of vt_log_key */
};

/* A file mapped into the process. Addresses end before `end`. */
struct vt_log_module {
    uint64_t ticks; /* first seen; it holds until another takes its place */
    uint64_t start, end, bias;
    char *path;         /* "" where unknown */
    char build_id[129]; /* lower-case hex; "" where unknown */
};

#define VT_NO_STACK UINT32_MAX /* for an index into vt_log.stacks */

struct vt_log_stack {
    uint64_t frames; /* index of its first frame word in vt_log.frame_words */
    uint64_t ticks;  /* of the event it was first written for */
    uint16_t count, flags;
};

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
    uint32_t number;  /* in the samples */
    uint32_t ordinal; /* by the process's environment; VT_DEVICE_UNKNOWN */
    bool has_uuid;
    uint64_t total_bytes; /* 0: unknown */
    uint8_t uuid[16];
    char name[65]; /* "": unknown */
};

/* A phase, or a mark, that the program named. */
struct vt_log_phase {
    uint64_t range;        /* its number in the log; 0: a mark */
    uint64_t began, ended; /* ticks; VT_TICKS_MASK: still open where the log ends */
    uint64_t written;      /* when its begin was put down: `began`, or later where it is older than
                              the log */
    uint32_t name, domain; /* indices in vt_log.names; VT_MAP_NONE: unknown; the default domain */
    uint32_t tid;
    bool of_thread; /* nested in others of its thread; else it may end on another */
};

struct vt_log_variable {
    char *name, *value;
};

/* Why bytes of a chunk were not taken. */
struct vt_log_damage {
    uint64_t offset; /* in the file */
    const char *what;
    uint64_t found;
};

struct vt_log {
    char *path;
    int fd;
    uint64_t file_bytes;
    struct vt_log_header header; /* text fields are NUL-terminated here */

    struct vt_log_chunk *chunks;
    size_t chunk_count, chunk_room;

    uint64_t *frame_words;
    size_t frame_count, frame_room;
    struct vt_log_stack *stacks;
    size_t stack_count, stack_room;
    struct vt_map stack_numbers;   /* number -> index into stacks */
    struct vt_log_module *modules; /* by start address */
    uint64_t *module_reach;        /* largest end of modules[0..i] */
    size_t module_count, module_room;
    struct vt_log_code *codes;
    size_t code_count, code_room;
    struct vt_map code_numbers; /* number -> index into codes */
    struct vt_log_thread *threads;
    size_t thread_count, thread_room;
    struct vt_log_device *devices; /* one for each ordinal, later records merged in */
    size_t device_count, device_room;
    struct vt_log_gpu *gpus; /* by number */
    size_t gpu_count, gpu_room;
    struct vt_rec_sample *samples; /* of LOG.nvml, in the order of time */
    size_t sample_count, sample_room;
    char **notes;
    size_t note_count, note_room;
    struct vt_log_variable *variables; /* of the environment, those that the tracer writes down */
    size_t variable_count, variable_room;

    struct vt_log_phase *phases; /* by `began`; of the same moment, the outer first */
    size_t phase_count, phase_room;
    struct vt_map phase_ranges; /* range -> index into phases */
    char **names;               /* of phases and their domains */
    size_t name_count, name_room;
    struct vt_map name_numbers; /* number -> index into names */

    struct vt_rec_scan scan; /* of the exit scan; word 0: none, or one that concludes nothing */
    uint64_t *lost;          /* vt_lost_entry, as the log lists them */
    size_t lost_count, lost_room;

    uint64_t events;     /* records of a fixed type, all chunks */
    uint64_t last_ticks; /* largest time of an event */
    uint64_t frontier;   /* events after this time were left out: threads were still writing;
                            VT_TICKS_MASK: none */
    bool running;   /* the process was alive, and no end was written, when the log was opened */
    bool cut;       /* bytes that were handed out are not in the file */
    bool in_flight; /* a thread was inside the tracer when the log ended */
    struct vt_log_damage *damage;
    size_t damage_count, damage_room;
};

/* Opens `path` and takes in everything but the events. 0, or -errno with a message that names file,
 * offset, expected and found in `message` (-EINVAL: not a log that can be read). After 0, and only
 * then, vt_log_close frees it. */
int vt_log_open(const char *path, struct vt_log *log, struct vt_string *message);
void vt_log_close(struct vt_log *log);

/* Copies a chunk's trusted bytes, header included, to `bytes` (VT_CHUNK_BYTES, 8-aligned); *got:
 * how many: walk them with vt_log_next from sizeof(struct vt_chunk_header). Fewer than chunk->end
 * where the file was cut meanwhile. 0 or -errno, as vt_log_read_at. */
int vt_log_read_chunk(const struct vt_log *log, const struct vt_log_chunk *chunk, void *bytes,
                      uint32_t *got, struct vt_string *message);

/* The length of the record at `offset` of `chunk`, of which `end` bytes are there: whole and within
 * bounds. 0: none is, and
 * `*what` says why (NULL: simply the end). For every reader of chunks, so that there is one rule.
 */
static inline uint32_t vt_log_next(const uint8_t *chunk, uint32_t offset, uint32_t end,
                                   const char **what) {
    uint64_t word;
    *what = NULL;
    if (end - offset < sizeof word)
        return 0;
    memcpy(&word, chunk + offset, sizeof word);
    if (word == 0)
        return 0;
    uint32_t length = vt_record_length(word);
    if (vt_word_type(word) < 0x80 && !length) {
        *what = "a record's type";
        return 0;
    }
    if (length % 8 || length < 16 || length > VT_RECORD_MAX_BYTES) {
        *what = "a record's length";
        return 0;
    }
    if (length > end - offset) {
        /* at the end of a whole chunk a record cannot reach past it; elsewhere the file simply ends
         * here */
        if (end == VT_CHUNK_BYTES)
            *what = "a record that reaches past its chunk";
        return 0;
    }
    return length;
}

/* Order of events: by time, and at equal times what frees first. */
static inline uint64_t vt_log_key(uint64_t word, uint64_t when) {
    unsigned type = vt_word_type(word);
    return vt_when_ticks(when) << 1 | !(type == VT_REC_FREE || type == VT_REC_BULK);
}

/* The stack with this number, NULL: not in the log. */
const struct vt_log_stack *vt_log_stack(const struct vt_log *log, uint32_t number);

/* The module that held `address` at time `ticks`, NULL: none. */
const struct vt_log_module *vt_log_module_at(const struct vt_log *log, uint64_t address,
                                             uint64_t ticks);

/* Whether the process of this header is alive on this machine: same boot, same pid, same start. */
bool vt_log_is_running(const struct vt_log_header *header);

/* Reads and checks a header: the part of vt_log_open that a look at many files needs. */
int vt_log_read_header(int fd, const char *path, struct vt_log_header *header, uint64_t *file_bytes,
                       struct vt_string *message);

/* Reads at `offset` up to `size` bytes; *got: how many are there. 0 or -errno, with the file, the
 * offset and the reason in `message`. */
int vt_log_read_at(int fd, const char *path, void *bytes, uint32_t size, uint64_t offset,
                   uint32_t *got, struct vt_string *message);

#endif
