/* SPDX-License-Identifier: MIT */
/* OWNER scratch in thread_local: 2 x 64 KiB */
/* A thread-local of threads that wait. */
#include "scene.h"

#include <pthread.h>

static __thread CUdeviceptr scratch;
static pthread_barrier_t ready, never;

static void __attribute__((noinline)) reserve(void) {
    scratch = ALLOC(64 * KIB);
    KEEP(scratch);
}

static void *worker(void *context) {
    CHECK(cuCtxSetCurrent(context));
    reserve();
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&never);
    return NULL;
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    pthread_t thread;
    pthread_barrier_init(&ready, NULL, 3);
    pthread_barrier_init(&never, NULL, 3);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread, NULL, worker, context);
    pthread_barrier_wait(&ready);
    return 0;
}
