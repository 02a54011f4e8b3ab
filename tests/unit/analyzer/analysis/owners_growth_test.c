/* SPDX-License-Identifier: MIT */
/*
 * Snapshots taken during growth: they only provide the owners of memory that is gone at the end. The logs are made
 * for the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "build.h"
#include "report/formats.h"
#include "tests/unit/analyzer/log_maker.c"

enum { ROUNDS = 300, SIZE = 1 << 14 };

static const char *const path = maker_path;
static struct vt_maker m;
static struct vt_model model;

static uint64_t address(unsigned round) {
    return 0x10000000 + (uint64_t)round * SIZE;
}

/* The path from a function's local variable to the items of a list. */
static uint32_t local(const char *name) {
    uint32_t frame =
        maker_step(&m, 0,
                   (struct maker_step){
                       .kind = VT_STEP_FRAME, .name = "main", .type = "/tmp/train.py", .line = 12});
    uint32_t list =
        maker_step(&m, 0, (struct maker_step){frame, VT_STEP_NAME, name, "list", 0, 0, 0});
    return maker_step(&m, 0,
                      (struct maker_step){list, VT_STEP_INDEX, NULL, "Buffer", VT_STEP_MANY, 0, 0});
}

/* A snapshot now, of the blocks of some rounds. */
static void snapshot(uint32_t number, unsigned why, const char *holder, unsigned from,
                     unsigned to) {
    uint32_t step = holder ? local(holder) : 0;
    for (unsigned i = from; i < to; i++)
        maker_owned(&m, 0, number, address(i), VT_SPACE_DEVICE, step, 0);
    maker_snapshot(&m, 0, number, why, m.ticks, 0);
}

static void work(void) {
    maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 1000, 0, 1, 0x1000000, 1 << 16, 0);
    maker_free_at(&m, 0, 0, VT_KIND_DEVICE, 0x1000000);
}

static void take(unsigned from, unsigned to) {
    for (unsigned i = from; i < to; i++) {
        work();
        maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 1000, 0, 2, address(i), SIZE, 0);
    }
}

static void give(unsigned from, unsigned to) {
    for (unsigned i = from; i < to; i++)
        maker_free_at(&m, 0, 0, VT_KIND_DEVICE, address(i));
}

static void start(void) {
    uint64_t work[] = {vt_frame_python(1, 7)}, keep[] = {vt_frame_python(1, 9)};
    maker_start(&m);
    maker_code(&m, 0, 1, 1, "main", "/tmp/train.py");
    maker_stack(&m, 0, 1, work, 1);
    maker_stack(&m, 0, 2, keep, 1);
    maker_device(&m, 0, 0, 1 << 30, "GPU");
}

static const struct vt_process *finish(void) {
    const char *logs[] = {path};
    struct vt_model_options options = {.device = -1};
    struct vt_string message = {0};
    assert_int_equal(maker_save(&m, path), 0);
    assert_int_equal(vt_build_model(logs, 1, &options, &model, &message), 0);
    return &model.processes[0];
}

static void end(void) {
    vt_build_free(&model);
    maker_free(&m);
}

static char *report(const char *format, enum vt_by by) {
    char *text = NULL;
    size_t length;
    struct vt_format_options how = {.by = by};
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(vt_format_find(format)->write(&model, &how, out), 0);
    fclose(out);
    return text;
}

static void assert_report(const char *format, enum vt_by by, const char *expected) {
    char *text = report(format, by);
    if (!strstr(text, expected)) {
        fputs(text, stderr);
        fail_msg("no\n%s", expected);
    }
    free(text);
}

/* All was freed; what the end's snapshot found was something else. */
static void gone_at_the_end(void **state) {
    (void)state;
    start();
    maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 1000, 0, 1, 0x2000000, 64, 0);
    take(0, 128);
    snapshot(1, VT_SNAPSHOT_GROWTH, "early", 0, 64);
    take(128, 256);
    snapshot(2, VT_SNAPSHOT_GROWTH, "history", 0, 256);
    take(256, ROUNDS);
    give(0, ROUNDS);
    snapshot(3, VT_SNAPSHOT_END, NULL, 0, 0);
    const struct vt_process *p = finish();
    assert_int_equal(p->leak_count, 1);
    assert_non_null(p->leaks[0].kept);
    assert_ptr_equal(p->leaks[0].kept->seen, &p->snapshots[1]);
    assert_report("text", VT_BY_LINE,
                  "  kept by       history (list, 256 blocks) in main(), train.py:12\n"
                  "                seen at ");
    assert_report("text", VT_BY_LINE, " s; freed later\n");
    assert_report("json", VT_BY_LINE, "\"kept_by\": \"history (list) in main(), train.py:12\"");
    assert_report("json", VT_BY_LINE, "\"why\": \"end\"");
    char *json = report("json", VT_BY_LINE);
    assert_null(strstr(json, "\"why\": \"growth\""));
    free(json);
    end();
}

/* The end speaks for what it saw itself; a remainder that is left then does not. */
static void end_goes_before(void **state) {
    (void)state;
    for (int remains = 0; remains < 2; remains++) {
        unsigned left = remains ? ROUNDS - 3 : 0;
        start();
        take(0, ROUNDS);
        snapshot(1, VT_SNAPSHOT_GROWTH, "history", 0, ROUNDS);
        give(0, left);
        snapshot(2, VT_SNAPSHOT_END, "last", left, ROUNDS);
        const struct vt_process *p = finish();
        assert_int_equal(p->leak_count, 1);
        assert_string_equal(p->leaks[0].kept->owner.container, remains ? "history" : "last");
        assert_int_equal(p->leaks[0].kept->seen != NULL, remains);
        end();
    }
}

/* Nothing is live at the end: the fullest one is shown as a whole. */
static void nothing_is_live(void **state) {
    (void)state;
    start();
    take(0, 64);
    snapshot(1, VT_SNAPSHOT_GROWTH, "first", 0, 64);
    give(0, 60);
    take(64, 70);
    snapshot(2, VT_SNAPSHOT_GROWTH, "second", 64, 70);
    give(60, 70);
    const struct vt_process *p = finish();
    assert_null(vt_process_snapshot(p));
    assert_ptr_equal(vt_process_snapshot_shown(p), &p->snapshots[0]);
    assert_report("text", VT_BY_OWNER, "OWNERS   1.00 MiB in 64 blocks at ");
    assert_report("text", VT_BY_OWNER, "; all was freed later\n");
    assert_report("text", VT_BY_OWNER, "  1.00 MiB      64  first (list) in main(), train.py:12\n");
    end();
}

/* A report on a part of the run ignores snapshots before it. */
static void before_the_window(void **state) {
    const char *logs[] = {path};
    struct vt_model_options options = {.device = -1, .since = "50%"};
    struct vt_string message = {0};
    (void)state;
    start();
    for (uint32_t i = 0; i < 40; i++) { /* more sites than there are in the window */
        uint64_t frames[] = {vt_frame_python(1, 20 + i)};
        maker_stack(&m, 0, 10 + i, frames, 1);
        maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 1000, 0, 10 + i, 0x2000000 + i * 64, 64, 0);
    }
    take(0, 20);
    snapshot(1, VT_SNAPSHOT_GROWTH, "early", 0, 20);
    give(0, 20);
    take(20, ROUNDS);
    snapshot(2, VT_SNAPSHOT_END, "late", 20, ROUNDS);
    assert_int_equal(maker_save(&m, path), 0);
    assert_int_equal(vt_build_model(logs, 1, &options, &model, &message), 0);
    assert_int_equal(model.processes[0].snapshot_count, 1);
    assert_int_equal(model.processes[0].snapshots[0].why, VT_SNAPSHOT_END);
    end();
}

/* Rounds that keep ten blocks each, too few of them for a trend: enough, if a snapshot saw one holder, the
 * rounds are alike, other memory is freed between them, and the last one is not long ago. */
static void few_long_rounds(void **state) {
    static const struct {
        const char *what, *holder;
        unsigned rounds, more, apart, after; /* `more`: in the third round */
        bool grows;
    } rows[] = {
        {"four", "history", 4, 0, 30, 0, true},
        {"three", "history", 3, 0, 30, 0, false},
        {"nobody was seen", NULL, 4, 0, 30, 0, false},
        {"one is larger", "history", 4, 5, 30, 0, false},
        {"nothing is freed between", "history", 4, 0, 0, 0, false},
        {"then two rounds of work", "history", 4, 0, 30, 60, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned kept = 0;
        start();
        for (unsigned round = 0; round < rows[i].rounds; round++) {
            unsigned blocks = 10 + (round == 2 ? rows[i].more : 0);
            for (unsigned k = 0; k < blocks; k++, kept++)
                maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 1000, 0, 2, address(kept), SIZE, 0);
            for (unsigned k = 0; k < rows[i].apart; k++)
                work();
        }
        if (rows[i].holder)
            snapshot(1, VT_SNAPSHOT_GROWTH, rows[i].holder, 0, kept);
        for (unsigned k = 0; k < rows[i].after; k++)
            work();
        give(0, kept);
        const struct vt_process *p = finish();
        if ((p->leak_count == 1) != rows[i].grows)
            fail_msg("%s: %u leaks", rows[i].what, p->leak_count);
        if (rows[i].grows)
            assert_non_null(strstr(
                p->leaks[0].why, "(the same in each of 4 long iterations, all kept by one owner)"));
        end();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_long_rounds), cmocka_unit_test(before_the_window),
        cmocka_unit_test(gone_at_the_end), cmocka_unit_test(end_goes_before),
        cmocka_unit_test(nothing_is_live)};
    return cmocka_run_group_tests_name("owners_growth", tests, maker_make_folder,
                                       maker_remove_folder);
}
