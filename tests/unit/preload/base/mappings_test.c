/* SPDX-License-Identifier: MIT */
/* The list of the library's own mappings, while four threads map and unmap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/sys.h"

#include <pthread.h>
#include <sys/mman.h>

static void *maps_and_unmaps(void *kept) {
    for (unsigned i = 0; i < 2000; i++) {
        void *p = vt_sys_mmap(4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (i % 100 == 0)
            ((void **)kept)[i / 100] = p;
        else
            vt_sys_munmap(p, 4096);
    }
    return NULL;
}

static void test_list(void **state) {
    (void)state;
    enum { THREADS = 4, KEPT = 20 };
    static void *kept[THREADS][KEPT];
    static struct vt_range ours[16384];
    uint32_t before, after;
    assert_true(vt_mappings_list(ours, 16384, &before));
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, maps_and_unmaps, kept[i]), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(vt_mappings_list(ours, 16384, &after));
    assert_int_equal(after - before, THREADS * KEPT);
    for (unsigned i = 0; i < THREADS; i++)
        for (unsigned k = 0; k < KEPT; k++) {
            bool listed = false;
            for (uint32_t j = 0; j < after; j++)
                listed |= ours[j].start == (uintptr_t)kept[i][k];
            assert_true(listed);
            vt_sys_munmap(kept[i][k], 4096);
        }
    assert_true(vt_mappings_list(ours, 16384, &after));
    assert_int_equal(after, before);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
