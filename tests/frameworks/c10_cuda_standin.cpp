// SPDX-License-Identifier: MIT
// A stand-in for libc10_cuda.so: a caching allocator with the sizes and habits of PyTorch's native
// one, so that what the tracer says of a real one can be checked where there is no GPU.
//
//   - Requests are rounded to 512 B. Up to 1 MiB they come from the small pool, whose segments are
//     2 MiB; larger ones from the large pool, whose segments are 20 MiB, or from 10 MiB on the
//     request rounded to 2 MiB.
//   - The best fit among free blocks is split where what remains is worth keeping (512 B in the small
//     pool, more than 1 MiB in the large one); a freed block merges with its free neighbours.
//   - A free block serves only requests of its own pool and stream. Private pools are never released.
//   - No segment is given back before empty_cache, or before a request fails: then all segments that
//     are wholly free are given back and the request is tried once more.
//   - PYTORCH_CUDA_ALLOC_CONF (or PYTORCH_ALLOC_CONF) with `max_split_size_mb:N`: larger blocks are
//     neither split nor given to smaller requests. With `expandable_segments:True`: each pool of a
//     stream is one range of addresses, in which 2 MiB (small pool) or 20 MiB are mapped at a time,
//     and unmapped again where they are wholly free.
//   - Each block is reported to libc10 under the device's mutex, with totals after the change.
#include "c10_standin.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

// The runtime's, under its version node.
extern "C" int cudaMalloc(void **pointer, size_t size);
extern "C" int cudaFree(void *pointer);
extern "C" int cudaSetDevice(int device);
extern "C" int cudaGetLastError(void);
extern "C" int cudaMemGetInfo(size_t *free, size_t *total);
extern "C" int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                                unsigned long long flags, int *result);

namespace {

constexpr size_t MIN_BLOCK = 512, SMALL = 1 << 20, SMALL_SEGMENT = 2 << 20,
                 LARGE_SEGMENT = 20 << 20, LARGE = 10 << 20, ROUND_LARGE = 2 << 20;

class Range;
struct BlockPool;

// Begins as PyTorch's, which the tracer reads. Its set of streams has 5 words, before PyTorch 2.0 7.
struct Block {
    int8_t device;
    uintptr_t stream;
    uint64_t users[SET_WORDS] = {};
    size_t size, requested = 0;
    BlockPool *pool;
    char *address;
    Block *before = nullptr, *after = nullptr; // in the same segment
    bool used = false;
    Range *range; // of an expandable segment; null: memory of cudaMalloc
    bool mapped;

    Block(char *address, size_t size, BlockPool *pool, int device, uintptr_t stream, Range *range,
          bool mapped)
        : device((int8_t)device), stream(stream), size(size), pool(pool), address(address),
          range(range), mapped(mapped) {}
};

struct BySize {
    bool operator()(const Block *a, const Block *b) const {
        if (a->stream != b->stream)
            return a->stream < b->stream;
        return a->size != b->size ? a->size < b->size : a->address < b->address;
    }
};
using Pool = std::set<Block *, BySize>;

struct Private;
struct BlockPool { // as PyTorch's
    Pool blocks;
    bool small;
    Private *owner; // of a private pool
};
// A CUDA graph's, or a MemPool's.
struct Private {
    uint64_t id[4];
    BlockPool large, small;
};

struct Device {
    std::recursive_mutex mutex;
    BlockPool small = {{}, true, nullptr}, large = {{}, false, nullptr};
    std::map<int, std::unique_ptr<Private>> privates;
    std::vector<std::unique_ptr<Range>> ranges;
    uint64_t allocated = 0, reserved = 0, peak_allocated = 0, peak_reserved = 0, retries = 0,
             ooms = 0;
    uint64_t most = UINT64_MAX; // reserved, by standin_limit

    Pool &pool(const Block *b) {
        return b->pool->blocks;
    }
    // `number`: of a private pool; 0: the device's own.
    BlockPool &pool(int number, bool is_small) {
        if (!number)
            return is_small ? small : large;
        auto &found = privates[number];
        if (!found) {
            found = std::make_unique<Private>();
            found->large = {{}, false, found.get()};
            found->small = {{}, true, found.get()};
        }
        return is_small ? found->small : found->large;
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

// --- settings

size_t max_split = SIZE_MAX;
bool expandable;

const char *setting(const char *name) {
    for (const char *variable : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"})
        if (const char *value = getenv(variable))
            if (const char *found = strstr(value, name))
                return found + strlen(name) + 1;
    return "";
}

void read_settings() {
    const char *mib = setting("max_split_size_mb");
    expandable = !strncmp(setting("expandable_segments"), "True", 4);
    if (*mib)
        max_split = (size_t)atoll(mib) << 20;
}

// --- expandable segments

struct Location {
    int type, id;
};
struct Properties { // CUmemAllocationProp
    int type, handles;
    Location location;
    void *win32;
    unsigned char flags[8];
};
struct Access { // CUmemAccessDesc
    Location location;
    int flags;
};

template <typename... Arguments> int driver(const char *name, Arguments... arguments) {
    void *function = nullptr;
    int result;
    if (cudaGetDriverEntryPointByVersion(name, &function, 12000, 0, &result) != 0 || !function) {
        fprintf(stderr, "stand-in: no %s\n", name);
        abort();
    }
    return ((int (*)(Arguments...))function)(arguments...);
}

// The addresses of a pool and stream, of which some are mapped to physical memory, by granules.
class Range {
  public:
    Range(Device &of, int device, uintptr_t stream, BlockPool *pool)
        : pool(pool), device(device), stream(stream),
          granule(pool->small ? SMALL_SEGMENT : LARGE_SEGMENT), of(of) {
        size_t free_bytes, total;
        unsigned long long address;
        cudaMemGetInfo(&free_bytes, &total);
        size = (total + total / 8 + granule - 1) / granule * granule;
        driver("cuMemAddressReserve", &address, size, (size_t)0, (unsigned long long)0,
               (unsigned long long)0);
        start = (char *)address;
        handles.resize(size / granule);
        first = new Block(start, size, pool, device, stream, this, false);
    }

    // Maps an unmapped block's first bytes. False: out of memory.
    bool map(Block *b, size_t bytes) {
        size_t from = (size_t)(b->address - start) / granule,
               count = (bytes + granule - 1) / granule;
        Properties wanted = {1, 1, {1, device}, nullptr, {}};
        for (size_t i = from; i < from + count; i++)
            if (driver("cuMemCreate", &handles[i], granule, (const Properties *)&wanted, 0ull) !=
                0) {
                while (i-- > from)
                    driver("cuMemRelease", handles[i]);
                return false;
            }
        for (size_t i = from; i < from + count; i++)
            driver("cuMemMap", at(i), granule, (size_t)0, handles[i], 0ull);
        Access access = {{1, device}, 3};
        driver("cuMemSetAccess", at(from), count * granule, (const Access *)&access, (size_t)1);
        cut(b, count * granule);
        b->mapped = true;
        count_reserved((int64_t)(count * granule));
        return true;
    }

    // Unmaps the granules that lie wholly in a free block. Blocks before and behind them stay.
    void unmap(Block *b) {
        size_t from = ((size_t)(b->address - start) + granule - 1) / granule;
        size_t to = (size_t)(b->address + b->size - start) / granule;
        if (from >= to)
            return;
        for (size_t i = from; i < to; i++) {
            driver("cuMemUnmap", at(i), granule);
            driver("cuMemRelease", handles[i]);
        }
        of.pool(b).erase(b);
        if (start + from * granule > b->address) {
            Block *middle = cut(b, (size_t)(start + from * granule - b->address));
            of.pool(b).insert(b);
            b = middle;
        }
        if (Block *rest = cut(b, (to - from) * granule))
            of.pool(rest).insert(rest);
        b->mapped = false;
        count_reserved(-(int64_t)((to - from) * granule));
        join(b, b->after);
        if (b->before && !b->before->mapped)
            join(b->before, b);
    }

    // The lowest addresses that are free, or not mapped, for `bytes`: mapped as far as needed. False:
    // there are none. A null block: out of memory.
    bool extend(size_t bytes, Block **found) {
        for (Block *b = first; b; b = b->after) {
            Block *from = b->before && !b->before->used ? b->before : b;
            size_t room = 0;
            for (Block *c = from; c && !c->used && room < bytes; c = c->after)
                room += c->size;
            if (!b->mapped && room >= bytes) {
                *found = take(from, bytes);
                return true;
            }
        }
        return false;
    }

    BlockPool *pool;
    int device;
    uintptr_t stream;
    Block *first;

  private:
    size_t granule, size;
    char *start;
    std::vector<unsigned long long> handles;
    Device &of;

    unsigned long long at(size_t i) {
        return (unsigned long long)(start + i * granule);
    }
    void count_reserved(int64_t bytes) {
        of.reserved += (uint64_t)bytes;
        of.peak_reserved = std::max(of.peak_reserved, of.reserved);
    }
    // Leaves b with its first bytes. What remains is the next block; null: nothing.
    Block *cut(Block *b, size_t bytes) {
        if (b->size <= bytes)
            return nullptr;
        Block *rest = new Block(*b);
        rest->address += bytes;
        rest->size -= bytes;
        rest->before = b;
        if (rest->after)
            rest->after->before = rest;
        b->after = rest;
        b->size = bytes;
        return rest;
    }
    // Takes `after`, which follows b, into b if both are free, and mapped or not.
    void join(Block *b, Block *after) {
        if (!after || b->used || after->used || b->mapped != after->mapped)
            return;
        if (after->mapped)
            of.pool(after).erase(after);
        b->size += after->size;
        b->after = after->after;
        if (b->after)
            b->after->before = b;
        delete after;
    }
    Block *take(Block *from, size_t bytes) {
        if (!from->mapped && !map(from, std::min(bytes, from->size)))
            return nullptr;
        else
            of.pool(from).erase(from);
        while (from->size < bytes) {
            Block *next = from->after;
            if (next->mapped)
                of.pool(next).erase(next);
            else if (!map(next, std::min(bytes - from->size, next->size))) {
                of.pool(from).insert(from);
                return nullptr;
            }
            of.pool(next).insert(next); // join takes it out again
            join(from, next);
        }
        if (from->after && from->after->mapped)
            join(from, from->after);
        return from;
    }
};

Block *extend_range(Device &d, int device, uintptr_t stream, size_t size, BlockPool *pool) {
    Block *found = nullptr;
    for (auto &range : d.ranges)
        if (range->stream == stream && range->pool == pool && range->extend(size, &found))
            return found;
    cudaSetDevice(device);
    d.ranges.push_back(std::make_unique<Range>(d, device, stream, pool));
    d.ranges.back()->extend(size, &found);
    return found;
}

// --- the cache

// What a block at the end of what is mapped counts as: what it can grow to.
size_t grown(const Block *b) {
    return b->size + (b->after && !b->after->mapped ? b->after->size : 0);
}

Block *find_free(BlockPool *of, size_t size, uintptr_t stream) {
    Block key(nullptr, size, of, 0, stream, nullptr, true);
    Pool &pool = of->blocks;
    auto found = pool.lower_bound(&key);
    if (found == pool.end() || (*found)->stream != stream)
        return nullptr;
    if ((*found)->range)
        for (auto next = std::next(found);
             next != pool.end() && (*next)->stream == stream && grown(*next) < grown(*found);
             ++next)
            found = next;
    Block *b = *found;
    if (size < max_split ? b->size >= max_split : b->size >= size + LARGE_SEGMENT)
        return nullptr;
    pool.erase(found);
    return b;
}

Block *new_segment(Device &d, int device, size_t size, BlockPool *pool, uintptr_t stream) {
    size_t bytes = pool->small    ? SMALL_SEGMENT
                   : size < LARGE ? LARGE_SEGMENT
                                  : up(size, ROUND_LARGE);
    void *address = nullptr;
    if (d.reserved + bytes > d.most)
        return nullptr;
    if (expandable)
        return extend_range(d, device, stream, size, pool);
    cudaSetDevice(device);
    if (cudaMalloc(&address, bytes) != 0) {
        cudaGetLastError();
        return nullptr;
    }
    d.reserved += bytes;
    d.peak_reserved = std::max(d.peak_reserved, d.reserved);
    return new Block((char *)address, bytes, pool, device, stream, nullptr, true);
}

void release_segment(Device &d, Block *b) {
    cudaFree(b->address);
    d.reserved -= b->size;
    d.pool(b).erase(b);
    delete b;
}

void release_cached(Device &d) {
    for (Pool *pool : {&d.large.blocks, &d.small.blocks})
        for (Block *b : std::vector<Block *>(pool->begin(), pool->end())) {
            if (b->range)
                b->range->unmap(b);
            else if (!b->before && !b->after)
                release_segment(d, b);
        }
}

// With max_split_size_mb: gives back one large block that would do, or several, the largest first.
bool release_oversized(Device &d, size_t size, BlockPool *of, uintptr_t stream) {
    if (max_split == SIZE_MAX)
        return false;
    Pool &pool = of->blocks;
    size_t wanted = std::max(size, max_split), released = 0;
    Block key(nullptr, wanted, of, 0, stream, nullptr, true);
    auto found = pool.lower_bound(&key);
    if (found != pool.end() && (*found)->stream == stream && !(*found)->range) {
        release_segment(d, *found);
        return true;
    }
    while (released < wanted) {
        found = pool.lower_bound(&key);
        if (found == pool.begin())
            return false;
        Block *b = *--found;
        if (b->size < max_split || b->stream != stream || b->range || b->before || b->after)
            return false;
        released += b->size;
        release_segment(d, b);
    }
    return true;
}

void split(Device &d, Block *b, size_t size) {
    size_t rest = b->size - size;
    if (b->pool->small || expandable ? rest < MIN_BLOCK : size >= max_split || rest <= SMALL)
        return;
    Block *other = new Block(*b);
    other->address += size;
    other->size = rest;
    other->before = b;
    if (b->after)
        b->after->before = other;
    b->after = other;
    b->size = size;
    d.pool(other).insert(other);
}

// Takes the free block `other`, a neighbour, into b.
void merge(Device &d, Block *b, Block *other) {
    if (!other || other->used || !other->mapped)
        return;
    d.pool(other).erase(other);
    if (other == b->before) {
        b->address = other->address;
        b->before = other->before;
        if (b->before)
            b->before->after = b;
        else if (b->range)
            b->range->first = b;
    } else {
        b->after = other->after;
        if (b->after)
            b->after->before = b;
    }
    b->size += other->size;
    delete other;
}

thread_local uintptr_t current_stream;
thread_local int current_pool;

} // namespace

// A device address; NULL: out of memory, and reported so.
STANDIN_API void *standin_malloc(size_t size, int device) {
    Device &d = devices[device];
    size_t requested = size;
    size = std::max(MIN_BLOCK, up(size, MIN_BLOCK));
    uintptr_t stream = current_stream;
    std::lock_guard<std::recursive_mutex> lock(d.mutex);
    BlockPool *pool = &d.pool(current_pool, size <= SMALL);
    static std::once_flag once;
    std::call_once(once, read_settings);
    Block *b = find_free(pool, size, stream);
    if (!b)
        b = new_segment(d, device, size, pool, stream);
    if (!b && release_oversized(d, size, pool, stream))
        b = new_segment(d, device, size, pool, stream);
    if (!b) {
        d.retries++;
        release_cached(d);
        b = new_segment(d, device, size, pool, stream);
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
    b->requested = requested;
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

// The thread's requests come from this stream from now on.
STANDIN_API void standin_stream(int stream) {
    current_stream = (uintptr_t)stream;
}

// The same of a private pool; 0: the device's own pools.
STANDIN_API void standin_pool(int pool) {
    current_pool = pool;
}

// As set_per_process_memory_fraction: what would be reserved beyond is refused, without asking the
// driver.
STANDIN_API void standin_limit(int device, uint64_t most) {
    devices[device].most = most;
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
