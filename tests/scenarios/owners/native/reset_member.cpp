/* SPDX-License-Identifier: MIT */
/* TYPES */
/* OWNER engine in global: 128 KiB, 64 KiB */
/* OWNER slots in global: 3 x 16 KiB */
/* OWNER nobody: 2 x 16 KiB, 8 KiB, 4 KiB, 2 KiB */
/* Optionals and a variant in members, arrays and a static variable of a function: some hold what they were given, others do
 * not any more. */
#include "scene.h"

#include <array>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <variant>

struct Frame {
    int number;
    CUdeviceptr pixels;
};
struct Base {
    int id = 1;
    std::optional<Frame> last;
};
struct Engine : Base {
    char name[24] = "engine";
    std::pair<int, std::optional<Frame>> first;
    std::optional<std::pair<int, std::optional<CUdeviceptr>>> nested;
    std::variant<int, std::string, Frame> mode;
};

static Engine engine;
static std::array<std::optional<Frame>, 5> slots;

static std::optional<CUdeviceptr> &scratch() {
    static std::optional<CUdeviceptr> kept;
    return kept;
}

static void __attribute__((noinline)) fill() {
    engine.last = Frame{1, ALLOC(128 * KIB)};
    engine.first = {2, Frame{2, ALLOC(8 * KIB)}};
    engine.nested = std::pair(3, std::optional(ALLOC(4 * KIB)));
    engine.mode = Frame{4, ALLOC(64 * KIB)};
    scratch() = ALLOC(2 * KIB);
    for (auto &slot : slots)
        slot = Frame{5, ALLOC(16 * KIB)};
    KEEP(engine);
    KEEP(slots);
    engine.first.second.reset();
    engine.nested->second.reset();
    scratch().reset();
    slots[1].reset();
    slots[3].reset();
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    KEEP(engine);
    KEEP(slots);
    KEEP(scratch());
    _exit(over[100]);
}
