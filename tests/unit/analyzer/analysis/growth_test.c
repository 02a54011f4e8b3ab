/* SPDX-License-Identifier: MIT */
/*
 * Growth on logs made for the test: what rises and what only looks so, the figures that are given,
 * by marked iterations and by rhythm; the statistic itself; leaks that are one.
 */
#include "growth_story.h"
#include "analysis/growth_search.h"

#include <math.h>

static void phase(struct story *s, bool push) {
    uint8_t name[24] = {0};
    struct vt_rec_name n = {vt_word(VT_REC_NAME, 0, 0, sizeof name), 1, 4};
    struct vt_rec_phase p = {
        .word = vt_word(VT_REC_PHASE, push ? VT_PHASE_PUSH : VT_PHASE_POP, 0, 0), .name = 1};
    memcpy(name, &n, sizeof n);
    memcpy(name + sizeof n, "step", 4);
    if (push && !s->range)
        maker_put(&s->maker, s->thread, name, sizeof name);
    p.range = push ? ++s->range : s->range;
    p.began = ++s->maker.ticks;
    p.when = vt_when(VT_DEVICE_UNKNOWN, p.began);
    maker_put(&s->maker, s->thread, &p, sizeof p);
}

static void statistic(void **state) {
    double rising[] = {1, 2, 3, 4, 5}, falling[] = {5, 4, 3, 2, 1}, flat[] = {2, 2, 2, 2, 2};
    double ties[] = {1, 1, 2, 2, 3, 3};
    (void)state;
    /* S = 10, variance 50/3: z = 9 / 4.082 */
    assert_true(fabs(vt_growth_mann_kendall(rising, 5) - 0.01376) < 1e-4);
    assert_true(vt_growth_mann_kendall(falling, 5) >= 0.5);
    assert_true(vt_growth_mann_kendall(flat, 5) >= 1);
    assert_true(vt_growth_mann_kendall(rising, 3) >= 1);
    /* S = 12, variance (6*5*17 - 3*2*1*9) / 18 = 25.33: z = 11 / 5.033 */
    assert_true(fabs(vt_growth_mann_kendall(ties, 6) - 0.01443) < 1e-4);
}

/* The mean position of the blocks, and how sure it is: like clockwork, all at the beginning, in
 * bursts. */
static void steadiness(void **state) {
    struct rise rises[64];
    (void)state;
    for (uint32_t i = 0; i < 64; i++)
        rises[i] = (struct rise){i, i * 10.0, i * 10.0, 100, 1};
    struct steadiness s = vt_growth_steadiness(rises, 64, 640);
    assert_true(fabs(s.mean_position - 0.5) < 1e-9);
    assert_true(s.dispersion < 0.1 && s.error < 0.01);
    /* a cache: the n-th new entry of 64 comes after -ln(1 - n/64) */
    for (uint32_t i = 0; i < 48; i++)
        rises[i] = (struct rise){i, -log(1 - i / 64.0), 0, 100, 1};
    s = vt_growth_steadiness(rises, 48, -log(0.25));
    assert_true(s.mean_position > 0.36 && s.mean_position < 0.40);
    /* four blocks at a time, evenly: bursts are no chance */
    for (uint32_t i = 0; i < 64; i++)
        rises[i] = (struct rise){i, i / 4 * 40.0 + i % 4, 0, 100, 1};
    s = vt_growth_steadiness(rises, 64, 640);
    assert_true(s.dispersion < 1 && fabs(s.mean_position - 0.5) < 0.05);
    /* one moment holds many blocks: they count */
    for (uint32_t i = 0; i < 8; i++)
        rises[i] = (struct rise){i, i * 10.0, i * 10.0, 100, i == 1 ? 93 : 1};
    s = vt_growth_steadiness(rises, 8, 80);
    assert_true(s.mean_position < 0.2);
}

static void rhythm(void **state) {
    struct story s;
    struct vt_model model;
    (void)state;
    begin(&s);
    for (int i = 0; i < 100; i++) {
        work(&s);
        take(&s, 1, 1000);
        take(&s, 2, 24);
    }
    struct vt_process *p = finish(&s, &model);
    const struct vt_growth *g = growth_of(p, 1);
    assert_non_null(g);
    assert_string_equal(g->per, "rhythm");
    assert_int_equal(vt_growth_bytes(g), 1000);
    assert_int_equal(g->iterations, 100);
    assert_int_equal(g->since_iteration, 1);
    assert_int_equal(g->bytes, 100000);
    assert_null(growth_of(p, 4));
    assert_int_equal(p->leaks[0].verdict, VT_VERDICT_GROWING);
    vt_build_free(&model);
}

/* What allocates once in several rounds marks an epoch, but not once in two. */
static void epochs_by_rhythm(void **state) {
    (void)state;
    for (uint64_t rounds = 2; rounds <= 10; rounds += 8) {
        struct story s;
        struct vt_model model;
        begin(&s);
        for (uint64_t i = 0; i < 100; i++, work(&s)) {
            take(&s, 1, 1000);
            if (i % rounds == rounds - 1)
                give(&s, take(&s, 2, 64));
        }
        const struct vt_growth *g = growth_of(finish(&s, &model), 1);
        assert_non_null(g);
        assert_int_equal(g->outer_iterations, rounds == 10 ? 10 : 0);
        vt_build_free(&model);
    }
}

/* Several blocks, then a pause: the pause after the last burst counts, also where the run ends before it. */
static void bursts(void **state) {
    /* bursts, blocks of each, rounds of each with its pause */
    static const uint32_t rows[][3] = {{12, 4, 40}, {16, 3, 20}, {20, 1, 20}, {30, 2, 4}};
    (void)state;
    for (size_t k = 0; k < 2 * sizeof rows / sizeof *rows; k++) {
        struct story s;
        struct vt_model model;
        uint32_t blocks = rows[k / 2][1], rounds = rows[k / 2][2], end = rows[k / 2][0] * rounds;
        begin(&s);
        for (uint32_t i = 0; i < end - k % 2 * (rounds - blocks); i++) {
            phase(&s, true);
            if (i % rounds < blocks)
                take(&s, 1, 1 << 20);
            work(&s);
            phase(&s, false);
        }
        const struct vt_growth *g = growth_of(finish(&s, &model), 1);
        double truth = (double)(blocks << 20) / rounds;
        assert_non_null(g);
        if (g->pace < truth * 0.98 || g->pace > truth * 1.02)
            fail_msg("row %zu: %.0f bytes a round, not %.0f", k, g->pace, truth);
        vt_build_free(&model);
    }
}

/* When a cache asks for another segment, or cuBLAS for a workspace, is no epoch of the program's. */
static void epochs_of_others(void **state) {
    static const char *const libraries[] = {"/opt/libc10_cuda.so", "/opt/libcublas.so.12"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct story s;
        struct vt_model model;
        uint64_t frames[] = {0x609000};
        begin(&s);
        maker_module(&s.maker, 0, 0, 0x600000, 0x700000, 0x600000, "id", 2, libraries[i]);
        maker_stack(&s.maker, 0, 5, frames, 1);
        for (uint64_t k = 0; k < 100; k++, work(&s)) {
            take(&s, 1, 1000);
            if (k % 10 == 9)
                take(&s, 5, 2 << 20);
        }
        const struct vt_growth *g = growth_of(finish(&s, &model), 1);
        assert_non_null(g);
        assert_int_equal(g->outer_iterations, 0);
        vt_build_free(&model);
    }
}

static void marked(void **state) {
    struct story s;
    struct vt_model model;
    (void)state;
    begin(&s);
    for (int i = 0; i < 400; i++) {
        phase(&s, true);
        if (i >= 100)
            take(&s, 1, 512);
        take(&s, 2, i == 7 ? 100 : 0);
        phase(&s, false);
    }
    const struct vt_growth *g = growth_of(finish(&s, &model), 1);
    assert_non_null(g);
    assert_string_equal(g->per, "step");
    assert_true(g->marked);
    assert_int_equal(g->iterations, 400);
    assert_in_range(g->since_iteration, 100, 102);
    assert_in_range(vt_growth_bytes(g), 505, 515);
    assert_null(growth_of(model.processes, 2));
    vt_build_free(&model);
}

/* Freed after the last allocation: an interpreter frees grown memory like this, unless it allocates again. A native
 * program that frees all of a site has no leak; the end of a context is not a free. */
static void freed_at_end(void **state) {
    enum { PYTHON, WORKS, CONTEXT_ENDS, KEPT, GROWS };
    static const int ends[][5] = {
        {1, 0, 0, 0, 1}, {1, 1, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 1, 1}, {0, 0, 1, 80, 1}};
    (void)state;
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        uint64_t kept[80];
        struct story s;
        struct vt_model model;
        begin(&s);
        if (ends[e][PYTHON])
            maker_module(&s.maker, 0, 0, 0x600000, 0x700000, 0x600000, "py", 2, "/bin/python3.11");
        for (int i = 0; i < 80; i++, work(&s))
            kept[i] = take(&s, 1, 700);
        for (int i = ends[e][KEPT]; i < 80; i++)
            give(&s, kept[i]);
        if (ends[e][CONTEXT_ENDS])
            maker_bulk(&s.maker, 0, 0, 0, false);
        if (ends[e][WORKS])
            work(&s);
        const struct vt_process *p = finish(&s, &model);
        assert_int_equal(growth_of(p, 1) != NULL, ends[e][GROWS]);
        bool noted = p->note_count && strstr(p->notes[p->note_count - 1], "steadily to 54.7 KiB");
        assert_int_equal(noted, !ends[e][PYTHON] && !ends[e][KEPT]);
        vt_build_free(&model);
    }
}

static void looks_alike(void **state) {
    struct story s;
    uint64_t ring[32] = {0};
    (void)state;
    begin(&s); /* made in a row, freed in a row */
    for (int i = 0; i < 32; i++)
        ring[i] = take(&s, 1, 100);
    for (int i = 0; i < 32; i++)
        give(&s, ring[i]);
    assert_false(grows(&s));

    begin(&s); /* a cache that fills */
    memset(ring, 0, sizeof ring);
    for (int i = 0; i < 200; i++) {
        if (ring[i % 32])
            give(&s, ring[i % 32]);
        ring[i % 32] = take(&s, 1, 100);
        work(&s);
    }
    assert_false(grows(&s));

    begin(&s); /* cleared every 32, and once more half-way */
    for (int i = 0; i < 112; i++) {
        ring[i % 32] = take(&s, 1, 100);
        work(&s);
        for (int j = 0; i % 32 == 31 && j < 32; j++)
            give(&s, ring[j]);
    }
    assert_false(grows(&s));

    begin(&s); /* one late allocation */
    for (int i = 0; i < 200; i++) {
        if (i == 190)
            take(&s, 1, 100);
        work(&s);
    }
    assert_false(grows(&s));

    begin(&s); /* growth that stopped */
    for (int i = 0; i < 200; i++) {
        if (i < 120)
            take(&s, 1, 100);
        work(&s);
    }
    assert_false(grows(&s));

    begin(&s); /* the last one, going on */
    for (int i = 0; i < 200; i++) {
        take(&s, 1, 100);
        work(&s);
    }
    assert_true(grows(&s));
}

/* Weights that are loaded through staging copies and then used, by another call site; and variations that differ in
 * one point. */
static void loaded(void **state) {
    static const struct {
        const char *what;
        uint64_t size;
        uint32_t used_by, uses;
        bool grows;
    } rows[] = {{"a load", 4000, 3, 4, false},
                {"no use", 4000, 3, 0, true},
                {"a summary", 4000, 3, 1, true},
                {"a use by what loads", 4000, 2, 4, true},
                {"losses", 8, 3, 4, true}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct story s;
        begin(&s);
        for (int j = 0; j < 48; j++) {
            uint64_t staging = take(&s, 2, 4096);
            take(&s, 1, rows[i].size);
            give(&s, staging);
        }
        for (uint32_t j = 0; j < rows[i].uses; j++)
            give(&s, take(&s, rows[i].used_by, 1000));
        if (grows(&s) != rows[i].grows)
            fail_msg("%s: expected %s", rows[i].what, rows[i].grows ? "growing" : "not growing");
    }
}

/* A program that only takes blocks, of mixed sizes or of one, each so long after the one before, and then
 * goes on for a while: weights that are loaded do that as well, and no pace tells them apart. They are
 * not judged, if an interpreter drops them at its end or frees none. */
static void only_takes(void **state) {
    static const double paces_ms[] = {0, 0.1, 0.5, 2, 10, 20};
    (void)state;
    for (size_t i = 0; i < 8 * sizeof paces_ms / sizeof *paces_ms; i++) {
        bool mixed = i & 1, given_up = i & 2;
        double apart_ms = paces_ms[i / 8], then_ms = i & 4 ? 90 : 0;
        uint64_t taken[300];
        struct story s;
        struct vt_model model;
        begin(&s);
        maker_module(&s.maker, 0, 0, 0x600000, 0x700000, 0x600000, "py", 2, "/bin/python3.11");
        for (int j = 0; j < 300; j++) {
            s.maker.ticks += (uint64_t)(apart_ms * 1e6);
            taken[j] = take(&s, 1, mixed ? 1000 + (uint64_t)(j * 7 % 10) * 64 : 1000);
        }
        s.maker.ticks += (uint64_t)(then_ms * 1e6);
        for (int j = 0; j < 300 && given_up; j++)
            give(&s, taken[j]);
        const struct vt_process *p = finish(&s, &model);
        if (growth_of(p, 1) || p->sites[0].inconclusive != VT_RULE_TO_THE_END)
            fail_msg("%s, %g ms apart: not so", mixed ? "mixed" : "alike", apart_ms);
        vt_build_free(&model);
    }
}

/* One line that is reached in 12 ways, three times in each: no site of it grows alone. */
static void one_line(void **state) {
    struct story s;
    (void)state;
    begin(&s);
    for (uint32_t i = 0; i < 12; i++) {
        uint64_t frames[] = {0x401000, 0x402000, 0x410000 + 0x1000 * i};
        maker_stack(&s.maker, 0, 10 + i, frames, 3);
    }
    for (uint32_t i = 0; i < 36; i++) {
        work(&s);
        take(&s, 10 + i * 7 % 12, 1000);
    }
    assert_true(grows(&s));
}

/* Two threads mark iterations, in an order that differs from run to run. What one of them leaks is
 * told by its own events, so that the figures are the same in every run. */
static void marked_by_threads(void **state) {
    uint64_t each[2], since[2];
    (void)state;
    for (unsigned order = 0; order < 2; order++) {
        struct story s;
        struct vt_model model;
        begin(&s);
        for (unsigned i = 0; i < 80; i++) {
            s.thread = order ? i / 2 % 2 : i % 2;
            phase(&s, true);
            work(&s);
            take(&s, s.thread ? 2 : 1, 512);
            phase(&s, false);
        }
        const struct vt_growth *g = growth_of(finish(&s, &model), 1);
        assert_non_null(g);
        each[order] = vt_growth_bytes(g);
        since[order] = g->since_iteration;
        vt_build_free(&model);
    }
    assert_int_equal(each[0], each[1]);
    assert_int_equal(since[0], since[1]);
}

/* Where nothing is freed, graphs that are launched between the blocks are the program's rounds: not if they
 * are launched in one part only, nor if many follow when the last block was kept. */
static void launches(void **state) {
    enum { FROM, TO, EACH, AFTER, GROWS };
    static const int rows[][5] = {{0, 0, 1, 0, 0},   {0, 60, 1, 0, 1}, {0, 28, 1, 0, 0},
                                  {45, 60, 1, 0, 0}, {0, 60, 8, 0, 1}, {0, 60, 1, 3, 1},
                                  {0, 60, 1, 8, 0}};
    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        const int *r = rows[row];
        struct story s;
        uint64_t count = 0;
        begin(&s);
        for (int i = 0; i < 60; i++) {
            take(&s, 1, 700);
            if (i >= r[FROM] && i < r[TO] && i % r[EACH] == 0)
                maker_launches(&s.maker, 0, ++count);
        }
        maker_launches(&s.maker, 0, count + (unsigned)r[AFTER]);
        if (grows(&s) != r[GROWS])
            fail_msg("row %zu", row);
    }
}

/* In a window, blocks from before it are replaced one by one: no growth. Without the frees it is. */
static void replaced(void **state) {
    for (int gives = 0; gives < 2; gives++) {
        struct story s;
        struct vt_model model;
        struct vt_model_options options = {.device = -1, .since = "0.5s"};
        struct vt_string message = {0};
        const char *logs[] = {path};
        uint64_t old[100];
        (void)state;
        begin(&s);
        for (int i = 0; i < 100; i++)
            old[i] = take(&s, 1, 1000);
        s.maker.ticks += 1000000000;
        for (int i = 0; i < 100; i++) {
            s.maker.ticks += 10000000;
            work(&s);
            take(&s, 1, 1000);
            if (gives)
                give(&s, old[i]);
        }
        assert_int_equal(maker_save(&s.maker, path), 0);
        maker_free(&s.maker);
        assert_int_equal(vt_build_model(logs, 1, &options, &model, &message), 0);
        assert_int_equal(growth_of(model.processes, 1) != NULL, !gives);
        vt_build_free(&model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistic),
        cmocka_unit_test(steadiness),
        cmocka_unit_test(rhythm),
        cmocka_unit_test(epochs_by_rhythm),
        cmocka_unit_test(epochs_of_others),
        cmocka_unit_test(marked),
        cmocka_unit_test(freed_at_end),
        cmocka_unit_test(launches),
        cmocka_unit_test(looks_alike),
        cmocka_unit_test(only_takes),
        cmocka_unit_test(replaced),
        cmocka_unit_test(one_line),
        cmocka_unit_test(marked_by_threads),
        cmocka_unit_test(loaded),
        cmocka_unit_test(bursts),
    };
    return cmocka_run_group_tests(tests, maker_make_folder, maker_remove_folder);
}
