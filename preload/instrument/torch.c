/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's caching allocator takes segments from the driver and hands out blocks of them. libc10_cuda.so reports each
 * block to PyTorch's profiler through a function in libc10.so. The call crosses objects, so it goes through the dynamic
 * linker, which finds our function first. We record the block and pass the call on.
 *
 * The function has had five signatures with different mangled names, and all are exported. In the wheels, 2.13 has
 * reportMemoryUsageToProfiler(void *, long, size_t, size_t, Device) and reportOutOfMemoryToProfiler(long, size_t,
 * size_t, Device), both exported without a version.
 *
 * Its Device is two bytes (type, index) in a register whose upper bits are undefined; in older versions it was four
 * bytes, with the index in the upper half. Only the type can be trusted. So we log the index unchanged, and the
 * analyzer assigns each block to the driver allocation that contains it. Here, that would need a search by range, but
 * the live table is keyed by exact address, and a lock-free ordered table of segments would slow down every driver
 * event. The analyzer needs the assignment anyway, to draw segments and their holes.
 *
 * All of this runs under the allocator's mutex, and perhaps with Python's GIL held, so it never waits. The first call
 * of each function takes the loader's lock, to find the real function. PyTorch never loads a library while it holds the
 * mutex.
 */
#include "instrument.h"
#include "event.h"
#include "torch_hooks.h"
#include "stack/stack.h"
#include "base/base.h"
#include "interpose/real.h"
#include "snapshot/snapshot.h"

#include <string.h>

#define UNIT     512u     /* PyTorch rounds requests up to this many bytes */
#define SMALL    1048576u /* largest block of the small pool */
#define C10_CUDA 1u       /* c10::DeviceType::CUDA; CPU is 0. ROCm builds also report CUDA */

enum function {
    USAGE_1_6,
    USAGE_1_7,
    USAGE_1_10,
    USAGE_2_1,
    OOM_1_10,
    OOM_2_0,
    OOM_2_1,
    FUNCTIONS
};

static const char *const names[FUNCTIONS] = {
    [USAGE_1_6] = "_ZN3c1027reportMemoryUsageToProfilerENS_6DeviceEl",
    [USAGE_1_7] = "_ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE",
    [USAGE_1_10] = "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE",
    [USAGE_2_1] = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE",
    [OOM_1_10] = "_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE",
    [OOM_2_0] = "_ZN3c1027reportOutOfMemoryToProfilerEmmmNS_6DeviceE",
    [OOM_2_1] = "_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE",
};

static void *real[FUNCTIONS]; /* atomic; see vt_torch_next */
static char none;

VT_HOT void *vt_torch_next(void **known, const char *name) {
    void *found = vt_get(known);
    if (VT_UNLIKELY(!found)) {
        struct vt_elf object;
        found = vt_elf_behind(&none, name, &object) ? vt_elf_symbol(&object, name, NULL) : NULL;
        vt_put(known, found ? found : &none);
    }
    return found == &none ? NULL : found;
}

#define PASS_ON(f, ours, ...)                                                                      \
    do {                                                                                           \
        __typeof__(ours) *next_ =                                                                  \
            __extension__(__typeof__(ours) *) vt_torch_next(&real[f], names[f]);                   \
        if (next_)                                                                                 \
            next_(__VA_ARGS__);                                                                    \
    } while (0)

/* Whether a report is about CUDA memory and should be recorded. A process that reports CUDA but has no CUDA driver
 * (ROCm) is ignored. The check needs a search, so we give up after some failures. */
VT_HOT static bool is_wanted(uint64_t device) {
    static uint32_t misses; /* atomic */
    if ((device & 0xff) != C10_CUDA)
        return false;
    if (VT_UNLIKELY(!vt_log_is_open())) {
        if (vt_get(&misses) >= 64)
            return false;
        if (!vt_real_driver()->cuMemAlloc_v2) {
            vt_add(&misses, 1);
            return false;
        }
    }
    return vt_settings.framework;
}

/* The allocator's totals as a reader of the log computes them, by the framework's device number. Only the thread that
 * holds the allocator's mutex updates a device's totals. */
static struct { uint64_t allocated, reserved; /* atomic */ } known[256];

static void known_allocated_add(unsigned device, uint64_t bytes) {
    vt_put(&known[device].allocated, vt_get(&known[device].allocated) + bytes);
}

/* Writes the totals only if they differ from the sum of the logged blocks, usually because a segment was added or
 * removed. */
VT_HOT static void write_totals(struct vt_thread *t, unsigned device, uint64_t ticks,
                                uint64_t allocated, uint64_t reserved) {
    if (vt_get(&known[device].allocated) == allocated &&
        vt_get(&known[device].reserved) == reserved)
        return;
    const struct vt_rec_cacheinfo r = {
        .word = vt_word(VT_REC_CACHEINFO, VT_KIND_BLOCK, VT_HOOK_torch, 0),
        .when = vt_when(device, ticks),
        .allocated = allocated,
        .reserved = reserved};
    if (!vt_log_event(t, &r, sizeof r))
        return;
    vt_put(&known[device].allocated, allocated);
    vt_put(&known[device].reserved, reserved);
}

struct report {
    uint64_t address;
    int64_t size; /* negative: freed */
    unsigned device;
};

static void write_free(struct vt_thread *t, uint64_t address, unsigned device, uint64_t ticks) {
    vt_event_watch_program(ticks);
    vt_log_free(t,
                &(struct vt_rec_free){.word = vt_word(VT_REC_FREE, VT_KIND_BLOCK, VT_HOOK_torch, 0),
                                      .when = vt_when(device, ticks),
                                      .address = address});
}

/* Unknown blocks are also recorded, because the report counts them. */
VT_HOT static void record_free(struct vt_thread *t, const struct report *report, uint64_t ticks) {
    struct vt_live was = {.device = (uint8_t)report->device};
    vt_live_remove(report->address, VT_KIND_BLOCK, &was);
    known_allocated_add(was.device, 0 - was.size);
    write_free(t, report->address, was.device, ticks);
}

/* Writes the allocator's own data on a block if it is informative: for a segment's first block, and for a block longer
 * than its request. Only the large pool leaves more than one unit uncut. */
static void write_info(struct vt_thread *t, const struct vt_live *what, uint64_t ticks,
                       const struct vt_caller *caller) {
    bool fresh = vt_tls.block_events != vt_tls.events;
    struct vt_torch_block block;
    vt_tls.block_events = vt_tls.events;
    if (!vt_torch_block_find(caller, what->address, what->size, &block) ||
        (!fresh && what->size - block.requested < UNIT))
        return;
    const struct vt_rec_blockinfo r = {
        .word = vt_word(VT_REC_BLOCKINFO, VT_KIND_BLOCK, VT_HOOK_torch, 0),
        .when = vt_when(what->device, ticks),
        .requested = block.requested,
        .stream = block.stream,
        .pool = vt_torch_block_owner(&block)};
    /* reserves both, so that they are in one chunk */
    if (vt_log_reserve(t, sizeof r + sizeof(struct vt_rec_template) + sizeof(struct vt_rec_alloc)))
        vt_log_event(t, &r, sizeof r);
}

VT_HOT static void record_alloc(struct vt_thread *t, const struct report *report, uint64_t ticks,
                                const struct vt_caller *caller) {
    const struct vt_live what = {.address = report->address,
                                 .size = (uint64_t)report->size,
                                 .stack = vt_stack_capture(t, caller),
                                 .context = VT_CONTEXT_UNKNOWN,
                                 .hook = VT_HOOK_torch,
                                 .kind = VT_KIND_BLOCK,
                                 .device = (uint8_t)report->device};
    struct vt_live was;
    bool replaced;
    if (!vt_live_put(&what, &was, &replaced))
        vt_log_drop(VT_DROP_LIVE);
    if (VT_UNLIKELY(replaced)) {
        known_allocated_add(was.device, 0 - was.size);
        write_free(t, was.address, was.device, ticks);
    }
    if (VT_UNLIKELY(what.size > SMALL || vt_tls.block_events != vt_tls.events))
        write_info(t, &what, ticks, caller);
    if (vt_log_alloc(
            t, &(struct vt_rec_alloc){
                   .word = vt_word(VT_REC_ALLOC, VT_KIND_BLOCK, VT_HOOK_torch, what.stack),
                   .when = vt_when(what.device, ticks),
                   .address = what.address,
                   .size_context = (what.size & VT_SIZE_MASK) | (uint64_t)what.context << 48}))
        known_allocated_add(what.device, what.size);
}

/* -1 means the current device. The allocator does not report that device's number. */
static unsigned index_of(uint64_t device) {
    return (unsigned)(device >> 8 & 0xff);
}

/* `totals`: allocated and reserved bytes, or NULL. */
VT_HOT static void record_usage(const void *block, int64_t size, const uint64_t totals[2],
                                uint64_t device, const struct vt_caller *caller) {
    if (!is_wanted(device) || !block || !size)
        return;
    const struct report report = {
        .address = (uint64_t)(uintptr_t)block, .size = size, .device = index_of(device)};
    uint64_t ticks;
    vt_live_ahead(report.address, VT_KIND_BLOCK);
    struct vt_recording rec = vt_event_open_at(&ticks);
    if (!rec.thread)
        return;
    if (size > 0)
        record_alloc(rec.thread, &report, ticks, caller);
    else
        record_free(rec.thread, &report, ticks);
    vt_triggers_framework_reports();
    if (totals)
        write_totals(rec.thread, report.device, ticks, totals[0], totals[1]);
    vt_event_close(&rec);
}

static void record_oom(uint64_t requested, uint64_t allocated, uint64_t reserved, uint64_t device,
                       const struct vt_caller *caller) {
    if (!is_wanted(device))
        return;
    struct vt_recording rec = vt_event_open();
    if (!rec.thread)
        return;
    uint32_t stack = vt_stack_capture(rec.thread, caller);
    const struct vt_rec_cacheoom r = {
        .word = vt_word(VT_REC_CACHEOOM, VT_KIND_BLOCK, VT_HOOK_torch, stack),
        .when = vt_when(index_of(device), vt_log_ticks()),
        .requested = requested,
        .allocated = allocated,
        .reserved = reserved};
    vt_log_event(rec.thread, &r, sizeof r);
    vt_tls.due |= VT_DUE_FRAMEWORK_OOM;
    vt_event_close(&rec);
}

#define CALLER (&VT_CALLER)

/* Without an address, blocks cannot be told apart, so this function only passes the call on. */
VT_EXPORT void _ZN3c1027reportMemoryUsageToProfilerENS_6DeviceEl(uint64_t device, int64_t size) {
    PASS_ON(USAGE_1_6, _ZN3c1027reportMemoryUsageToProfilerENS_6DeviceEl, device, size);
}

VT_EXPORT void _ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE(void *block, int64_t size,
                                                                   uint64_t device) {
    record_usage(block, size, NULL, device, CALLER);
    PASS_ON(USAGE_1_7, _ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE, block, size, device);
}

VT_EXPORT void _ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE(void *block, int64_t size,
                                                                     int64_t allocated,
                                                                     int64_t reserved,
                                                                     uint64_t device) {
    const uint64_t totals[] = {(uint64_t)allocated, (uint64_t)reserved};
    record_usage(block, size, allocated >= 0 && reserved >= 0 ? totals : NULL, device, CALLER);
    PASS_ON(USAGE_1_10, _ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE, block, size,
            allocated, reserved, device);
}

VT_HOT VT_EXPORT void
_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void *block, int64_t size, size_t allocated,
                                                      size_t reserved, uint64_t device) {
    const uint64_t totals[] = {allocated, reserved};
    record_usage(block, size, totals, device, CALLER);
    PASS_ON(USAGE_2_1, _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE, block, size,
            allocated, reserved, device);
}

VT_EXPORT void _ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE(int64_t size, int64_t allocated,
                                                                   int64_t reserved,
                                                                   uint64_t device) {
    record_oom((uint64_t)size, (uint64_t)allocated, (uint64_t)reserved, device, CALLER);
    PASS_ON(OOM_1_10, _ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE, size, allocated,
            reserved, device);
}

VT_EXPORT void _ZN3c1027reportOutOfMemoryToProfilerEmmmNS_6DeviceE(size_t size, size_t allocated,
                                                                   size_t reserved,
                                                                   uint64_t device) {
    record_oom(size, allocated, reserved, device, CALLER);
    PASS_ON(OOM_2_0, _ZN3c1027reportOutOfMemoryToProfilerEmmmNS_6DeviceE, size, allocated, reserved,
            device);
}

VT_EXPORT void _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE(int64_t size, size_t allocated,
                                                                   size_t reserved,
                                                                   uint64_t device) {
    record_oom((uint64_t)size, allocated, reserved, device, CALLER);
    PASS_ON(OOM_2_1, _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE, size, allocated, reserved,
            device);
}

/* The child's log has no totals yet, and its parent's blocks are not its own. */
void vt_torch_forked(void) {
    memset(known, 0, sizeof known);
}
