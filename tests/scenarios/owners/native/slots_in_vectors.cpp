/* SPDX-License-Identifier: MIT */
/* TYPES */
/* OWNER ring in global: 5 x 64 KiB */
/* OWNER table in global: 5 x 32 KiB */
/* OWNER cells in global: 5 x 16 KiB */
/* OWNER on_device in global: 5 x 8 KiB */
/* OWNER entries in global: 5 x 4 KiB */
/* SLOT cells: 5 x 16 KiB */
/* SLOT entries: 4 x 4 KiB */
/* The elements of vectors are in use; the slots of arrays in them may not be. */
#include "scene.h"

#include <unistd.h>
#include <vector>

struct Buffer {
    CUdeviceptr memory;
    size_t bytes;
};

struct Ring {
    std::vector<Buffer> items = std::vector<Buffer>(8);
    size_t head = 0, tail = 0;
};

struct Entry {
    int key;
    bool used;
    CUdeviceptr value;
};

enum class State { Empty, Full, Deleted };
struct Cell {
    State state;
    CUdeviceptr value;
};

struct OnDevice {
    int device = 3;
    std::vector<Buffer> buffers;
};

struct Marked {
    CUdeviceptr value;
    int in_use;
};

static Ring ring;
static std::vector<Entry> table(8);
static Cell cells[8];
static OnDevice on_device;
static Marked *entries;

static void __attribute__((noinline)) fill() {
    entries = new Marked[8]();
    for (int i = 0; i < 5; i++) {
        ring.items[ring.tail++ % 8] = {ALLOC(64 * KIB), 1};
        table[(size_t)i] = {i, true, ALLOC(32 * KIB)};
        cells[i] = {State::Full, ALLOC(16 * KIB)};
        on_device.buffers.push_back({ALLOC(8 * KIB), 1});
        entries[i] = {ALLOC(4 * KIB), 1};
    }
    ring.head += 2;
    table[2].used = false;
    cells[0].state = State::Deleted;
    entries[0].in_use = 0;
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    fill();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    KEEP(ring);
    KEEP(table);
    KEEP(cells);
    KEEP(on_device);
    KEEP(*entries);
    KEEP(entries);
    _exit(over[100]);
}
