/* SPDX-License-Identifier: MIT */
/* OWNER first in native_stack: 64 KiB */
/* OWNER second in native_stack: 32 KiB */
/* Locals of two fibers that are switched off: one's stack is on the heap, the other's was mapped. */
#include "scene.h"

#include <sys/mman.h>
#include <ucontext.h>

static ucontext_t main_context, contexts[2];

static void first(void) {
    volatile CUdeviceptr local[2] = {ALLOC(64 * KIB), 0};
    swapcontext(&contexts[0], &main_context);
    FREE(local[0]);
}

static void second(void) {
    volatile CUdeviceptr local[2] = {ALLOC(32 * KIB), 0};
    swapcontext(&contexts[1], &main_context);
    FREE(local[0]);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 2; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_size = 1 << 16;
        contexts[i].uc_stack.ss_sp =
            i ? mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
              : malloc(1 << 16);
        makecontext(&contexts[i], i ? second : first, 0);
        swapcontext(&main_context, &contexts[i]);
    }
    return 0;
}
