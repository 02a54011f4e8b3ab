/* SPDX-License-Identifier: MIT */
/*
 * --scale: computes a factor for each call site (see fit.h). Called by fit.c.
 *
 * A site's role is the role that snapshots found for most of its bytes. Memory that comes and goes with the iterations
 * is rarely in a snapshot at the end. If no snapshot shows its role, it counts as gradients if it outlives its backward
 * pass, otherwise as activations. All allocations inside an optimizer count as the optimizer's, including temporary
 * buffers, which are as large as the parameters.
 */
#include "fit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A site's bytes in snapshots, by role; and the scale for one of its owners. */
struct seen {
    uint64_t bytes[VT_PURPOSES];
    struct vt_fit_scale *owner;
    uint32_t outlived; /* number of its blocks that outlived a backward pass */
};

/* Whether a name, such as "opt" or "opt (torch.optim.adamw.AdamW)", is the owner's name or its first steps. */
static bool is_of(const char *owner, const char *name) {
    const char *type = strstr(name, " (");
    bool typed = type && !strchr(type + 1, ' ');
    size_t length = typed ? (size_t)(type - name) : strlen(name);
    return owner && !strncmp(owner, name, length) && strchr(".[ ", owner[length]);
}

static void see(const struct vt_memory_owner *owner, const struct vt_fit_options *options,
                struct seen *seen) {
    struct vt_fit_scale *scale = NULL;
    for (uint32_t i = 0; i < options->scale_count; i++)
        if (options->scales[i].scope == VT_FIT_OWNER &&
            (is_of(owner->name, options->scales[i].name) ||
             is_of(owner->container, options->scales[i].name)))
            scale = &options->scales[i];
    for (uint32_t i = 0; i < owner->site_count; i++) {
        struct seen *site = &seen[owner->sites[i].site];
        site->bytes[owner->purpose] += owner->sites[i].bytes;
        site->owner = scale ? scale : site->owner;
    }
}

/* Whether a frame is in an optimizer or, for `backward`, in the thread that waits for a backward pass. */
static bool is_inside(const struct vt_stack *stack, bool backward) {
    bool found = false;
    for (uint32_t i = 0; i < stack->count && !found; i++) {
        const struct vt_frame *f = vt_stack_frame(stack, i);
        found = backward ? f->waiting : f->file && strstr(f->file, "torch/optim/");
    }
    return found;
}

/* Whether a site's blocks come and go. Either most were freed (variables of a loop outside any function may still hold
 * the last iteration's), or all were, and none lived for most of the run. */
static bool is_transient(const struct vt_process *p, const struct vt_site *s) {
    uint64_t rest = s->first_at == VT_UNKNOWN ? 0 : vt_beyond(p->duration, s->first_at);
    uint64_t held = s->live_bytes > s->held_bytes ? s->live_bytes : s->held_bytes;
    return (s->alloc_count > 1 && s->allocated_bytes / 2 >= held) ||
           (!s->live_count && s->longest_life != VT_UNKNOWN && s->longest_life <= rest / 2);
}

static enum vt_purpose role_of(const struct vt_process *p, const struct vt_site *s,
                               const struct seen *seen) {
    enum vt_purpose role = VT_PURPOSE_OTHER;
    if (is_inside(s->stack, false))
        return VT_PURPOSE_OPTIMIZER;
    for (unsigned i = 0; i < VT_PURPOSE_OTHER; i++)
        if (seen->bytes[i] && (role == VT_PURPOSE_OTHER || seen->bytes[i] > seen->bytes[role]))
            role = (enum vt_purpose)i;
    if (role != VT_PURPOSE_OTHER || !is_transient(p, s))
        return role;
    return seen->outlived > s->alloc_count / 2 ? VT_PURPOSE_GRADIENTS : VT_PURPOSE_ACTIVATIONS;
}

/* The most specific scale for a site. NULL: none. */
static struct vt_fit_scale *scale_of(const struct vt_process *p, const struct vt_site *s,
                                     const struct seen *seen,
                                     const struct vt_fit_options *options) {
    struct vt_fit_scale *chosen = NULL;
    enum vt_purpose role = role_of(p, s, seen);
    for (uint32_t i = 0; i < options->scale_count; i++) {
        struct vt_fit_scale *scale = &options->scales[i];
        bool about = scale->scope == VT_FIT_ROLE    ? !strcmp(scale->name, vt_purpose_names[role])
                     : scale->scope == VT_FIT_OWNER ? seen->owner == scale
                                                    : vt_site_wanted(s, scale->name);
        scale->found |= about;
        if (about && (!chosen || scale->scope >= chosen->scope))
            chosen = scale;
    }
    return chosen;
}

/* Lists the owners' containers, each once. */
static void list_owners(const struct vt_snapshot *snapshot, struct vt_string *message) {
    enum { SHOWN = 8 };
    for (uint32_t i = 0, j, shown = 0; i < snapshot->owner_count && shown < SHOWN; i++) {
        const char *container = snapshot->owners[i].container;
        for (j = 0; j < i && !vt_same_text(snapshot->owners[j].container, container);)
            j++;
        if (j < i || !container)
            continue;
        vt_string_format(message, "%s%s", shown % 4 ? ", " : ",\n  ", container);
        shown++;
    }
}

/* Returns 0, or -EINVAL with `message`: the scale's name was not found. A role without memory is valid. */
static int check(const struct vt_process *p, const struct vt_fit_scale *scale,
                 struct vt_string *message) {
    const struct vt_snapshot *snapshot = vt_process_snapshot(p);
    bool role = scale->scope == VT_FIT_ROLE;
    if (scale->found ||
        (role && vt_kind_find(scale->name, vt_purpose_names, VT_PURPOSES) != UINT32_MAX))
        return 0;
    vt_string_format(message, "--scale %s: no PyTorch memory has this name; expected %s",
                     scale->text, role ? "one of" : "one that vramtrace report shows");
    for (uint32_t i = 0; role && i < VT_PURPOSES; i++)
        vt_string_format(message, "%s %s", i ? "," : "", vt_purpose_names[i]);
    if (scale->scope == VT_FIT_OWNER && snapshot)
        list_owners(snapshot, message);
    return -EINVAL;
}

struct vt_fit_sites vt_fit_sites_open(const struct vt_process *p) {
    struct vt_fit_sites sites = {0};
    for (uint32_t i = 0; i < p->site_count; i++)
        sites.count = p->sites[i].number >= sites.count ? p->sites[i].number + 1 : sites.count;
    sites.factors = vt_alloc(sites.count, sizeof *sites.factors);
    sites.in_backward = vt_alloc(sites.count, sizeof *sites.in_backward);
    sites.outlived = vt_alloc(sites.count, sizeof *sites.outlived);
    for (uint32_t i = 0; i < sites.count; i++)
        sites.factors[i] = 1;
    for (uint32_t i = 0; i < p->site_count; i++)
        sites.in_backward[p->sites[i].number] = is_inside(p->sites[i].stack, true);
    return sites;
}

void vt_fit_sites_close(struct vt_fit_sites *sites) {
    free(sites->factors);
    free(sites->in_backward);
    free(sites->outlived);
}

int vt_fit_sites_scale(const struct vt_process *p, unsigned device,
                       const struct vt_fit_options *options, struct vt_fit_sites *sites,
                       struct vt_string *message) {
    VT_SCOPED struct seen *seen = vt_alloc(p->site_count, sizeof *seen);
    int error = 0;
    for (uint32_t i = 0; i < p->snapshot_count; i++)
        for (uint32_t j = 0; j < p->snapshots[i].owner_count; j++)
            see(&p->snapshots[i].owners[j], options, seen);
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *s = &p->sites[i];
        bool counts = s->layer == VT_LAYER_FRAMEWORK && s->device == device;
        seen[i].outlived = sites->outlived[s->number];
        struct vt_fit_scale *scale = counts ? scale_of(p, s, &seen[i], options) : NULL;
        if (!scale)
            continue;
        sites->factors[s->number] = scale->factor;
        scale->sites++;
        scale->bytes_at_peak += s->bytes_at_peak;
    }
    for (uint32_t i = 0; i < options->scale_count && !error; i++)
        error = check(p, &options->scales[i], message);
    return error;
}
