/* SPDX-License-Identifier: MIT */
/* How much room the process's cgroups have left, of both versions, and what VRAMTRACE_SNAPSHOT_LIMIT may be. */
#include "scan/owners_parts.h"
#include "vramtrace/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB ((uint64_t)1 << 20)

static char mount[] = "/tmp/owners_bounds_test.XXXXXX";

/* Writes a file of a cgroup, and makes its folders. */
static void put(const char *file, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", mount, file);
    for (char *at = path + strlen(mount) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int make_mount(void **state) {
    (void)state;
    return mkdtemp(mount) ? 0 : -1;
}

static int remove_mount(void **state) {
    char command[600];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", mount);
    return system(command);
}

static void no_limit_is_no_bound(void **state) {
    (void)state;
    assert_true(vt_owners_room(mount, "") == UINT64_MAX);
    assert_true(vt_owners_room(mount, "0::/nowhere\n") == UINT64_MAX);
    put("free/memory.max", "max\n");
    put("free/memory.current", "5\n");
    assert_true(vt_owners_room(mount, "0::/free\n") == UINT64_MAX);
}

static void limits_around_a_group_hold(void **state) {
    (void)state;
    put("a/memory.max", "104857600\n");
    put("a/memory.current", "94371840\n");
    put("a/b/memory.max", "max\n");
    put("a/b/memory.current", "1048576\n");
    put("a/b/c/memory.max", "52428800\n");
    put("a/b/c/memory.current", "1048576\n");
    assert_int_equal(vt_owners_room(mount, "0::/a/b/c\n"), 10 * MIB);
    put("a/b/c/memory.max", "2097152\n");
    assert_int_equal(vt_owners_room(mount, "1:name=systemd:/x\n0::/a/b/c\n"), 1 * MIB);
    put("a/b/c/memory.current", "3145728\n");
    assert_int_equal(vt_owners_room(mount, "0::/a/b/c\n"), 0);
}

static void files_that_are_not_in_use_are_room(void **state) {
    (void)state;
    put("cached/memory.max", "104857600\n");
    put("cached/memory.current", "104857600\n");
    put("cached/memory.stat", "anon 31457280\nactive_file 5\ninactive_file 73400320\n");
    assert_int_equal(vt_owners_room(mount, "0::/cached\n"), 70 * MIB);
}

static void version_1_has_other_names(void **state) {
    (void)state;
    const char *groups = "9:cpu,cpuacct:/d\n4:memory:/d/e\n0::/a\n",
               *joined = "4:cpu,memory:/d/e\n", *outside = "4:memory:/docker/5f2\n";
    put("memory/memory.limit_in_bytes", "104857600\n");
    put("memory/memory.usage_in_bytes", "83886080\n");
    put("memory/memory.stat", "cache 9\ninactive_file 1\ntotal_inactive_file 1048576\n");
    assert_int_equal(vt_owners_room(mount, groups), 21 * MIB);
    put("memory/d/e/memory.limit_in_bytes", "10485760\n");
    put("memory/d/e/memory.usage_in_bytes", "5242880\n");
    assert_int_equal(vt_owners_room(mount, groups), 5 * MIB);
    assert_int_equal(vt_owners_room(mount, joined), 5 * MIB);
    assert_int_equal(vt_owners_room(mount, outside), 21 * MIB);
}

static void bounds_are_time_and_memory(void **state) {
    static const struct {
        const char *text;
        uint64_t ns, bytes;
    } good[] = {{"2s", 2000000000, 0},
                {"500ms", 500000000, 0},
                {"0.25s", 250000000, 0},
                {"256M", 0, 256 * MIB},
                {"1s,1.5G", 1000000000, 1536 * MIB},
                {"1ms,4096", 1000000, 4096}};
    static const char *const bad[] = {
        "",    "s",    "0s",    "0",   "2s,", ",2s", "256M,2s",         "2h",
        "2 s", "2s,0", "1s,2s", "2sx", "-1s", "2S",  "99999999999999s", "99E"};
    uint64_t ns, bytes;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(vt_text_read_bounds(good[i].text, &ns, &bytes), 0);
        assert_int_equal(ns, good[i].ns);
        assert_int_equal(bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!vt_text_read_bounds(bad[i], &ns, &bytes))
            fail_msg("'%s' was read", bad[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_limit_is_no_bound),
        cmocka_unit_test(limits_around_a_group_hold),
        cmocka_unit_test(files_that_are_not_in_use_are_room),
        cmocka_unit_test(version_1_has_other_names),
        cmocka_unit_test(bounds_are_time_and_memory),
    };
    return cmocka_run_group_tests(tests, make_mount, remove_mount);
}
