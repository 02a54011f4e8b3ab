/* SPDX-License-Identifier: MIT */
/* One thread allocates, another frees; or leaves out one in six. */
#include "scene.h"

#include <pthread.h>

enum { ITEMS = 300, ROOM = 8 };
static CUdeviceptr *queue, *dropped;
static int made, taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static CUcontext shared;

static void *consumer(void *argument) {
    CHECK(cuCtxSetCurrent(shared));
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        while (taken == made)
            pthread_cond_wait(&changed, &lock);
        CUdeviceptr item = queue[taken++ % ROOM];
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
        if (leaking && i % 6 == 5)
            dropped[i] = item;
        else
            FREE(item);
    }
    return argument;
}

int main(int argc, char **argv) {
    pthread_t thread;
    SCENE(argc, argv);
    shared = context;
    queue = new_list(ROOM);
    dropped = new_list(ITEMS);
    pthread_create(&thread, NULL, consumer, NULL);
    for (int i = 0; i < ITEMS; i++) {
        CUdeviceptr item = ALLOC(96 * KIB); /* LEAK */
        pthread_mutex_lock(&lock);
        while (made - taken == ROOM)
            pthread_cond_wait(&changed, &lock);
        queue[made++ % ROOM] = item;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, NULL);
    return 0;
}
