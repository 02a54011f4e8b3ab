/* SPDX-License-Identifier: MIT */
/*
 * The simulated runtimes 12 and 13, opened RTLD_LOCAL side by side as two wheels would: errors
 * remembered per thread and per runtime, layouts of each, kernels accepted, contexts made and
 * reset. Linked with the driver, so that its own count is at hand.
 */
#include "sim_test.h"

#include <pthread.h>

static void errors_of(struct runtime rt) {
    void *p = NULL;
    FUNCTION(rt, cudaMalloc, (void **, size_t));
    FUNCTION(rt, cudaFree, (void *));
    FUNCTION(rt, cudaGetLastError, (void));
    FUNCTION(rt, cudaPeekAtLastError, (void));
    FUNCTION(rt, cudaSetDevice, (int));
    ANSWERS(cudaSuccess, cudaGetLastError());
    ANSWERS(cudaErrorMemoryAllocation, cudaMalloc(&p, 100 * GIB));
    ANSWERS(cudaErrorMemoryAllocation, cudaPeekAtLastError());
    OK(cudaMalloc(&p, 100)); /* a success does not clear it */
    ANSWERS(cudaErrorMemoryAllocation, cudaGetLastError());
    ANSWERS(cudaSuccess, cudaGetLastError());
    ANSWERS(cudaErrorInvalidDevice, cudaSetDevice(7));
    ANSWERS(cudaErrorInvalidDevice, cudaGetLastError());
    OK(cudaFree(p));
    ANSWERS(cudaErrorInvalidValue, cudaFree(p));
    ANSWERS(cudaErrorInvalidValue, cudaGetLastError());
    OK(cudaMalloc(&p, 0));
    EXPECT(p == NULL);
    OK(cudaFree(NULL));
}

static struct runtime other;

static void *other_thread(void *unused) {
    FUNCTION(other, cudaGetLastError, (void));
    ANSWERS(cudaSuccess, cudaGetLastError());
    return unused;
}

static void errors_body(void) {
    pthread_t thread;
    struct runtime old = open_runtime("12"), new = open_runtime("13");
    errors_of(old);
    errors_of(new);
    void *p;
    FUNCTION(old, cudaMalloc, (void **, size_t));
    FUNCTION(new, cudaGetLastError, (void));
    ANSWERS(cudaErrorMemoryAllocation, cudaMalloc(&p, 100 * GIB));
    ANSWERS(cudaSuccess, cudaGetLastError()); /* the other runtime's is its own */
    other = old;
    EXPECT(pthread_create(&thread, NULL, other_thread, NULL) == 0);
    pthread_join(thread, NULL);
}

static void errors(void **state) {
    (void)state;
    in_child(NULL, errors_body);
}

static void layouts_body(void) {
    struct runtime old = open_runtime("12"), new = open_runtime("13");
    struct vt_cudaDeviceProp_v12 first, v11;
    struct vt_cudaDeviceProp_v13 second;
    int version;
    {
        FUNCTION(old, cudaGetDeviceProperties_v2, (struct vt_cudaDeviceProp_v12 *, int));
        FUNCTION(old, cudaGetDeviceProperties, (struct vt_cudaDeviceProp_v12 *, int));
        FUNCTION(old, cudaRuntimeGetVersion, (int *));
        OK(cudaRuntimeGetVersion(&version));
        EXPECT(version == 12090);
        memset(&v11, 0x5a, sizeof v11);
        OK(cudaGetDeviceProperties_v2(&first, 0));
        OK(cudaGetDeviceProperties(&v11, 0));
        EXPECT(memcmp(&first, &v11, VT_DEVICE_PROP_V11_BYTES) == 0);
        EXPECT(((unsigned char *)&v11)[VT_DEVICE_PROP_V11_BYTES] == 0x5a); /* not a byte more */
    }
    {
        FUNCTION(new, cudaGetDeviceProperties, (struct vt_cudaDeviceProp_v13 *, int));
        FUNCTION(new, cudaRuntimeGetVersion, (int *));
        OK(cudaRuntimeGetVersion(&version));
        EXPECT(version == 13000);
        OK(cudaGetDeviceProperties(&second, 0));
    }
    EXPECT(strcmp(first.name, "vramtrace simulated GPU") == 0 &&
           strcmp(second.name, first.name) == 0);
    EXPECT(first.totalGlobalMem == 24 * GIB && second.totalGlobalMem == 24 * GIB);
    EXPECT(first.major == 8 && second.major == 8 && second.warpSize == 32 && first.warpSize == 32);
    EXPECT(first.multiProcessorCount == 108 && second.multiProcessorCount == 108);
    EXPECT(first.memoryPoolsSupported == 1 && second.memoryPoolsSupported == 1);
    EXPECT(second.maxGridSize[2] == 65535 && first.maxThreadsDim[0] == 1024);
    for (int i = 0; i < 2; i++) {
        struct runtime rt = i == 0 ? old : new;
        unsigned char bytes[sizeof(struct vt_cudaPointerAttributes_v13)];
        struct vt_cudaPointerAttributes_v12 *found = (void *)bytes;
        size_t used = i == 0 ? sizeof(struct vt_cudaPointerAttributes_v12) : sizeof bytes;
        void *p;
        FUNCTION(rt, cudaPointerGetAttributes, (void *, const void *));
        FUNCTION(rt, cudaMalloc, (void **, size_t));
        OK(cudaMalloc(&p, 100));
        memset(bytes, 0x5a, sizeof bytes);
        OK(cudaPointerGetAttributes(bytes, p));
        EXPECT(found->type == cudaMemoryTypeDevice && found->device == 0 &&
               found->devicePointer == p);
        EXPECT(found->hostPointer == NULL && (used == sizeof bytes || bytes[used] == 0x5a));
        OK(cudaPointerGetAttributes(bytes, &p));
        EXPECT(found->type == cudaMemoryTypeUnregistered && found->device == -2);
    }
}

static void layouts(void **state) {
    (void)state;
    in_child(NULL, layouts_body);
}

static void memory_of(struct runtime rt) {
    void *a, *b, *host;
    size_t pitch, free_bytes, total;
    struct cudaPitchedPtr cube;
    char text[16] = "0123456789abcde", out[16] = "";
    FUNCTION(rt, cudaMalloc, (void **, size_t));
    FUNCTION(rt, cudaMallocPitch, (void **, size_t *, size_t, size_t));
    FUNCTION(rt, cudaMalloc3D, (struct cudaPitchedPtr *, struct cudaExtent));
    FUNCTION(rt, cudaMallocManaged, (void **, size_t, unsigned));
    FUNCTION(rt, cudaMallocAsync, (void **, size_t, cudaStream_t));
    FUNCTION(rt, cudaFreeAsync_ptsz, (void *, cudaStream_t));
    FUNCTION(rt, cudaHostAlloc, (void **, size_t, unsigned));
    FUNCTION(rt, cudaFreeHost, (void *));
    FUNCTION(rt, cudaFree, (void *));
    FUNCTION(rt, cudaMemGetInfo, (size_t *, size_t *));
    FUNCTION(rt, cudaMemcpy, (void *, const void *, size_t, enum cudaMemcpyKind));
    FUNCTION(rt, cudaMemsetAsync, (void *, int, size_t, cudaStream_t));
    FUNCTION(rt, cudaDeviceReset, (void));
    FUNCTION(rt, cudaDeviceSynchronize, (void));
    uint64_t before = vramtrace_sim_live_bytes(0);
    OK(cudaMalloc(&a, 4096));
    OK(cudaMemcpy(a, text, sizeof text, cudaMemcpyHostToDevice));
    OK(cudaMemsetAsync(a, 'x', 4, NULL));
    OK(cudaMemcpy(out, a, sizeof out, cudaMemcpyDefault));
    EXPECT(strcmp(out, "xxxx456789abcde") == 0);
    ANSWERS(cudaErrorInvalidMemcpyDirection, cudaMemcpy(out, a, 1, 9));
    OK(cudaMallocPitch(&b, &pitch, 100, 10));
    EXPECT(vramtrace_sim_live_bytes(0) - before == 4096 + pitch * 10);
    OK(cudaMalloc3D(&cube, (struct cudaExtent){.width = 100, .height = 10, .depth = 5}));
    EXPECT(cube.pitch == pitch && cube.xsize == 100 && cube.ysize == 10);
    OK(cudaFree(cube.ptr));
    OK(cudaFree(b));
    OK(cudaMallocAsync(&b, 1000, NULL));
    EXPECT(vramtrace_sim_kind_bytes(0, VRAMTRACE_SIM_ASYNC) == 1000);
    OK(cudaFreeAsync_ptsz(b, NULL));
    EXPECT(vramtrace_sim_kind_bytes(0, VRAMTRACE_SIM_ASYNC) == 0);
    OK(cudaDeviceSynchronize());
    OK(cudaMallocManaged(&b, 5000, cudaMemAttachGlobal));
    OK(cudaHostAlloc(&host, 6000, cudaHostAllocDefault));
    EXPECT(vramtrace_sim_kind_bytes(0, VRAMTRACE_SIM_HOST) == 6000);
    OK(cudaFreeHost(host));
    OK(cudaMemGetInfo(&free_bytes, &total));
    EXPECT(total - free_bytes == 4096);
    OK(cudaDeviceReset());
    EXPECT(vramtrace_sim_live_bytes(0) == 0 &&
           vramtrace_sim_kind_bytes(0, VRAMTRACE_SIM_MANAGED) == 0);
    OK(cudaMalloc(&a, 10)); /* a new life */
    OK(cudaFree(a));
}

static void memory_body(void) {
    struct runtime old = open_runtime("12");
    memory_of(old);
    memory_of(open_runtime("13"));
    memory_of(old); /* whose context the other one has reset meanwhile */
}

static void memory(void **state) {
    (void)state;
    in_child(NULL, memory_body);
}

static void kernel(void) {}

static void launches_body(void) {
    struct runtime rt = open_runtime("13");
    static int image, variable, managed_target, *managed = &managed_target;
    void **(*register_image)(void *);
    void (*register_function)(void **, const void *, char *, const char *, int, void *, void *,
                              void *, void *, int *);
    void (*register_var)(void **, char *, char *, const char *, int, size_t, int, int);
    void (*register_managed)(void **, void **, char *, const char *, int, size_t, int, int);
    void (*register_end)(void **);
    void *found;
#define GET(pointer, name) (found = find(rt, name), memcpy(&pointer, &found, sizeof found))
    GET(register_image, "__cudaRegisterFatBinary");
    GET(register_function, "__cudaRegisterFunction");
    GET(register_var, "__cudaRegisterVar");
    GET(register_managed, "__cudaRegisterManagedVar");
    GET(register_end, "__cudaRegisterFatBinaryEnd");
#undef GET
    FUNCTION(rt, cudaLaunchKernel, (const void *, dim3, dim3, void **, size_t, cudaStream_t));
    FUNCTION(rt, cudaMemcpyToSymbol,
             (const void *, const void *, size_t, size_t, enum cudaMemcpyKind));
    FUNCTION(rt, cudaMemcpyFromSymbol, (void *, const void *, size_t, size_t, enum cudaMemcpyKind));
    const dim3 one = {1, 1, 1}, none = {0, 1, 1};
    const void *host = (const void *)(uintptr_t)kernel;
    void **handle = register_image(&image);
    register_function(handle, host, NULL, "kernel", -1, NULL, NULL, NULL, NULL, NULL);
    register_var(handle, (char *)&variable, NULL, "variable", 0, sizeof variable, 0, 0);
    register_managed(handle, (void **)(void *)&managed, NULL, "managed", 0, sizeof *managed, 0, 0);
    register_end(handle);
    EXPECT(managed != &managed_target); /* placed before any context */
    *managed = 5;
    OK(cudaLaunchKernel(host, one, one, NULL, 0, NULL));
    ANSWERS(cudaErrorInvalidValue, cudaLaunchKernel(host, none, one, NULL, 0, NULL));
    ANSWERS(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(&image, one, one, NULL, 0, NULL));
    int in = 42, out = 0;
    OK(cudaMemcpyToSymbol(&variable, &in, sizeof in, 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromSymbol(&out, &variable, sizeof out, 0, cudaMemcpyDeviceToHost));
    EXPECT(out == 42);
    ANSWERS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(&in, &in, 4, 0, cudaMemcpyHostToDevice));
    EXPECT(vramtrace_sim_live_bytes(-1) == 0); /* a module's variables are in no count */
}

static void launches(void **state) {
    (void)state;
    in_child(NULL, launches_body);
}

static void entry_points_body(void) {
    struct runtime rt = open_runtime("13");
    enum cudaDriverEntryPointQueryResult status;
    void *address;
    FUNCTION(rt, cudaGetDriverEntryPointByVersion,
             (const char *, void **, unsigned, unsigned long long,
              enum cudaDriverEntryPointQueryResult *));
    OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &address, 12000, 0, &status));
    EXPECT(address == dlsym(RTLD_DEFAULT, "cuMemAlloc_v2") &&
           status == cudaDriverEntryPointSuccess);
    OK(cudaGetDriverEntryPointByVersion("cuMemAllocAsync", &address, 12000, 2, &status));
    EXPECT(address == dlsym(RTLD_DEFAULT, "cuMemAllocAsync_ptsz"));
    OK(cudaGetDriverEntryPointByVersion("cuMemCreate", &address, 9000, 0, &status));
    EXPECT(address == NULL && status == cudaDriverEntryPointVersionNotSufficent);
    OK(cudaGetDriverEntryPointByVersion("cuNothing", &address, 12000, 0, &status));
    EXPECT(address == NULL && status == cudaDriverEntryPointSymbolNotFound);
}

static void entry_points(void **state) {
    (void)state;
    in_child(NULL, entry_points_body);
}

static void fork_body(void) {
    struct runtime rt = open_runtime("12");
    void *p;
    int count;
    FUNCTION(rt, cudaMalloc, (void **, size_t));
    FUNCTION(rt, cudaGetDeviceCount, (int *));
    OK(cudaMalloc(&p, 10));
    pid_t child = fork();
    if (child == 0) {
        ANSWERS(cudaErrorInitializationError, cudaMalloc(&p, 10));
        ANSWERS(cudaErrorInitializationError, cudaGetDeviceCount(&count));
        _exit(0);
    }
    int status;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

static void forked(void **state) {
    (void)state;
    in_child(NULL, fork_body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors),   cmocka_unit_test(layouts),      cmocka_unit_test(memory),
        cmocka_unit_test(launches), cmocka_unit_test(entry_points), cmocka_unit_test(forked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
