/* SPDX-License-Identifier: MIT */
/* pairs THREADS PAIRS: each thread makes that many allocate/free pairs of its own sizes, and keeps
 * every 1,000th. Prints what the driver itself says is left: count and bytes. */
#include "../../cuda_case.h"

#include <pthread.h>

static CUcontext context;
static unsigned pairs;

static void *work(void *arg) {
    size_t size = 256 + 16 * (size_t)(uintptr_t)arg;
    CHECK(cuCtxSetCurrent(context));
    for (unsigned i = 0; i < pairs; i++) {
        CUdeviceptr p;
        CHECK(cuMemAlloc_v2(&p, size + i % 64));
        if (i % 1000 != 999)
            CHECK(cuMemFree_v2(p));
    }
    return NULL;
}

int main(int argc, char **argv) {
    unsigned n = argc > 2 ? (unsigned)atoi(argv[1]) : 0;
    pthread_t threads[64];
    EXPECT(n > 0 && n <= 64);
    pairs = (unsigned)atoi(argv[2]);
    context = start_cuda();
    for (unsigned i = 0; i < n; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i));
    for (unsigned i = 0; i < n; i++)
        CHECK(pthread_join(threads[i], NULL));
    printf("%llu %llu\n", (unsigned long long)vramtrace_sim_live_count(-1),
           (unsigned long long)vramtrace_sim_live_bytes(-1));
    return 0;
}
