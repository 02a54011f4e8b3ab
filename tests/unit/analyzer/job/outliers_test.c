/* SPDX-License-Identifier: MIT */
/*
 * Which processes are peers, which of them differ, and which are shown whole. Fleets are made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "job/job.h"
#include "job/tables.h"

#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20 };

static uint64_t next_id;

/* A process of a run, which began after all that are there. */
static struct vt_job_process process(struct vt_job *f, int rank, const char *command) {
    uint32_t number = f->process_count;
    return (struct vt_job_process){.id = ++next_id,
                                   .log = "x.vtl",
                                   .run_id = "run",
                                   .command = command,
                                   .host = vt_job_add_host(f, "node", "boot"),
                                   .rank = rank,
                                   .pid = 1000 + number,
                                   .ppid = 1,
                                   .started_realtime = 1000 + number,
                                   .started_monotonic = 1000 + number,
                                   .duration = 1000000,
                                   .ending.how = VT_END_EXITED,
                                   .quality.complete = true};
}

static void line(struct vt_job *f, const char *text, uint64_t bytes) {
    uint32_t index =
        vt_job_add_line(f, (struct vt_job_line){.text = text, .layer = VT_LAYER_DRIVER});
    vt_job_add_row(
        f, VT_CELL_ROWS,
        &(struct vt_job_cell){.line = index, .verdict = VT_VERDICT_UNFREED, .peak_bytes = bytes});
}

static void owner(struct vt_job *f, const char *text, uint64_t bytes, enum vt_snapshot_why why) {
    uint32_t index = vt_job_add_owner(f, (struct vt_job_owner){.text = text});
    vt_job_add_row(f, VT_OWNED_ROWS,
                   &(struct vt_job_owned){.owner = index, .bytes = bytes, .why = why});
}

/* A rank with 600 MiB at one line and `more` at another. */
static void rank(struct vt_job *f, int number, const char *where, uint64_t more) {
    struct vt_job_process p = process(f, number, "python3 train.py");
    p.peak_bytes = 600ull * MIB + more;
    vt_job_add_process(f, p);
    line(f, "model.py:10", 600ull * MIB);
    if (more)
        line(f, where, more);
}

/* The peers as text, by ranks or else pids: "0 1 2; 1003". */
static const char *peers_of(const struct vt_job *f) {
    static char text[4096];
    size_t length = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < f->peers_count; i++)
        for (uint32_t k = 0; k < f->peers[i].process_count; k++) {
            const struct vt_job_process *p = &f->processes[f->peers[i].processes[k]];
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%d",
                                       k   ? " "
                                       : i ? "; "
                                           : "",
                                       p->rank >= 0 ? p->rank : (int)p->pid);
        }
    return text;
}

/* The outliers: "5 more: peak 856 of 600, train.py:31 256 of 0", in MiB. */
static const char *outliers_of(const struct vt_job *f) {
    static char text[4096];
    size_t length = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < f->outlier_count; i++) {
        const struct vt_job_outlier *o = &f->outliers[i];
        for (uint32_t k = 0; k < o->process_count; k++)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%d",
                                       k   ? " "
                                       : i ? "; "
                                           : "",
                                       f->processes[o->processes[k]].rank);
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   " %s%s:", o->more ? "more" : "less", o->two ? " (two)" : "");
        for (uint32_t k = 0; k < o->difference_count; k++) {
            const struct vt_job_difference *d = &o->differences[k];
            length += (size_t)snprintf(
                text + length, sizeof text - length, "%s %s %llu of %llu", k ? "," : "",
                d->measure == VT_JOB_PEAK   ? "peak"
                : d->measure == VT_JOB_LINE ? f->lines[d->what].text
                                            : f->owners[d->what].text,
                (unsigned long long)d->bytes / MIB, (unsigned long long)d->median / MIB);
        }
    }
    return text;
}

/* The processes that are shown whole, by ranks or else pids. */
static const char *shown_of(const struct vt_job *f) {
    static char text[4096];
    size_t length = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < f->shown_count; i++) {
        const struct vt_job_process *p = &f->processes[f->shown[i]];
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%d", i ? " " : "",
                                   p->rank >= 0 ? p->rank : (int)p->pid);
    }
    return text;
}

#define CHECK(f, what, expected)                                                                   \
    do {                                                                                           \
        vt_job_finish(f);                                                                          \
        assert_string_equal(what(f), expected);                                                    \
        vt_job_free(f);                                                                            \
    } while (0)

/* --- outliers --- */

static void one_of_many(void **state) {
    (void)state;
    for (int ranks = 3; ranks <= 9; ranks++) {
        struct vt_job *f = vt_job_open();
        for (int i = 0; i < ranks; i++)
            rank(f, i, "train.py:31", i == 2 ? 256ull * MIB : 0);
        vt_job_finish(f);
        assert_string_equal(outliers_of(f), "2 more: peak 856 of 600, train.py:31 256 of 0");
        assert_string_equal(shown_of(f), "2 0");
        vt_job_free(f);
    }
}

static void one_with_less(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 5; i++)
        rank(f, i, "train.py:31", i == 1 ? 0 : 200ull * MIB);
    CHECK(f, outliers_of, "1 less: peak 600 of 800, train.py:31 0 of 200");
}

static void nobody(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 5; i++)
        rank(f, i, "train.py:31", 256ull * MIB);
    vt_job_finish(f);
    assert_string_equal(outliers_of(f), "");
    assert_string_equal(shown_of(f), "0");
    vt_job_free(f);
}

static void two(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    rank(f, 0, "train.py:31", 100ull * MIB);
    rank(f, 1, "train.py:99", 256ull * MIB);
    CHECK(f, outliers_of,
          "1 more (two): train.py:99 256 of 0, peak 856 of 700, train.py:31 0 of 100");
}

/* Four stages of two: the first hold the embeddings, the last the head. */
static void pipeline(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 8; i++)
        rank(f, i, i < 2 ? "embed.py:5" : "lm_head.py:7",
             i < 2   ? 200ull * MIB
             : i > 5 ? 210ull * MIB
                     : 0);
    CHECK(f, outliers_of,
          "6 7 more: peak 810 of 600, lm_head.py:7 210 of 0; 0 1 more: peak 800 of 600, "
          "embed.py:5 200 of 0");
}

/* TELLING_PART: a line more of 20 MiB does not part rank 6 from rank 7. */
static void alike_but_for_little(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 8; i++) {
        rank(f, i, "lm_head.py:7", i > 5 ? 210ull * MIB : 0);
        if (i == 6)
            line(f, "log.py:1", 20ull * MIB);
    }
    CHECK(f, outliers_of, "6 7 more: peak 810 of 600, lm_head.py:7 210 of 0, log.py:1 20 of 0");
}

/* LEAST_PART: 5 MiB of 600 are not worth a name. */
static void too_little(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 5; i++)
        rank(f, i, "train.py:31", i == 2 ? 5ull * MIB : 0);
    CHECK(f, outliers_of, "");
}

/* GAP_PERCENT: a difference of at most 5 % of the others' memory there is not reported. */
static void too_near(void **state) {
    (void)state;
    for (unsigned more = 4; more <= 6; more += 2) {
        struct vt_job *f = vt_job_open();
        for (int i = 0; i < 9; i++)
            rank(f, i, "train.py:31", (i == 2 ? 400ull + 4 * more : 400ull) * MIB);
        CHECK(f, outliers_of, more == 4 ? "" : "2 more: train.py:31 424 of 400");
    }
}

/* The stages of a pipeline: two without a similar half, and stages with similar halves. */
static void halves(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 8; i++)
        rank(f, i, "stage.py:9", (i / 2 + 1) * 100ull * MIB);
    CHECK(f, outliers_of, "");
    f = vt_job_open();
    for (int i = 0; i < 8; i++)
        rank(f, i, "stage.py:9", i < 4 ? 100ull * MIB : 300ull * MIB);
    CHECK(f, outliers_of, "4 5 6 7 more: peak 900 of 700, stage.py:9 300 of 100");
}

/* A real report: all lines of one of two hold twice as much, because its batches are twice as large; a caching
 * allocator hides amounts below its segments' size. */
static void twice_the_batch(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct vt_job_process p = process(f, i, "python3 train.py");
        p.peak_bytes = (i + 1) * 20ull * MIB;
        vt_job_add_process(f, p);
        vt_job_add_line(
            f, (struct vt_job_line){.text = "alloc", .layer = VT_LAYER_DRIVER, .segments = true});
        line(f, "alloc", 0);
        f->cells[f->cell_count - 1].line = 0;
        line(f, "train.py:1", (i + 1) * 8ull * MIB);
        line(f, "train.py:2", (i + 1) * 6ull * MIB);
        line(f, "train.py:3", (i + 1) * 4ull * MIB);
        line(f, "train.py:4", 2ull * MIB);
    }
    CHECK(f, outliers_of,
          "1 more (two): train.py:1 16 of 8, train.py:2 12 of 6, train.py:3 8 of 4");
}

/* Memory outside the program: segments of a caching allocator, memory that CUDA's libraries keep, the sum of many
 * small lines. A peak that differs by two segments is not reported, a larger difference is. */
static void not_the_programs(void **state) {
    (void)state;
    for (unsigned more = 38; more <= 78; more += 40) {
        struct vt_job *f = vt_job_open();
        for (int i = 0; i < 5; i++) {
            struct vt_job_process p = process(f, i, "python3 train.py");
            p.peak_bytes = (400ull + (i == 2 ? more : 0)) * MIB;
            vt_job_add_process(f, p);
            line(f, "model.py:10", 300ull * MIB);
            uint32_t segments = vt_job_add_line(
                f,
                (struct vt_job_line){.text = "alloc", .layer = VT_LAYER_DRIVER, .segments = true});
            uint32_t rest = vt_job_add_line(
                f, (struct vt_job_line){.text = "rest", .layer = VT_LAYER_DRIVER, .rest = true});
            vt_job_add_row(f, VT_CELL_ROWS,
                           &(struct vt_job_cell){.line = segments,
                                                 .verdict = VT_VERDICT_CACHE,
                                                 .peak_bytes = p.peak_bytes});
            if (i != 2)
                continue;
            line(f, "cublas", 32ull * MIB);
            f->cells[f->cell_count - 1].verdict = VT_VERDICT_RUNTIME;
            line(f, "rest", 32ull * MIB);
            f->cells[f->cell_count - 1].line = rest;
        }
        CHECK(f, outliers_of, more == 38 ? "" : "2 more: peak 478 of 400");
    }
}

/* A process that lost many events did not hold less: its memory is unknown. A few lost in many do not matter. */
static void lacking(void **state) {
    (void)state;
    for (unsigned dropped = 86; dropped <= 860; dropped += 774) {
        struct vt_job *f = vt_job_open();
        for (int i = 0; i < 5; i++) {
            rank(f, i, "train.py:31", i == 2 ? 0 : 200ull * MIB);
            f->processes[i].events = 10000;
            f->processes[i].quality.missing = i == 2 ? dropped : 0;
        }
        CHECK(f, outliers_of,
              dropped == 860 ? "" : "2 less: peak 600 of 800, train.py:31 0 of 200");
    }
}

/* A line on two devices is one value. */
static void several_devices(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct vt_job_process p = process(f, i, "python3 train.py");
        p.peak_bytes = 600ull * MIB;
        vt_job_add_process(f, p);
        line(f, "model.py:10", (i == 1 ? 300ull : 600ull) * MIB);
        if (i == 1) {
            line(f, "model.py:10", 300ull * MIB);
            f->cells[f->cell_count - 1].device = 1;
        }
    }
    CHECK(f, outliers_of, "");
}

/* --- owners --- */

/* A rank that keeps what the others free has the same lines. */
static void owners_name(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 4; i++) {
        rank(f, i, NULL, 0);
        owner(f, "model in __main__", 300ull * MIB, VT_SNAPSHOT_END);
        if (i == 3)
            owner(f, "hoard (list) in __main__", 250ull * MIB, VT_SNAPSHOT_END);
    }
    CHECK(f, outliers_of, "3 more: hoard (list) in __main__ 250 of 0");
}

/* If the others hold nothing at the end, and so have no owners, that is also known. */
static void owners_of_one(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 4; i++) {
        rank(f, i, NULL, 0);
        f->processes[i].live_bytes = i < 2 ? 0 : 250ull * MIB;
        if (i == 3)
            owner(f, "hoard (list) in __main__", 250ull * MIB, VT_SNAPSHOT_END);
    }
    CHECK(f, outliers_of, "3 more: hoard (list) in __main__ 250 of 0");
}

/* The others' snapshots of the end saw caches alone, and what they show is from when they grew. */
static void owners_of_other_moments(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 8; i++) {
        rank(f, i, NULL, 0);
        f->processes[i].live_bytes = 400ull * MIB;
        f->processes[i].none_at_end = i != 5;
        if (i == 5)
            owner(f, "hoard (list) in __main__", 250ull * MIB, VT_SNAPSHOT_END);
        else
            owner(f, "model in train()", 300ull * MIB, VT_SNAPSHOT_GROWTH);
    }
    vt_job_finish(f);
    assert_int_equal(f->outlier_count, 1);
    assert_non_null(strstr(outliers_of(f), "hoard (list) in __main__ 250 of 0"));
    vt_job_free(f);
}

/* A rank that holds less has an owner that was grouped in another way: that it does not hold more of. */
static void owners_of_another_name(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 5; i++) {
        rank(f, i, "train.py:31", i == 1 ? 0 : 200ull * MIB);
        owner(f, i == 1 ? "k[0] (list)" : "k (list)", i == 1 ? 600ull * MIB : 800ull * MIB,
              VT_SNAPSHOT_END);
    }
    CHECK(f, outliers_of, "1 less: peak 600 of 800, train.py:31 0 of 200");
}

/* Owners that are grouped in another way hold no more together; those of another moment are not
 * compared. */
static void owners_that_do_not(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 5; i++) {
        rank(f, i, NULL, 0);
        f->processes[i].live_bytes = 300ull * MIB;
        owner(f, i == 3 ? "a and 150 more variables" : "a and 149 more variables", 300ull * MIB,
              i == 2 ? VT_SNAPSHOT_OOM : VT_SNAPSHOT_END);
        if (i == 2)
            owner(f, "batch in step", 250ull * MIB, VT_SNAPSHOT_OOM);
    }
    CHECK(f, outliers_of, "");
}

/* --- peers --- */

static void add_command(struct vt_job *f, int number, const char *command) {
    vt_job_add_process(f, process(f, number, command));
    line(f, "x", MIB);
}

static void commands(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    add_command(f, 0, "python3 train.py --lr 0.1 --local_rank=0 --port 29500 /tmp/tmpab1/c.json");
    add_command(f, 1, "python3 train.py --lr 0.1 --local_rank=1 --port 29501 /tmp/tmpx_2/c.json");
    add_command(f, 2, "python3 train.py --lr 0.2 --local_rank=2 --port 29502 /tmp/tmpx_2/c.json");
    add_command(f, 7, "python3 fit.py --epochs 8"); /* the number is not a rank */
    add_command(f, 8, "python3 fit.py --epochs 8");
    add_command(f, 9, "python3 fit.py --epochs 8");
    add_command(f, 3, "./worker 3");
    add_command(f, 4, "./worker 4");
    add_command(f, -1,
                "python3 -c from multiprocessing.spawn import spawn_main; "
                "spawn_main(tracker_fd=5, pipe_handle=7) --multiprocessing-fork");
    add_command(f, -1,
                "python3 -c from multiprocessing.spawn import spawn_main; "
                "spawn_main(tracker_fd=5, pipe_handle=13) --multiprocessing-fork");
    vt_job_finish(f);
    assert_string_equal(peers_of(f), "0 1; 2; 3 4; 7 8 9; 1008 1009");
    vt_job_free(f);
}

/* A number of a command that is a rank's by chance does not make it another command; and one that is every
 * rank's own is none, in whatever word it is. */
static void ranks_in_commands(void **state) {
    char command[80];
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct vt_job *f = vt_job_open();
        for (int i = 0; i < 5; i++) {
            snprintf(command, sizeof command,
                     way == 0   ? "python3 train.py --epochs 4"
                     : way == 1 ? "./worker %d 4 3"
                     : way == 2 ? "./worker 4 --name job%d --model 1b"
                                : "./worker run%02d.yaml",
                     i);
            add_command(f, i, command);
        }
        CHECK(f, peers_of, "0 1 2 3 4");
    }
}

/* A fork has its parent's command. */
static void families(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct vt_job_process p = process(f, -1, "python3 pool.py");
        p.ppid = i ? 1000 : 1;
        vt_job_add_process(f, p);
        line(f, "x", MIB);
    }
    CHECK(f, peers_of, "1000; 1001 1002");
}

/* Buffers of a cache of pinned memory: with torchrun and gloo, one rank of eight had one less than the
 * others. Three more are no chance. */
static void recycled_buffers(void **state) {
    struct vt_job *f;
    (void)state;
    for (uint64_t have = 0; have <= 4; have++) {
        f = vt_job_open();
        for (int i = 0; i < 8; i++) {
            uint64_t buffers = i == 6 ? have : 1;
            rank(f, i, NULL, 0);
            f->processes[i].peak_bytes += buffers * 40 * MIB;
            uint32_t index = vt_job_add_line(f, (struct vt_job_line){.text = "train.py:22",
                                                                     .layer = VT_LAYER_HOST,
                                                                     .recycled = true});
            uint64_t bytes = buffers * 40 * MIB;
            vt_job_add_row(f, VT_CELL_ROWS,
                           &(struct vt_job_cell){.line = index,
                                                 .peak_bytes = bytes,
                                                 .allocated_bytes = bytes,
                                                 .alloc_count = buffers});
        }
        if (have == 4)
            CHECK(f, outliers_of, "6 more: peak 760 of 640, train.py:22 160 of 40");
        else
            CHECK(f, outliers_of, "");
    }
}

/* Runs that were started apart: on two hosts the ranks of one job, on one host all ranks twice. */
static void runs(void **state) {
    (void)state;
    for (int test = 0; test < 4; test++) {
        bool twice = test & 1, job = test & 2;
        struct vt_job *f = vt_job_open();
        for (int i = 0; i < 4; i++) {
            struct vt_job_process p = process(f, twice ? i % 2 : i, "python3 train.py");
            p.run_id = i < 2 ? "first" : "second";
            p.job = job ? "991204" : NULL;
            p.ppid = i < 2 ? 900 : 901;
            vt_job_add_process(f, p);
            line(f, "x", MIB);
        }
        CHECK(f, peers_of, twice ? "0 1; 0 1" : "0 1 2 3");
    }
}

/* A helper with a rank's number that allocated nothing; but a rank that allocated nothing differs. */
static void helpers(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 5; i++)
        if (i == 3)
            vt_job_add_process(f, process(f, i, "python3 train.py"));
        else
            rank(f, i, NULL, 0);
    vt_job_add_process(f, process(f, 0, "python3 train.py"));
    vt_job_finish(f);
    assert_string_equal(peers_of(f), "0 1 2 3 4; 0");
    assert_string_equal(outliers_of(f), "3 less: peak 0 of 600, model.py:10 0 of 600");
    assert_string_equal(shown_of(f), "3 0");
    vt_job_free(f);
}

/* Restarted ranks: only their last starts are compared. A helper between two starts hides none. */
static void restarts(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 4; i++)
        rank(f, i, NULL, 0);
    vt_job_add_process(f, process(f, 2, "python3 train.py"));
    for (int i = 1; i < 3; i++) {
        struct vt_job_process p = process(f, i, "python3 train.py");
        p.started_realtime = p.started_monotonic = 10000000;
        f->processes[i].peak_bytes = 100ull * MIB;
        p.peak_bytes = 600ull * MIB;
        vt_job_add_process(f, p);
        line(f, "model.py:10", 600ull * MIB);
    }
    vt_job_finish(f);
    assert_string_equal(peers_of(f), "0 1 2 3; 1 2; 2");
    assert_string_equal(outliers_of(f), "");
    assert_string_equal(shown_of(f), "0");
    vt_job_free(f);
}

/* One that ran out of memory is shown, though it is like the others. */
static void out_of_memory(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 4; i++)
        rank(f, i, NULL, 0);
    f->processes[2].ending.status = 1;
    f->processes[2].oom_count = 1;
    CHECK(f, shown_of, "2 0");
}

/* --- size --- */

static void ten_thousand(void **state) {
    struct vt_job *f = vt_job_open();
    (void)state;
    for (int i = 0; i < 10000; i++) {
        struct vt_job_process p = process(f, i, "python3 train.py");
        p.peak_bytes = 200ull * 4 * MIB + (i == 7777 ? 64ull * MIB : 0);
        vt_job_add_process(f, p);
        for (int k = 0; k < 40; k++) {
            char text[32];
            snprintf(text, sizeof text, "train.py:%d", k);
            line(f, text, 20ull * MIB + vt_mix((uint64_t)i * 40 + (uint64_t)k) % (MIB / 4));
        }
        if (i == 7777)
            line(f, "hoard.py:1", 64ull * MIB);
    }
    CHECK(f, outliers_of, "7777 more: peak 864 of 800, hoard.py:1 64 of 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_many),
        cmocka_unit_test(one_with_less),
        cmocka_unit_test(nobody),
        cmocka_unit_test(two),
        cmocka_unit_test(pipeline),
        cmocka_unit_test(alike_but_for_little),
        cmocka_unit_test(too_little),
        cmocka_unit_test(too_near),
        cmocka_unit_test(halves),
        cmocka_unit_test(twice_the_batch),
        cmocka_unit_test(not_the_programs),
        cmocka_unit_test(lacking),
        cmocka_unit_test(several_devices),
        cmocka_unit_test(owners_name),
        cmocka_unit_test(owners_of_one),
        cmocka_unit_test(owners_of_other_moments),
        cmocka_unit_test(owners_of_another_name),
        cmocka_unit_test(owners_that_do_not),
        cmocka_unit_test(commands),
        cmocka_unit_test(ranks_in_commands),
        cmocka_unit_test(families),
        cmocka_unit_test(recycled_buffers),
        cmocka_unit_test(runs),
        cmocka_unit_test(helpers),
        cmocka_unit_test(restarts),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(ten_thousand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
