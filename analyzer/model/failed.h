/* SPDX-License-Identifier: MIT */
/*
 * Allocations that failed for lack of memory or with other errors. failed.c has the texts of the other errors. model.h
 * includes this file.
 */
#ifndef VRAMTRACE_ANALYZER_FAILED_H
#define VRAMTRACE_ANALYZER_FAILED_H

/* PyTorch's segments at a failed request, according to its allocator's rules. */
struct vt_oom_cache {
    bool known; /* the request's size and all blocks are known: the three below are valid */
    uint64_t need_bytes;     /* for the request and the live blocks if packed without holes */
    uint64_t reserved_bytes; /* in segments */
    uint64_t usable_bytes, largest_usable_bytes;   /* idle and usable by this request */
    uint64_t other_pool_bytes, other_stream_bytes; /* idle but not usable by it */
    uint64_t releasable_bytes;                     /* in wholly idle segments; always known */
};

/* An allocation that failed for lack of memory. A framework that releases its cache and tries again makes one request
 * with several refusals; the figures are from the last refusal. */
struct vt_oom {
    uint64_t at;
    unsigned device;
    unsigned layer;
    enum vt_oom_outcome outcome;
    const char *api;
    uint64_t requested_bytes; /* as reported by the framework, if it was */
    /* the segment requested for it; VT_UNKNOWN: the driver was not asked */
    uint64_t driver_requested_bytes;
    uint32_t attempts; /* refusals by the driver */
    uint32_t thread;
    uint64_t free_bytes, total_bytes; /* of the device at `at` */
    /* when the driver reported free_bytes (later allocations are subtracted); VT_UNKNOWN: no report was close enough,
     * so it is total_bytes - tracked_bytes */
    uint64_t free_reported_at;
    uint64_t others_bytes;  /* used by other processes, an estimate; VT_UNKNOWN */
    bool others_measured;   /* from NVML, not an estimate */
    const char *allocator;  /* the requesting allocator: "PyTorch"; NULL: the program */
    uint64_t tracked_bytes; /* driver layer, this process */
    uint64_t cached_bytes, largest_free_bytes;
    struct vt_oom_cache cache;
    uint64_t leaked_bytes; /* held by growing and lost sites */
    uint32_t leak_count;   /* the number of their leaks */
    /* held by exceptions that were being handled, at its snapshot; 0: none, or there was no snapshot */
    uint64_t exception_bytes;
    enum vt_oom_cause cause;
    char *why, *advice;
    /* a PyTorch allocator setting with which the run would have passed; NULL: none */
    char *setting;
    uint32_t holders[8]; /* as vt_leak.sites; VT_NO_SITE: filtered out */
    uint64_t holder_bytes[8];
    uint32_t holder_count;
    bool expandable; /* the allocator uses expandable segments */
    bool unasked;    /* the framework refused it without a driver call */
    /* the driver refused so many although it reported them free; VT_UNKNOWN: it did not */
    uint64_t refused_bytes;
    bool but_fits; /* only holes prevented it, but leaks hold more, so VT_CAUSE_CAPACITY */
    struct vt_pin pins[VT_PINS]; /* the most pinned first */
    uint32_t pin_count;
    uint32_t number; /* in the replay */
    const struct vt_stack *stack;
};

/* Allocations that failed at one place with the same error. */
struct vt_failed {
    int result; /* a CUresult or a cudaError_t: the codes named in failed.c are equal in both */
    const char *api;
    uint64_t at, count; /* the first one; their number */
    const struct vt_stack *stack;
};

/* "no CUDA device". */
const char *vt_failed_name(int result);

/* "1 allocation failed: no CUDA device (100) at train.py:6 in main"; a file name is shortened to fit. Free it. */
char *vt_failed_text(const struct vt_process *p, const struct vt_failed *failed, unsigned width);

/* The usual causes of the error. NULL: the name says it. Free it. */
char *vt_failed_causes(const struct vt_process *p, const struct vt_failed *failed);

#endif
