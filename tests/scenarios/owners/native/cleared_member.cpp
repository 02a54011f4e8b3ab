/* SPDX-License-Identifier: MIT */
/* OWNER trainer in global: 64 KiB */
/* OWNER nobody: 200 x 4 KiB */
/* A vector that is a member of an object and was cleared: it keeps its memory, which keeps the words. */
#include "scene.h"

#include <unistd.h>
#include <vector>

struct Trainer {
    CUdeviceptr weights = 0;
    std::vector<CUdeviceptr> losses;
};

static Trainer *trainer;

static void __attribute__((noinline)) fill() {
    trainer = new Trainer;
    trainer->weights = ALLOC(64 * KIB);
    for (int i = 0; i < 200; i++)
        trainer->losses.push_back(ALLOC(4 * KIB));
    trainer->losses.clear();
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    _exit(over[100]);
}
