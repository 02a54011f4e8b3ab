/* SPDX-License-Identifier: MIT */
/*
 * Finds the processes of each run, and the restarts of a rank (see job_runs.h). logfile/ defines a run; this file
 * supplies the data.
 */
#include "job_runs.h"

#include "logfile/logfile.h"

#include <stdlib.h>

static void copy(char *to, size_t size, const char *text) {
    snprintf(to, size, "%s", text ? text : "");
}

static struct vt_found_log *identities(const struct vt_job *f) {
    struct vt_found_log *logs = vt_alloc(f->process_count, sizeof *logs);
    for (uint32_t i = 0; i < f->process_count; i++) {
        const struct vt_job_process *p = &f->processes[i];
        struct vt_found_log *log = &logs[i];
        *log = (struct vt_found_log){.pid = p->pid,
                                     .ppid = p->ppid,
                                     .rank = p->rank,
                                     .world = p->world_size,
                                     .restart = p->launcher_restart,
                                     .pid_namespace = p->pid_namespace,
                                     .process_start = p->process_start,
                                     .started = p->started_at,
                                     .ended = vt_job_is_running(p) ? UINT64_MAX
                                                                   : p->started_at + p->duration};
        copy(log->run, sizeof log->run, p->run_id);
        copy(log->boot, sizeof log->boot, f->hosts[p->host].boot);
        copy(log->host, sizeof log->host, f->hosts[p->host].name);
        copy(log->job, sizeof log->job, p->job);
        copy(log->launch, sizeof log->launch, p->launch);
    }
    return logs;
}

struct start {
    uint64_t at, id;
    uint32_t of; /* vt_found_log.run_of */
};

static int compare_starts(const void *a, const void *b) {
    const struct start *x = a, *y = b;
    return VT_ORDER({x->at, y->at}, {x->id, y->id});
}

void vt_job_find_runs(struct vt_job *f) {
    VT_SCOPED struct vt_found_log *logs = identities(f);
    VT_SCOPED struct start *starts = vt_alloc(f->process_count, sizeof *starts);
    VT_SCOPED uint32_t *numbers = vt_alloc(f->process_count, sizeof *numbers);
    uint32_t count = 0;
    vt_log_runs_find(logs, f->process_count);
    for (uint32_t i = 0; i < f->process_count; i++) {
        starts[i] = (struct start){f->processes[i].started_at, f->processes[i].id, logs[i].run_of};
        numbers[i] = VT_JOB_NONE;
    }
    vt_sort(starts, f->process_count, sizeof *starts, compare_starts);
    for (uint32_t i = 0; i < f->process_count; i++)
        if (numbers[starts[i].of] == VT_JOB_NONE)
            numbers[starts[i].of] = count++;
    for (uint32_t i = 0; i < f->process_count; i++)
        f->processes[i].run = numbers[logs[i].run_of];
}

bool vt_job_is_running(const struct vt_job_process *p) {
    return p->ending.how == VT_END_RUNNING || p->ending.how == VT_END_UNKNOWN;
}

static bool is_rank_of(const struct vt_job_process *p, const struct vt_job_process *q) {
    return p->rank >= 0 && p->rank == q->rank && p->run == q->run;
}

/* The next start of a process's rank. Later processes with the same rank number may also be helpers. */
static uint32_t next_start_of(const struct vt_job *f, uint32_t process) {
    const struct vt_job_process *p = &f->processes[process];
    for (uint32_t next = process + 1; next < f->process_count && is_rank_of(&f->processes[next], p);
         next++)
        if (f->processes[next].restart > p->restart)
            return next;
    return VT_JOB_NONE;
}

/* After a failure a launcher restarts a rank; torchrun marks this in the environment. A rank's helpers, which share
 * its number and run beside it, are no restarts. */
void vt_job_count_restarts(struct vt_job *f) {
    for (uint32_t i = 0; i < f->process_count; i++) {
        struct vt_job_process *p = &f->processes[i];
        const struct vt_job_process *before = p - 1;
        p->restart = p->launcher_restart;
        if (!p->restart && i && is_rank_of(p, before) &&
            vt_same_text(p->command, before->command) &&
            p->started_at >= before->started_at + before->duration)
            p->restart = before->restart + 1;
    }
    for (uint32_t i = 0; i < f->process_count; i++)
        f->processes[i].next_start = next_start_of(f, i);
}
