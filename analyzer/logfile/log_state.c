/* SPDX-License-Identifier: MIT */
/*
 * Saves and loads the state of a log: its tables, and the position of the passes (log_passes.c). The header,
 * the live list and LOG.nvml are read again. For summary.c.
 *
 * Pointers from one table into another are not saved: vt_log_link_owners and vt_log_sort_modules restore them after
 * each read.
 */
#include "log_tables.h"

#include <stdlib.h>
#include <string.h>

/* A text that is never NULL. */
static void text_state(struct vt_state *s, char **text) {
    vt_state_text(s, text);
    if (!*text)
        *text = vt_strdup("");
}

#define VT_STATE_TEXTS(s, texts, count, room)                                                      \
    do {                                                                                           \
        VT_STATE_ROWS(s, texts, count, room);                                                      \
        for (size_t i_ = 0; i_ < (count); i_++)                                                    \
            text_state(s, &(texts)[i_]);                                                           \
    } while (0)

#define END_TEXT(s, field) ((s)->loading ? (void)((field)[sizeof(field) - 1] = 0) : (void)0)

/* --- stacks --- */

/* Whether a stack's frames exist, and each is the index of a word. */
static bool has_frames(const struct vt_log *log, const struct vt_log_stack *stack) {
    uint64_t at = stack->frames;
    for (uint32_t i = 0; i < stack->count; i++) {
        uint64_t number = 0;
        unsigned bits = 0;
        do {
            if (at >= log->frame_bytes || bits > 28)
                return false;
            number |= (uint64_t)(log->frames[at] & 0x7f) << bits;
            bits += 7;
        } while (log->frames[at++] & 0x80);
        if (number >= log->word_count)
            return false;
    }
    return stack->frames <= log->frame_bytes;
}

static void stacks_state(struct vt_log *log, struct vt_state *s) {
    VT_STATE_SECTION(s, "stacks", *log->stacks);
    VT_STATE_ARRAY(s, log->words, log->word_count, log->word_room);
    VT_STATE_ARRAY(s, log->frames, log->frame_bytes, log->frame_room);
    VT_STATE_ARRAY(s, log->stacks, log->stack_count, log->stack_room);
    vt_state_map(s, &log->stack_numbers, log->stack_count);
    if (!s->loading || !log->stack_count)
        return;
    log->unpacked = vt_alloc(UINT16_MAX, sizeof *log->unpacked);
    if (!log->frames)
        log->frames =
            vt_alloc(log->frame_room = 1, 1); /* even stacks without frames need an address */
    vt_map_reserve(&log->word_numbers, log->word_count);
    for (uint32_t i = 0; i < log->word_count; i++)
        vt_map_put(&log->word_numbers, log->words[i], i);
    for (size_t i = 0; i < log->stack_count; i++)
        if (!has_frames(log, &log->stacks[i]))
            vt_state_refuse(s, "expected the frames of stack %zu, found others", i);
}

/* --- modules, code and names --- */

static void modules_state(struct vt_log *log, struct vt_state *s) {
    VT_STATE_SECTION(s, "modules", *log->modules);
    VT_STATE_ROWS(s, log->modules, log->module_count, log->module_room);
    for (size_t i = 0; i < log->module_count; i++) {
        struct vt_log_module *m = &log->modules[i];
        VT_STATE_BUT(s, *m, path);
        END_TEXT(s, m->build_id);
        text_state(s, &m->path);
    }
}

static void code_state(struct vt_log *log, struct vt_state *s) {
    VT_STATE_SECTION(s, "code", *log->codes);
    VT_STATE_ROWS(s, log->codes, log->code_count, log->code_room);
    for (size_t i = 0; i < log->code_count; i++) {
        VT_STATE_BUT_TO(s, log->codes[i], name, file);
        text_state(s, &log->codes[i].name);
        text_state(s, &log->codes[i].file);
    }
    vt_state_map(s, &log->code_numbers, log->code_count);
    VT_STATE_TEXTS(s, log->lines, log->line_count, log->line_room);
    vt_state_map(s, &log->line_keys, log->line_count);
}

static void names_state(struct vt_log *log, struct vt_state *s) {
    VT_STATE_SECTION(s, "names", *log->variables);
    VT_STATE_ARRAY(s, log->threads, log->thread_count, log->thread_room);
    for (size_t i = 0; i < log->thread_count; i++)
        END_TEXT(s, log->threads[i].name);
    VT_STATE_TEXTS(s, log->notes, log->note_count, log->note_room);
    vt_state_map(s, &log->note_keys, log->note_count);
    VT_STATE_TEXTS(s, log->names, log->name_count, log->name_room);
    vt_state_map(s, &log->name_numbers, log->name_count);
    VT_STATE_ROWS(s, log->variables, log->variable_count, log->variable_room);
    for (size_t i = 0; i < log->variable_count; i++) {
        text_state(s, &log->variables[i].name);
        text_state(s, &log->variables[i].value);
    }
}

static void devices_state(struct vt_log *log, struct vt_state *s) {
    VT_STATE_SECTION(s, "devices", *log->devices);
    VT_STATE_ARRAY(s, log->devices, log->device_count, log->device_room);
    VT_STATE_BOOLS(s, log->devices, log->device_count, has_uuid);
    for (size_t i = 0; i < log->device_count; i++) {
        END_TEXT(s, log->devices[i].name);
        vt_state_within(s, log->devices[i].ordinal, VT_DEVICE_HOST, "devices");
    }
}

/* --- phases --- */

static void phases_state(struct vt_log *log, struct vt_state *s) {
    VT_STATE_SECTION(s, "phases", *log->phases);
    VT_STATE_ARRAY(s, log->phases, log->phase_count, log->phase_room);
    VT_STATE_BOOLS(s, log->phases, log->phase_count, of_thread);
    for (size_t i = 0; i < log->phase_count; i++) {
        const struct vt_log_phase *phase = &log->phases[i];
        if (phase->name != VT_MAP_NONE)
            vt_state_within(s, phase->name, log->name_count, "names");
        if (phase->domain != VT_MAP_NONE)
            vt_state_within(s, phase->domain, log->name_count, "names");
    }
    VT_STATE_ARRAY(s, log->phase_rows, log->phase_row_count, log->phase_row_room);
    VT_STATE_BOOLS(s, log->phase_rows, log->phase_row_count, of_thread);
    vt_state_map(s, &log->phase_ranges, log->phase_count);
}

/* --- owners --- */

static void step_state(struct vt_log_step *step, struct vt_state *s) {
    struct vt_log_step plain = *step;
    plain.around = NULL;
    plain.name = plain.type = NULL;
    VT_STATE(s, plain);
    if (s->loading) {
        *step = plain;
        step->around = NULL;
        step->name = step->type = NULL;
    }
    VT_STATE_BOOLS(s, step, 1, many);
    VT_STATE_BOOLS(s, step, 1, repeats);
    VT_STATE_BOOLS(s, step, 1, in_doubt);
    VT_STATE_BOOLS(s, step, 1, lost);
    text_state(s, &step->name);
    text_state(s, &step->type);
}

static void steps_state(struct vt_log *log, struct vt_state *s) {
    VT_STATE_SECTION(s, "steps", *log->steps);
    VT_STATE_ROWS(s, log->steps, log->step_count, log->step_room);
    for (uint32_t i = 0; i < log->step_count; i++) {
        struct vt_log_step *step = &log->steps[i];
        step_state(step, s);
        bool begins = step->parent == VT_MAP_NONE || !vt_state_within(s, step->parent, i, "steps");
        if (s->loading)
            step->root = begins ? i : log->steps[step->parent].root;
    }
    vt_state_map(s, &log->step_numbers, log->step_count);
    VT_STATE_ROWS(s, log->unlinked, log->unlinked_count, log->unlinked_room);
    for (size_t i = 0; i < log->unlinked_count; i++)
        step_state(&log->unlinked[i], s);
}

static void around_state(struct vt_log_around_of *of, struct vt_state *s) {
    struct vt_log_around *around = &of->around;
    uint32_t halves = around->halves ? around->count / 2 : 0, room = 0;
    VT_STATE(s, of->step);
    VT_STATE(s, of->number);
    VT_STATE(s, of->parent);
    VT_STATE(s, of->hop);
    VT_STATE(s, around->before);
    VT_STATE(s, around->offset);
    VT_STATE_ARRAY(s, around->halves, halves, room);
    if (!s->loading)
        return;
    around->count = 2 * halves;
    if (halves ? around->before >= around->count : !of->step || !of->hop)
        vt_state_refuse(s, "expected the bytes around a word, found %u bytes before it of %u",
                        around->before, around->count);
}

static void owners_state(struct vt_log *log, struct vt_state *s) {
    VT_STATE_SECTION(s, "owners", *log->arounds);
    VT_STATE_ROWS(s, log->arounds, log->around_count, log->around_room);
    for (size_t i = 0; i < log->around_count; i++)
        around_state(&log->arounds[i], s);
    VT_STATE_ARRAY(s, log->owned, log->owned_count, log->owned_room);
    for (size_t i = 0; i < log->owned_count; i++)
        if (log->owned[i].entry.step != VT_MAP_NONE)
            vt_state_within(s, log->owned[i].entry.step, log->step_count, "steps");
    VT_STATE_ARRAY(s, log->owned_rows, log->owned_row_count, log->owned_row_room);
    VT_STATE(s, log->owned_taken);
    VT_STATE_ARRAY(s, log->snapshots, log->snapshot_count, log->snapshot_room);
    VT_STATE_ARRAY(s, log->missed, log->missed_count, log->missed_room);
    VT_STATE(s, log->scan);
    VT_STATE_ARRAY(s, log->lost, log->lost_count, log->lost_room);
}

/* --- all --- */

static void damage_state(struct vt_log *log, struct vt_state *s) {
    VT_STATE_SECTION(s, "damage", *log->damage);
    VT_STATE_ROWS(s, log->damage, log->damage_count, log->damage_room);
    for (size_t i = 0; i < log->damage_count; i++) {
        VT_STATE_BUT(s, log->damage[i], what);
        text_state(s, &log->damage[i].what);
    }
}

void vt_log_state(struct vt_log *log, uint64_t until, struct vt_state *s) {
    VT_STATE_SECTION(s, "log", *log);
    stacks_state(log, s);
    modules_state(log, s);
    code_state(log, s);
    names_state(log, s);
    devices_state(log, s);
    phases_state(log, s);
    steps_state(log, s);
    owners_state(log, s);
    damage_state(log, s);
    VT_STATE(s, log->events);
    vt_log_passes_state(log, until, s);
}
