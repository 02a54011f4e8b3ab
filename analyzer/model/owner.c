/* SPDX-License-Identifier: MIT */
/*
 * Owners as texts (see owner.h).
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

const char *const vt_root_names[VT_ROOTS] = {
    [VT_ROOT_MODULE] = "module",
    [VT_ROOT_FRAME] = "frame",
    [VT_ROOT_EXCEPTION] = "exception",
    [VT_ROOT_GLOBAL] = "global",
    [VT_ROOT_THREAD_LOCAL] = "thread_local",
    [VT_ROOT_NATIVE_STACK] = "native_stack",
    [VT_ROOT_INTERPRETER] = "interpreter",
    [VT_ROOT_CYCLE] = "cycle",
};

const char *const vt_purpose_names[VT_PURPOSES] = {
    [VT_PURPOSE_PARAMETERS] = "parameters", [VT_PURPOSE_GRADIENTS] = "gradients",
    [VT_PURPOSE_OPTIMIZER] = "optimizer",   [VT_PURPOSE_ACTIVATIONS] = "activations",
    [VT_PURPOSE_BUFFERS] = "buffers",       [VT_PURPOSE_BATCH] = "batch",
    [VT_PURPOSE_OTHER] = "other",
};

const struct vt_snapshot *vt_process_snapshot(const struct vt_process *p) {
    bool runs = p->ending.how == VT_END_RUNNING;
    const struct vt_snapshot *last = NULL;
    for (uint32_t i = p->snapshot_count; i-- > 0;) {
        const struct vt_snapshot *s = &p->snapshots[i];
        if (!runs && s->why == VT_SNAPSHOT_END)
            return s;
        if (!last && !s->passing)
            last = s;
    }
    return last;
}

uint64_t vt_snapshot_live_bytes(const struct vt_snapshot *s) {
    uint64_t bytes = s->unowned_bytes - s->runtime_bytes;
    for (uint32_t i = 0; i < s->owner_count; i++)
        bytes += s->owners[i].bytes + s->owners[i].host_bytes;
    return bytes;
}

/* The part of the leaks' memory that has owners. If no snapshot shows an owner of a leak (`leaks` NULL), all live
 * memory. */
static uint64_t owned_bytes(const struct vt_snapshot *s, const struct vt_leak **leaks) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; leaks && i < s->owner_count; i++)
        for (uint32_t k = 0; k < s->owners[i].site_count; k++)
            if (leaks[s->owners[i].sites[k].site])
                bytes += s->owners[i].sites[k].bytes;
    return leaks ? bytes : vt_snapshot_live_bytes(s);
}

/* The snapshot that shows most of it. `first` is preferred if it shows at least half as much. NULL: none shows any. */
static const struct vt_snapshot *
fullest(const struct vt_process *p, const struct vt_snapshot *first, const struct vt_leak **leaks) {
    const struct vt_snapshot *found = NULL;
    uint64_t most = 0;
    for (uint32_t i = p->snapshot_count; i-- > 0;) {
        uint64_t bytes = owned_bytes(&p->snapshots[i], leaks);
        if (bytes > most) {
            found = &p->snapshots[i];
            most = bytes;
        }
    }
    return found && first && owned_bytes(first, leaks) >= most / 2 ? first : found;
}

const struct vt_snapshot *vt_process_snapshot_shown(const struct vt_process *p) {
    const struct vt_snapshot *last = vt_process_snapshot(p), *shown = NULL;
    if (p->leak_count) {
        VT_SCOPED const struct vt_leak **leaks = vt_process_leaks_by_site(p, false);
        shown = fullest(p, last, leaks);
    }
    shown = shown ? shown : fullest(p, last, NULL);
    return shown ? shown : last;
}

const struct vt_snapshot *vt_process_snapshot_at(const struct vt_process *p,
                                                 const struct vt_oom *oom) {
    const struct vt_oom *next = oom + 1;
    uint64_t until = oom->at + 10000000000; /* ns: the snapshot waits for another one in progress */
    if (next < p->ooms + p->oom_count && next->thread == oom->thread && next->at < until)
        until = next->at;
    for (const struct vt_snapshot *s = p->snapshots; s < p->snapshots + p->snapshot_count; s++)
        if (s->why == VT_SNAPSHOT_OOM && s->at >= oom->at && s->at < until)
            return s;
    return NULL;
}

char *vt_snapshot_moment(const struct vt_snapshot *s) {
    if (s->why == VT_SNAPSHOT_END)
        return vt_strdup("at the end");
    if (s->why == VT_SNAPSHOT_OOM)
        return vt_strdup("when memory ran out");
    return vt_formatted("at %s", VT_DURATION(s->at));
}

uint64_t vt_owner_bytes_on(const struct vt_process *p, const struct vt_memory_owner *o,
                           uint64_t device, uint64_t *count) {
    uint64_t bytes = 0;
    *count = 0;
    for (uint32_t i = 0; i < o->site_count; i++) {
        const struct vt_site *site = &p->sites[o->sites[i].site];
        bool is_device = site->layer == VT_LAYER_DRIVER || site->layer == VT_LAYER_FRAMEWORK;
        if (!is_device || (device != VT_UNKNOWN && site->device != device))
            continue;
        bytes += o->sites[i].bytes;
        *count += o->sites[i].count;
    }
    return bytes;
}

const struct vt_snapshot *vt_device_purposes(const struct vt_process *p, const struct vt_device *d,
                                             uint64_t sums[VT_PURPOSES]) {
    const struct vt_oom *oom = vt_process_oom(p);
    const struct vt_snapshot *s = oom ? vt_process_snapshot_at(p, oom) : NULL;
    uint64_t known = 0;
    s = s ? s : vt_process_snapshot_shown(p);
    memset(sums, 0, VT_PURPOSES * sizeof *sums);
    for (uint32_t i = 0; s && i < s->owner_count; i++) {
        uint64_t count;
        sums[s->owners[i].purpose] += vt_owner_bytes_on(p, &s->owners[i], d->ordinal, &count);
    }
    for (unsigned i = 0; i < VT_PURPOSE_OTHER; i++)
        known += sums[i];
    return known ? s : NULL;
}

char *vt_purposes_text(const uint64_t sums[VT_PURPOSES]) {
    struct vt_string text = {0};
    for (unsigned i = 0; i < VT_PURPOSES; i++)
        if (sums[i] && (i != VT_PURPOSE_OTHER || text.length))
            vt_string_format(&text, "%s%s %s", text.length ? ", " : "", vt_purpose_names[i],
                             VT_BYTES(sums[i]));
    return text.text;
}

/* A file as reports show it. Free it. */
static char *file_text(const struct vt_process *p, const char *file, bool python) {
    struct vt_frame frame = {.file = file, .python = python, .offset = VT_UNKNOWN};
    return vt_frame_text(p, &frame, 60);
}

char *vt_owner_place(const struct vt_process *p, const struct vt_memory_owner *o) {
    const struct vt_root *r = &o->root;
    struct vt_string s = {0};
    bool python = r->kind == VT_ROOT_MODULE || r->kind == VT_ROOT_FRAME;
    VT_SCOPED char *file = r->file ? file_text(p, r->file, python) : NULL;
    const char *separator = "";
    if (python && r->function) {
        /* a comprehension: use its function */
        const char *within = strstr(r->function, ".<locals>.<");
        bool comprehension = within && (strstr(within, "comp>") || strstr(within, "<genexpr>"));
        int length = (int)(comprehension ? within - r->function : (long)strlen(r->function));
        vt_string_format(&s, "%.*s()", length, r->function);
        separator = ", ";
    } else if (r->kind == VT_ROOT_NATIVE_STACK) {
        vt_string_format(&s, "the stack of %s", r->function ? r->function : "a thread");
        separator = ", ";
    } else if (r->module && python) {
        vt_string_add(&s, r->module);
        separator = ", ";
    }
    if (file)
        vt_string_format(&s, "%s%s", separator, file);
    if (file && r->line && r->kind != VT_ROOT_MODULE)
        vt_string_format(&s, ":%u", r->line);
    if (!file && !python && r->module)
        vt_string_format(&s, "%s%s", separator, vt_basename(r->module));
    if (o->may_be_unused)
        vt_string_add(&s, ", " VT_MAY_BE_UNUSED);
    if (!s.length) {
        vt_string_free(&s); /* an empty name still owns an allocation */
        return NULL;
    }
    return vt_printable(s.text);
}

/* Adds the kind of a native variable or the class of an object: "static", "list". */
static void add_kind(const struct vt_memory_owner *o, uint64_t count, struct vt_string *s) {
    const char *kind = o->more_variables                                  ? NULL
                       : o->root.kind == VT_ROOT_THREAD_LOCAL             ? "thread-local"
                       : o->root.kind == VT_ROOT_GLOBAL && o->root.hidden ? "static"
                                                                          : NULL;
    const char *type = o->container_type, *gap = "", *item = o->item_type;
    if (type && !strncmp(type, "__main__.", 9))
        type += 9;
    if (!kind && !type && !count)
        return;
    vt_string_add(s, " (");
    if (kind) {
        vt_string_add(s, kind);
        gap = ", ";
    }
    if (type) {
        vt_string_format(s, "%s%s", gap, type);
        if (item) /* "dict of lists" */
            vt_string_format(s, " of %ss", strrchr(item, '.') ? strrchr(item, '.') + 1 : item);
        gap = ", ";
    }
    if (count)
        vt_string_format(s, "%s%s block%s", gap, VT_NUMBER(count), vt_plural(count));
    vt_string_add(s, ")");
}

bool vt_owner_was_ended(const struct vt_process *p, const struct vt_memory_owner *o) {
    bool died = p->ending.status && p->ending.status != VT_NO_STATUS;
    return o->root.kind == VT_ROOT_EXCEPTION && died && o->container_local_of;
}

/* "history (list) in train(), which torch.OutOfMemoryError ended" */
static void add_ended(const struct vt_memory_owner *o, uint64_t count, struct vt_string *s) {
    bool named = o->root.what && strcmp(o->root.what, "traceback") != 0;
    vt_string_add_bytes(s, o->container, o->container_length);
    add_kind(o, count, s);
    vt_string_format(s, " in %s, which %s ended", o->container_local_of,
                     named ? o->root.what : "an exception");
}

/* "exception kept by sys.last_traceback: local x of f()". Only the interpreter keeps a traceback
 * without its exception. */
static void add_exception(const struct vt_memory_owner *o, struct vt_string *s) {
    if (!o->root.what || !strcmp(o->root.what, "traceback"))
        vt_string_add(s, "exception kept by sys.last_traceback: ");
    else
        vt_string_format(s, "exception %s: ", o->root.what);
    if (o->container_local_of)
        vt_string_format(s, "local %.*s of %s", (int)o->container_length, o->container,
                         o->container_local_of);
    else
        vt_string_add(s, o->container);
}

/* Adds " in the traceback of server.last_error" for a container in a returned function, whose variables live on only if
 * its exception is kept. */
static void add_traceback(const struct vt_memory_owner *o, struct vt_string *s) {
    uint32_t at = 0;
    while (at < o->name_count && strcmp(o->path[at], ".__traceback__") != 0 &&
           (!at || strchr(".[", o->path[at][0])))
        at++;
    if (!at || at >= o->container_steps || strcmp(o->path[at], ".__traceback__") != 0)
        return;
    vt_string_add(s, " in the traceback of ");
    for (uint32_t i = 0; i < at; i++)
        vt_string_add(s, o->path[i]);
}

char *vt_owner_text(const struct vt_process *p, const struct vt_memory_owner *o, uint64_t count) {
    struct vt_string s = {0};
    if (vt_owner_was_ended(p, o)) {
        add_ended(o, count, &s);
        return vt_printable(s.text);
    }
    VT_SCOPED char *place = vt_owner_place(p, o);
    switch (o->root.kind) {
    case VT_ROOT_EXCEPTION:
        add_exception(o, &s);
        break;
    case VT_ROOT_CYCLE:
        vt_string_format(&s, "a reference cycle of %s objects that nothing else holds: %s",
                         o->root.what ? o->root.what : "Python", o->container);
        break;
    case VT_ROOT_INTERPRETER:
        vt_string_format(&s, "Python's interpreter: %s", o->container);
        break;
    default: /* no variable yet: the list that a comprehension creates */
        vt_string_add(&s, o->container[0] == '{' ? "a temporary" : o->container);
    }
    if (o->more_variables)
        vt_string_format(&s, " and %s more variable%s", VT_NUMBER(o->more_variables),
                         vt_plural(o->more_variables));
    add_kind(o, count, &s);
    if (o->root.kind != VT_ROOT_EXCEPTION)
        add_traceback(o, &s);
    if (place)
        vt_string_format(&s, " in %s", place);
    return vt_printable(s.text);
}

char *vt_owner_role_text(const struct vt_process *p, const struct vt_memory_owner *o) {
    VT_SCOPED char *text = vt_owner_text(p, o, 0);
    bool known = o->purpose != VT_PURPOSE_OTHER;
    return vt_formatted("%s%s%s", text, known ? ": " : "",
                        known ? vt_purpose_names[o->purpose] : "");
}

char *vt_owner_chain(const struct vt_memory_owner *o) {
    struct vt_string s = {0};
    if (o->path_count <= o->name_count && !o->graph)
        return NULL;
    vt_string_add(&s, o->name);
    if (o->graph)
        vt_string_format(&s, " → %s", o->graph);
    for (uint32_t i = o->name_count; !o->graph && i < o->path_count; i++)
        vt_string_format(&s, " → %s", o->path[i]);
    if (o->longer || o->graphs > 1)
        vt_string_add(&s, " → …");
    if (o->graphs > 1)
        vt_string_format(&s, " (%s graphs)", VT_NUMBER(o->graphs));
    else if (o->graph_chain)
        vt_string_format(&s, " (a chain of %s nodes)", VT_NUMBER(o->graph_chain));
    return vt_printable(s.text);
}

void vt_snapshot_free(struct vt_snapshot *s) {
    for (uint32_t i = 0; i < s->owner_count; i++) {
        free(s->owners[i].sites);
        free(s->owners[i].others);
    }
    free(s->owners);
    free((char *)s->phase);
}
