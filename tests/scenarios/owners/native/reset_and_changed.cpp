/* SPDX-License-Identifier: MIT */
/* TYPES */
/* OWNER machines in global: 64 KiB, 32 KiB */
/* OWNER things in global: 2 x 8 KiB */
/* OWNER shapes in global: 4 KiB, 2 KiB */
/* OWNER nobody: 16 KiB, 2 x 8 KiB, 1 KiB */
/* Variants that go from one alternative to another, values of any type, and classes behind a base class. */
#include "scene.h"

#include <any>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <variant>
#include <vector>

struct Frame {
    int number;
    CUdeviceptr pixels;
};
struct Idle {};
struct Running {
    int step;
    CUdeviceptr work;
};
struct Done {
    int code;
    char text[8];
    CUdeviceptr result;
};
using State = std::variant<Idle, Running, Done>;
struct Shape {
    std::optional<Frame> cache;
    virtual ~Shape() {}
};
struct Circle : Shape {
    CUdeviceptr buffer;
};

static std::vector<State> machines(3);
static std::map<std::string, std::any> things;
static std::vector<std::unique_ptr<Shape>> shapes;

static void __attribute__((noinline)) fill() {
    machines[0] = Running{1, ALLOC(64 * KIB)};
    machines[1] = Done{2, "yes", ALLOC(32 * KIB)};
    machines[2] = Done{3, "no", ALLOC(16 * KIB)};
    machines[2].emplace<Idle>();
    for (const char *name : {"a", "b", "c", "d"})
        if (name[0] % 2)
            things[name] = ALLOC(8 * KIB);
        else
            things[name] = Frame{1, ALLOC(8 * KIB)};
    things["c"].reset();
    things["d"].reset();
    auto circle = std::make_unique<Circle>();
    circle->buffer = ALLOC(4 * KIB);
    circle->cache = Frame{4, ALLOC(2 * KIB)};
    shapes.push_back(std::move(circle));
    shapes.push_back(std::make_unique<Circle>());
    shapes[1]->cache = Frame{5, ALLOC(1 * KIB)};
    KEEP(machines);
    KEEP(*shapes[1]);
    shapes[1]->cache.reset();
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[8192];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    KEEP(machines);
    KEEP(things);
    KEEP(shapes);
    _exit(over[100]);
}
