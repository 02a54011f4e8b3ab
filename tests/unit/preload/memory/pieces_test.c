/* SPDX-License-Identifier: MIT */
/*
 * The search for the process's threads when there is no memory for it, and mappings that change
 * while they are listed: memory/pieces.c and threads.c are compiled here with a mapping that fails the Nth time.
 */
#include "memory/memory.h"

static int left; /* mappings until one fails */

static void *take_or_not(struct vt_scan *scan, size_t bytes) {
    if (left-- > 0)
        return vt_scan_allocate(scan, bytes);
    scan->stop = "no memory";
    return 0;
}
#define vt_scan_allocate take_or_not
#include "memory/pieces.c"
#include "memory/threads.c"
#undef vt_scan_allocate

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static unsigned descriptors(void) {
    unsigned n = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        n++;
    closedir(folder);
    return n;
}

static void no_memory(void **state) {
    (void)state;
    unsigned before = descriptors();
    for (int there = 0; there < 3; there++) {
        struct vt_scan scan = {.stop = NULL};
        left = there;
        vt_scan_find_threads(&scan);
        assert_int_equal(descriptors(), before);
        assert_int_equal(scan.thread_count, there == 2 ? 1 : 0);
        assert_int_equal(scan.stop == NULL, there == 2);
        assert_int_equal(scan.alone, there == 2);
    }
}

/* The kernel writes the list page by page. A mapping that grew downwards in between is listed again, including the
 * part already listed. */
static void listed_twice(void **state) {
    (void)state;
    static struct vt_vma vmas[VT_SCAN_VMAS];
    struct vt_scan scan = {.vmas = vmas};
    struct around a = {.module = {.base = 0}};
    const struct vt_mapping listed[] = {
        {0x10000, 0x20000, 0, 0, "rw-p", "", false}, {0x20000, 0x30000, 0, 0, "---p", "", false},
        {0x10000, 0x50000, 0, 0, "rw-p", "", false}, {0x40000, 0x50000, 0, 0, "rw-p", "", false},
        {0x50000, 0x60000, 0, 0, "rw-p", "", false},
    };
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
        note_mapping(&scan, &a, &listed[i]);
    assert_int_equal(scan.vma_count, 4);
    assert_int_equal(vmas[0].end, 0x20000);
    assert_true(vmas[1].sealed);
    assert_int_equal(vmas[2].start, 0x30000);
    assert_int_equal(vmas[2].end, 0x50000);
    assert_int_equal(vmas[3].start, 0x50000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_memory), cmocka_unit_test(listed_twice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
