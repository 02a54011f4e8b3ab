/* SPDX-License-Identifier: MIT */
/*
 * Names of functions in libraries: the C library's are its symbols', without the linker's version and
 * without lines, whether its debug information is installed or not.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "debug/debug.h"

#include <dlfcn.h>
#include <stdlib.h>

/* Where a function lies in its file. */
static uint64_t offset_of(void *function, const char **path) {
    Dl_info info;
    assert_true(dladdr(function, &info));
    *path = info.dli_fname;
    return (uint64_t)(uintptr_t)function - (uint64_t)(uintptr_t)info.dli_fbase;
}

static void c_library(void **state) {
    (void)state;
    const char *path;
    const struct vt_symbol *found;
    struct vt_symbols *symbols = vt_symbols_open();
    uint64_t offset = offset_of(dlsym(RTLD_DEFAULT, "qsort"), &path);
    uint32_t count = vt_symbols_at(symbols, path, "", offset, &found);
    assert_int_equal(count, 1);
    assert_string_equal(found[0].function, "qsort");
    assert_null(found[0].file);
    assert_int_equal(found[0].line, 0);
    vt_symbols_close(symbols);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
