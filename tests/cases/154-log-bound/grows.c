/* SPDX-License-Identifier: MIT */
/* grows THREADS PAIRS KEPT LATE LOST END: each thread makes and frees PAIRS blocks, and keeps one at KEPT of these, evenly
 * over the time. Then main keeps LATE blocks, allocated by a function of their own, LOST of them by no pointer, and ends by
 * returning, by SIGKILL ("kill") or by exec ("exec"). */
#include "../../cuda_case.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int pairs, kept_each, late;
static CUdeviceptr *kept;
static CUcontext context;

static void *work(void *number) {
    CUdeviceptr *mine = kept + (size_t)number * (size_t)kept_each, piece;
    int every = pairs / kept_each;
    CHECK(cuCtxSetCurrent(context));
    for (int i = 0; i < pairs; i++) {
        CHECK(cuMemAlloc_v2(&piece, 512 + (size_t)i % 7 * 512));
        CHECK(cuMemFree_v2(piece));
        if (i % every == 0 && i / every < kept_each)
            CHECK(cuMemAlloc_v2(mine++, 4096));
    }
    return NULL;
}

static __attribute__((noinline)) void keep_late(CUdeviceptr *to, int lost) {
    CUdeviceptr dropped;
    for (int i = 0; i < late; i++)
        CHECK(cuMemAlloc_v2(i < lost ? &dropped : to + i, 8192));
    dropped = 0;
    __asm__ volatile("" : : "r"(&dropped) : "memory");
}

int main(int argc, char **argv) {
    EXPECT(argc > 6);
    long threads = atol(argv[1]);
    pairs = atoi(argv[2]), kept_each = atoi(argv[3]), late = atoi(argv[4]);
    pthread_t *thread = calloc((size_t)threads, sizeof *thread);
    kept = calloc((size_t)threads * (size_t)kept_each + (size_t)late, sizeof *kept);
    context = start_cuda();
    for (long i = 0; i < threads; i++)
        CHECK(pthread_create(&thread[i], NULL, work, (void *)i));
    for (long i = 0; i < threads; i++)
        CHECK(pthread_join(thread[i], NULL));
    keep_late(kept + threads * kept_each, atoi(argv[5]));
    if (!strcmp(argv[6], "kill"))
        raise(SIGKILL);
    if (!strcmp(argv[6], "exec"))
        execl("/bin/true", "true", NULL);
    return 0;
}
