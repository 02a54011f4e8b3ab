/* SPDX-License-Identifier: MIT */
/*
 * The look of the text report: its width, the line of memory over time with its axis, lists whose
 * numbers stand below each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "build.h"
#include "report/report.h"
#include "tests/unit/analyzer/log_maker.c"

#include <stdlib.h>

static struct vt_maker m;
static struct vt_model model;

static void build(const char *since) {
    const char *logs[] = {maker_path};
    struct vt_model_options options = {.device = -1, .since = since};
    struct vt_string message = {0};
    assert_int_equal(maker_save(&m, maker_path), 0);
    assert_int_equal(vt_build_model(logs, 1, &options, &model, &message), 0);
}

static char *write_text(struct vt_format_options how) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(vt_format_find("text")->write(&model, &how, out), 0);
    fclose(out);
    return text;
}

/* 160 us: a block from 40 to 80 us, and for an instant at 50 us a much larger one. */
static void make_peak(void) {
    uint64_t frames[] = {vt_frame_python(1, 9)};
    maker_start(&m);
    maker_code(&m, 0, 1, 1, "main", "/tmp/train.py");
    maker_stack(&m, 0, 1, frames, 1);
    maker_alloc(&m, 0, 40000, VT_KIND_DEVICE, 2, 0, 1, 0x1000000, 1 << 20, 0);
    maker_alloc(&m, 0, 50100, VT_KIND_DEVICE, 2, 0, 1, 0x2000000, 7 << 20, 0);
    maker_free_at(&m, 0, 50101, VT_KIND_DEVICE, 0x2000000);
    maker_free_at(&m, 0, 80000, VT_KIND_DEVICE, 0x1000000);
    maker_alloc(&m, 0, 160000, VT_KIND_DEVICE, 2, 0, 1, 0x1000000, 4096, 0);
}

/* A level for each part of the time; the peak is in its part, however short it was. */
static void levels(void **state) {
    (void)state;
    make_peak();
    build(NULL);
    const struct vt_levels *l = &model.processes[0].devices[0].levels;
    assert_int_equal(l->from, 0);
    assert_true(l->to >= 160000);
    assert_true(l->count > 0);
    uint64_t part = l->to / l->count;
    for (uint32_t i = 0; i < l->count; i++) {
        uint64_t end = (i + 1) * part;
        uint64_t level = i == l->peak                         ? 8 << 20
                         : end >= 40000 + part && end < 80000 ? 1 << 20
                                                              : l->bytes[i];
        assert_int_equal(l->bytes[i], level);
        if (end + part < 40000 || (end > 80000 + part && end + part < 160000))
            assert_int_equal(l->bytes[i], 0);
    }
    assert_int_equal(l->peak, 50100 / part);
    assert_int_equal(l->bytes[l->count - 1], 4096);
    vt_build_free(&model);
    build("60us"); /* in a window over only that part: memory live then counts */
    l = &model.processes[0].devices[0].levels;
    assert_int_equal(l->from, 60000);
    assert_int_equal(l->bytes[l->peak], 1 << 20);
    assert_int_equal(l->bytes[0], 1 << 20);
    vt_build_free(&model);
    maker_free(&m);
}

/* The lines below the bar that holds the device's parts. Free *line and *axis. */
static void below_bar(char *text, const char **line, const char **axis) {
    const char *at = strstr(text, "\n  [");
    assert_non_null(at);
    strtok(text + (at - text) + 1, "\n");
    *line = strtok(NULL, "\n");
    *axis = strtok(NULL, "\n");
}

/* Where the peak is, the line is highest and the axis has its mark, at any width. */
static void line(void **state) {
    (void)state;
    make_peak();
    build(NULL);
    for (unsigned width = 80; width <= 160; width += 20) {
        const char *drawn, *axis;
        char *text = write_text((struct vt_format_options){.width = width});
        below_bar(text, &drawn, &axis);
        const char *top = strchr(drawn, '@'), *mark = strchr(axis, '^');
        assert_non_null(top);
        assert_non_null(mark);
        unsigned before = (unsigned)(top - drawn);
        assert_int_equal(before, mark - axis);
        assert_null(strchr(top + 1, '@'));
        assert_int_equal(top[2], '.'); /* an eighth */
        assert_memory_equal(mark, "^ peak 8.00 MiB", 15);
        assert_memory_equal(axis, "   0.000 s ", 11);
        assert_int_equal(strlen(axis), width - 1); /* below the bar's inside */
        free(text);
        text = write_text((struct vt_format_options){.width = width, .blocks = true});
        below_bar(text, &drawn, &axis);
        assert_non_null(strstr(drawn, "█▁"));
        assert_int_equal(vt_frame_text_columns(strstr(drawn, "█")),
                         vt_frame_text_columns(drawn) - before);
        free(text);
    }
    vt_build_free(&model);
    maker_free(&m);
}

/* A peak near the end has its size on the left of its mark. */
static void late_peak(void **state) {
    const char *drawn, *axis;
    (void)state;
    make_peak();
    maker_alloc(&m, 0, 160100, VT_KIND_DEVICE, 2, 0, 1, 0x4000000, 1 << 30, 0);
    build(NULL);
    char *text = write_text((struct vt_format_options){0});
    below_bar(text, &drawn, &axis);
    assert_int_equal(strchr(drawn, '@') - drawn, 78);
    assert_string_equal(axis + strlen(axis) - 15, "peak 1.00 GiB ^");
    assert_int_equal(strlen(axis), 79);
    free(text);
    vt_build_free(&model);
    maker_free(&m);
}

/* Who held the memory as it ran out is listed by line, as the peak is, so that the two agree. */
static void holders_by_line(void **state) {
    uint64_t frames[][2] = {{vt_frame_python(1, 9), vt_frame_python(1, 20)},
                            {vt_frame_python(1, 9), vt_frame_python(1, 21)},
                            {vt_frame_python(1, 30), 0}};
    (void)state;
    maker_start(&m);
    maker_code(&m, 0, 1, 1, "main", "/tmp/train.py");
    maker_device(&m, 0, 0, 16 << 20, "GPU");
    for (unsigned i = 0; i < 3; i++) {
        maker_stack(&m, 0, i + 1, frames[i], i < 2 ? 2 : 1);
        maker_alloc(&m, 0, 1000 + i, VT_KIND_DEVICE, 2, 0, i + 1, (i + 1) * 0x1000000,
                    (i < 2 ? 3 : 4) << 20, 0);
    }
    maker_fail(&m, 0, 2000, 0, 3, 1 << 25, 2);
    build(NULL);
    char *text = write_text((struct vt_format_options){.width = 80});
    const char *held = strstr(text, "\n  held by   ");
    assert_non_null(held);
    assert_non_null(strstr(text, "\n  6.00 MiB  2 of 2  train.py:9 in main "));
    assert_memory_equal(held, "\n  held by   6.00 MiB  train.py:9 in main ", 42);
    assert_non_null(strstr(held, "\n                      +1 more call site\n"
                                 "            4.00 MiB  train.py:30 in main "));
    free(text);
    vt_build_free(&model);
    maker_free(&m);
}

/* No line is wider than the page, whatever the names. */
static void widths(void **state) {
    static const char *const names[] = {"x", "/very/long/", "a b ", "std::map<int, Type>::", "é"};
    (void)state;
    for (unsigned width = 80; width <= 160; width += 40)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            struct vt_string name = {0};
            while (name.length < 3000)
                vt_string_add(&name, names[n]);
            make_peak();
            maker_code(&m, 0, 2, 1, name.text, name.text);
            uint64_t frames[] = {vt_frame_python(2, 123456), vt_frame_python(1, 3)};
            maker_stack(&m, 0, 50, frames, 2);
            maker_alloc(&m, 0, 170000, VT_KIND_DEVICE, 2, 0, 50, 0x3000000, 1ull << 40, 0);
            maker_fail(&m, 0, 171000, 0, 50, 1ull << 41, 2);
            build(NULL);
            struct vt_format_options how = {.width = width, .blocks = true, .top = 10};
            char *text = write_text(how);
            /* the hints are commands to be copied, and hold the log's path as it is */
            for (char *at = strtok(text, "\n"); at; at = strtok(NULL, "\n"))
                if (vt_frame_text_columns(at) > width && !strstr(at, "vramtrace report"))
                    fail_msg("%u columns: %s", vt_frame_text_columns(at), at);
            free(text);
            vt_string_free(&name);
            vt_build_free(&model);
            maker_free(&m);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),          cmocka_unit_test(line),   cmocka_unit_test(late_peak),
        cmocka_unit_test(holders_by_line), cmocka_unit_test(widths),
    };
    return cmocka_run_group_tests(tests, maker_make_folder, maker_remove_folder);
}
