/* SPDX-License-Identifier: MIT */
/* OWNER answer in global: 64 KiB */
/* The result of a future that nobody asked for. */
#include "scene.h"

#include <future>
#include <unistd.h>

static std::future<CUdeviceptr> answer;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    std::promise<CUdeviceptr> promise;
    answer = promise.get_future();
    promise.set_value(ALLOC(64 * KIB));
    _exit(0);
}
