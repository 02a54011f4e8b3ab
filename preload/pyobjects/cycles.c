/* SPDX-License-Identifier: MIT */
/*
 * Objects of Python that only hold each other: garbage that the collector has not seen yet. Asked
 * for last, of the objects that nothing else led to. Called by roots.c.
 *
 * It is the collector's own method, on what its lists have. From each object's count of references
 * those are taken that come from other such objects; where some are left, something else holds it,
 * and all that it leads to. A reference that is not known here is left over too, so what is called
 * garbage is garbage. To give names, a cycle begins at an object of a class, if it has one.

 */
#include "pyobjects.h"
#include "owners/places.h"

#include <string.h>

#define GENERATION    24u
#define GC_HEAD       16u
#define LINK_TAGS     3u
#define MOST_OBJECTS  (1u << 26)
#define MOST_SUSPECTS (1u << 21) /* with further ones, less is called garbage */
#define TABLE_MOST    ((size_t)64 << 20)
#define MOST_LOOK     512u   /* objects looked at to see whether one is in a cycle */
#define MOST_APART    65536u /* objects that something unknown holds; further ones are one step */

/* Where the lists may begin: three generations, a pointer (not in 3.14), and the one that gc.freeze()
 * fills. Some builds of 3.13 align the generations to half a word, so they begin before that. */
static const int8_t lists[] = {
    0,  GENERATION,     2 * GENERATION,    3 * GENERATION, 3 * GENERATION + 8,
    -4, GENERATION - 4, 2 * GENERATION - 4};

struct suspect {
    uintptr_t object;
    int64_t references; /* those that do not come from a suspect */
    uint32_t mark;      /* HELD, or the number of the look that last came by */
    uint32_t beside;    /* another one of the same place; 0: none */
    bool named;
};
#define HELD UINT32_MAX

/* One snapshot is taken at a time. */
static struct {
    struct suspect *suspects;
    struct vt_owners_places places; /* numbers of suspects */
    uint32_t *queue;
    uint32_t count, queued, look;
    uint32_t sought; /* the suspect that a look wants to meet again */
    bool met;
} cycles;

/* The number of a suspect; 0: it is none. */
static uint32_t suspect_of(uintptr_t object) {
    const uint32_t *place = vt_owners_place_at(&cycles.places, object);
    uint32_t number = place ? *place : 0;
    while (number && cycles.suspects[number].object != object)
        number = cycles.suspects[number].beside;
    return number;
}

/* An object is a suspect if nothing led to it. */
static void take_object(struct vt_owners *w, uintptr_t object) {
    if (vt_owners_seen(w, object))
        return;
    if (cycles.count == MOST_SUSPECTS) {
        vt_owners_in_doubt(w);
        return;
    }
    int64_t references = (int64_t)vt_owners_word(w, object);
    if (vt_py->minor >= 12) /* half a word, negative for objects that live for ever */
        references = (int32_t)references < 0 ? INT32_MAX : (int32_t)references;
    cycles.suspects[cycles.count++] = (struct suspect){.object = object, .references = references};
}

/* Whether a list begins here: its first object leads back, or it is empty. */
static bool is_list(struct vt_owners *w, uintptr_t head) {
    uintptr_t first = vt_owners_word(w, head) & ~(uintptr_t)LINK_TAGS;
    return first && (vt_owners_word(w, first + 8) & ~(uintptr_t)LINK_TAGS) == head;
}

static void take_objects(struct vt_owners *w, uintptr_t interpreter) {
    /* To 3.8, all interpreters have one collector. */
    uintptr_t heads = (vt_py->minor == 8 ? vt_pyimage.runtime : interpreter) + vt_py->generations;
    uint32_t most = MOST_OBJECTS;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        uintptr_t head = heads + (uintptr_t)(intptr_t)lists[i];
        if (!is_list(w, head))
            continue;
        uintptr_t link = vt_owners_word(w, head) & ~(uintptr_t)LINK_TAGS;
        for (; link && link != head && most && vt_owners_goes_on(w); most--) {
            take_object(w, link + GC_HEAD);
            link = vt_owners_word(w, link) & ~(uintptr_t)LINK_TAGS;
        }
    }
}

/* Makes the table of all suspects. */
static bool make_table(struct vt_owners *w) {
    cycles.queue = vt_owners_map(w, (cycles.count + MOST_LOOK + 1) * sizeof *cycles.queue);
    if (!cycles.queue || !vt_owners_places_open(w, &cycles.places, TABLE_MOST))
        return false;
    for (uint32_t i = 1; i < cycles.count; i++) {
        uint32_t *place = vt_owners_place_for(w, &cycles.places, cycles.suspects[i].object);
        if (!place)
            return false;
        cycles.suspects[i].beside = *place;
        *place = i;
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

static void take_reference(struct vt_owners *w, uintptr_t to) {
    (void)w;
    cycles.suspects[suspect_of(to)]
        .references--; /* of suspect 0, which is none, if it is unknown */
}

static void hold_suspect(struct vt_owners *w, uintptr_t to) {
    uint32_t suspect = suspect_of(to);
    (void)w;
    if (suspect && cycles.suspects[suspect].mark != HELD) {
        cycles.suspects[suspect].mark = HELD;
        cycles.queue[cycles.queued++] = suspect;
    }
}

static void look_at_suspect(struct vt_owners *w, uintptr_t to) {
    uint32_t suspect = suspect_of(to);
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
        traverse(w, cycles.queue[i], look_at_suspect);
    return cycles.met;
}

/* Names the cycles with an object of a class, or those that are left, which have only builtin types. */
static void name_some_cycles(struct vt_owners *w, bool of_classes) {
    uint32_t looks = 0;
    for (uint32_t i = 1; i < cycles.count && vt_owners_goes_on(w); i++) {
        const struct suspect *s = &cycles.suspects[i];
        const struct vt_owners_type *type =
            s->mark == HELD ? NULL : vt_owners_type_of(w, s->object);
        char name[VT_OWNERS_TEXT_MOST];
        if (!type || type->leaf || of_classes != ((type->flags & VT_PYFLAG_HEAP) != 0) ||
            (!of_classes && (vt_owners_seen(w, s->object) || looks++ >= MOST_APART)) ||
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

/* Whether frames that returned are among what only the collector would free. */
static bool has_frames(struct vt_owners *w) {
    for (uint32_t i = 1; i < cycles.count && vt_owners_goes_on(w); i++) {
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
    /* What these lead to has a name. */
    cycles.queued = 0;
    for (uint32_t i = 1; i < cycles.count; i++)
        if (cycles.suspects[i].named)
            hold_suspect(w, cycles.suspects[i].object);
    for (uint32_t i = 0; i < cycles.queued && vt_owners_goes_on(w); i++)
        traverse(w, cycles.queue[i], hold_suspect);
    /* Exceptions and their frames hold each other. What held them while a frame still ran, which was
     * seen as memory grew, tells more. */
    if (!has_frames(w))
        name_some_cycles(w, false);
}

/* Finds the suspects of an interpreter, and which of them are held. False: not all could be looked at. */
static bool find_suspects(struct vt_owners *w, uintptr_t interpreter) {
    memset(&cycles, 0, sizeof cycles);
    cycles.suspects = vt_owners_map(w, MOST_SUSPECTS * sizeof *cycles.suspects);
    if (!cycles.suspects)
        return false;
    cycles.count = 1; /* 0 is none */
    take_objects(w, interpreter);
    if (cycles.count == 1 || !make_table(w))
        return false;
    for (uint32_t i = 1; i < cycles.count && vt_owners_goes_on(w); i++)
        traverse(w, i, take_reference);
    for (uint32_t i = 1; i < cycles.count; i++)
        if (cycles.suspects[i].references > 0)
            hold_suspect(w, cycles.suspects[i].object);
    for (uint32_t i = 0; i < cycles.queued && vt_owners_goes_on(w); i++)
        traverse(w, cycles.queue[i], hold_suspect);
    return vt_owners_goes_on(w);
}

void vt_py_cycles(struct vt_owners *w, uintptr_t interpreter) {
    if (vt_py->generations && find_suspects(w, interpreter))
        name_cycles(w);
}
