/* SPDX-License-Identifier: MIT */
/* What copies cost the program: faults after one count, up to as many as it had pages. */
#include "snapshot/copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>

#include <cmocka.h>

#define PAGE 4096u

/* Uses pages for the first time. */
static void fault(size_t pages) {
    volatile char *memory =
        mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    madvise((void *)memory, pages * PAGE, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        memory[i * PAGE] = 1;
    munmap((void *)memory, pages * PAGE);
}

static int start(void **state) {
    (void)state;
    vt_cost_forked();
    return 0;
}

static void without_a_copy_nothing_is_counted(void **state) {
    (void)state;
    fault(5000);
    struct vt_snapshot_cost cost = vt_snapshot_cost();
    assert_int_equal(cost.stood, 0);
    /* each page at first */
    assert_true(cost.next >= vt_snapshot_private_bytes() / PAGE * 2000);
}

static void faults_after_a_copy_count(void **state) {
    (void)state;
    vt_cost_copied(1000000);
    uint64_t pages = vt_snapshot_private_bytes() / PAGE;
    assert_int_equal(vt_snapshot_cost().stood / 1000000, 1);
    fault(pages / 2);
    uint64_t half = vt_snapshot_cost().stood;
    assert_true(half > 1000000 + pages / 2 * 20);
    fault(pages * 4);
    uint64_t all = vt_snapshot_cost().stood;
    assert_true(all > half);
    fault(pages * 4);
    assert_int_equal(vt_snapshot_cost().stood, all);
}

static void searches_count_with_what_they_may_take(void **state) {
    (void)state;
    vt_cost_spent(300);
    assert_int_equal(vt_snapshot_cost().spent, 300);
    vt_cost_spent(20 - 300);
    assert_int_equal(vt_snapshot_cost().spent, 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_a_copy_nothing_is_counted, start),
        cmocka_unit_test_setup(faults_after_a_copy_count, start),
        cmocka_unit_test_setup(searches_count_with_what_they_may_take, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
