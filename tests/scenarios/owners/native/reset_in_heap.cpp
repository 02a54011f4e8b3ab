/* SPDX-License-Identifier: MIT */
/* TYPES */
/* OWNER engine in global: 128 KiB */
/* OWNER owned in global: 256 KiB */
/* OWNER slots in global: 2 x 16 KiB */
/* OWNER by_number in global: 3 x 8 KiB */
/* OWNER by_name in global: 3 x 4 KiB */
/* OWNER queue in global: 2 x 2 KiB */
/* OWNER rows in global: 2 x 1 KiB */
/* OWNER nobody: 64 KiB, 16 KiB, 8 KiB, 4 KiB, 2 KiB, 1 KiB */
/* Optionals and variants in the heap: some hold what they were given, others do not any more. */
#include "scene.h"

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <unordered_map>
#include <variant>
#include <vector>

struct Frame {
    int number;
    CUdeviceptr pixels;
};
struct Engine {
    std::string name = "engine";
    std::optional<Frame> first, second;
};
using State = std::variant<std::monostate, Frame>;

static Engine *engine;
static std::unique_ptr<Engine> owned;
static std::vector<std::optional<Frame>> slots(3);
static std::map<int, std::optional<Frame>> by_number;
static std::unordered_map<std::string, State> by_name;
static std::deque<std::optional<Frame>> queue;
static std::list<std::vector<State>> rows;

static void __attribute__((noinline)) fill() {
    engine = new Engine;
    engine->first = Frame{1, ALLOC(128 * KIB)};
    engine->second = Frame{2, ALLOC(64 * KIB)};
    owned = std::make_unique<Engine>();
    owned->second = Frame{3, ALLOC(256 * KIB)};
    for (auto &slot : slots)
        slot = Frame{4, ALLOC(16 * KIB)};
    for (int i = 0; i < 4; i++)
        by_number[i] = Frame{5, ALLOC(8 * KIB)};
    for (int i = 0; i < 4; i++)
        by_name["a name that takes memory of its own " + std::to_string(i)] =
            Frame{6, ALLOC(4 * KIB)};
    for (int i = 0; i < 3; i++)
        queue.push_back(Frame{7, ALLOC(2 * KIB)});
    for (int i = 0; i < 3; i++)
        rows.push_back({std::monostate(), Frame{8, ALLOC(KIB)}});
    KEEP(*engine);
    KEEP(*owned);
    engine->second.reset();
    slots[1].reset();
    by_number[2].reset();
    by_name.begin()->second = std::monostate();
    queue[1].reset();
    rows.back()[1] = std::monostate();
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    KEEP(*engine);
    KEEP(*owned);
    KEEP(slots);
    KEEP(by_number);
    KEEP(by_name);
    KEEP(queue);
    KEEP(rows);
    _exit(over[100]);
}
