/* SPDX-License-Identifier: MIT */
/*
 * Which logs are one run: random families against the plain rule, which looks at every two logs and
 * follows them on.
 */
#include "logfile/log_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

enum { LOGS = 24, ROUNDS = 20000, MANY = 200000 };
#define SECOND 1000000000ull

static bool is_parent(const struct vt_found_log *a, const struct vt_found_log *b) {
    return b->ppid == a->pid && a->process_start <= b->process_start &&
           (a->ended == UINT64_MAX || b->started <= a->ended + SECOND);
}

/* The rule, of two logs. */
static bool same_run(const struct vt_found_log *a, const struct vt_found_log *b) {
    if (a->run[0] && !strcmp(a->run, b->run))
        return true;
    if (!a->boot[0] || strcmp(a->boot, b->boot) != 0 || strcmp(a->host, b->host) != 0 ||
        a->pid_namespace != b->pid_namespace)
        return false;
    if (a->pid == b->pid)
        return a->process_start == b->process_start;
    return is_parent(a, b) || is_parent(b, a);
}

static void spread(const struct vt_found_log *logs, uint32_t i, uint32_t mark, uint32_t *marks) {
    marks[i] = mark;
    for (uint32_t j = 0; j < LOGS; j++)
        if (marks[j] == VT_MAP_NONE && same_run(&logs[i], &logs[j]))
            spread(logs, j, mark, marks);
}

static uint64_t random_state = 1;
static uint32_t below(uint32_t limit) {
    random_state = vt_mix(random_state + 0x9e3779b97f4a7c15ull);
    return (uint32_t)(random_state >> 32) % limit;
}

/* Few values of each, so that they meet. A process's time of start follows from its number and from
 * the turn in which it got the number. */
static struct vt_found_log random_log(void) {
    struct vt_found_log log = {.pid = 1 + below(8), .ppid = 1 + below(8), .rank = -1};
    unsigned turn = below(3);
    log.process_start = 100 * turn + log.pid;
    log.started = (100 * turn + log.pid + below(40)) * SECOND;
    log.ended = below(4) ? log.started + below(60) * SECOND : UINT64_MAX;
    snprintf(log.run, sizeof log.run, "%.*s", below(6) ? 0 : 1, below(2) ? "a" : "b");
    snprintf(log.boot, sizeof log.boot, "%.*s", below(8) ? 1 : 0, below(6) ? "x" : "y");
    snprintf(log.host, sizeof log.host, "%s", below(6) ? "h" : "i");
    log.pid_namespace = below(6) ? 0 : 1;
    return log;
}

static void random_families(void **state) {
    unsigned runs = 0;
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct vt_found_log logs[LOGS];
        uint32_t marks[LOGS];
        for (uint32_t i = 0; i < LOGS; i++) {
            logs[i] = random_log();
            marks[i] = VT_MAP_NONE;
        }
        for (uint32_t i = 0; i < LOGS; i++)
            if (marks[i] == VT_MAP_NONE) {
                spread(logs, i, i, marks);
                runs++;
            }
        vt_log_runs_find(logs, LOGS);
        for (uint32_t i = 0; i < LOGS; i++)
            assert_int_equal(logs[i].run_of, marks[i]);
    }
    assert_in_range(runs, 2 * ROUNDS, (LOGS - 4) * ROUNDS); /* neither all alike nor all apart */
}

/* Every two of these would be 20,000 million. */
static void many(void **state) {
    struct vt_found_log *logs = calloc(MANY, sizeof *logs);
    (void)state;
    assert_non_null(logs);
    for (uint32_t i = 0; i < MANY; i++) {
        strcpy(logs[i].boot, "x");
        logs[i].rank = -1;
        logs[i].pid = 1000 + i;
        logs[i].ppid = i % 2 ? 999 + i : 1; /* its child stands behind it */
        logs[i].ended = UINT64_MAX;
        strcpy(logs[i].run, i < MANY / 2 ? "a" : "");
    }
    vt_log_runs_find(logs, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(logs[i].run_of, i < MANY / 2 ? 0 : i - i % 2);
    free(logs);
}

/* Half of them had one number in turn and never said that they ended, half are their children. */
static void one_number(void **state) {
    struct vt_found_log *logs = calloc(MANY, sizeof *logs);
    (void)state;
    assert_non_null(logs);
    for (uint32_t i = 0; i < MANY; i++) {
        bool child = i % 2;
        strcpy(logs[i].boot, "x");
        logs[i].rank = -1;
        logs[i].pid = child ? 1000 + i : 7;
        logs[i].ppid = child ? 7 : 1;
        logs[i].process_start = i;
        logs[i].started = i * SECOND;
        logs[i].ended = i < MANY / 2 ? i * SECOND : UINT64_MAX;
    }
    vt_log_runs_find(logs, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(logs[i].run_of, i < MANY / 2 ? i - i % 2 : MANY / 2);
    free(logs);
}

/* A rank's log. `ended` 0: unknown, because it was killed. */
struct rank {
    const char *host, *launch;
    uint32_t ppid;
    int32_t rank;
    uint32_t world, restart, started, ended;
};

/* The expected text has one letter per log: equal letters are one run. */
static void expect_runs(const char *what, const struct rank *ranks, const char *expected) {
    enum { MOST = 16 };
    struct vt_found_log logs[MOST];
    uint32_t count = (uint32_t)strlen(expected);
    for (uint32_t i = 0; i < count; i++) {
        const struct rank *r = &ranks[i];
        logs[i] = (struct vt_found_log){.pid = 1000 + i,
                                        .ppid = r->ppid,
                                        .rank = r->rank,
                                        .world = r->world,
                                        .restart = r->restart,
                                        .process_start = 100 + r->started,
                                        .started = r->started * SECOND,
                                        .ended = r->ended ? r->ended * SECOND : UINT64_MAX};
        snprintf(logs[i].host, sizeof logs[i].host, "%s", r->host);
        snprintf(logs[i].boot, sizeof logs[i].boot, "boot of %s", r->host);
        snprintf(logs[i].launch, sizeof logs[i].launch, "%s", r->launch);
        snprintf(logs[i].run, sizeof logs[i].run, "%u", i); /* each started by itself */
    }
    vt_log_runs_find(logs, count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++)
            if ((expected[i] == expected[j]) != (logs[i].run_of == logs[j].run_of))
                fail_msg("%s: logs %u and %u, expected %s", what, i, j, expected);
}

static void launches(void **state) {
    (void)state;
    expect_runs("a step on two machines, and another step",
                (struct rank[]){{"a", "7.0", 5, 0, 4, 0, 10, 50},
                                {"a", "7.0", 5, 1, 4, 0, 10, 0},
                                {"b", "7.0", 5, 2, 4, 0, 12, 50},
                                {"b", "7.0", 5, 3, 4, 0, 11, 20},
                                {"a", "7.1", 6, 0, 4, 0, 51, 60},
                                {"b", "7.1", 6, 2, 4, 0, 51, 60}},
                "aaaabb");
    expect_runs("the same address again: all had ended",
                (struct rank[]){{"a", "@m:29500", 5, 0, 4, 0, 10, 20},
                                {"a", "@m:29500", 5, 1, 4, 0, 10, 20},
                                {"a", "@m:29500", 6, 0, 4, 0, 22, 30},
                                {"a", "@m:29500", 6, 1, 4, 0, 22, 30},
                                {"a", "@m:29500", 7, 3, 4, 0, 100, 130}},
                "aabbc");
    expect_runs("the same address again: one was killed, and had no log of rank 0",
                (struct rank[]){{"a", "@m:29500", 5, 1, 2, 0, 10, 0},
                                {"b", "@m:29500", 5, 2, 2, 0, 10, 0},
                                {"b", "@m:29500", 6, 2, 2, 0, 200, 0},
                                {"a", "@m:29500", 6, 0, 2, 0, 201, 0},
                                {"a", "@m:29500", 6, 1, 2, 0, 201, 0}},
                "aabbb");
    expect_runs("ranks that were started anew, and at another address",
                (struct rank[]){{"a", "@m:1", 5, 0, 2, 0, 10, 0},
                                {"b", "@m:1", 9, 1, 2, 0, 10, 30},
                                {"a", "@m:2", 5, 0, 2, 1, 40, 0},
                                {"b", "@m:2", 9, 1, 2, 1, 40, 60}},
                "aaaa");
    expect_runs("a rank of several processes at one time",
                (struct rank[]){{"a", "7.0", 5, 0, 2, 0, 10, 50},
                                {"a", "7.0", 5, 0, 2, 0, 11, 50},
                                {"b", "7.0", 5, 1, 2, 0, 10, 50},
                                {"a", "7.0", 6, 0, 2, 0, 11, 50}},
                "aaaa");
    expect_runs("a rank's child, long after",
                (struct rank[]){{"a", "7.0", 5, 0, 2, 0, 10, 0},
                                {"b", "7.0", 5, 1, 2, 0, 10, 0},
                                {"a", "7.0", 1000, 0, 2, 0, 300, 0}},
                "aaa");
    expect_runs("an interactive shell is rank 0 of its step",
                (struct rank[]){{"a", "7.0", 5, 0, 1, 0, 10, 60},
                                {"a", "7.0", 5, 0, 1, 0, 20, 60},
                                {"a", "7.0", 5, 0, 4, 0, 100, 0},
                                {"a", "7.0", 5, 0, 4, 0, 120, 140}},
                "abcd");
    expect_runs("no launch is named: ranks of one parent",
                (struct rank[]){{"a", "", 5, 0, 0, 0, 10, 60},
                                {"a", "", 5, 1, 0, 0, 10, 60},
                                {"b", "", 5, 2, 0, 0, 10, 60},
                                {"a", "", 6, 2, 0, 0, 10, 60},
                                {"a", "", 5, -1, 0, 0, 10, 60}},
                "aabcd");
}

/* A large job, and the same once more. */
static void many_ranks(void **state) {
    struct vt_found_log *logs = calloc(MANY, sizeof *logs);
    (void)state;
    assert_non_null(logs);
    for (uint32_t i = 0; i < MANY; i++) {
        strcpy(logs[i].boot, "x");
        strcpy(logs[i].launch, "7.0");
        logs[i].pid = 1000 + i;
        logs[i].rank = (int32_t)(i % (MANY / 2));
        logs[i].started = (i < MANY / 2 ? 1 : 1000) * SECOND + i;
        logs[i].ended = UINT64_MAX;
    }
    vt_log_runs_find(logs, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(logs[i].run_of, i < MANY / 2 ? 0 : MANY / 2);
    free(logs);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_families), cmocka_unit_test(many),
                                       cmocka_unit_test(one_number), cmocka_unit_test(launches),
                                       cmocka_unit_test(many_ranks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
