/* SPDX-License-Identifier: MIT */
/*
 * diff.c: how alike two stacks are, which places are one, what changed, for owners as well. Models are
 * made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../analyzer/diff/diff.c"
#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

#define MADE_SITES  8
#define MADE_FRAMES 6

struct made {
    struct vt_model model;
    struct vt_process process;
    struct vt_site sites[MADE_SITES];
    struct vt_stack stacks[MADE_SITES];
    struct vt_frame frames[MADE_SITES][MADE_FRAMES];
};

/* A site with the functions of `names` ("a b c") as its stack, `live` of `all` blocks of `size`. */
static void add(struct made *m, const char *names, uint64_t size, uint64_t live, uint64_t all) {
    uint32_t n = m->process.site_count++;
    char *words = strdup(names), *rest = words, *word;
    while ((word = strsep(&rest, " ")))
        m->frames[n][m->stacks[n].count++] =
            (struct vt_frame){.function = strdup(word), .file = "x.c", .user_code = true};
    free(words);
    m->stacks[n].frames = m->frames[n];
    m->sites[n] = (struct vt_site){.id = n + 1,
                                   .verdict = live ? VT_VERDICT_LOST : VT_VERDICT_FREED,
                                   .api = "cudaMalloc",
                                   .live_bytes = live * size,
                                   .live_count = live,
                                   .allocated_bytes = all * size,
                                   .alloc_count = all,
                                   .stack = &m->stacks[n]};
    m->process.sites = m->sites;
    m->model.processes = &m->process;
    m->model.process_count = 1;
}

static void release(struct made *m) {
    for (uint32_t i = 0; i < m->process.site_count; i++)
        for (uint32_t j = 0; j < m->stacks[i].count; j++)
            free((char *)(uintptr_t)m->frames[i][j].function);
}

static double alike(const char *a, const char *b) {
    struct made x = {0}, y = {0};
    struct vt_stack_key p, q;
    add(&x, a, 1, 1, 1);
    add(&y, b, 1, 1, 1);
    vt_stack_key_make(&x.sites[0], &p);
    vt_stack_key_make(&y.sites[0], &q);
    double found = likeness_of(&p, &q), back = likeness_of(&q, &p);
    assert_true(found == back);
    vt_stack_key_free(&p);
    vt_stack_key_free(&q);
    release(&x);
    release(&y);
    return found;
}

static void likeness(void **state) {
    (void)state;
    assert_true(alike("a b c", "a b c") == 1);
    assert_true(alike("a b c", "d e f") == 0);
    assert_true(alike("a b c", "c b a") < 0.4); /* the order counts */
    assert_true(alike("a b c", "a x b c") > 0.85);
    assert_true(alike("a b c d", "a x c d") == 0.75);
    assert_true(alike("a", "a b") > 0.6 && alike("a", "a b") < 0.7);
}

static void changes(void **state) {
    struct made before = {0}, after = {0};
    struct vt_diff diff;
    (void)state;
    add(&before, "get grows main", 100, 1, 1);
    add(&before, "get shrinks main", 200, 4, 4);
    add(&before, "get fixed main", 300, 5, 5);
    add(&before, "get gone main", 7777, 1, 1);
    add(&before, "get same main", 400, 2, 2);
    add(&before, "old_name caller main", 50, 3, 3);
    add(&after, "get grows main", 100, 3, 3);
    add(&after, "get shrinks main", 200, 1, 4);
    add(&after, "get fixed main", 300, 0, 5);
    add(&after, "get same main", 400, 2, 2);
    add(&after, "new_name caller main", 50, 3,
        3);                                 /* renamed: two of three frames, the same sizes */
    add(&after, "get other main", 9, 1, 1); /* no more alike to "gone", but for its sizes */
    vt_diff_make(&before.model, &after.model, &diff);
    static const struct {
        enum vt_diff_state state;
        uint64_t was, is;
        bool alike;
    } rows[] = {{VT_DIFF_APPEARED, 0, 9, false},  {VT_DIFF_GREW, 100, 300, true},
                {VT_DIFF_SHRANK, 800, 200, true}, {VT_DIFF_WENT, 7777, 0, false},
                {VT_DIFF_WENT, 1500, 0, true},    {VT_DIFF_SAME, 800, 800, true},
                {VT_DIFF_SAME, 150, 150, true}};
    assert_int_equal(diff.count, sizeof rows / sizeof *rows);
    for (uint32_t i = 0; i < diff.count; i++) {
        assert_int_equal(diff.rows[i].state, rows[i].state);
        assert_int_equal(diff.rows[i].sides[0].live_bytes, rows[i].was);
        assert_int_equal(diff.rows[i].sides[1].live_bytes, rows[i].is);
        assert_int_equal(diff.rows[i].likeness > 0, rows[i].alike);
    }
    assert_int_equal(diff.rows[6].likeness, 67);
    assert_int_equal(diff.counts[0][VT_DIFF_WENT], 2);
    assert_int_equal(diff.rows[4].sides[1].verdict, VT_VERDICT_FREED);
    assert_int_equal(diff.totals[0].leaked_bytes, 100 + 800 + 1500 + 7777 + 800 + 150);
    assert_int_equal(diff.totals[1].leaked_bytes, 300 + 200 + 800 + 150 + 9);
    vt_diff_free(&diff);
    release(&before);
    release(&after);
}

/* One place on two devices is one row; another API is another place. */
static void together(void **state) {
    struct made before = {0}, after = {0};
    struct vt_diff diff;
    (void)state;
    add(&before, "f main", 10, 1, 1);
    add(&before, "f main", 20, 1, 1);
    before.sites[1].device = 1;
    add(&after, "f main", 30, 1, 1);
    after.sites[0].api = "cudaMallocAsync";
    vt_diff_make(&before.model, &after.model, &diff);
    assert_int_equal(diff.count, 2);
    assert_int_equal(diff.rows[0].state, VT_DIFF_APPEARED);
    assert_int_equal(diff.rows[1].sides[0].live_bytes, 30);
    assert_ptr_equal(diff.rows[1].sides[0].site, &before.sites[1]); /* its largest */
    vt_diff_free(&diff);
    after.model.process_count = 0;
    vt_diff_make(&after.model, &after.model, &diff);
    assert_int_equal(diff.count, 0);
    vt_diff_free(&diff);
    release(&before);
    release(&after);
}

/* Python's interpreter freed all of the last site at the end, where its `blocks` of `size` had grown;
 * without blocks, it is no leak. */
static void freed_at_exit(struct made *m, uint64_t size, uint64_t blocks) {
    static const uint32_t numbers[MADE_SITES] = {0, 1, 2, 3, 4, 5, 6, 7};
    static struct vt_leak leaks[2];
    static unsigned next;
    struct vt_site *site = &m->sites[m->process.site_count - 1];
    m->process.python = true;
    site->layer = VT_LAYER_FRAMEWORK;
    site->verdict = blocks ? VT_VERDICT_GROWING : VT_VERDICT_FREED;
    site->held_count = blocks ? blocks : 1;
    site->held_bytes = size * site->held_count;
    if (!blocks)
        return;
    struct vt_leak *leak = &leaks[next++ % 2];
    *leak = (struct vt_leak){.verdict = VT_VERDICT_GROWING,
                             .held_count = blocks,
                             .held_bytes = site->held_bytes,
                             .stack = site->stack,
                             .sites = &numbers[m->process.site_count - 1],
                             .site_count = 1};
    m->process.leaks = leak;
    m->process.leak_count = m->process.found_count = 1;
}

/* A leak that was fixed, whose memory is freed at exit in both runs, comes first, with what the gate
 * fails; blocks that are no leak are compared as before the exit. */
static void leak_freed_at_exit(void **state) {
    struct made before = {0}, after = {0};
    struct vt_diff diff;
    (void)state;
    add(&before, "segment train main", 1000, 5, 5);
    add(&before, "softmax update main", 100, 0, 200);
    freed_at_exit(&before, 100, 200);
    add(&before, "tensor batch main", 70, 0, 9);
    freed_at_exit(&before, 70, 0);
    before.sites[0].verdict = VT_VERDICT_CACHE;
    before.sites[0].held_bytes = before.sites[0].live_bytes;
    add(&after, "segment train main", 1000, 2, 2);
    after.sites[0].verdict = VT_VERDICT_CACHE;
    after.sites[0].held_bytes = after.sites[0].live_bytes;
    add(&after, "softmax update main", 100, 0, 200);
    freed_at_exit(&after, 100, 0);
    add(&after, "tensor batch main", 90, 0, 9);
    freed_at_exit(&after, 90, 0);
    vt_diff_make(&before.model, &after.model, &diff);
    assert_int_equal(diff.totals[0].leaked_bytes, 20000);
    assert_int_equal(diff.totals[1].leaked_bytes, 0);
    assert_int_equal(diff.count, 3);
    assert_true(diff.rows[0].leak && !diff.rows[1].leak);
    assert_int_equal(diff.rows[0].state, VT_DIFF_WENT);
    assert_int_equal(diff.rows[0].bytes[0], 20000);
    assert_int_equal(diff.rows[0].bytes[1], 0); /* though one block was held until the exit */
    assert_int_equal(diff.rows[1].state, VT_DIFF_GREW);
    assert_int_equal(diff.rows[1].bytes[0], 70);
    assert_int_equal(diff.rows[1].bytes[1], 90);
    assert_int_equal(diff.rows[2].state, VT_DIFF_SHRANK);
    assert_int_equal(diff.counts[0][VT_DIFF_WENT] + diff.counts[1][VT_DIFF_GREW], 2);
    vt_diff_free(&diff);
    release(&before);
    release(&after);
}

/* --- owners --- */

struct seen {
    struct vt_snapshot snapshots[4];
    struct vt_memory_owner owners[4][6];
    struct vt_owned_site sites[4][6];
};

static void see(struct made *m, struct seen *s, enum vt_snapshot_why why) {
    s->snapshots[m->process.snapshot_count] =
        (struct vt_snapshot){.why = why,
                             .passing = why == VT_SNAPSHOT_GROWTH,
                             .complete = true,
                             .at = m->process.snapshot_count + 1,
                             .owners = s->owners[m->process.snapshot_count]};
    m->process.snapshots = s->snapshots;
    m->process.snapshot_count++;
}

/* In the last snapshot: `holder` has memory of a site. */
static void owns(struct made *m, struct seen *s, const char *holder, uint32_t site,
                 enum vt_purpose purpose, uint64_t bytes) {
    uint32_t n = m->process.snapshot_count - 1, k = s->snapshots[n].owner_count++;
    s->sites[n][k] = (struct vt_owned_site){.site = site, .bytes = bytes, .count = 1};
    s->owners[n][k] = (struct vt_memory_owner){.id = vt_hash_bytes(purpose, holder, strlen(holder)),
                                               .name = holder,
                                               .container = holder,
                                               .container_length = (uint32_t)strlen(holder),
                                               .purpose = purpose,
                                               .bytes = bytes,
                                               .count = 1,
                                               .sites = &s->sites[n][k],
                                               .site_count = 1};
}

static void expect_owner(const struct vt_diff *d, uint32_t at, const char *before,
                         const char *after, uint64_t was, uint64_t is) {
    const struct vt_diff_owner *o = &d->owners[at];
    assert_true(at < d->owner_count);
    assert_true(!before == !o->owner[0] && !after == !o->owner[1]);
    if (before)
        assert_string_equal(o->owner[0]->name, before);
    if (after)
        assert_string_equal(o->owner[1]->name, after);
    assert_int_equal(o->bytes[0], was);
    assert_int_equal(o->bytes[1], is);
}

/* The end is compared with the end, though one run shows nothing of the program's there and more as
 * memory grew; the largest change is the first, also if it is a loss. */
static void owners_at_one_moment(void **state) {
    struct made before = {0}, after = {0};
    struct seen a = {0}, b = {0};
    struct vt_diff diff;
    (void)state;
    add(&before, "f main", 1, 1, 1);
    add(&after, "f main", 1, 1, 1);
    see(&before, &a, VT_SNAPSHOT_END);
    owns(&before, &a, "metric.preds", 0, VT_PURPOSE_OTHER, 97000);
    owns(&before, &a, "cache", 0, VT_PURPOSE_BUFFERS, 10);
    see(&after, &b, VT_SNAPSHOT_GROWTH);
    owns(&after, &b, "model.weight", 0, VT_PURPOSE_PARAMETERS, 5000);
    see(&after, &b, VT_SNAPSHOT_END);
    owns(&after, &b, "cache", 0, VT_PURPOSE_BUFFERS, 30);
    vt_diff_make(&before.model, &after.model, &diff);
    assert_true(diff.moments.alike && diff.moments.tell);
    assert_int_equal(diff.moments.shown[1]->why, VT_SNAPSHOT_END);
    assert_int_equal(diff.owner_count, 2);
    expect_owner(&diff, 0, "metric.preds", NULL, 97000, 0);
    assert_true(diff.owners[0].comparable);
    expect_owner(&diff, 1, "cache", "cache", 10, 30);
    vt_diff_free(&diff);
    /* an incomplete search does not prove absence */
    b.snapshots[1].complete = false;
    vt_diff_make(&before.model, &after.model, &diff);
    assert_true(diff.moments.alike && !diff.moments.tell && !diff.owners[0].comparable);
    vt_diff_free(&diff);
    /* no common kind: a note says so, and absence from one run is not a loss */
    b.snapshots[1].why = VT_SNAPSHOT_OOM;
    b.snapshots[0].why = VT_SNAPSHOT_REQUEST;
    vt_diff_make(&before.model, &after.model, &diff);
    assert_false(diff.moments.alike || diff.moments.tell);
    expect_owner(&diff, 0, "metric.preds", NULL, 97000, 0);
    assert_false(diff.owners[0].comparable);
    vt_diff_free(&diff);
    release(&before);
    release(&after);
}

/* An end without live memory has no snapshot; other ends without one are unknown. */
static void end_without_memory(void **state) {
    struct made before = {0}, after = {0};
    struct seen a = {0}, b = {0};
    struct vt_diff diff;
    (void)state;
    add(&before, "f main", 1, 0, 1);
    add(&after, "f main", 1, 0, 1);
    see(&before, &a, VT_SNAPSHOT_GROWTH);
    owns(&before, &a, "self.kept", 0, VT_PURPOSE_OTHER, 90);
    see(&before, &a, VT_SNAPSHOT_END);
    owns(&before, &a, "kept", 0, VT_PURPOSE_OTHER, 100);
    see(&after, &b, VT_SNAPSHOT_GROWTH);
    owns(&after, &b, "self.kept", 0, VT_PURPOSE_OTHER, 20);
    after.process.ending.how = VT_END_EXITED;
    after.process.quality.complete = true;
    for (int reversed = 0; reversed < 2; reversed++) {
        vt_diff_make(reversed ? &after.model : &before.model,
                     reversed ? &before.model : &after.model, &diff);
        assert_int_equal(diff.moments.shown[reversed]->why, VT_SNAPSHOT_END);
        assert_int_equal(diff.owner_count, 1);
        assert_int_equal(diff.owners[0].bytes[reversed], 100);
        assert_true(diff.owners[0].comparable);
        vt_diff_free(&diff);
    }
    after.process.ending.how = VT_END_SIGNALED;
    vt_diff_make(&before.model, &after.model, &diff);
    assert_int_equal(diff.moments.shown[0]->why, VT_SNAPSHOT_GROWTH);
    expect_owner(&diff, 0, "self.kept", "self.kept", 90, 20);
    vt_diff_free(&diff);
    release(&before);
    release(&after);
}

/* During growth, the most similar moments are compared; one memory under two names is one row; memory held in both
 * runs but found in only one is not a change. */
static void owners_as_memory_grew(void **state) {
    struct made before = {0}, after = {0};
    struct seen a = {0}, b = {0};
    struct vt_diff diff;
    (void)state;
    for (int run = 0; run < 2; run++) {
        struct made *m = run ? &after : &before;
        add(m, "linear net main", 50, 3, 3);
        add(m, "momentum step main", 50, 3, 3);
        add(m, "softmax update main", 10, run ? 1 : 90, 90);
        for (uint32_t i = 0; i < 3; i++)
            m->sites[i].verdict = VT_VERDICT_CACHE;
    }
    see(&before, &a, VT_SNAPSHOT_GROWTH);
    owns(&before, &a, "trainer.model.fc1.weight", 0, VT_PURPOSE_PARAMETERS, 40);
    owns(&before, &a, "trainer.model.fc2.weight", 0, VT_PURPOSE_PARAMETERS, 50);
    owns(&before, &a, "trainer.model.fc2.weight", 0, VT_PURPOSE_GRADIENTS, 50);
    owns(&before, &a, "opt.state[*]['momentum']", 1, VT_PURPOSE_OPTIMIZER, 150);
    owns(&before, &a, "metric.preds", 2, VT_PURPOSE_OTHER, 900);
    see(&after, &b, VT_SNAPSHOT_GROWTH);
    owns(&after, &b, "x", 2, VT_PURPOSE_BATCH, 2000);
    see(&after, &b, VT_SNAPSHOT_GROWTH);
    owns(&after, &b, "self.fc2.weight", 0, VT_PURPOSE_PARAMETERS, 51);
    owns(&after, &b, "self.fc1.weight", 0, VT_PURPOSE_PARAMETERS, 41);
    owns(&after, &b, "trainer.model.fc2.weight", 0, VT_PURPOSE_GRADIENTS, 50);
    owns(&after, &b, "probabilities", 2, VT_PURPOSE_OTHER, 10);
    /* of more than half the most that it shows */
    b.owners[0][0].bytes = b.sites[0][0].bytes = 150;
    vt_diff_make(&before.model, &after.model, &diff);
    assert_true(diff.moments.alike && !diff.moments.tell);
    assert_ptr_equal(diff.moments.shown[1], &b.snapshots[1]);
    assert_int_equal(diff.owner_count, 5);
    expect_owner(&diff, 0, "metric.preds", "probabilities", 900, 10);
    expect_owner(&diff, 1, "opt.state[*]['momentum']", NULL, 150, 0);
    assert_true(!diff.owners[1].comparable && diff.owners[1].unseen && !diff.owners[0].unseen);
    expect_owner(&diff, 2, "trainer.model.fc2.weight", "self.fc2.weight", 50, 51);
    expect_owner(&diff, 3, "trainer.model.fc1.weight", "self.fc1.weight", 40, 41);
    expect_owner(&diff, 4, "trainer.model.fc2.weight", "trainer.model.fc2.weight", 50, 50);
    vt_diff_free(&diff);
    release(&before);
    release(&after);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(likeness),
                                       cmocka_unit_test(changes),
                                       cmocka_unit_test(together),
                                       cmocka_unit_test(leak_freed_at_exit),
                                       cmocka_unit_test(owners_at_one_moment),
                                       cmocka_unit_test(end_without_memory),
                                       cmocka_unit_test(owners_as_memory_grew)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
