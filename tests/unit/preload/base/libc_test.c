/* SPDX-License-Identifier: MIT */
/* The loader's list, read without its lock (preload/base/libc.c): a library whose header cannot be read is passed over. */
#include "base/libc.c"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>

#include <cmocka.h>

static int is_object(struct dl_phdr_info *info, size_t size, void *bias) {
    (void)size;
    return info->dlpi_addr == *(const ElfW(Addr) *)bias;
}

static void unreadable_header(void **state) {
    (void)state;
    struct link_map *m = _r_debug.r_map->l_next;
    while (m && !strstr(m->l_name, "libcmocka"))
        m = m->l_next;
    assert_non_null(m);
    ElfW(Addr) bias = m->l_addr;
    void *page = (void *)bias;
    struct each each = {is_object, &bias};
    assert_int_equal(each_without_lock(&each), 1);
    assert_int_equal(mprotect(page, 4096, PROT_NONE), 0);
    int found = each_without_lock(&each);
    mprotect(page, 4096, PROT_READ);
    assert_int_equal(found, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unreadable_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
