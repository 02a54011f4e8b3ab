/* SPDX-License-Identifier: MIT */
/*
 * Public header of log/: writes records. One file per process; each thread writes to a chunk of its own.
 *
 * Invariants: a record is complete or absent. Records that cannot be written are counted (vt_log_drop), without
 * waiting. Written records survive SIGKILL. Uses base/.
 */
#ifndef VT_PRELOAD_LOG_H
#define VT_PRELOAD_LOG_H

#include "base/base.h"
#include "preload.h"

/* Bytes of stack.c's data per thread, which is not on the program's stack, because that may be small. */
#define VT_THREAD_STACK_BYTES (VT_RETURN_AT_CFA ? 81920u : 98304u)

/* State of the short records in a thread's chunk (log_short.c). */
struct vt_log_short {
    uint64_t ticks;                   /* of the chunk's last ALLOC or FREE */
    uint8_t guess[2];                 /* the slots of the last short ALLOC and FREE */
    uint8_t next;                     /* the slot to be replaced next */
    bool unsure;                      /* `ticks` may belong to another record */
    bool frames_unsure;               /* some of `frames` may be outdated */
    uint64_t keys[VT_SHORT_SLOTS];    /* the template in each slot; VT_SHORT_NO_KEY: none */
    uint64_t frames[VT_SHORT_FRAMES]; /* 0: none */
};

/* A recording thread's data. It outlives the thread, and a later thread takes it over. */
struct vt_thread {
    struct vt_thread *next;        /* all threads; entries are only ever pushed */
    uint32_t tid;                  /* atomic: the current owner */
    uint32_t used;                 /* bytes written in the chunk, header included */
    struct vt_chunk_header *chunk; /* NULL: none */
    uint64_t *entered_at;          /* in its slot; `nowhere` while it has none */
    uint64_t last; /* time of its last event, or earlier (vt_log_enter_now); 0: no slot yet */
    uint64_t held; /* time of a call in progress whose record follows (event.c); 0: none */
    uint64_t chunk_number;  /* 0: none reserved */
    uint64_t flushed_ticks; /* buffered mode: when the chunk was last written out */
    uint32_t flushed;       /* ... and how many of its bytes had been written */
    uint32_t event_room;    /* bytes of the chunk that events may use; 0: reserved for the end */
    uint32_t retry;         /* events to drop before trying to get a slot or a chunk again */
    uint64_t nowhere;
    bool orphan;              /* in a forked child: belonged to the parent */
    bool named;               /* this chunk has the thread's THREAD record */
    bool fills;               /* it has filled a chunk, so it will probably fill the next */
    struct vt_phases *phases; /* owned by state/phases.c; NULL: none yet */
    struct vt_log_short shorts;
    _Alignas(64) unsigned char stack[VT_THREAD_STACK_BYTES]; /* owned by stack.c */
};

/* Everything the library keeps in thread-local storage. */
struct vt_tls {
    struct vt_thread *thread;
    int64_t peak_part; /* bytes not yet in the device's sum; state/peak.c */
    uint64_t entered;  /* when the last record began */
    uint64_t newest;   /* the last allocation's address, if the allocation was the last event */
    uint32_t growth_part,
        growth_part_max;   /* allocations not yet in the sum; their limit; state/growth_trigger.c */
    uintptr_t busy;        /* frame of the record in progress; 0: none */
    uintptr_t call_frame;  /* frame of the call whose time is in thread->held */
    uintptr_t label_frame; /* frame of the outermost label */
    uint32_t events;       /* driver events so far; a label compares counts */
    uint32_t block_events; /* `events` when instrument/torch.c last looked up a block's entry */
    uint32_t label_depth;
    uint32_t label_hook;
    struct vt_caller label_caller;
    uint16_t contexts[14];
    uint32_t context_depth;
    uint8_t ask, ask_device; /* VT_ASK_*: questions for interpose/ask_driver.c, and their device */
    uint8_t due;             /* VT_DUE_*: work at the end of the event */
    uint32_t peak_device;    /* the device of peak_part */
    uint32_t refused_stack;  /* VT_DUE_REFUSED: the stack of the refused request */
    uint32_t caller_stack;   /* the stack of the thread that waits for this one; 0: none */
    struct vt_backward *backward; /* owned by instrument/torch_backward.c */
};
/* Flags of vt_tls.due. snapshot/triggers.c does the work, at the end of the event that set the flag. */
enum vt_due {
    VT_DUE_LOOK = 1,          /* time to check for changes that must be known before the end */
    VT_DUE_REFUSED = 2,       /* an allocation was refused */
    VT_DUE_FRAMEWORK_OOM = 4, /* a framework reported that it could not allocate */
    VT_DUE_ASKED = 8,         /* `vramtrace snapshot` asks for the owners */
    VT_DUE_GROWTH = 16,       /* memory grew (state/growth_trigger.c) */
    VT_DUE_SERVED = 128       /* being done */
};
extern __thread struct vt_tls vt_tls __attribute__((tls_model("initial-exec")));

/* The calling thread's data; if it has none yet, new data or a dead thread's. NULL: no memory. */
struct vt_thread *vt_thread_make_(void);
static inline struct vt_thread *vt_thread_self(void) {
    struct vt_thread *t = vt_tls.thread;
    return VT_LIKELY(t && !t->orphan) ? t : vt_thread_make_();
}
struct vt_thread *vt_thread_first(void); /* head of the list of all threads; NULL: it is empty */
void vt_thread_forked(void);             /* in a forked child: empties the list */

extern bool vt_log_opened; /* atomic */
/* Opens the log at the first record. False: it cannot be opened, now or later. */
bool vt_log_open_(void);
static inline bool vt_log_ready(void) {
    return VT_LIKELY(vt_see(&vt_log_opened)) || vt_log_open_();
}
static inline bool vt_log_is_open(void) {
    return vt_see(&vt_log_opened);
}
/* From now on, system calls are forbidden; with `tsc`, so is the time stamp counter. */
void vt_log_stop_clock(bool tsc);
void vt_log_start_clock(void);  /* call at load: times count from this moment */
void vt_log_start_folder(void); /* ... and relative log names start in the current folder */
uint64_t vt_log_ticks(void);    /* ticks since load; ordered after every earlier access */
/* Reserves `bytes` for an event's record in the thread's chunk, zeroed like all bytes after them. NULL: no space; a
 * dropped event is counted. */
uint64_t *vt_log_reserve(struct vt_thread *thread, uint32_t bytes);
/* The same for entries (VT_ENTRY in records.def): nothing is counted. */
uint64_t *vt_log_reserve_entry(struct vt_thread *thread, uint32_t bytes);
/* Publishes a written record by storing its first word. Pairs with vt_log_copy_chunk in pack.c; model: PUBLISH. */
static inline void vt_log_commit(struct vt_thread *thread, uint64_t *record, uint64_t word,
                                 uint32_t bytes) {
    vt_publish(record, word);
    vt_publish(&thread->used, thread->used + bytes);
}
/* Writes an event's record. False: no space, and a dropped event is counted. */
bool vt_log_event(struct vt_thread *thread, const void *record, uint32_t bytes);
/* The same for an entry; nothing is counted. Takes the record, whose first word has only the type, and one part per
 * VT_COUNT field. */
struct vt_log_part {
    const void *data;
    uint32_t bytes;
};
#define VT_LOG_NOTHING ((struct vt_log_part){NULL, 0})
bool vt_log_entry(struct vt_thread *thread, const void *record, uint32_t bytes,
                  struct vt_log_part first, struct vt_log_part second);
/* Writes a record in its shortest form; all words but the first are filled in. False: no space; a dropped event is
 * counted. */
bool vt_log_alloc(struct vt_thread *thread, const struct vt_rec_alloc *record);
void vt_log_free(struct vt_thread *thread, const struct vt_rec_free *record);
/* The same for a stack; nothing is counted. */
bool vt_log_stack(struct vt_thread *thread, uint32_t number, unsigned flags, const uint64_t *frames,
                  uint32_t count);
void vt_log_enter(struct vt_thread *thread); /* sets entered_at, to thread->held if set */
uint64_t
vt_log_enter_now(struct vt_thread *thread);  /* the same; returns the time, later than entered_at */
void vt_log_leave(struct vt_thread *thread); /* clears it, or sets it to thread->held */
/* Announces that a snapshot of that time may still be written, until vt_log_withdraw. One at a time. Requires a log
 * with slots. */
void vt_log_announce(uint64_t ticks);
void vt_log_withdraw(void);
void vt_log_drop(enum vt_drop reason); /* counts one event that is not recorded */
void vt_log_flag(uint32_t flag);       /* enum vt_log_flag; also before there is a log */
/* Records whether the program's own code still runs, that is, whether its interpreter is not shutting down. The first
 * `false` counts. Only while recording. */
void vt_log_program(bool runs, uint64_t ticks);
/* A sentence for the report. Only while recording (event.h). */
void vt_log_note(const char *text);
/* The list of live allocations at the end, if events were dropped. Call begin, add (for each), done; then vt_log_end.
 * Its space is reserved from the log's start. begin: false if another thread is listing already. */
bool vt_log_list_begin(void);
void vt_log_list_add(const struct vt_log_live *entry);
void vt_log_list_done(void);
/* The process is about to end: makes the space reserved for the end available; with `scan`, also the scan's. */
void vt_log_ends(bool scan);
/* Whether the log has reached its limit, so that events are no longer recorded. */
bool vt_log_is_at_bound(void);
void vt_log_end(enum vt_exit kind, int status); /* the END mark; the last call counts */
void vt_log_unend(void);                        /* removes the mark after a failed exec */
bool vt_log_is_file(uint64_t device, uint64_t inode);
/* Schedules the next VT_DUE_LOOK. The delay grows with the time since the log was opened, to at most a second. Without
 * this call, it comes at the next event. */
void vt_log_looked(void);
void vt_log_look_soon(void);          /* at the next event */
void vt_log_look_within(unsigned ms); /* at the first event after at most this time */
/* Accepts a request of `vramtrace snapshot`. False: there is none, or another thread took it. */
bool vt_log_asked_take(void);
void vt_log_asked_done(bool answered); /* after the answer was written */
const char *vt_log_path(void);         /* static memory; before the log opens: "" */
/* What happened to the file, as text after "its log PATH"; NULL: nothing known. */
const char *vt_log_fate(void);
uint64_t vt_log_dropped(void); /* number of missing events */
uint32_t vt_log_pid(void);     /* of the process that the log describes */
/* Whether the open log is this process's. A forked child without an event still has its parent's log, and a vfork child
 * runs in its parent's memory. Once the process is sealed, it must not make system calls, and only vt_locks_vforks
 * shows this. */
bool vt_log_is_mine(void);
/* Called before system calls become unavailable: maps chunks for threads to take later. Within a recording. */
void vt_log_keep_room(struct vt_thread *thread);
/* Discards an unfinished record: none of it stays in the chunk, unless it is already published. */
void vt_log_abandon(struct vt_thread *thread);
/* Stops a forked child from writing into its parent's log. Call it as soon as the child runs. Safe in a signal
 * handler. */
void vt_log_child(void);
/* In a forked child: no log is open yet. */
void vt_log_forked(void);
void vt_log_due_forked(void);
void vt_log_live_forked(void);

#endif
