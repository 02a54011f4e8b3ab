/* SPDX-License-Identifier: MIT */
/*
 * gate.c: which verdicts fail where, what a suppression, a baseline and the budgets change, who
 * fails together, who is not like the others. Models are made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gate/gate.h"
#include "gate/gate_formats.h"
#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

#define MOST 8

/* A model with processes that hold what a test says. */
struct made {
    struct vt_model model;
    struct vt_process processes[MOST];
    struct vt_site sites[MOST][VT_VERDICTS];
    struct vt_device devices[MOST];
    struct vt_stack stacks[VT_VERDICTS];
    struct vt_frame frames[VT_VERDICTS];
};

static struct made *make(uint32_t processes) {
    static const char *const functions[VT_VERDICTS] = {"lost_place",    "growing_place",
                                                       "unfreed_place", "cache_place",
                                                       "runtime_place", "freed_place"};
    struct made *m = vt_alloc(1, sizeof *m);
    m->model = (struct vt_model){.processes = m->processes, .process_count = processes};
    for (int v = 0; v < VT_VERDICTS; v++) {
        m->frames[v] =
            (struct vt_frame){.function = functions[v], .file = "x.c", .user_code = true};
        m->stacks[v] = (struct vt_stack){.frames = &m->frames[v], .count = 1, .line = v + 1};
    }
    for (uint32_t i = 0; i < processes; i++) {
        m->processes[i] = (struct vt_process){.rank = (int)(processes - 1 - i),
                                              .pid = 100 + i,
                                              .sites = m->sites[i],
                                              .devices = &m->devices[i],
                                              .device_count = 1};
        m->devices[i] = (struct vt_device){.peak_bytes = 1000, .sure_peak_bytes = 1000};
    }
    return m;
}

static void add(struct made *m, uint32_t process, enum vt_verdict verdict, uint64_t bytes) {
    struct vt_process *p = &m->processes[process];
    p->sites[p->site_count++] = (struct vt_site){.id = verdict,
                                                 .verdict = verdict,
                                                 .api = "cudaMalloc",
                                                 .live_bytes = bytes,
                                                 .live_count = 1,
                                                 .stack = &m->stacks[verdict]};
}

/* The names of the verdicts that fail, in the order of the findings. */
static const char *failing(const struct made *m, const struct vt_gate_options *options) {
    static char names[256];
    struct vt_gate gate;
    vt_gate_judge(&m->model, options, &gate);
    names[0] = 0;
    for (uint32_t i = 0; i < gate.failures; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s ",
                 gate.findings[i].site ? vt_verdict_names[gate.findings[i].site->verdict] : "peak");
    assert_int_equal(gate.failed, names[0] != 0);
    vt_gate_free(&gate);
    return names;
}

static void verdicts(void **state) {
    struct made *m = make(1);
    struct vt_gate_options options = {.max_peak = VT_UNKNOWN};
    (void)state;
    for (int v = 0; v < VT_VERDICTS; v++)
        add(m, 0, (enum vt_verdict)v, 100 + (uint64_t)v);
    assert_string_equal(failing(m, &options), "unfreed growing lost ");
    m->processes[0].python = true;
    assert_string_equal(failing(m, &options), "growing lost ");
    options.chosen = true;
    assert_string_equal(failing(m, &options), "");
    memset(options.fails, 1, sizeof options.fails); /* also those that never fail */
    assert_string_equal(failing(m, &options), "unfreed suspect growing lost ");
    options.fails[VT_VERDICT_GROWING] = options.fails[VT_VERDICT_SUSPECT] = false;
    assert_string_equal(failing(m, &options), "unfreed lost ");
    /* budgets */
    options.max_leaked = 202; /* 103 + 100 are held */
    assert_string_equal(failing(m, &options), "unfreed lost ");
    options.max_leaked = 203;
    assert_string_equal(failing(m, &options), "");
    options.max_peak = 999;
    assert_string_equal(failing(m, &options), "peak ");
    options.max_peak = 1000;
    assert_string_equal(failing(m, &options), "");
    free(m);
}

/* Lost frees before it can inflate a peak: uncertain amounts leave the result open. */
static void open_peak(void **state) {
    struct made *m = make(1);
    struct vt_gate_options options = {.max_peak = 700};
    struct vt_gate gate;
    (void)state;
    m->processes[0].quality.missing = 3;
    m->devices[0].sure_peak_bytes = 500;
    vt_gate_judge(&m->model, &options, &gate);
    assert_false(gate.failed);
    assert_int_equal(gate.open_events, 3);
    vt_gate_free(&gate);
    m->devices[0].sure_peak_bytes = 701;
    assert_string_equal(failing(m, &options), "peak ");
    free(m);
}

static void let_pass(void **state) {
    struct made *m = make(2);
    struct vt_suppression rule = {.pattern = "lost", .glob = "*lost*", .file = "f"};
    struct vt_suppressions list = {.rules = &rule, .count = 1};
    struct vt_baseline baseline = {0};
    struct vt_gate_options options = {.max_peak = VT_UNKNOWN, .suppressions = &list};
    struct vt_gate gate;
    (void)state;
    add(m, 0, VT_VERDICT_LOST, 500);
    add(m, 0, VT_VERDICT_UNFREED, 70);
    add(m, 1, VT_VERDICT_UNFREED, 60);
    vt_gate_judge(&m->model, &options, &gate);
    assert_int_equal(gate.failures, 2);
    assert_int_equal(gate.counts[VT_GATE_SUPPRESSED], 1);
    assert_int_equal(rule.sites, 1);
    /* the baseline of this run lacks suppressed sites; the largest amount of any process counts */
    vt_gate_baseline(&gate, &baseline);
    assert_int_equal(baseline.count, 1);
    assert_int_equal(baseline.entries[0].bytes, 70);
    vt_gate_free(&gate);
    options.baseline = &baseline;
    assert_string_equal(failing(m, &options), "");
    m->sites[1][0].live_bytes = 71;
    assert_string_equal(failing(m, &options), "unfreed ");
    vt_gate_judge(&m->model, &options, &gate);
    char *why = vt_gate_why(&gate, &gate.lines[0], false);
    assert_non_null(strstr(why, "grown beyond the 70 B that the baseline accepts"));
    assert_int_equal(gate.leaks[0].known, VT_GATE_LARGER);
    assert_int_equal(gate.findings[gate.count - 1].known, VT_GATE_KNOWN);
    free(why);
    vt_gate_free(&gate);
    /* the same place in pieces, on two devices: together they are what the baseline knows */
    m->sites[1][0].live_bytes = 40;
    add(m, 1, VT_VERDICT_UNFREED, 40);
    m->sites[1][1].device = 1;
    assert_string_equal(failing(m, &options), "unfreed unfreed ");
    vt_baseline_free(&baseline);
    free(m);
}

static void many(void **state) {
    static const uint64_t bytes[] = {10, 12, 11, 25, 10};
    struct made *m = make(5);
    struct vt_gate_options options = {.max_peak = VT_UNKNOWN};
    struct vt_gate gate;
    (void)state;
    for (uint32_t i = 0; i < 5; i++)
        add(m, i, VT_VERDICT_LOST, bytes[i]);
    vt_gate_judge(&m->model, &options, &gate);
    assert_int_equal(gate.failures, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(gate.processes[i].outlier, i == 3);
        assert_int_equal(m->processes[gate.order[i]].rank, i); /* made in reverse */
    }
    assert_int_equal(gate.findings[0].process, 3); /* the worst first */
    assert_int_equal(gate.line_count, 1);
    assert_int_equal(gate.lines[0].processes, 5);
    assert_int_equal(gate.lines[0].amount.bytes, 68);
    assert_int_equal(gate.lines[0].amount.blocks, 5);
    char *name = vt_gate_process_name(&m->processes[3], true);
    assert_string_equal(name, "rank 1, unknown program");
    free(name);
    vt_gate_free(&gate);
    /* of two none is an outlier; if all are alike, none is */
    m->model.process_count = 2;
    m->sites[1][0].live_bytes = 1000;
    vt_gate_judge(&m->model, &options, &gate);
    assert_false(gate.processes[0].outlier || gate.processes[1].outlier);
    vt_gate_free(&gate);
    m->model.process_count = 0;
    vt_gate_judge(&m->model, &options, &gate);
    assert_false(gate.failed);
    vt_gate_free(&gate);
    free(m);
}

/* What every format says of a judgement. Free it. */
static char *write_as(const struct vt_gate *gate, const char *format, bool stable) {
    char *text = NULL;
    size_t length;
    struct vt_gate_format_options how = {.stable = stable};
    FILE *out = open_memstream(&text, &length);
    vt_gate_write(gate, vt_gate_format_find(format), &how, out);
    fclose(out);
    return text;
}

static void says(const struct vt_gate *gate, const char *format, bool stable, const char *words) {
    char *text = write_as(gate, format, stable);
    if (!strstr(text, words))
        fail_msg("%s: expected '%s', found:\n%s", format, words, text);
    free(text);
}

/* Memory that grew and was freed only at exit fails with the amount held then, not with nothing. */
static void freed_at_exit(void **state) {
    static const struct {
        uint64_t live, held, allocs, grown;
        const char *amount, *headline;
        bool at_exit; /* a snapshot saw some of it when the program's code had ended */
    } rows[] = {
        {0, 120, 120, 119, "7.50 MiB in 120 blocks, freed only at exit", "7.50 MiB", true},
        {10, 120, 120, 103, "7.50 MiB in 120 blocks, 110 of them freed only at exit", "7.50 MiB",
         true},
        {0, 1, 1, 0, "64.0 KiB in 1 block, freed only at exit", "64.0 KiB", true},
        /* the last block of 300 is not one of the 17 that were kept */
        {0, 18, 300, 17, "1.06 MiB in 17 blocks, freed only at exit", "1.06 MiB", true},
        {17, 18, 300, 17, "1.06 MiB in 17 blocks", "1.06 MiB", true},
        {0, 18, 300, 17, "1.06 MiB in 17 blocks, freed only after the last allocation", "1.06 MiB",
         false},
        /* most of it is live: that is what it is */
        {60, 120, 120, 119, "3.75 MiB in 60 blocks", "3.75 MiB", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct made *m = make(1);
        struct vt_gate_options options = {.max_peak = VT_UNKNOWN};
        struct vt_gate gate;
        struct vt_string headline = {0};
        struct vt_growth growth = {.rises = 17, .blocks = rows[i].grown};
        uint32_t first = 0;
        struct vt_leak leak = {.verdict = VT_VERDICT_GROWING,
                               .sites = &first,
                               .site_count = 1,
                               .growth = &growth,
                               .live_count = rows[i].live,
                               .held_count = rows[i].held};
        add(m, 0, VT_VERDICT_GROWING, rows[i].live * 65536);
        m->sites[0][0].live_count = rows[i].live;
        m->sites[0][0].held_count = rows[i].held;
        m->sites[0][0].at_exit = rows[i].at_exit;
        m->sites[0][0].held_bytes = rows[i].held * 65536;
        m->sites[0][0].alloc_count = rows[i].allocs;
        m->sites[0][0].growth = &growth;
        m->processes[0].leaks = &leak;
        m->processes[0].leak_count = m->processes[0].found_count = 1;
        vt_gate_judge(&m->model, &options, &gate);
        char *amount = vt_amount_text(gate.findings[0].amount);
        assert_string_equal(amount, rows[i].amount);
        vt_string_format(&headline, "FAILED: 1 leak, %s\n", rows[i].headline);
        says(&gate, "text", false, headline.text);
        for (int format = 0; format < 4; format++)
            says(&gate, (const char *const[]){"text", "junit", "sarif", "github"}[format], true,
                 amount);
        says(&gate, "json", false, "\"live_bytes\": ");
        vt_string_free(&headline);
        free(amount);
        vt_gate_free(&gate);
        free(m);
    }
}

/* A pass reports inconclusive sites. */
static void went_with_context(void **state) {
    static const char note[] = "29.7 MiB went";
    static const char *const formats[] = {"text", "json", "junit", "sarif", "github"};
    struct vt_gate_options options = {.max_peak = VT_UNKNOWN};
    struct vt_gate gate;
    (void)state;
    for (uint32_t processes = 1; processes <= 2; processes++) {
        struct made *m = make(processes);
        m->processes[0].context_freed_note = note;
        vt_gate_judge(&m->model, &options, &gate);
        assert_false(gate.failed);
        says(&gate, "text", false, "leak check passed: no leak\n");
        for (int i = 0; i < 5; i++)
            says(&gate, formats[i], i & 1, note);
        if (processes == 2)
            says(&gate, "text", true, "NOTE          rank 1, unknown program: 29.7 MiB");
        m->processes[0].context_freed_note = NULL;
        for (int i = 0; i < 5; i++) {
            char *text = write_as(&gate, formats[i], false);
            assert_null(strstr(text, "29.7 MiB went"));
            free(text);
        }
        vt_gate_free(&gate);
        free(m);
    }
}

/* What chance explains: never less than what there was, and the less the more runs there are. */
static void noise(void **state) {
    const uint64_t two[] = {1000, 1010}, five[] = {1000, 1010, 1005, 1000, 1010}, same[] = {70, 70};
    const uint64_t bimodal[] = {10, 10, 10, 10, 10, 10, 10, 20};
    (void)state;
    assert_true(vt_earlier_noise(two, 1) == VT_UNKNOWN);
    assert_int_equal(vt_earlier_noise(two, 2), 1005 + 275); /* 31.82 * 7.071 * sqrt(3 / 2) */
    assert_int_equal(vt_earlier_noise(five, 5), 1025);      /* 3.747 * 5 * sqrt(6 / 5) */
    assert_int_equal(vt_earlier_noise(same, 2), 70);
    assert_in_range(vt_earlier_noise(bimodal, 8), 20, 25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),      cmocka_unit_test(open_peak),
        cmocka_unit_test(let_pass),      cmocka_unit_test(many),
        cmocka_unit_test(freed_at_exit), cmocka_unit_test(went_with_context),
        cmocka_unit_test(noise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
