/* SPDX-License-Identifier: MIT */
/* Names variables and frames by their addresses (see symbolize.h). */
#include "symbolize.h"

void vt_native_root_fill(const struct vt_log *log, struct vt_symbols *symbols, unsigned kind,
                         uint64_t address, uint64_t inside_module, struct vt_root *root) {
    const struct vt_log_module *module = vt_log_module_at(log, inside_module, VT_TICKS_MASK);
    struct vt_variable_symbol variable;
    if (!module)
        return;
    root->module = module->path;
    address -= module->bias;
    if (kind == VT_STEP_NATIVE_STACK) {
        struct vt_symbol at = {0};
        vt_symbols_frame(symbols, module->path, module->build_id, address - 1, &at);
        root->function = at.function;
        root->file = at.file;
        root->line = at.line;
    } else if (vt_symbols_variable(symbols, module->path, module->build_id, address,
                                   kind == VT_STEP_THREAD_LOCAL, false, NULL, &variable)) {
        root->what = variable.name;
        root->file = variable.file;
        root->line = variable.line;
        root->hidden = variable.hidden;
    }
}

/* The module of the variable at the start of a step's path; NULL: none, or unknown. */
static const struct vt_log_module *module_of(const struct vt_log *log,
                                             const struct vt_log_step *step) {
    bool is_thread_local = step->kind == VT_STEP_THREAD_LOCAL;
    if (!is_thread_local && step->kind != VT_STEP_GLOBAL)
        return NULL;
    return vt_log_module_at(log, step->address - (is_thread_local ? step->line : 0), VT_TICKS_MASK);
}

bool vt_native_root_variable(const struct vt_log *log, struct vt_symbols *symbols,
                             const struct vt_log_step *step, uint64_t *address,
                             struct vt_variable_symbol *variable) {
    const struct vt_log_module *module = module_of(log, step);
    if (!module || !vt_symbols_variable(
                       symbols, module->path, module->build_id, step->address - module->bias,
                       step->kind == VT_STEP_THREAD_LOCAL, step->in_doubt, step->around, variable))
        return false;
    *address = variable->address + module->bias;
    return true;
}

bool vt_native_root_slot(const struct vt_log *log, struct vt_symbols *symbols,
                         const struct vt_log_step *step, struct vt_slot *slot) {
    const struct vt_log_module *module =
        step->around && !step->in_doubt ? module_of(log, step) : NULL;
    return module &&
           vt_symbols_slot(symbols, module->path, module->build_id, step->address - module->bias,
                           step->kind == VT_STEP_THREAD_LOCAL, step->around, slot);
}
