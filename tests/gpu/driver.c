/* SPDX-License-Identifier: MIT */
/*
 * driver keep: the driver's allocating functions, as calls.c. driver facts: what only a real driver tells, one fact a line.
 * Linked with the driver library.
 */
#define _GNU_SOURCE
#include <cuda.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what)                                                                                \
    do {                                                                                           \
        CUresult result_ = (what);                                                                 \
        if (result_ != CUDA_SUCCESS) {                                                             \
            fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #what, (int)result_);           \
            exit(99);                                                                              \
        }                                                                                          \
    } while (0)
#define KEPT(api, bytes) printf(api " %zu\n", (size_t)(bytes))

static size_t free_now(void) {
    size_t available = 0, total = 0;
    CHECK(cuMemGetInfo(&available, &total));
    return available;
}

static size_t granule(void) {
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    size_t g = 0;
    CHECK(cuMemGetAllocationGranularity(&g, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    return g;
}

static void vmm(void) {
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc access = {.location = prop.location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle h, again;
    CUdeviceptr va;
    size_t g = granule();
    CHECK(cuMemAddressReserve(&va, 64 * g, 0, 0, 0));
    /* mapped and released: it lives until it is unmapped */
    CHECK(cuMemCreate(&h, 3 * g, &prop, 0));
    CHECK(cuMemMap(va, 3 * g, 0, h, 0));
    CHECK(cuMemSetAccess(va, 3 * g, &access, 1));
    CHECK(cuMemRelease(h));
    KEPT("cuMemCreate", 3 * g);
    CHECK(cuMemCreate(&h, 5 * g, &prop, 0));
    CHECK(cuMemMap(va + 8 * g, 5 * g, 0, h, 0));
    CHECK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(va + 8 * g)));
    CHECK(cuMemRelease(h));
    CHECK(cuMemUnmap(va + 8 * g, 5 * g));
    CHECK(cuMemRelease(again));
}

static void keep(CUcontext context) {
    CUdeviceptr p, q;
    CUarray a;
    CUcontext second;
    void *host;
    size_t pitch;
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 64, .Height = 32, .Depth = 16, .Format = CU_AD_FORMAT_HALF, .NumChannels = 4};
    CHECK(cuMemAlloc(&p, 2000001));
    CHECK(cuMemAlloc(&q, 2000001));
    CHECK(cuMemFree(q));
    KEPT("cuMemAlloc", 2000001);
    CHECK(cuMemAllocPitch(&p, &pitch, 3000, 21, 16));
    KEPT("cuMemAllocPitch", pitch * 21);
    CHECK(cuMemAllocManaged(&p, 2000002, CU_MEM_ATTACH_GLOBAL));
    KEPT("cuMemAllocManaged", 2000002);
    CHECK(cuMemAllocHost(&host, 2000003));
    KEPT("cuMemAllocHost", 2000003);
    CHECK(cuMemHostAlloc(&host, 2000004, 0));
    KEPT("cuMemHostAlloc", 2000004);
    CHECK(cuMemAllocAsync(&p, 2000005, NULL));
    KEPT("cuMemAllocAsync", 2000005);
    CHECK(cuArray3DCreate(&a, &d));
    KEPT("cuArray3DCreate", 64 * 32 * 16 * 8);
    vmm();
    /* the end of a context frees its memory */
#if CUDA_VERSION >= 13000
    CUctxCreateParams params = {0};
    CHECK(cuCtxCreate(&second, &params, 0, 0));
#else
    CHECK(cuCtxCreate(&second, 0, 0));
#endif
    CHECK(cuMemAlloc(&p, 2000006));
    CHECK(cuCtxDestroy(second));
    CHECK(cuCtxSetCurrent(context));
}

/* By how much free memory falls per call, over so many calls. */
#define COST(calls, what, ...)                                                                     \
    do {                                                                                           \
        size_t before_ = free_now();                                                               \
        for (int i = 0; i < (calls); i++)                                                          \
            CHECK(what);                                                                           \
        printf(__VA_ARGS__);                                                                       \
        printf(": %.0f bytes of free memory each\n", (double)(before_ - free_now()) / (calls));    \
    } while (0)

static void facts(void) {
    CUdeviceptr p;
    CUarray a;
    CUmemoryPool pool;
    cuuint64_t figure = 0;
    size_t g = granule(), before;
    printf("granularity of cuMemCreate: %zu\n", g);
    COST(4096, cuMemAlloc(&p, 1), "cuMemAlloc(1)");
    COST(64, cuMemAlloc(&p, (1 << 20) + 1), "cuMemAlloc(1 MiB + 1)");
    COST(64, cuMemAlloc(&p, (2 << 20) + 1), "cuMemAlloc(2 MiB + 1)");
    static const struct {
        unsigned width, height, depth, channels;
        CUarray_format format;
    } shapes[] = {
        {1000, 77, 0, 1, CU_AD_FORMAT_FLOAT},        {1920, 1080, 0, 4, CU_AD_FORMAT_UNSIGNED_INT8},
        {3840, 2160, 0, 1, CU_AD_FORMAT_HALF},       {64, 32, 16, 4, CU_AD_FORMAT_HALF},
        {1000, 0, 0, 1, CU_AD_FORMAT_UNSIGNED_INT8}, {257, 257, 0, 1, CU_AD_FORMAT_UNSIGNED_INT8}};
    static const unsigned bytes[] = {4, 4, 2, 8, 1, 1};
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        CUDA_ARRAY3D_DESCRIPTOR d = {.Width = shapes[i].width,
                                     .Height = shapes[i].height,
                                     .Depth = shapes[i].depth,
                                     .Format = shapes[i].format,
                                     .NumChannels = shapes[i].channels};
        size_t says =
            (size_t)d.Width * (d.Height ? d.Height : 1) * (d.Depth ? d.Depth : 1) * bytes[i];
        COST(64, cuArray3DCreate(&a, &d), "array %zu x %zu x %zu, %zu bytes by its descriptor",
             d.Width, d.Height, d.Depth, says);
    }
    before = free_now();
    CHECK(cuMemAllocAsync(&p, 1000, NULL));
    CHECK(cuStreamSynchronize(NULL));
    CHECK(cuDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &figure));
    printf("cuMemAllocAsync(1000): the pool reserves %llu, free memory falls by %zu\n",
           (unsigned long long)figure, before - free_now());
    CHECK(cuMemFreeAsync(p, NULL));
    CHECK(cuStreamSynchronize(NULL));
    CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &figure));
    printf("freed and synchronized: the pool reserves %llu\n", (unsigned long long)figure);
#if CUDA_VERSION >= 12060
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_HOST}};
    CUresult made = cuMemPoolCreate(&pool, &props);
    if (made == CUDA_SUCCESS)
        made = cuMemAllocFromPoolAsync(&p, 5000, pool, NULL);
    printf("a pool of host memory: cuMemPoolCreate and cuMemAllocFromPoolAsync answer %d",
           (int)made);
    if (made == CUDA_SUCCESS)
        printf("; cuMemFree of it %d", (int)cuMemFree(p));
    printf("\n");
#endif
}

int main(int argc, char **argv) {
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    if (argc > 1 && !strcmp(argv[1], "facts"))
        facts();
    else
        keep(context);
    return 0;
}
