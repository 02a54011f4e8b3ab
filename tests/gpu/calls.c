/* SPDX-License-Identifier: MIT */
/*
 * calls: the runtime's allocating functions, each with a distinct size, once kept and once freed. Prints "API BYTES"
 * for kept memory. Built with the real headers; linked with either runtime, shared or static.
 */
#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                                                                \
    do {                                                                                           \
        cudaError_t result_ = (what);                                                              \
        if (result_ != cudaSuccess) {                                                              \
            fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #what, (int)result_);           \
            exit(99);                                                                              \
        }                                                                                          \
    } while (0)
#define KEPT(api, bytes) printf(#api " %zu\n", (size_t)(bytes))

static void *own; /* registered memory */

static void linear(void) {
    void *p, *q;
    size_t pitch;
    struct cudaPitchedPtr box;
    struct cudaExtent extent = {1000, 20, 3};
    CHECK(cudaMalloc(&p, 1000001));
    CHECK(cudaMalloc(&q, 1000001));
    CHECK(cudaFree(q));
    KEPT(cudaMalloc, 1000001);
    CHECK(cudaMallocManaged(&p, 1000002, cudaMemAttachGlobal));
    CHECK(cudaMallocManaged(&q, 1000002, cudaMemAttachGlobal));
    CHECK(cudaFree(q));
    KEPT(cudaMallocManaged, 1000002);
    CHECK(cudaMallocPitch(&p, &pitch, 1000, 33));
    KEPT(cudaMallocPitch, pitch * 33);
    CHECK(cudaMalloc3D(&box, extent));
    KEPT(cudaMalloc3D, box.pitch * 20 * 3);
    CHECK(cudaMalloc3D(&box, extent));
    CHECK(cudaFree(box.ptr));
}

static void host(void) {
    void *p;
    CHECK(cudaMallocHost(&p, 1000005));
    KEPT(cudaMallocHost, 1000005);
    CHECK(cudaHostAlloc(&p, 1000006, cudaHostAllocMapped));
    KEPT(cudaHostAlloc, 1000006);
    CHECK(cudaHostAlloc(&p, 1000006, cudaHostAllocPortable));
    CHECK(cudaFreeHost(p));
    own = aligned_alloc(4096, 4096 * 300);
    CHECK(cudaHostRegister(own, 4096 * 300, cudaHostRegisterDefault));
    KEPT(cudaHostRegister, 4096 * 300);
}

static void pools(void) {
    void *p, *q;
    cudaMemPool_t pool;
    struct cudaMemPoolProps props = {0};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMallocAsync(&p, 1000007, 0));
    KEPT(cudaMallocAsync, 1000007);
    CHECK(cudaMallocAsync(&q, 1000007, 0));
    CHECK(cudaFreeAsync(q, 0));
    CHECK(cudaMemPoolCreate(&pool, &props));
    CHECK(cudaMallocFromPoolAsync(&p, 1000008, pool, 0));
    KEPT(cudaMallocFromPoolAsync, 1000008);
    CHECK(cudaMallocFromPoolAsync(&q, 1000008, pool, 0));
    CHECK(cudaFree(q)); /* pool memory, freed the plain way */
}

static void arrays(void) {
    cudaArray_t a;
    cudaMipmappedArray_t m;
    struct cudaChannelFormatDesc f = {.x = 32, .f = cudaChannelFormatKindFloat};
    struct cudaExtent extent = {64, 32, 16}, flat = {256, 128, 0};
    CHECK(cudaMallocArray(&a, &f, 1000, 77, 0));
    KEPT(cudaMallocArray, 1000 * 77 * 4);
    CHECK(cudaMalloc3DArray(&a, &f, extent, 0));
    KEPT(cudaMalloc3DArray, 64 * 32 * 16 * 4);
    CHECK(cudaMalloc3DArray(&a, &f, extent, 0));
    CHECK(cudaFreeArray(a));
    CHECK(cudaMallocMipmappedArray(&m, &f, flat, 3, 0));
    KEPT(cudaMallocMipmappedArray, 4 * (256 * 128 + 128 * 64 + 64 * 32));
    CHECK(cudaMallocMipmappedArray(&m, &f, flat, 3, 0));
    CHECK(cudaFreeMipmappedArray(m));
}

/* An allocation node that is launched, and another one that a second graph frees. */
static void graphs(void) {
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t exec;
    void *kept, *freed;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMallocAsync(&kept, 1000009, s));
    CHECK(cudaMallocAsync(&freed, 1000010, s));
    CHECK(cudaFreeAsync(freed, s));
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaGraphInstantiateWithFlags(&exec, g, 0));
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    KEPT(cudaGraphLaunch, 1000009);
}

int main(void) {
    CHECK(cudaFree(0));
    linear();
    host();
    pools();
    arrays();
    graphs();
    CHECK(cudaDeviceSynchronize());
    return 0;
}
