/* SPDX-License-Identifier: MIT */
/* Unit tests of whose code a frame is: CUDA's headers by their path and by their functions' names,
 * and what of the user's looks like them. */
#include "model/user_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static bool is_user(const char *file, const char *function) {
    struct vt_frame frame = {
        .module = (char *)"/home/me/app", .file = (char *)file, .function = (char *)function};
    return vt_user_code_frame(&frame, NULL);
}

static void test_headers(void **state) {
    static const char *const foreign[] = {
        "/usr/local/cuda/include/cuda_runtime.h",
        "/usr/local/cuda-13.0/include/cuda_runtime.h",
        "/opt/cuda_12.4/include/cuda_runtime.h",
        "/opt/nvidia/hpc_sdk/Linux_x86_64/24.1/cuda/12.3/include/cuda_runtime.h",
        "/usr/local/cuda-13.0/bin/../targets/sbsa-linux/include/cuda_runtime.h",
        "/usr/local/cuda-13.0/include/cccl/thrust/system/cuda/detail/malloc_and_free.h",
        "/home/me/cccl/thrust/thrust/detail/vector_base.inl",
        "/home/me/third_party/cub/util_allocator.cuh",
        "/usr/include/cuda_runtime.h",
        "/usr/include/c++/12/bits/std_function.h",
    };
    static const char *const own[] = {
        "/home/me/cuda-app/include/pool.h", "/home/me/cuda-app/main.cu",
        "/home/me/thrust/main.cu",          "/home/me/cub/sort.cpp",
        "/home/me/include/pool.h",          "/home/me/cudalib/include/pool.h",
        "/home/me/targets/include.c",
    };
    (void)state;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (is_user(foreign[i], "f"))
            fail_msg("%s is taken for the user's", foreign[i]);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!is_user(own[i], "f"))
            fail_msg("%s is not taken for the user's", own[i]);
}

static void test_functions(void **state) {
    static const char *const foreign[] = {
        "cudaMalloc<float>",
        "cudaError cudaMalloc<float>(float**, unsigned long)",
        "cudaError_t cudaMallocManaged<char>(char**, unsigned long, unsigned int)",
        "thrust::device_vector<int>::device_vector(unsigned long)",
        "void thrust::detail::fill<user::x>(int)",
        "cub::CachingDeviceAllocator::DeviceAllocate(int, void**, unsigned long, CUstream_st*)",
        "cuda::std::f()",
    };
    static const char *const own[] = {
        "cudaMallocAll(float**)",
        "cudaMalloc_checked<float>(float**)::run",
        "user::fill(thrust::device_vector<int>&)",
        "thrust::device_vector<int> user::make<thrust::tag>(thrust::tag)",
        "(anonymous namespace)::f(cub::x)",
        "void (anonymous namespace)::f<cub::x>(cub::x)",
        "main::{lambda(thrust::x)#1}::operator()(thrust::x) const",
        "user::operator< <int>(thrust::x, cub::y)",
        "mythrust::f()",
    };
    (void)state;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (is_user("/home/me/main.cu", foreign[i]))
            fail_msg("%s is taken for the user's", foreign[i]);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!is_user("/home/me/main.cu", own[i]))
            fail_msg("%s is not taken for the user's", own[i]);
}

static bool is_user_python(const char *file) {
    struct vt_frame frame = {.python = true, .file = file, .function = "call"};
    return vt_user_code_frame(&frame, NULL);
}

static void test_generated(void **state) {
    static const char *const foreign[] = {
        "/tmp/torchinductor_me/jz/cjzlgxipxnk522vrzwb37pnkqkshez7oywboanvjfhntb3rddsyh.py",
        "/home/me/cache/jz/cjzlgxipxnk522vrzwb37pnkqkshez7oywboanvjfhntb3rddsyh.py",
        "<eval_with_key>.12",
        "<decorator-gen-7>",
        "<frozen importlib._bootstrap>",
        "/home/me/venv/lib/python3.12/site-packages/torch/_inductor/output_code.py",
    };
    static const char *const own[] = {
        "/home/me/jz/jjzlgxipxnk522vrzwb37pnkqkshez7oywboanvjfhntb3rddsyh.py",
        "/home/me/zz/cjzlgxipxnk522vrzwb37pnkqkshez7oywboanvjfhntb3rddsyh.py",
        "/home/me/jz/cjz.py",
        "/home/me/torchinductor.py",
        "<string>",
        "<stdin>",
        "<ipython-input-12-0123456789ab>",
        "/tmp/ipykernel_77/123456.py",
    };
    (void)state;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (is_user_python(foreign[i]))
            fail_msg("%s is taken for the user's", foreign[i]);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!is_user_python(own[i]))
            fail_msg("%s is not taken for the user's", own[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_generated),
    };
    return cmocka_run_group_tests_name("user_code", tests, NULL, NULL);
}
