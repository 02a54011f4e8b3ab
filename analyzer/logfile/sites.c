/* SPDX-License-Identifier: MIT */
/*
 * Call sites and their ids (see sites.h). The replay asks for ids. symbols/stacks.c hides the frames that vt_sites_skip
 * counts, so that a report shows exactly the frames in the id.
 */
#include "sites.h"

#include "hooks.h"

#include <stdlib.h>
#include <string.h>

struct vt_sites {
    const struct vt_log *log;
    /* by stack index, for driver and for runtime calls; 0: not computed yet */
    uint64_t *stack_hash[2];
    uint64_t *module_hash, *code_hash;
};

struct vt_sites *vt_sites_open(const struct vt_log *log) {
    struct vt_sites *sites = vt_alloc(1, sizeof *sites);
    sites->log = log;
    sites->stack_hash[0] = vt_alloc(log->stack_count, sizeof(uint64_t));
    sites->stack_hash[1] = vt_alloc(log->stack_count, sizeof(uint64_t));
    sites->module_hash = vt_alloc(log->module_count, sizeof(uint64_t));
    sites->code_hash = vt_alloc(log->code_count, sizeof(uint64_t));
    for (size_t i = 0; i < log->module_count; i++) {
        const struct vt_log_module *m = &log->modules[i];
        const char *name = m->build_id[0] ? m->build_id : vt_basename(m->path);
        sites->module_hash[i] = vt_hash_bytes(1, name, strlen(name));
    }
    for (size_t i = 0; i < log->code_count; i++) {
        const struct vt_log_code *c = &log->codes[i];
        sites->code_hash[i] =
            vt_hash_bytes(vt_python_file_hash(2, c->file), c->name, strlen(c->name));
    }
    return sites;
}

void vt_sites_close(struct vt_sites *sites) {
    if (!sites)
        return;
    free(sites->stack_hash[0]);
    free(sites->stack_hash[1]);
    free(sites->module_hash);
    free(sites->code_hash);
    free(sites);
}

bool vt_sites_is_tracer(const struct vt_log_module *module) {
    return vt_library_named(module->path, "libvramtrace");
}

uint32_t vt_sites_skip(const struct vt_log *log, const struct vt_log_stack *stack, bool runtime) {
    const uint64_t *words = vt_log_words(log, stack);
    for (uint32_t i = 0; i < stack->count; i++) {
        if (words[i] & VT_FRAME_PYTHON)
            return i;
        const struct vt_log_module *m =
            vt_log_module_at(log, (words[i] & ~VT_FRAME_INTERPRETER) - 1, stack->ticks);
        if (!m)
            return i;
        bool is_runtime = !m->other && vt_library_named(m->path, "libcudart");
        if (!vt_sites_is_tracer(m) && !(runtime && is_runtime))
            return i;
    }
    return stack->count;
}

/* False: the frame is not part of the id. */
static bool hash_frame(const struct vt_sites *sites, const struct vt_log_stack *stack,
                       uint64_t word, uint64_t *hash) {
    const struct vt_log *log = sites->log;
    if (word & VT_FRAME_PYTHON) {
        uint32_t code = vt_map_get(&log->code_numbers, word >> 32 & 0x3fffffff);
        *hash = vt_mix((code == VT_MAP_NONE ? 3 : sites->code_hash[code]) ^ (word & 0xffffffff));
        return true;
    }
    /* The interpreter's native frames between two Python frames do not identify a call site. */
    if (word & VT_FRAME_INTERPRETER)
        return false;
    uint64_t address = word - 1;
    const struct vt_log_module *m = vt_log_module_at(log, address, stack->ticks);
    /* The address of generated code differs from run to run, but only by whole pages. */
    *hash = m ? vt_mix(sites->module_hash[m - log->modules] ^ (address - m->bias))
              : vt_mix(4 ^ (address & 0xfff));
    return !m || !vt_sites_is_tracer(m);
}

static uint64_t hash_stack(struct vt_sites *sites, uint32_t index, bool runtime) {
    uint64_t *known = &sites->stack_hash[runtime][index];
    if (*known)
        return *known;
    const struct vt_log_stack *stack = &sites->log->stacks[index];
    uint32_t from = vt_sites_skip(sites->log, stack, runtime);
    uint64_t hash = 5, frame;
    for (unsigned callers = 0; stack && callers <= VT_LOG_CALLERS; callers++, from = 0) {
        const uint64_t *words = vt_log_words(sites->log, stack);
        for (uint32_t i = from; i < stack->count; i++)
            if (hash_frame(sites, stack, words[i], &frame))
                hash = vt_mix(hash + 0x9e3779b97f4a7c15ull) ^ frame;
        stack = vt_log_stack(sites->log, stack->caller);
    }
    return *known = hash ? hash : 1;
}

uint64_t vt_sites_id(struct vt_sites *sites, uint32_t stack, unsigned hook, unsigned layer,
                     unsigned device) {
    uint64_t hash = stack == VT_NO_STACK ? 6 : hash_stack(sites, stack, vt_hook_is_runtime(hook));
    return vt_mix(hash ^ vt_mix((uint64_t)hook << 16 | layer << 8 | device));
}
