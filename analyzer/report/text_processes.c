/* SPDX-License-Identifier: MIT */
/*
 * Several processes in one text report: their order, the list of them at its head, and the line
 * about those that allocated nothing, such as torch.compile's workers.
 */
#include "fmt_text.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 8, NAMED = 8 };

uint64_t vt_processes_peak(const struct vt_process *p) {
    uint64_t sum = p->pinned.peak_bytes + p->managed.peak_bytes;
    for (uint32_t i = 0; i < p->device_count; i++)
        sum += p->devices[i].peak_bytes;
    return sum;
}

uint64_t vt_processes_leaked(const struct vt_process *p) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->leak_count; i++)
        sum += vt_amount_of_leak(p, &p->leaks[i]).bytes;
    return sum;
}

/* Whether there is nothing to say about a process. */
static bool is_empty(const struct vt_process *p) {
    return !p->site_count && !p->oom_count && !p->dropped_events && p->complete &&
           !vt_processes_peak(p);
}

/* The biggest first; of equal ones, such as the ranks of one training, by rank. */
static int compare(const void *a, const void *b) {
    const struct vt_process *x = *(const struct vt_process *const *)a,
                            *y = *(const struct vt_process *const *)b;
    return VT_ORDER({is_empty(x), is_empty(y)}, {vt_processes_peak(y), vt_processes_peak(x)},
                    {vt_processes_leaked(y), vt_processes_leaked(x)},
                    {(uint64_t)(x->rank + 1), (uint64_t)(y->rank + 1)},
                    {x->started_at, y->started_at}, {x->pid, y->pid});
}

static bool has_site(const struct vt_process *p, const char *site) {
    bool found = false;
    for (uint32_t i = 0; i < p->site_count && !found; i++)
        found = vt_site_wanted(&p->sites[i], site);
    return found;
}

void vt_processes_choose(struct vt_processes *chosen, const struct vt_model *model,
                         const struct vt_format_options *options) {
    *chosen = (struct vt_processes){0};
    chosen->list = vt_alloc(model->process_count, sizeof *chosen->list);
    for (uint32_t i = 0; i < model->process_count; i++)
        if (!options->site || has_site(&model->processes[i], options->site))
            chosen->list[chosen->count++] = &model->processes[i];
    vt_sort(chosen->list, chosen->count, sizeof *chosen->list, compare);
    while (chosen->count > 1 && is_empty(chosen->list[chosen->count - 1])) {
        chosen->count--;
        chosen->empty++;
    }
}

void vt_processes_free(struct vt_processes *chosen) {
    free(chosen->list);
    *chosen = (struct vt_processes){0};
}

void vt_processes_list(const struct vt_processes *chosen, const struct vt_text *t) {
    uint32_t most = t->options->top ? t->options->top : SHOWN;
    bool ranks = false;
    if (chosen->count < 2)
        return;
    for (uint32_t i = 0; i < chosen->count; i++)
        ranks |= chosen->list[i]->rank >= 0;
    fprintf(t->out, "%s%10s  %10s  %s%8s  command%s\n", vt_text_style(t, VT_STYLE_DIM), "peak",
            "leaks", ranks ? "rank  " : "", "pid", vt_text_style(t, VT_STYLE_NONE));
    for (uint32_t i = 0; i < chosen->count && i < most; i++) {
        const struct vt_process *p = chosen->list[i];
        struct vt_string command = {0};
        char rank[16] = "";
        if (ranks && p->rank >= 0)
            snprintf(rank, sizeof rank, "%4d  ", p->rank);
        vt_text_command(p, t->width - (ranks ? 40 : 34), &command);
        fprintf(t->out, "%10s  %10s  %s%s%8u  %s\n", VT_BYTES(vt_processes_peak(p)),
                p->leak_count ? VT_BYTES(vt_processes_leaked(p)) : "none", rank,
                ranks && !*rank ? "      " : "", p->pid, command.text);
        vt_string_free(&command);
    }
    if (chosen->count > most)
        fprintf(t->out, "%10s  and %u more (--top %u lists them)\n", "", chosen->count - most,
                chosen->count);
    vt_processes_empty(chosen, t);
    fputc('\n', t->out);
}

void vt_processes_empty(const struct vt_processes *chosen, const struct vt_text *t) {
    struct vt_string line = {0};
    if (!chosen->empty)
        return;
    vt_string_format(&line, "%u more process%s allocated nothing: pid%s", chosen->empty,
                     chosen->empty == 1 ? "" : "es", vt_plural(chosen->empty));
    for (uint32_t i = 0; i < chosen->empty && i < NAMED; i++)
        vt_string_format(&line, "%s %u", i ? "," : "", chosen->list[chosen->count + i]->pid);
    if (chosen->empty > NAMED)
        vt_string_format(&line, " and %u more", chosen->empty - NAMED);
    vt_text_wrap(t, "", 0, line.text);
    vt_string_free(&line);
}
