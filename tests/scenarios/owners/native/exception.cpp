/* SPDX-License-Identifier: MIT */
/* OWNER failure in global: 64 KiB */
/* An exception that is kept. */
#include "scene.h"

#include <exception>
#include <stdexcept>
#include <unistd.h>

struct Failed : std::runtime_error {
    CUdeviceptr batch;
    explicit Failed(CUdeviceptr batch) : std::runtime_error("failed"), batch(batch) {}
};

static std::exception_ptr failure;

static void __attribute__((noinline)) load() {
    throw Failed(ALLOC(64 * KIB));
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    try {
        load();
    } catch (const Failed &) {
        failure = std::current_exception();
    }
    _exit(0);
}
