/* SPDX-License-Identifier: MIT */
/*
 * Asks every question of a report on a log (see all_names.h): names and lines of the frames of all stacks, as
 * stacks.c does, and the variables of all steps, as owner_names.c and analysis/bound.c do.
 */
#include "all_names.h"

#include "model/frame_text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct asking {
    struct vt_all_names *names;
    const struct vt_log *log;
    struct vt_symbols *symbols;
    const struct vt_process *process;
};

static void ask_line(struct asking *a, const char *file, uint32_t line) {
    struct vt_all_names *n = a->names;
    struct vt_frame frame = {.file = file, .line = line};
    uint64_t path = file ? vt_hash_bytes(0, file, strlen(file)) : 0;
    if (!a->process || !file || !line || !vt_map_add_key(&a->names->lines, vt_mix(path + line)))
        return;
    VT_SCOPED char *text = vt_frame_text_source(a->process, &frame, UINT_MAX);
    if (!text)
        return;
    uint32_t index = vt_map_add(&n->by_path, path, n->file_count);
    if (index == n->file_count)
        *VT_ADD(n->files, n->file_count, n->file_room) =
            (struct vt_all_names_file){.path = vt_strdup(file)};
    n->files[index].lines++;
}

static void ask_python(struct asking *a, uint64_t word) {
    uint32_t code = vt_map_get(&a->log->code_numbers, word >> 32 & 0x3fffffff);
    bool has_line = vt_map_get(&a->log->line_keys, word & ~VT_FRAME_PYTHON) != VT_MAP_NONE;
    if (code != VT_MAP_NONE && !has_line)
        ask_line(a, a->log->codes[code].file, (uint32_t)(word & 0xffffffff));
}

static void ask_native(struct asking *a, uint64_t word, uint64_t ticks) {
    uint64_t address = (word & ~VT_FRAME_INTERPRETER) - 1;
    const struct vt_log_module *module = vt_log_module_at(a->log, address, ticks);
    const struct vt_symbol *found;
    if (!module || vt_sites_is_tracer(module))
        return;
    uint64_t place = vt_hash_bytes(address - module->bias, module->path, strlen(module->path));
    uint32_t count =
        vt_symbols_at(a->symbols, module->path, module->build_id, address - module->bias, &found);
    a->names->functions += vt_map_add_key(&a->names->asked, place) && count;
    for (uint32_t i = 0; i < count; i++)
        ask_line(a, found[i].file, found[i].line);
}

static void ask_step(struct asking *a, const struct vt_log_step *step) {
    uint64_t inside = step->address - (step->kind == VT_STEP_THREAD_LOCAL ? step->line : 0);
    uint64_t places[] = {step->address, step->address};
    struct vt_variable_symbol variable;
    struct vt_root root;
    struct vt_slot slot;
    if (!step->address)
        return;
    if (vt_native_root_variable(a->log, a->symbols, step, &places[1], &variable))
        a->names->variables +=
            vt_map_add_key(&a->names->asked, vt_mix(places[1] + a->log->header.start_ticks));
    vt_native_root_slot(a->log, a->symbols, step, &slot);
    for (unsigned i = 0; i < 2; i++)
        vt_native_root_fill(a->log, a->symbols, step->kind, places[i], inside, &root);
}

void vt_all_names_ask(struct vt_all_names *names, const struct vt_log *log,
                      struct vt_symbols *symbols, const struct vt_process *process) {
    struct asking a = {names, log, symbols, process};
    for (size_t i = 0; i < log->stack_count; i++) {
        const struct vt_log_stack *stack = &log->stacks[i];
        const uint64_t *words = vt_log_words(log, stack);
        for (uint32_t k = 0; k < stack->count; k++)
            if (words[k] & VT_FRAME_PYTHON)
                ask_python(&a, words[k]);
            else
                ask_native(&a, words[k], stack->ticks);
    }
    for (size_t i = 0; i < log->step_count; i++)
        ask_step(&a, &log->steps[i]);
}

void vt_all_names_free(struct vt_all_names *n) {
    for (uint32_t i = 0; i < n->file_count; i++)
        free(n->files[i].path);
    free(n->files);
    vt_map_free(&n->by_path);
    vt_map_free(&n->asked);
    vt_map_free(&n->lines);
    *n = (struct vt_all_names){0};
}
