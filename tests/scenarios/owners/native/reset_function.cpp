/* SPDX-License-Identifier: MIT */
/* STANDARD gnu++2b */
/* TYPES */
/* OWNER on_done in global: 64 KiB */
/* OWNER result in global: 32 KiB */
/* OWNER nobody: 16 KiB, 8 KiB, 4 KiB */
/* Functions and what was expected: one holds what it was given, others do not any more. */
#include "scene.h"

#include <functional>
#include <unistd.h>
#include <version>
#ifdef __cpp_lib_expected
#include <expected>
#else
#include <variant>
namespace std {
template <class T, class E> using expected = variant<E, T>;
template <class E> E unexpected(E e) {
    return e;
}
} // namespace std
#endif

struct Frame {
    int number;
    CUdeviceptr pixels;
};

static std::function<CUdeviceptr()> on_done, on_error;
static std::expected<Frame, int> result = std::unexpected(1), failed = std::unexpected(1);
#ifdef __cpp_lib_move_only_function
static std::move_only_function<CUdeviceptr()> once;
#else
static std::function<CUdeviceptr()> once;
#endif

static void __attribute__((noinline)) fill() {
    CUdeviceptr a = ALLOC(64 * KIB), b = ALLOC(16 * KIB), c = ALLOC(4 * KIB);
    on_done = [a] { return a; };
    on_error = [b] { return b; };
    once = [c] { return c; };
    result = Frame{1, ALLOC(32 * KIB)};
    failed = Frame{2, ALLOC(8 * KIB)};
    KEEP(on_done);
    KEEP(on_error);
    KEEP(once);
    KEEP(failed);
    on_error = nullptr;
    once = nullptr;
    failed = std::unexpected(2);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    KEEP(on_done);
    KEEP(on_error);
    KEEP(once);
    KEEP(result);
    KEEP(failed);
    _exit(over[100]);
}
