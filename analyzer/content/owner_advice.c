/* SPDX-License-Identifier: MIT */
/*
 * Advice for a leak by its owner. advice.c calls this before it looks at names and counts.
 */
#include "sentences.h"

#include "symbols/symbols.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Names of functions that evaluate a model, as shell patterns. Not everything that begins with "test": a test runner
 * also calls such functions. */
static const char *const evaluations[] = {
    "eval",       "eval_*",     "evaluate",     "evaluate_*",  "validate",
    "validate_*", "validation", "val_*",        "predict",     "predict_*",
    "infer",      "inference",  "validation_*", "run_eval*",   "test_epoch",
    "test_loop",  "test_step",  "test_model",   "inference_*",
};

/* Whether an evaluating function of the user allocates it. */
static bool is_evaluating(const struct vt_stack *stack) {
    for (uint32_t i = 0; stack && i < stack->count; i++) {
        const struct vt_frame *f = vt_stack_frame(stack, i);
        const char *name = f->user_code && f->python ? f->function : NULL;
        const char *last = name ? strrchr(name, '.') : NULL;
        for (size_t k = 0; name && k < sizeof evaluations / sizeof *evaluations; k++)
            if (!fnmatch(evaluations[k], last ? last + 1 : name, 0))
                return true;
    }
    return false;
}

static const char kept_traceback[] =
    "the exception's traceback keeps the local variables of its functions: "
    "do not keep it, or use traceback.clear_frames()";

/* The class of the objects at the last step of the name. */
static const char *memory_class(const struct vt_memory_owner *o) {
    return o->name_count ? o->types[o->name_count - 1] : NULL;
}

/* A graph that the program does not need: kept for numbers, or for the next iteration's state. */
static char *advise_graph(const struct vt_memory_owner *o, bool evaluating) {
    int name = (int)o->container_length;
    bool sum = !strncmp(o->graph, "Add", 3) || !strncmp(o->graph, "Sub", 3);
    const char *without = evaluating ? "evaluate under torch.no_grad(), or " : "";
    if (o->graph_chain && sum && o->graphs > 1)
        return vt_formatted("`%.*s` is a sum that keeps the graph of every term: %sadd .item() of "
                            "each, or .detach() it",
                            name, o->container, without);
    if (o->graph_chain)
        return vt_formatted(
            "`%.*s` carries the graph of every iteration on: .detach() it before the "
            "next one",
            name, o->container);
    return vt_formatted("`%.*s` keeps autograd graphs: %skeep .item() of a number, .detach() of a "
                        "tensor",
                        name, o->container, without);
}

/* The step after a container's items that leads from an object into it; 0: none, the items are memory, or dicts and
 * tuples of it. */
static uint32_t step_in_object(const struct vt_memory_owner *o) {
    for (uint32_t i = o->container_steps; i && i < o->name_count; i++)
        if (o->path[i][0] != '[' && o->path[i][0] != '{')
            return i;
    return 0;
}

/* The class of a container's items, if they are objects with memory among other things: the outermost one, below
 * dicts and lists. NULL: unknown, or they are not. */
static const char *object_class(const struct vt_memory_owner *o) {
    static const char *const sorting[] = {"list", "dict", "set", "tuple", "frozenset"};
    for (uint32_t i = o->container_steps, end = step_in_object(o); i && i < end; i++) {
        bool sorts = !o->types[i] || !strncmp(o->types[i], "collections.", 12);
        for (size_t k = 0; k < sizeof sorting / sizeof *sorting; k++)
            sorts |= o->types[i] && !strcmp(o->types[i], sorting[k]);
        if (!sorts)
            return o->types[i];
    }
    return NULL;
}

/* A container that grows because nothing is removed. */
static char *advise_container(const struct vt_memory_owner *o) {
    const char *class = memory_class(o), *copy = class ? vt_roles_host_copy(class) : NULL;
    if (copy && copy[0] && !step_in_object(o))
        return vt_formatted("keep %s of each in `%.*s`, or drop old ones", copy,
                            (int)o->container_length, o->container);
    return NULL;
}

/* --- containers with a remedy of their own --- */

/* The first step of the name, before `end`, that matches a shell pattern; `end`: none. */
static uint32_t find_step(const struct vt_memory_owner *o, const char *pattern, uint32_t end) {
    uint32_t i = 0;
    while (i < end && fnmatch(pattern, o->path[i], 0))
        i++;
    return i;
}

static bool is_class(const struct vt_memory_owner *o, uint32_t step, const char *pattern) {
    return step < o->path_count && o->types[step] && !fnmatch(pattern, o->types[step], 0);
}

/* An optimizer still holds parameters that the model has replaced. For one of many optimizers in a list this is not
 * used: its container is the list. */
static char *advise_optimizer(const struct vt_memory_owner *o) {
    uint32_t groups = find_step(o, ".param_groups", o->container_steps);
    uint32_t at = groups < o->container_steps ? groups : find_step(o, ".state", o->container_steps);
    if (!at || at >= o->container_steps || (at != groups && !is_class(o, at - 1, "torch.optim.*")))
        return NULL;
    const struct vt_owner_step *step = &o->steps[at - 1];
    return vt_formatted(
        "`%.*s` still has %sreplaced parameters: make a new optimizer, or delete them from "
        "`%.*s%s`",
        (int)step->length, step->name, at == groups ? "" : "the state of ", (int)step->length,
        step->name, at == groups ? ".param_groups" : ".state");
}

/* Hooks registered again and again. For a single hook that keeps more and more, the container is its list. */
static char *advise_hooks(const struct vt_memory_owner *o) {
    uint32_t at = find_step(o, "._*_hooks", o->name_count);
    if (!at || at + 1 >= o->name_count || strcmp(o->path[at + 1], "[*]"))
        return NULL;
    const struct vt_owner_step *step = &o->steps[at - 1];
    return vt_formatted("each hook registered on `%.*s` stays: keep the handle that registering it "
                        "returns, and call handle.remove()",
                        (int)step->length, step->name);
}

static char *advise_traceback(const struct vt_memory_owner *o) {
    for (uint32_t i = 1; i < o->path_count; i++)
        if (is_class(o, i, "traceback"))
            return is_class(o, i - 2, "logging.LogRecord")
                       ? vt_strdup("a log record with exc_info keeps the local variables of its "
                                   "traceback's functions: keep its text, set exc_info to None")
                       : vt_strdup(kept_traceback);
    return NULL;
}

/* Coroutines and tasks that are not awaited. */
static char *advise_tasks(const struct vt_memory_owner *o) {
    int name = (int)o->container_length;
    uint32_t item = o->container_steps;
    if (is_class(o, item, "coroutine"))
        return vt_formatted("`%.*s` keeps coroutines that were never awaited to their end: await "
                            "them, or close() them",
                            name, o->container);
    if (!is_class(o, item, "*asyncio*.Task"))
        return NULL;
    if (find_step(o, "._coro", o->path_count) < o->path_count)
        return vt_formatted("`%.*s` keeps tasks that have not ended: await them, or cancel() them",
                            name, o->container);
    return vt_formatted("`%.*s` keeps ended tasks with their results: await each, and drop it",
                        name, o->container);
}

/* A function's own cache has no entries that the program can remove. */
static char *advise_cached_function(const struct vt_memory_owner *o) {
    uint32_t at = find_step(o, ".cache", o->name_count);
    if (!at || !is_class(o, at - 1, "functools._lru_cache_wrapper"))
        return NULL;
    const struct vt_owner_step *step = &o->steps[at - 1];
    return vt_formatted("`%.*s` keeps the result of each call: give it a smaller maxsize, or call "
                        "its cache_clear()",
                        (int)step->length, step->name);
}

/* Views keep all of the memory that they show a part of. Copies must free more than they allocate. */
char *vt_owners_advise_views(const struct vt_memory_owner *o) {
    uint64_t bytes = o->bytes + o->host_bytes, seen = bytes - o->unseen_bytes;
    return seen < o->unseen_bytes
               ? vt_formatted("`%.*s` keeps %s for views that see %s: keep .clone() of each",
                              (int)o->container_length, o->container, VT_BYTES(bytes),
                              VT_BYTES(seen))
               : NULL;
}

char *vt_owners_advise(const struct vt_process *p, const struct vt_leak *leak) {
    if (!leak->kept || leak->verdict == VT_VERDICT_LOST) /* the owner of the rest gives no advice */
        return NULL;
    const struct vt_memory_owner *o = &leak->kept->owner;
    bool container =
        o->container_type && o->container[0] != '{' && strcmp(o->name, o->container) != 0;
    if (o->graph)
        return advise_graph(o, is_evaluating(leak->stack));
    if (o->root.kind == VT_ROOT_CYCLE)
        return vt_formatted(
            "only gc.collect() frees it: break the cycle of %s objects, or make one "
            "of its references weak",
            o->root.what ? o->root.what : "Python");
    bool died =
        p->ending.status && p->ending.status != VT_NO_STATUS; /* possibly by that exception */
    if (o->root.kind == VT_ROOT_EXCEPTION && !died)
        return vt_strdup(kept_traceback);
    if (!leak->growth)
        return NULL;
    char *advice = advise_hooks(o);
    advice = advice ? advice : advise_traceback(o);
    advice = advice ? advice : advise_cached_function(o);
    advice = advice ? advice : vt_owners_advise_views(o);
    if (advice || !container)
        return advice;
    advice = advise_optimizer(o);
    advice = advice ? advice : advise_tasks(o);
    return advice ? advice : advise_container(o);
}

char *vt_owners_advise_objects(const struct vt_leak *leak) {
    bool telling = leak->kept && leak->verdict != VT_VERDICT_LOST;
    const struct vt_memory_owner *o = telling ? &leak->kept->owner : NULL;
    if (!leak->growth || !o || !o->container_type || o->container[0] == '{' ||
        /* it has no name */ !strcmp(o->name, o->container))
        return NULL;
    const char *object = object_class(o), *dot = object ? strrchr(object, '.') : NULL;
    return object ? vt_formatted("`%.*s` keeps every %s with its memory: drop old ones",
                                 (int)o->container_length, o->container, dot ? dot + 1 : object)
                  : NULL;
}
