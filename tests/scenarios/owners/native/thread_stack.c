/* SPDX-License-Identifier: MIT */
/* OWNER worker in native_stack: 2 x 64 KiB */
/* A thread that waits, with an array on its stack. */
#include "scene.h"

#include <pthread.h>

static pthread_barrier_t ready, never;

static void *worker(void *context) {
    CHECK(cuCtxSetCurrent(context));
    volatile CUdeviceptr batches[2] = {ALLOC(64 * KIB), ALLOC(64 * KIB)};
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&never);
    return (void *)batches[0];
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    pthread_t thread;
    pthread_barrier_init(&ready, NULL, 2);
    pthread_barrier_init(&never, NULL, 2);
    pthread_create(&thread, NULL, worker, context);
    pthread_barrier_wait(&ready);
    return 0;
}
