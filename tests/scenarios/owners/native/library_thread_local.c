/* SPDX-License-Identifier: MIT */
/* OWNER seen_scratch in thread_local: 3 x 64 KiB */
/* LIBRARY seen_library */
/* A thread-local of a library that was opened, of the thread that ends the program and of threads that wait. */
#include "scene.h"

#include <dlfcn.h>
#include <pthread.h>

static void (*keep)(CUdeviceptr);
static pthread_barrier_t ready, never;

static void __attribute__((noinline)) reserve(void) {
    keep(ALLOC(64 * KIB));
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
    keep = (void (*)(CUdeviceptr))dlsym(dlopen("seen_library.so", RTLD_NOW), "seen_keep_in_thread");
    pthread_barrier_init(&ready, NULL, 3);
    pthread_barrier_init(&never, NULL, 3);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread, NULL, worker, context);
    pthread_barrier_wait(&ready);
    reserve();
    return 0;
}
