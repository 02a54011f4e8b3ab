/* SPDX-License-Identifier: MIT */
/*
 * What the text report says of leaks, of memory that was freed only at exit, of a GPU whose size is
 * not known and of an OOM that the program survived.
 */
#include "text_made.h"

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

/* Temporary memory beside the leak was in use at the peak. */
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
    m->leak.no_cache = false;
    says(m, "LEAK   99.0 MiB kept and growing. No known bound.\n", NULL);
    m->leak.no_cache = true;
    says(m, "LEAK   99.0 MiB kept and growing. Not a cache.\n", NULL);
    m->growth.rises = 1;
    says(m, "never freed; 1 rise, p < 0.001\n", NULL);
    done(m);
}

/* The kind of memory, if it is not a GPU's; lines are no wider than others. */
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

/* The user's callers: one; for a helper as many as needed to leave its file, four at most. */
static void callers(void **state) {
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_GROWING, 100, 100, 100, "lib.py:22 train.py:7 train.py:9");
    says(m, "  called by     train.py:7 in f\n  how much", "\n  site          0000\n", NULL);
    done(m);
    m = make();
    add(m, VT_VERDICT_GROWING, 100, 100, 100, "lib.py:22 lib.py:30 train.py:7 train.py:9");
    says(m, "  called by     lib.py:30 in f\n  called by     train.py:7 in f\n  how much", NULL);
    done(m);
    m = make();
    add(m, VT_VERDICT_GROWING, 100, 100, 100, "a.py:1 a.py:2 a.py:3 a.py:4 a.py:5 a.py:6");
    says(m,
         "called by     a.py:2 in f\n  called by     a.py:3 in f\n"
         "  called by     a.py:4 in f\n  called by     a.py:5 in f\n  how much",
         NULL);
    done(m);
    /* several together: each with the caller that is not in the helper's file */
    m = make();
    add(m, VT_VERDICT_GROWING, 100, 100, 100, "lib.py:22 lib.py:30 train.py:7");
    add(m, VT_VERDICT_GROWING, 100, 100, 100, "lib.py:22 lib.py:31 train.py:7");
    add(m, VT_VERDICT_GROWING, 100, 100, 100, "lib.py:25 train.py:8");
    says(m, "  how much", "  sites           100 MiB  called by lib.py:30 in f",
         "                           called by train.py:7 in f\n",
         "                  100 MiB  called by lib.py:31 in f",
         "                           called by train.py:7 in f\n", "100 MiB  lib.py:25 in f",
         "                           called by train.py:8 in f\n", NULL);
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
         "                   +2 more call sites\n",
         "called by train.py:8 in f (30), train.py:7 in f (40),\n", " lib.py:31 in f (20)\n",
         "10.0 MiB    8 %  train.py:9", NULL);
    m->sites[1].bytes_at_peak -= 20 * MIB;
    m->sites[2].api = "cuMemAllocHost"; /* another call */
    says(m, "70.0 MiB   70 %  lib.py:22 in f", "+1 more call site\n",
         "20.0 MiB   20 %  lib.py:22 in f", NULL);
    m->sites[2].api = "cuMemAlloc";
    by = VT_BY_SITE;
    says(m, "GPU 0   at its peak, 0.000 s   size not known; the bar is the peak\n",
         "40.0 MiB   40 %  lib.py:22 in f", "called by lib.py:30 in f\n",
         "called by train.py:7 in f\n", "30.0 MiB   30 %  lib.py:22 in f",
         "called by lib.py:30 in f\n", "called by train.py:8 in f\n",
         "20.0 MiB   20 %  lib.py:22 in f", "called by lib.py:31 in f\n",
         "10.0 MiB   10 %  train.py:9", "\n                   cuMemAlloc\n  total", NULL);
    by = VT_BY_LINE;
    m->device.total_bytes = 1024ull * MIB;
    says_not(m, "the bar is the peak");
    m->sites[3].bytes_at_peak = 1;
    says(m, "1 B   <1 %  train.py:9", NULL);
    done(m);
    /* a list stands above, unless all of it is in leaks */
    m = make();
    m->process.python = false;
    add(m, VT_VERDICT_UNFREED, 10, 10, 10, "a.py:1");
    says(m, "HELD   10.0 MiB in 10 blocks when it ended, by 1 line\n",
         "peak           10.0 MiB, all of it held at the end\n", NULL);
    add(m, VT_VERDICT_LOST, 10, 10, 10, "a.py:2");
    says(m, "LEAK", "HELD   20.0 MiB in 20 blocks when it ended, by 2 lines\n",
         "peak           20.0 MiB, all of it held at the end\n", NULL);
    done(m);
}

/* Memory that was held until the last allocation, and that an interpreter, or the program at its end, freed. */
#define HELD_LATE "HELD   200 MiB in 200 blocks until the last allocation; freed at the end"

static void freed_only_at_exit(void **state) {
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_FREED, 0, 180, 180, "lib.py:22 all.py:7");
    add(m, VT_VERDICT_FREED, 0, 20, 20, "all.py:9");
    says(m, HELD_LATE ", by 2\n    lines\n", "   180 MiB  180 of 180  lib.py:22 in f", NULL);
    says_not(m, "NOTHING HELD");
    /* who frees by hand says nothing with a few; with many at one place it does */
    m->process.python = false;
    says(m, HELD_LATE, NULL);
    m->sites[0].held_count = m->sites[1].held_count = 7;
    says(m, "NOTHING HELD AT THE END   everything allocated was freed\n", NULL);
    says_not(m, HELD_LATE);
    /* a context took some */
    m->process.context_freed_bytes = 50 * (uint64_t)MIB;
    says(
        m,
        "everything allocated was freed, 50.0 MiB of it only\n    when its context was destroyed\n",
        NULL);
    m->process.context_freed_bytes = 0;
    m->process.python = true;
    says(m, "HELD   200 MiB in 14 blocks until the last allocation", NULL);
    /* what is little beside the peak, and a single block that was just in use */
    m->device.peak_bytes = 10000ull * MIB;
    says_not(m, "until the last allocation");
    m->device.peak_bytes = 200 * (uint64_t)MIB;
    m->sites[1].held_count = 0;
    m->sites[0].held_count = 1;
    says_not(m, "until the last allocation");
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
    says(m, "HELD   180 MiB in 180 blocks when it ended", NULL);
    says_not(m, "until the last allocation");
    done(m);
}

/* A launcher's UUID as the job is cut so that the line fits; the date stays. */
static void long_job(void **state) {
    struct made *m = make();
    (void)state;
    m->process.host = (char *)"vm";
    m->process.job = (char *)"a584a358-3119-4055-b17d-265854acaeaf";
    m->process.rank = 1;
    m->process.world_size = 4;
    m->process.pid = 18152;
    m->process.started_at = 1800000000000000000;
    says(m, "vm job a584a358-3119-4055-b17d-265854acaeaf rank 1 of 4 pid 18152 20", NULL);
    m->process.job = (char *)"991204";
    says(m, "vm  job 991204  rank 1 of 4  pid 18152  20", NULL);
    done(m);
}

static void held_by_a_script(void **state) {
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_UNFREED, 10, 10, 10, "a.py:1");
    m->process.python = true;
    m->process.ending.status = 0;
    says(m, "HELD   10.0 MiB in 10 blocks when it ended, by 1 line\n", "a.py:1 in f",
         "peak           10.0 MiB, all of it held at the end\n", NULL);
    m->process.ending.how = VT_END_SIGNALED;
    says(m, "HELD   10.0 MiB in 10 blocks when it was killed, by 1 line\n", NULL);
    m->process.ending.how = VT_END_RUNNING;
    says(m, "HELD   10.0 MiB in 10 blocks when the log was read, by 1 line\n", NULL);
    done(m);
}

/* An interpreter frees remaining memory: that is evidence, not a headline. */
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
                             .outcome = VT_OOM_RAISED,
                             .requested_bytes = MIB,
                             .driver_requested_bytes = VT_UNKNOWN,
                             .free_bytes = VT_UNKNOWN,
                             .free_reported_at = VT_UNKNOWN,
                             .cached_bytes = VT_UNKNOWN,
                             .cause = VT_CAUSE_CAPACITY,
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
         "  held by    100 MiB  lib.py:22 in f", "                      called by lib.py:30 in f\n",
         "                      called by train.py:7 in f\n",
         "  19 other allocations failed as well; the program continued each time.\n", NULL);
    says_not(m, "called by train.py:9 in f");
    m->process.ending.status = 1;
    says(m, "  19 other allocations failed as well.\n", NULL);
    says_not(m, "the program");
    m->oom.at = 1000000000; /* a status of 1, but after nine seconds of work */
    says(m, "  then     the program continued for 8.900 s and ended with exit status 1\n", NULL);
    m->process.ending.how = VT_END_SIGNALED;
    says(m, "  then     the program continued for 8.900 s\n", NULL);
    m->sites[0].last_at = m->oom.at; /* it ends nine seconds later, but without another one */
    says_not(m, "then     ");
    done(m);
}

/* NEXT names a site that the report shows, and what to ask of owners if it knows some. */
static void what_next(void **state) {
    struct made *m = make();
    struct vt_memory_owner owner = {.bytes = 3 * MIB, .count = 3};
    struct vt_snapshot end = {.why = VT_SNAPSHOT_END, .owners = &owner, .owner_count = 1};
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
    struct vt_owner_group kept = {.owner = {.name = "history", .container = "history"}, .count = 3};
    struct vt_snapshot last = {.at = 4000000000, .why = VT_SNAPSHOT_REQUEST};
    (void)state;
    add(m, VT_VERDICT_GROWING, 120, 120, 120, "a.py:1");
    m->leak.kept = &kept;
    m->leak.kept_count = 1;
    m->process.snapshots = &last;
    m->process.snapshot_count = 1;
    m->process.ending.how = VT_END_SIGNALED;
    says(m, "  kept by       ", "\n                seen at 4.000 s\n", NULL);
    m->process.ending.how = VT_END_RUNNING;
    says_not(m, "seen at");
    m->process.ending.how = VT_END_SIGNALED;
    last.why = VT_SNAPSHOT_END;
    says_not(m, "seen at");
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
        cmocka_unit_test(kept_when_seen),   cmocka_unit_test(long_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
