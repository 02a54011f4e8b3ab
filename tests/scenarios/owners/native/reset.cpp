/* SPDX-License-Identifier: MIT */
/* TYPES */
/* OWNER nobody: 64 KiB, 32 KiB, 16 KiB */
/* An optional, a variant and an any that hold nothing any more; what they had is not freed. */
#include "scene.h"

#include <any>
#include <optional>
#include <string>
#include <unistd.h>
#include <variant>

struct Frame {
    int number;
    CUdeviceptr pixels;
};

static std::optional<Frame> last_frame;
static std::variant<std::monostate, Frame> source;
static std::any anything;

static void __attribute__((noinline)) fill() {
    last_frame = Frame{1, ALLOC(64 * KIB)};
    source = Frame{2, ALLOC(32 * KIB)};
    anything = ALLOC(16 * KIB);
    KEEP(last_frame);
    KEEP(source);
    KEEP(anything);
    last_frame.reset();
    source = std::monostate();
    anything.reset();
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    KEEP(last_frame);
    KEEP(source);
    KEEP(anything);
    _exit(over[100]);
}
