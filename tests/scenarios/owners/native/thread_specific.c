/* SPDX-License-Identifier: MIT */
/* MAYBE main in native_stack: 64 KiB */
/* What pthread_setspecific keeps is in the C library's own table. */
#include "scene.h"

#include <pthread.h>

static pthread_key_t key;

struct state {
    CUdeviceptr scratch;
};

static void __attribute__((noinline)) start(void) {
    struct state *state = malloc(sizeof *state);
    state->scratch = ALLOC(64 * KIB);
    pthread_setspecific(key, state);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    pthread_key_create(&key, NULL);
    start();
    return 0;
}
