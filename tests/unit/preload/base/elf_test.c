/* SPDX-License-Identifier: MIT */
/* Symbols read from loaded objects' own tables (preload/base/elf.c), against what the loader itself answers.
 * (Indirect functions, which the loader resolves by calling them, are none of its business.) */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/elf.c"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>

static void libc_is_found_by_name_and_by_address(void **unused) {
    (void)unused;
    /* (A function that no sanitizer puts one of its own in front of.) */
    const uintptr_t inside = (uintptr_t)gnu_get_libc_version;
    struct vt_elf named, containing;
    assert_true(vt_elf_named("libc.so.", "exit", &named));
    assert_true(vt_elf_containing((const void *)inside, &containing));
    assert_int_equal(named.bias, containing.bias);
    assert_true(named.start < inside && inside < named.end);
    assert_false(vt_elf_named("libc.so.", "no_such_function", &named));
    assert_false(vt_elf_named("libnothing.so", "exit", &named));
    int on_stack;
    assert_false(vt_elf_containing(&on_stack, &containing));
}

static void symbols_are_the_loader_s(void **unused) {
    (void)unused;
    static const char *const names[] = {"atoi",  "malloc", "exit",    "printf", "fopen",
                                        "_exit", "dlsym",  "environ", "stderr", "getrandom"};
    struct vt_elf libc;
    assert_true(vt_elf_named("libc.so.", "exit", &libc));
    void *handle = dlopen("libc.so.6", RTLD_NOW);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *expected = dlsym(handle, names[i]);
        if (!expected && !strcmp(names[i], "dlsym"))
            continue; /* in libdl before glibc 2.34 */
        assert_non_null(expected);
        assert_ptr_equal(expected, vt_elf_symbol(&libc, names[i], NULL));
        assert_true(vt_elf_names_address(&libc, expected));
        assert_false(vt_elf_names_address(&libc, (char *)expected + 1));
    }
    assert_null(vt_elf_symbol(&libc, "no_such_symbol_anywhere", NULL));
    assert_null(vt_elf_symbol(&libc, "", NULL));
}

static void versions_are_kept_apart(void **unused) {
    (void)unused;
    struct vt_elf libc;
    assert_true(vt_elf_named("libc.so.", "exit", &libc));
    void *handle = dlopen("libc.so.6", RTLD_NOW);
    static const char *const versions[] = {"GLIBC_2.2.5", "GLIBC_2.3.2", "GLIBC_2.17", "GLIBC_2.34",
                                           "GLIBC_2.99"};
    static const char *const names[] = {"pthread_attr_init", "pthread_cond_wait", "dlsym",
                                        "realpath", "atoi"};
    unsigned found = 0;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        for (size_t v = 0; v < sizeof versions / sizeof versions[0]; v++) {
            void *expected = dlvsym(handle, names[n], versions[v]);
            found += expected != NULL;
            assert_ptr_equal(expected, vt_elf_symbol(&libc, names[n], versions[v]));
        }
    assert_true(found >= 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libc_is_found_by_name_and_by_address),
        cmocka_unit_test(symbols_are_the_loader_s),
        cmocka_unit_test(versions_are_kept_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
