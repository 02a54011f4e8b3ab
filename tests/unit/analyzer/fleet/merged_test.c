/* SPDX-License-Identifier: MIT */
/*
 * Merged files: what was written reads as the same, in whatever groups; and what is no merged file is
 * refused with file, row, what was expected and what was found, and adds nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "fleet/fleet.h"
#include "fleet/tables.h"

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
static void add_process(struct vt_fleet *f, uint64_t id, uint64_t events) {
    char host[16];
    snprintf(host, sizeof host, "node%u", (unsigned)id / 2);
    struct vt_fleet_process process = {.id = id,
                                       .log = "logs/\"odd\"\n\x01.vtl",
                                       .run_id = "ab",
                                       .command = "python \xff \xe2\x82\xac <x>",
                                       .host = vt_fleet_add_host(f, host, "boot"),
                                       .rank = id == 9 ? -1 : (int)id,
                                       .pid = (uint32_t)id + 100,
                                       .started_realtime = 1795384072694772930 + id,
                                       .started_monotonic = 1000 + id,
                                       .ending.how = VT_END_EXITED,
                                       .ending.status = id == 9 ? VT_NO_STATUS : 0,
                                       .complete = true,
                                       .events = events,
                                       .peak_bytes = UINT64_MAX - 1};
    if (!vt_fleet_add_process(f, process))
        return;
    struct vt_fleet_line line = {.text = "t.py:1 in f",
                                 .function = "f",
                                 .file = "/t.py",
                                 .line = 1,
                                 .layer = VT_LAYER_DRIVER};
    line.api = id % 2 ? "cudaMalloc" : "cuMemAlloc";
    uint32_t index = vt_fleet_add_line(f, line);
    uint32_t rest = vt_fleet_add_line(
        f, (struct vt_fleet_line){.text = "other lines", .layer = VT_LAYER_HOST, .rest = true});
    struct vt_fleet_device *device = vt_fleet_add_device(f);
    device->ordinal = 3;
    device->total_bytes = VT_UNKNOWN;
    device->levels = (struct vt_levels){
        .from = 0, .to = 100, .bytes = vt_alloc(2, sizeof(uint64_t)), .count = 2, .peak = 1};
    device->levels.bytes[1] = id;
    vt_fleet_add_device(f)->ordinal = 254;
    for (unsigned i = 0; i < 3; i++) {
        struct vt_fleet_cell *cell = vt_fleet_add_cell(f);
        cell->line = i == 2 ? rest : index;
        cell->device = i == 2 ? 254 : i;
        cell->verdict = VT_VERDICT_GROWING;
        cell->peak_bytes = events + i;
        cell->caller = i == 1 ? vt_fleet_text(f, "t.py:9 in g") : NULL;
    }
    uint32_t owner = vt_fleet_add_owner(
        f, (struct vt_fleet_owner){
               .text = "x in m", .name = "x", .root = "module", .purpose = "other"});
    uint32_t nobody =
        vt_fleet_add_owner(f, (struct vt_fleet_owner){.text = "no owner found", .nobody = true});
    for (unsigned i = 0; i < 2; i++) {
        struct vt_fleet_owned *owned = vt_fleet_add_owned(f);
        owned->owner = i ? owner : nobody;
        owned->bytes = id;
        owned->why = VT_SNAPSHOT_END;
    }
    struct vt_fleet_leak *leak = vt_fleet_add_leak(f);
    leak->line = index;
    leak->verdict = VT_VERDICT_LOST;
    leak->caller = vt_fleet_text(f, "t.py:9 in g");
    leak->bytes_per_iteration = leak->iterations = leak->since = leak->full_in = VT_UNKNOWN;
    for (unsigned i = 0; i < 2; i++) {
        struct vt_fleet_oom *oom = vt_fleet_add_oom(f);
        oom->line = i ? index : VT_FLEET_NONE;
        oom->device = i ? 0 : 255;
        oom->outcome = VT_OOM_RAISED;
        oom->requested_bytes = id;
        oom->free_bytes = oom->total_bytes = VT_UNKNOWN;
    }
}

/* Finishes the fleet, and writes it as a file. */
static void write_fleet(struct vt_fleet *fleet, const char *path) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    vt_fleet_finish(fleet);
    assert_int_equal(vt_merged_write(fleet, out), 0);
    assert_int_equal(fclose(out), 0);
    vt_fleet_free(fleet);
}

static void read_file(struct vt_fleet *fleet, const char *path) {
    struct vt_string message = {0};
    if (vt_merged_read(path, fleet, &message))
        fail_msg("%s", message.text);
}

static void expect_same(const char *one, const char *two) {
    char command[64];
    snprintf(command, sizeof command, "cmp %s %s", one, two);
    assert_int_equal(system(command), 0);
}

static void any_order_and_groups(void **state) {
    (void)state;
    struct vt_fleet *f = vt_fleet_open();
    for (uint64_t id = 1; id < 10; id++)
        add_process(f, id, id * 100);
    write_fleet(f, "all");
    f = vt_fleet_open();
    for (uint64_t i = 5; i-- > 0;)
        add_process(f, 2 * i + 1, (2 * i + 1) * 100);
    write_fleet(f, "odd");
    f = vt_fleet_open();
    for (uint64_t id = 2; id < 8; id++)
        add_process(f, id, id * 100);
    write_fleet(f, "some");
    f = vt_fleet_open();
    read_file(f, "odd");
    read_file(f, "some");
    assert_int_equal(f->process_count, 8);
    add_process(f, 8, 800);
    read_file(f, "odd");
    write_fleet(f, "merged");
    expect_same("all", "merged");
    f = vt_fleet_open();
    read_file(f, "merged");
    assert_int_equal(f->process_count, 9);
    assert_int_equal(f->cell_count, 27);
    assert_int_equal(f->oom_count, 18);
    assert_int_equal(f->ooms[0].line, VT_FLEET_NONE);
    assert_int_equal(f->ooms[0].device, 255);
    assert_null(f->cells[10].caller);
    assert_string_equal(f->cells[9].caller, "t.py:9 in g");
    assert_string_equal(f->leaks[0].caller, "t.py:9 in g");
    assert_int_equal(f->devices[1].ordinal, 254);
    assert_string_equal(f->processes[0].log, "\"odd\"\n\x01.vtl");
    assert_string_equal(f->processes[0].command, "python \xef\xbf\xbd \xe2\x82\xac <x>");
    write_fleet(f, "again");
    expect_same("all", "again");
    /* one behind the other is a merged file, too */
    assert_int_equal(system("cat some odd all > chain"), 0);
    f = vt_fleet_open();
    read_file(f, "chain");
    write_fleet(f, "again");
    expect_same("all", "again");
}

static void a_later_state_of_a_log_counts(void **state) {
    (void)state;
    struct vt_fleet *f = vt_fleet_open();
    add_process(f, 1, 100);
    add_process(f, 2, 100);
    write_fleet(f, "early");
    f = vt_fleet_open();
    add_process(f, 2, 300);
    write_fleet(f, "late");
    for (unsigned i = 0; i < 2; i++) {
        f = vt_fleet_open();
        read_file(f, i ? "late" : "early");
        read_file(f, i ? "early" : "late");
        vt_fleet_finish(f);
        assert_int_equal(f->process_count, 2);
        assert_int_equal(f->processes[1].events, 300);
        assert_int_equal(f->cell_count, 6);
        assert_int_equal(f->cells[f->processes[1].first_cell].peak_bytes, 301);
        assert_int_equal(f->device_count, 4);
        vt_fleet_free(f);
    }
}

/* `text` is refused with words like these, and changes nothing in a fleet. */
static void refuse(const char *text, size_t length, const char *words) {
    struct vt_fleet *f = vt_fleet_open();
    struct vt_string message = {0};
    write_file("bad", text, length);
    add_process(f, 5, 100);
    if (!vt_merged_read("bad", f, &message))
        fail_msg("expected \"%s\", found no error of: %.400s", words, text);
    if (strncmp(message.text, "bad: row ", 9) || !strstr(message.text, words))
        fail_msg("expected \"%s\", found: %s", words, message.text);
    vt_fleet_finish(f);
    assert_int_equal(f->process_count, 1);
    assert_int_equal(f->processes[0].events, 100);
    assert_int_equal(f->cell_count, 3);
    vt_string_free(&message);
    vt_fleet_free(f);
}

#define PROCESS                                                                                    \
    "{\"row\":\"process\",\"process\":\"0000000000000005\",\"started_at_ns\":1,"                   \
    "\"log_started_ns\":1,\"log_monotonic_ns\":1,\"pid\":1,\"ppid\":1,\"log\":\"l\",\"command\":"  \
    "\"c\",\"restart\":0,\"launcher_restart\":0,\"duration_ns\":1,\"exit_kind\":\"exited\","       \
    "\"events\":900,"                                                                              \
    "\"dropped_events\":0,\"failed_count\":0,\"leak_count\":0,\"oom_count\":0,"                    \
    "\"leaked_bytes\":0,\"live_bytes\":0,\"peak_bytes\":0}\n"
#define DEVICE(more)                                                                               \
    "{\"row\":\"device\",\"process\":\"0000000000000005\",\"live_bytes\":0,\"peak_bytes\":0" more  \
    "}\n"
#define OOM(outcome, cause)                                                                        \
    "{\"row\":\"oom\",\"process\":\"0000000000000005\",\"at_ns\":1,\"outcome\":\"" outcome         \
    "\",\"cause\":" cause "}\n"

static void bad_files_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } files[] = {
        {"", "row 1: expected the schema vramtrace-merged/1"},
        {"\n\n", "this is no merged file"},
        {"vramtrace", "row 1: expected a row of JSON, found vramtrace"},
        {PROCESS, "row 1: expected the schema"},
        {"{\"row\":\"schema\",\"schema\":\"other/1\"}\n", "found other/1"},
        {"{\"row\":\"schema\",\"schema\":\"vramtrace-merged/7\"}\n",
         "of schema vramtrace-merged/7, and this vramtrace"},
        {HEAD "{\"row\":\"line\"",
         "row 2: expected the next column or the row's end, found its end"},
        {HEAD PROCESS PROCESS, "row 3: expected another process, found a second row of 00000000"},
        {HEAD PROCESS DEVICE(",\"live_bytes\":12.5"), "a whole number as live_bytes, found 12.5"},
        {HEAD PROCESS DEVICE(",\"live_bytes\":9223372036854775808"), "below 2^63 as live_bytes"},
        {HEAD PROCESS DEVICE(",\"live_bytes\":1.5e0"), "a whole number as live_bytes, found 1.5e0"},
        {HEAD PROCESS DEVICE(",\"live_bytes\":1e19"), "a whole number as live_bytes, found 1e19"},
        {HEAD PROCESS DEVICE(",\"live_bytes\":1.5e-99999999999999999999"),
         "a whole number as live_bytes, found 1.5e-99999999999999999999"},
        {HEAD "{\"row\":\"line\",\"rest\":2}", "true or false as rest, found 2"},
        {HEAD "{\"row\":\"line\",\"rest\":1.5}", "a whole number as rest, found 1.5"},
        {HEAD PROCESS DEVICE(",\"live_bytes\":1e+"), "a whole number as live_bytes, found 1e+"},
        {HEAD PROCESS DEVICE(",\"live_bytes\":1.0.0"), "next column or the row's end, found .0"},
        {"[" HEAD "," PROCESS, "row 3: expected the end of the list of rows"},
        {"[" HEAD "]," PROCESS, "row 2: expected a row of JSON, found ,"},
        {HEAD PROCESS DEVICE(",\"live_bytes\":-1"), "a whole number as live_bytes, found -1"},
        {HEAD PROCESS DEVICE(",\"live_bytes\":null") "x", "row 4: expected a row of JSON, found x"},
        {HEAD PROCESS DEVICE(",\"device\":300"), "a device below 254, found 300"},
        {HEAD PROCESS DEVICE(",\"name\":\"\\u0000\""), "four hex digits, not all 0"},
        {HEAD PROCESS DEVICE(",\"name\":\"x"), "a text with an end as name"},
        {HEAD PROCESS DEVICE(",\"name\":3"), "a text as name, found 3"},
        {HEAD PROCESS DEVICE(",\"process\":\"xyz\""), "16 hex digits as process, found xyz"},
        {HEAD DEVICE(""), "a process of a row before, found 0000000000000005"},
        {HEAD PROCESS DEVICE(",\"other\":[[[[[[[[[1]]]]]]]]]"), "fewer lists in each other"},
        {HEAD "{\"row\":\"device\",\"process\":\"0000000000000005\"}\n", "expected a value as"},
        {HEAD PROCESS
         "{\"row\":\"series\",\"process\":\"0000000000000005\",\"from_ns\":0,\"to_ns\":1,"
         "\"peak_part\":0,\"levels\":[1]}\n",
         "the series of a device of a row before"},
        {HEAD PROCESS
         "{\"row\":\"series\",\"process\":\"0000000000000005\",\"from_ns\":0,\"to_ns\":1,"
         "\"peak_part\":1,\"levels\":[1]}\n",
         "with the peak among them"},
        {HEAD PROCESS OOM("lost", "null"), "row 3: expected an outcome, found lost"},
        {HEAD PROCESS OOM("raised", "\"bad luck\""), "row 3: expected a cause, found bad luck"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        refuse(files[i].text, strlen(files[i].text), files[i].words);
}

static void cut_files_are_refused(void **state) {
    (void)state;
    static char bytes[1 << 16];
    struct vt_fleet *f = vt_fleet_open();
    for (uint64_t id = 1; id < 10; id++)
        add_process(f, id, id * 100);
    write_fleet(f, "whole");
    FILE *file = fopen("whole", "r");
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_in_range(length, 1000, sizeof bytes - 1);
    for (size_t cut = 0; cut < length; cut += cut < 64 ? 1 : 97)
        refuse(bytes, cut, cut < 2 ? "expected" : "");
    bytes[length / 2] ^= 0x10;
    refuse(bytes, length, "");
}

static void others_columns_are_read_over(void **state) {
    (void)state;
    static const char text[] =
        HEAD PROCESS "\r\n  \n"
                     " { \"row\" : \"device\" , \"new\" : {\"a\":[1,\"x\\\"]\",null]}, "
                     "\"process\":\"0000000000000005\","
                     "\"live_bytes\":1,\t\"peak_bytes\":2,\"name\":\"\\ud83d\\ude00\\/"
                     "\\u20ac\",\"f\":-1.5e3 }\r\n"
                     "{\"row\":\"later\",\"x\":1}";
    struct vt_fleet *f = vt_fleet_open();
    write_file("other", text, strlen(text));
    read_file(f, "other");
    vt_fleet_finish(f);
    assert_int_equal(f->process_count, 1);
    assert_int_equal(f->device_count, 1);
    assert_string_equal(f->devices[0].name, "\xf0\x9f\x98\x80/\xe2\x82\xac");
    assert_int_equal(f->devices[0].total_bytes, VT_UNKNOWN);
    vt_fleet_free(f);
}

/* The same rows, as other tools write them. */
static void rows_may_be_written_anew(void **state) {
    (void)state;
    static const char *const texts[] = {
        "[{\"schema\":\"vramtrace-merged\\/"
        "1\",\"process\":\"\",\"levels\":[0],\"row\":\"schema\"},\n" PROCESS "," DEVICE("") "]\n",
        HEAD PROCESS "{\n  \"live_bytes\": 0.0,\n  \"peak_bytes\": 0e2,\n  \"new\": {\n    \"a}\": "
                     "\"{\\\"{\"\n  },"
                     "\n  \"process\": \"0000000000000005\",\n  \"row\": \"device\"\n}\n",
        "[ " HEAD "]\n[" HEAD " , " PROCESS " , " DEVICE("") "]",
        HEAD PROCESS DEVICE(",\"rank\":null,\"total_bytes\":null") "  \r\n\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct vt_fleet *f = vt_fleet_open();
        write_file("anew", texts[i], strlen(texts[i]));
        read_file(f, "anew");
        vt_fleet_finish(f);
        assert_int_equal(f->process_count, 1);
        assert_int_equal(f->processes[0].events, 900);
        assert_int_equal(f->device_count, 1);
        vt_fleet_free(f);
    }
}

static void whole_numbers_may_have_a_point(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } numbers[] = {{"7.0", 7},
                   {"1.50e2", 150},
                   {"1.795384072694773e+18", 1795384072694773000},
                   {"120000e-4", 12},
                   {"1795384072694772992.00", 1795384072694772992},
                   {"9e00", 9},
                   {"0.0", 0},
                   {"9223372036854775807", INT64_MAX}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct vt_fleet *f = vt_fleet_open();
        char text[2048];
        int length = snprintf(text, sizeof text, HEAD PROCESS DEVICE(",\"total_bytes\":%s"),
                              numbers[i].text);
        write_file("anew", text, (size_t)length);
        read_file(f, "anew");
        vt_fleet_finish(f);
        assert_int_equal(f->devices[0].total_bytes, numbers[i].value);
        vt_fleet_free(f);
    }
}

/* A row that is longer than what is read at once, behind rows that fill the buffer. */
static void rows_of_any_length(void **state) {
    (void)state;
    struct vt_string text = {0};
    vt_string_add(&text, HEAD PROCESS);
    for (unsigned i = 0; i < 4; i++) {
        vt_string_add(&text, "{\"row\":\"later\",\"x\":[\n");
        for (unsigned k = 0; k < (i == 2 ? 250000 : 70000 + i); k++)
            vt_string_format(&text, "%u,\n", k % 10);
        vt_string_add(&text, "1]}");
    }
    vt_string_add(&text, DEVICE(""));
    struct vt_fleet *f = vt_fleet_open();
    write_file("anew", text.text, text.length);
    read_file(f, "anew");
    vt_fleet_finish(f);
    assert_int_equal(f->device_count, 1);
    vt_fleet_free(f);
    vt_string_free(&text);
}

int main(void) {
    char folder[] = "/tmp/merged_test.XXXXXX";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_and_groups),
        cmocka_unit_test(a_later_state_of_a_log_counts),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(others_columns_are_read_over),
        cmocka_unit_test(rows_may_be_written_anew),
        cmocka_unit_test(whole_numbers_may_have_a_point),
        cmocka_unit_test(rows_of_any_length),
    };
    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return system("rm -f all odd some merged again chain early late bad whole other anew") ||
                   chdir("/") || rmdir(folder)
               ? 1
               : failed;
}
