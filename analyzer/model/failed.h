/* SPDX-License-Identifier: MIT */
/*
 * Allocations that failed: for lack of memory, and with other errors. failed.c has the words for the others.
 * model.h includes it.
 */
#ifndef VRAMTRACE_ANALYZER_FAILED_H
#define VRAMTRACE_ANALYZER_FAILED_H

/* PyTorch's segments at a failed request, by the rules of its allocator. */
struct vt_oom_cache {
    bool known;          /* the request's size, and all blocks: the three below */
    uint64_t need_bytes; /* what the same live blocks without holes, and the request, would take */
    uint64_t reserved_bytes;                       /* what the segments take */
    uint64_t usable_bytes, largest_usable_bytes;   /* idle, where this request may use it */
    uint64_t other_pool_bytes, other_stream_bytes; /* idle, where it may not */
    uint64_t releasable_bytes;                     /* idle in whole segments; always known */
};

/* An allocation that failed for lack of memory. A framework that releases its cache and tries again
 * makes one request with several refusals; the figures are of the last. */
struct vt_oom {
    uint64_t at;
    unsigned device;
    unsigned layer;
    enum vt_oom_outcome outcome;
    const char *api;
    uint64_t requested_bytes; /* from the framework, if it reported the request */
    /* the segment that was to hold it; VT_UNKNOWN: the driver was not asked */
    uint64_t driver_requested_bytes;
    uint32_t attempts; /* refusals by the driver */
    uint32_t thread;
    uint64_t free_bytes, total_bytes; /* of the device at that moment */
    uint64_t free_said_at;  /* when the driver reported it (allocations since are subtracted);
                              VT_UNKNOWN: no report near enough, so free is total - tracked */
    uint64_t others_bytes;  /* used by other processes, an estimate; VT_UNKNOWN */
    bool others_said;       /* from NVML: no estimate */
    const char *allocator;  /* who requested it: "PyTorch"; NULL: the program */
    uint64_t tracked_bytes; /* driver layer, this process */
    uint64_t cached_bytes, largest_free_bytes;
    struct vt_oom_cache cache;
    uint64_t leaked_bytes; /* held by sites that grow or are lost */
    uint32_t leak_count;   /* the leaks that they belong to */
    enum vt_oom_cause cause;
    char *why, *advice;
    char *setting; /* of PyTorch's allocator, under which the run would have passed; NULL: none */
    uint32_t holders[8]; /* as vt_leak.sites; VT_NO_SITE: filtered out */
    uint64_t holder_bytes[8];
    uint32_t holder_count;
    bool expandable;        /* the allocator uses expandable segments */
    bool unasked;           /* the framework refused it without asking the driver */
    uint64_t refused_bytes; /* by the driver, which said that it had them; VT_UNKNOWN: it did not */
    bool but_fits; /* VT_CAUSE_CAPACITY though only holes were in the way: leaks hold more */
    struct vt_pin pins[VT_PINS]; /* the most pinned first */
    uint32_t pin_count;
    uint32_t number; /* in the replay */
    const struct vt_stack *stack;
};

/* Allocations that failed with one other error at one place. */
struct vt_failed {
    int result; /* a CUresult or a cudaError_t: those that failed.c names are the same */
    const char *api;
    uint64_t at, count; /* the first; how many */
    const struct vt_stack *stack;
};

/* "no CUDA device". */
const char *vt_failed_name(int result);

/* "1 allocation failed: no CUDA device (100) at train.py:6 in main"; a file's name is shortened to fit. Free it. */
char *vt_failed_text(const struct vt_process *p, const struct vt_failed *failed, unsigned width);

/* What usually causes it. NULL: its name says it. Free it. */
char *vt_failed_causes(const struct vt_process *p, const struct vt_failed *failed);

#endif
