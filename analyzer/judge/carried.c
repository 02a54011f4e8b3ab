/* SPDX-License-Identifier: MIT */
/*
 * What a loop carries from round to round (see carried.h): "out, hidden = model(x, hidden)". Its
 * graph is kept whole where a backward pass retains it, or where a recurrent layer only runs
 * forward. Any other loop may carry a number, so nothing is said of it.
 */
#define _GNU_SOURCE /* memmem */
#include "carried.h"
#include "containers.h"

#include <string.h>

static const char *const recurrent[] = {"RNN.forward",     "GRU.forward",     "LSTM.forward",
                                        "RNNCell.forward", "GRUCell.forward", "LSTMCell.forward",
                                        "RNNBase.forward"};

static bool is_recurrent(const struct vt_stack *stack) {
    for (uint32_t i = 0; i < stack->count; i++)
        for (size_t j = 0; j < sizeof recurrent / sizeof *recurrent; j++)
            if (vt_same_text(stack->frames[i].function, recurrent[j]))
                return true;
    return false;
}

/* Whether an expression has a variable itself, not only what is made of it ("hidden.detach()"). */
static bool mentions(struct vt_pytext value, struct vt_pytext name) {
    for (size_t i = 0, dotted; i < value.length; i += dotted ? dotted : 1) {
        struct vt_pytext rest = {value.at + i, value.length - i};
        dotted = vt_pytext_dotted(rest);
        if (dotted == name.length && !memcmp(rest.at, name.at, dotted))
            return true;
    }
    return false;
}

/* The variable that a statement's call takes and hands back. */
static bool find_name(const char *text, struct vt_pytext *name) {
    struct vt_pytext targets, value;
    char sign;
    if (!vt_containers_assignment((struct vt_pytext){text, strlen(text)}, &targets, &value,
                                  &sign) ||
        sign)
        return false;
    size_t callee = vt_pytext_dotted(value);
    if (callee >= value.length || value.at[callee] != '(' ||
        memmem(value.at, value.length, "detach", 6))
        return false;
    struct vt_pytext arguments = {value.at + callee, value.length - callee};
    targets = vt_pytext_strip(targets);
    while (vt_pytext_part(&targets, ',', name)) {
        *name = vt_pytext_strip(*name);
        if (name->length && name->length < VT_PYNAME_BYTES &&
            vt_pytext_dotted(*name) == name->length && mentions(arguments, *name))
            return true;
    }
    return false;
}

/* Whether a statement runs in each round of the loop that it lies in. */
static bool is_always_run(const struct vt_pysource *s, uint32_t i) {
    uint32_t above = vt_pysource_above(s, i);
    while (above != VT_NO_STATEMENT && vt_pysource_begins(s->statements[above].text, "with"))
        above = vt_pysource_above(s, above);
    return above == VT_NO_STATEMENT || vt_pysource_is_loop(s->statements[above].text);
}

/* Whether a statement gives a variable another value, or detaches it. */
static bool replaces(const char *text, struct vt_pytext name) {
    struct vt_pytext whole = {text, strlen(text)}, targets, value;
    char sign;
    if (strstr(text, "detach") && memmem(text, whole.length, name.at, name.length))
        return true;
    if (!vt_containers_assignment(whole, &targets, &value, &sign))
        return false;
    return mentions(targets, name);
}

static bool is_carried(const struct vt_pysource *s, uint32_t at, struct vt_pytext name) {
    uint32_t outer = vt_containers_loop(s, at), above = outer;
    while ((above = vt_containers_loop(s, above)) != VT_NO_STATEMENT)
        outer = above;
    for (uint32_t i = outer + 1; i < vt_pysource_end(s, outer); i++)
        if (i != at && is_always_run(s, i) && replaces(s->statements[i].text, name))
            return false;
    return true;
}

static bool retains(const struct vt_pysource *s) {
    for (uint32_t i = 0; i < s->count; i++)
        if (strstr(s->statements[i].text, "retain_graph=True"))
            return true;
    return false;
}

bool vt_carried_find(struct vt_pyfiles *files, const struct vt_stack *stack,
                     struct vt_carried *carried) {
    const struct vt_pysource *source = NULL;
    uint32_t statement = VT_NO_STATEMENT;
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct vt_frame *f = &stack->frames[i];
        if (!f->python || !f->user_code)
            continue;
        const struct vt_pysource *s = vt_pyfiles_get(files, f->file);
        uint32_t at = vt_pysource_frame(s, f);
        if (at == VT_NO_STATEMENT)
            return false;
        if (vt_containers_loop(s, at) == VT_NO_STATEMENT)
            continue;
        source = s;
        statement = at;
        carried->file = f->file;
        carried->line = f->line;
    }
    struct vt_pytext name;
    if (!source || !find_name(source->statements[statement].text, &name) ||
        !is_carried(source, statement, name) || (!retains(source) && !is_recurrent(stack)))
        return false;
    memcpy(carried->name, name.at, name.length);
    carried->name[name.length] = 0;
    return true;
}
