/* SPDX-License-Identifier: MIT */
/*
 * The door of log/: where records go. One file a process, a chunk of it a thread.
 *
 * Law: a record is whole or not there; what cannot be written is counted (vt_log_drop) and never
 * waited for. What was written survives SIGKILL. Uses base/.
 */
#ifndef VT_PRELOAD_LOG_H
#define VT_PRELOAD_LOG_H

#include "base/base.h"
#include "preload.h"

/* Room for what stack.c keeps of a thread. It lies here, and not on the program's stack, which may be
 * small. */
#define VT_THREAD_STACK_BYTES 65536u

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
    struct vt_phases *phases;      /* books/phases.c's; NULL: none yet */
    _Alignas(64) unsigned char stack[VT_THREAD_STACK_BYTES]; /* stack.c's */
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
