/* SPDX-License-Identifier: MIT */
/* Eight threads do the same work in step; one of them keeps what it makes. */
#include "scene.h"

#include <pthread.h>

static CUdeviceptr *kept;
static CUcontext shared;
static pthread_barrier_t in_step;

static void *worker(void *argument) {
    long number = (long)argument;
    CHECK(cuCtxSetCurrent(shared));
    for (int i = 0; i < 150; i++) {
        pthread_barrier_wait(&in_step);
        CUdeviceptr tile = ALLOC(128 * KIB); /* LEAK */
        WORK();
        if (leaking && number == 5)
            kept[i] = tile;
        else
            FREE(tile);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[8];
    SCENE(argc, argv);
    shared = context;
    pthread_barrier_init(&in_step, NULL, 8);
    kept = new_list(150);
    for (long i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
