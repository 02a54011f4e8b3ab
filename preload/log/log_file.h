/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of log/: log.c (the file and its space), log_chunks.c (the threads' chunks), log_clock.c (time),
 * log_name.c (the file's name), log_header.c (the process in the header), log_launcher.c (its rank), log_run.c (the
 * list of logs), log_fault.c (a truncated file), log_due.c (work at the end of events), log_drop.c (missing events),
 * log_bound.c (the file's limit), log_free.c (recycled chunks), log_live.c (live memory at the end), log_record.c and
 * log_short.c (records), log_slots.c (announcements), log_space.c (disk space).
 */
#ifndef VT_PRELOAD_LOG_FILE_H
#define VT_PRELOAD_LOG_FILE_H

#include "log.h"

#define VT_PATH_MAX 4096u

/* One moment on two clocks. */
struct vt_clock_pair {
    uint64_t ticks, monotonic_ns;
};

/* Opens a new file for this process and stores its name in `path`; *shown is the part to show to users. Returns a
 * descriptor or negative errno. */
int vt_log_name_open(char *path, size_t size, const char **shown);
/* Prints on stderr that the log at `path` could not be written, and why (errno, positive). */
void vt_log_name_print_error(const char *path, int error);
/* Rank (-1: none) and job (NULL: none) from the launcher's variables. The text belongs to the
 * environment. */
int32_t vt_log_launcher_rank(void);
const char *vt_log_launcher_job(void);
/* Fills in the header's fields about rank and launch. */
void vt_log_launcher_fill(struct vt_log_header *h);

/* Keeps the process alive if someone truncates the mapped log. */
void vt_log_fault_watch(void);
/* Whether someone has truncated it: the log is lost. */
bool vt_log_fault_seen(void);

/* log_drop.c: counters and flags before the file exists, and their current location. */
extern struct vt_log_header vt_log_early, *volatile vt_log_counters;

/* log_bound.c: upper bounds of chunk numbers, by use. */
struct vt_log_bound {
    uint64_t most;      /* any chunk */
    uint64_t scan;      /* the scan at the end; the live list follows */
    uint64_t end;       /* other records of the end */
    uint64_t entries;   /* entries, before the end */
    uint64_t events;    /* events */
    uint64_t now;       /* atomic: the current bound */
    uint64_t kept_free; /* at the bound: recycled chunks reserved for entries */
};
extern struct vt_log_bound vt_log_bound;
/* Called when the log is opened. Returns the file's limit in bytes; 0: none. */
uint64_t vt_log_bound_start(int fd);
/* The next chunk's number, counted in *chunks. 0: the bound is reached. */
uint64_t vt_log_bound_number(uint64_t *chunks);

/* log_free.c: takes a recycled chunk, mapped. NULL: none. */
struct vt_chunk_header *vt_log_free_take(void);
/* At the bound: whether there are more recycled chunks than entries need. */
bool vt_log_free_is_there(uint64_t now);
void vt_log_free_forked(void);

/* log.c: the file and its space. */
extern bool vt_log_buffered; /* written in blocks */
/* Whether the file was truncated, or cannot be opened again after the program closed our descriptor. */
bool vt_log_is_lost(void);
/* Writes to the file in buffered mode. False: not all was written. */
bool vt_log_write(const void *data, uint64_t bytes, uint64_t offset);
/* Allocates a chunk in the file and maps it; `fills`: it will probably be filled. NULL: no space. */
struct vt_chunk_header *vt_log_place(uint64_t number, bool fills);
/* Maps a chunk of the file. NULL: the log is lost, or there is no memory. */
void *vt_log_map(uint64_t number);
void vt_log_count_placed(uint64_t number); /* the file has space for this chunk now */
bool vt_log_place_slots(uint64_t number);  /* for more threads */
void vt_log_file_forked(void);             /* in a child: no log is open yet */
/* Writes out a chunk of the live list; with `more`, takes another. NULL: not asked for, or no space. */
struct vt_log_live_chunk *vt_log_next_live(struct vt_log_live_chunk *before, bool more);

/* log_slots.c: turns a chunk into one of slots, for more threads. */
void vt_log_slots_add(struct vt_log_header *h, struct vt_log_slots *chunk);
struct vt_log_slot *vt_log_slots_take(void); /* a free slot; NULL: there is none */
void vt_log_slots_forked(void);

/* Resets the state of short records for a new chunk. */
static inline void vt_log_short_forget(struct vt_log_short *shorts) {
    shorts->ticks = 0;
    shorts->next = shorts->guess[0] = shorts->guess[1] = 0;
    shorts->unsure = false;
    shorts->frames_unsure = true; /* cleared when they are needed */
    for (unsigned i = 0; i < VT_SHORT_SLOTS; i++)
        shorts->keys[i] = VT_SHORT_NO_KEY;
}

/* Whether the file may grow to this size. Growing past RLIMIT_FSIZE would send the program SIGXFSZ. */
bool vt_log_space_allowed(uint64_t bytes);
/* Whether a store to allocated space of the file can still fail. */
bool vt_log_space_is_unsure(int fd);
/* False: not all was written. */
bool vt_log_space_write(int fd, const void *data, uint64_t bytes, uint64_t offset);
/* Writes zeroes over a new chunk's space, which is zero already. One system call then provides the file's pages and
 * blocks; it would cost three times as much at the first store to each page. */
void vt_log_space_fill(int fd, uint64_t offset);

/* In buffered mode: counts one drop for each event and each stack in a chunk that cannot be written. */
void vt_log_record_lost(struct vt_thread *t);

/* Adds the log to the list of the run that this process belongs to, if any. A leading "!" marks a log that could not be
 * made. */
void vt_log_run_add(const char *path, bool made);

/* Writes the environment variables that influence GPU memory, as the thread's next records. */
void vt_log_environment_write(struct vt_thread *t);

/* log.c: the mapped header of the open log; with buffers, a copy of it. */
extern struct vt_log_header *vt_log_header;
extern uint64_t vt_log_second_ticks; /* atomic: ticks per second */
extern uint64_t vt_log_look_at;      /* atomic: ticks of the next VT_DUE_LOOK */

/* log_clock.c: enum vt_clock, and both clocks when the library was loaded. */
extern uint32_t vt_log_clock;
extern struct vt_clock_pair vt_log_clock_start;
extern uint64_t vt_log_calibrate_at; /* atomic: ticks of the next measurement of the rate */
uint64_t vt_log_slow_ticks(void);    /* for clocks other than the TSC */
static inline uint64_t vt_log_raw_ticks(void) {
    if (VT_UNLIKELY(vt_log_clock != VT_CLOCK_TSC))
        return vt_log_slow_ticks();
    return vt_ticks();
}
static inline uint64_t vt_log_now(void) { /* vt_log_ticks() */
    return vt_log_raw_ticks() - vt_log_clock_start.ticks;
}
void vt_log_calibrate(struct vt_log_header *header);
void vt_log_clock_forked(void);

/* Fills in all fields that do not change later. */
void vt_log_header_fill(struct vt_log_header *h, const struct vt_clock_pair *start, uint32_t clock);

#endif
