/* SPDX-License-Identifier: MIT */
/*
 * The one door to the log for what happens to memory: every record passes event.c. Books, stacks and
 * the log meet there, and nowhere else.
 *
 * Law: between its begin and its end a thread is busy, and what happens in between on the same thread
 * is counted, not recorded. errno stays the program's. Uses base/, log/, books/ and stack/.
 */
#ifndef VT_PRELOAD_EVENT_H
#define VT_PRELOAD_EVENT_H

#include "books/books.h"
#include "log/log.h"

/* Made at the top of each wrapper. */
#define VT_CALL(symbol)                                                                            \
    ((struct vt_call){.hook = VT_HOOK_##symbol, .caller = __builtin_return_address(0)})

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
void vt_event_allocated(const struct vt_call *call, int result, struct vt_live what);
/* With a limit or an injection in force, before an allocation: false when it must not be tried;
 * that is recorded then. */
bool vt_event_may_alloc(struct vt_call *call, unsigned kind, uint64_t size, unsigned device);
/* The calling thread's stack and the name it called by, for an allocation recorded later. */
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

/* A free that the driver has done already, with the time from before it did: for what is in the books
 * under an address that the driver does not give out again by itself. */
void vt_event_freed(const struct vt_call *call, uint64_t ticks, uint64_t address, unsigned kind);

/* A context's end, with the time from before it. `context` is its number. From within exit it is a
 * teardown, and frees nothing in the books. */
void vt_event_bulk(const struct vt_call *call, uint64_t ticks, unsigned context);

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

#endif
