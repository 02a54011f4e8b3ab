/* SPDX-License-Identifier: MIT */
/*
 * Names of functions in libraries: the C library's are from its symbols, without the linker's version and without
 * lines, whether its debug information is installed or not. Recorded answers about a module are replayed unchanged,
 * without reading a file.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbols/symbolize.h"

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
    struct vt_symbols *symbols = vt_symbols_open(NULL);
    uint64_t offset = offset_of(dlsym(RTLD_DEFAULT, "qsort"), &path);
    uint32_t count = vt_symbols_at(symbols, path, "", offset, &found);
    assert_int_equal(count, 1);
    assert_string_equal(found[0].function, "qsort");
    assert_null(found[0].file);
    assert_int_equal(found[0].line, 0);
    vt_symbols_close(symbols);
}

int kept_variable = 1;

static void replayed(void **state) {
    (void)state;
    const char *path;
    const struct vt_symbol *found, *again;
    struct vt_variable_symbol variable, same;
    uint64_t offset = offset_of((void *)(uintptr_t)offset_of, &path),
             at = offset_of(&kept_variable, &path);
    struct vt_answers *answers = vt_answers_open();
    VT_SCOPED char *real = realpath(path, NULL);
    struct vt_symbols *files = vt_symbols_open(answers);
    uint32_t count = vt_symbols_at(files, real, "", offset, &found);
    assert_true(count > 0);
    assert_true(vt_symbols_variable(files, real, "", at, false, true, NULL, &variable));
    assert_int_equal(vt_symbols_state(files, "/nowhere", "ab"), VT_SYMBOLS_MISSING);

    struct vt_string bytes = {0};
    vt_string_add_bytes(&bytes, vt_answers_bytes(answers)->text, vt_answers_bytes(answers)->length);
    struct vt_answers *kept = vt_answers_replay(&bytes);
    struct vt_symbols *symbols = vt_symbols_open(kept);
    assert_int_equal(vt_symbols_state(symbols, real, ""), VT_SYMBOLS_FOUND);
    assert_int_equal(vt_symbols_state(symbols, real, "ab"), VT_SYMBOLS_MISSING);
    assert_int_equal(vt_symbols_at(symbols, real, "", offset, &again), count);
    assert_string_equal(again[0].function, found[0].function);
    assert_int_equal(again[0].line, found[0].line);
    assert_int_equal(vt_symbols_at(symbols, real, "", offset + 100000, &again), 0);
    assert_true(vt_symbols_variable(symbols, real, "", at, false, true, NULL, &same));
    assert_string_equal(same.name, "kept_variable");
    assert_int_equal(same.address, variable.address);
    assert_int_equal(same.line, variable.line);
    assert_int_equal(same.leads_to, variable.leads_to);
    assert_false(vt_symbols_variable(symbols, real, "", at, false, false, NULL, &same));
    vt_symbols_close(symbols);
    vt_answers_close(kept);
    vt_symbols_close(files);
    vt_answers_close(answers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_library),
        cmocka_unit_test(replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
