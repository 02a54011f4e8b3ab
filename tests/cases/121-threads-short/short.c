/* SPDX-License-Identifier: MIT */
/* 5,000 threads that live for a few allocations each, up to 4 at a time, and leave one behind every
 * 100th. */
#include "../../cuda_case.h"

#include <pthread.h>

static CUcontext context;

static void *work(void *arg) {
    CUdeviceptr p[3];
    CHECK(cuCtxSetCurrent(context));
    for (int i = 0; i < 3; i++)
        CHECK(cuMemAlloc_v2(&p[i], 512));
    for (int i = (uintptr_t)arg % 100 == 0; i < 3; i++)
        CHECK(cuMemFree_v2(p[i]));
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    context = start_cuda();
    for (unsigned i = 0; i < 5000; i += 4) {
        for (unsigned k = 0; k < 4; k++)
            CHECK(pthread_create(&threads[k], NULL, work, (void *)(uintptr_t)(i + k)));
        for (unsigned k = 0; k < 4; k++)
            CHECK(pthread_join(threads[k], NULL));
    }
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned lines = 0;
    for (int c; (c = getc(maps)) != EOF;)
        lines += c == '\n';
    printf("%llu %u\n", (unsigned long long)vramtrace_sim_live_count(-1), lines);
    return 0;
}
