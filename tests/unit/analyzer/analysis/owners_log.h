/* SPDX-License-Identifier: MIT */
/*
 * Logs with owners, for tests: a Python process, steps and what they hold, and the model that is
 * built from them.
 */
#ifndef VT_TESTS_OWNERS_LOG_H
#define VT_TESTS_OWNERS_LOG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "build.h"
#include "report/formats.h"
#include "tests/unit/analyzer/log_maker.c"

enum { BLOCK = VT_KIND_BLOCK, END = VT_SNAPSHOT_END };

static const char *const path = maker_path;
static struct vt_maker m;
static struct vt_model model;
static uint64_t next_address;

/* A Python process with one device, and one call site. */
static void start(void) {
    uint64_t frames[] = {vt_frame_python(1, 7)};
    maker_start(&m);
    maker_code(&m, 0, 1, 1, "main", "/tmp/train.py");
    maker_stack(&m, 0, 1, frames, 1);
    maker_device(&m, 0, 0, 1 << 30, "GPU");
    next_address = 0x1000000;
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

static uint64_t block(uint64_t size) {
    uint64_t address = next_address;
    next_address += size;
    maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 1000, 0, 1, address, size, 0);
    return address;
}

static void own(uint64_t address, uint32_t step, unsigned roles) {
    maker_owned(&m, 0, 1, address, VT_SPACE_DEVICE, step, roles);
}

static void snapshot(void) {
    maker_snapshot(&m, 0, 1, END, m.ticks, 0);
}

static inline uint32_t module(void) {
    return maker_step(
        &m, 0,
        (struct maker_step){.kind = VT_STEP_MODULE, .name = "__main__", .type = "/tmp/train.py"});
}

static uint32_t step(uint32_t parent, unsigned kind, const char *name, const char *type) {
    return maker_step(&m, 0, (struct maker_step){parent, kind, name, type, 0, 0, 0});
}

static inline uint32_t many(uint32_t parent, unsigned kind, const char *type) {
    return maker_step(&m, 0, (struct maker_step){parent, kind, NULL, type, VT_STEP_MANY, 0, 0});
}

/* Builds with one block at `step`, and returns its owner. */
static inline const struct vt_memory_owner *owner_at(uint32_t at, unsigned roles) {
    own(block(4096), at, roles);
    snapshot();
    const struct vt_process *p = finish();
    assert_int_equal(p->snapshot_count, 1);
    assert_int_equal(p->snapshots[0].owner_count, 1);
    return &p->snapshots[0].owners[0];
}

static inline void assert_text(const struct vt_memory_owner *o, uint64_t count,
                               const char *expected) {
    char *text = vt_owner_text(&model.processes[0], o, count);
    assert_string_equal(text, expected);
    free(text);
}

static inline void assert_chain(const struct vt_memory_owner *o, const char *expected) {
    char *text = vt_owner_chain(o);
    assert_string_equal(text ? text : "", expected);
    free(text);
}

/* The first node of graphs, or one behind it: objects of one class, as the tracer counts them. */
static inline uint32_t graph_step(uint32_t parent, const char *class, uint32_t starts, uint32_t row,
                                  uint32_t length) {
    bool repeats = row > 1 || (starts == 1 && length > 100);
    return maker_step(&m, 0,
                      (struct maker_step){parent, VT_STEP_CLASS, NULL, class,
                                          repeats ? VT_STEP_REPEATS : 0, starts,
                                          vt_step_chain(row, length)});
}

/* The model as people read it. */
static inline char *report(enum vt_by by, const char *site) {
    char *text = NULL;
    size_t length;
    struct vt_format_options how = {.by = by, .site = site};
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(vt_format_find("text")->write(&model, &how, out), 0);
    fclose(out);
    return text;
}

static inline void assert_lines(const char *text, const char *expected) {
    if (!strstr(text, expected)) {
        fputs(text, stderr);
        fail_msg("no\n%s", expected);
    }
}

#endif
