/* SPDX-License-Identifier: MIT */
/*
 * objects [COUNT [thread]]: C++ objects keep memory, in a list, a map and a set by address, and objects with a
 * vtable; with `thread` also the stack of a living thread. Memory that the program frees is full of pointers to them,
 * and a library may get it. 3000000 in the list, 3000100 in the map, 3000200 in objects, 3000300 in the set, 3000400
 * on the thread's stack.
 */
#include "programs.h"

#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

struct DeviceBuffer {
    void *address;
    size_t bytes;
    cudaStream_t stream;
    cudaEvent_t event;
};

struct Tensor {
    virtual ~Tensor() {}
    void *address;
    size_t bytes;
    long shape[14];
};

struct Weights : Tensor {
    int layer;
};

/* Not destroyed at exit. */
static auto &buffers = *new std::list<DeviceBuffer>;
static auto &by_address = *new std::map<void *, size_t>;
static auto &addresses = *new std::set<void *>;
static auto &tensors = *new std::vector<std::unique_ptr<Tensor>>;
static auto &streams = *new std::vector<cudaStream_t>;
static auto &mutex = *new std::mutex;
static auto &changed = *new std::condition_variable;
static bool ready;

/* Blocks that are freed with pointers to what lives in them. */
APART void leave_remains(const DeviceBuffer &buffer, Tensor *tensor) {
    std::vector<Tensor *> all;
    std::map<long, Tensor *> some;
    DeviceBuffer *copies[8];
    for (auto &t : tensors) {
        some[(long)all.size()] = t.get();
        all.push_back(t.get());
    }
    for (auto &copy : copies)
        copy = new DeviceBuffer(buffer);
    for (size_t words = 5; words < 20; words += 2) {
        auto block = (Tensor **)malloc(words * sizeof(Tensor *));
        for (size_t i = 0; i < words; i++)
            block[i] = tensor;
        lose(block);
        free(block);
    }
    for (auto copy : copies)
        delete copy;
}

APART void fill(size_t count) {
    for (auto i = 0; i < 4; i++) {
        cudaStream_t stream;
        CHECK(cudaStreamCreate(&stream));
        streams.push_back(stream);
    }
    for (size_t i = 0; i < count; i++) {
        DeviceBuffer buffer = {take(3000000 + i), 3000000 + i, streams[i % 4], nullptr};
        CHECK(cudaEventCreate(&buffer.event));
        buffers.push_back(buffer);
        by_address[take(3000100 + i)] = 3000100 + i;
        auto weights = new Weights();
        weights->address = take(3000200 + i);
        weights->bytes = 3000200 + i;
        weights->layer = (int)i;
        tensors.emplace_back(weights);
        addresses.insert(take(3000300 + i));
        lose(take(4000000 + i));
        leave_remains(buffer, weights);
        CHECK(cudaFree(take(5000000)));
    }
}

static void live_on(size_t count) {
    void *volatile mine[16] = {};
    for (size_t i = 0; i < count && i < 16; i++)
        mine[i] = take(3000400 + i);
    for (int i = 0; i < 8; i++)
        CHECK(cudaFree(take(6000000)));
    std::unique_lock<std::mutex> lock(mutex);
    ready = true;
    changed.notify_all();
    changed.wait(lock, [] { return false; });
    for (auto &address : mine)
        lose(address);
}

int main(int argc, char **argv) {
    size_t count = argc > 1 ? (size_t)atoi(argv[1]) : 24;
    fill(count);
    if (argc > 2) {
        std::thread(live_on, count).detach();
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [] { return ready; });
    }
    return end();
}
