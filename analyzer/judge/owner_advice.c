/* SPDX-License-Identifier: MIT */
/*
 * What to do about what keeps a leak, by its owner alone. advice.c asks before it looks into the
 * source.
 */
#include "judge.h"

#include "model/model.h"

#include <string.h>

/* The class of the objects that the name's last step leads to. */
static const char *memory_class(const struct vt_memory_owner *o) {
    return o->name_count ? o->types[o->name_count - 1] : NULL;
}

/* Of a name, without what it is of: "kept (closure of hook)". */
static size_t name_length(const char *holder) {
    const char *context = strstr(holder, " (");
    return context ? (size_t)(context - holder) : strlen(holder);
}

/* A graph that the program does not need: it is kept for numbers, or for the next round's state. */
static char *advise_graph(const struct vt_memory_owner *o, int name) {
    bool sum = !strncmp(o->graph, "Add", 3) || !strncmp(o->graph, "Sub", 3);
    if (o->graph_chain && sum && o->graphs > 1)
        return vt_formatted("`%.*s` is a sum that keeps the graph of every term: add .item() of "
                            "each, or .detach() it",
                            name, o->holder);
    if (o->graph_chain)
        return vt_formatted("`%.*s` carries the graph of every round on: .detach() it before the "
                            "next one",
                            name, o->holder);
    return vt_formatted("`%.*s` keeps autograd graphs: keep .item() of a number, .detach() of a "
                        "tensor",
                        name, o->holder);
}

char *vt_owners_advise(const struct vt_process *p, const struct vt_leak *leak) {
    if (!leak->kept)
        return NULL;
    const struct vt_memory_owner *o = leak->kept->owner;
    const char *class = memory_class(o), *copy = class ? vt_roles_host_copy(class) : NULL;
    bool container = o->holder_type && strcmp(o->name, o->holder) != 0;
    int name = (int)name_length(o->holder);
    if (o->graph)
        return advise_graph(o, name);
    if (o->root.kind == VT_ROOT_CYCLE)
        return vt_formatted(
            "only gc.collect() frees it: break the cycle of %s objects, or make one "
            "of its references weak",
            o->root.what ? o->root.what : "Python");
    bool died = p->exit_status && p->exit_status != VT_NO_STATUS; /* by that exception, perhaps */
    if (o->root.kind == VT_ROOT_EXCEPTION && !died)
        return vt_strdup(
            "the exception's traceback keeps the local variables of all its functions: "
            "do not keep it, or clear it with traceback.clear_frames()");
    if (leak->growth && container && copy && copy[0])
        return vt_formatted("keep %s of each in `%.*s`, or drop old ones", copy, name, o->holder);
    return NULL;
}
