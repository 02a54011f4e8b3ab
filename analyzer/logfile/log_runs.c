/* SPDX-License-Identifier: MIT */
/*
 * Groups logs into runs (see log_runs.h): sets of logs, joined whenever two must be of one run.
 */
#include "log_runs.h"

#include <stdlib.h>
#include <string.h>

#define SLACK_NS        1000000000ull  /* largest assumed difference of clocks */
#define LAUNCH_SLACK_NS 60000000000ull /* ... of different machines */

/* All logs of one process: several if it executed other programs. */
struct process {
    uint32_t log;   /* one of these logs */
    uint64_t ended; /* when the last one ended; UINT64_MAX: unknown */
};

struct runs {
    struct vt_found_log *logs;
    uint32_t *sets;        /* logs of one run */
    struct vt_map run_ids; /* run id -> a log */
    struct vt_map starts;  /* a process -> index in `processes` */
    struct process *processes;
    size_t count, room;
};

static uint64_t text_key(uint64_t seed, const char *text) {
    return vt_hash_bytes(seed, text, strlen(text));
}

/* A key for a process id on the log's machine, within one boot. Containers with the same host name
 * each count from 1. */
static uint64_t pid_key(const struct vt_found_log *log, uint32_t pid) {
    return vt_mix(text_key(text_key(pid, log->boot), log->host) + vt_mix(log->pid_namespace));
}

static uint64_t start_key(const struct vt_found_log *log) {
    return vt_mix(pid_key(log, log->pid) + vt_mix(log->process_start));
}

static void group_run_id(struct runs *r, uint32_t i) {
    vt_sets_join(r->sets, i, vt_map_add(&r->run_ids, text_key(0, r->logs[i].run), i));
}

static void group_process(struct runs *r, uint32_t i) {
    const struct vt_found_log *log = &r->logs[i];
    uint32_t index = vt_map_add(&r->starts, start_key(log), (uint32_t)r->count);
    if (index == r->count)
        *VT_ADD(r->processes, r->count, r->room) = (struct process){i, log->ended};
    struct process *p = &r->processes[index];
    p->ended = log->ended > p->ended ? log->ended : p->ended;
    vt_sets_join(r->sets, i, p->log);
}

/* --- parents --- */

/* A process with a pid, or a log whose parent had the pid. */
struct claim {
    uint64_t pid; /* pid_key */
    uint64_t start;
    bool is_child;
    uint32_t index; /* in `logs` for a child, else in `processes` */
};

static int compare_claims(const void *a, const void *b) {
    const struct claim *x = a, *y = b;
    return VT_ORDER({x->pid, y->pid}, {x->start, y->start}, {x->is_child, y->is_child},
                    {x->index, y->index});
}

/* A heap of processes, with the one that ended last at the top. */
struct heap {
    struct process *all;
    size_t count;
};

static void heap_add(struct heap *h, struct process p) {
    size_t at = h->count++;
    for (; at && h->all[(at - 1) / 2].ended < p.ended; at = (at - 1) / 2)
        h->all[at] = h->all[(at - 1) / 2];
    h->all[at] = p;
}

static void heap_drop_top(struct heap *h) {
    struct process last = h->all[--h->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < h->count; at = child) {
        child += child + 1 < h->count && h->all[child + 1].ended > h->all[child].ended;
        if (h->all[child].ended <= last.ended)
            break;
        h->all[at] = h->all[child];
    }
    h->all[at] = last;
}

/* Joins a child with the processes that lived when it started. They are one run from then on, so only the one that
 * ended last stays in the heap. */
static void join_parents(struct runs *r, struct heap *alive, uint32_t child) {
    uint64_t started = r->logs[child].started;
    uint64_t since = started > SLACK_NS ? started - SLACK_NS : 0;
    if (!alive->count || alive->all[0].ended < since)
        return;
    struct process last = alive->all[0];
    while (alive->count && alive->all[0].ended >= since) {
        vt_sets_join(r->sets, child, alive->all[0].log);
        heap_drop_top(alive);
    }
    heap_add(alive, last);
}

/* A parent has the pid that its child names, and lived when the child started; else the pid was reused in between.
 * Many processes may have had one pid, and many may name it, so all are visited in order of their start. */
static void join_families(struct runs *r, uint32_t count) {
    VT_SCOPED struct claim *claims = vt_alloc(r->count + count, sizeof *claims);
    struct heap alive = {.all = vt_alloc(r->count, sizeof *alive.all)};
    size_t n = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct vt_found_log *log = &r->logs[r->processes[i].log];
        claims[n++] = (struct claim){pid_key(log, log->pid), log->process_start, false, i};
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_found_log *log = &r->logs[i];
        if (log->boot[0] && log->ppid != log->pid)
            claims[n++] = (struct claim){pid_key(log, log->ppid), log->process_start, true, i};
    }
    vt_sort(claims, n, sizeof *claims, compare_claims);
    for (size_t i = 0; i < n; i++) {
        if (i && claims[i].pid != claims[i - 1].pid)
            alive.count = 0;
        if (claims[i].is_child)
            join_parents(r, &alive, claims[i].index);
        else
            heap_add(&alive, r->processes[claims[i].index]);
    }
    free(alive.all);
}

/* --- ranks --- */

/* A log of a rank, with a key that it shares with the ranks launched with it. */
struct launched {
    uint64_t key, started;
    uint32_t index;
};

static int compare_launched(const void *a, const void *b) {
    const struct launched *x = a, *y = b;
    return VT_ORDER({x->key, y->key}, {x->started, y->started}, {x->index, y->index});
}

/* The launch being collected. */
struct launch {
    struct vt_map ranks; /* rank, restart and `number` -> that rank's last log */
    uint64_t number;     /* counts launches */
    uint64_t key, ended; /* ended: when its last log ended; UINT64_MAX: unknown */
    uint32_t first;
};

/* Whether a log belongs to the previous launch, which has the same key. Keys such as a port or a shell's pid may
 * recur. In a new launch, the previous one's processes had ended, or a rank that it already has starts again. One
 * rank may also have several processes: then the first ends after the next one starts. */
static bool belongs(const struct runs *r, const struct launch *launch, uint32_t i, uint32_t same) {
    const struct vt_found_log *log = &r->logs[i];
    if (vt_sets_find(r->sets, i) == vt_sets_find(r->sets, launch->first))
        return true;
    if (launch->ended != UINT64_MAX && log->started > launch->ended + LAUNCH_SLACK_NS)
        return false;
    return same == VT_MAP_NONE ||
           (r->logs[same].ended != UINT64_MAX && log->started <= r->logs[same].ended);
}

static void join_launched(struct runs *r, struct launch *launch, const struct launched *next) {
    const struct vt_found_log *log = &r->logs[next->index];
    for (unsigned again = 0;; again++) {
        uint64_t rank = vt_mix(vt_mix(launch->number) + (uint32_t)log->rank) + log->restart;
        uint32_t same = vt_map_get(&launch->ranks, vt_mix(rank));
        if (again ||
            (launch->number && launch->key == next->key && belongs(r, launch, next->index, same))) {
            if (launch->ended < log->ended || again)
                launch->ended = log->ended;
            vt_map_put(&launch->ranks, vt_mix(rank), next->index);
            break;
        }
        launch->number++;
        launch->key = next->key;
        launch->first = next->index;
    }
    vt_sets_join(r->sets, next->index, launch->first);
}

/* Joins the ranks that name the same launch, or have the same parent, as a launcher has no log. Skips jobs of one
 * rank, where the shell is also a rank. */
static void join_launches(struct runs *r, uint32_t count, bool by_parent) {
    VT_SCOPED struct launched *all = vt_alloc(count, sizeof *all);
    struct launch launch = {0};
    size_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_found_log *log = &r->logs[i];
        if (log->rank < 0 || log->world == 1 || !(by_parent ? log->boot : log->launch)[0])
            continue;
        uint64_t key = by_parent ? pid_key(log, log->ppid) : vt_mix(text_key(1, log->launch));
        all[n++] = (struct launched){key, log->started, i};
    }
    vt_sort(all, n, sizeof *all, compare_launched);
    for (size_t i = 0; i < n; i++)
        join_launched(r, &launch, &all[i]);
    vt_map_free(&launch.ranks);
}

void vt_log_runs_find(struct vt_found_log *logs, uint32_t count) {
    struct runs r = {.logs = logs, .sets = vt_sets_make(count)};
    for (uint32_t i = 0; i < count; i++) {
        if (logs[i].run[0])
            group_run_id(&r, i);
        if (logs[i].boot[0])
            group_process(&r, i);
    }
    join_families(&r, count);
    join_launches(&r, count, false);
    join_launches(&r, count, true);
    for (uint32_t i = 0; i < count; i++)
        logs[i].run_of = vt_sets_find(r.sets, i);
    vt_map_free(&r.run_ids);
    vt_map_free(&r.starts);
    free(r.processes);
    free(r.sets);
}
