/* SPDX-License-Identifier: MIT */
/*
 * The only way to record memory events: state, stacks and the log meet in event.c, and nowhere else.
 *
 * Invariants: between an event's begin and end, its thread is busy; further events on the same thread are counted, not
 * recorded. errno is preserved. Uses base/, log/, state/ and stack/.
 */
#ifndef VT_PRELOAD_EVENT_H
#define VT_PRELOAD_EVENT_H

#include "state/state.h"
#include "log/log.h"

/* The current call: the hook and its caller. Every wrapper begins with this. */
#define VT_CALL(symbol) ((struct vt_call){.hook = VT_HOOK_##symbol, .caller = VT_CALLER})

/* A free in progress: stamped, and removed from the live table, before the real call. */
struct vt_freeing {
    uint64_t ticks, address;
    uint64_t held;      /* for event.c: the outer call's time, to be restored */
    struct vt_live was; /* the live entry, if `known` */
    unsigned kind;
    bool known, null;
    bool shared; /* imported memory: the free releases no memory of this process */
};

/* Records an allocation after the driver's call, whether it succeeded (`address`, and `size`
 * in bytes) or failed (`size` as requested, address 0). It belongs to the calling thread's
 * current context. */
void vt_event_alloc(const struct vt_call *call, int result, unsigned kind, uint64_t address,
                    uint64_t size);

/* The same, for a caller that knows device and context: `what` has address, size, kind, device and context. Its stack
 * and hook are set if the allocation was described earlier (a graph node); if they are 0, the calling thread's stack
 * and API name are used. */
void vt_event_allocated(const struct vt_call *call, int result, struct vt_live what);
/* Call before an allocation if a limit or an injection is set. False: do not allocate; the refusal is already
 * recorded. */
bool vt_event_may_alloc(struct vt_call *call, unsigned kind, uint64_t size, unsigned device);
/* The calling thread's stack and API name, for an allocation that is recorded later. */
uint32_t vt_event_stack(const struct vt_call *call, uint16_t *hook);

/* For files that write their own kinds of records (torch.c, phase.c). If `thread` is NULL, nothing can be recorded;
 * that is already counted, and vt_event_close() must not be called. */
struct vt_recording {
    struct vt_thread *thread;
    int saved_errno;
};
struct vt_recording vt_event_open(void);
struct vt_recording vt_event_open_at(uint64_t *ticks); /* also returns the time */
void vt_event_close(const struct vt_recording *recording);

/* Called before and after a free. `kind` selects the address space (device, host); the block's own
 * kind may differ. */
struct vt_freeing vt_event_free_begin(uint64_t address, unsigned kind);
void vt_event_free_end(const struct vt_call *call, const struct vt_freeing *f, int result);

/* vt_event_before_call returns the time before a driver's call; records written after the call carry it. Then call
 * vt_event_after_call. In between, the log announces that a record with that time may follow. `opens`: a record will
 * follow, so the log is opened. */
uint64_t vt_event_before_call(bool opens);
void vt_event_after_call(uint64_t ticks);

/* Records a free after the driver's call. `ticks` is the time before the call; 0: now. For objects whose handle the
 * driver never reuses. */
void vt_event_freed(const struct vt_call *call, uint64_t ticks, uint64_t address, unsigned kind);

/* Call for each free, within a recording: notes when the interpreter begins to shut down. The program's own code is not
 * responsible for later frees. */
void vt_event_watch_program(uint64_t ticks);

/* Call when the process ends: records the graphs launched since its last allocation. */
void vt_event_ends(void);

/* The first allocation error other than out of memory, for the exit line; 0: none. Atomic. */
extern uint32_t vt_event_failed;

/* Records a context's end. `ticks` is the time before it, `context` the context's number. Inside exit it is a teardown:
 * the context's live entries remain. */
void vt_event_bulk(const struct vt_call *call, uint64_t ticks, unsigned context);

void vt_event_object(const struct vt_call *call, unsigned object, uint64_t handle, unsigned flags,
                     unsigned context);
void vt_event_meminfo(const struct vt_call *call, uint64_t free_bytes, uint64_t total_bytes);
void vt_event_poolinfo(const struct vt_call *call, unsigned device, uint64_t pool,
                       enum vt_pool_figure figure, uint64_t bytes);
/* `number` is the physical memory mapped there; 0: unmapped. `ticks` 0: now. */
void vt_event_map(const struct vt_call *call, uint64_t ticks, unsigned device, uint64_t address,
                  uint64_t size, uint64_t number);
void vt_event_device(unsigned ordinal, const char *name, uint64_t total_bytes, const void *uuid);

/* A runtime call labels the driver events inside it (wrap_runtime.c). The outermost of nested calls counts. */
struct vt_label {
    struct vt_call call;
    uint32_t events_before;
    uint32_t depth; /* labels around it */
};
/* Called when this thread's longjmp goes to a frame at `target`: ends the record and the labels that the jump
 * leaves. */
void vt_event_jumped(uintptr_t target);
/* Whether such a jump leaves the frame at `frame`. */
bool vt_event_is_jumped_over(uintptr_t frame, uintptr_t target);

struct vt_label vt_event_label_begin(struct vt_call call);
/* True when no driver event happened inside: then the runtime wrapper records the event itself. */
bool vt_event_label_end(const struct vt_label *label);

#endif
