/* SPDX-License-Identifier: MIT */
/* Whose call a stack is, by the modules that its innermost frames are in, and which names are a library's. */
#include "base/known_library.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    PROGRAM = 0x100000,
    PASSING = 0x200000,
    LIBRARY = 0x300000,
    ALLOCATOR = 0x400000,
    SIZE = 0x1000
};

static void note(const char *path, uintptr_t start, uintptr_t end) {
    vt_library_note(vt_library_of(path), start, end);
}

static int load(void **state) {
    (void)state;
    unsetenv("PYTORCH_NO_CUDA_MEMORY_CACHING");
    vt_library_forget();
    note("/home/me/cublas", PROGRAM, PROGRAM + SIZE);
    note("/usr/lib/libcudart.so.12", PASSING, PASSING + SIZE);
    note("/usr/lib/libcublasLt.so.12", LIBRARY, LIBRARY + SIZE);
    note("libc10_cuda.so", ALLOCATOR, ALLOCATOR + SIZE);
    return 0;
}

static enum vt_allocator keeper(uintptr_t first, uintptr_t second) {
    const uintptr_t frames[] = {first + 1, second + 1};
    return vt_library_allocator(frames, 2);
}

static void innermost_decides(void **state) {
    (void)state;
    assert_int_equal(keeper(LIBRARY, PROGRAM), VT_ALLOCATOR_CUDA);
    assert_int_equal(keeper(ALLOCATOR, PROGRAM), VT_ALLOCATOR_CACHE);
    assert_int_equal(keeper(PROGRAM, LIBRARY), VT_ALLOCATOR_PROGRAM);
    assert_int_equal(keeper(LIBRARY + SIZE, LIBRARY), VT_ALLOCATOR_PROGRAM);
    assert_int_equal(vt_library_allocator(NULL, 0), VT_ALLOCATOR_PROGRAM);
}

static void passed_on(void **state) {
    (void)state;
    assert_int_equal(keeper(PASSING, LIBRARY), VT_ALLOCATOR_CUDA);
    assert_int_equal(keeper(PASSING, PROGRAM), VT_ALLOCATOR_PROGRAM);
    assert_int_equal(keeper(PASSING, PASSING), VT_ALLOCATOR_PROGRAM);
}

static void unloaded(void **state) {
    (void)state;
    vt_library_forget();
    assert_int_equal(keeper(LIBRARY, PROGRAM), VT_ALLOCATOR_PROGRAM);
}

/* The allocator caches nothing then: its memory is the program's. */
static void caching_is_off(void **state) {
    (void)state;
    vt_library_forget();
    setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "1", 1);
    note("libc10_cuda.so", ALLOCATOR, ALLOCATOR + SIZE);
    assert_int_equal(keeper(ALLOCATOR, PROGRAM), VT_ALLOCATOR_PROGRAM);
}

/* What a row tells by a function's name is not known by the module's. */
static void functions_are_not_names(void **state) {
    (void)state;
    note("SingleDeviceMemoryPool", PROGRAM + SIZE, PROGRAM + 2 * SIZE);
    assert_int_equal(keeper(PROGRAM + SIZE, PROGRAM), VT_ALLOCATOR_PROGRAM);
}

static void names(void **state) {
    static const char *const theirs[] = {
        "libcublas.so",
        "/usr/lib/libcublas.so.12",
        "libcublas.so.12.4.5.8",
        "libcublas-1a2b3c4d.so.12",
        "/x/libcudart-d0da41ae.so.11.0",
        "libnccl.so.2 (deleted)",
        "libnccl-net.so",
        "libnccl-net-ofi.so",
        "xla_extension.so",
        "_pywrap_tensorflow_internal.cpython-311-x86_64-linux-gnu.so",
        "_pywrap_tensorflow_internal.abi3.so",
        "libtensorflow_framework.so.2",
        "libcudnn_ops.so.9"};
    static const char *const others[] = {"libcublas",
                                         "libcublas_helper.so",
                                         "libcublas-mine.so",
                                         "libcublas-1a2b3c4.so",
                                         "libcublas-1a2b3c4d5.so",
                                         "libcublas.so.mine",
                                         "libcublas.so-x.so",
                                         "libcublas.so/libmine.so",
                                         "mylibcublas.so",
                                         "libcublas12.so",
                                         "libcudnn_glue.so",
                                         "-1a2b3c4d.so",
                                         ".so",
                                         "",
                                         "/",
                                         "libcudart_pool.so.12",
                                         "libcublas.so.12 (mine)"};
    static const char *const pythons[] = {"python",
                                          "/usr/bin/python3",
                                          "python3.12",
                                          "python3.13t",
                                          "libpython3.11.so.1.0",
                                          "libpython3.13td.so.1.0",
                                          "libpython3.so",
                                          "pypy3.10",
                                          "python3.11-dbg"};
    static const char *const none[] = {"python_server",  "pythonista", "libpython_glue.so",
                                       "python3-worker", "mypython",   ""};
    (void)state;
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
        if (!vt_library_of(theirs[i]))
            fail_msg("%s", theirs[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (vt_library_of(others[i]))
            fail_msg("%s", others[i]);
    for (size_t i = 0; i < sizeof pythons / sizeof *pythons; i++)
        if (!vt_library_is_python(pythons[i]))
            fail_msg("%s", pythons[i]);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (vt_library_is_python(none[i]))
            fail_msg("%s", none[i]);
}

/* By the name alone only while nothing is known of any module. */
static void cuda(void **state) {
    (void)state;
    assert_true(vt_library_is_cuda_at(LIBRARY, "/x/libcublasLt.so.12"));
    assert_false(vt_library_is_cuda_at(PROGRAM, "/x/libcublas.so.12"));
    assert_false(vt_library_is_cuda_at(ALLOCATOR, "libc10_cuda.so"));
    vt_library_forget();
    assert_true(vt_library_is_cuda_at(PROGRAM, "/x/libcublas.so.12"));
    assert_false(vt_library_is_cuda_at(PROGRAM, "/x/libcublas_helper.so"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(innermost_decides, load),
        cmocka_unit_test_setup(passed_on, load),
        cmocka_unit_test_setup(unloaded, load),
        cmocka_unit_test_setup(caching_is_off, load),
        cmocka_unit_test_setup(functions_are_not_names, load),
        cmocka_unit_test_setup(cuda, load),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
