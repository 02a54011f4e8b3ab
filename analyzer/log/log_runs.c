/* SPDX-License-Identifier: MIT */
/*
 * Which logs are one run (see log_runs.h): sets of logs, which are joined for each reason that two
 * have to be one.
 */
#include "log_runs.h"

#include <stdlib.h>
#include <string.h>

#define SLACK_NS 1000000000ull /* what clocks may be apart */

/* All logs of one process: there are several if it became other programs. */
struct process {
    uint32_t log;   /* one of them */
    uint64_t ended; /* the last of them; UINT64_MAX: unknown */
    uint32_t next; /* another process that had the same number, in `processes`; VT_MAP_NONE: none */
};

struct runs {
    struct vt_found_log *logs;
    struct vt_map run_ids; /* run id -> a log */
    struct vt_map starts;  /* a process -> index in `processes` */
    struct vt_map pids;    /* its machine and number -> the same, the first of those */
    struct process *processes;
    size_t count, room;
};

static uint32_t run_of(const struct vt_found_log *logs, uint32_t i) {
    while (logs[i].run_of != i)
        i = logs[i].run_of;
    return i;
}

/* Each log on the way to the first is led there at once, so that ways stay short. */
static void join(struct vt_found_log *logs, uint32_t a, uint32_t b) {
    uint32_t first = run_of(logs, a), second = run_of(logs, b);
    uint32_t low = first < second ? first : second;
    logs[first].run_of = logs[second].run_of = low;
    for (uint32_t i = a, next; i != low; i = next) {
        next = logs[i].run_of;
        logs[i].run_of = low;
    }
    for (uint32_t i = b, next; i != low; i = next) {
        next = logs[i].run_of;
        logs[i].run_of = low;
    }
}

static uint64_t text_key(uint64_t seed, const char *text) {
    return vt_hash_bytes(seed, text, strlen(text));
}

/* Of a process number on the machine where the log was written, since it was started. */
static uint64_t pid_key(const struct vt_found_log *log, uint32_t pid) {
    return vt_mix(text_key(text_key(pid, log->boot), log->host));
}

static uint64_t start_key(const struct vt_found_log *log) {
    return vt_mix(pid_key(log, log->pid) + vt_mix(log->process_start));
}

static void take_run_id(struct runs *r, uint32_t i) {
    uint64_t key = text_key(0, r->logs[i].run);
    uint32_t other = vt_map_get(&r->run_ids, key);
    if (other == VT_MAP_NONE)
        vt_map_put(&r->run_ids, key, i);
    else
        join(r->logs, i, other);
}

static void take_process(struct runs *r, uint32_t i) {
    const struct vt_found_log *log = &r->logs[i];
    uint64_t key = start_key(log);
    uint32_t index = vt_map_get(&r->starts, key);
    if (index != VT_MAP_NONE) {
        struct process *p = &r->processes[index];
        p->ended = log->ended > p->ended ? log->ended : p->ended;
        join(r->logs, i, p->log);
        return;
    }
    index = (uint32_t)r->count;
    VT_GROW(r->processes, r->count, r->room);
    r->processes[r->count++] =
        (struct process){i, log->ended, vt_map_get(&r->pids, pid_key(log, log->pid))};
    vt_map_put(&r->starts, key, index);
    vt_map_put(&r->pids, pid_key(log, log->pid), index);
}

/* Its parent had that number and lived then; else the number was given to another process in between. */
static void take_parent(struct runs *r, uint32_t i) {
    const struct vt_found_log *log = &r->logs[i];
    uint32_t next = vt_map_get(&r->pids, pid_key(log, log->ppid));
    for (; next != VT_MAP_NONE; next = r->processes[next].next) {
        const struct process *p = &r->processes[next];
        if (r->logs[p->log].process_start <= log->process_start &&
            (p->ended == UINT64_MAX || log->started <= p->ended + SLACK_NS))
            join(r->logs, i, p->log);
    }
}

void vt_log_runs_find(struct vt_found_log *logs, uint32_t count) {
    struct runs r = {.logs = logs};
    for (uint32_t i = 0; i < count; i++)
        logs[i].run_of = i;
    for (uint32_t i = 0; i < count; i++) {
        if (logs[i].run[0])
            take_run_id(&r, i);
        if (logs[i].boot[0])
            take_process(&r, i);
    }
    for (uint32_t i = 0; i < count; i++)
        if (logs[i].boot[0] && logs[i].ppid != logs[i].pid)
            take_parent(&r, i);
    for (uint32_t i = 0; i < count; i++)
        logs[i].run_of = run_of(logs, i);
    vt_map_free(&r.run_ids);
    vt_map_free(&r.starts);
    vt_map_free(&r.pids);
    free(r.processes);
}
