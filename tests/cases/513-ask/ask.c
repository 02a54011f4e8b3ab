/* SPDX-License-Identifier: MIT */
/* Allocates, and asks the driver nothing: what a log says of the device the tracer has asked for. */
#include "../../cuda_case.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

CUresult cuStreamCreate(CUstream *stream, unsigned flags);

#define MIB (1u << 20)

static CUdeviceptr take(size_t bytes) {
    CUdeviceptr p;
    errno = 77;
    CHECK(cuMemAlloc_v2(&p, bytes));
    EXPECT(errno == 77);
    return p;
}

static void take_late(void) {
    take(900 * MIB);
}

int main(int argc, char **argv) {
    const char *scene = argc > 1 ? argv[1] : "";
    CUdeviceptr p;
    start_cuda();
    if (!strcmp(scene, "rises")) { /* 512 steps of a mebibyte */
        for (int i = 0; i < 512; i++)
            take(MIB);
    } else if (!strcmp(scene, "level")) { /* one peak, again and again */
        for (int i = 0; i < 512; i++) {
            p = take(100 * MIB);
            CHECK(cuMemFree_v2(p));
        }
    } else if (!strcmp(scene, "refused")) {
        take(700 * MIB);
        errno = 77;
        EXPECT(cuMemAlloc_v2(&p, 500 * MIB) == CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT(errno == 77);
        _exit(1);
    } else if (!strcmp(scene, "captured")) { /* nothing is asked until the capture has ended */
        CUstream stream;
        CUgraph graph;
        CHECK(cuStreamCreate(&stream, 1));
        CHECK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        take(100 * MIB);
        CHECK(cuStreamEndCapture(stream, &graph));
        if (argc > 2)
            take(MIB);
    } else if (!strcmp(scene, "exit")) {
        take(2 * MIB);
        atexit(take_late);
    }
    return 0;
}
