/* SPDX-License-Identifier: MIT */
/* bulk HOW: what ends many allocations at once, and what does not. Prints what the driver says is
 * left just before the end of main: device bytes and count, and host bytes. */
#include "../../cuda_case.h"

#include <string.h>
#include <unistd.h>

#define VT_RUNTIME(id, symbol, since, until, role, prototype) cudaError_t symbol prototype;
#include "vramtrace/hooks.def"

static void left(void) {
    printf("%llu %llu %llu\n", (unsigned long long)vramtrace_sim_live_bytes(-1),
           (unsigned long long)vramtrace_sim_live_count(-1),
           (unsigned long long)vramtrace_sim_kind_bytes(-1, VRAMTRACE_SIM_HOST));
}

static void fill(size_t n) {
    CUdeviceptr p;
    void *h;
    size_t pitch;
    CHECK(cuMemAlloc_v2(&p, n));
    CHECK(cuMemAllocManaged(&p, n, 1));
    CHECK(cuMemAllocHost_v2(&h, n));
    CHECK(cuMemAllocPitch_v2(&p, &pitch, n, 3, 4));
    CHECK(cuMemAllocAsync(&p, n, NULL)); /* of the pool: no context's */
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    CUcontext first, second;
    void *p;
    CHECK(cuInit(0));
    if (strcmp(how, "destroy") == 0) {
        CHECK(cuCtxCreate_v2(&first, 0, 0));
        fill(1000);
        CHECK(cuCtxCreate_v2(&second, 0, 0));
        fill(2000);
        CHECK(cuCtxDestroy_v2(first)); /* not the current one */
        fill(3000);
        left();
    } else if (strcmp(how, "release") == 0 || strcmp(how, "reset") == 0) {
        CHECK(cuDevicePrimaryCtxRetain(&first, 0));
        CHECK(cuDevicePrimaryCtxRetain(&second, 0));
        CHECK(cuCtxSetCurrent(first));
        fill(1000);
        if (strcmp(how, "reset") == 0) {
            CHECK(cuDevicePrimaryCtxReset_v2(0));
        } else {
            CHECK(cuDevicePrimaryCtxRelease_v2(0)); /* one use is left: nothing ends */
            left();
            CHECK(cuDevicePrimaryCtxRelease_v2(0));
        }
        left();
    } else if (strcmp(how, "runtime-reset") == 0) {
        CHECK(cudaMalloc(&p, 1000));
        CHECK(cudaMallocHost(&p, 500));
        CHECK(cudaDeviceReset());
        left();
        CHECK(cudaMalloc(&p, 77));
        left();
    } else if (strcmp(how, "teardown") == 0) {
        CHECK(cudaMalloc(&p, 1000));
        CHECK(cudaMallocHost(&p, 500));
        left();
    } else if (strcmp(how, "two-devices") == 0) {
        CHECK(cuCtxCreate_v2(&first, 0, 0));
        fill(1000);
        CHECK(cuCtxCreate_v2(&second, 0, 1));
        fill(2000);
        CHECK(cuCtxPopCurrent_v2(&second));
        fill(3000);
        printf("%llu %llu\n", (unsigned long long)vramtrace_sim_live_bytes(0),
               (unsigned long long)vramtrace_sim_live_bytes(1));
        left();
    }
    return 0;
}
