/* SPDX-License-Identifier: MIT */
/*
 * One buffer that is reallocated, longer each time, in logs made for the test: where an append does it, where not,
 * and whether the program still had it at the end.
 */
#include "growth_story.h"

/* One buffer that a Python function of that name reallocates; the last one is live beside its predecessor. */
struct remaking {
    const char *what, *function;
    int steps;
    uint64_t first, more; /* bytes */
    double times;         /* as large as the last */
    int emptied_at, then; /* steps: given up there; of work after the last */
    bool grows;
};

/* Whose variable a snapshot sees the buffer in: a running function's; a waiting generator's, that a
 * variable of the first holds. */
struct sight {
    const char *frame, *inside;
};

static void see(struct story *s, const struct sight *sight, uint64_t address) {
    struct vt_maker *m = &s->maker;
    struct maker_step frame = {
        .kind = VT_STEP_FRAME, .name = sight->frame, .type = "/home/me/train.py", .line = 5};
    uint32_t step = maker_step(m, 0, frame);
    if (sight->inside) {
        struct maker_step tokens = {step, VT_STEP_NAME, "tokens", "generator", 0, 0, 0};
        frame.parent = maker_step(m, 0, tokens);
        frame.name = sight->inside;
        step = maker_step(m, 0, frame);
    }
    struct maker_step variable = {step, VT_STEP_NAME, "bank", "Buffer", 0, 0, 0};
    maker_owned(m, 0, 1, address, VT_SPACE_DEVICE, maker_step(m, 0, variable), 0);
    maker_snapshot(m, 0, 1, VT_SNAPSHOT_GROWTH, m->ticks, 0);
}

static uint64_t remake(struct story *s, const struct remaking *row, const struct sight *sight) {
    uint64_t last = 0, bytes = row->first, pause = 1,
             frames[] = {vt_frame_python(1, 7), vt_frame_python(2, 5), vt_frame_python(3, 9)};
    maker_code(&s->maker, 0, 1, 1, row->function, "/home/me/train.py");
    maker_code(&s->maker, 0, 2, 1, "main", "/home/me/train.py");
    maker_code(&s->maker, 0, 3, 1, "<module>", "/home/me/train.py");
    maker_stack(&s->maker, 0, 9, frames, 3);
    for (int i = 0; i < row->steps; i++) {
        for (uint64_t j = 0; j < pause; j++)
            work(s);
        uint64_t next = take(s, 9, bytes);
        if (last && i < row->steps - 1)
            give(s, last);
        last = next;
        if (sight && i + 2 == row->steps)
            see(s, sight, last);
        bytes = (uint64_t)((double)bytes * row->times) + row->more;
        pause = (uint64_t)((double)pause * row->times);
        if (i + 1 == row->emptied_at) {
            give(s, last);
            last = 0;
            bytes = row->first;
        }
    }
    for (int i = 0; i < row->then; i++)
        work(s);
    return last;
}

static const struct vt_growth *python_growth(const struct vt_process *p) {
    for (uint32_t i = 0; i < p->site_count; i++)
        if (p->sites[i].stack->count && vt_stack_frame(p->sites[i].stack, 0)->python)
            return p->sites[i].growth;
    fail();
    return NULL;
}

static void remade(void **state) {
    static const struct remaking rows[] = {
        {"a bank of 100 batches", "append", 100, 1000, 1000, 1, 0, 0, true},
        {"batches sorted by length", "<module>", 100, 1000, 1000, 1, 0, 0, false},
        {"a bank of 21 batches", "append", 21, 1000, 1000, 1, 0, 0, true},
        {"of 19", "append", 19, 1000, 1000, 1, 0, 0, false},
        {"hardly longer", "append", 80, 100000, 500, 1, 0, 0, true},
        {"a method", "Bank.append", 40, 1000, 1000, 1, 0, 0, true},
        {"full, then 40 rounds of work", "append", 40, 1000, 1000, 1, 0, 40, false},
        {"emptied half-way", "append", 80, 1000, 1000, 1, 40, 0, false},
        {"emptied after a trial", "append", 80, 1000, 1000, 1, 10, 0, true},
        {"13 doublings", "push_back", 14, 100, 0, 2, 0, 0, true},
        {"11 doublings", "push_back", 12, 100, 0, 2, 0, 0, false},
        {"13 doublings without an append", "hash_table", 14, 100, 0, 2, 0, 0, false},
    };
    bool wrong = false;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct story s;
        struct vt_model model;
        begin(&s);
        remake(&s, &rows[i], NULL);
        bool found = python_growth(finish(&s, &model)) != NULL;
        if (found != rows[i].grows) {
            print_error("%s: expected %s\n", rows[i].what,
                        rows[i].grows ? "growing" : "not growing");
            wrong = true;
        }
        vt_build_free(&model);
    }
    assert_false(wrong);
}

/* A bank of so few batches that it is a suspect; and one of hardly any. */
static void too_few(void **state) {
    static const int steps[] = {19, 9, 5};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct remaking row = {"", "append", steps[i], 1000, 1000, 1, 0, 0, false};
        struct story s;
        struct vt_model model;
        begin(&s);
        remake(&s, &row, NULL);
        assert_int_equal(finish(&s, &model)->suspect_count, steps[i] > 8);
        vt_build_free(&model);
    }
}

static void bank(void **state) {
    struct remaking row = {"", "append", 100, 1000, 1000, 1, 0, 0, true};
    struct story s;
    struct vt_model model;
    (void)state;
    begin(&s);
    remake(&s, &row, NULL);
    const struct vt_process *p = finish(&s, &model);
    const struct vt_growth *g = python_growth(p);
    assert_non_null(g);
    assert_string_equal(g->operation, "append");
    assert_int_equal(vt_growth_bytes(g), 1000);
    assert_int_equal(g->iterations, 100);
    assert_non_null(strstr(p->leaks[0].why, "(append made it longer in 99 steps)"));
    vt_build_free(&model);
}

/* The last buffer is freed by the interpreter's shutdown, by the program before that, or by an unknown party; and the
 * program had or had not freed a larger, older block first, as when main returns. */
static void given_up(void **state) {
    enum { NOT_KNOWN, PROGRAM, INTERPRETER, MAIN, MAIN_OF_LITTLE };
    static const bool kept[] = {true, false, true, true, false};
    (void)state;
    for (unsigned who = NOT_KNOWN; who <= MAIN_OF_LITTLE; who++) {
        struct remaking row = {"", "append", 40, 1000, 1000, 1, 0, 0, true};
        struct story s;
        struct vt_model model;
        begin(&s);
        maker_module(&s.maker, 0, 0, 0x600000, 0x700000, 0x600000, "py", 2, "/bin/python3.11");
        uint64_t weights = take(&s, 2, 90000), mask = take(&s, 3, 100);
        uint64_t last = remake(&s, &row, NULL);
        struct vt_log_header *h = maker_header(&s.maker);
        h->program_end = who == NOT_KNOWN ? 0 : s.maker.ticks + (who == INTERPRETER ? 1 : 100);
        if (who >= MAIN)
            give(&s, who == MAIN ? weights : mask);
        give(&s, last);
        give(&s, last - (4096 + 256) - (39000 + 256)); /* the one before it */
        give(&s, who == MAIN ? mask : weights);
        bool found = python_growth(finish(&s, &model)) != NULL;
        if (found != kept[who])
            fail_msg("%u: expected %s", who, kept[who] ? "growing" : "not growing");
        vt_build_free(&model);
    }
}

/* Everything is freed as main() returns, the buffer before older memory; and a snapshot found the buffer's owner. */
static void held_by(void **state) {
    static const struct {
        const char *what;
        int steps, emptied_at;
        bool grows;
        struct sight sight;
    } rows[] = {
        {"main()", 40, 0, true, {"main", NULL}},
        {"not seen", 40, 0, false, {NULL, NULL}},
        {"a function that main() calls", 40, 0, false, {"generate", NULL}},
        {"a generator", 40, 0, false, {"main", "generate"}},
        {"main(), called again", 80, 20, false, {"main", NULL}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct story s;
        struct vt_model model;
        const struct sight *sight = rows[i].sight.frame ? &rows[i].sight : NULL;
        struct remaking row = {"", "append", rows[i].steps, 1000, 1000, 1, rows[i].emptied_at,
                               0,  true};
        uint64_t before = 1000 * (uint64_t)(rows[i].steps - rows[i].emptied_at - 1);
        begin(&s);
        maker_module(&s.maker, 0, 0, 0x600000, 0x700000, 0x600000, "py", 2, "/bin/python3.11");
        uint64_t weights = take(&s, 2, 90000), last = remake(&s, &row, sight);
        maker_header(&s.maker)->program_end = s.maker.ticks + 100;
        give(&s, last);
        give(&s, last - (4096 + 256) - (before + 256)); /* the one before it */
        give(&s, weights);
        bool found = python_growth(finish(&s, &model)) != NULL;
        if (found != rows[i].grows)
            fail_msg("%s: expected %s", rows[i].what, rows[i].grows ? "growing" : "not growing");
        vt_build_free(&model);
    }
}

/* Three buffers that take turns, each longer than the one that it replaces: a loader that is ahead
 * of batches sorted by length. More blocks come than go only while it starts. */
static void ahead(void **state) {
    struct story s;
    uint64_t ring[3] = {0};
    (void)state;
    begin(&s);
    for (uint64_t i = 0; i < 200; i++) {
        uint64_t next = take(&s, 1, 1000 + i * 100);
        work(&s);
        if (ring[i % 3])
            give(&s, ring[i % 3]);
        ring[i % 3] = next;
    }
    assert_false(grows(&s));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remade),  cmocka_unit_test(bank),     cmocka_unit_test(ahead),
        cmocka_unit_test(too_few), cmocka_unit_test(given_up), cmocka_unit_test(held_by),
    };
    return cmocka_run_group_tests(tests, maker_make_folder, maker_remove_folder);
}
