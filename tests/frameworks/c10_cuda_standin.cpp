// SPDX-License-Identifier: MIT
// A stand-in for libc10_cuda.so: a caching allocator with the sizes and habits of PyTorch's native
// one, so that what the tracer says of a real one can be checked where there is no GPU.
//
//   - Requests are rounded to 512 B. Up to 1 MiB they come from the small pool, whose segments are
//     2 MiB; larger ones from the large pool, whose segments are 20 MiB, or from 10 MiB on the
//     request rounded to 2 MiB.
//   - The best fit among free blocks is split where what remains is worth keeping (512 B in the small
//     pool, more than 1 MiB in the large one); a freed block merges with its free neighbours.
//   - No segment is given back before empty_cache, or before a request fails: then all segments that
//     are wholly free are given back and the request is tried once more.
//   - Each block is reported to libc10 under the device's mutex, with totals after the change.
#include "c10_standin.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

// The runtime's, under its version node.
extern "C" int cudaMalloc(void **pointer, size_t size);
extern "C" int cudaFree(void *pointer);
extern "C" int cudaSetDevice(int device);
extern "C" int cudaGetLastError(void);
extern "C" int cudaMemGetInfo(size_t *free, size_t *total);

namespace {

constexpr size_t MIN_BLOCK = 512, SMALL = 1 << 20, SMALL_SEGMENT = 2 << 20,
                 LARGE_SEGMENT = 20 << 20, LARGE = 10 << 20, ROUND_LARGE = 2 << 20;

struct Block {
    char *address;
    size_t size;
    Block *before, *after; // in the same segment
    bool used, small;
    int device;
};

struct BySize {
    bool operator()(const Block *a, const Block *b) const {
        return a->size != b->size ? a->size < b->size : a->address < b->address;
    }
};
using Pool = std::set<Block *, BySize>;

struct Device {
    std::recursive_mutex mutex;
    Pool small, large;
    uint64_t allocated = 0, reserved = 0, peak_allocated = 0, peak_reserved = 0, retries = 0,
             ooms = 0;

    Pool &pool(const Block *b) {
        return b->small ? small : large;
    }
};

Device devices[8];
std::mutex blocks_mutex;
std::unordered_map<void *, Block *> blocks; // that are in use
int era = 2100;                             // of PyTorch: 1600, 1700, 1100 (1.10), 2100
int lie_about_device = -2;                  // what is reported as the index instead; -2: the truth

c10::Device said(int device) {
    return {c10::CUDA, (int8_t)(lie_about_device == -2 ? device : lie_about_device)};
}

void report(const Block *b, int64_t size) {
    Device &d = devices[b->device];
    switch (era) {
    case 1600:
        c10::reportMemoryUsageToProfiler(said(b->device), size);
        break;
    case 1700: // the internal Block, not the device's address
        c10::reportMemoryUsageToProfiler((void *)b, size, said(b->device));
        break;
    case 1100:
        c10::reportMemoryUsageToProfiler(b->address, size, (int64_t)d.allocated,
                                         (int64_t)d.reserved, said(b->device));
        break;
    default:
        c10::reportMemoryUsageToProfiler(b->address, size, (size_t)d.allocated, (size_t)d.reserved,
                                         said(b->device));
    }
}

void report_oom(int device, size_t size) {
    Device &d = devices[device];
    if (era == 1100)
        c10::reportOutOfMemoryToProfiler((int64_t)size, (int64_t)d.allocated, (int64_t)d.reserved,
                                         said(device));
    else if (era == 2000)
        c10::reportOutOfMemoryToProfiler(size, (size_t)d.allocated, (size_t)d.reserved,
                                         said(device));
    else
        c10::reportOutOfMemoryToProfiler((int64_t)size, (size_t)d.allocated, (size_t)d.reserved,
                                         said(device));
}

size_t up(size_t size, size_t to) {
    return (size + to - 1) / to * to;
}

Block *find_free(Device &d, size_t size, bool small) {
    Block key{nullptr, size, nullptr, nullptr, false, small, 0};
    Pool &pool = small ? d.small : d.large;
    auto found = pool.lower_bound(&key);
    if (found == pool.end())
        return nullptr;
    Block *b = *found;
    pool.erase(found);
    return b;
}

Block *new_segment(Device &d, int device, size_t size, bool small) {
    size_t bytes = small ? SMALL_SEGMENT : size < LARGE ? LARGE_SEGMENT : up(size, ROUND_LARGE);
    void *address = nullptr;
    cudaSetDevice(device);
    if (cudaMalloc(&address, bytes) != 0) {
        cudaGetLastError();
        return nullptr;
    }
    d.reserved += bytes;
    d.peak_reserved = std::max(d.peak_reserved, d.reserved);
    return new Block{(char *)address, bytes, nullptr, nullptr, false, small, device};
}

void release_cached(Device &d) {
    for (Pool *pool : {&d.small, &d.large})
        for (auto i = pool->begin(); i != pool->end();) {
            Block *b = *i;
            if (b->before || b->after) {
                ++i;
                continue;
            }
            cudaFree(b->address);
            d.reserved -= b->size;
            i = pool->erase(i);
            delete b;
        }
}

void split(Device &d, Block *b, size_t size) {
    size_t rest = b->size - size;
    if (b->small ? rest < MIN_BLOCK : rest <= SMALL)
        return;
    Block *other = new Block{b->address + size, rest, b, b->after, false, b->small, b->device};
    if (b->after)
        b->after->before = other;
    b->after = other;
    b->size = size;
    d.pool(other).insert(other);
}

// Takes the free block `other`, a neighbour, into b.
void merge(Device &d, Block *b, Block *other) {
    if (!other || other->used)
        return;
    d.pool(other).erase(other);
    if (other == b->before) {
        b->address = other->address;
        b->before = other->before;
        if (b->before)
            b->before->after = b;
    } else {
        b->after = other->after;
        if (b->after)
            b->after->before = b;
    }
    b->size += other->size;
    delete other;
}

} // namespace

// A device address; NULL: out of memory, and reported so.
STANDIN_API void *standin_malloc(size_t size, int device) {
    Device &d = devices[device];
    size = std::max(MIN_BLOCK, up(size, MIN_BLOCK));
    bool small = size <= SMALL;
    std::lock_guard<std::recursive_mutex> lock(d.mutex);
    Block *b = find_free(d, size, small);
    if (!b)
        b = new_segment(d, device, size, small);
    if (!b) {
        d.retries++;
        release_cached(d);
        b = new_segment(d, device, size, small);
    }
    if (!b) {
        size_t free_bytes, total; // for the error's text
        cudaMemGetInfo(&free_bytes, &total);
        d.ooms++;
        report_oom(device, size);
        return nullptr;
    }
    split(d, b, size);
    b->used = true;
    d.allocated += b->size;
    d.peak_allocated = std::max(d.peak_allocated, d.allocated);
    {
        std::lock_guard<std::mutex> all(blocks_mutex);
        blocks[b->address] = b;
    }
    report(b, (int64_t)b->size);
    return b->address;
}

STANDIN_API void standin_free(void *address) {
    Block *b;
    {
        std::lock_guard<std::mutex> all(blocks_mutex);
        auto found = blocks.find(address);
        if (found == blocks.end())
            return;
        b = found->second;
        blocks.erase(found);
    }
    Device &d = devices[b->device];
    std::lock_guard<std::recursive_mutex> lock(d.mutex);
    d.allocated -= b->size;
    Block reported = *b;
    b->used = false;
    if (era == 1700)
        report(b, -(int64_t)b->size);
    merge(d, b, b->before);
    merge(d, b, b->after);
    d.pool(b).insert(b);
    if (era != 1700)
        report(&reported, -(int64_t)reported.size);
}

STANDIN_API void standin_empty_cache(void) {
    for (Device &d : devices) {
        std::lock_guard<std::recursive_mutex> lock(d.mutex);
        release_cached(d);
    }
}

// allocated, reserved, their peaks, retries, OOMs
STANDIN_API void standin_stats(int device, uint64_t out[6]) {
    Device &d = devices[device];
    std::lock_guard<std::recursive_mutex> lock(d.mutex);
    const uint64_t stats[] = {d.allocated,     d.reserved, d.peak_allocated,
                              d.peak_reserved, d.retries,  d.ooms};
    std::copy(stats, stats + 6, out);
}

STANDIN_API void standin_era(int which) {
    era = which;
}

STANDIN_API void standin_lie_about_device(int index) {
    lie_about_device = index;
}

// What no allocator should say: for tests of what the tracer makes of it.
STANDIN_API void standin_say(void *address, int64_t size, int type, int device) {
    c10::reportMemoryUsageToProfiler(address, size, (size_t)devices[device].allocated,
                                     (size_t)devices[device].reserved,
                                     c10::Device{(int8_t)type, (int8_t)device});
}
