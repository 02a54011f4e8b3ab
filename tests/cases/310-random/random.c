/* SPDX-License-Identifier: MIT */
/*
 * random SEED: 10,000 operations of every family, by 8 threads on 2 devices. After every 10
 * operations all threads stop and the driver's count is compared with the tracer's, to the byte;
 * the driver's is printed too, with a mark in the log at that moment, so that the log can be
 * replayed up to there.
 *
 * Things are shared: what one thread makes another ends. Some operations are wrong on purpose.
 */
#define _GNU_SOURCE
#include "../300-families/families.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 1000, PER_ROUND = 10, SLOTS = 400 };

/* ---- chance ---- */

static __thread uint64_t state;

static uint64_t chance(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state * 0x2545f4914f6cdd1dull >> 16) % below;
}

static size_t some_bytes(void) {
    static const size_t up_to[] = {100, 5000, 300000, 20 << 20};
    return 1 + chance(up_to[chance(4)]);
}

/* ---- what exists ---- */

enum kind {
    NOTHING,
    LINEAR,
    MANAGED,
    ASYNC,
    HOST,
    REGISTERED,
    PHYSICAL,
    MAPPED,
    ARRAY,
    MIPMAP,
    POOL,
    GRAPH,
    GRAPH_MEMORY,
    CONTEXT,
    MODULE,
    EXTERNAL,
    KINDS
};
static const char *const names[KINDS] = {
    "nothing", "linear", "managed", "async", "host",         "registered", "physical", "mapped",
    "array",   "mipmap", "pool",    "graph", "graph memory", "context",    "module",   "external"};

struct thing {
    enum kind kind;
    uint64_t handle, other, size;
};

static struct thing things[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t made[KINDS], ended[KINDS];
static CUcontext contexts[2];
static CUmemoryPool pools[6]; /* own and default ones: device 0, 1, managed, host */

static void keep(enum kind kind, uint64_t handle, uint64_t other, uint64_t size) {
    pthread_mutex_lock(&lock);
    made[kind]++;
    for (size_t i = chance(SLOTS), n = 0; n < SLOTS; i = (i + 1) % SLOTS, n++)
        if (things[i].kind == NOTHING) {
            things[i] = (struct thing){kind, handle, other, size};
            pthread_mutex_unlock(&lock);
            return;
        }
    pthread_mutex_unlock(&lock);
    fprintf(stderr, "more than %d things\n", SLOTS);
    _Exit(94);
}

/* Any thing, taken out: it is this thread's alone now. */
static struct thing take(void) {
    struct thing taken = {.kind = NOTHING};
    pthread_mutex_lock(&lock);
    for (size_t i = chance(SLOTS), n = 0; n < SLOTS && taken.kind == NOTHING;
         i = (i + 1) % SLOTS, n++) {
        taken = things[i];
        things[i].kind = NOTHING;
    }
    if (taken.kind != NOTHING)
        ended[taken.kind]++;
    pthread_mutex_unlock(&lock);
    return taken;
}

/* ---- making ---- */

static CUstream streams[THREADS][2];
static __thread int self;

static void make_array(void) {
    CUarray a;
    CUmipmappedArray m;
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 1 + chance(500),
                                 .Height = chance(200),
                                 .Format = CU_AD_FORMAT_FLOAT,
                                 .NumChannels = 1u << chance(3)};
    if (d.Height)
        d.Depth = chance(10);
    if (d.Depth && chance(2))
        d.Flags = CUDA_ARRAY3D_LAYERED;
    if (chance(6) == 0)
        d.Flags |= chance(2) ? CUDA_ARRAY3D_SPARSE : CUDA_ARRAY3D_DEFERRED_MAPPING;
    if (chance(2)) {
        CHECK(cuArray3DCreate_v2(&a, &d));
        keep(ARRAY, (uintptr_t)a, 0, 0);
    } else {
        CHECK(cuMipmappedArrayCreate(&m, &d, 1 + (unsigned)chance(12)));
        keep(MIPMAP, (uintptr_t)m, 0, 0);
    }
}

static void make_physical(void) {
    CUmemAllocationProp prop = PINNED;
    CUmemGenericAllocationHandle h;
    size_t size = (1 + chance(8)) * GRANULE;
    prop.location.id = (int)chance(2);
    if (chance(5) == 0)
        prop.location.type = CU_MEM_LOCATION_TYPE_HOST;
    CHECK(cuMemCreate(&h, size, &prop, 0));
    if (chance(3) == 0) {
        keep(PHYSICAL, h, 0, size);
        return;
    }
    CUdeviceptr va;
    CHECK(cuMemAddressReserve(&va, 2 * size, 0, 0, 0));
    CHECK(cuMemMap(va, size, 0, h, 0));
    if (chance(2)) { /* twice, and both go in one unmap */
        CHECK(cuMemMap(va + size, size, 0, h, 0));
        keep(MAPPED, va, 2 * size, 2 * size);
    } else {
        keep(MAPPED, va, 2 * size, size);
    }
    if (chance(2)) { /* as ggml does */
        CHECK(cuMemRelease(h));
    } else {
        keep(PHYSICAL, h, 0, size);
    }
}

static CUgraphExec instantiate(CUgraph g) {
    CUgraphExec exec;
    CHECK(cuGraphInstantiateWithFlags(&exec, g, 0));
    return exec;
}

/* A graph that leaves one allocation, made by nodes or by a capture; launched, and gone. */
static void make_graph(void) {
    CUgraph g;
    CUgraphNode n, n2, n3;
    CUdeviceptr left, inside;
    CUstream s = streams[self][chance(2)];
    if (chance(2)) {
        CUDA_MEM_ALLOC_NODE_PARAMS p = {.poolProps = PINNED_POOL, .bytesize = some_bytes()}, q = p;
        p.poolProps.location.id = (int)chance(2);
        CHECK(cuGraphCreate(&g, 0));
        CHECK(cuGraphAddMemAllocNode(&n, g, NULL, 0, &p));
        CHECK(cuGraphAddMemAllocNode(&n2, g, &n, 1, &q));
        CHECK(cuGraphAddMemFreeNode(&n3, g, &n2, 1, q.dptr));
        left = p.dptr;
    } else {
        CHECK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        CHECK(cuMemAllocAsync(&left, some_bytes(), s));
        CHECK(cuMemAllocAsync(&inside, some_bytes(), s));
        CHECK(cuMemFreeAsync(inside, s));
        CHECK(cuStreamEndCapture(s, &g));
    }
    CUgraphExec exec = instantiate(g);
    if (chance(2)) { /* launch, free, launch: the same address again */
        CHECK(cuGraphLaunch(exec, s));
        CHECK(cuMemFreeAsync(left, s));
    }
    CHECK(cuGraphLaunch(exec, s));
    if (chance(2)) {
        CHECK(cuGraphExecDestroy(exec));
        CHECK(cuGraphDestroy(g));
        keep(GRAPH_MEMORY, left, 0, 0);
    } else {
        CHECK(cuGraphDestroy(g));
        keep(GRAPH, (uintptr_t)exec, left, 0);
    }
}

static void make(void) {
    CUdeviceptr p;
    void *h;
    size_t pitch, size = some_bytes();
    switch (chance(14)) {
    case 0:
        CHECK(cuMemAlloc_v2(&p, size));
        keep(LINEAR, p, 0, size);
        break;
    case 1:
        CHECK(cuMemAllocPitch_v2(&p, &pitch, 1 + chance(2000), 1 + chance(300), 4));
        keep(LINEAR, p, 0, 0);
        break;
    case 2:
        CHECK(cuMemAllocManaged(&p, size, 1));
        keep(MANAGED, p, 0, size);
        break;
    case 3:
        CHECK(cuMemAllocAsync(&p, size, streams[self][chance(2)]));
        keep(ASYNC, p, 0, size);
        break;
    case 4:
        CHECK(cuMemAllocFromPoolAsync(&p, size, pools[chance(6)], streams[self][0]));
        keep(ASYNC, p, 0, size);
        break;
    case 5:
        CHECK(cuMemHostAlloc(&h, size, 0));
        keep(HOST, (uintptr_t)h, 0, size);
        break;
    case 6:
        h = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
        EXPECT(h != NULL);
        CHECK(cuMemHostRegister_v2(h, size, 0));
        keep(REGISTERED, (uintptr_t)h, 0, size);
        break;
    case 7:
    case 8:
        make_physical();
        break;
    case 9:
        make_array();
        break;
    case 10: {
        CUmemPoolProps props = PINNED_POOL;
        CUmemoryPool pool;
        props.location.id = (int)chance(2);
        if (chance(4) == 0)
            props.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
        CHECK(cuMemPoolCreate(&pool, &props));
        CHECK(cuMemAllocFromPoolAsync(&p, size, pool, streams[self][0]));
        keep(ASYNC, p, 0, size);
        keep(POOL, (uintptr_t)pool, 0, 0);
        break;
    }
    case 11:
        make_graph();
        break;
    case 12: {
        CUcontext own; /* with memory of its own, which ends with it */
        CUarray a;
        CUDA_ARRAY_DESCRIPTOR d = {
            .Width = 1 + chance(999), .Format = CU_AD_FORMAT_HALF, .NumChannels = 2};
        CHECK(cuCtxCreate_v2(&own, 0, (int)chance(2)));
        CHECK(cuMemAlloc_v2(&p, size));
        CHECK(cuArrayCreate_v2(&a, &d));
        CHECK(cuMemHostAlloc(&h, 1 + chance(9999), 0));
        if (chance(2)) {
            CHECK(cuMemAllocAsync(&p, size, NULL)); /* a pool's: stays */
            keep(ASYNC, p, 0, size);
        }
        CHECK(cuCtxPopCurrent_v2(NULL));
        keep(CONTEXT, (uintptr_t)own, 0, 0);
        break;
    }
    default:
        if (chance(2)) {
            CUmodule m;
            CHECK(cuModuleLoadData(&m, ".version 8.0\n.target sm_50\n.address_size 64\n"));
            keep(MODULE, (uintptr_t)m, 0, 0);
        } else {
            CUexternalMemory e;
            CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                                  .size = 65536};
            CUDA_EXTERNAL_MEMORY_BUFFER_DESC b = {.size = 65536};
            d.handle.fd = memfd_create("external", 0);
            EXPECT(d.handle.fd >= 0 && ftruncate(d.handle.fd, 65536) == 0);
            CHECK(cuImportExternalMemory(&e, &d));
            CHECK(cuExternalMemoryGetMappedBuffer(&p, e, &b));
            keep(EXTERNAL, (uintptr_t)e, p, 0);
        }
    }
}

/* ---- ending ---- */

static void end(void) {
    struct thing t = take();
    CUstream s = streams[self][chance(2)];
    CUmemGenericAllocationHandle again;
    switch (t.kind) {
    case LINEAR:
    case MANAGED:
        CHECK(cuMemFree_v2(t.handle));
        break;
    case ASYNC:
    case GRAPH_MEMORY:
        CHECK(chance(3) ? cuMemFreeAsync(t.handle, s) : cuMemFree_v2(t.handle));
        break;
    case HOST:
        CHECK(cuMemFreeHost((void *)(uintptr_t)t.handle));
        break;
    case REGISTERED:
        CHECK(cuMemHostUnregister((void *)(uintptr_t)t.handle));
        free((void *)(uintptr_t)t.handle);
        break;
    case PHYSICAL:
        CHECK(cuMemRelease(t.handle));
        break;
    case MAPPED:
        if (chance(3) == 0) { /* as NCCL does */
            CHECK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(t.handle + 4096)));
            CHECK(cuMemUnmap(t.handle, t.size));
            CHECK(cuMemRelease(again));
        } else {
            CHECK(cuMemUnmap(t.handle, t.size));
        }
        CHECK(cuMemAddressFree(t.handle, t.other));
        break;
    case ARRAY:
        CHECK(cuArrayDestroy((CUarray)(uintptr_t)t.handle));
        break;
    case MIPMAP:
        CHECK(cuMipmappedArrayDestroy((CUmipmappedArray)(uintptr_t)t.handle));
        break;
    case POOL:
        CHECK(cuMemPoolDestroy((CUmemoryPool)(uintptr_t)t.handle));
        break;
    case GRAPH:
        CHECK(cuGraphExecDestroy((CUgraphExec)(uintptr_t)t.handle));
        CHECK(cuMemFreeAsync(t.other, s));
        break;
    case CONTEXT:
        CHECK(cuCtxDestroy_v2((CUcontext)(uintptr_t)t.handle));
        break;
    case MODULE:
        CHECK(cuModuleUnload((CUmodule)(uintptr_t)t.handle));
        break;
    case EXTERNAL:
        CHECK(cuMemFree_v2(t.other));
        CHECK(cuDestroyExternalMemory((CUexternalMemory)(uintptr_t)t.handle));
        break;
    default:
        break;
    }
}

/* ---- wrong on purpose ---- */

static void err(void) {
    CUdeviceptr p;
    CUmemGenericAllocationHandle h;
    CUmemAllocationProp prop = PINNED;
    switch (chance(8)) {
    case 0:
        EXPECT(cuMemAlloc_v2(&p, 0) == CUDA_ERROR_INVALID_VALUE);
        break;
    case 1:
        EXPECT(cuMemAlloc_v2(&p, SIZE_MAX - chance(5000)) == CUDA_ERROR_OUT_OF_MEMORY);
        break;
    case 2:
        EXPECT(cuMemFree_v2(1 + chance(1 << 20)) != CUDA_SUCCESS);
        break;
    case 3:
        EXPECT(cuMemFreeAsync((uintptr_t)&p, NULL) != CUDA_SUCCESS);
        break;
    case 4:
        EXPECT(cuMemRelease(chance(~0ull)) != CUDA_SUCCESS);
        break;
    case 5:
        EXPECT(cuMemCreate(&h, (size_t)1 << 44, &prop, 0) == CUDA_ERROR_OUT_OF_MEMORY);
        break;
    case 6:
        EXPECT(cuMemUnmap(chance(1ull << 47), GRANULE) != CUDA_SUCCESS);
        break;
    default: { /* a free that fails leaves what is there */
        pthread_mutex_lock(&lock);
        for (size_t i = 0; i < SLOTS; i++)
            if (things[i].kind == LINEAR) {
                EXPECT(cuMemFree_v2(things[i].handle + 256) != CUDA_SUCCESS);
                EXPECT(cuMemFreeHost((void *)(uintptr_t)things[i].handle) != CUDA_SUCCESS);
                break;
            }
        pthread_mutex_unlock(&lock);
    }
    }
}

/* ---- the threads ---- */

static pthread_barrier_t stop, go;

static void compare(unsigned round) {
    char mark[64];
    snprintf(mark, sizeof mark, "checkpoint %u", round);
    vramtrace_mark(mark);
    SAME();
    printf("%u", round);
    for (int device = 0; device < 2; device++)
        printf(" %llu %llu", (unsigned long long)vramtrace_sim_live_bytes(device),
               (unsigned long long)vramtrace_sim_live_count(device));
    for (int kind = VRAMTRACE_SIM_MANAGED; kind <= VRAMTRACE_SIM_REGISTERED; kind++)
        printf(" %llu", (unsigned long long)vramtrace_sim_kind_bytes(-1, kind));
    puts("");
}

static unsigned number_of_things(void) {
    unsigned n = 0;
    for (size_t i = 0; i < SLOTS; i++)
        n += things[i].kind != NOTHING;
    return n;
}

static void *work(void *which) {
    self = (int)(intptr_t)which & 255;
    state = ((uint64_t)(intptr_t)which >> 8) * 0x9e3779b97f4a7c15ull + (uint64_t)self * 7919 + 1;
    for (int i = 0; i < 20; i++)
        chance(2);
    for (int device = 0; device < 2; device++) {
        CHECK(cuCtxSetCurrent(contexts[device]));
        CHECK(cuStreamCreate(&streams[self][device], 1));
    }
    pthread_barrier_wait(&go);
    for (unsigned round = 0; round < ROUNDS; round++) {
        /* ten operations among eight threads */
        unsigned mine = 1 + ((round + (unsigned)self) % THREADS < PER_ROUND - THREADS);
        while (mine--) {
            CHECK(cuCtxSetCurrent(contexts[chance(2)]));
            pthread_mutex_lock(&lock);
            unsigned n = number_of_things();
            pthread_mutex_unlock(&lock);
            uint64_t way = chance(20);
            if (way == 0)
                err();
            else if (n < 60 || (n < SLOTS - 100 && way <= 10))
                make();
            else
                end();
        }
        pthread_barrier_wait(&stop);
        if (self == 0)
            compare(round);
        pthread_barrier_wait(&go);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    CUmemPoolProps props = PINNED_POOL;
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1},
                  there = {.type = CU_MEM_LOCATION_TYPE_HOST};
    CHECK(cuInit(0));
    for (int device = 0; device < 2; device++) {
        CHECK(cuDevicePrimaryCtxRetain(&contexts[device], device));
        props.location.id = device;
        CHECK(cuMemPoolCreate(&pools[device], &props));
        CHECK(cuDeviceGetDefaultMemPool(&pools[2 + device], device));
    }
    CHECK(cuMemGetDefaultMemPool(&pools[4], &here, CU_MEM_ALLOCATION_TYPE_MANAGED));
    CHECK(cuMemGetDefaultMemPool(&pools[5], &there, CU_MEM_ALLOCATION_TYPE_PINNED));
    pthread_barrier_init(&stop, NULL, THREADS);
    pthread_barrier_init(&go, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)((intptr_t)(seed << 8) | i));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int kind = 1; kind < KINDS; kind++)
        printf("# %s: %llu %llu\n", names[kind], (unsigned long long)made[kind],
               (unsigned long long)ended[kind]);
    return 0;
}
