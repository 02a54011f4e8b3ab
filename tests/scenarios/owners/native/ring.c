/* SPDX-License-Identifier: MIT */
/* OWNER jobs in global: 3 x 64 KiB */
/* SLOT jobs: 3 x 64 KiB */
/* A ring buffer under a mutex. What was taken out is freed. */
#include "scene.h"

#include <pthread.h>

static struct {
    pthread_mutex_t mutex;
    unsigned head, tail;
    CUdeviceptr slots[8];
} jobs = {.mutex = PTHREAD_MUTEX_INITIALIZER};

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&jobs.mutex);
        jobs.slots[jobs.tail++ % 8] = ALLOC(64 * KIB);
        pthread_mutex_unlock(&jobs.mutex);
    }
    for (int i = 0; i < 2; i++)
        FREE(jobs.slots[jobs.head++ % 8]);
    return 0;
}
