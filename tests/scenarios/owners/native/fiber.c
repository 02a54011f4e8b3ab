/* SPDX-License-Identifier: MIT */
/* MAYBE body in native_stack | fiber_context in global | fiber_stack in global: 64 KiB */
/* A local of a fiber, which is switched off. */
#include "scene.h"

#include <ucontext.h>

static ucontext_t main_context, fiber_context;
static char *fiber_stack;

static void body(void) {
    volatile CUdeviceptr local[2] = {ALLOC(64 * KIB), 0};
    swapcontext(&fiber_context, &main_context);
    FREE(local[0]);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    getcontext(&fiber_context);
    fiber_stack = malloc(1 << 16);
    fiber_context.uc_stack.ss_sp = fiber_stack;
    fiber_context.uc_stack.ss_size = 1 << 16;
    makecontext(&fiber_context, body, 0);
    swapcontext(&main_context, &fiber_context);
    return 0;
}
