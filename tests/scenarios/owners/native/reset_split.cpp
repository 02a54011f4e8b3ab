/* SPDX-License-Identifier: MIT */
/* TYPES */
/* OWNER engaged in global: 128 KiB */
/* OWNER chosen in global: 64 KiB */
/* OWNER nobody: 32 KiB, 16 KiB, 8 KiB */
/* Optionals and variants of which clang makes a variable of each member, since nobody has their address. */
#include "scene.h"

#include <optional>
#include <unistd.h>
#include <variant>

struct Frame {
    CUdeviceptr pixels;
    int number;
};
struct Named {
    long number;
    CUdeviceptr pixels;
};

static std::optional<Frame> last, engaged;
static std::optional<Named> behind;
static std::variant<std::monostate, Frame> chosen, unchosen;
static volatile int on = 1;

static void __attribute__((noinline)) use(CUdeviceptr memory) {
    __asm__ volatile("" : : "r"(memory) : "memory");
}

/* What is in them is used more than once, and given up only at run time. */
static void __attribute__((noinline)) look(bool reset) {
    if (last)
        use(last->pixels + (CUdeviceptr)last->number);
    if (engaged)
        use(engaged->pixels + (CUdeviceptr)engaged->number);
    if (behind)
        use(behind->pixels + (CUdeviceptr)behind->number);
    if (chosen.index() == 1)
        use(std::get_if<Frame>(&chosen)->pixels);
    if (unchosen.index() == 1)
        use(std::get_if<Frame>(&unchosen)->pixels);
    if (reset) {
        last.reset();
        behind.reset();
        unchosen = std::monostate();
    }
}

static void __attribute__((noinline)) fill() {
    engaged = Frame{ALLOC(128 * KIB), 1};
    chosen = Frame{ALLOC(64 * KIB), 2};
    last = Frame{ALLOC(32 * KIB), 3};
    behind = Named{4, ALLOC(16 * KIB)};
    unchosen = Frame{ALLOC(8 * KIB), 5};
    look(false);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    look(on);
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    look(!on);
    _exit(over[100]);
}
