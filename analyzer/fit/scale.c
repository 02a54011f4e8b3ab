/* SPDX-License-Identifier: MIT */
/*
 * What --scale scales: a factor for each call site (see fit.h). fit.c calls.
 *
 * A site's role is what snapshots saw its blocks as, by bytes. What no snapshot saw are activations if
 * they come and go with the rounds: a snapshot at a run's end sees hardly any of those. Whatever is
 * allocated inside an optimizer is the optimizer's, its temporary buffers, too: they are as large as the
 * parameters.
 */
#include "fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool vt_fit_scale_read(const char *text, struct vt_fit_scale *scale) {
    static const char *const scopes[] = {
        [VT_FIT_ROLE] = "role:", [VT_FIT_OWNER] = "owner:", [VT_FIT_SITE] = "site:"};
    const char *equals = strrchr(text, '=');
    char *end;
    *scale = (struct vt_fit_scale){.text = text};
    for (unsigned i = 0; equals && i < sizeof scopes / sizeof *scopes; i++) {
        size_t length = strlen(scopes[i]);
        if (strncmp(text, scopes[i], length) || text + length >= equals)
            continue;
        scale->scope = (enum vt_fit_scope)i;
        scale->factor = strtod(equals + 1, &end);
        if (end == equals + 1 || *end || !isfinite(scale->factor) || scale->factor < 0)
            return false;
        scale->name = vt_strndup(text + length, (size_t)(equals - text) - length);
        return true;
    }
    return false;
}

/* --- roles --- */

struct roles {
    const struct vt_process *p;
    uint64_t (*seen)[VT_PURPOSES]; /* bytes of each site, of all snapshots */
};

static void see(struct roles *r) {
    for (uint32_t i = 0; i < r->p->snapshot_count; i++)
        for (uint32_t j = 0; j < r->p->snapshots[i].owner_count; j++) {
            const struct vt_memory_owner *owner = &r->p->snapshots[i].owners[j];
            for (uint32_t k = 0; k < owner->site_count; k++)
                r->seen[owner->sites[k].site][owner->purpose] += owner->sites[k].bytes;
        }
}

static bool is_in_optimizer(const struct vt_stack *stack) {
    for (uint32_t i = 0; i < stack->count; i++) {
        const char *file = vt_stack_frame(stack, i)->file;
        if (file && strstr(file, "torch/optim/"))
            return true;
    }
    return false;
}

/* Whether its blocks come and go: it was given more than once what it ever held, or nothing of it lived
 * for most of the run. */
static bool is_transient(const struct vt_process *p, const struct vt_site *s) {
    uint64_t rest = s->first_at == VT_UNKNOWN ? 0 : vt_beyond(p->duration, s->first_at);
    return s->allocated_bytes / 2 >= s->peak_bytes ||
           (!s->live_count && s->longest_life != VT_UNKNOWN && s->longest_life <= rest / 2);
}

static enum vt_purpose role_of(const struct roles *r, uint32_t site) {
    const struct vt_site *s = &r->p->sites[site];
    enum vt_purpose role = VT_PURPOSE_OTHER;
    uint64_t most = 0;
    if (is_in_optimizer(s->stack))
        return VT_PURPOSE_OPTIMIZER;
    for (unsigned i = 0; i < VT_PURPOSE_OTHER; i++)
        if (r->seen[site][i] > most) {
            most = r->seen[site][i];
            role = (enum vt_purpose)i;
        }
    return most ? role : is_transient(r->p, s) ? VT_PURPOSE_ACTIVATIONS : VT_PURPOSE_OTHER;
}

/* --- what a scale is about --- */

static bool is_owner(const struct vt_memory_owner *owner, const char *name) {
    return vt_same_text(owner->name, name) || vt_same_text(owner->holder, name);
}

/* Whether an owner of this name has some of the site; VT_NO_SITE: of any. */
static bool is_owned(const struct vt_process *p, uint32_t site, const char *name) {
    for (uint32_t i = 0; i < p->snapshot_count; i++)
        for (uint32_t j = 0; j < p->snapshots[i].owner_count; j++) {
            const struct vt_memory_owner *owner = &p->snapshots[i].owners[j];
            if (!is_owner(owner, name))
                continue;
            for (uint32_t k = 0; k < owner->site_count; k++)
                if (site == VT_NO_SITE || owner->sites[k].site == site)
                    return true;
        }
    return false;
}

static bool is_about(const struct roles *r, const struct vt_fit_scale *scale, uint32_t site,
                     enum vt_purpose role) {
    return scale->scope == VT_FIT_ROLE    ? !strcmp(scale->name, vt_purpose_names[role])
           : scale->scope == VT_FIT_OWNER ? is_owned(r->p, site, scale->name)
                                          : vt_site_wanted(&r->p->sites[site], scale->name);
}

/* The names of owners, the first ones. */
static void list_owners(const struct vt_process *p, struct vt_string *known) {
    enum { SHOWN = 8 };
    const struct vt_snapshot *snapshot = vt_process_snapshot(p);
    for (uint32_t i = 0; snapshot && i < snapshot->owner_count && i < SHOWN; i++)
        vt_string_format(known, "%s%s", known->length ? ", " : "", snapshot->owners[i].name);
}

/* Returns 0, or -EINVAL with `message`. */
static int check(const struct vt_process *p, const struct vt_fit_scale *scale,
                 struct vt_string *message) {
    VT_SCOPED_STRING known = {0};
    bool found = false;
    if (scale->scope == VT_FIT_ROLE) {
        found = vt_kind_find(scale->name, vt_purpose_names, VT_PURPOSES) != UINT32_MAX;
        for (unsigned i = 0; i < VT_PURPOSES; i++)
            vt_string_format(&known, "%s%s", i ? ", " : "", vt_purpose_names[i]);
    } else if (scale->scope == VT_FIT_OWNER) {
        found = is_owned(p, VT_NO_SITE, scale->name);
        list_owners(p, &known);
    } else {
        for (uint32_t i = 0; i < p->site_count && !found; i++)
            found = p->sites[i].layer == VT_LAYER_FRAMEWORK &&
                    vt_site_wanted(&p->sites[i], scale->name);
        vt_string_add(&known, "the ids of PyTorch's blocks in vramtrace report");
    }
    if (found)
        return 0;
    vt_string_format(message, "--scale %s: no %.*s has this name; known: %s", scale->text,
                     (int)strcspn(scale->text, ":"), scale->text,
                     known.length ? known.text : "none");
    return -EINVAL;
}

static void take_factors(const struct roles *r, unsigned device, struct vt_fit_scale *scales,
                         uint32_t scale_count, double *factors) {
    for (uint32_t i = 0; i < r->p->site_count; i++) {
        const struct vt_site *s = &r->p->sites[i];
        struct vt_fit_scale *chosen = NULL;
        if (s->layer != VT_LAYER_FRAMEWORK || s->device != device)
            continue;
        enum vt_purpose role = role_of(r, i);
        for (uint32_t j = 0; j < scale_count; j++)
            if ((!chosen || scales[j].scope >= chosen->scope) && is_about(r, &scales[j], i, role))
                chosen = &scales[j];
        if (!chosen)
            continue;
        factors[s->number] = chosen->factor;
        chosen->sites++;
        chosen->bytes_at_peak += s->bytes_at_peak;
    }
}

int vt_fit_factors(const struct vt_process *process, unsigned device, struct vt_fit_scale *scales,
                   uint32_t scale_count, double **factors, uint32_t *count,
                   struct vt_string *message) {
    struct roles r = {.p = process, .seen = vt_alloc(process->site_count, sizeof *r.seen)};
    int error = 0;
    for (uint32_t i = 0; i < scale_count && !error; i++)
        error = check(process, &scales[i], message);
    *count = 0;
    for (uint32_t i = 0; i < process->site_count; i++)
        *count = process->sites[i].number >= *count ? process->sites[i].number + 1 : *count;
    *factors = vt_alloc(*count, sizeof **factors);
    for (uint32_t i = 0; i < *count; i++)
        (*factors)[i] = 1;
    see(&r);
    if (!error)
        take_factors(&r, device, scales, scale_count, *factors);
    free(r.seen);
    return error;
}
