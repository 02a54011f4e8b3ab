/* SPDX-License-Identifier: MIT */
/*
 * The internal state of the simulated driver, for the files in this folder.
 *
 * Room rules.
 * - One lock (recursive) guards everything. An exported function takes it with SIM_ENTER or
 * SIM_ENTER_CONTEXT in its first line; leaving the scope in any way releases it.
 * - No exported function calls another exported one: a tracer must see one event for one call.
 * - Every handle is a struct that begins with struct sim_object. It is looked up in the registry
 * before use, because a driver must reject stale and foreign handles.
 * - The structures are allocated with malloc and contain device addresses, as in a real driver: a
 * tracer that scans for lost pointers must cope with that.
 */
#ifndef SIM_DRIVER_H
#define SIM_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/sim.h"
#include "tests/sim/cuda_abi_sim.h"

#define SIM_DRIVER_VERSION  13000
#define SIM_MAX_DEVICES     64
#define SIM_GRANULE         ((size_t)2 << 20) /* of pools and of cuMemCreate */
#define SIM_LIMITS          16
#define SIM_MULTIPROCESSORS 108

/* ---- address space (arena.c) ---- */

/* A reserved range for addresses; only touched pages cost memory. */
struct sim_arena {
    uintptr_t base, end;
    uintptr_t next;     /* frontier: nothing was ever handed out from here on */
    uintptr_t writable; /* pages below this are accessible */
    uintptr_t small_next, small_end;
    struct sim_freelist *freelists;
};

/* Reserves `bytes` of address space, below 4 GiB when low. False when the kernel refuses. */
bool sim_arena_open(struct sim_arena *arena, size_t bytes, bool low);
/* Hands out at least `bytes` (*span says how many), aligned to 512, from 1 MiB on to 2 MiB.
 * 0 when the range is used up. */
uintptr_t sim_arena_take(struct sim_arena *arena, size_t bytes, size_t *span);
/* Returns a range, including its pages if they were touched. */
void sim_arena_give(struct sim_arena *arena, uintptr_t start, size_t span, bool touched);

/* ---- devices (state.c) ---- */

struct sim_device {
    int ordinal;  /* as the program sees it, after CUDA_VISIBLE_DEVICES */
    int physical; /* before */
    size_t total;
    size_t used; /* what cuMemGetInfo takes off */
    uint64_t kind_bytes[VRAMTRACE_SIM_KINDS];
    uint64_t kind_count[VRAMTRACE_SIM_KINDS];
    struct sim_arena arena;
    struct sim_context *primary;
    struct sim_pool *default_pools[3]; /* device, managed, host: see pool.c */
    struct sim_pool *current_pools[3];
    size_t graph_reserved, graph_reserved_high, graph_used_high;
};

struct sim_state {
    bool initialised, forked;
    int device_count;
    struct sim_device devices[SIM_MAX_DEVICES];
    char name[256];
    size_t context_bytes; /* VRAMTRACE_SIM_CONTEXT: what a context costs, untracked */
    int steps;            /* VRAMTRACE_SIM_STEPS: see steps.c */
    unsigned long long next_id;
    struct sim_context *contexts; /* every one ever made: a destroyed one is still recognised */
};
extern struct sim_state sim;

/* Takes the lock when the driver is usable. CUDA_SUCCESS: the lock is held. */
CUresult sim_enter(void);
/* The same, and there must be a live current context. */
CUresult sim_enter_context(struct sim_context **context);
void sim_leave(const CUresult *entered);
void sim_unlock_for_callback(void); /* around a call into the program */
void sim_relock(void);

#define SIM_ENTER()                                                                                \
    __attribute__((cleanup(sim_leave))) const CUresult sim_entered_ = sim_enter();                 \
    if (sim_entered_ != CUDA_SUCCESS)                                                              \
    return sim_entered_
#define SIM_ENTER_CONTEXT(c)                                                                       \
    struct sim_context *c;                                                                         \
    __attribute__((cleanup(sim_leave))) const CUresult sim_entered_ = sim_enter_context(&c);       \
    if (sim_entered_ != CUDA_SUCCESS)                                                              \
    return sim_entered_

/* Defines a function and its per-thread-stream twin (suffix _ptsz or _ptds) from one static
 * name_on(): the first list of arguments is the legacy one's, the second the twin's. */
#define SIM_TWINS(name, suffix, params, legacy_args, per_thread_args)                              \
    CUresult name params {                                                                         \
        return name##_on legacy_args;                                                              \
    }                                                                                              \
    CUresult name##suffix params {                                                                 \
        return name##_on per_thread_args;                                                          \
    }
/* The stream that a per-thread twin means by s. */
#define SIM_PT(s) ((s) == NULL ? CU_STREAM_PER_THREAD : (s))

/* steps.c: what a program may wait for. `answer`: what it read, which this may change. */
void sim_steps_launched(void);
void sim_steps_read(void *answer, size_t bytes);

struct sim_device *sim_device_get(CUdevice device); /* NULL: no such device */
void sim_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
size_t sim_parse_size(const char *text, size_t fallback, bool *ok);

/* Takes bytes off a device; false when it has not so many (nothing is changed then). */
bool sim_charge(struct sim_device *device, size_t bytes);
void sim_refund(struct sim_device *device, size_t bytes);
void sim_count(struct sim_device *device, enum vramtrace_sim_kind kind, int64_t bytes, int count);

/* ftruncate, but past a file size limit it fails without SIGXFSZ: the real driver makes no such files. */
bool sim_file_grow(int fd, uint64_t bytes);

/* What the simulated NVML is told (share.c): who we are; a device's `used`. */
void sim_share_open(void);
void sim_share_tell(const struct sim_device *device);
void sim_share_refuse(const void *caller);

/* ---- handles (registry.c) ---- */

enum sim_object_kind {
    SIM_OBJECT_STREAM = 1,
    SIM_OBJECT_EVENT,
    SIM_OBJECT_MODULE,
    SIM_OBJECT_LIBRARY,
    SIM_OBJECT_FUNCTION,
    SIM_OBJECT_ARRAY,
    SIM_OBJECT_MIPMAP,
    SIM_OBJECT_POOL,
    SIM_OBJECT_PHYSICAL,
    SIM_OBJECT_GRAPH,
    SIM_OBJECT_NODE,
    SIM_OBJECT_EXEC,
    SIM_OBJECT_EXTERNAL_MEMORY,
    SIM_OBJECT_EXTERNAL_SEMAPHORE,
    SIM_OBJECT_GRAPHICS,
    SIM_OBJECT_GREEN,
    SIM_OBJECT_TEXTURE,
    SIM_OBJECT_USER,
    SIM_OBJECT_LINK,
    SIM_OBJECT_HANDLE, /* of a graph's condition */
};

struct sim_object {
    enum sim_object_kind kind;
    struct sim_context *context; /* dropped with it; NULL: belongs to no context */
    void (*drop)(struct sim_object *object);
    unsigned long long id;
};

/* A zeroed, registered object of `size` bytes; NULL when there is no memory. drop must release
 * everything the object holds and then call sim_object_free; NULL means sim_object_free. */
void *sim_object_new(size_t size, enum sim_object_kind kind, struct sim_context *context,
                     void (*drop)(struct sim_object *object));
/* The object behind a handle, NULL when there is none of that kind. */
void *sim_object_get(const void *handle, enum sim_object_kind kind);
void sim_object_drop(void *object);
void sim_object_free(struct sim_object *object);
void sim_object_drop_all(struct sim_context *context);

/* ---- ranges of addresses (registry.c) ---- */

enum sim_block_owner {
    SIM_OWNER_DRIVER,   /* one allocation of cuMemAlloc, cuMemHostAlloc, … */
    SIM_OWNER_POOL,     /* handed out of a pool */
    SIM_OWNER_GRAPH,    /* of a graph's memory node */
    SIM_OWNER_USER,     /* registered by the program */
    SIM_OWNER_RESERVED, /* cuMemAddressReserve: no memory */
    SIM_OWNER_MAPPED,   /* cuMemMap within a reserved range */
    SIM_OWNER_IMPORTED, /* IPC, external memory */
    SIM_OWNER_GLOBAL,   /* a module's variable */
};

struct sim_block {
    uintptr_t start;
    size_t bytes; /* as asked for, and as counted */
    size_t span;  /* address space taken */
    enum sim_block_owner owner;
    enum vramtrace_sim_kind kind;
    struct sim_arena *arena;
    struct sim_device *device;
    struct sim_context *context; /* freed with it; NULL: not */
    void *parent;                /* pool, physical handle, graph, … by owner */
    size_t offset;               /* in the physical handle */
    unsigned flags;
    unsigned uses;   /* IPC opens */
    size_t charged;  /* bytes taken off the device */
    size_t resident; /* managed: bytes of it on the device */
    bool touched, freed_in_graph, read_only;
    unsigned long long id;
};

/* The block that holds an address (reserved ranges only when nothing else does), or NULL. */
struct sim_block *sim_block_at(uintptr_t address);
struct sim_block *sim_block_starting(uintptr_t address);
bool sim_block_insert(struct sim_block *block);
void sim_block_remove(struct sim_block *block);
/* Calls visit on every block; visit may remove the block it was given. */
void sim_block_each(void (*visit)(struct sim_block *block, void *data), void *data);

/* ---- contexts (context.c) ---- */

struct sim_context {
    struct sim_context *next;
    struct sim_device *device;
    bool live, primary;
    int references;
    unsigned flags, api_version;
    size_t limits[SIM_LIMITS];
    size_t charged;
    CUfunc_cache cache;
    CUsharedconfig shared;
    unsigned long long id;
    uint64_t peers; /* bit per device ordinal */
};

struct sim_context *sim_context_current(void);        /* may be dead or NULL */
struct sim_context *sim_context_of(CUcontext handle); /* NULL: was never one */
/* NULL and invalid handles mean the current one. */
struct sim_context *sim_context_or_current(CUcontext handle);
void sim_context_destroy(struct sim_context *context);
/* One more, one less holder of the device's primary context. */
CUresult sim_primary_retain(struct sim_device *device);
void sim_primary_release(struct sim_device *device);

/* ---- memory (memory.c, pool.c, …) ---- */

/* Makes, charges, counts and registers a block of device memory. */
CUresult sim_memory_alloc(struct sim_context *context, struct sim_device *device, size_t bytes,
                          enum vramtrace_sim_kind kind, enum sim_block_owner owner, bool low,
                          struct sim_block **out);
/* Address space alone, out of the device's range (arrays have no addresses in the books); NULL when
 * it is used up. Given back with sim_arena_give. */
void *sim_memory_space(struct sim_device *device, size_t bytes, size_t *span);
void sim_memory_release(struct sim_block *block);
void sim_memory_release_all(struct sim_context *context);
/* The host address of [address, address+bytes), which must lie within one block; NULL otherwise. */
void *sim_memory_range(CUdeviceptr address, size_t bytes, bool write);

CUresult sim_pool_free(struct sim_block *block);
void sim_pool_settle(struct sim_device *device); /* a synchronisation happened */
bool sim_pool_give_back(struct sim_device *device, size_t wanted);

/* ---- streams (stream.c) ---- */

#define SIM_STREAM_ATTRIBUTES (CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN + 1) /* by their numbers */

struct sim_stream {
    struct sim_object object;
    struct sim_device *device;
    unsigned flags;
    int priority;
    CUstreamAttrValue attributes[SIM_STREAM_ATTRIBUTES]; /* kept for the program, nothing more */
    struct sim_graph *capture; /* being recorded into; NULL: not captured */
    struct sim_stream *origin; /* the stream that the capture began on */
    struct sim_stream *joined; /* list of those that joined, from the origin on */
    struct sim_node *tail;     /* the node that a next one depends on */
    unsigned long long capture_id;
    bool to_graph; /* the graph is the program's own */
};

/* The stream behind a handle; NULL: no such stream. The two default streams are per device. */
struct sim_stream *sim_stream_get(CUstream handle, struct sim_context *context);

/* A stream of this context; NULL when there is no memory. */
struct sim_stream *sim_stream_new(struct sim_context *context, unsigned flags, int priority);

#endif /* SIM_DRIVER_H */
