/* SPDX-License-Identifier: MIT */
/* Whose call a stack is, by the names of the modules that its innermost frames are in. */
#include "stack/caching_modules.c"

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

static int load(void **state) {
    (void)state;
    unsetenv("PYTORCH_NO_CUDA_MEMORY_CACHING");
    vt_keepers_forget();
    vt_keepers_note("/home/me/cublas", PROGRAM, PROGRAM + SIZE);
    vt_keepers_note("/usr/lib/libcudart.so.12", PASSING, PASSING + SIZE);
    vt_keepers_note("/usr/lib/libcublasLt.so.12", LIBRARY, LIBRARY + SIZE);
    vt_keepers_note("libc10_cuda.so", ALLOCATOR, ALLOCATOR + SIZE);
    return 0;
}

static enum vt_keeper keeper(uintptr_t first, uintptr_t second) {
    const uintptr_t frames[] = {first + 1, second + 1};
    return vt_keepers_of(frames, 2);
}

static void innermost_decides(void **state) {
    (void)state;
    assert_int_equal(keeper(LIBRARY, PROGRAM), VT_KEEPER_RUNTIME);
    assert_int_equal(keeper(ALLOCATOR, PROGRAM), VT_KEEPER_CACHE);
    assert_int_equal(keeper(PROGRAM, LIBRARY), VT_KEEPER_NONE);
    assert_int_equal(keeper(LIBRARY + SIZE, LIBRARY), VT_KEEPER_NONE);
    assert_int_equal(vt_keepers_of(NULL, 0), VT_KEEPER_NONE);
}

static void passed_on(void **state) {
    (void)state;
    assert_int_equal(keeper(PASSING, LIBRARY), VT_KEEPER_RUNTIME);
    assert_int_equal(keeper(PASSING, PROGRAM), VT_KEEPER_NONE);
    assert_int_equal(keeper(PASSING, PASSING), VT_KEEPER_NONE);
}

static void unloaded(void **state) {
    (void)state;
    vt_keepers_forget();
    assert_int_equal(keeper(LIBRARY, PROGRAM), VT_KEEPER_NONE);
}

/* The allocator caches nothing then: its memory is the program's. */
static void caching_is_off(void **state) {
    (void)state;
    vt_keepers_forget();
    setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "1", 1);
    vt_keepers_note("libc10_cuda.so", ALLOCATOR, ALLOCATOR + SIZE);
    assert_int_equal(keeper(ALLOCATOR, PROGRAM), VT_KEEPER_NONE);
}

/* What a row tells by a function's name is not known by the module's. */
static void functions_are_not_names(void **state) {
    (void)state;
    vt_keepers_note("SingleDeviceMemoryPool", PROGRAM + SIZE, PROGRAM + 2 * SIZE);
    assert_int_equal(keeper(PROGRAM + SIZE, PROGRAM), VT_KEEPER_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(innermost_decides, load),
        cmocka_unit_test_setup(passed_on, load),
        cmocka_unit_test_setup(unloaded, load),
        cmocka_unit_test_setup(caching_is_off, load),
        cmocka_unit_test_setup(functions_are_not_names, load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
