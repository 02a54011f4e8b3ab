/* SPDX-License-Identifier: MIT */
/*
 * That code is known to run inside exit(), and no other is: by a handler of a child that ends, and by
 * the size that the C library itself says its exit() has.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "preload.h"
#include "base/process.h"

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_in_exit(void) {
    void *frames[64];
    return vt_process_in_exit(frames, (size_t)backtrace(frames, 64));
}

static void handler(void) {
    _exit(is_in_exit() ? 33 : 44);
}

static void test_handler(void **state) {
    (void)state;
    int status;
    assert_false(is_in_exit());
    pid_t child = fork();
    if (child == 0) {
        atexit(handler);
        exit(55);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 33);
}

/* Each address inside exit() and the one behind its last call are in it, its neighbours are not. */
static void test_bounds(void **state) {
    (void)state;
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    assert_true(dladdr1((void *)(uintptr_t)exit, &info, (void **)&symbol, RTLD_DL_SYMENT));
    uintptr_t start = (uintptr_t)info.dli_saddr;
    void *before = (void *)start, *first = (void *)(start + 1),
         *last = (void *)(start + symbol->st_size), *behind = (void *)(start + symbol->st_size + 1);
    assert_false(vt_process_in_exit(&before, 1));
    assert_true(vt_process_in_exit(&first, 1));
    assert_true(vt_process_in_exit(&last, 1));
    assert_false(vt_process_in_exit(&behind, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handler),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
