/* SPDX-License-Identifier: MIT */
/* Unit tests of whose code a frame is: CUDA's headers by their path and by their functions' names,
 * console scripts, and what of the user's looks like them. */
#include "model/stack_key.h"
#include "model/user_code.h"
#include "vramtrace/log_format.h"

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

#define PY(name, path, number)                                                                     \
    { .python = true, .function = name, .file = path, .line = number }

/* Whether the last of `count` frames is user code in this stack; sets their flags. */
static bool is_last_user(struct vt_frame *frames, uint32_t count, const char *const *patterns) {
    for (uint32_t i = 0; i < count; i++)
        frames[i].user_code = vt_user_code_frame(&frames[i], patterns);
    vt_user_code_drop_script(frames, count, patterns);
    return frames[count - 1].user_code;
}

#define SITE "/v/lib/python3.12/site-packages/"

/* venv/bin/pytest is where the program was started; bin/train may be the user's own. */
static void test_console_scripts(void **state) {
    static const char *const patterns[] = {"bin/pytest", NULL};
    struct vt_frame test = PY("test_a", "/w/tests/test_a.py", 3);
    struct vt_frame pytest = PY("console_main", SITE "_pytest/config/__init__.py", 201);
    struct vt_frame started[] = {test, pytest, PY("<module>", "/v/bin/pytest", 8)};
    struct vt_frame alone[] = {pytest, PY("<module>", "/v/bin/pytest", 8)};
    struct vt_frame far[] = {test, pytest, PY("<module>", "/v/bin/pytest", 13)};
    struct vt_frame function[] = {test, pytest, PY("main", "/v/bin/pytest", 8)};
    struct vt_frame extension[] = {test, pytest, PY("<module>", "/v/bin/run.py", 8)};
    struct vt_frame folder[] = {test, pytest, PY("<module>", "/w/cabin/pytest", 8)};
    struct vt_frame own[] = {PY("step", "/w/bin/train", 4), PY("<module>", "/w/bin/train", 8)};
    (void)state;
    assert_false(is_last_user(started, 3, NULL));
    assert_true(started[0].user_code);
    assert_true(is_last_user(started, 3, patterns));
    assert_true(is_last_user(alone, 2, NULL));
    assert_true(is_last_user(far, 3, NULL));
    assert_true(is_last_user(function, 3, NULL));
    assert_true(is_last_user(extension, 3, NULL));
    assert_true(is_last_user(folder, 3, NULL));
    assert_true(is_last_user(own, 2, NULL));
}

/* A baseline written with `pytest` also works for `python -m pytest`. */
static void test_one_key(void **state) {
    struct vt_frame test = PY("test_a", "/w/tests/test_a.py", 3);
    struct vt_frame main_frame = PY("console_main", SITE "_pytest/config/__init__.py", 201);
    struct vt_frame script[] = {test, main_frame, PY("<module>", "/v/bin/pytest", 8)};
    struct vt_frame module[] = {test, main_frame, PY("<module>", SITE "pytest/__main__.py", 9),
                                PY("_run_code", "<frozen runpy>", 88)};
    struct vt_stack stacks[] = {{.frames = script, .count = 3}, {.frames = module, .count = 4}};
    struct vt_stack_key keys[2];
    (void)state;
    is_last_user(script, 3, NULL);
    is_last_user(module, 4, NULL);
    for (unsigned i = 0; i < 2; i++) {
        struct vt_site site = {.stack = &stacks[i], .layer = VT_LAYER_DRIVER, .api = "cuMemAlloc"};
        vt_stack_key_make(&site, &keys[i]);
    }
    assert_int_equal(keys[0].count, 1);
    assert_int_equal(keys[0].hash, keys[1].hash);
    vt_stack_key_free(&keys[0]);
    vt_stack_key_free(&keys[1]);
}

#define STATIC(digit) "libcudart_static_5382377d5c772c9d197c0cda9fd9742ee6ad893" digit
#define IN(program, name, path)                                                                    \
    { .module = (char *)(program), .function = (char *)(name), .file = (char *)(path) }

/* How many of the frames are the static runtime's, which lies in the program. */
static void test_static_runtime(void **state) {
    static const char program[] = "/home/me/app", plugin[] = "/home/me/libplugin.so";
    struct vt_frame both[] = {IN(program, STATIC("a"), NULL), IN(program, STATIC("b"), NULL),
                              IN(program, "cudaMalloc", NULL), IN(program, "main", "main.c")};
    struct vt_frame start[] = {IN(program, STATIC("a"), NULL),
                               IN(program, "__cudaRegisterFatBinary", NULL)};
    struct vt_frame helper[] = {IN(program, STATIC("a"), NULL),
                                IN(program, "cudaMallocAll", "main.c")};
    struct vt_frame other[] = {IN(plugin, STATIC("a"), NULL), IN(program, "cudaTake", NULL)};
    struct vt_frame stripped[] = {IN(program, STATIC("a"), NULL), IN(program, NULL, NULL)};
    struct vt_frame own[] = {IN(program, "cudaTake", NULL), IN(program, STATIC("a"), NULL)};
    struct vt_frame names[] = {IN(program, "libcudart_static_pool", NULL),
                               IN(program, STATIC("ab"), NULL)};
    (void)state;
    assert_int_equal(vt_user_code_static_runtime(NULL, 0), 0);
    assert_int_equal(vt_user_code_static_runtime(both, 2), 2);
    assert_int_equal(vt_user_code_static_runtime(both, 4), 3);
    assert_int_equal(vt_user_code_static_runtime(start, 2), 2);
    assert_int_equal(vt_user_code_static_runtime(helper, 2), 1);
    assert_int_equal(vt_user_code_static_runtime(other, 2), 1);
    assert_int_equal(vt_user_code_static_runtime(stripped, 2), 1);
    assert_int_equal(vt_user_code_static_runtime(own, 2), 0);
    assert_int_equal(vt_user_code_static_runtime(names, 1), 0);
    assert_int_equal(vt_user_code_static_runtime(names + 1, 1), 0);
    assert_false(vt_user_code_frame(&both[0], NULL)); /* also further out */
    assert_true(vt_user_code_frame(&names[0], NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),   cmocka_unit_test(test_functions),
        cmocka_unit_test(test_generated), cmocka_unit_test(test_console_scripts),
        cmocka_unit_test(test_one_key),   cmocka_unit_test(test_static_runtime),
    };
    return cmocka_run_group_tests_name("user_code", tests, NULL, NULL);
}
