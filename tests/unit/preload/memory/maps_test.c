/* SPDX-License-Identifier: MIT */
/*
 * The list of mappings: which memory is a device's, and names of every form.
 */
#define _GNU_SOURCE
#include "memory/maps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static struct vt_maps maps;

static void list(const char *text) {
    maps = (struct vt_maps){.fd = memfd_create("maps", MFD_CLOEXEC)};
    assert_true(maps.fd >= 0);
    assert_int_equal(write(maps.fd, text, strlen(text)), strlen(text));
    assert_int_equal(lseek(maps.fd, 0, SEEK_SET), 0);
}

static struct vt_mapping next(void) {
    struct vt_mapping m;
    assert_true(vt_maps_next(&maps, &m));
    return m;
}

static void end(void) {
    struct vt_mapping m;
    assert_false(vt_maps_next(&maps, &m));
    vt_maps_close(&maps);
}

static void fields(void **state) {
    (void)state;
    list("7f0012345000-7f0012346000 r-xp 0001f000 fe:00 1234567                    /a b/lib "
         "(deleted)\n"
         "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]\n"
         "10000-20000 ---s 00000000 00:00 0 \n"
         "nonsense\n"
         "30000-40000 rw-p 00000000 00:00 0\n");
    struct vt_mapping m = next();
    assert_int_equal(m.start, 0x7f0012345000);
    assert_int_equal(m.end, 0x7f0012346000);
    assert_int_equal(m.offset, 0x1f000);
    assert_int_equal(m.inode, 1234567);
    assert_memory_equal(m.access, "r-xp", 4);
    assert_string_equal(m.name, "/a b/lib (deleted)");
    assert_string_equal(next().name, "[stack]");
    m = next();
    assert_string_equal(m.name, "");
    assert_memory_equal(m.access, "---s", 4);
    assert_string_equal(next().name, "");
    end();
}

static void devices(void **state) {
    static const struct {
        const char *path;
        bool device;
    } files[] = {
        {"/dev/nvidia0", true},
        {"/dev/dri/renderD128", true},
        {"/dev/shm/ring", false},
        {"/dev/zero (deleted)", false},
        {"/home/dev/train/program", false},
        {"/opt/dev/lib/python3", false},
        {"/memfd:/dev/nvidia0 (deleted)", false},
        {"[vvar]", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char line[256];
        snprintf(line, sizeof line, "1000-2000 rw-p 00000000 00:01 5 %s\n", files[i].path);
        list(line);
        struct vt_mapping m = next();
        assert_string_equal(m.name, files[i].path);
        assert_int_equal(m.device, files[i].device);
        end();
    }
}

/* The kernel cuts no path, and lines do not end where a read does. */
static void long_names(void **state) {
    char text[3 * 4200], path[4097];
    size_t length = 0;
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        memset(path, 'a' + (int)i, sizeof path - 1);
        path[0] = '/';
        path[sizeof path - 1] = 0;
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "%x000-%x000 r--p 00000000 00:01 5 %s\n", i + 1, i + 2, path);
    }
    list(text);
    for (unsigned i = 0; i < 3; i++) {
        struct vt_mapping m = next();
        assert_int_equal(m.start, (i + 1) * 0x1000);
        assert_int_equal(strlen(m.name), 4096);
        assert_int_equal(m.name[1], 'a' + i);
    }
    end();
}

static void of_this_process(void **state) {
    struct vt_mapping m;
    uintptr_t here = (uintptr_t)&m, last = 0;
    bool found = false;
    (void)state;
    assert_true(vt_maps_open(&maps));
    while (vt_maps_next(&maps, &m)) {
        assert_true(m.start >= last);
        last = m.end;
        found |= here - m.start < m.end - m.start;
    }
    vt_maps_close(&maps);
    assert_true(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fields), cmocka_unit_test(devices),
                                       cmocka_unit_test(long_names),
                                       cmocka_unit_test(of_this_process)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
