/* SPDX-License-Identifier: MIT */
/*
 * Several processes in one text report: which are shown in full, their order, and the line about those that allocated
 * nothing, such as torch.compile's workers.
 */
#include "ranks.h"
#include "report_doc.h"

#include <stdlib.h>

/* Whether there is nothing to report about a process. */
static bool is_empty(const struct vt_process *p) {
    return !p->site_count && !p->oom_count && !p->failed_count && vt_log_is_whole(&p->quality) &&
           !vt_process_peak_bytes(p);
}

/* The largest first; equal ones, such as the ranks of one training, by rank. */
static int biggest_first(const void *a, const void *b) {
    const struct vt_process *x = *(const struct vt_process *const *)a,
                            *y = *(const struct vt_process *const *)b;
    return VT_ORDER({is_empty(x), is_empty(y)},
                    {vt_process_peak_bytes(y), vt_process_peak_bytes(x)},
                    {vt_amount_leaked(y), vt_amount_leaked(x)},
                    {(uint64_t)(x->rank + 1), (uint64_t)(y->rank + 1)},
                    {x->started_at, y->started_at}, {x->pid, y->pid});
}

static bool has_site(const struct vt_process *p, const char *site) {
    bool found = false;
    for (uint32_t i = 0; i < p->site_count && !found; i++)
        found = vt_site_wanted(&p->sites[i], site);
    return found;
}

/* The process's index in the job. */
static uint32_t find_in_job(const struct vt_job *job, const struct vt_process *p) {
    for (uint32_t i = 0; i < job->process_count; i++)
        if (job->processes[i].pid == p->pid &&
            job->processes[i].started_realtime == p->started_at &&
            job->processes[i].started_monotonic == p->started_monotonic)
            return i;
    return VT_JOB_NONE;
}

/* Processes that the job shows come first, in its order; of the others only those remain that `alike` requests. */
static void choose_shown(struct vt_processes *chosen, const struct vt_job *job, bool alike) {
    const struct vt_process **list = vt_alloc(chosen->count, sizeof *list);
    VT_SCOPED uint32_t *at = vt_alloc(chosen->count, sizeof *at);
    uint32_t count = 0;
    VT_SCOPED bool *taken = vt_alloc(chosen->count, sizeof *taken);
    for (uint32_t i = 0; i < chosen->count; i++)
        at[i] = find_in_job(job, chosen->list[i]);
    for (uint32_t s = 0; s <= job->shown_count; s++)
        for (uint32_t i = 0; i < chosen->count; i++)
            if (!taken[i] && (s < job->shown_count ? at[i] == job->shown[s] : alike)) {
                taken[i] = true;
                chosen->in_job[count] = at[i];
                list[count++] = chosen->list[i];
            }
    free(chosen->list);
    chosen->list = list;
    chosen->count = count;
}

/* Whether there is more to report than about each process alone: two of them allocated, or no process was read in
 * full. */
static bool are_many(const struct vt_job *job) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < job->peers_count; i++)
        count += job->peers[i].empty ? 0 : job->peers[i].process_count;
    return count > 1;
}

void vt_processes_choose(struct vt_processes *chosen, const struct vt_model *model,
                         const struct vt_format_options *options, bool alike) {
    *chosen = (struct vt_processes){0};
    chosen->list = vt_alloc(model->process_count, sizeof *chosen->list);
    chosen->in_job = vt_alloc(model->process_count, sizeof *chosen->in_job);
    for (uint32_t i = 0; i < model->process_count; i++)
        if (!options->site || has_site(&model->processes[i], options->site))
            chosen->list[chosen->count++] = &model->processes[i];
    vt_sort(chosen->list, chosen->count, sizeof *chosen->list, biggest_first);
    while (chosen->count > 1 && is_empty(chosen->list[chosen->count - 1])) {
        chosen->count--;
        chosen->empty++;
    }
    chosen->many = model->job && !options->site && (are_many(model->job) || !model->process_count);
    if (chosen->many)
        choose_shown(chosen, model->job, alike);
}

void vt_processes_free(struct vt_processes *chosen) {
    free(chosen->list);
    free(chosen->in_job);
    *chosen = (struct vt_processes){0};
}

char *vt_report_empty(const uint32_t *pids, uint32_t count) {
    enum { NAMED = 8 };
    struct vt_string line = {0};
    vt_string_format(&line, "%s more process%s allocated nothing: pid%s", VT_NUMBER(count),
                     count == 1 ? "" : "es", vt_plural(count));
    for (uint32_t i = 0; i < count && i < NAMED; i++)
        vt_string_format(&line, "%s %u", i ? "," : "", pids[i]);
    if (count > NAMED)
        vt_string_format(&line, " and %s more", VT_NUMBER(count - NAMED));
    return line.text;
}

/* --- the whole report --- */

static void add_process(const struct vt_subject *t, struct vt_doc *doc) {
    const struct vt_process *p = t->process;
    if (!t->options->site) {
        vt_report_add_process(t, doc);
        return;
    }
    vt_report_add_head(t, doc);
    for (uint32_t i = 0; i < p->site_count; i++)
        if (vt_site_wanted(&p->sites[i], t->options->site))
            vt_report_add_site(t, &p->sites[i], doc);
}

/* Those that are not shown, beside the one that is. */
static void add_empty(const struct vt_processes *processes, struct vt_doc *doc) {
    VT_SCOPED uint32_t *pids = vt_alloc(processes->empty, sizeof *pids);
    for (uint32_t i = 0; i < processes->empty; i++)
        pids[i] = processes->list[processes->count + i]->pid;
    vt_doc_line(doc, "%s", "");
    vt_doc_add(doc, VT_DOC_MORE, vt_doc_keep(doc, vt_report_empty(pids, processes->empty)))
        ->column = 0;
}

void vt_report_document(const struct vt_model *model, const struct vt_format_options *options,
                        struct vt_doc *doc) {
    struct vt_format_options lines = *options;
    struct vt_subject t = {.model = model, .options = &lines, .digits = model->id_digits};
    struct vt_processes processes;
    if (options->by == VT_BY_OWNER) { /* earlier memory has no owner */
        lines.by = VT_BY_LINE;
        lines.owners = true;
    }
    doc->digits = t.digits;
    if (options->heading)
        vt_doc_line(doc, "%s", options->heading), vt_doc_line(doc, "%s", "");
    vt_processes_choose(&processes, model, options, false);
    if (processes.many)
        vt_ranks_add(&t, doc);
    for (uint32_t i = 0; i < processes.count; i++) {
        t.process = processes.list[i];
        if (i || processes.many)
            vt_doc_add(doc, VT_DOC_RULE, NULL);
        if (processes.many)
            vt_ranks_add_stands_for(model->job, processes.in_job[i], doc);
        add_process(&t, doc);
    }
    if (processes.count == 1 && !processes.many && !options->site && processes.empty)
        add_empty(&processes, doc);
    vt_processes_free(&processes);
}
