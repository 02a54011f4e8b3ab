/* SPDX-License-Identifier: MIT */
/*
 * Python objects that are held only by each other: garbage that the collector has not freed yet. They are searched for
 * last, among the objects to which nothing else led (the suspects). Called by roots.c.
 *
 * We apply the collector's own method to the collector's lists: from each suspect's reference count, we subtract the
 * references that come from suspects. If any remain, something else holds the object, and everything to which it leads.
 * References that we cannot find also remain, so nothing in use is called garbage. A cycle is named after a class
 * instance in it, if any.
 */
#include "pyobjects.h"
#include "owners/address_table.h"

#include <string.h>

#define GENERATION    24u
#define GC_HEAD       16u
#define LINK_TAGS     3u
#define MOST_OBJECTS  (1u << 26)
#define MOST_SUSPECTS (1u << 21) /* with more, we find less garbage */
#define TABLE_MOST    ((size_t)64 << 20)
#define MOST_LOOK     512u /* objects to visit when testing for a cycle */
/* max cycle tests of builtin-only objects; the rest stay unnamed */
#define MOST_APART    65536u

/* Offsets at which the lists may begin: three generations, and gc.freeze()'s list (after a pointer, except in 3.14).
 * Some builds of 3.13 align the generations to half a word; their lists begin half a word earlier. */
static const int8_t lists[] = {
    0,  GENERATION,     2 * GENERATION,    3 * GENERATION, 3 * GENERATION + 8,
    -4, GENERATION - 4, 2 * GENERATION - 4};

struct suspect {
    uintptr_t object;
    int64_t references; /* references that do not come from a suspect */
    uint32_t mark;      /* HELD, or the number of the last test that visited it */
    uint32_t beside;    /* another suspect in the same table entry; 0: none */
    bool named;
};
#define HELD UINT32_MAX

/* Static: only one snapshot runs at a time. */
static struct {
    struct suspect *suspects;
    struct vt_address_table addresses; /* numbers of suspects */
    uint32_t *queue;
    uint32_t count, queued, look;
    uint32_t sought; /* the suspect that the test wants to meet again */
    bool met;
} cycles;

/* An object's number as a suspect; 0: it is not one. */
static uint32_t suspect_of(uintptr_t object) {
    const uint32_t *entry = vt_address_find(&cycles.addresses, object);
    uint32_t number = entry ? *entry : 0;
    while (number && cycles.suspects[number].object != object)
        number = cycles.suspects[number].beside;
    return number;
}

/* An object is a suspect if nothing led to it. */
static void add_suspect(struct vt_owners *w, uintptr_t object) {
    if (vt_owners_is_reached(w, object))
        return;
    if (cycles.count == MOST_SUSPECTS) {
        vt_owners_in_doubt(w);
        return;
    }
    int64_t references = (int64_t)vt_owners_word(w, object);
    if (vt_py->minor >= 12) /* half a word, negative for immortal objects */
        references = (int32_t)references < 0 ? INT32_MAX : (int32_t)references;
    cycles.suspects[cycles.count++] = (struct suspect){.object = object, .references = references};
}

/* Whether a list begins here: its first object refers back, or the list is empty. */
static bool is_list(struct vt_owners *w, uintptr_t head) {
    uintptr_t first = vt_owners_word(w, head) & ~(uintptr_t)LINK_TAGS;
    return first && (vt_owners_word(w, first + 8) & ~(uintptr_t)LINK_TAGS) == head;
}

static void add_suspects(struct vt_owners *w, uintptr_t interpreter) {
    /* Up to 3.8, all interpreters share one collector. */
    uintptr_t heads = (vt_py->minor == 8 ? vt_pyimage.runtime : interpreter) + vt_py->generations;
    uint32_t most = MOST_OBJECTS;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        uintptr_t head = heads + (uintptr_t)(intptr_t)lists[i];
        if (!is_list(w, head))
            continue;
        uintptr_t link = vt_owners_word(w, head) & ~(uintptr_t)LINK_TAGS;
        for (; link && link != head && most && vt_owners_may_continue(w); most--) {
            add_suspect(w, link + GC_HEAD);
            link = vt_owners_word(w, link) & ~(uintptr_t)LINK_TAGS;
        }
    }
}

static bool make_table(struct vt_owners *w) {
    cycles.queue = vt_owners_map(w, (cycles.count + MOST_LOOK + 1) * sizeof *cycles.queue);
    if (!cycles.queue || !vt_address_table_open(w, &cycles.addresses, TABLE_MOST))
        return false;
    for (uint32_t i = 1; i < cycles.count; i++) {
        uint32_t *entry = vt_address_enter(w, &cycles.addresses, cycles.suspects[i].object);
        if (!entry)
            return false;
        cycles.suspects[i].beside = *entry;
        *entry = i;
    }
    return true;
}

void vt_py_forget_cycles(void) {
    memset(&cycles, 0, sizeof cycles);
    vt_py_raw = NULL;
}

static void traverse(struct vt_owners *w, uint32_t suspect, vt_pyraw *visit) {
    uintptr_t object = cycles.suspects[suspect].object;
    const struct vt_owners_type *type = vt_owners_type_of(w, object);
    if (!type || type->leaf)
        return;
    vt_py_raw = visit;
    vt_py_read(w, object, type);
    vt_py_raw = NULL;
}

static void subtract_reference(struct vt_owners *w, uintptr_t to) {
    (void)w;
    cycles.suspects[suspect_of(to)].references--; /* suspect 0, unused, stands for other objects */
}

static void hold_suspect(struct vt_owners *w, uintptr_t to) {
    uint32_t suspect = suspect_of(to);
    (void)w;
    if (suspect && cycles.suspects[suspect].mark != HELD) {
        cycles.suspects[suspect].mark = HELD;
        cycles.queue[cycles.queued++] = suspect;
    }
}

static void visit_suspect(struct vt_owners *w, uintptr_t to) {
    uint32_t suspect = suspect_of(to);
    (void)w;
    cycles.met |= suspect && suspect == cycles.sought;
    if (!suspect || cycles.suspects[suspect].mark >= cycles.look || cycles.queued >= MOST_LOOK)
        return;
    cycles.suspects[suspect].mark = cycles.look;
    cycles.queue[cycles.queued++] = suspect;
}

static bool is_in_cycle(struct vt_owners *w, uint32_t suspect) {
    cycles.look++;
    cycles.sought = suspect;
    cycles.met = false;
    cycles.queued = 1;
    cycles.queue[0] = suspect;
    for (uint32_t i = 0; i < cycles.queued && !cycles.met; i++)
        traverse(w, cycles.queue[i], visit_suspect);
    return cycles.met;
}

/* Reports the cycles that contain an instance of a class, or the remaining ones, which have only builtin types. */
static void name_some_cycles(struct vt_owners *w, bool of_classes) {
    uint32_t looks = 0;
    for (uint32_t i = 1; i < cycles.count && vt_owners_may_continue(w); i++) {
        const struct suspect *s = &cycles.suspects[i];
        const struct vt_owners_type *type =
            s->mark == HELD ? NULL : vt_owners_type_of(w, s->object);
        char name[VT_OWNERS_TEXT_MOST];
        if (!type || type->leaf || of_classes != ((type->flags & VT_PYFLAG_HEAP) != 0) ||
            (!of_classes && (vt_owners_is_reached(w, s->object) || looks++ >= MOST_APART)) ||
            !is_in_cycle(w, i))
            continue;
        cycles.suspects[i].named = true;
        struct vt_root root = {
            .level = VT_LEVEL_CYCLE,
            .kind = VT_STEP_CYCLE,
            .name = vt_py_class(w, type->address, name, sizeof name),
        };
        if (vt_owners_root(w, &root))
            vt_py_part(w, s->object);
    }
}

/* Whether the garbage contains frames that have returned. */
static bool has_frames(struct vt_owners *w) {
    for (uint32_t i = 1; i < cycles.count && vt_owners_may_continue(w); i++) {
        const struct suspect *s = &cycles.suspects[i];
        const struct vt_owners_type *type =
            s->mark == HELD ? NULL : vt_owners_type_of(w, s->object);
        if (type && (type->reader == VT_PYREAD_FRAME || type->reader == VT_PYREAD_TRACEBACK))
            return true;
    }
    return false;
}

static void name_cycles(struct vt_owners *w) {
    name_some_cycles(w, true);
    /* Everything to which these cycles lead has a name now. */
    cycles.queued = 0;
    for (uint32_t i = 1; i < cycles.count; i++)
        if (cycles.suspects[i].named)
            hold_suspect(w, cycles.suspects[i].object);
    for (uint32_t i = 0; i < cycles.queued && vt_owners_may_continue(w); i++)
        traverse(w, cycles.queue[i], hold_suspect);
    /* Exceptions and their frames hold each other. A growth snapshot's owner, found while the frame ran, tells more. */
    if (!has_frames(w))
        name_some_cycles(w, false);
}

/* Finds the suspects of an interpreter, and which of them are held. False: not all could be examined. */
static bool find_suspects(struct vt_owners *w, uintptr_t interpreter) {
    memset(&cycles, 0, sizeof cycles);
    cycles.suspects = vt_owners_map(w, MOST_SUSPECTS * sizeof *cycles.suspects);
    if (!cycles.suspects)
        return false;
    cycles.count = 1; /* 0 means none */
    add_suspects(w, interpreter);
    if (cycles.count == 1 || !make_table(w))
        return false;
    for (uint32_t i = 1; i < cycles.count && vt_owners_may_continue(w); i++)
        traverse(w, i, subtract_reference);
    for (uint32_t i = 1; i < cycles.count; i++)
        if (cycles.suspects[i].references > 0)
            hold_suspect(w, cycles.suspects[i].object);
    for (uint32_t i = 0; i < cycles.queued && vt_owners_may_continue(w); i++)
        traverse(w, cycles.queue[i], hold_suspect);
    return vt_owners_may_continue(w);
}

void vt_py_cycles(struct vt_owners *w, uintptr_t interpreter) {
    if (vt_py->generations && find_suspects(w, interpreter))
        name_cycles(w);
}
