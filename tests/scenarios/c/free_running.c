/* SPDX-License-Identifier: MIT */
/* Four workers that do not wait for each other; one keeps a block in each of its rounds: for good, or
 * until the work is done. */
#include "scene.h"

#include <pthread.h>

enum { WORKERS = 4, ROUNDS = 200 };
static CUdeviceptr *kept;
static CUcontext shared;

static void *worker(void *argument) {
    int number = *(int *)argument;
    CHECK(cuCtxSetCurrent(shared));
    for (int i = 0; i < ROUNDS; i++) {
        CUdeviceptr block = ALLOC(64 * KIB);
        FREE(block);
        if (number == 2)
            kept[i] = ALLOC(1 * MIB); /* LEAK */
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[WORKERS];
    int numbers[WORKERS];
    SCENE(argc, argv);
    shared = context;
    kept = new_list(ROUNDS);
    for (int i = 0; i < WORKERS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, worker, &numbers[i]);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < ROUNDS && !leaking; i++)
        FREE(kept[i]);
    return 0;
}
