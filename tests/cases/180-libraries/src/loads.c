/* SPDX-License-Identifier: MIT */
/* loads ROUNDS THREADS PLUGIN...: each thread opens, calls and closes each in turn, and begins with another one. Prints how often a
 * plug-in lay where the thread's one before had. */
#define _GNU_SOURCE
#include "../../../cuda_case.h"

#include <dlfcn.h>
#include <pthread.h>

static char **plugins;
static int rounds, count, same; /* same: atomic */
static CUcontext context;

static void *load(void *first) {
    void *last = NULL;
    CHECK(cuCtxSetCurrent(context));
    for (int i = (int)(long)first; i < (int)(long)first + rounds; i++) {
        void *handle = dlopen(plugins[i % count], RTLD_NOW | RTLD_LOCAL);
        int (*plugin)(void) = handle ? (int (*)(void))dlsym(handle, "plugin") : NULL;
        EXPECT(plugin);
        __atomic_add_fetch(&same, last == (void *)plugin, __ATOMIC_RELAXED);
        last = (void *)plugin;
        CHECK(plugin());
        CHECK(dlclose(handle));
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread[16];
    long threads = atoi(argv[2]);
    rounds = atoi(argv[1]);
    plugins = argv + 3;
    count = argc - 3;
    context = start_cuda();
    for (long i = 1; i < threads; i++)
        CHECK(pthread_create(&thread[i], NULL, load, (void *)i));
    load(NULL);
    for (long i = 1; i < threads; i++)
        CHECK(pthread_join(thread[i], NULL));
    printf("%d\n", same);
    return 0;
}
