/* SPDX-License-Identifier: MIT */
/*
 * What the text report says of leaks, of memory that was freed only at exit, of a GPU whose size is
 * not known and of an OOM that the program survived. Models are made by hand.
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
                                     .exit_kind = "exited",
                                     .complete = true,
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
                                   .rises = 103,
                                   .chance = 0.0001};
    m->leak = (struct vt_leak){.why = (char *)"why", .sites = m->in_leak};
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
    *site = (struct vt_site){.id = i + 1,
                             .verdict = verdict,
                             .why = (char *)"why",
                             .api = "cuMemAlloc",
                             .layer = VT_LAYER_DRIVER,
                             .live_bytes = live * MIB,
                             .live_count = live,
                             .held_bytes = held * MIB,
                             .held_count = held,
                             .alloc_count = allocs,
                             .bytes_at_peak = held * MIB,
                             .count_at_peak = held,
                             .first_at = VT_UNKNOWN,
                             .stack = &m->stacks[i]};
    snprintf(site->name, sizeof site->name, "%016x", i + 1);
    m->device.peak_bytes += held * MIB;
    if (verdict == VT_VERDICT_GROWING || verdict == VT_VERDICT_LOST) {
        m->in_leak[m->leak.site_count++] = i;
        m->process.leak_count = 1;
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

static void says_not(const struct made *m, const char *words) {
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

/* The same amount in the headline, the evidence and the map. */
static void leak_amounts(void **state) {
    static const struct {
        enum vt_verdict verdict;
        uint64_t live, held, allocs, kept;
        const char *headline, *evidence, *row;
    } rows[] = {
        {VT_VERDICT_GROWING, 120, 120, 120, 119, "LEAK   120 MiB kept and growing. Not a cache.\n",
         "120 of 120 blocks never freed; 103 rises, p < 0.001", "L  growing        120 MiB   12 %"},
        {VT_VERDICT_GROWING, 0, 120, 120, 119, "LEAK   120 MiB kept and growing. Not a cache.\n",
         "120 of 120 blocks freed only at exit; 103 rises", "L  growing        120 MiB"},
        {VT_VERDICT_GROWING, 10, 120, 120, 103, "LEAK   120 MiB kept and growing. Not a cache.\n",
         "120 of 120 blocks kept: 110 freed only at exit, 10 never; 103\n                rises",
         "L  growing        120 MiB"},
        {VT_VERDICT_GROWING, 0, 18, 300, 17, "LEAK   17.0 MiB kept and growing. Not",
         "17 of 300 blocks freed only at exit", "L  growing       17.0 MiB"},
        {VT_VERDICT_GROWING, 17, 18, 300, 17, "LEAK   17.0 MiB kept and growing. Not",
         "17 of 300 blocks never freed", "L  growing       17.0 MiB"},
        {VT_VERDICT_LOST, 1, 2, 52, 0, "LEAK   1.00 MiB lost: no pointer to it is left.\n",
         "evidence      why", "X  lost          1.00 MiB"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct made *m = make();
        m->growth.blocks = rows[i].kept;
        add(m, rows[i].verdict, rows[i].live, rows[i].held, rows[i].allocs, "a.py:1");
        says(m, rows[i].headline, rows[i].evidence, rows[i].row, "the leak above, 1 call site\n",
             NULL);
        done(m);
    }
}

/* What came and went beside the leak was in use at the peak. */
static void beside_the_leak(void **state) {
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_LOST, 1, 2, 52, "a.py:1");
    add(m, VT_VERDICT_FREED, 0, 3, 3, "a.py:2");
    says(m, "X  lost          1.00 MiB   <1 %   the leak above, 1 call site\n",
         "#  in use        4.00 MiB   <1 %   2 call sites, freed later\n", "  total", NULL);
    /* a peak at which not all of it had leaked yet */
    m->sites[0].bytes_at_peak = MIB / 2;
    says(m, "X  lost           512 KiB   <1 %   part of the leak above, 1 call site\n", NULL);
    done(m);
}

static void few_rises(void **state) {
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_GROWING, 99, 99, 99, "a.py:1");
    m->growth.rises = 99;
    says(m, "LEAK   99.0 MiB kept and growing. No known cache.\n", NULL);
    m->growth.rises = 100;
    says(m, "LEAK   99.0 MiB kept and growing. Not a cache.\n", NULL);
    m->growth.rises = 1;
    says(m, "never freed; 1 rise, p < 0.001\n", NULL);
    done(m);
}

/* Of whose memory, where it is no GPU's; in lines that are no wider than others. */
static void other_memory(void **state) {
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_GROWING, 0, 100, 100, "a.py:1")->layer = VT_LAYER_HOST;
    m->process.python = false;
    says(m,
         "LEAK   100 MiB of pinned host memory kept and growing, freed only at exit. Not a\n"
         "    cache.\n",
         NULL);
    m->process.python = true;
    says(m, "LEAK   100 MiB of pinned host memory kept and growing. Not a cache.\n", NULL);
    m->sites[0].layer = VT_LAYER_MANAGED;
    says(m, "LEAK   100 MiB of managed memory kept and growing", NULL);
    add(m, VT_VERDICT_GROWING, 0, 1, 1, "a.py:1");
    says(m, "LEAK   101 MiB of memory (managed included) kept and growing", NULL);
    m->sites[0].layer = VT_LAYER_DRIVER;
    says(m, "LEAK   101 MiB kept and growing", NULL);
    done(m);
}

/* Own callers: one; of a helper as many as it takes to leave its file, four at most. */
static void callers(void **state) {
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_GROWING, 100, 100, 100, "lib.py:22 train.py:7 train.py:9");
    says(m, "  called from   train.py:7 in f\n  how much", "\n  site          0000\n", NULL);
    done(m);
    m = make();
    add(m, VT_VERDICT_GROWING, 100, 100, 100, "lib.py:22 lib.py:30 train.py:7 train.py:9");
    says(m, "  called from   lib.py:30 in f\n                train.py:7 in f\n  how much", NULL);
    done(m);
    m = make();
    add(m, VT_VERDICT_GROWING, 100, 100, 100, "a.py:1 a.py:2 a.py:3 a.py:4 a.py:5 a.py:6");
    says(m,
         "called from   a.py:2 in f\n                a.py:3 in f\n"
         "                a.py:4 in f\n                a.py:5 in f\n  how much",
         NULL);
    done(m);
    /* several together: each with the caller that is not in the helper's file */
    m = make();
    add(m, VT_VERDICT_GROWING, 100, 100, 100, "lib.py:22 lib.py:30 train.py:7");
    add(m, VT_VERDICT_GROWING, 100, 100, 100, "lib.py:22 lib.py:31 train.py:7");
    add(m, VT_VERDICT_GROWING, 100, 100, 100, "lib.py:25 train.py:8");
    says(m, "  how much", "  sites           100 MiB  from lib.py:30 in f",
         "                           from train.py:7 in f\n",
         "                  100 MiB  from lib.py:31 in f",
         "                           from train.py:7 in f\n", "100 MiB  lib.py:25 in f",
         "                           from train.py:8 in f\n", NULL);
    done(m);
}

/* Rows of the peak that would read the same. */
static void rows_apart(void **state) {
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_FREED, 0, 40, 40, "lib.py:22 lib.py:30 train.py:7");
    add(m, VT_VERDICT_FREED, 0, 30, 30, "lib.py:22 lib.py:30 train.py:8");
    add(m, VT_VERDICT_FREED, 0, 20, 20, "lib.py:22 lib.py:31 train.py:7");
    add(m, VT_VERDICT_FREED, 0, 10, 10, "train.py:9");
    m->device.total_bytes = VT_UNKNOWN;
    /* one row for a line: the id of the largest, who called the three */
    m->sites[1].id = 0x77;
    snprintf(m->sites[1].name, sizeof m->sites[1].name, "7777777777777777");
    m->sites[1].bytes_at_peak += 20 * MIB;
    says(m, "110 MiB   92 %  lib.py:22 in f                                           7777\n",
         "                   +2 more call sites\n", "from train.py:8 in f\n",
         "from train.py:7 in f\n", "from lib.py:31 in f\n", "10.0 MiB    8 %  train.py:9", NULL);
    m->sites[1].bytes_at_peak -= 20 * MIB;
    m->sites[2].api = "cuMemAllocHost"; /* another call */
    says(m, "70.0 MiB   70 %  lib.py:22 in f", "+1 more call site\n",
         "20.0 MiB   20 %  lib.py:22 in f", NULL);
    m->sites[2].api = "cuMemAlloc";
    by = VT_BY_SITE;
    says(m, "GPU 0   at its peak, 0.000 s   size not known; the bar is the peak\n",
         "40.0 MiB   40 %  lib.py:22 in f", "from lib.py:30 in f\n", "from train.py:7 in f\n",
         "30.0 MiB   30 %  lib.py:22 in f", "from lib.py:30 in f\n", "from train.py:8 in f\n",
         "20.0 MiB   20 %  lib.py:22 in f", "from lib.py:31 in f\n", "10.0 MiB   10 %  train.py:9",
         "\n                   cuMemAlloc\n  total", NULL);
    by = VT_BY_LINE;
    m->device.total_bytes = 1024ull * MIB;
    says_not(m, "the bar is the peak");
    m->sites[3].bytes_at_peak = 1;
    says(m, "1 B   <1 %  train.py:9", NULL);
    done(m);
    /* a list stands above only where there is no leak */
    m = make();
    m->process.python = false;
    add(m, VT_VERDICT_UNFREED, 10, 10, 10, "a.py:1");
    says(m, "STILL HELD", "peak           10.0 MiB, all of it listed above\n", NULL);
    add(m, VT_VERDICT_LOST, 10, 10, 10, "a.py:2");
    says(m, "LEAK", "peak           20.0 MiB, made of\n", "10.0 MiB   50 %  a.py:1", NULL);
    done(m);
}

static void freed_only_at_exit(void **state) {
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_FREED, 0, 180, 180, "lib.py:22 all.py:7");
    add(m, VT_VERDICT_FREED, 0, 20, 20, "all.py:9");
    says(m, "NOTHING HELD AT THE END   everything allocated was freed\n",
         "FREED ONLY AT EXIT   200 MiB in 200 blocks\n",
         "  held until the process's last allocation; most of it allocated at lib.py:22 in\n"
         "  f, called from all.py:7 in f\n",
         NULL);
    /* a note says that a context took some */
    m->process.went_bytes = 50 * (uint64_t)MIB;
    says(
        m,
        "everything allocated was freed, 50.0 MiB of it only\n    when its context was destroyed\n",
        "FREED ONLY AT EXIT   200 MiB in 200 blocks, partly when its context was\n    destroyed\n",
        NULL);
    m->process.went_bytes = 0;
    /* who frees by hand says nothing with a few; with many at one place it does */
    m->process.python = false;
    says(m, "FREED ONLY AT EXIT", NULL);
    m->sites[0].held_count = m->sites[1].held_count = 7;
    says_not(m, "FREED ONLY AT EXIT");
    m->process.python = true;
    says(m, "FREED ONLY AT EXIT", NULL);
    /* what is little beside the peak, and a single block that was just in use */
    m->device.peak_bytes = 10000ull * MIB;
    says_not(m, "FREED ONLY AT EXIT");
    m->device.peak_bytes = 200 * (uint64_t)MIB;
    m->sites[1].held_count = 0;
    m->sites[0].held_count = 1;
    says_not(m, "FREED ONLY AT EXIT");
    /* what is not the program's own, and what is on no device */
    m->device.live_count = 1;
    says(m, "everything allocated was freed, except what caches and\n    CUDA's", NULL);
    m->device.live_count = 0;
    m->process.pinned.live_count = 1;
    says(m, "NOTHING HELD AT THE END   all GPU memory was freed; pinned host memory", NULL);
    m->process.pinned.live_count = 0;
    /* where something is still held, that is the story */
    m->sites[0].held_count = m->sites[0].live_count = 180;
    m->sites[0].live_bytes = 180 * (uint64_t)MIB;
    says(m, "HELD UNTIL PYTHON ENDED   180 MiB in 180 allocations", NULL);
    m->process.python = false;
    says(m, "STILL HELD AT THE END   180 MiB in 180 allocations", NULL);
    says_not(m, "FREED ONLY AT EXIT");
    done(m);
}

/* What a script holds to its end is one line, unless it is asked for or the script failed. */
static void held_by_a_script(void **state) {
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_UNFREED, 10, 10, 10, "a.py:1");
    m->process.python = true;
    m->process.exit_status = 0;
    says(m, "HELD UNTIL PYTHON ENDED   10.0 MiB in 10 allocations, by 1 ",
         "all of it allocated at a.py:1 in f\n", "peak           10.0 MiB, made of\n", NULL);
    says_not(m, "STILL HELD");
    m->process.exit_status = 1;
    says(m, "STILL HELD AT THE END   10.0 MiB", NULL);
    m->process.exit_status = 0;
    m->process.exit_kind = "signaled";
    says(m, "STILL HELD AT THE END   10.0 MiB", NULL);
    done(m);
}

/* An interpreter frees what is left: that is evidence, no headline. */
static void leak_of_a_script(void **state) {
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_GROWING, 0, 120, 120, "a.py:1");
    m->process.python = true;
    says(m, "LEAK   120 MiB kept and growing. Not a cache.\n", "blocks freed only at exit", NULL);
    m->leak.bytes_at_oom = 120 * (uint64_t)MIB;
    says_not(m, "when memory ran out");
    m->leak.bytes_at_oom = 512 * (uint64_t)MIB;
    says(m, "  held          512 MiB when memory ran out\n", NULL);
    done(m);
}

static void site_page(void **state) {
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_FREED, 0, 180, 180, "a.py:1");
    char *text = text_of(m, m->sites[0].name);
    assert_non_null(strstr(text, "  held at the end  0 B in 0 allocations\n"
                                 "  before exit      180 MiB in 180 allocations, until the "
                                 "process's last\n                   allocation\n"));
    free(text);
    m->sites[0].live_count = 180;
    text = text_of(m, m->sites[0].name);
    assert_null(strstr(text, "before exit"));
    free(text);
    done(m);
}

/* An allocation that failed 0.5 s before the end, and its holder. How long the program coped is told
 * by what it allocated afterwards, not by when it ended. */
static void survived(void **state) {
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_FREED, 0, 100, 100, "lib.py:22 lib.py:30 train.py:7 train.py:9");
    m->oom = (struct vt_oom){.at = 9500000000,
                             .outcome = "raised",
                             .requested_bytes = MIB,
                             .driver_requested_bytes = VT_UNKNOWN,
                             .free_bytes = VT_UNKNOWN,
                             .free_said_at = VT_UNKNOWN,
                             .cached_bytes = VT_UNKNOWN,
                             .cause = "capacity",
                             .why = (char *)"why",
                             .holders = {0},
                             .holder_bytes = {100 * MIB},
                             .holder_count = 1,
                             .stack = &m->stacks[0]};
    m->process.oom_count = 1;
    m->process.ooms_left_out = 19;
    says(m, "OUT OF MEMORY   9.500 s, lib.py:22 in f\n",
         "  then     the program ended with exit status 0\n", "  asked", NULL);
    m->sites[0].last_at = 9900000000;
    says(m, "OUT OF MEMORY   9.500 s, lib.py:22 in f\n",
         "  then     the program continued for 0.400 s and ended with exit status 0\n", "  asked",
         "  held by    100 MiB  lib.py:22 in f", "                      from lib.py:30 in f\n",
         "                      from train.py:7 in f\n",
         "  19 other allocations failed as well; the program continued each time.\n", NULL);
    says_not(m, "from train.py:9 in f");
    m->process.exit_status = 1;
    says(m, "  19 other allocations failed as well.\n", NULL);
    says_not(m, "the program");
    m->oom.at = 1000000000; /* a status of 1, but after nine seconds of work */
    says(m, "  then     the program continued for 8.900 s and ended with exit status 1\n", NULL);
    m->process.exit_kind = "signaled";
    says(m, "  then     the program continued for 8.900 s\n", NULL);
    m->sites[0].last_at = m->oom.at; /* it ends nine seconds later, but without another one */
    says_not(m, "then     ");
    done(m);
}

/* NEXT names a site that the report shows, and what to ask of owners if it knows some. */
static void what_next(void **state) {
    struct made *m = make();
    struct vt_memory_owner owner = {.bytes = 3 * MIB, .count = 3};
    struct vt_snapshot end = {.why = "end", .owners = &owner, .owner_count = 1};
    (void)state;
    add(m, VT_VERDICT_CACHE, 0, 100, 100, "a.py:1")->class = VT_CLASS_CACHE;
    says_not(m, "--site");
    add(m, VT_VERDICT_FREED, 0, 3, 3, "a.py:2");
    add(m, VT_VERDICT_FREED, 0, 4, 4, "a.py:3");
    says(m, "NEXT  vramtrace report --site 0000 x.vtl", NULL);
    m->model.id_digits = 16;
    says(m, "NEXT  vramtrace report --site 0000000000000003 x.vtl",
         "\n      vramtrace report --format", NULL);
    says_not(m, "--by owner");
    m->process.snapshots = &end;
    m->process.snapshot_count = 1;
    says(m, "NEXT  ", "\n      vramtrace report --by owner x.vtl   ", "   what keeps it\n",
         "      vramtrace report --format json x.vtl", NULL);
    done(m);
}

/* Owners of a process that was killed are of an earlier moment, which is said. */
static void kept_when_seen(void **state) {
    struct made *m = make();
    struct vt_owner_group kept = {.owner = {.name = "history", .holder = "history"}, .count = 3};
    struct vt_snapshot last = {.at = 4000000000, .why = "request"};
    (void)state;
    add(m, VT_VERDICT_GROWING, 120, 120, 120, "a.py:1");
    m->leak.kept = &kept;
    m->leak.kept_count = 1;
    m->process.snapshots = &last;
    m->process.snapshot_count = 1;
    m->process.exit_kind = "signaled";
    says(m, "  kept by       ", "\n                seen at 4.000 s\n", NULL);
    m->process.exit_kind = "running";
    says_not(m, "seen at");
    m->process.exit_kind = "signaled";
    last.why = "end";
    says_not(m, "seen at");
    done(m);
}

/* What a list of the peak leaves out is below it, so that it adds up. */
static void peak_adds_up(void **state) {
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_FREED, 0, 60, 60, "train.py:1");
    struct vt_site *cache = add(m, VT_VERDICT_CACHE, 0, 30, 30, "train.py:2");
    cache->class = VT_CLASS_CACHE;
    cache->class_name = "PyTorch";
    struct vt_site *runtime = add(m, VT_VERDICT_RUNTIME, 10, 10, 10, "train.py:3");
    runtime->class = VT_CLASS_RUNTIME;
    runtime->class_name = "cuBLAS";
    says(m, "peak           100 MiB, made of\n", "60.0 MiB   60 %  train.py:1",
         "  30.0 MiB   30 %  PyTorch, reserved and not in use\n",
         "  10.0 MiB   10 %  cuBLAS, kept by CUDA's libraries\n  total", NULL);
    done(m);
}

/* Phases whose names differ in numbers, or in what emit_nvtx() adds, are one row; those in which
 * memory did not change come last. */
static void phases(void **state) {
    static const char *const names[] = {
        "epoch 1",
        "aten::conv2d, seq = 7, op_id = 8, sizes = [[1, 2]]",
        "aten::conv2d, seq = 9, op_id = 10",
        "aten::conv1d, op_id = 11",
        "layer1",
        "idle 1",
        "epoch 2",
        "idle 2",
        "fp16_cast",
        "\x1b[31mred\xff and a name that goes on and on, to its end"};
    enum { COUNT = sizeof names / sizeof *names };
    struct vt_phase list[COUNT];
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_FREED, 0, 60, 60, "train.py:1");
    for (unsigned i = 0; i < COUNT; i++) {
        bool idle = names[i][0] == 'i';
        list[i] = (struct vt_phase){.name = names[i],
                                    .start = i,
                                    .end = i + 1,
                                    .live_at_start = i * MIB,
                                    .live_at_end = (i + !idle) * MIB,
                                    .peak_bytes = (i + !idle) * MIB};
    }
    m->process.phases = list;
    m->process.phase_count = COUNT;
    says(m, "PHASES",
         "  epoch *                             2       0 B  7.00 MiB  7.00 MiB  +2.00 MiB\n"
         "  aten::conv2d                        2  1.00 MiB  3.00 MiB  3.00 MiB  +2.00 MiB\n"
         "  aten::conv1d                        1  3.00 MiB  4.00 MiB  4.00 MiB  +1.00 MiB\n"
         "  layer1                              1  4.00 MiB  5.00 MiB  5.00 MiB  +1.00 MiB\n"
         "  idle *                              2  5.00 MiB  7.00 MiB  7.00 MiB        0 B\n"
         "  fp16_cast                           1  8.00 MiB  9.00 MiB  9.00 MiB  +1.00 MiB\n"
         "  ?[31mred? and a name that ...       1  9.00 MiB  10.0 MiB  10.0 MiB  +1.00 MiB\n",
         NULL);
    list[9].name = "z";
    top = 5;
    says(m, "PHASES", "  epoch *  ", "  fp16_cast  ",
         "\n  and 2 more names (--top 7 shows them); in 1 of them memory did not change\n", NULL);
    top = 0;
    done(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leak_amounts),     cmocka_unit_test(beside_the_leak),
        cmocka_unit_test(few_rises),        cmocka_unit_test(other_memory),
        cmocka_unit_test(callers),          cmocka_unit_test(rows_apart),
        cmocka_unit_test(held_by_a_script), cmocka_unit_test(leak_of_a_script),
        cmocka_unit_test(site_page),        cmocka_unit_test(freed_only_at_exit),
        cmocka_unit_test(survived),         cmocka_unit_test(what_next),
        cmocka_unit_test(peak_adds_up),     cmocka_unit_test(phases),
        cmocka_unit_test(kept_when_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
