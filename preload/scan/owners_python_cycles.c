/* SPDX-License-Identifier: MIT */
/*
 * Objects of Python that only hold each other: garbage that the collector has not seen yet. Asked
 * for last, of the objects that nothing else led to. Called by owners_python_roots.c.
 *
 * It is the collector's own method, on what its lists have. From each object's count of references
 * those are taken that come from other such objects; where some are left, something else holds it,
 * and all that it leads to. A reference that is not known here is left over too, so what is called
 * garbage is garbage. To give names, a cycle begins at an object of a class.
 */
#include "owners_python.h"

#include "stack/stack.h"

#include <string.h>

#define GENERATIONS  4u /* three, and the one that gc.freeze() fills */
#define GENERATION   24u
#define GC_HEAD      16u
#define LINK_TAGS    3u
#define MOST_OBJECTS (1u << 23)
#define MOST_LOOK    512u /* objects looked at to see whether one is in a cycle */

struct suspect {
    uintptr_t object;
    int64_t references; /* those that do not come from a suspect */
    uint32_t mark;      /* HELD, or the number of the look that last came by */
};
#define HELD UINT32_MAX

/* One snapshot is taken at a time. */
static struct {
    struct suspect *suspects;
    uint32_t *slots, *queue;
    uint32_t count, slot_count, queued, look;
    uint32_t sought; /* the suspect that a look wants to meet again */
    bool met;
} cycles;

static uint32_t *slot_of(uintptr_t object) {
    uint32_t i = (uint32_t)((object >> 4) * 0x9e3779b97f4a7c15ull >> 32) & (cycles.slot_count - 1);
    for (; cycles.slots[i]; i = (i + 1) & (cycles.slot_count - 1))
        if (cycles.suspects[cycles.slots[i]].object == object)
            break;
    return &cycles.slots[i];
}

typedef void visit_object(struct vt_owners *w, uintptr_t object);

static void each_object(struct vt_owners *w, uintptr_t interpreter, visit_object *visit) {
    /* To 3.8, all interpreters have one collector. */
    uintptr_t heads = (vt_owners_py->minor == 8 ? vt_pyimage.runtime : interpreter) +
                      vt_owners_py->interpreter_generations;
    uint32_t most = MOST_OBJECTS;
    for (unsigned i = 0; i < GENERATIONS; i++) {
        uintptr_t head = heads + (uintptr_t)i * GENERATION;
        uintptr_t link = vt_owners_word(w, head) & ~(uintptr_t)LINK_TAGS;
        for (; link && link != head && most && vt_owners_goes_on(w); most--) {
            visit(w, link + GC_HEAD);
            link = vt_owners_word(w, link) & ~(uintptr_t)LINK_TAGS;
        }
    }
}

static void count_object(struct vt_owners *w, uintptr_t object) {
    cycles.count += !vt_owners_seen(w, object);
}

static void take_object(struct vt_owners *w, uintptr_t object) {
    if (vt_owners_seen(w, object) || cycles.count >= cycles.slot_count / 2)
        return;
    uint32_t *slot = slot_of(object);
    if (*slot)
        return;
    int64_t references = (int64_t)vt_owners_word(w, object);
    if (vt_owners_py->minor >= 12) /* half a word, negative for objects that live for ever */
        references = (int32_t)references < 0 ? INT32_MAX : (int32_t)references;
    *slot = cycles.count;
    cycles.suspects[cycles.count++] = (struct suspect){object, references, 0};
}

static void traverse(struct vt_owners *w, uint32_t suspect, vt_pyraw *visit) {
    uintptr_t object = cycles.suspects[suspect].object;
    const struct vt_owners_type *type = vt_owners_type_of(w, object);
    if (!type || type->leaf)
        return;
    vt_owners_py_raw = visit;
    vt_owners_python(w, object, type);
    vt_owners_py_raw = NULL;
}

static void take_reference(struct vt_owners *w, uintptr_t to) {
    (void)w;
    cycles.suspects[*slot_of(to)].references--; /* of suspect 0, which is none, if it is unknown */
}

static void hold(struct vt_owners *w, uintptr_t to) {
    uint32_t suspect = *slot_of(to);
    (void)w;
    if (suspect && cycles.suspects[suspect].mark != HELD) {
        cycles.suspects[suspect].mark = HELD;
        cycles.queue[cycles.queued++] = suspect;
    }
}

static void look_at(struct vt_owners *w, uintptr_t to) {
    uint32_t suspect = *slot_of(to);
    (void)w;
    cycles.met |= suspect && suspect == cycles.sought;
    if (!suspect || cycles.suspects[suspect].mark >= cycles.look || cycles.queued >= MOST_LOOK)
        return;
    cycles.suspects[suspect].mark = cycles.look;
    cycles.queue[cycles.queued++] = suspect;
}

/* Whether an object leads back to itself. */
static bool is_in_cycle(struct vt_owners *w, uint32_t suspect) {
    cycles.look++;
    cycles.sought = suspect;
    cycles.met = false;
    cycles.queued = 1;
    cycles.queue[0] = suspect;
    for (uint32_t i = 0; i < cycles.queued && !cycles.met; i++)
        traverse(w, cycles.queue[i], look_at);
    return cycles.met;
}

static bool make_memory(struct vt_owners *w) {
    cycles.slot_count = 1024;
    while (cycles.slot_count < 2 * cycles.count + 2)
        cycles.slot_count *= 2;
    uint32_t room = cycles.slot_count / 2 + MOST_LOOK + 1;
    cycles.suspects = vt_owners_map(w, room * sizeof *cycles.suspects);
    cycles.queue = vt_owners_map(w, room * sizeof *cycles.queue);
    cycles.slots = vt_owners_map(w, cycles.slot_count * sizeof *cycles.slots);
    return cycles.suspects && cycles.queue && cycles.slots;
}

static void name_cycles(struct vt_owners *w) {
    for (uint32_t i = 1; i < cycles.count && vt_owners_goes_on(w); i++) {
        const struct suspect *s = &cycles.suspects[i];
        const struct vt_owners_type *type =
            s->mark == HELD ? NULL : vt_owners_type_of(w, s->object);
        char name[VT_OWNERS_TEXT_MOST];
        if (!type || !(type->flags & VT_PYFLAG_HEAP) || !is_in_cycle(w, i))
            continue;
        struct vt_root root = {
            .level = VT_LEVEL_CYCLE,
            .kind = VT_STEP_CYCLE,
            .name = vt_owners_python_class(w, type->address, name, sizeof name),
        };
        if (vt_owners_root(w, &root))
            vt_owners_python_part(w, s->object);
    }
}

void vt_owners_python_cycles(struct vt_owners *w, uintptr_t interpreter) {
    if (!vt_owners_py->interpreter_generations)
        return;
    memset(&cycles, 0, sizeof cycles);
    each_object(w, interpreter, count_object);
    if (!cycles.count || !make_memory(w))
        return;
    cycles.count = 1; /* 0 is none */
    each_object(w, interpreter, take_object);
    for (uint32_t i = 1; i < cycles.count && vt_owners_goes_on(w); i++)
        traverse(w, i, take_reference);
    for (uint32_t i = 1; i < cycles.count; i++)
        if (cycles.suspects[i].references > 0)
            hold(w, cycles.suspects[i].object);
    for (uint32_t i = 0; i < cycles.queued && vt_owners_goes_on(w); i++)
        traverse(w, cycles.queue[i], hold);
    if (vt_owners_goes_on(w))
        name_cycles(w);
}
