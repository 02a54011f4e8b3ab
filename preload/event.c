/* SPDX-License-Identifier: MIT */
/*
 * Every record of memory events passes here. Wrappers report a call; this file adds the time, the device and context,
 * the API name and the stack, and keeps the live table and the log consistent. A refused allocation is recorded as
 * FAIL; a free that the driver refuses puts the block back into the live table and is recorded as FREE_FAIL. (The
 * analyzer counts it in replay.c.)
 *
 * Time: an allocation is stamped after the driver's call and a free before it, so in time order an address is never
 * reused before it is freed. A free's record is written after the call, when we know whether the driver accepted it,
 * with the earlier stamp.
 */
#include "event.h"
#include "stack/stack.h"
#include "base/base.h"

#include <errno.h>
#include <string.h>

/* Whether two frames of this thread are on different stacks: one of them is on a signal handler's stack. */
VT_COLD static bool on_different_stacks(uintptr_t a, uintptr_t b) {
    struct {
        uintptr_t start;
        int flags;
        size_t bytes;
    } handlers;
    if (VT_SYS2(SYS_sigaltstack, NULL, &handlers) != 0)
        return true;
    return (a - handlers.start < handlers.bytes) != (b - handlers.start < handlers.bytes);
}

/* Whether the frame of a record or a label no longer exists, judged from the current frame, `here`. Calls made within
 * the record or label have lower frames, and so does a signal handler that interrupts it, unless the handler runs on
 * its own stack. A frame ends unnoticed when a signal handler jumps out of it. */
static bool has_ended(uintptr_t frame, uintptr_t here) {
    return here >= frame && !on_different_stacks(frame, here);
}

bool vt_event_is_jumped_over(uintptr_t frame, uintptr_t target) {
    return frame < target && !on_different_stacks(frame, target);
}

VT_COLD static void abandon(struct vt_thread *t) {
    vt_log_drop(VT_DROP_NESTED);
    if (!t)
        return;
    vt_log_abandon(t);
    vt_log_leave(t);
}

/* Registers a thread before a call is stamped, if the call is its first event or the previous record was jumped out of.
 * `opens`: also opens the log. NULL: the call will not be recorded. */
VT_COLD static struct vt_thread *first_call(uintptr_t here, bool opens) {
    if ((vt_tls.busy && !has_ended(vt_tls.busy, here)) || (!opens && !vt_log_is_open()))
        return NULL;
    if (vt_tls.busy)
        abandon(vt_tls.thread);
    vt_tls.busy = here;
    struct vt_thread *t = vt_log_ready() ? vt_thread_self() : NULL;
    vt_tls.busy = 0;
    return t;
}

/* Stamps a record that is written after a driver's call. Until call_ends(), entered_at stays at this time, even if the
 * thread records other events meanwhile. A nested call announces nothing itself: its time is later. */
static inline __attribute__((always_inline)) uint64_t call_begins(bool opens) {
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    struct vt_thread *t = vt_tls.thread;
    if (VT_UNLIKELY(!t || t->orphan || vt_tls.busy || !vt_log_is_open()) &&
        !(t = first_call(here, opens)))
        return vt_log_ticks();
    if (t->held && !has_ended(vt_tls.call_frame, here))
        return vt_log_ticks();
    t->held = 0;
    vt_tls.call_frame = here;
    return t->held = vt_log_enter_now(t);
}

static void call_ends(uint64_t ticks) {
    struct vt_thread *t = vt_tls.thread;
    if (!t || !t->held || t->held != ticks)
        return;
    t->held = 0;
    if (!vt_tls.busy)
        vt_log_leave(t);
}

void vt_event_jumped(uintptr_t target) {
    if (vt_tls.busy && vt_event_is_jumped_over(vt_tls.busy, target)) {
        abandon(vt_tls.thread);
        vt_tls.busy = 0;
    }
    if (vt_tls.label_depth && vt_event_is_jumped_over(vt_tls.label_frame, target))
        vt_tls.label_depth = 0;
    if (vt_tls.thread && vt_tls.thread->held && vt_event_is_jumped_over(vt_tls.call_frame, target))
        call_ends(vt_tls.thread->held);
}

/* Between begin() and end() the thread is busy: if a signal handler allocates then, the event is counted, not recorded.
 * `ticks`, if not NULL, receives the time. */
static inline __attribute__((always_inline)) struct vt_recording begin_at(uint64_t *ticks) {
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    struct vt_recording r = {NULL, errno};
    vt_process_check_fork();
    if (VT_UNLIKELY(vt_tls.busy)) {
        if (!has_ended(vt_tls.busy, here)) {
            vt_log_drop(VT_DROP_NESTED); /* this event */
            return r;
        }
        abandon(vt_tls.thread); /* the record that was jumped out of */
    }
    vt_tls.busy = here;
    if (VT_LIKELY(vt_log_ready()) && !(r.thread = vt_thread_self()))
        vt_log_drop(VT_DROP_NO_MEMORY);
    if (VT_LIKELY(r.thread != NULL)) {
        if (ticks)
            *ticks = vt_log_enter_now(r.thread);
        else
            vt_log_enter(r.thread);
        if (VT_UNLIKELY(vt_get(&vt_phases_unwritten)))
            vt_phases_write_open(r.thread);
        return r;
    }
    vt_tls.busy = 0;
    errno = r.saved_errno;
    return r;
}

static inline __attribute__((always_inline)) struct vt_recording begin(void) {
    return begin_at(NULL);
}

/* Work that is due may carry this event's time, such as a snapshot of growing memory. So, as in a call, the time stays
 * announced until the work is done. */
VT_COLD static void end_with_due(struct vt_thread *t) {
    uint64_t ticks = t->held ? 0 : vt_tls.entered;
    if (ticks) {
        vt_tls.call_frame = (uintptr_t)__builtin_frame_address(0);
        t->held = ticks;
    }
    vt_log_leave(t);
    vt_tls.busy = 0;
    vt_process_due();
    call_ends(ticks);
}

static inline __attribute__((always_inline)) void end(const struct vt_recording *r) {
    if (VT_UNLIKELY(vt_tls.due)) {
        end_with_due(r->thread);
    } else {
        vt_log_leave(r->thread);
        vt_tls.busy = 0;
    }
    errno = r->saved_errno;
}

VT_HOT struct vt_recording vt_event_open(void) {
    return begin();
}

VT_HOT struct vt_recording vt_event_open_at(uint64_t *ticks) {
    return begin_at(ticks);
}

VT_HOT void vt_event_close(const struct vt_recording *recording) {
    end(recording);
}

struct label {
    unsigned hook;
    const struct vt_caller *caller;
};

/* Within a runtime call, the name and caller are those of the outermost runtime call. */
static inline __attribute__((always_inline)) struct label labelled(const struct vt_call *call) {
    if (VT_UNLIKELY(vt_tls.label_depth) &&
        !has_ended(vt_tls.label_frame, (uintptr_t)__builtin_frame_address(0)))
        return (struct label){vt_tls.label_hook, &vt_tls.label_caller};
    return (struct label){call->hook, &call->caller};
}

static unsigned device_of(unsigned kind, unsigned context) {
    return vt_kind_layer(kind) == VT_LAYER_HOST ? VT_DEVICE_HOST : vt_context_device(context);
}

static void record_alloc(struct vt_thread *t, const struct vt_live *what, uint64_t ticks) {
    vt_log_alloc(t,
                 &(struct vt_rec_alloc){
                     .word = vt_word(VT_REC_ALLOC, what->kind, what->hook, what->stack),
                     .when = vt_when(what->device, ticks),
                     .address = what->address,
                     .size_context = (what->size & VT_SIZE_MASK) | (uint64_t)what->context << 48});
}

/* Graphs launched since the last allocation show that the program works between allocations. Two threads may both write
 * the count, which is harmless. */
VT_COLD static void write_launches(struct vt_thread *t, uint64_t ticks) {
    uint64_t launches = vt_get(&vt_graph_launches.count);
    const struct vt_rec_object r = {
        .word = vt_word(VT_REC_OBJECT, VT_OBJECT_LAUNCHES, VT_HOOK_cuGraphLaunch, 0),
        .when = vt_when(VT_DEVICE_UNKNOWN, ticks),
        .handle = launches,
        .flags = VT_OBJECT_MAPPED,
        .context = VT_CONTEXT_UNKNOWN};
    if (vt_log_event(t, &r, sizeof r))
        vt_put(&vt_graph_launches.written, launches);
}

static inline bool are_launches_unwritten(void) {
    return vt_get(&vt_graph_launches.count) != vt_get(&vt_graph_launches.written);
}

void vt_event_ends(void) {
    if (vt_tls.busy || !are_launches_unwritten())
        return;
    struct vt_recording rec = begin();
    if (!rec.thread)
        return;
    write_launches(rec.thread, vt_log_ticks());
    end(&rec);
}

uint32_t vt_event_failed;

VT_COLD static void record_fail(struct vt_thread *t, const struct vt_live *what, uint64_t ticks,
                                int result, uint32_t flags) {
    const struct vt_rec_fail r = {.word = vt_word(VT_REC_FAIL, what->kind, what->hook, what->stack),
                                  .when = vt_when(what->device, ticks),
                                  .size = what->size,
                                  .result = result,
                                  .flags = flags};
    vt_log_event(t, &r, sizeof r);
    if (result != CUDA_ERROR_OUT_OF_MEMORY)
        vt_claim(&vt_event_failed, 0, (uint32_t)result);
}

/* `what` is not copied: a copy would wait until the processor has stored its small fields. */
static inline __attribute__((always_inline)) void allocated(const struct vt_call *call, int result,
                                                            struct vt_live *what) {
    uint64_t ticks;
    struct vt_recording rec = begin_at(&ticks);
    vt_tls.events++;
    if (!rec.thread) {
        vt_limit_finalize(call, NULL);
        return;
    }
    if (result == 0 && vt_is_no_memory(what->address, what->size, what->kind)) {
        vt_limit_finalize(call, NULL);
        end(&rec);
        return;
    }
    struct label label = labelled(call);
    if (!what->hook)
        what->hook = (uint16_t)label.hook;
    if (!what->stack)
        what->stack = vt_stack_capture(rec.thread, label.caller);
    if (result == 0) {
        bool kept = vt_live_insert(what);
        if (!kept)
            vt_log_drop(VT_DROP_LIVE);
        vt_limit_finalize(call, kept ? what : NULL);
        if (VT_UNLIKELY(are_launches_unwritten()))
            write_launches(rec.thread, ticks);
        record_alloc(rec.thread, what, ticks);
        vt_tls.ask = (uint8_t)vt_peak_allocated(what);
    } else {
        vt_limit_finalize(call, NULL);
        record_fail(rec.thread, what, ticks, result, call->refused);
        vt_tls.ask = result == CUDA_ERROR_OUT_OF_MEMORY && !call->refused ? VT_ASK_MEMORY : 0;
        if (result == CUDA_ERROR_OUT_OF_MEMORY && !(call->refused & VT_FAIL_INJECTED)) {
            vt_tls.due |= VT_DUE_REFUSED;
            vt_tls.refused_stack = what->stack;
        }
    }
    vt_tls.ask_device = what->device;
    end(&rec);
}

void vt_event_allocated(const struct vt_call *call, int result, struct vt_live what) {
    allocated(call, result, &what);
}

VT_HOT void vt_event_alloc(const struct vt_call *call, int result, unsigned kind, uint64_t address,
                           uint64_t size) {
    unsigned context = vt_context_current();
    vt_live_ahead(address, kind);
    struct vt_live what = {.address = address,
                           .size = size,
                           .context = (uint16_t)context,
                           .kind = (uint8_t)kind,
                           .device = (uint8_t)device_of(kind, context)};
    allocated(call, result, &what);
}

bool vt_event_may_alloc(struct vt_call *call, unsigned kind, uint64_t size, unsigned device) {
    if (vt_limit_reserve(call, kind, device, size))
        return true;
    if (vt_kind_layer(kind) == VT_LAYER_HOST)
        device = VT_DEVICE_HOST;
    vt_event_allocated(call, CUDA_ERROR_OUT_OF_MEMORY,
                       (struct vt_live){.size = size,
                                        .context = (uint16_t)vt_context_current(),
                                        .kind = (uint8_t)kind,
                                        .device = (uint8_t)device});
    return false;
}

uint32_t vt_event_stack(const struct vt_call *call, uint16_t *hook) {
    struct vt_recording rec = begin();
    struct label label = labelled(call);
    uint32_t stack = 0;
    vt_tls.events++;
    *hook = (uint16_t)label.hook;
    if (!rec.thread)
        return 0;
    stack = vt_stack_capture(rec.thread, label.caller);
    end(&rec);
    return stack;
}

VT_HOT struct vt_freeing vt_event_free_begin(uint64_t address, unsigned kind) {
    struct vt_freeing f = {.address = address, .kind = kind, .null = address == 0};
    if (f.null)
        return f;
    int saved_errno = errno;
    vt_live_ahead(address, kind);
    vt_process_check_fork();
    f.ticks = f.held = call_begins(true);
    f.known = vt_live_remove(address, kind, &f.was);
    f.shared = !f.known && vt_share_remove(address);
    errno = saved_errno;
    return f;
}

static void record_free(struct vt_thread *t, unsigned hook, const struct vt_freeing *f) {
    vt_log_free(t, &(struct vt_rec_free){
                       .word = vt_word(VT_REC_FREE, f->known ? f->was.kind : f->kind, hook, 0),
                       .when = vt_when(f->known ? f->was.device : VT_DEVICE_UNKNOWN, f->ticks),
                       .address = f->address});
}

VT_COLD static void record_free_fail(struct vt_thread *t, const struct label *label,
                                     const struct vt_freeing *f, int result) {
    uint32_t stack = vt_stack_capture(t, label->caller);
    const struct vt_rec_free_fail r = {
        .word = vt_word(VT_REC_FREE_FAIL, f->kind, label->hook, stack),
        .when = vt_when(f->known ? f->was.device : VT_DEVICE_UNKNOWN, f->ticks),
        .address = f->address,
        .result = result};
    vt_log_event(t, &r, sizeof r);
}

VT_HOT void vt_event_watch_program(uint64_t ticks) {
    if (vt_python_state(NULL) == VT_PYTHON_ACTIVE)
        vt_log_program(vt_python_lives(), ticks);
}

static inline __attribute__((always_inline)) void freed(const struct vt_call *call,
                                                        const struct vt_freeing *f, int result) {
    if (f->null) { /* frees nothing, so it is not recorded */
        vt_tls.events++;
        return;
    }
    if (f->shared && result == 0) {
        vt_tls.events++;
        vt_event_object(call, VT_OBJECT_EXTERNAL, f->address, VT_OBJECT_DESTROYED,
                        vt_context_current());
        return;
    }
    if (f->shared)
        vt_share_back(f->address);
    struct vt_recording rec = begin();
    vt_tls.events++;
    if (f->known && result == 0) {
        vt_limit_freed(&f->was);
        vt_peak_freed(&f->was);
    } else if (f->known && !vt_live_insert(&f->was)) {
        vt_log_drop(VT_DROP_LIVE);
    }
    if (!rec.thread)
        return;
    struct label label = labelled(call);
    vt_event_watch_program(f->ticks);
    if (result == 0)
        record_free(rec.thread, label.hook, f);
    else
        record_free_fail(rec.thread, &label, f, result);
    if (rec.thread->held == f->held)
        rec.thread->held = 0; /* end() also ends the call */
    end(&rec);
}

VT_HOT void vt_event_free_end(const struct vt_call *call, const struct vt_freeing *f, int result) {
    freed(call, f, result);
    call_ends(f->held);
}

void vt_event_freed(const struct vt_call *call, uint64_t ticks, uint64_t address, unsigned kind) {
    struct vt_freeing f = {.ticks = ticks, .address = address, .kind = kind};
    if (!ticks) {
        vt_process_check_fork();
        f.ticks = f.held = call_begins(true);
    }
    f.known = vt_live_remove(address, kind, &f.was);
    freed(call, &f, 0);
    call_ends(f.held);
}

uint64_t vt_event_before_call(bool opens) {
    int saved_errno = errno;
    vt_process_check_fork();
    uint64_t ticks = call_begins(opens);
    errno = saved_errno;
    return ticks;
}

void vt_event_after_call(uint64_t ticks) {
    call_ends(ticks);
}

/* Writes a record about a call. Its first word has only type and kind yet; `ticks` 0: now. */
static bool record_call(const struct vt_call *call, bool with_stack, unsigned device,
                        uint64_t ticks, void *record, uint32_t bytes) {
    uint64_t *words = record;
    struct vt_recording rec = begin();
    if (!rec.thread)
        return false;
    struct label label = labelled(call);
    words[0] |=
        vt_word(0, 0, label.hook, with_stack ? vt_stack_capture(rec.thread, label.caller) : 0);
    words[1] = vt_when(device, ticks ? ticks : vt_log_ticks());
    vt_log_event(rec.thread, record, bytes);
    end(&rec);
    return true;
}

void vt_event_bulk(const struct vt_call *call, uint64_t ticks, unsigned context) {
    bool teardown = vt_stack_in_exit(&call->caller);
    /* The end of a context without recorded events does not open a log. */
    if (context == VT_CONTEXT_UNKNOWN || !vt_log_is_open())
        return;
    struct vt_rec_bulk r = {.word = VT_REC_BULK,
                            .context = context,
                            .teardown = teardown,
                            .bytes = teardown ? 0 : vt_live_remove_context(context)};
    vt_tls.events++;
    if (record_call(call, true, vt_context_device(context), ticks, &r, sizeof r) && teardown)
        vt_log_flag(VT_FLAG_TEARDOWN);
}

void vt_event_object(const struct vt_call *call, unsigned object, uint64_t handle, unsigned flags,
                     unsigned context) {
    struct vt_rec_object r = {.word = vt_word(VT_REC_OBJECT, object, 0, 0),
                              .handle = handle,
                              .flags = flags,
                              .context = context};
    record_call(call, true, vt_context_device(context), 0, &r, sizeof r);
}

void vt_event_meminfo(const struct vt_call *call, uint64_t free_bytes, uint64_t total_bytes) {
    struct vt_rec_meminfo r = {
        .word = VT_REC_MEMINFO, .free_bytes = free_bytes, .total_bytes = total_bytes};
    record_call(call, false, vt_context_device(vt_context_current()), 0, &r, sizeof r);
}

void vt_event_poolinfo(const struct vt_call *call, unsigned device, uint64_t pool,
                       enum vt_pool_figure figure, uint64_t bytes) {
    struct vt_rec_poolinfo r = {
        .word = vt_word(VT_REC_POOLINFO, figure, 0, 0), .pool = pool, .bytes = bytes};
    record_call(call, false, device, 0, &r, sizeof r);
}

void vt_event_map(const struct vt_call *call, uint64_t ticks, unsigned device, uint64_t address,
                  uint64_t size, uint64_t number) {
    struct vt_rec_map r = {.word = vt_word(VT_REC_MAP, VT_KIND_PHYSICAL, 0, 0),
                           .address = address,
                           .size = size,
                           .number = number};
    vt_tls.events++;
    record_call(call, false, device, ticks, &r, sizeof r);
}

void vt_event_device(unsigned ordinal, const char *name, uint64_t total_bytes, const void *uuid) {
    struct vt_rec_device r = {.word = VT_REC_DEVICE,
                              .ordinal = ordinal,
                              .flags = uuid ? VT_DEVICE_HAS_UUID : 0,
                              .total_bytes = total_bytes};
    if (uuid)
        memcpy(r.uuid, uuid, sizeof r.uuid);
    if (name)
        strncpy(r.name, name, sizeof r.name - 1);
    struct vt_recording rec = begin();
    if (!rec.thread)
        return;
    vt_log_entry(rec.thread, &r, sizeof r, VT_LOG_NOTHING, VT_LOG_NOTHING);
    end(&rec);
}

struct vt_label vt_event_label_begin(struct vt_call call) {
    vt_process_check_fork(); /* first, because it clears a child's vt_tls, label included */
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (VT_UNLIKELY(vt_tls.label_depth) && has_ended(vt_tls.label_frame, here))
        vt_tls.label_depth = 0;
    struct vt_label label = {
        .call = call, .events_before = vt_tls.events, .depth = vt_tls.label_depth};
    if (label.depth == 0) {
        vt_tls.label_frame = here;
        vt_tls.label_hook = call.hook;
        vt_tls.label_caller = call.caller;
    }
    vt_tls.label_depth++;
    return label;
}

bool vt_event_label_end(const struct vt_label *label) {
    /* Not vt_tls.label_depth - 1: a signal handler may have jumped out of labels. */
    vt_tls.label_depth = label->depth;
    return vt_tls.events == label->events_before;
}
