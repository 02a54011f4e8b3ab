/* SPDX-License-Identifier: MIT */
/*
 * THE log: every byte that libvramtrace.so writes and vramtrace reads.
 *
 * One file per process. The file is a row of 64 KiB chunks. Chunk 0 is the file header; every other chunk belongs to one
 * thread at a time, which alone writes into it. A record is published by one release store of its first word, so a reader
 * that stops at the first zero word of a chunk has every whole record and nothing else, at any moment, also after SIGKILL.
 *
 * Byte order is the machine's (little-endian on every machine that has a CUDA driver); a reader that finds the magic
 * reversed says so. Offsets and sizes below are bytes. Everything is 8-byte aligned.
 *
 * Changing anything here: bump VT_LOG_VERSION, keep reading the old one, and put a log of it into tests/logs/.
 */
#ifndef VRAMTRACE_LOG_FORMAT_H
#define VRAMTRACE_LOG_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off: byte tables, which it would fold into prose */

#define VT_LOG_MAGIC       "vramtrc\x01"
#define VT_LOG_VERSION     1u /* written */
#define VT_LOG_VERSION_MIN 1u /* lowest that a reader of today reads */
#define VT_CHUNK_BYTES     65536u
#define VT_CHUNK_MAGIC     0x4b435456u /* "VTCK" */

/* ------------------------------------------------------------------------------------------- file header (chunk 0) --
 * OFFSET SIZE DESCRIPTION
 *      0    8 magic, VT_LOG_MAGIC
 *      8    4 version written
 *     12    4 lowest version a reader must understand to read this file
 *     16    4 size of this header, sizeof(struct vt_log_header)
 *     20    4 size of a chunk, VT_CHUNK_BYTES
 *     24    4 clock of the ticks: enum vt_log_clock
 *     28    4 pid
 *     32    8 start: ticks when the library was loaded (a forked child's: at its first
 *           event); record times count from here
 *     40    8 start: CLOCK_REALTIME, ns
 *     48    8 start: CLOCK_MONOTONIC, ns
 *     56    8 calibration: ticks at a second moment (0: none yet)          } atomic, each pair written by one thread
 *     64    8 calibration: CLOCK_MONOTONIC at that moment, ns              } under a try-lock; ticks last
 *     72    8 number of chunks handed out, header included (atomic; may run ahead of the file's size)
 *     80    8 events recorded (a hint, folded in at chunk changes and at the end; readers count for themselves)
 *     88   64 dropped events by reason: 8 atomic counters, enum vt_drop
 *    152    4 exit kind: enum vt_exit (atomic)
 *    156    4 exit status (exited: status; signaled: signal)
 *    160    8 exit: ticks since start
 *    168    4 rank in a distributed run, -1 unknown (updatable)
 *    172    4 flags: enum vt_log_flag (atomic or)
 *    176   40 run id, text, shared by all processes of one `vramtrace run`
 *    216   40 boot id, text
 *    256   64 host name, text
 *    320   24 version of the tracer, text
 *    344   40 job id (Slurm, torchrun, ...), text
 *    384    4 parent pid
 *    388    4 command: bytes used below
 *    392    8 process start time, clock ticks since boot (field 22 of /proc/PID/stat): with pid and boot id, one process
 *    400 1024 command line, arguments separated by NUL, cut at the end
 *   1424  512 executable path, NUL-terminated, cut at the end
 *   1936  512 working directory, likewise
 *   2448    8 number of chunks that have their place in the file, header included (atomic; a shorter file was cut)
 *   2456 1640 zero
 */
enum vt_log_clock {
    VT_CLOCK_MONOTONIC = 1, /* ticks are ns of CLOCK_MONOTONIC */
    VT_CLOCK_TSC =
        2, /* ticks of an invariant time stamp counter; the two calibration pairs give its rate */
};

enum vt_exit {
    VT_EXIT_NONE = 0,     /* still running, or died without a word */
    VT_EXIT_EXITED = 1,   /* exit, _exit, quick_exit, return from main */
    VT_EXIT_EXEC = 2,     /* replaced itself by exec */
    VT_EXIT_SIGNALED = 3, /* written from outside, by `vramtrace run`, which saw it die */
};

/* Why an event is missing. Shown in every report. */
enum vt_drop {
    VT_DROP_LOG_FULL = 0,  /* no space on the disk, file size limit, mapping refused */
    VT_DROP_NESTED = 1,    /* a signal handler allocated while its own thread was being recorded */
    VT_DROP_NO_MEMORY = 2, /* no memory for the tracer's own tables */
    VT_DROP_LOG_LOST =
        3, /* the program closed or replaced our file descriptor and the file is gone */
    VT_DROP_STACKS = 4,  /* not events: stacks that no number was left for */
    VT_DROP_LIVE = 5,    /* not events: allocations the live table had no room for */
    VT_DROP_UNKNOWN = 6, /* not events: CUDA calls seen with no real function behind them */
    VT_DROP_REASONS = 8
};

enum vt_log_flag {
    VT_FLAG_SIMULATED = 1,   /* the driver is vramtrace's simulated GPU */
    VT_FLAG_BUFFERED = 2,    /* not mapped: written in blocks; a kill can cost the last second */
    VT_FLAG_NO_UNWINDER = 4, /* libunwind could not be opened: no native stacks */
    VT_FLAG_COMMAND_CUT = 8, /* the command line did not fit */
    VT_FLAG_TEARDOWN = 16,   /* the runtime tore its contexts down from within exit */
    VT_FLAG_SHADOW_GAP = 32, /* AddressSanitizer protects the addresses that CUDA maps */
};

struct vt_log_header {
    char magic[8];
    uint32_t version;
    uint32_t version_min;
    uint32_t header_bytes;
    uint32_t chunk_bytes;
    uint32_t clock;
    uint32_t pid;
    uint64_t start_ticks;
    uint64_t start_realtime_ns;
    uint64_t start_monotonic_ns;
    uint64_t calibration_ticks;
    uint64_t calibration_monotonic_ns;
    uint64_t chunks;
    uint64_t events;
    uint64_t dropped[VT_DROP_REASONS];
    uint32_t exit_kind;
    int32_t exit_status;
    uint64_t exit_ticks;
    int32_t rank;
    uint32_t flags;
    char run_id[40];
    char boot_id[40];
    char host[64];
    char tracer[24];
    char job[40];
    uint32_t ppid;
    uint32_t command_bytes;
    uint64_t process_start;
    char command[1024];
    char exe[512];
    char cwd[512];
    uint64_t placed;
    char zero[1640];
};
static_assert(sizeof(struct vt_log_header) == 4096, "the header is one page");
static_assert(offsetof(struct vt_log_header, dropped) == 88, "byte table");
static_assert(offsetof(struct vt_log_header, exit_kind) == 152, "byte table");
static_assert(offsetof(struct vt_log_header, run_id) == 176, "byte table");
static_assert(offsetof(struct vt_log_header, command) == 400, "byte table");
static_assert(offsetof(struct vt_log_header, placed) == 2448, "byte table");

/* ------------------------------------------------------------------------------------------------- chunk header --
 * OFFSET SIZE DESCRIPTION
 *      0    4 magic, VT_CHUNK_MAGIC (0: the chunk was never taken: skip it)
 *      4    4 tid of the thread that writes here now (atomic; a dead one's chunk may be taken over)
 *      8    8 number of this chunk in the file
 *     16    8 entered_at: ticks since start, set before the thread stamps an event and cleared (0) after it is
 *             published (atomic). The smallest entered_at of all chunks bounds what may still appear: no record older
 *             than that will.
 *     24   40 zero
 *     64      records
 */
struct vt_chunk_header {
    uint32_t magic;
    uint32_t tid;
    uint64_t number;
    uint64_t entered_at;
    uint64_t zero[5];
};
static_assert(sizeof(struct vt_chunk_header) == 64, "one cache line");

/* ------------------------------------------------------------------------------------------------------ records --
 * First word of every record:
 * OFFSET SIZE DESCRIPTION
 *      0    1 type: enum vt_record (0: nothing here yet, the end of the chunk so far)
 *      1    1 kind: enum vt_kind, or 0
 *      2    2 hook: the API's permanent id in hooks.def; a runtime call's own id (cudaMalloc), not the driver's beneath
 *      4    4 types below 0x80: the stack's number, 0 = unknown; their length is fixed by the type
 *             types from 0x80:  the record's length in bytes, a multiple of 8
 * Second word of every type below 0x80: `when` = device << 56 | ticks since start (56 bits: 277 days at 3 GHz).
 * Device VT_DEVICE_UNKNOWN: no context that we saw made; VT_DEVICE_HOST: host memory.
 */
enum vt_record {
    VT_REC_NONE = 0x00,
    VT_REC_ALLOC = 0x01, /* struct vt_rec_alloc     an allocation that succeeded */
    VT_REC_FREE = 0x02, /* struct vt_rec_free      a free that succeeded, stamped before the call */
    VT_REC_FAIL = 0x03, /* struct vt_rec_fail      an allocation that the driver refused */
    VT_REC_FREE_FAIL =
        0x04, /* struct vt_rec_free_fail a free that the driver refused: nothing changed */
    VT_REC_BULK =
        0x05, /* struct vt_rec_bulk      a context's end: frees all its VT_OWNER_CONTEXT memory */
    VT_REC_MEMINFO = 0x06, /* struct vt_rec_meminfo   what cuMemGetInfo told the program */
    VT_REC_OBJECT =
        0x07, /* struct vt_rec_object    a context, module, graph, ... made or destroyed */
    VT_REC_POOLINFO =
        0x08, /* struct vt_rec_poolinfo  what the driver told the program about a pool */
    VT_REC_MAP =
        0x09, /* struct vt_rec_map       physical memory is seen at an address, or no more */
    VT_REC_SAMPLE = 0x0c, /* struct vt_rec_sample    what NVML said of a GPU, asked from outside */
    /* 0x20 to 0x2f: what frameworks and the program itself say */
    VT_REC_CACHEINFO =
        0x20, /* struct vt_rec_cacheinfo a caching allocator's own totals, overheard */
    VT_REC_CACHEOOM = 0x21, /* struct vt_rec_cacheoom  a framework's out-of-memory error */
    VT_REC_PHASE = 0x22,    /* struct vt_rec_phase     a phase begins or ends; a mark */
    VT_REC_STACK = 0x80,    /* struct vt_rec_stack     what a stack number stands for */
    VT_REC_MODULE = 0x81,   /* struct vt_rec_module    a file mapped into the process */
    VT_REC_CODE = 0x82,     /* struct vt_rec_code      a Python code object */
    VT_REC_THREAD = 0x83,   /* struct vt_rec_thread    whose records follow in this chunk */
    VT_REC_DEVICE =
        0x84, /* struct vt_rec_device    what the program asked about a device; later ones add */
    VT_REC_NOTE = 0x85, /* struct vt_rec_note      a sentence of the tracer's for the report */
    VT_REC_NAME = 0x88, /* struct vt_rec_name      what a phase's name number stands for */
    VT_REC_SCAN = 0x8c, /* struct vt_rec_scan      the search for pointers at the end was made */
    VT_REC_LOST = 0x8d, /* struct vt_rec_lost      ... and found none to these allocations */
    VT_REC_ENV = 0x8a,  /* struct vt_rec_env       a variable of the process's environment */
    VT_REC_GPU = 0x90,  /* struct vt_rec_gpu       a GPU of the machine, as NVML describes it */
};

/* What kind of memory. The kind decides what ends it (vt_kind_owner), whose books it is in
 * (vt_kind_layer), and what its address means (vt_kind_space). Append, never reuse. */
enum vt_kind {
    VT_KIND_NONE = 0,
    VT_KIND_DEVICE = 1,        /* cuMemAlloc, cuMemAllocPitch */
    VT_KIND_MANAGED = 2,       /* cuMemAllocManaged */
    VT_KIND_POOL = 3,          /* cuMemAllocAsync, cuMemAllocFromPoolAsync: a device pool's */
    VT_KIND_HOST = 4,          /* cuMemAllocHost, cuMemHostAlloc */
    VT_KIND_PHYSICAL = 5,      /* cuMemCreate on a device */
    VT_KIND_PHYSICAL_HOST = 6, /* cuMemCreate on the host */
    VT_KIND_ARRAY = 7,         /* cuArrayCreate, cuArray3DCreate */
    VT_KIND_MIPMAP = 8,        /* cuMipmappedArrayCreate */
    VT_KIND_POOL_MANAGED = 9,  /* stream-ordered, from a pool of managed memory */
    VT_KIND_POOL_HOST = 10,    /* stream-ordered, from a pool of host memory */
    VT_KIND_GRAPH = 11,        /* made by an allocation node of a graph that was launched */
    VT_KIND_REGISTERED = 12,   /* cuMemHostRegister: the program's own memory, pinned */
    VT_KIND_BLOCK = 16, /* a caching allocator's block inside driver memory: framework layer */
};

/* Layers are never added to each other. MANAGED stands beside DRIVER: it may be on any device, or
 * on the host, so no device's bytes. */
enum vt_layer {
    VT_LAYER_DRIVER = 0,
    VT_LAYER_FRAMEWORK = 1,
    VT_LAYER_HOST = 2,
    VT_LAYER_MANAGED = 3
};
enum vt_owner { VT_OWNER_NONE = 0, VT_OWNER_CONTEXT = 1 };

/* What an address is: two live allocations never have the same address in the same space. */
enum vt_space {
    VT_SPACE_DEVICE = 0,     /* a device address: all that cuMemFree and cuMemFreeAsync free */
    VT_SPACE_HOST = 1,       /* a host address: what cuMemFreeHost frees */
    VT_SPACE_BLOCK = 2,      /* a framework block's device address */
    VT_SPACE_OBJECT = 3,     /* no address: an array's handle, or the tracer's own number */
    VT_SPACE_REGISTERED = 4, /* a host address: what cuMemHostUnregister ends */
    VT_SPACES = 5
};

/* The layer whose books a kind is in. */
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

/* The space that a kind's addresses are in. The tracer's table and the analyzer's are keyed by it:
 * a free names an address and a space, and need not know the kind. */
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

/* Whether the end of its context frees a kind. Source: cuda.h 13.0, cuCtxDestroy: frees what
 * cuMemAlloc, cuMemAllocHost, cuMemAllocManaged, cuMemAllocPitch and the array functions made; not
 * cuMemCreate, not the stream-ordered allocator, not a graph's memory. A registration ends with the
 * context that made it. */
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

/* The first word. */
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

/* OFFSET SIZE DESCRIPTION (kind: which memory)
 *  0  8 first word: VT_REC_ALLOC
 *  8  8 when, stamped after the call
 * 16  8 address
 * 24  6 size in bytes, as the driver made it where it says so (pitch x height), else as asked
 * 30  2 context number (VT_CONTEXT_UNKNOWN: none seen) */
struct vt_rec_alloc {
    uint64_t word, when, address, size_context;
};
static_assert(sizeof(struct vt_rec_alloc) == 32, "byte table");

/*  0  8 first word: VT_REC_FREE; kind 0, or VT_KIND_HOST / VT_KIND_BLOCK: whose address space the address is in
 *  8  8 when, stamped before the call
 * 16  8 address; need not be one that was ever allocated */
struct vt_rec_free {
    uint64_t word, when, address;
};
static_assert(sizeof(struct vt_rec_free) == 24, "byte table");

/* Who refused an allocation: the driver (0), or we in its place, without asking it. */
enum vt_fail_flag {
    VT_FAIL_LIMIT = 1,    /* it would have gone past VRAMTRACE_LIMIT */
    VT_FAIL_INJECTED = 2, /* VRAMTRACE_INJECT chose it */
};

/*  0  8 first word: VT_REC_FAIL, kind as if it had succeeded
 *  8  8 when
 * 16  8 bytes asked for (pitched: width x height)
 * 24  4 result code as the driver or runtime gave it
 * 28  4 flags: enum vt_fail_flag */
struct vt_rec_fail {
    uint64_t word, when, size;
    int32_t result;
    uint32_t flags;
};
static_assert(sizeof(struct vt_rec_fail) == 32, "byte table");

/*  0  8 first word: VT_REC_FREE_FAIL
 *  8  8 when
 * 16  8 address
 * 24  4 result code
 * 28  4 zero */
struct vt_rec_free_fail {
    uint64_t word, when, address;
    int32_t result;
    uint32_t zero;
};
static_assert(sizeof(struct vt_rec_free_fail) == 32, "byte table");

/*  0  8 first word: VT_REC_BULK; hook: which call ended the context
 *  8  8 when, stamped before the call
 * 16  4 context number: every live allocation of it whose kind is VT_OWNER_CONTEXT is freed
 * 20  4 1: teardown, from within exit: frees nothing in the books; 0: frees
 * 24  8 bytes that the tracer's own table held for it: a check */
struct vt_rec_bulk {
    uint64_t word, when;
    uint32_t context, teardown;
    uint64_t bytes;
};
static_assert(sizeof(struct vt_rec_bulk) == 32, "byte table");

/*  0  8 first word: VT_REC_MEMINFO
 *  8  8 when, stamped after the call
 * 16  8 free bytes on the device
 * 24  8 total bytes */
struct vt_rec_meminfo {
    uint64_t word, when, free_bytes, total_bytes;
};
static_assert(sizeof(struct vt_rec_meminfo) == 32, "byte table");

/* What an answer about a pool was about. */
enum vt_pool_figure {
    VT_POOL_RESERVED = 1, /* bytes that the pool holds from the device now */
    VT_POOL_RESERVED_HIGH = 2,
    VT_POOL_USED = 3, /* bytes that it has handed out */
    VT_POOL_USED_HIGH = 4
};

/*  0  8 first word: VT_REC_POOLINFO; kind: enum vt_pool_figure
 *  8  8 when, stamped after the call
 * 16  8 the pool's handle
 * 24  8 bytes */
struct vt_rec_poolinfo {
    uint64_t word, when, pool, bytes;
};
static_assert(sizeof(struct vt_rec_poolinfo) == 32, "byte table");

/*  0  8 first word: VT_REC_MAP; kind VT_KIND_PHYSICAL
 *  8  8 when: a mapping's from after the call, an unmapping's from before it
 * 16  8 device address
 * 24  8 bytes
 * 32  8 the physical memory's address in VT_SPACE_OBJECT; 0: nothing is mapped there any more */
struct vt_rec_map {
    uint64_t word, when, address, size, number;
};
static_assert(sizeof(struct vt_rec_map) == 40, "byte table");

enum vt_object {
    VT_OBJECT_CONTEXT = 1,
    VT_OBJECT_MODULE = 2,
    VT_OBJECT_GRAPH = 3,
    VT_OBJECT_GRAPHICS = 4,
    VT_OBJECT_EXTERNAL = 5,
    VT_OBJECT_LIMIT = 6 /* no object: cuCtxSetLimit; handle = limit << 56 | value */
};
enum vt_object_flag {
    VT_OBJECT_DESTROYED = 1,
    VT_OBJECT_PRIMARY = 2,
    VT_OBJECT_MAPPED = 4,  /* neither made nor destroyed: mapped */
    VT_OBJECT_UNMAPPED = 8 /* likewise: unmapped */
};

/*  0  8 first word: VT_REC_OBJECT; kind: enum vt_object
 *  8  8 when
 * 16  8 handle
 * 24  4 flags: enum vt_object_flag
 * 28  4 context number */
struct vt_rec_object {
    uint64_t word, when, handle;
    uint32_t flags, context;
};
static_assert(sizeof(struct vt_rec_object) == 32, "byte table");

/* A caching allocator's blocks are ALLOC and FREE records of kind VT_KIND_BLOCK. Their device is
 * what the framework said, which some of its versions say wrongly: the driver allocation that holds
 * the address is the better witness. A block that is allocated at an address where one is live
 * replaces it: a FREE of the old one stands before the ALLOC in the same chunk. Old versions name a
 * block by a host address of their own: such a block lies in no driver allocation, and is one all
 * the same.
 *
 * CACHEINFO: the allocator's own totals for that device, right after the event with the same `when`
 * in the same chunk. Written only where they cannot be told from the record before: from one
 * CACHEINFO to the next of a device, `allocated` moves by the size of each of its blocks' ALLOC and
 * FREE (the device as the framework said it), and `reserved` stands still.
 *  0  8 first word: VT_REC_CACHEINFO, kind VT_KIND_BLOCK; hook: which framework
 *  8  8 when
 * 16  8 bytes allocated: in blocks that are handed out
 * 24  8 bytes reserved: in segments that the allocator holds from the driver */
struct vt_rec_cacheinfo {
    uint64_t word, when, allocated, reserved;
};
static_assert(sizeof(struct vt_rec_cacheinfo) == 32, "byte table");

/* The framework gave up and is about to raise its out-of-memory error, after it had emptied its
 * cache and tried again. The driver's FAIL records before it on the same thread, back to that
 * thread's last successful allocation, belong to it: they were raised. FAILs of a framework's
 * thread that are followed by a successful allocation on that thread instead were recovered from.
 *  0  8 first word: VT_REC_CACHEOOM, kind VT_KIND_BLOCK; hook: which framework; stack: of the
 * request 8  8 when 16  8 bytes requested, as the allocator rounded them 24  8 bytes allocated, as
 * above 32  8 bytes reserved, as above */
struct vt_rec_cacheoom {
    uint64_t word, when, requested, allocated, reserved;
};
static_assert(sizeof(struct vt_rec_cacheoom) == 40, "byte table");

enum vt_phase_event {
    VT_PHASE_PUSH = 1,  /* a nested phase of this thread begins */
    VT_PHASE_POP = 2,   /* and ends */
    VT_PHASE_START = 3, /* a phase of the process begins; it may end on another thread */
    VT_PHASE_END = 4,   /* and ends */
    VT_PHASE_MARK = 5,  /* a moment with a name */
};

/* A phase's begin and end carry the same range number; nothing else pairs them. One that has no end
 * was open at the log's end. An end whose range number was never seen begin is to be left out.
 * `began` is before `when` for a phase that was open before the log was: it is written down at its
 * thread's first event. Thread: the chunk's. Device: VT_DEVICE_UNKNOWN.
 *  0  8 first word: VT_REC_PHASE, kind: enum vt_phase_event
 *  8  8 when
 * 16  8 began: ticks since start; for POP and END those of its begin
 * 24  8 range: number of the phase, unique in the process, from 1; MARK: 0
 * 32  4 name number: VT_REC_NAME; 0: unknown
 * 36  4 name number of the NVTX domain; 0: the default domain, or vramtrace.h */
struct vt_rec_phase {
    uint64_t word, when, began, range;
    uint32_t name, domain;
};
static_assert(sizeof(struct vt_rec_phase) == 40, "byte table");

/* Frame words, innermost first. A native frame is a return address: look up address - 1. */
#define VT_FRAME_PYTHON (1ull << 63) /* bits 0-31 line, bits 32-61 number of the code record */
#define VT_FRAME_INTERPRETER                                                                       \
    (1ull << 62) /* native, and inside the Python interpreter: shown with --native only */
static inline uint64_t vt_frame_python(uint32_t code, uint32_t line) {
    return VT_FRAME_PYTHON | (uint64_t)(code & 0x3fffffff) << 32 | line;
}

enum vt_stack_flag {
    VT_STACK_CUT = 1, /* deeper than VRAMTRACE_DEPTH: the outermost frames are missing */
    VT_STACK_UNORDERED =
        2, /* Python frames could not be placed among the native ones: they stand first */
    VT_STACK_PYTHON_CUT = 4 /* more Python frames than we keep */
};

/*  0  8 first word: VT_REC_STACK, length
 *  8  4 number of the stack, from 1
 * 12  2 frames that follow
 * 14  2 flags: enum vt_stack_flag
 * 16    frame words, 8 bytes each */
struct vt_rec_stack {
    uint64_t word;
    uint32_t number;
    uint16_t frames, flags;
};
static_assert(sizeof(struct vt_rec_stack) == 16, "byte table");

/*  0  8 first word: VT_REC_MODULE, length
 *  8  8 ticks since start when it was first seen here (valid from its load on; unload is seen when another takes its place)
 * 16  8 first address mapped
 * 24  8 address after the last
 * 32  8 load bias: address - bias = address in the file's own terms
 * 40  4 bytes of build id
 * 44  4 bytes of path
 * 48    build id, then path, not terminated; zero up to a multiple of 8 */
struct vt_rec_module {
    uint64_t word, ticks, start, end, bias;
    uint32_t build_id_bytes, path_bytes;
};
static_assert(sizeof(struct vt_rec_module) == 48, "byte table");

/*  0  8 first word: VT_REC_CODE, length
 *  8  4 number of the code object
 * 12  4 first line
 * 16  4 bytes of the qualified name (before Python 3.11: the bare name)
 * 20  4 bytes of the file name
 * 24    name, then file, UTF-8, not terminated; zero up to a multiple of 8 */
struct vt_rec_code {
    uint64_t word;
    uint32_t number, first_line, name_bytes, file_bytes;
};
static_assert(sizeof(struct vt_rec_code) == 24, "byte table");

/*  0  8 first word: VT_REC_THREAD, length
 *  8  4 tid
 * 12  4 zero
 * 16 16 name, NUL-padded */
struct vt_rec_thread {
    uint64_t word;
    uint32_t tid, zero;
    char name[16];
};
static_assert(sizeof(struct vt_rec_thread) == 32, "byte table");

enum vt_device_flag { VT_DEVICE_HAS_UUID = 1 };

/* What the program itself asked the driver about a device. A field that it did not ask stays empty; later records fill in.
 *  0  8 first word: VT_REC_DEVICE, length
 *  8  4 ordinal in this process
 * 12  4 flags: enum vt_device_flag
 * 16  8 total memory, bytes; 0 unknown
 * 24 16 UUID
 * 40 64 name, NUL-padded; empty: unknown */
struct vt_rec_device {
    uint64_t word;
    uint32_t ordinal, flags;
    uint64_t total_bytes;
    uint8_t uuid[16];
    char name[64];
};
static_assert(sizeof(struct vt_rec_device) == 104, "byte table");

/*  0  8 first word: VT_REC_NOTE, length
 *  8  4 bytes of text
 * 12  4 zero
 * 16    text, UTF-8; zero up to a multiple of 8 */
struct vt_rec_note {
    uint64_t word;
    uint32_t text_bytes, zero;
};
static_assert(sizeof(struct vt_rec_note) == 16, "byte table");

/* Written once a process, before the first record in the same chunk that uses the number; another
 * thread may use it before this record is whole: then the name is unknown until then.
 *  0  8 first word: VT_REC_NAME, length
 *  8  4 number, from 1
 * 12  4 bytes of text, at most VT_NAME_MAX_BYTES (longer names are cut)
 * 16    text, UTF-8 as the program gave it; zero up to a multiple of 8 */
struct vt_rec_name {
    uint64_t word;
    uint32_t number, text_bytes;
};
static_assert(sizeof(struct vt_rec_name) == 16, "byte table");
#define VT_NAME_MAX_BYTES 200u

enum vt_scan_flag {
    VT_SCAN_STOPPED = 1,  /* it was begun and given up: a NOTE says why */
    VT_SCAN_IN_DOUBT = 2, /* memory that may hold pointers could not be read */
    VT_SCAN_CUT = 4,      /* more were lost than are listed */
};

/* The exit scan: at the end of the process, which of the live allocations was a pointer left to?
 * What a reader must conclude:
 *   - No SCAN record: not looked (switched off, nothing live, killed, exec; where something stood in
 *     the way a NOTE says what). SCAN with VT_SCAN_STOPPED or VT_SCAN_IN_DOUBT: as if not looked.
 *     `reachable` is then unknown, and what is live is `unfreed`.
 *   - Else an allocation that is live at the log's end, and whose address and space stand in a LOST
 *     record, is `lost`. One that does not is `unfreed`: pointed to, or in doubt. That holds for
 *     kinds that are not looked for at all, too: framework blocks, physical memory, registrations.
 * LOST records stand before the SCAN record, in chunks of the same thread; an allocation may be
 * freed after it is listed (by another thread): then it is freed.
 *  0  8 first word: VT_REC_SCAN, length
 *  8  8 bytes of memory looked at
 * 16  8 ns that it took
 * 24  4 allocations looked for
 * 28  4 of these, listed in LOST records
 * 32  4 threads of the process then
 * 36  4 flags: enum vt_scan_flag
 * 40  4 pages that could not be read
 * 44  4 zero */
struct vt_rec_scan {
    uint64_t word, bytes, ns;
    uint32_t looked_for, lost, threads, flags, unread_pages, zero;
};
static_assert(sizeof(struct vt_rec_scan) == 48, "byte table");

/*  0  8 first word: VT_REC_LOST, length
 *  8  4 entries that follow
 * 12  4 zero
 * 16    entries, 8 bytes each: enum vt_space << 61 | address */
struct vt_rec_lost {
    uint64_t word;
    uint32_t count, zero;
};
static_assert(sizeof(struct vt_rec_lost) == 16, "byte table");

static inline uint64_t vt_lost_entry(uint64_t address, enum vt_space space) {
    return (uint64_t)space << 61 | (address & 0x1fffffffffffffffull);
}
static inline uint64_t vt_lost_address(uint64_t entry) {
    return entry & 0x1fffffffffffffffull;
}
static inline enum vt_space vt_lost_space(uint64_t entry) {
    return (enum vt_space)(entry >> 61);
}

/* A variable that decides how GPU memory is taken, as it was at the first event. Of those that a
 * report wants to know; one that has no record was not set.
 *  0  8 first word: VT_REC_ENV, length
 *  8  4 bytes of the name
 * 12  4 bytes of the value, at most VT_ENV_MAX_BYTES (longer ones are cut)
 * 16    name, then value, not terminated; zero up to a multiple of 8 */
struct vt_rec_env {
    uint64_t word;
    uint32_t name_bytes, value_bytes;
};
static_assert(sizeof(struct vt_rec_env) == 16, "byte table");
#define VT_ENV_MAX_BYTES 1000u

/* Written from outside, by `vramtrace run`, into a chunk of its own, which it takes as a thread of
 * the process would; the chunk's tid is not one of the process's. Only where the log is mapped.
 *
 * GPU: before the first SAMPLE that names its number.
 *  0  8 first word: VT_REC_GPU, length
 *  8  4 number: NVML's index, which is the order on the PCI bus
 * 12  4 flags: enum vt_gpu_flag
 * 16  4 ordinal that the process should know it by, by the environment that it was started with;
 *       VT_DEVICE_UNKNOWN: none, or it cannot be told. A UUID that the program asked for is the
 *       better witness: the program may have changed its environment
 * 20  4 zero
 * 24  8 total memory, bytes
 * 32 16 UUID
 * 48 64 name, NUL-padded */
enum vt_gpu_flag { VT_GPU_HAS_UUID = 1 };
struct vt_rec_gpu {
    uint64_t word;
    uint32_t number, flags, ordinal, zero;
    uint64_t total_bytes;
    uint8_t uuid[16];
    char name[64];
};
static_assert(sizeof(struct vt_rec_gpu) == 112, "byte table");

/* SAMPLE: no event of the process's. What the process did while NVML was asked, between `began` and
 * `when`, may or may not be in the figures.
 *  0  8 first word: VT_REC_SAMPLE, no stack
 *  8  8 when, stamped after the answer; device VT_DEVICE_UNKNOWN
 * 16  8 began: ticks since start, before the question
 * 24  8 bytes used on the GPU, by all processes
 * 32  8 bytes free on it
 * 40  8 bytes used by this process, VT_SAMPLE_UNKNOWN: not known
 * 48  8 bytes used by the other processes together, likewise
 * 56  4 number of the GPU record
 * 60  4 number of the other processes */
#define VT_SAMPLE_UNKNOWN UINT64_MAX
struct vt_rec_sample {
    uint64_t word, when, began, used_bytes, free_bytes, own_bytes, others_bytes;
    uint32_t gpu, others;
};
static_assert(sizeof(struct vt_rec_sample) == 64, "byte table");

/* The largest record: what a writer must keep free, and what a reader may expect. */
#define VT_RECORD_MAX_BYTES 8192u

/* Length in bytes of a record of fixed type; 0 for an unknown type. */
static inline uint32_t vt_record_fixed_bytes(unsigned type) {
    switch (type) {
    case VT_REC_ALLOC:
        return sizeof(struct vt_rec_alloc);
    case VT_REC_FREE:
        return sizeof(struct vt_rec_free);
    case VT_REC_FAIL:
        return sizeof(struct vt_rec_fail);
    case VT_REC_FREE_FAIL:
        return sizeof(struct vt_rec_free_fail);
    case VT_REC_BULK:
        return sizeof(struct vt_rec_bulk);
    case VT_REC_MEMINFO:
        return sizeof(struct vt_rec_meminfo);
    case VT_REC_POOLINFO:
        return sizeof(struct vt_rec_poolinfo);
    case VT_REC_MAP:
        return sizeof(struct vt_rec_map);
    case VT_REC_SAMPLE:
        return sizeof(struct vt_rec_sample);
    case VT_REC_OBJECT:
        return sizeof(struct vt_rec_object);
    case VT_REC_CACHEINFO:
        return sizeof(struct vt_rec_cacheinfo);
    case VT_REC_CACHEOOM:
        return sizeof(struct vt_rec_cacheoom);
    case VT_REC_PHASE:
        return sizeof(struct vt_rec_phase);
    default:
        return 0;
    }
}

/* clang-format on */

#endif
