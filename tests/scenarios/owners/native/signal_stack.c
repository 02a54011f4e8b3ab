/* SPDX-License-Identifier: MIT */
/* OWNER on_signal in native_stack: 64 KiB */
/* OWNER main in native_stack: 32 KiB */
/* A handler with a stack of its own, which ends the program. */
#include "scene.h"

#include <signal.h>
#include <unistd.h>

static void on_signal(int number) {
    volatile CUdeviceptr local[2] = {ALLOC(64 * KIB), (CUdeviceptr)number};
    exit(local[1] == SIGUSR1 ? 0 : 1);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    static char memory[1 << 16];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    volatile CUdeviceptr local[2] = {ALLOC(32 * KIB), 0};
    raise(SIGUSR1);
    FREE(local[0]);
    return 1;
}
