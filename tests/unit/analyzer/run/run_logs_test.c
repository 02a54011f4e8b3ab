/* SPDX-License-Identifier: MIT */
/*
 * run_logs.c on crafted logs that have a header and no event: the list, the mark of a killed
 * process, the lines and their total.
 */
#define _GNU_SOURCE
#include "run/run_list.h"
#include "run/run_logs.h"

#include "vramtrace/log_format.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static int enter(void **state) {
    (void)state;
    strcpy(folder, "/tmp/vramtrace-unit.XXXXXX");
    return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int leave(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}

static struct vt_log_header make_header(uint32_t pid, const char *program) {
    struct vt_log_header h = {.magic = VT_LOG_MAGIC,
                              .version = VT_LOG_VERSION,
                              .version_min = VT_LOG_VERSION,
                              .header_bytes = sizeof h,
                              .chunk_bytes = VT_CHUNK_BYTES,
                              .clock = VT_CLOCK_MONOTONIC,
                              .pid = pid,
                              .rank = -1,
                              .start_ticks = 1000,
                              .start_monotonic_ns = 1000,
                              .chunks = 1,
                              .placed = 1,
                              .process_start = 77};
    strcpy(h.command, program);
    h.command_bytes = (uint32_t)strlen(program) + 1;
    return h;
}

/* Writes the log NAME in the working folder and adds it to the logs. */
static void add(struct vt_run_logs *logs, const char *name, const struct vt_log_header *h) {
    char *path;
    assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, h, sizeof *h), (ssize_t)sizeof *h);
    assert_int_equal(ftruncate(fd, VT_CHUNK_BYTES), 0);
    close(fd);
    VT_GROW(logs->paths, logs->count, logs->room);
    logs->paths[logs->count++] = path;
}

static struct vt_log_header get(const char *path) {
    struct vt_log_header h;
    int fd = open(path, O_RDONLY);
    assert_int_equal(read(fd, &h, sizeof h), (ssize_t)sizeof h);
    close(fd);
    return h;
}

static char *say(const struct vt_run_logs *logs) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    vt_run_logs_print(logs, out);
    fclose(out);
    return text;
}

static void test_list(void **state) {
    (void)state;
    struct vt_run_logs logs;
    setenv("TMPDIR", folder, 1);
    char *list = vt_run_list_make();
    assert_non_null(list);
    assert_int_equal(strncmp(list, folder, strlen(folder)), 0);
    vt_run_logs_read(list, &logs);
    assert_int_equal(logs.count, 0);
    FILE *file = fopen(list, "a");
    static const char lines[] = "/a/b c\0\0!/x\0relative\0/two\nlines\0/incomplete";
    fwrite(lines, sizeof lines - 1, 1, file);
    fclose(file);
    vt_run_logs_read(list, &logs);
    assert_int_equal(logs.count, 2);
    assert_int_equal(logs.failed, 1);
    assert_string_equal(logs.paths[0], "/a/b c");
    assert_string_equal(logs.paths[1], "/two\nlines");
    vt_run_logs_free(&logs);
    vt_run_list_remove(list);
    vt_run_logs_read(list, &logs); /* gone: as if empty */
    assert_int_equal(logs.count, 0);
    free(list);
    setenv("TMPDIR", "/nonexistent", 1); /* not there: /tmp */
    list = vt_run_list_make();
    assert_non_null(list);
    vt_run_list_remove(list);
    assert_int_equal(access(list, F_OK), -1);
    free(list);
}

static void test_mark_killed(void **state) {
    (void)state;
    struct vt_run_logs logs = {0};
    struct vt_run_child child = {
        .pid = 42, .started = 77, .signal = SIGKILL, .ended_ns = 5000, .ended_tsc = 9};
    struct vt_log_header h = make_header(42, "p");
    add(&logs, "mine", &h);
    h.exit_kind = VT_EXIT_EXEC;
    add(&logs, "before-exec", &h);
    h = make_header(43, "p");
    add(&logs, "other-pid", &h);
    h = make_header(42, "p");
    h.process_start = 78; /* another process that had this number */
    add(&logs, "other-start", &h);
    h = make_header(42, "p");
    h.exit_kind = VT_EXIT_EXITED;
    h.exit_status = 3;
    add(&logs, "ended", &h);
    h = make_header(42, "p");
    h.calibration_ticks = 4000;
    h.calibration_monotonic_ns = 4001;
    add(&logs, "calibrated", &h);
    h.calibration_ticks = 6000;
    h.calibration_monotonic_ns = 6001;
    add(&logs, "calibrated-later", &h);
    h.magic[0] = 'X';
    add(&logs, "not-a-log", &h);
    vt_run_logs_mark_end(&logs, &child);

    h = get("mine");
    assert_int_equal(h.exit_kind, VT_EXIT_SIGNALED);
    assert_int_equal(h.exit_status, SIGKILL);
    assert_int_equal(h.flags & VT_FLAG_BARE_END, 0);
    assert_int_equal(h.exit_ticks, 4000);
    assert_int_equal(h.calibration_ticks, 5000);
    assert_int_equal(h.calibration_monotonic_ns, 5000);
    h = get("calibrated");
    assert_int_equal(h.exit_kind, VT_EXIT_SIGNALED);
    assert_int_equal(h.calibration_ticks, 5000); /* the later pair is the better one */
    assert_int_equal(h.calibration_monotonic_ns, 5000);
    h = get("calibrated-later");
    assert_int_equal(h.exit_kind, VT_EXIT_SIGNALED);
    assert_int_equal(h.calibration_ticks, 6000);
    assert_int_equal(h.calibration_monotonic_ns, 6001);
    assert_int_equal(get("before-exec").exit_kind, VT_EXIT_EXEC);
    assert_int_equal(get("other-pid").exit_kind, VT_EXIT_NONE);
    assert_int_equal(get("other-start").exit_kind, VT_EXIT_NONE);
    assert_int_equal(get("ended").exit_kind, VT_EXIT_EXITED);
    assert_int_equal(get("ended").exit_status, 3);
    assert_int_equal(get("not-a-log").exit_kind, VT_EXIT_NONE);
    vt_run_logs_free(&logs);
}

static void test_not_killed(void **state) {
    (void)state;
    struct vt_run_logs logs = {0};
    struct vt_log_header h = make_header(42, "p");
    add(&logs, "quiet-end", &h);
    vt_run_logs_mark_end(&logs, &(struct vt_run_child){.pid = 42, .signal = 9}); /* start unknown */
    assert_int_equal(get("quiet-end").exit_kind, VT_EXIT_NONE);
    vt_run_logs_mark_end(&logs, &(struct vt_run_child){.pid = 42, .started = 77, .status = 9});
    assert_int_equal(get("quiet-end").exit_kind, VT_EXIT_EXITED);
    assert_int_equal(get("quiet-end").exit_status, 9);
    assert_int_equal(get("quiet-end").flags & VT_FLAG_BARE_END, VT_FLAG_BARE_END);
    vt_run_logs_free(&logs);
}

static void test_lines(void **state) {
    (void)state;
    struct vt_run_logs logs = {0};
    struct vt_log_header h = make_header(7, "/usr/bin/prog");
    h.exit_kind = VT_EXIT_EXEC;
    add(&logs, "first", &h); /* replaced itself, holding nothing: no line beside others */
    char *text = say(&logs);
    assert_string_equal(text, "vramtrace: prog (pid 7): 0 live allocations, 0 B; vramtrace report "
                              "first\n");
    free(text);
    h = make_header(7, "next");
    h.dropped[VT_DROP_LOG_FULL] = 1200;
    h.dropped[VT_DROP_STACKS] = 5; /* not events */
    add(&logs, "it's", &h);
    h = make_header(8, "");
    strcpy(h.exe, "/opt/x/tool");
    h.dropped[VT_DROP_NESTED] = 1;
    add(&logs, "-dash", &h);
    text = say(&logs);
    assert_string_equal(text,
                        "vramtrace: next (pid 7): 0 live allocations, 0 B, 1,200 events dropped; "
                        "vramtrace report 'it'\\''s'\n"
                        "vramtrace: tool (pid 8): 0 live allocations, 0 B, 1 event dropped; "
                        "vramtrace report ./-dash\n"
                        "vramtrace: 2 processes in all: 0 live allocations, 0 B, 1,201 events "
                        "dropped; vramtrace report .\n");
    free(text);
    vt_run_logs_free(&logs);
}

static void test_ranks(void **state) {
    (void)state;
    struct vt_run_logs logs = {0};
    struct vt_log_header h = make_header(7, "python3");
    h.rank = 0;
    add(&logs, "r0", &h);
    char *text = say(&logs);
    assert_string_equal(text, "vramtrace: python3 (pid 7): 0 live allocations, 0 B; vramtrace "
                              "report r0\n");
    free(text);
    h.pid = 8;
    h.rank = 3;
    add(&logs, "r3", &h);
    h = make_header(9, "helper");
    add(&logs, "none", &h);
    text = say(&logs);
    assert_string_equal(text, "vramtrace: python3 (rank 0, pid 7): 0 live allocations, 0 B; "
                              "vramtrace report r0\n"
                              "vramtrace: python3 (rank 3, pid 8): 0 live allocations, 0 B; "
                              "vramtrace report r3\n"
                              "vramtrace: helper (pid 9): 0 live allocations, 0 B; vramtrace "
                              "report none\n"
                              "vramtrace: 3 processes in all: 0 live allocations, 0 B; vramtrace "
                              "report .\n");
    free(text);
    vt_run_logs_free(&logs);
}

static unsigned count_lines(const char *text) {
    unsigned lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void test_total(void **state) {
    (void)state;
    struct vt_run_logs logs = {0};
    for (unsigned i = 0; i < 9; i++) {
        char name[16];
        struct vt_log_header h = make_header(100 + i, "worker");
        snprintf(name, sizeof name, "w%u.vtl", i);
        if (i < 2)
            h.dropped[VT_DROP_LOG_LOST] = 2;
        add(&logs, name, &h);
        char *text = say(&logs);
        assert_int_equal(count_lines(text), i ? (i < 8 ? i + 2 : 9) : 1);
        const char *total = strstr(text, "vramtrace: 9 processes in all: 0 live allocations, 0 B, "
                                         "4 events dropped; vramtrace report\n");
        assert_true((total != NULL) == (i == 8));
        assert_true((strstr(text, " in all: ") != NULL) == (i > 0));
        free(text);
    }
    truncate("w0.vtl", 10) ? fail()
                           : (void)0; /* a log that cannot be read comes last, and is said */
    logs.count = 8;
    char *text = say(&logs);
    assert_int_equal(count_lines(text), 9);
    assert_non_null(strstr(text, "w0.vtl: offset 10: expected a header"));
    free(text);
    logs.count = 9;
    vt_run_logs_free(&logs);
}

static void test_folders(void **state) {
    (void)state;
    struct vt_run_logs logs = {0};
    struct vt_log_header h = make_header(7, "python3");
    static const char *const folders[] = {"a b", "c", "d", "e", "f"};
    for (unsigned i = 0; i < 5; i++) {
        char name[16];
        assert_int_equal(mkdir(folders[i], 0700), 0);
        for (unsigned k = 0; k < 2; k++) {
            snprintf(name, sizeof name, "%s/%u.vtl", folders[i], k);
            add(&logs, name, &h);
        }
        char *text = say(&logs);
        static const char *const commands[] = {
            "; vramtrace report 'a b'\n", "; vramtrace report 'a b' c\n",
            "; vramtrace report 'a b' c d\n", "; vramtrace report 'a b' c d e\n", "\n"};
        char total[80];
        snprintf(total, sizeof total, "vramtrace: %u processes in all: 0 live allocations, 0 B%s",
                 2 * (i + 1), commands[i]);
        if (!strstr(text, total))
            fail_msg("expected %s, found %s", total, text);
        free(text);
    }
    /* a folder without a log that can be read has nothing to report */
    assert_int_equal(unlink("f/0.vtl") | unlink("f/1.vtl"), 0);
    char *text = say(&logs);
    if (!strstr(text, "; vramtrace report 'a b' c d e\n"))
        fail_msg("found %s", text);
    free(text);
    vt_run_logs_free(&logs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),       cmocka_unit_test(test_mark_killed),
        cmocka_unit_test(test_not_killed), cmocka_unit_test(test_lines),
        cmocka_unit_test(test_ranks),      cmocka_unit_test(test_total),
        cmocka_unit_test(test_folders),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
