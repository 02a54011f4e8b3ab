/* SPDX-License-Identifier: MIT */
/*
 * The functions of model.h.
 */
#define _GNU_SOURCE
#include "model.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct vt_leak **vt_process_leaks_by_site(const struct vt_process *p, bool suspects) {
    const struct vt_leak **leaks = vt_alloc(p->site_count, sizeof *leaks);
    for (uint32_t i = 0; i < (suspects ? p->found_count : p->leak_count); i++)
        for (uint32_t j = 0; j < p->leaks[i].site_count; j++)
            leaks[p->leaks[i].sites[j]] = &p->leaks[i];
    return leaks;
}

bool vt_process_ended_itself(const struct vt_process *p) {
    bool ran_out = vt_ended_badly(p->ending) && vt_process_oom(p);
    return !ran_out && (p->ending.how == VT_END_EXITED || p->ending.how == VT_END_EXEC);
}

bool vt_site_freed_at_exit(const struct vt_process *process, const struct vt_site *site) {
    return !process->python && !site->live_count;
}

bool vt_site_is_fixtures(const struct vt_site *site) {
    const struct vt_tested *t = site->tested;
    return t && t->fixture && site->live_count && t->fixture_count >= site->live_count;
}

const struct vt_device *vt_process_device(const struct vt_process *p, unsigned ordinal) {
    for (uint32_t i = 0; i < p->device_count; i++)
        if (p->devices[i].ordinal == ordinal)
            return &p->devices[i];
    return NULL;
}

bool vt_site_wanted(const struct vt_site *site, const char *prefix) {
    return !prefix || !strncasecmp(site->name, prefix, strlen(prefix));
}

const char *vt_process_variable(const struct vt_process *p, const char *name) {
    for (uint32_t i = 0; i < p->variable_count; i++)
        if (!strcmp(p->variables[i].name, name))
            return p->variables[i].value;
    return NULL;
}

char *vt_model_uuid(const uint8_t uuid[16]) {
    struct vt_string s = {0};
    vt_string_add(&s, "GPU");
    for (int i = 0; i < 16; i++)
        vt_string_format(&s, "%s%02x", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                         uuid[i]);
    return s.text;
}

void vt_model_note(struct vt_process *p, const char *format, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0)
        return;
    *VT_ADD(p->notes, p->note_count, p->note_room) = text;
}

static void free_tested(struct vt_tested *t) {
    if (!t)
        return;
    free(t->fixture);
    free(t->scope);
    free(t->test);
    free(t);
}

void vt_timeline_free(struct vt_timeline *t) {
    if (!t)
        return;
    for (uint32_t i = 0; i < t->course_count; i++) {
        struct vt_course *c = &t->courses[i];
        for (uint32_t k = 0; k < c->band_count; k++) {
            free(c->bands[k].sites);
            free(c->bands[k].bytes);
        }
        free(c->bands);
        free(c->at);
        free(c->live_bytes);
        free(c->used_bytes);
        free(c->own_bytes);
    }
    for (uint32_t i = 0; i < t->map_count; i++) {
        free(t->maps[i].regions);
        free(t->maps[i].pieces);
    }
    free(t->courses);
    free(t->maps);
    free(t->changes);
    free(t->alarms);
    free(t);
}

void vt_process_free(struct vt_process *p) {
    vt_timeline_free(p->timeline);
    free(p->task);
    for (uint32_t i = 0; i < p->device_count; i++) {
        struct vt_fragmentation *f = &p->devices[i].fragmentation;
        free(p->devices[i].uuid);
        free(p->devices[i].name);
        free(p->devices[i].levels.bytes);
        free(f->moments);
        free(f->pins);
        free(f->segments);
        free(f->pieces);
    }
    vt_free_texts(p->whys, p->why_count);
    for (uint32_t i = 0; i < p->site_count; i++) {
        free(p->sites[i].growth);
        free(p->sites[i].suspected);
        free(p->sites[i].freed_at_exit);
        if (p->sites[i].bound)
            free(p->sites[i].bound->growth);
        free(p->sites[i].bound);
        free(p->sites[i].owned.owners);
        free_tested(p->sites[i].tested);
    }
    for (uint32_t i = 0; i < p->found_count; i++) {
        free(p->leaks[i].why);
        free(p->leaks[i].advice);
        free((void *)p->leaks[i].sites);
        free(p->leaks[i].growth);
        free(p->leaks[i].owned.owners);
        free(p->leaks[i].kept);
        free(p->leaks[i].kept_by);
    }
    for (uint32_t i = 0; i < p->oom_count; i++) {
        free(p->ooms[i].why);
        free(p->ooms[i].advice);
        free(p->ooms[i].setting);
    }
    for (uint32_t i = 0; i < p->variable_count; i++) {
        free(p->variables[i].name);
        free(p->variables[i].value);
    }
    for (uint32_t i = 0; i < p->snapshot_count; i++)
        vt_snapshot_free(&p->snapshots[i]);
    free(p->snapshots);
    free(p->missed);
    free(p->variables);
    vt_free_texts(p->command, p->command_count);
    vt_free_texts(p->notes, p->note_count);
    free(p->devices);
    free(p->sites);
    free(p->leaks);
    free(p->ooms);
    free(p->failed);
    free(p->objects);
    for (uint32_t i = 0; i < p->module_count; i++)
        free(p->modules[i].build_id);
    free(p->modules);
    vt_free_texts(p->phase_names, p->phase_name_count);
    free(p->phases);
    for (uint32_t i = 0; i < p->phase_sum_count; i++)
        free((char *)p->phase_sums[i].name);
    free(p->phase_sums);
    free(p->log);
    free(p->run_id);
    free(p->host);
    free(p->job);
    free(p->version);
    free(p->cwd);
    free(p->exe);
    free(p->boot);
    free(p->launch);
}

uint64_t vt_process_peak_bytes(const struct vt_process *p) {
    uint64_t sum = p->pinned.peak_bytes + p->managed.peak_bytes;
    for (uint32_t i = 0; i < p->device_count; i++)
        sum += p->devices[i].peak_bytes;
    return sum;
}

struct vt_process_figures vt_process_figures(const struct vt_process *p) {
    struct vt_process_figures f = {.events = p->events,
                                   .dropped_events = p->quality.missing,
                                   .leak_count = p->leak_count,
                                   .oom_count = p->oom_count + p->ooms_left_out,
                                   .leaked_bytes = vt_amount_leaked(p),
                                   .peak_bytes = vt_process_peak_bytes(p)};
    for (uint32_t i = 0; i < p->device_count; i++) {
        f.live_bytes += p->devices[i].live_bytes;
        f.failed_count += p->devices[i].failed_count;
    }
    return f;
}

const struct vt_oom *vt_process_oom(const struct vt_process *p) {
    for (uint32_t i = p->oom_count; i-- > 0;)
        if (p->ooms[i].outcome != VT_OOM_RECOVERED)
            return &p->ooms[i];
    return NULL;
}

/* Sorted, neighbours have the longest common prefix. */
unsigned vt_model_id_digits(const struct vt_model *model) {
    size_t count = 0, n = 0;
    unsigned digits = 4;
    for (uint32_t i = 0; i < model->process_count; i++)
        count += model->processes[i].site_count;
    VT_SCOPED uint64_t *ids = vt_alloc(count, sizeof *ids);
    for (uint32_t i = 0; i < model->process_count; i++)
        for (uint32_t j = 0; j < model->processes[i].site_count; j++)
            ids[n++] = model->processes[i].sites[j].id;
    vt_sort_words(ids, count);
    for (size_t i = 1; i < count; i++)
        while (digits < 16 && ids[i] != ids[i - 1] &&
               ids[i] >> (64 - 4 * digits) == ids[i - 1] >> (64 - 4 * digits))
            digits++;
    return digits;
}
