/* SPDX-License-Identifier: MIT */
/*
 * The names of the hooked functions (see hooks.h). Programs write a driver function's name as in the column `base` of
 * hooks.def; runtime functions need no such name.
 */
#include "hooks.h"

#include <stddef.h>

struct hook {
    unsigned id;
    bool runtime;
    const char *symbol, *base;
};

static const struct hook hooks[] = {
#define VT_DRIVER(id, symbol, base, since, stream, role, prototype) {id, false, #symbol, #base},
#define VT_RUNTIME(id, symbol, since, until, role, prototype)       {id, true, #symbol, NULL},
#define VT_LABEL_AS(id, symbol, exported, since, until, role, prototype, arguments)                \
    {id, true, #exported, NULL},
#define VT_FRAMEWORK(id, symbol) {id, false, #symbol, #symbol},
#include "vramtrace/hooks.def"
};

static const struct hook *find_hook(unsigned id) {
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
        if (hooks[i].id == id)
            return &hooks[i];
    return NULL;
}

const char *vt_hook_symbol(unsigned id) {
    const struct hook *hook = find_hook(id);
    return hook ? hook->symbol : NULL;
}

const char *vt_hook_name(unsigned id) {
    const struct hook *hook = find_hook(id);
    if (!hook)
        return NULL;
    return hook->base ? hook->base : hook->symbol;
}

bool vt_hook_is_runtime(unsigned id) {
    const struct hook *hook = find_hook(id);
    return hook && hook->runtime;
}
