/* SPDX-License-Identifier: MIT */
/*
 * Which logs are one run: random families against the plain rule, which looks at every two logs and
 * follows them on.
 */
#include "log/log_runs.h"

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
    struct vt_found_log log = {.pid = 1 + below(8), .ppid = 1 + below(8)};
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_families), cmocka_unit_test(many),
                                       cmocka_unit_test(one_number)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
