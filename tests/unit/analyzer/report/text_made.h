/* SPDX-License-Identifier: MIT */
/*
 * A model made by hand, and what the text report says of it, for text_test.c and text_device_test.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/formats.h"
#include "model/model.h"
#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

enum { SITES = 6, FRAMES = 6, KIB = 1024, MIB = 1024 * KIB };

/* A Python process that ended well: sites, at most one leak of the first of them, a device. */
struct made {
    struct vt_model model;
    struct vt_process process;
    struct vt_site sites[SITES];
    struct vt_stack stacks[SITES];
    struct vt_frame frames[SITES][FRAMES];
    struct vt_growth growth;
    struct vt_leak leak;
    uint32_t in_leak[SITES];
    struct vt_device device;
    struct vt_oom oom;
};

static struct made *make(void) {
    struct made *m = vt_alloc(1, sizeof *m);
    m->model = (struct vt_model){.processes = &m->process, .process_count = 1, .id_digits = 4};
    m->process = (struct vt_process){.rank = -1,
                                     .python = true,
                                     .ending.how = VT_END_EXITED,
                                     .quality.complete = true,
                                     .duration = 10000000000,
                                     .window_since = VT_UNKNOWN,
                                     .window_until = VT_UNKNOWN,
                                     .log = (char *)"x.vtl",
                                     .sites = m->sites,
                                     .leaks = &m->leak,
                                     .devices = &m->device,
                                     .device_count = 1,
                                     .ooms = &m->oom};
    m->device = (struct vt_device){
        .total_bytes = 1024ull * MIB,
        .driver_used_bytes = VT_UNKNOWN,
        .untracked_bytes = VT_UNKNOWN,
        .other_processes_bytes = VT_UNKNOWN,
        .alloc_count = 1,
        .fragmentation = {.ratio = -1, .worst.at = VT_UNKNOWN, .granule_waste_bytes = VT_UNKNOWN}};
    m->growth = (struct vt_growth){.per = "step",
                                   .marked = true,
                                   .iterations = 120,
                                   .since_iteration = 1,
                                   .full_in_iterations = VT_UNKNOWN,
                                   .rule = VT_RULE_TREND,
                                   .rises = 103,
                                   .chance = 0.0001};
    m->leak = (struct vt_leak){.why = (char *)"why", .sites = m->in_leak, .no_cache = true};
    return m;
}

/* A site that holds `live` of `allocs` blocks of a MiB at the end, `held` of them before; `where` is
 * its stack: "FILE:LINE FILE:LINE", innermost first, all of them own. */
static struct vt_site *add(struct made *m, enum vt_verdict verdict, uint64_t live, uint64_t held,
                           uint64_t allocs, const char *where) {
    uint32_t i = m->process.site_count++, n = 0;
    struct vt_site *site = &m->sites[i];
    char *words = vt_strdup(where), *rest = words;
    for (char *word; (word = strsep(&rest, " ")); n++) {
        char *colon = strchr(word, ':');
        *colon = 0;
        m->frames[i][n] = (struct vt_frame){.file = vt_strdup(word),
                                            .line = (uint32_t)atoi(colon + 1),
                                            .function = "f",
                                            .offset = VT_UNKNOWN,
                                            .python = true,
                                            .user_code = true};
    }
    free(words);
    m->stacks[i] = (struct vt_stack){.frames = m->frames[i], .count = n};
    m->stacks[i].line = vt_stack_line(&m->stacks[i], VT_LINE_CODE);
    *site = (struct vt_site){.id = i + 1,
                             .verdict = verdict,
                             .why = (char *)"why",
                             .api = "cuMemAlloc",
                             .layer = VT_LAYER_DRIVER,
                             .live_bytes = live * MIB,
                             .live_count = live,
                             .held_bytes = held * MIB,
                             .held_count = held,
                             .at_exit = true,
                             .alloc_count = allocs,
                             .bytes_at_peak = held * MIB,
                             .count_at_peak = held,
                             .first_at = VT_UNKNOWN,
                             .stack = &m->stacks[i]};
    snprintf(site->name, sizeof site->name, "%016x", i + 1);
    m->device.peak_bytes += held * MIB;
    if (verdict == VT_VERDICT_GROWING || verdict == VT_VERDICT_LOST) {
        m->in_leak[m->leak.site_count++] = i;
        m->process.leak_count = m->process.found_count = 1;
        m->leak.verdict = verdict;
        m->leak.live_bytes += live * MIB;
        m->leak.live_count += live;
        m->leak.held_bytes += held * MIB;
        m->leak.held_count += held;
        m->leak.stack = m->sites[m->in_leak[0]].stack;
        site->growth = m->leak.growth = verdict == VT_VERDICT_GROWING ? &m->growth : NULL;
        site->lost_count = verdict == VT_VERDICT_LOST ? live : 0;
    }
    return site;
}

static enum vt_by by; /* as --by; a test that sets it sets it back */
static uint32_t top;  /* likewise, as --top */

static char *text_of(const struct made *m, const char *site) {
    char *text = NULL;
    size_t length;
    struct vt_format_options how = {.site = site, .by = by, .top = top};
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(vt_format_find("text")->write(&m->model, &how, out), 0);
    fclose(out);
    return text;
}

/* Each of the words, which end with a NULL, stands in it, in this order; no line is too wide. */
static void says(const struct made *m, ...) {
    va_list words;
    char *text = text_of(m, NULL), *at = text;
    va_start(words, m);
    for (const char *word; (word = va_arg(words, const char *));) {
        char *found = strstr(at, word);
        if (!found)
            fail_msg("expected '%s' (in its place), found:\n%s", word, text);
        at = found + strlen(word);
    }
    va_end(words);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") > 80)
            fail_msg("wider than 80 columns: %.*s", (int)strcspn(line, "\n"), line);
    free(text);
}

__attribute__((unused)) static void says_not(const struct made *m, const char *words) {
    char *text = text_of(m, NULL);
    if (strstr(text, words))
        fail_msg("'%s' is said:\n%s", words, text);
    free(text);
}

static void done(struct made *m) {
    for (int i = 0; i < SITES; i++)
        for (int j = 0; j < FRAMES; j++)
            free((char *)m->frames[i][j].file);
    free(m);
}
