/* SPDX-License-Identifier: MIT */
/* Two threads that arm at once: the second comes while the first has not begun. It must find, when
 * it returns, what the first is about to do. The guarded object is this program. */
#define _GNU_SOURCE
#include "base/elf.h"

static void (*second_thread)(void);

static bool find_after(const void *address, struct vt_elf *out) {
    void (*second)(void) = second_thread;
    second_thread = 0;
    if (second)
        second();
    return vt_elf_containing(address, out);
}
#define vt_elf_containing find_after
#include "stack/unwind_guard.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static int seen[2];

static void arm_and_use(void) {
    vt_unwind_guard((void *)&seen);
    assert_int_equal(pipe(seen), 0);
}

static void second_finds_it_done(void **state) {
    int fds[2];
    (void)state;
    second_thread = arm_and_use;
    vt_unwind_guard((void *)&seen);
    assert_int_equal(seen[0], NO_DESCRIPTOR);
    assert_int_equal(seen[1], NO_DESCRIPTOR);
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(fds[0], NO_DESCRIPTOR);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(second_finds_it_done)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
