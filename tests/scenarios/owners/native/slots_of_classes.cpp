/* SPDX-License-Identifier: MIT */
/* OWNER taken in global: 3 x 64 KiB */
/* OWNER ring in global: 4 x 32 KiB */
/* OWNER pointers in global: 3 x 16 KiB */
/* OWNER vectors in global: 3 x 8 KiB */
/* OWNER maybe in global: 3 x 4 KiB */
/* OWNER buffer in global: 4 x 2 KiB */
/* OWNER nobody: 4 KiB */
/* SLOT taken: 3 x 64 KiB */
/* SLOT ring: 4 x 32 KiB */
/* SLOT buffer: 4 x 2 KiB */
/* TYPES */
/* No type says which slots are in use; what the C++ library has in a slot is empty where it is not. */
#include "scene.h"

#include <array>
#include <memory>
#include <optional>
#include <unistd.h>
#include <vector>

struct Buffer {
    CUdeviceptr memory;
    size_t bytes;
};

template <class T, size_t N> class Stack {
    std::array<T, N> items_{};
    size_t count_ = 0;

  public:
    void push(T item) {
        items_[count_++] = item;
    }
};

template <class T, size_t N> class Ring {
    std::array<T, N> items_{};
    size_t head_ = 0, count_ = 0;

  public:
    void push(T item) {
        items_[(head_ + count_++) % N] = item;
    }
    void pop() {
        head_ = (head_ + 1) % N;
        count_--;
    }
};

static Stack<Buffer, 4> taken;
static std::unique_ptr<Ring<Buffer, 8>> ring;
static std::unique_ptr<Buffer> pointers[4];
static std::array<std::vector<Buffer>, 4> vectors;
static std::optional<Buffer> maybe[6];
static std::unique_ptr<Buffer[]> buffer;

static void __attribute__((noinline)) fill() {
    ring = std::make_unique<Ring<Buffer, 8>>();
    buffer = std::make_unique<Buffer[]>(6);
    for (int i = 0; i < 4; i++) {
        ring->push({ALLOC(32 * KIB), 1});
        maybe[i] = Buffer{ALLOC(4 * KIB), 1};
        buffer[i] = Buffer{ALLOC(2 * KIB), 1};
    }
    for (int i = 0; i < 3; i++) {
        taken.push({ALLOC(64 * KIB), 1});
        pointers[i] = std::make_unique<Buffer>(Buffer{ALLOC(16 * KIB), 1});
        vectors[i].push_back({ALLOC(8 * KIB), 1});
    }
    KEEP(*ring);
    KEEP(maybe);
    ring->pop();
    maybe[2].reset();
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    KEEP(taken);
    KEEP(*ring);
    KEEP(ring);
    KEEP(pointers);
    KEEP(vectors);
    KEEP(maybe);
    KEEP(buffer);
    _exit(over[100]);
}
