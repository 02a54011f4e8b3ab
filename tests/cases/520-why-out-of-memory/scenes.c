/* SPDX-License-Identifier: MIT */
/*
 * Scenes of running out of memory, by the driver alone: the argument names the scene, the runner
 * sets the device's size and who else is on it. Each ends with status 1 where the program gives up.
 */
#include "../../cuda_case.h"

#include <string.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static CUdeviceptr take(size_t bytes) {
    CUdeviceptr p = 0;
    CHECK(cuMemAlloc_v2(&p, bytes));
    return p;
}

static int refused(size_t bytes) {
    CUdeviceptr p;
    return cuMemAlloc_v2(&p, bytes) == CUDA_ERROR_OUT_OF_MEMORY;
}

static void ask(void) {
    size_t free_bytes, total;
    CHECK(cuMemGetInfo_v2(&free_bytes, &total));
}

__attribute__((noinline)) static void hold_much(void) {
    CUdeviceptr p;
    CHECK(cuMemAlloc_v2(&p, 700 * MIB));
}

int main(int argc, char **argv) {
    const char *scene = argc > 1 ? argv[1] : "";
    start_cuda();
    if (!strcmp(scene, "too-large")) { /* more than there is */
        ask();
        EXPECT(refused(2048 * MIB));
    } else if (!strcmp(scene, "full")) { /* what there is is taken */
        ask();
        hold_much();
        take(200 * MIB);
        EXPECT(refused(300 * MIB));
    } else if (!strcmp(scene, "full-unasked")) { /* the same, and the driver is asked after it */
        hold_much();
        EXPECT(refused(400 * MIB));
        ask();
    } else if (!strcmp(scene, "other")) { /* it would fit if it were alone */
        ask();
        take(100 * MIB);
        EXPECT(refused(500 * MIB));
    } else if (!strcmp(scene, "never-asked")) { /* nobody knows how large the device is */
        take(100 * MIB);
        EXPECT(refused(1000 * MIB));
        _exit(1);
    } else if (!strcmp(scene, "retry")) { /* frees, and has what it wanted */
        ask();
        CUdeviceptr p = take(600 * MIB);
        EXPECT(refused(600 * MIB));
        CHECK(cuMemFree_v2(p));
        take(600 * MIB);
        return 0;
    } else if (!strcmp(scene, "smaller")) { /* makes do with less */
        ask();
        hold_much();
        EXPECT(refused(600 * MIB));
        take(200 * MIB);
        return 0;
    } else if (!strcmp(scene, "pinned")) { /* no device's memory */
        void *host;
        size_t huge = (size_t)1 << 55;
        EXPECT(cuMemAllocHost_v2(&host, huge) == CUDA_ERROR_OUT_OF_MEMORY);
    } else { /* "refuse": VRAMTRACE_LIMIT or VRAMTRACE_INJECT does it */
        ask();
        take(100 * MIB);
        EXPECT(refused(200 * MIB));
    }
    return 1;
}
