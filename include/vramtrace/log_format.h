/* SPDX-License-Identifier: MIT */
/*
 * The log format: every byte that libvramtrace.so writes and vramtrace reads.
 *
 * There is one file per process, made of 64 KiB chunks. Chunk 0 is the file header; a few chunks contain the slots in which
 * threads announce their next records. Every other chunk belongs to one thread at a time, and only that thread writes into
 * it. A record is published by one release store of its first word. So a reader that stops at a chunk's first zero word
 * gets exactly the complete records, at any time, even after SIGKILL.
 *
 * The byte order is the machine's (little-endian on every machine that has a CUDA driver); a reader that finds the magic
 * reversed reports that. Offsets and sizes are in bytes; everything is 8-byte aligned.
 *
 * The contents of this file and records.def never change: every later release reads version 1 (tests/logs/1, and
 * tests/cases/115-frozen-logs). New information gets a record type from 0x80, which older readers skip by its length,
 * or bytes that are zero here. A change that older readers would misread (a new event or kind of memory) raises
 * VT_LOG_VERSION, so that they refuse the log; version 1 stays readable, and one folder may hold logs of both versions.
 */
#ifndef VRAMTRACE_LOG_FORMAT_H
#define VRAMTRACE_LOG_FORMAT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VT_LOG_MAGIC       "vramlog\n"
#define VT_LOG_DEVELOPMENT "vramtrc\x01" /* magic of versions 1 to 13 before the first release */
#define VT_LOG_VERSION     1u
#define VT_CHUNK_BYTES     65536u
#define VT_CHUNK_MAGIC     0x4b435456u /* "VTCK" */
#define VT_SLOTS_MAGIC     0x4c535456u /* "VTSL" */

/* First line of a run's list of logs. A file without it is never written to. */
#define VT_RUN_LIST_MARK "# logs of a vramtrace run\n"

enum vt_log_clock {
    VT_CLOCK_MONOTONIC = 1, /* ticks are ns of CLOCK_MONOTONIC */
    /* Ticks of an invariant time stamp counter; the calibration pairs give its rate. */
    VT_CLOCK_TSC = 2
};

enum vt_exit {
    VT_EXIT_NONE = 0,     /* still running, or ended unnoticed */
    VT_EXIT_EXITED = 1,   /* exit, _exit, quick_exit, return from main; or see VT_FLAG_BARE_END */
    VT_EXIT_EXEC = 2,     /* replaced itself by exec */
    VT_EXIT_SIGNALED = 3, /* written by `vramtrace run`, which saw it die */
};

/* Why an event is missing. Shown in every report. */
enum vt_drop {
    VT_DROP_LOG_FULL = 0,  /* no disk space, file size limit, mapping refused */
    VT_DROP_NESTED = 1,    /* a signal handler allocated while its thread was recording */
    VT_DROP_NO_MEMORY = 2, /* no memory for the tracer's own tables */
    VT_DROP_LOG_LOST = 3,  /* our descriptor is gone, and the file cannot be opened again */
    VT_DROP_STACKS = 4,    /* not events: stacks and names without a number or space */
    VT_DROP_LIVE = 5,      /* not events: allocations that did not fit into the live table */
    VT_DROP_UNKNOWN = 6,   /* not events: CUDA calls whose real function was not found */
    VT_DROP_BOUND = 7,     /* the log has reached its limit (VRAMTRACE_MAX_LOG) */
    VT_DROP_REASONS = 8
};

static inline bool vt_drop_is_event(unsigned reason) {
    return reason <= VT_DROP_LOG_LOST || reason == VT_DROP_BOUND;
}

enum vt_log_flag {
    VT_FLAG_SIMULATED = 1,    /* the driver is vramtrace's simulated GPU */
    VT_FLAG_BUFFERED = 2,     /* not mapped: written in blocks; a kill can lose the last second */
    VT_FLAG_NO_UNWINDER = 4,  /* libunwind could not be opened: no native stacks */
    VT_FLAG_COMMAND_CUT = 8,  /* the command line did not fit */
    VT_FLAG_TEARDOWN = 16,    /* the runtime destroyed its contexts inside exit */
    VT_FLAG_SHADOW_GAP = 32,  /* AddressSanitizer protects the addresses that CUDA needs */
    VT_FLAG_LIVE_LISTED = 64, /* the live list is present */
    VT_FLAG_BARE_END = 128    /* exited by a bare system call; `vramtrace run` added the status */
};

#include "log_chunk.h"

/* Chunk 0. */
struct vt_log_header {
#define VT_HEADER(offset, type, name, elements) type name elements;
#include "vramtrace/log_header.def"
};
#define VT_HEADER(offset, type, name, elements)                                                    \
    static_assert(offsetof(struct vt_log_header, name) == offset, "byte table");
#include "vramtrace/log_header.def"
#define VT_PROGRAM_RUNS UINT64_MAX

/* How many events were not recorded, for any reason. */
static inline uint64_t vt_dropped_events(const struct vt_log_header *header) {
    uint64_t count = 0;
    for (unsigned reason = 0; reason < VT_DROP_REASONS; reason++)
        count += vt_drop_is_event(reason) ? header->dropped[reason] : 0;
    return count;
}

/* An entry of the live list.
 * OFFSET SIZE DESCRIPTION
 *      0    8 as the first word of its ALLOC record, but the type byte is the device
 *      8    8 address
 *     16    8 size and context, as in its ALLOC record
 */
struct vt_log_live {
    uint64_t word, address, size_context;
};
static_assert(sizeof(struct vt_log_live) == 24, "byte table");
#define VT_LIVE_LISTED_MOST                                                                        \
    ((VT_CHUNK_BYTES - sizeof(struct vt_log_header)) / sizeof(struct vt_log_live))
static_assert(sizeof(struct vt_log_header) == 4096, "the header is one page");

/* A chunk of the live list, for entries that do not fit behind the header.
 * OFFSET SIZE DESCRIPTION
 *      0    8 zero: a chunk without records
 *      8    8 number of this chunk in the file
 *     16    8 number of the previous chunk of the list; 0: none
 *     24   40 zero
 *     64      entries
 */
#define VT_LIVE_IN_CHUNK ((VT_CHUNK_BYTES - 64) / sizeof(struct vt_log_live))
struct vt_log_live_chunk {
    uint64_t none, number, before, zero[5];
    struct vt_log_live entries[VT_LIVE_IN_CHUNK];
};

/* A chunk of slots. Each thread that records has a slot, whichever chunk it writes to.
 * OFFSET SIZE DESCRIPTION
 *      0    4 magic, VT_SLOTS_MAGIC
 *      4    4 slots handed out (atomic; may exceed the number of slots)
 *      8    8 number of this chunk in the file
 *     16    8 number of the previous chunk of slots; 0: none
 *     24   40 zero
 *     64      slots, each a cache line, so that threads do not wait for each other:
 *      0    8 entered_at: ticks since start, set before the thread stamps an event and cleared (0) after the event is
 *             published (atomic). No later record can be older than the smallest entered_at of all slots.
 *      8    4 tid of the thread that last took a chunk (atomic); VT_SLOT_OF_SNAPSHOT: no thread; entered_at is the time
 *             of a snapshot whose records are not complete yet.
 *     12   52 zero
 */
struct vt_log_slot {
    uint64_t entered_at;
    uint32_t tid;
    uint32_t zero[13];
};
static_assert(sizeof(struct vt_log_slot) == 64, "one cache line");
#define VT_SLOTS (VT_CHUNK_BYTES / sizeof(struct vt_log_slot) - 1)
struct vt_log_slots {
    uint32_t magic;
    uint32_t taken;
    uint64_t number;
    uint64_t before;
    uint64_t zero[5];
    struct vt_log_slot slot[VT_SLOTS];
};
static_assert(sizeof(struct vt_log_slots) == VT_CHUNK_BYTES, "one chunk");
#define VT_SLOT_OF_SNAPSHOT UINT32_MAX
/* The position of the n-th slot handed out, from 0. 16 consecutive threads get slots in different pages, because
 * processors fetch neighbouring lines together. */
static inline uint32_t vt_log_slot_place(uint32_t n) {
    return (n + 1) % 16 * 64 + (n + 1) / 16 - 1;
}

/* Records. The first word of every record:
 * OFFSET SIZE DESCRIPTION
 *      0    1 type: enum vt_record, a row of records.def (0: nothing written from here on yet)
 *      1    1 kind: enum vt_kind, or 0
 *      2    2 hook: the function's id in hooks.def; inside a runtime call (cudaMalloc), the runtime's
 *      4    4 types below 0x80: the stack's number, 0 = unknown; the type determines the length
 *             types from 0x80:  the record's length in bytes, a multiple of 8
 * Types 0x40 to 0x5f are short forms, whose only whole byte is the type: log_short.h.
 * The second word of every other type below 0x80: `when` = device << 56 | ticks since start (56 bits: 277
 * days at 3 GHz). Device VT_DEVICE_UNKNOWN: in no context that we saw created; VT_DEVICE_HOST: host memory.
 */
enum vt_record {
    VT_REC_NONE = 0x00,
#define VT_EVENT(number, NAME, name, bytes, kind, fields) VT_REC_##NAME = number,
#define VT_ENTRY(number, NAME, name, bytes, fields)       VT_REC_##NAME = number,
#include "vramtrace/records.def"
};

/* The kind of memory. It determines whether a context's end frees it (vt_kind_owner), which totals it counts in
 * (vt_kind_layer), and its address space (vt_kind_space). Append, never reuse. */
enum vt_kind {
    VT_KIND_NONE = 0,
    VT_KIND_DEVICE = 1,        /* cuMemAlloc, cuMemAllocPitch */
    VT_KIND_MANAGED = 2,       /* cuMemAllocManaged */
    VT_KIND_POOL = 3,          /* cuMemAllocAsync, cuMemAllocFromPoolAsync: from a device pool */
    VT_KIND_HOST = 4,          /* cuMemAllocHost, cuMemHostAlloc */
    VT_KIND_PHYSICAL = 5,      /* cuMemCreate on a device */
    VT_KIND_PHYSICAL_HOST = 6, /* cuMemCreate on the host */
    VT_KIND_ARRAY = 7,         /* cuArrayCreate, cuArray3DCreate */
    VT_KIND_MIPMAP = 8,        /* cuMipmappedArrayCreate */
    VT_KIND_POOL_MANAGED = 9,  /* stream-ordered, from a pool of managed memory */
    VT_KIND_POOL_HOST = 10,    /* stream-ordered, from a pool of host memory */
    VT_KIND_GRAPH = 11,        /* from an allocation node of a launched graph */
    VT_KIND_REGISTERED = 12,   /* cuMemHostRegister: the program's own memory, pinned */
    VT_KIND_BLOCK = 16, /* a caching allocator's block inside driver memory (framework layer) */
};

/* Layers are never added up. Managed memory is a layer beside the driver's: it may be on any device
 * or on the host, so it belongs to no device's total. */
enum vt_layer {
    VT_LAYER_DRIVER = 0,
    VT_LAYER_FRAMEWORK = 1,
    VT_LAYER_HOST = 2,
    VT_LAYER_MANAGED = 3
};
enum vt_owner { VT_OWNER_NONE = 0, VT_OWNER_CONTEXT = 1 };

/* An address space: two live allocations in the same space never have the same address. */
enum vt_space {
    VT_SPACE_DEVICE = 0,     /* device address, freed by cuMemFree and cuMemFreeAsync */
    VT_SPACE_HOST = 1,       /* host address, freed by cuMemFreeHost */
    VT_SPACE_BLOCK = 2,      /* a framework block's device address */
    VT_SPACE_OBJECT = 3,     /* not an address: an array's handle, or the tracer's own number */
    VT_SPACE_REGISTERED = 4, /* host address, ended by cuMemHostUnregister */
    VT_SPACES = 5
};

/* The layer that a kind counts in. */
static inline enum vt_layer vt_kind_layer(unsigned kind) {
    switch (kind) {
    case VT_KIND_HOST:
    case VT_KIND_POOL_HOST:
    case VT_KIND_PHYSICAL_HOST:
    case VT_KIND_REGISTERED:
        return VT_LAYER_HOST;
    case VT_KIND_MANAGED:
    case VT_KIND_POOL_MANAGED:
        return VT_LAYER_MANAGED;
    case VT_KIND_BLOCK:
        return VT_LAYER_FRAMEWORK;
    default:
        return VT_LAYER_DRIVER;
    }
}

/* The space of a kind's addresses. The tracer's and the analyzer's tables use it as a key: a free has an address and a
 * space, but not always the kind. */
static inline enum vt_space vt_kind_space(unsigned kind) {
    switch (kind) {
    case VT_KIND_HOST:
        return VT_SPACE_HOST;
    case VT_KIND_BLOCK:
        return VT_SPACE_BLOCK;
    case VT_KIND_PHYSICAL:
    case VT_KIND_PHYSICAL_HOST:
    case VT_KIND_ARRAY:
    case VT_KIND_MIPMAP:
        return VT_SPACE_OBJECT;
    case VT_KIND_REGISTERED:
        return VT_SPACE_REGISTERED;
    default:
        return VT_SPACE_DEVICE;
    }
}

/* Whether a successful call returned no memory, as cudaMalloc(&p, 0) does; such a call is not counted. An array counts
 * as memory even if its size is unknown. */
static inline bool vt_is_no_memory(uint64_t address, uint64_t size, unsigned kind) {
    return address == 0 || (size == 0 && vt_kind_space(kind) != VT_SPACE_OBJECT);
}

/* Whether a kind is freed when its context ends. Source: cuda.h 13.0, cuCtxDestroy: it frees memory from cuMemAlloc,
 * cuMemAllocHost, cuMemAllocManaged, cuMemAllocPitch and the array functions; not from cuMemCreate, and no
 * stream-ordered or graph memory. A registration ends with the context that made it. */
static inline enum vt_owner vt_kind_owner(unsigned kind) {
    switch (kind) {
    case VT_KIND_DEVICE:
    case VT_KIND_MANAGED:
    case VT_KIND_HOST:
    case VT_KIND_ARRAY:
    case VT_KIND_MIPMAP:
    case VT_KIND_REGISTERED:
        return VT_OWNER_CONTEXT;
    default:
        return VT_OWNER_NONE;
    }
}

#define VT_DEVICE_UNKNOWN  255u
#define VT_DEVICE_HOST     254u
#define VT_TICKS_MASK      0x00ffffffffffffffull
#define VT_SIZE_MASK       0x0000ffffffffffffull
#define VT_CONTEXT_UNKNOWN 0xffffu

static inline uint64_t vt_when(unsigned device, uint64_t ticks) {
    return (uint64_t)(device & 0xff) << 56 | (ticks & VT_TICKS_MASK);
}
static inline unsigned vt_when_device(uint64_t when) {
    return (unsigned)(when >> 56);
}
static inline uint64_t vt_when_ticks(uint64_t when) {
    return when & VT_TICKS_MASK;
}

/* A record's first word. */
static inline uint64_t vt_word(unsigned type, unsigned kind, unsigned hook, uint32_t high) {
    return (uint64_t)high << 32 | (uint64_t)(hook & 0xffff) << 16 | (uint64_t)(kind & 0xff) << 8 |
           (type & 0xff);
}
static inline unsigned vt_word_type(uint64_t w) {
    return (unsigned)(w & 0xff);
}
static inline unsigned vt_word_kind(uint64_t w) {
    return (unsigned)(w >> 8 & 0xff);
}
static inline unsigned vt_word_hook(uint64_t w) {
    return (unsigned)(w >> 16 & 0xffff);
}
static inline uint32_t vt_word_high(uint64_t w) {
    return (uint32_t)(w >> 32);
}

/* Who refused an allocation: the driver (0), or the tracer before the call. */
enum vt_fail_flag {
    VT_FAIL_LIMIT = 1,    /* it would have exceeded VRAMTRACE_LIMIT */
    VT_FAIL_INJECTED = 2, /* VRAMTRACE_INJECT selected it */
};

/* A POOLINFO record's figure. */
enum vt_pool_figure {
    VT_POOL_RESERVED = 1, /* bytes that the pool now holds from the device */
    VT_POOL_RESERVED_HIGH = 2,
    VT_POOL_USED = 3, /* bytes that it has handed out */
    VT_POOL_USED_HIGH = 4
};

enum vt_object {
    VT_OBJECT_CONTEXT = 1,
    VT_OBJECT_MODULE = 2,
    VT_OBJECT_GRAPH = 3,
    VT_OBJECT_GRAPHICS = 4,
    VT_OBJECT_EXTERNAL = 5,
    VT_OBJECT_LIMIT = 6, /* not an object: cuCtxSetLimit; handle = limit << 56 | value */
    /* Not an object: `handle` is the number of graphs launched so far, written when memory is allocated and when the
     * process ends. The flag is VT_OBJECT_MAPPED. */
    VT_OBJECT_LAUNCHES = 7
};
enum vt_object_flag {
    VT_OBJECT_DESTROYED = 1,
    VT_OBJECT_PRIMARY = 2,
    VT_OBJECT_MAPPED = 4,  /* mapped, neither made nor destroyed */
    VT_OBJECT_UNMAPPED = 8 /* unmapped, likewise */
};

enum vt_phase_event {
    VT_PHASE_PUSH = 1,  /* begins a nested phase of this thread */
    VT_PHASE_POP = 2,   /* ends it */
    VT_PHASE_START = 3, /* begins a phase of the process, which may end on another thread */
    VT_PHASE_END = 4,   /* ends it */
    VT_PHASE_MARK = 5,  /* a named moment */
};

enum vt_stack_flag {
    VT_STACK_CUT = 1, /* deeper than VRAMTRACE_DEPTH: the outermost frames are missing */
    /* Python frames come first: their positions among the native ones are unknown */
    VT_STACK_UNORDERED = 2,
    VT_STACK_PYTHON_CUT = 4 /* there were too many Python frames to keep */
};

/* The kind in the first word of a MODULE record. */
enum vt_module_flag {
    VT_MODULE_OTHER = 1 /* named like a library of libraries.def, but without its exports */
};

enum vt_device_flag { VT_DEVICE_HAS_UUID = 1 };
enum vt_gpu_flag { VT_GPU_HAS_UUID = 1 };

/* A step of a path to an allocation. Name and type are text. The type is the class of the object that the step leads
 * to: a C++ class, or a Python class, with its module unless that is builtins (`collections.deque`). Append, never
 * reuse. */
enum vt_step {
    VT_STEP_NONE = 0,
    /* roots */
    VT_STEP_MODULE = 1,    /* a Python module: its __name__; the type is its __file__ */
    VT_STEP_FRAME = 2,     /* a Python frame: the function's qualified name; the type is its file */
    VT_STEP_EXCEPTION = 3, /* an exception in flight, or kept by the interpreter: its class */
    VT_STEP_GLOBAL = 4,    /* a C or C++ variable: its address */
    VT_STEP_THREAD_LOCAL = 5, /* likewise */
    VT_STEP_NATIVE_STACK = 6, /* a native frame: its return address */
    VT_STEP_INTERPRETER = 7,  /* a part of the interpreter itself, by name */
    VT_STEP_CYCLE = 8,        /* objects that only refer to each other: the class of one */
    /* 9, 10: not used; a path that begins with one has no owner */
    /* the others */
    VT_STEP_NAME = 16,      /* a module's global, a frame's local variable */
    VT_STEP_KEY = 17,       /* of a dict: text as Python shows it ('text'), a number, or empty */
    VT_STEP_INDEX = 18,     /* decimal, in a list, tuple or deque */
    VT_STEP_ITEM = 19,      /* of a set or another unordered container; no name */
    VT_STEP_ATTRIBUTE = 20, /* of an object or a class */
    VT_STEP_CLOSURE = 21,   /* of a function: the free variable's name */
    VT_STEP_DEFAULT = 22,   /* of a function: the argument's name */
    VT_STEP_CLASS = 23,     /* a C++ object, or an object of an extension; no name */
};
enum vt_step_flag {
    VT_STEP_MANY = 1,    /* stands for several indices or keys, and has no name: "[*]" */
    VT_STEP_REPEATS = 2, /* the path goes through such a step more than once in a row */
    /* a root: reached by a shared_ptr or a weak_ptr; only a shared_ptr is an owner */
    VT_STEP_IN_DOUBT = 4
};

/* A CLASS step's `address`. It describes a graph whose nodes are folded into few steps: the longest row of consecutive
 * objects of this step, and the number of CLASS objects on the longest path through it. */
static inline uint64_t vt_step_chain(uint32_t row, uint32_t length) {
    return (uint64_t)length << 32 | row;
}
static inline uint32_t vt_step_row(uint64_t chain) {
    return (uint32_t)chain;
}
static inline uint32_t vt_step_length(uint64_t chain) {
    return (uint32_t)(chain >> 32);
}

/* The `address` of any other step whose objects are all bounded containers: entries and capacity. */
static inline uint64_t vt_step_limit(uint32_t entries, uint32_t capacity) {
    return (uint64_t)capacity << 32 | entries;
}
static inline uint32_t vt_step_entries(uint64_t limit) {
    return (uint32_t)limit;
}
static inline uint32_t vt_step_capacity(uint64_t limit) {
    return (uint32_t)(limit >> 32);
}

/* A byte of memory in an AROUND record: its value up to 13, 14 for 255, and 15 for all others. That is enough for
 * flags, indices and NULL pointers, and keeps the program's texts and numbers out of the log. */
enum { VT_AROUND_ONES = 14, VT_AROUND_OTHER = 15 };
static inline uint8_t vt_around_half(uint8_t byte) {
    return byte < VT_AROUND_ONES ? byte : byte == 255 ? VT_AROUND_ONES : VT_AROUND_OTHER;
}

/* The roles of memory, by its owners: a bit for each role found on any path to it. */
enum vt_role {
    VT_ROLE_PARAMETER = 1, /* in a PyTorch Module's `_parameters` */
    VT_ROLE_GRADIENT = 2,  /* of a tensor: AutogradMeta::grad_ */
    VT_ROLE_OPTIMIZER = 4, /* below an Optimizer's `state` */
    VT_ROLE_SAVED = 8,     /* saved by a node of an autograd graph for the backward pass */
    VT_ROLE_BUFFER = 16,   /* in a Module's `_buffers` */
    VT_ROLE_LOCAL = 32,    /* a local variable of a frame of the user's code */
};

enum vt_snapshot_why {
    VT_SNAPSHOT_END = 1,
    VT_SNAPSHOT_OOM = 2,
    VT_SNAPSHOT_REQUEST = 3,
    VT_SNAPSHOT_PHASE = 4,
    VT_SNAPSHOT_GROWTH = 5, /* memory grew */
    /* objects that remained after the first of exit's handlers, for verdicts */
    VT_SNAPSHOT_EXITED = 6
};
/* Why a snapshot was not taken: too little memory for a copy (estimated); the copy ended itself or was killed when
 * memory ran out; the memory cannot be copied; the available memory is unknown; a copy would be in another
 * namespace. */
enum vt_missed {
    VT_MISSED_NO_ROOM = 1,
    VT_MISSED_LEFT,
    VT_MISSED_REFUSED,
    VT_MISSED_UNSEEN,
    VT_MISSED_NAMESPACE
};
enum vt_snapshot_flag {
    VT_SNAPSHOT_PARTIAL = 1,  /* a limit was reached, or something could not be read */
    VT_SNAPSHOT_IN_PLACE = 2, /* read from changing memory, not from a copy; always partial */
};

/* An entry of OWNED. */
#define VT_OWNED_OTHERS 3u
struct vt_owned {
    uint64_t allocation; /* as in LOST: vt_lost_entry */
    uint32_t step;       /* the path's last step */
    uint16_t roles;      /* enum vt_role; the same in all entries of one allocation */
    uint16_t holders;    /* owners seen on any path, at least 1; 65535: that many or more */
};                       /* step 0: see records.def; `roles` is the upper half of the size */
static_assert(sizeof(struct vt_owned) == 16, "byte table");

#define VT_SAMPLE_UNKNOWN UINT64_MAX
#define VT_NAME_MAX_BYTES 200u
#define VT_ENV_MAX_BYTES  1000u

/* Frame words, innermost first. A native frame is a return address: look up address - 1. */
#define VT_FRAME_PYTHON (1ull << 63) /* bits 0-31 line, bits 32-61 number of the CODE record */
#define VT_FRAME_INTERPRETER                                                                       \
    (1ull << 62) /* native, inside the Python interpreter: only shown with --native */
static inline uint64_t vt_frame_python(uint32_t code, uint32_t line) {
    return VT_FRAME_PYTHON | (uint64_t)(code & 0x3fffffff) << 32 | line;
}
/* Only as the last word: another thread waited for this one's work, and its stack continues this one. Bits 0-31: that
 * stack's number. */
#define VT_FRAME_CALLER (VT_FRAME_PYTHON | VT_FRAME_INTERPRETER)
static inline uint64_t vt_frame_caller(uint32_t stack) {
    return VT_FRAME_CALLER | stack;
}
static inline bool vt_frame_is_caller(uint64_t word) {
    return (word & VT_FRAME_CALLER) == VT_FRAME_CALLER;
}

#include "log_nvml.h"
#include "log_scan.h"
#include "log_short.h"

/* A caching allocator's blocks are ALLOC and FREE records of kind VT_KIND_BLOCK. Their device is reported by the
 * framework, by some versions wrongly; the driver allocation that contains the address is more reliable. A block
 * allocated at a live block's address replaces that block: a FREE of the old one precedes the ALLOC in the same chunk.
 * Old versions identify a block by a host address of their own. Such a block lies in no driver allocation, but still
 * counts as a block. */

/* The records' structs, struct vt_rec_alloc and so on; records.def is their byte table. */
#define VT_EVENT(number, NAME, name, bytes, kind, fields)                                          \
    struct vt_rec_##name {                                                                         \
        uint64_t word, when;                                                                       \
        fields                                                                                     \
    };                                                                                             \
    static_assert(sizeof(struct vt_rec_##name) == bytes, "byte table");
#define VT_ENTRY(number, NAME, name, bytes, fields)                                                \
    struct vt_rec_##name {                                                                         \
        uint64_t word;                                                                             \
        fields                                                                                     \
    };                                                                                             \
    static_assert(sizeof(struct vt_rec_##name) == bytes, "byte table");
#define VT_FIELD(offset, type, name, show)             type name;
#define VT_ARRAY(offset, type, name, elements, show)   type name[elements];
#define VT_COUNT(offset, type, name, each, part, show) type name;
#include "vramtrace/records.def"

/* Makes the compiler check that each field has the offset in its row; generates no code. */
#define VT_EVENT(number, NAME, name, bytes, kind, fields)                                          \
    VT_ENTRY(number, NAME, name, bytes, fields)
#define VT_ENTRY(number, NAME, name, bytes, fields)                                                \
    static inline void vt_rec_##name##_offsets(void) {                                             \
        typedef struct vt_rec_##name record;                                                       \
        fields                                                                                     \
    }
#define VT_FIELD(offset, type, name, show)                                                         \
    static_assert(offsetof(record, name) == offset, "byte table");
#define VT_ARRAY(offset, type, name, elements, show)   VT_FIELD(offset, type, name, show)
#define VT_COUNT(offset, type, name, each, part, show) VT_FIELD(offset, type, name, show)
#include "vramtrace/records.def"

/* The largest record: the space that a writer keeps free, and a reader's limit. */
#define VT_RECORD_MAX_BYTES 8192u

/* The size of a record's fixed part, which is the whole record below type 0x80; 0: an
 * unknown type. */
static inline uint32_t vt_record_bytes(unsigned type) {
    switch (type) {
#define VT_EVENT(number, NAME, name, bytes, kind, fields)                                          \
    case number:                                                                                   \
        return bytes;
#define VT_ENTRY(number, NAME, name, bytes, fields)                                                \
    case number:                                                                                   \
        return bytes;
#include "vramtrace/records.def"
    default:
        return (type & 0xf0) == VT_REC_SHORT_FREE    ? 8
               : (type & 0xf0) == VT_REC_SHORT_ALLOC ? 16
                                                     : 0;
    }
}

/* The length of the record that starts with this word; 0: an unknown type below 0x80. */
static inline uint32_t vt_record_length(uint64_t word) {
    unsigned type = vt_word_type(word);
    return type < 0x80 ? vt_record_bytes(type) : vt_word_high(word);
}

#endif
