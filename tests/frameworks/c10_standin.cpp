// SPDX-License-Identifier: MIT
// A stand-in for libc10.so: where reports end up. It counts them, so that a test can see that the
// tracer in front of it passed every one on, with its arguments.
#include "c10_standin.h"

#include <atomic>

namespace {
std::atomic<uint64_t> reports, ooms;
std::atomic<int64_t> sum; // of all sizes, with their signs
std::atomic<uint64_t> last_allocated, last_reserved, last_device;

void usage(int64_t size, uint64_t allocated, uint64_t reserved, c10::Device device) {
    reports++;
    sum += size;
    last_allocated = allocated;
    last_reserved = reserved;
    last_device = (uint64_t)(uint8_t)device.index << 8 | (uint8_t)device.type;
}
} // namespace

namespace c10 {
void reportMemoryUsageToProfiler(Device device, int64_t size) {
    usage(size, 0, 0, device);
}
void reportMemoryUsageToProfiler(void *, int64_t size, Device device) {
    usage(size, 0, 0, device);
}
void reportMemoryUsageToProfiler(void *, int64_t size, int64_t allocated, int64_t reserved,
                                 Device device) {
    usage(size, (uint64_t)allocated, (uint64_t)reserved, device);
}
void reportMemoryUsageToProfiler(void *, int64_t size, size_t allocated, size_t reserved,
                                 Device device) {
    usage(size, allocated, reserved, device);
}
void reportOutOfMemoryToProfiler(int64_t, int64_t, int64_t, Device) {
    ooms++;
}
void reportOutOfMemoryToProfiler(size_t, size_t, size_t, Device) {
    ooms++;
}
void reportOutOfMemoryToProfiler(int64_t, size_t, size_t, Device) {
    ooms++;
}
} // namespace c10

// reports, their sizes' sum, OOM reports, and the last report's allocated, reserved, device word
STANDIN_API void standin_profiler(uint64_t out[6]) {
    out[0] = reports;
    out[1] = (uint64_t)sum.load();
    out[2] = ooms;
    out[3] = last_allocated;
    out[4] = last_reserved;
    out[5] = last_device;
}
