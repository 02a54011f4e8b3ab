/* SPDX-License-Identifier: MIT */
/* TYPES */
/* OWNER slots in global: 329 x 4 KiB */
/* OWNER frames in global: 2500 x 1 KiB */
/* OWNER nobody: 2671 x 4 KiB */
/* 3,000 optionals, every other one reset, and a vector that has all that it shows. Of so many not all are looked at: of what is
 * not, the vector without optionals is believed, the other is not. */
#include "scene.h"

#include <optional>
#include <unistd.h>
#include <vector>

static std::vector<std::optional<CUdeviceptr>> slots(3000);
static std::vector<CUdeviceptr> frames(2500);

static void __attribute__((noinline)) fill() {
    for (auto &slot : slots)
        slot = ALLOC(4 * KIB);
    for (auto &frame : frames)
        frame = ALLOC(KIB);
    KEEP(slots);
    for (size_t i = 0; i < slots.size(); i += 2)
        slots[i].reset();
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[8192];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    KEEP(slots);
    KEEP(frames);
    _exit(over[100]);
}
