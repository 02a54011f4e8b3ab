/* SPDX-License-Identifier: MIT */
/* OWNER handlers in global: 2 x 64 KiB, 32 KiB */
/* Captured variables of lambdas in std::function: one that fits into it, one that does not. */
#include "scene.h"

#include <functional>
#include <unistd.h>
#include <vector>

static std::vector<std::function<CUdeviceptr(int)>> handlers;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    CUdeviceptr small = ALLOC(32 * KIB), first = ALLOC(64 * KIB), second = ALLOC(64 * KIB);
    handlers.push_back([small](int) { return small; });
    handlers.push_back([first, second, argc](int which) { return which == argc ? first : second; });
    small = first = second = 0;
    _exit(0);
}
