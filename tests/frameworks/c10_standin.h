/* SPDX-License-Identifier: MIT */
/*
 * The functions of PyTorch's libc10 through which its allocator reports, as each of its versions
 * declared them: same names, same parameters, so the same mangled names. Defined in
 * c10_standin.cpp, called by c10_cuda_standin.cpp: two libraries, as in PyTorch.
 */
#ifndef VT_TESTS_C10_STANDIN_H
#define VT_TESTS_C10_STANDIN_H

#include <cstddef>
#include <cstdint>

#define STANDIN_API extern "C" __attribute__((visibility("default")))

namespace c10 {

struct Device {
    int8_t type, index;
};
enum : int8_t { CPU = 0, CUDA = 1 };

#define C10_API __attribute__((visibility("default")))
C10_API void reportMemoryUsageToProfiler(Device, int64_t size);
C10_API void reportMemoryUsageToProfiler(void *block, int64_t size, Device);
C10_API void reportMemoryUsageToProfiler(void *, int64_t, int64_t allocated, int64_t reserved,
                                         Device);
C10_API void reportMemoryUsageToProfiler(void *, int64_t, size_t allocated, size_t reserved,
                                         Device);
C10_API void reportOutOfMemoryToProfiler(int64_t size, int64_t, int64_t, Device);
C10_API void reportOutOfMemoryToProfiler(size_t size, size_t, size_t, Device);
C10_API void reportOutOfMemoryToProfiler(int64_t size, size_t, size_t, Device);

} // namespace c10

#ifdef SET_WORDS // in libc10_cuda.so, which is known by what it exports
namespace c10::cuda {
__attribute__((visibility("default"))) signed char device_count() noexcept {
    return 1;
}
} // namespace c10::cuda
#endif

#endif
