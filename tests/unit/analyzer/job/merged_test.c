/* SPDX-License-Identifier: MIT */
/*
 * Merged files: a written file reads back the same, in any groups; any other file is refused with file, row, expected
 * and found text, and adds nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "job/job.h"
#include "job/tables.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "{\"row\":\"schema\",\"schema\":\"vramtrace-merged/1\"}\n"

static void write_file(const char *path, const char *text, size_t length) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* A process with a row of each kind. Processes with other ids differ in all figures. */
static void add_process(struct vt_job *f, uint64_t id, uint64_t events) {
    char host[16];
    snprintf(host, sizeof host, "node%u", (unsigned)id / 2);
    struct vt_job_process process = {.id = id,
                                     .log = "logs/\"odd\"\n\x01.vtl",
                                     .run_id = "ab",
                                     .command = "python \xff \xe2\x82\xac <x>",
                                     .program = "python",
                                     .host = vt_job_add_host(f, host, "boot"),
                                     .rank = id == 9 ? -1 : (int)id,
                                     .pid = (uint32_t)id + 100,
                                     .started_realtime = 1795384072694772930 + id,
                                     .started_monotonic = 1000 + id,
                                     .ending.how = VT_END_EXITED,
                                     .ending.status = id == 9 ? VT_NO_STATUS : 0,
                                     .quality.complete = true,
                                     .events = events,
                                     .peak_bytes = UINT64_MAX - 1};
    if (!vt_job_add_process(f, process))
        return;
    struct vt_job_line line = {.text = "t.py:1 in f",
                               .function = "f",
                               .file = "/t.py",
                               .line = 1,
                               .layer = VT_LAYER_DRIVER};
    line.api = id % 2 ? "cudaMalloc" : "cuMemAlloc";
    uint32_t index = vt_job_add_line(f, line);
    uint32_t rest = vt_job_add_line(
        f, (struct vt_job_line){.text = "other lines", .layer = VT_LAYER_HOST, .rest = true});
    struct vt_job_device *device = vt_job_add_row(f, VT_DEVICE_ROWS, &(struct vt_job_device){0});
    device->ordinal = 3;
    device->total_bytes = VT_UNKNOWN;
    device->levels = (struct vt_levels){
        .from = 0, .to = 100, .bytes = vt_alloc(2, sizeof(uint64_t)), .count = 2, .peak = 1};
    device->levels.bytes[1] = id;
    vt_job_add_row(f, VT_DEVICE_ROWS, &(struct vt_job_device){.ordinal = 254});
    for (unsigned i = 0; i < 3; i++) {
        struct vt_job_cell *cell = vt_job_add_row(f, VT_CELL_ROWS, &(struct vt_job_cell){0});
        cell->line = i == 2 ? rest : index;
        cell->device = i == 2 ? 254 : i;
        cell->verdict = VT_VERDICT_GROWING;
        cell->peak_bytes = events + i;
        cell->caller = i == 1 ? vt_job_text(f, "t.py:9 in g") : NULL;
    }
    uint32_t owner = vt_job_add_owner(
        f,
        (struct vt_job_owner){.text = "x in m", .name = "x", .root = "module", .purpose = "other"});
    uint32_t nobody =
        vt_job_add_owner(f, (struct vt_job_owner){.text = "no owner found", .unowned = true});
    for (unsigned i = 0; i < 2; i++) {
        struct vt_job_owned *owned = vt_job_add_row(f, VT_OWNED_ROWS, &(struct vt_job_owned){0});
        owned->owner = i ? owner : nobody;
        owned->bytes = id;
        owned->why = VT_SNAPSHOT_END;
    }
    struct vt_job_leak *leak = vt_job_add_row(f, VT_LEAK_ROWS, &(struct vt_job_leak){0});
    leak->line = index;
    leak->verdict = VT_VERDICT_LOST;
    leak->caller = vt_job_text(f, "t.py:9 in g");
    leak->bytes_per_iteration = leak->iterations = leak->since = leak->full_in = VT_UNKNOWN;
    leak->bound_entries = leak->bound_capacity = leak->full_bytes = VT_UNKNOWN;
    for (unsigned i = 0; i < 2; i++) {
        struct vt_job_oom *oom = vt_job_add_row(f, VT_OOM_ROWS, &(struct vt_job_oom){0});
        oom->line = i ? index : VT_JOB_NONE;
        oom->device = i ? 0 : 255;
        oom->outcome = VT_OOM_RAISED;
        oom->requested_bytes = id;
        oom->free_bytes = oom->total_bytes = VT_UNKNOWN;
    }
}

/* Finishes the job, and writes it as a file. */
static void write_job(struct vt_job *job, const char *path) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    vt_job_finish(job);
    assert_int_equal(vt_merged_write(job, out), 0);
    assert_int_equal(fclose(out), 0);
    vt_job_free(job);
}

static void read_file(struct vt_job *job, const char *path) {
    struct vt_string message = {0};
    if (vt_merged_read(path, job, &message))
        fail_msg("%s", message.text);
}

static void expect_same(const char *one, const char *two) {
    char command[64];
    snprintf(command, sizeof command, "cmp %s %s", one, two);
    assert_int_equal(system(command), 0);
}

static void any_order_and_groups(void **state) {
    (void)state;
    struct vt_job *f = vt_job_open();
    for (uint64_t id = 1; id < 10; id++)
        add_process(f, id, id * 100);
    write_job(f, "all");
    f = vt_job_open();
    for (uint64_t i = 5; i-- > 0;)
        add_process(f, 2 * i + 1, (2 * i + 1) * 100);
    write_job(f, "odd");
    f = vt_job_open();
    for (uint64_t id = 2; id < 8; id++)
        add_process(f, id, id * 100);
    write_job(f, "some");
    f = vt_job_open();
    read_file(f, "odd");
    read_file(f, "some");
    assert_int_equal(f->process_count, 8);
    add_process(f, 8, 800);
    read_file(f, "odd");
    write_job(f, "merged");
    expect_same("all", "merged");
    f = vt_job_open();
    read_file(f, "merged");
    assert_int_equal(f->process_count, 9);
    assert_int_equal(f->cell_count, 27);
    assert_int_equal(f->oom_count, 18);
    assert_int_equal(f->ooms[0].line, VT_JOB_NONE);
    assert_int_equal(f->ooms[0].device, 255);
    assert_null(f->cells[10].caller);
    assert_string_equal(f->cells[9].caller, "t.py:9 in g");
    assert_string_equal(f->leaks[0].caller, "t.py:9 in g");
    assert_int_equal(f->devices[1].ordinal, 254);
    assert_string_equal(f->processes[0].log, "\"odd\"\n\x01.vtl");
    assert_string_equal(f->processes[0].command, "python \xef\xbf\xbd \xe2\x82\xac <x>");
    write_job(f, "again");
    expect_same("all", "again");
    /* concatenated files are also a merged file */
    assert_int_equal(system("cat some odd all > chain"), 0);
    f = vt_job_open();
    read_file(f, "chain");
    write_job(f, "again");
    expect_same("all", "again");
}

static void a_later_state_of_a_log_counts(void **state) {
    (void)state;
    struct vt_job *f = vt_job_open();
    add_process(f, 1, 100);
    add_process(f, 2, 100);
    write_job(f, "early");
    f = vt_job_open();
    add_process(f, 2, 300);
    write_job(f, "late");
    for (unsigned i = 0; i < 2; i++) {
        f = vt_job_open();
        read_file(f, i ? "late" : "early");
        read_file(f, i ? "early" : "late");
        vt_job_finish(f);
        assert_int_equal(f->process_count, 2);
        assert_int_equal(f->processes[1].events, 300);
        assert_int_equal(f->cell_count, 6);
        assert_int_equal(f->cells[f->processes[1].first_cell].peak_bytes, 301);
        assert_int_equal(f->device_count, 4);
        vt_job_free(f);
    }
}

/* `text` is refused with words like these, and changes nothing in a job. */
static void refuse(const char *text, size_t length, const char *words) {
    struct vt_job *f = vt_job_open();
    struct vt_string message = {0};
    write_file("bad", text, length);
    add_process(f, 5, 100);
    if (!vt_merged_read("bad", f, &message))
        fail_msg("expected \"%s\", found no error of: %.400s", words, text);
    if (strncmp(message.text, "bad: row ", 9) || !strstr(message.text, words))
        fail_msg("expected \"%s\", found: %s", words, message.text);
    vt_job_finish(f);
    assert_int_equal(f->process_count, 1);
    assert_int_equal(f->processes[0].events, 100);
    assert_int_equal(f->cell_count, 3);
    vt_string_free(&message);
    vt_job_free(f);
}

/* Rows with the columns that may not be null, as those of an earlier version would be. */
#define PROCESS                                                                                    \
    "{\"row\":\"process\",\"process\":\"0000000000000005\",\"started_at_ns\":1,"                   \
    "\"log_started_ns\":1,\"log_monotonic_ns\":1,\"pid\":1,\"ppid\":1,\"log\":\"l\",\"command\":"  \
    "\"c\",\"program\":\"c\",\"restart\":0,\"launcher_restart\":0,\"duration_ns\":1,\"exit_"       \
    "kind\":\"exited\","                                                                           \
    "\"complete\":true,\"simulated\":false,\"python\":false,\"none_at_end\":false,"                \
    "\"live_bytes\":0,\"peak_bytes\":0,\"events\":900,"                                            \
    "\"dropped_events\":0,\"leak_count\":0,\"oom_count\":0,"                                       \
    "\"leaked_bytes\":0,\"failed_count\":0}\n"
#define ROW(kind, columns) "{\"row\":\"" kind "\",\"process\":\"0000000000000005\"," columns "}\n"
#define DRIVER             "\"layer\":\"driver\""
#define DEVICE(name, live)                                                                         \
    ROW("device", DRIVER ",\"name\":" name ",\"live_bytes\":" live ",\"peak_bytes\":0")
#define LINE_OF(rest) DRIVER ",\"segments\":false,\"recycled\":false,\"rest\":" rest ","
#define OOM(outcome, cause)                                                                        \
    ROW("oom", LINE_OF("false") "\"at_ns\":1,\"outcome\":\"" outcome "\",\"cause\":" cause)
#define SERIES(peak)                                                                               \
    ROW("series", DRIVER ",\"from_ns\":0,\"to_ns\":1,\"peak_part\":" peak ",\"levels\":[1]")

static void bad_files_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } files[] = {
        {"", "row 1: expected the schema vramtrace-merged/1, found an empty file"},
        {"vramtrace", "row 1: expected a row of a merged file at byte 0, found vramtrace"},
        {PROCESS, "row 1: expected the schema"},
        {"{\"row\":\"schema\",\"schema\":\"other/1\"}\n", "found other/1"},
        {"{\"row\":\"schema\",\"schema\":\"vramtrace-merged/7\"}\n",
         "of schema vramtrace-merged/7, and this vramtrace"},
        {HEAD "{\"row\":\"line\"", "row 2: expected the end of the row, found that of the file"},
        {HEAD "{\"row\":\"device\"}\n", "expected layer at byte 15, found }"},
        {HEAD PROCESS PROCESS, "row 3: expected another process, found a second row of 00000000"},
        {HEAD PROCESS DEVICE("null", "12.5"),
         "expected the next column or the row's end at byte 89, found .5,"},
        {HEAD PROCESS DEVICE("null", "9223372036854775808"),
         "at most 9223372036854775807 as live_bytes, found 9223372036854775808"},
        {HEAD PROCESS DEVICE("null", "99999999999999999999"), "at most 9223372036854775807"},
        {HEAD PROCESS DEVICE("null", "-1"), "a whole number as live_bytes at byte 87, found -1"},
        {HEAD PROCESS DEVICE("null", "null"), "a whole number as live_bytes at byte 87, found nu"},
        {HEAD PROCESS OOM("raised", "null") "x\n", "row 4: expected a row of a merged file"},
        {HEAD PROCESS ROW("device", "\"device\":300"), "at most 253 as device, found 300"},
        {HEAD PROCESS DEVICE("\"\\u0000\"", "0"), "an escape as vramtrace writes it as name"},
        {HEAD PROCESS DEVICE("\"\\u20ac\"", "0"), "an escape as vramtrace writes it as name"},
        {HEAD PROCESS DEVICE("\"\xff\"", "0"), "a text in UTF-8, with an end, as name"},
        {HEAD PROCESS DEVICE("\"x\ny\"", "0"), "a text in UTF-8, with an end, as name"},
        {HEAD PROCESS DEVICE("3", "0"), "a text as name at byte 69, found 3"},
        {HEAD "{\"row\":\"device\",\"process\":\"xyz\"}\n", "16 hex digits as process"},
        {HEAD DEVICE("null", "0"), "a process of a row before, found 0000000000000005"},
        {HEAD PROCESS ROW("line", LINE_OF("2")), "true or false as rest at byte"},
        {HEAD PROCESS SERIES("0"), "the series of a device of a row before"},
        {HEAD PROCESS SERIES("1"), "with the peak among them"},
        {HEAD PROCESS OOM("lost", "null"), "row 3: expected another word as outcome, found lost"},
        {HEAD PROCESS OOM("raised", "\"bad luck\""), "expected another word as cause, found bad"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        refuse(files[i].text, strlen(files[i].text), files[i].words);
    static const char zero[] = HEAD "{\"row\":\"device\"\0}\n";
    refuse(zero, sizeof zero - 1, "found a zero byte");
}

/* The same rows, as other tools write them. */
static void rewritten_files_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "[" HEAD "," PROCESS "]\n",
        "[{}]",
        "{\"row\": \"schema\", \"schema\": \"vramtrace-merged/1\"}\n",
        "{\"schema\":\"vramtrace-merged/1\",\"row\":\"schema\"}\n" PROCESS,
        PROCESS HEAD,
        HEAD PROCESS "\n",
        HEAD " " PROCESS,
        HEAD PROCESS DEVICE("\"a\\/b\"", "0"),
        HEAD PROCESS DEVICE("null", "1.0"),
        HEAD PROCESS ROW("device", "\"run\":null,\"schema\":null"),
        HEAD PROCESS ROW("device", "\"layer\":\"driver\",\"peak_bytes\":0,\"live_bytes\":0"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        refuse(texts[i], strlen(texts[i]),
               "read only as 'vramtrace merge' wrote it: other tools may read it, but not rewrite "
               "it");
}

static void cut_files_are_refused(void **state) {
    (void)state;
    static char bytes[1 << 16];
    struct vt_job *f = vt_job_open();
    for (uint64_t id = 1; id < 10; id++)
        add_process(f, id, id * 100);
    write_job(f, "whole");
    FILE *file = fopen("whole", "r");
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_in_range(length, 1000, sizeof bytes - 1);
    for (size_t cut = 0; cut < length; cut += cut < 64 ? 1 : 97)
        refuse(bytes, cut, cut < 2 ? "expected" : "");
    bytes[length / 2] ^= 0x10;
    refuse(bytes, length, "");
}

static void what_later_versions_add_is_read_over(void **state) {
    (void)state;
    static const char text[] = HEAD PROCESS ROW(
        "device",
        "\"new\":[1,2],\"newer\":null,\"layer\":\"driver\",\"later\":\"}\\\"\",\"function\":\"f\","
        "\"live_bytes\":1,\"peak_bytes\":2,\"n\":12,\"f\":false,\"last\":1.5")
        ROW("later", "\"x\":1");
    struct vt_job *f = vt_job_open();
    write_file("other", text, strlen(text));
    read_file(f, "other");
    vt_job_finish(f);
    assert_int_equal(f->process_count, 1);
    assert_int_equal(f->processes[0].rank, -1);
    assert_int_equal(f->device_count, 1);
    assert_int_equal(f->devices[0].peak_bytes, 2);
    assert_int_equal(f->devices[0].total_bytes, VT_UNKNOWN);
    vt_job_free(f);
}

/* A row that fills the read buffer, and one that is longer. */
static void rows_have_a_limit(void **state) {
    (void)state;
    enum { MOST = 1 << 20 };
    struct vt_string text = {0};
    vt_string_add(&text, HEAD PROCESS "{\"row\":\"later\",\"x\":\"");
    size_t start = strlen(HEAD PROCESS);
    while (text.length < start + MOST - 4)
        vt_string_add_bytes(&text, "y", 1);
    vt_string_add(&text, "\"}\n");
    struct vt_job *f = vt_job_open();
    write_file("other", text.text, text.length);
    read_file(f, "other");
    vt_job_free(f);
    text.length -= 3;
    vt_string_add(&text, "yyy\"}\n");
    refuse(text.text, text.length, "expected at most 1048576 bytes in a row, found more");
    vt_string_free(&text);
}

int main(void) {
    char folder[] = "/tmp/merged_test.XXXXXX";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_and_groups),
        cmocka_unit_test(a_later_state_of_a_log_counts),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(rewritten_files_are_refused),
        cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(what_later_versions_add_is_read_over),
        cmocka_unit_test(rows_have_a_limit),
    };
    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return system("rm -f all odd some merged again chain early late bad whole other") ||
                   chdir("/") || rmdir(folder)
               ? 1
               : failed;
}
