/* SPDX-License-Identifier: MIT */
/*
 * Merges two stacks into one: the native frames, including the interpreter's loop, and the Python frames that
 * the loop ran. stack.c calls this for a new stack.
 *
 * A call of the loop keeps an object, the anchor, on its C stack, and the Python chain holds the anchor's address. The
 * native frame that contains the anchor is that call, whatever its symbol, and even without one (some builds split the
 * loop's function, so that its symbol covers a thousandth of it). Python 3.8 and 3.9 leave no anchor. For these, we
 * match the frames whose return address is in the loop's function, in order.
 */
#include "python.h"

struct merger {
    const struct vt_merge *in;
    uint64_t *out;
    size_t n;
};

static void put_python(struct merger *m, uint32_t group) {
    const struct vt_pygroup *g = &m->in->python->groups[group];
    for (uint32_t i = 0; i < g->count; i++)
        m->out[m->n++] = VT_MERGED_PYTHON | (g->first + i);
}

static void put_native(struct merger *m, size_t i) {
    uint64_t address = m->in->address[i];
    m->out[m->n++] = m->in->owns(address) ? address | VT_MERGED_INTERPRETER : address;
}

/* Whether the anchors are usable: all are present and on this stack, each further out than the previous one. */
static bool anchors_hold(const struct vt_merge *in) {
    const struct vt_pystack *py = in->python;
    uint64_t before = 0;
    if (in->sp == NULL)
        return false;
    for (uint32_t g = 0; g < py->n_groups; g++) {
        uint64_t anchor = py->groups[g].anchor;
        /* The outermost group of a truncated chain may lack its end. */
        if (anchor == 0 && g > 0 && g + 1 == py->n_groups && py->truncated)
            continue;
        if (anchor <= before || (in->n > 0 && anchor < in->sp[0]))
            return false;
        before = anchor;
    }
    return true;
}

static bool is_loop_of(const struct vt_merge *in, size_t i, uint32_t group, bool by_anchor) {
    if (!by_anchor)
        return in->is_eval(in->address[i]);
    uint64_t anchor = in->python->groups[group].anchor;
    return anchor >= in->sp[i] && i + 1 < in->n && anchor < in->sp[i + 1];
}

size_t vt_python_merge(const struct vt_merge *in, uint64_t *out, bool *unordered) {
    const struct vt_pystack *py = in->python;
    struct merger m = {.in = in, .out = out};
    uint32_t group = 0;
    bool by_anchor = anchors_hold(in), loops_left = false;
    bool can = by_anchor || (py->n_groups > 0 && py->groups[0].anchor == 0);
    *unordered = false;
    for (size_t i = 0; can && i < in->n; i++) {
        if (group < py->n_groups && is_loop_of(in, i, group, by_anchor))
            put_python(&m, group++);
        else if (!by_anchor && in->is_eval(in->address[i]))
            loops_left = true;
        put_native(&m, i);
    }
    /* The remaining groups must belong to native frames that were cut off; otherwise the two stacks do not match. */
    bool rest_is_outside = in->cut;
    if (can && !rest_is_outside && group + 1 == py->n_groups && in->n > 0)
        rest_is_outside = by_anchor && py->groups[group].anchor >= in->sp[in->n - 1];
    if (can && (group == py->n_groups || rest_is_outside) && !(loops_left && !py->truncated)) {
        while (group < py->n_groups)
            put_python(&m, group++);
        return m.n;
    }
    *unordered = py->n_groups > 0;
    m.n = 0;
    for (group = 0; group < py->n_groups; group++)
        put_python(&m, group);
    for (size_t i = 0; i < in->n; i++)
        put_native(&m, i);
    return m.n;
}
