/* SPDX-License-Identifier: MIT */
/* Whether a copy has room, on made files of /proc and of control groups of both versions. */
#include "snapshot/room.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB ((uint64_t)1 << 20)

static char root[] = "/tmp/owners_room_test.XXXXXX";

/* Writes a file of a cgroup, and makes its folders. */
static void put(const char *file, const char *text) {
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", root, file);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int make_root(void **state) {
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state) {
    char command[600];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

static struct vt_room room;

/* A machine with 100 GiB free, a process of 300 MiB, and these groups and mounts. */
static bool find(const char *groups, const char *mounts) {
    put("proc/meminfo", "MemTotal: 134217728 kB\nMemFree: 1 kB\nMemAvailable: 104857600 kB\n");
    put("proc/loadavg", "0.20 0.18 0.12 1/30 11206\n");
    put("proc/self/cgroup", groups);
    put("proc/self/mountinfo", mounts);
    memset(&room, 0, sizeof room);
    return vt_room_find(&room, root);
}

/* The remaining MiB, without the margin. */
static uint64_t left(void) {
    room.waits = true;
    uint64_t bytes = vt_room_left(&room, UINT64_MAX);
    room.waits = false;
    return bytes / MIB;
}

static void group(const char *folder, const char *limit, const char *usage, uint64_t most,
                  uint64_t used) {
    char name[8192], text[32];
    snprintf(name, sizeof name, "%s/%s", folder, limit);
    snprintf(text, sizeof text, "%llu\n", (unsigned long long)(most * MIB));
    put(name, most ? text : "max\n");
    snprintf(name, sizeof name, "%s/%s", folder, usage);
    snprintf(text, sizeof text, "%llu\n", (unsigned long long)(used * MIB));
    put(name, text);
}

#define FREE   (100 * 1024) /* MiB, of the machine */
#define MOUNT2 "30 20 0:26 / /two rw - cgroup2 cgroup2 rw\n"
#define MOUNT1 "31 20 0:27 / /one/memory rw shared:9 - cgroup cgroup rw,cpu,memory\n"
#define V2     "memory.max", "memory.current"
#define V1     "memory.limit_in_bytes", "memory.usage_in_bytes"

static void without_a_limit_the_machine_is_the_bound(void **state) {
    (void)state;
    assert_true(find("0::/\n", ""));
    assert_int_equal(left(), FREE);
    assert_true(find("0::/nowhere\n", MOUNT2));
    assert_int_equal(left(), FREE);
    group("two/free", V2, 0, 5);
    assert_true(find("0::/free\n", MOUNT2));
    assert_int_equal(left(), FREE);
}

static void what_cannot_be_seen_is_not_known(void **state) {
    (void)state;
    assert_false(find("0::/hidden\n", "30 20 0:26 / / rw - ext4 /dev/sda rw\n"));
    assert_false(find("4:memory:/hidden\n0::/\n", MOUNT2));
    memset(&room, 0, sizeof room);
    assert_false(vt_room_find(&room, "/nowhere"));
    assert_int_equal(vt_room_left(&room, 1), 0);
    assert_true(vt_room_needed("/nowhere", 0) == UINT64_MAX);
    assert_true(find("0::/\n", ""));
    put("proc/meminfo", "MemTotal: 134217728 kB\n");
    assert_int_equal(left(), 0);
}

static void limits_around_a_group_hold(void **state) {
    (void)state;
    group("two/a", V2, 100, 90);
    group("two/a/b", V2, 0, 1);
    group("two/a/b/c", V2, 50, 1);
    assert_true(find("0::/a/b/c\n", MOUNT2));
    assert_int_equal(left(), 10);
    group("two/a/b/c", V2, 2, 1);
    assert_true(find("1:name=systemd:/x\n0::/a/b/c\n", MOUNT2));
    assert_int_equal(left(), 1);
    group("two/a/b/c", V2, 2, 3);
    assert_int_equal(left(), 0);
    group("two/a/b/c", V2, 0, 1);
    group("two/a/b/c", "memory.high", "memory.current", 8, 3);
    assert_int_equal(left(), 5);
}

/* Each of many groups with a long name is read: the limit is in the outermost one. */
static void deep_nests_are_read_to_their_end(void **state) {
    char name[4096] = "two", part[128], line[4200], cgroup[8400] = "";
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        snprintf(part, sizeof part, "/group-%u-%0100u", i, i);
        strcat(name, part);
        group(name, V2, i ? 0 : 700, i ? 10 : 300);
    }
    for (unsigned i = 0; i < 12; i++) { /* lines before the one that counts */
        snprintf(line, sizeof line, "%u:name%u:%.500s\n", 20 - i, i, name + 3);
        strcat(cgroup, line);
    }
    snprintf(line, sizeof line, "0::%s\n", name + 3);
    strcat(cgroup, line);
    assert_true(find(cgroup, MOUNT2));
    assert_int_equal(left(), 400);
    group(name, V2, 200, 10);
    assert_int_equal(left(), 190);
}

static void files_that_are_not_in_use_are_room(void **state) {
    (void)state;
    group("two/cached", V2, 100, 100);
    put("two/cached/memory.stat", "anon 31457280\nactive_file 5\ninactive_file 73400320\n");
    assert_true(find("0::/cached\n", MOUNT2));
    assert_int_equal(left(), 70);
}

static void tasks_have_limits(void **state) {
    const char *one = "31 20 0:27 / /one/pids rw - cgroup cgroup rw,pids\n";
    (void)state;
    assert_true(find("5:pids:/t/u\n0::/\n", one));
    assert_true(vt_room_tasks(&room, 32) > 9);
    put("one/pids/t/pids.max", "9\n");
    put("one/pids/t/pids.current", "4\n");
    put("one/pids/t/u/pids.max", "max\n");
    assert_int_equal(vt_room_tasks(&room, 32), 5);
    put("two/t/pids.max", "4\n");
    put("two/t/pids.current", "5\n");
    assert_true(find("0::/t\n", MOUNT2));
    assert_int_equal(vt_room_tasks(&room, 32), 0);
}

/* The user's are among all that there are. */
static void tasks_have_limits_without_groups(void **state) {
    struct rlimit was, few = {40, 40};
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NPROC, &was), 0);
    few.rlim_max = was.rlim_max;
    assert_true(find("0::/\n", MOUNT2));
    put("proc/sys/kernel/threads-max", "900\n");
    put("proc/sys/kernel/pid_max", "800\n");
    assert_true(vt_room_tasks(&room, 32) <= 770);
    assert_int_equal(setrlimit(RLIMIT_NPROC, &few), 0);
    assert_int_equal(vt_room_tasks(&room, 32), 10);
    put("proc/loadavg", "0.20 0.18 0.12 1/41 11206\n");
    assert_int_equal(vt_room_tasks(&room, 32), 0);
    put("proc/loadavg", "");
    assert_int_equal(vt_room_tasks(&room, 32), 0);
    assert_int_equal(setrlimit(RLIMIT_NPROC, &was), 0);
}

/* Only other users' tasks that are seen do not count. */
static void tasks_of_others_leave_room(void **state) {
    struct rlimit was, few = {40, 40};
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NPROC, &was), 0);
    few.rlim_max = was.rlim_max;
    assert_true(find("0::/\n", MOUNT2));
    put("proc/sys/kernel/threads-max", "900\n");
    put("proc/sys/kernel/pid_max", "800\n");
    put("proc/self/status", "Uid:\t1000\t0\t0\t0\nThreads:\t3\nCapEff:\t0000000000000000\n");
    put("proc/101/status", "Uid:\t1000\t1000\t1000\t1000\nThreads:\t5\n");
    put("proc/102/status", "Uid:\t0\t1000\t1000\t1000\nThreads:\t12\n");
    put("proc/103/status", "Uid:\t1\n");
    assert_int_equal(setrlimit(RLIMIT_NPROC, &few), 0);
    assert_int_equal(vt_room_tasks(&room, 32), 22);
    assert_int_equal(vt_room_tasks(&room, 10), 10); /* it is enough */
    few.rlim_cur = 20;
    assert_int_equal(setrlimit(RLIMIT_NPROC, &few), 0);
    assert_int_equal(vt_room_tasks(&room, 32), 2);
    few.rlim_cur = 18;
    assert_int_equal(setrlimit(RLIMIT_NPROC, &few), 0);
    assert_int_equal(vt_room_tasks(&room, 32), 0);
    assert_int_equal(setrlimit(RLIMIT_NPROC, &was), 0);
}

/* The limit does not hold for root, nor for who has the right. */
static void some_may_exceed_the_limit(void **state) {
    static const struct {
        const char *status;
        uint64_t left;
    } users[] = {{"Uid:\t7\t7\t7\t7\nCapEff:\t0000000000000000\n", 10},
                 {"Uid:\t7\t7\t7\t7\nCapEff:\t000001fffeddffff\n", 10},
                 {"Uid:\t7\t7\t7\t7\nCapEff:\t0000000001000000\n", 770},
                 {"Uid:\t7\t7\t7\t7\nCapEff:\t0000000000200000\n", 770},
                 {"Uid:\t0\t7\t7\t7\nCapEff:\t0000000000000000\n", 770}};
    struct rlimit was, few = {40, 40};
    struct stat st;
    char path[8192];
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NPROC, &was), 0);
    few.rlim_max = was.rlim_max;
    assert_true(find("0::/\n", MOUNT2));
    put("proc/101/status", "");
    put("proc/102/status", "");
    put("proc/self/status", users[4].status);
    assert_int_equal(setrlimit(RLIMIT_NPROC, &few), 0);
    assert_int_equal(vt_room_tasks(&room, 32), 10); /* which namespace it is in cannot be seen */
    snprintf(path, sizeof path, "%s/proc/self/ns", root);
    assert_int_equal(symlink("/proc/self/ns", path), 0);
    bool first = stat("/proc/self/ns/user", &st) == 0 && st.st_ino == 0xEFFFFFFD;
    for (unsigned i = 0; i < 5; i++) {
        put("proc/self/status", users[i].status);
        assert_int_equal(vt_room_tasks(&room, 32), first ? users[i].left : 10);
    }
    unlink(path);
    assert_int_equal(setrlimit(RLIMIT_NPROC, &was), 0);
}

static void version_1_has_other_names(void **state) {
    const char *groups = "9:cpu,cpuacct:/d\n4:memory:/d/e\n0::/a\n",
               *joined = "4:cpu,memory:/d/e\n", *outside = "4:memory:/../docker/5f2\n";
    (void)state;
    group("one/memory", V1, 100, 80);
    put("one/memory/memory.stat", "cache 9\ninactive_file 1\ntotal_inactive_file 1048576\n");
    assert_true(find(groups, MOUNT1 MOUNT2));
    assert_int_equal(left(), 10);      /* by version 2's /a */
    assert_true(find(groups, MOUNT1)); /* version 2's is not to be seen, and limits no memory */
    assert_int_equal(left(), 21);
    groups = "9:cpu,cpuacct:/d\n4:memory:/d/e\n0::/\n";
    assert_true(find(groups, MOUNT1));
    assert_int_equal(left(), 21);
    group("one/memory/d/e", V1, 10, 5);
    assert_int_equal(left(), 5);
    assert_true(find(joined, MOUNT1));
    assert_int_equal(left(), 5);
    assert_true(find(outside, MOUNT1));
    assert_int_equal(left(), 21);
    group("one/memory/d/e", "memory.memsw.limit_in_bytes", "memory.memsw.usage_in_bytes", 8, 7);
    assert_true(find(joined, MOUNT1));
    assert_int_equal(left(), 1);
    put("one/memory/d/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(left(), 1);
}

/* In a container the mount shows the groups below its own, which has another name outside. */
static void mounts_show_a_part(void **state) {
    (void)state;
    group("pod", V2, 500, 100);
    group("pod/x", V2, 300, 100);
    assert_true(find("0::/kube/pod7/x\n", "30 20 0:26 /kube/pod7 /pod rw - cgroup2 c rw\n"));
    assert_int_equal(left(), 200);
    assert_true(find("0::/kube/pod7\n", "30 20 0:26 /kube/pod7 /pod rw - cgroup2 c rw\n"));
    assert_int_equal(left(), 400);
    assert_true(find("0::/kube/pod77\n", "30 20 0:26 /kube/pod7 /pod rw - cgroup2 c rw\n"));
    assert_int_equal(left(), 400);
}

/* The mounts of images may have lines longer than any buffer. */
static void long_lines_hide_nothing(void **state) {
    char *mounts = malloc(40000);
    (void)state;
    strcpy(mounts, "1 1 0:1 / / rw - overlay overlay rw,lowerdir=");
    memset(mounts + strlen(mounts), 'x', 30000);
    strcpy(mounts + 30045, "\n" MOUNT2);
    group("two/l", V2, 100, 40);
    assert_true(find("0::/l\n", mounts));
    assert_int_equal(left(), 60);
    free(mounts);
}

static void bad_contents_are_no_room(void **state) {
    (void)state;
    group("two/bad", V2, 100, 40);
    put("two/bad/memory.current", "");
    assert_true(find("0::/bad\n", MOUNT2));
    assert_int_equal(left(), 0);
    put("two/bad/memory.current", "99999999999999999999999999\n");
    assert_int_equal(left(), 0);
    put("two/bad/memory.max", "-5\n");
    assert_int_equal(left(), FREE);
}

/* A part of the limit, between 64 MiB and 1 GiB. */
static void a_margin_stays_free(void **state) {
    (void)state;
    group("two/margin", V2, 400, 200);
    assert_true(find("0::/margin\n", MOUNT2));
    assert_int_equal(vt_room_left(&room, 1) / MIB, 200 - 64);
    group("two/margin", V2, 4000, 500);
    assert_int_equal(vt_room_left(&room, 1) / MIB, 3500 - 500);
    group("two/margin", V2, 40000, 500);
    assert_int_equal(vt_room_left(&room, 1) / MIB, 39500 - 1024);
    group("two/margin", V2, 4000, 3600);
    assert_int_equal(vt_room_left(&room, 1), 0);
}

static void all_that_is_shared_may_be_copied(void **state) {
    const char *status = "Name:\tpython3\nVmHWM:\t 409600 kB\nVmPin:\t %u kB\nVmRSS:\t  327680 kB\n"
                         "RssAnon:\t  307200 kB\nRssFile:\t  20480 kB\nVmPTE:\t    1024 kB\n"
                         "VmSwap:\t  102400 kB\n";
    char text[512];
    (void)state;
    snprintf(text, sizeof text, status, 0);
    put("proc/self/status", text);
    assert_int_equal(vt_room_needed(root, 0) / MIB, 300 + 100 + 1 + 80);
    assert_int_equal(vt_room_needed(root, 500 * MIB) / MIB, 500 + 1 + 80);
    snprintf(text, sizeof text, status, 600 * 1024);
    put("proc/self/status", text);
    assert_int_equal(vt_room_needed(root, 500 * MIB) / MIB, 600 + 1 + 80);
    put("proc/self/status", "VmRSS: 2048 kB\n"); /* before Linux 4.5 */
    assert_int_equal(vt_room_needed(root, 0) / MIB, 2);
    put("proc/self/status", "RssAnon: 2048 kB\nHugetlbPages: 2048 kB\n");
    assert_true(vt_room_needed(root, 0) == UINT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_limit_the_machine_is_the_bound),
        cmocka_unit_test(what_cannot_be_seen_is_not_known),
        cmocka_unit_test(limits_around_a_group_hold),
        cmocka_unit_test(deep_nests_are_read_to_their_end),
        cmocka_unit_test(files_that_are_not_in_use_are_room),
        cmocka_unit_test(tasks_have_limits),
        cmocka_unit_test(tasks_have_limits_without_groups),
        cmocka_unit_test(tasks_of_others_leave_room),
        cmocka_unit_test(some_may_exceed_the_limit),
        cmocka_unit_test(version_1_has_other_names),
        cmocka_unit_test(mounts_show_a_part),
        cmocka_unit_test(long_lines_hide_nothing),
        cmocka_unit_test(bad_contents_are_no_room),
        cmocka_unit_test(a_margin_stays_free),
        cmocka_unit_test(all_that_is_shared_may_be_copied),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
