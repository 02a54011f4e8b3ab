/* SPDX-License-Identifier: MIT */
/* TYPES */
/* OWNER done in global: 64 KiB */
/* OWNER pool in global: 32 KiB */
/* OWNER nobody: 16 KiB */
/* What an optional, a variant and a thread's optional had before is in a list and a pointer now, and nowhere. */
#include "scene.h"

#include <list>
#include <optional>
#include <unistd.h>
#include <variant>

struct Frame {
    int number;
    CUdeviceptr pixels;
};

static std::optional<Frame> current;
static std::variant<std::monostate, Frame> source;
static thread_local std::optional<Frame> last;
static std::list<CUdeviceptr> done;
static CUdeviceptr pool;

static void __attribute__((noinline)) fill() {
    current = Frame{1, ALLOC(64 * KIB)};
    source = Frame{2, ALLOC(32 * KIB)};
    last = Frame{3, ALLOC(16 * KIB)};
    KEEP(current);
    KEEP(source);
    KEEP(last);
    done.push_back(current->pixels);
    pool = std::get<Frame>(source).pixels;
    current.reset();
    source = std::monostate();
    last.reset();
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    KEEP(current);
    KEEP(source);
    KEEP(last);
    KEEP(done);
    KEEP(pool);
    _exit(over[100]);
}
