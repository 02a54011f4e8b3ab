/* SPDX-License-Identifier: MIT */
/* ends HOW: one block, and a snapshot that is asked for. `missed`: while another thread runs, so that it is only taken of a
 * copy; `bound`: then more events than its log may be long. */
#include "../../cuda_case.h"
#include "vramtrace.h"

#include <pthread.h>
#include <string.h>

static void *runs(void *nothing) {
    for (;;)
        __asm__ volatile("");
    return nothing;
}

int main(int argc, char **argv) {
    CUdeviceptr p;
    pthread_t thread;
    EXPECT(argc == 2);
    start_cuda();
    CHECK(cuMemAlloc_v2(&p, 65536));
    if (!strcmp(argv[1], "missed"))
        CHECK(pthread_create(&thread, NULL, runs, NULL));
    vramtrace_snapshot("asked");
    for (int i = 0; !strcmp(argv[1], "bound") && i < 60000; i++) {
        CHECK(cuMemAlloc_v2(&p, 4096 + (size_t)i % 5 * 100000));
        if (i % 300)
            CHECK(cuMemFree_v2(p));
    }
    return 0;
}
