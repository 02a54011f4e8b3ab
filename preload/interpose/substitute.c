/* SPDX-License-Identifier: MIT */
/*
 * Selects the wrapper that replaces the function that a look-up found. The real function's pointer decides (by its row
 * in real.c), never the name alone, because one name has several variants. Generated from hooks.def.
 */
#include "substitute.h"
#include "base/base.h"
#include "interpose/real.h"

#include <string.h>

/* The wrappers, declared with the prototypes that hooks.def gives them. */
#define VT_DRIVER(id, symbol, base, since, stream, role, prototype) CUresult symbol prototype;
#define VT_RUNTIME(id, symbol, since, until, role, prototype)                                      \
    cudaError_t vt_cudart12_##symbol prototype;                                                    \
    cudaError_t vt_cudart13_##symbol prototype;
#include "vramtrace/hooks.def"

static void *const driver_wrappers[] = {
#define VT_DRIVER(id, symbol, base, since, stream, role, prototype) __extension__(void *) symbol,
#include "vramtrace/hooks.def"
};

static void *const cudart_wrappers[][2] = {
#define VT_RUNTIME(id, symbol, since, until, role, prototype)                                      \
    {__extension__(void *) vt_cudart12_##symbol, __extension__(void *) vt_cudart13_##symbol},
#include "vramtrace/hooks.def"
};

static void *wrapper_of(enum vt_real_library library, const void *found) {
    size_t row = vt_real_row(library, found);
    if (row == VT_REAL_NO_ROW)
        return NULL;
    return library == VT_REAL_DRIVER ? driver_wrappers[row]
                                     : cudart_wrappers[row][library - VT_REAL_CUDART12];
}

void *vt_substitute(void *found, const char *name) {
    enum vt_real_library library;
    for (library = 0; library < VT_REAL_LIBRARIES; library++) {
        void *wrapper = wrapper_of(library, found);
        if (wrapper)
            return wrapper;
    }
    void *wrapper = vt_real_adopt(found, name, &library) ? wrapper_of(library, found) : NULL;
    return wrapper ? wrapper : found;
}

#define NONE   'N'
#define LEGACY 'L'
#define PTSZ   'P'

static const struct {
    const char *base;
    unsigned since;
    char stream;
} driver_rows[] = {
#define VT_DRIVER(id, symbol, base, since, stream, role, prototype) {#base, since, stream},
#include "vramtrace/hooks.def"
};

#undef NONE
#undef LEGACY
#undef PTSZ

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* The row that a driver of that version returns according to the documentation: the newest variant up to `version`, of
 * the stream kind in `flags` (2: per-thread default stream). */
static size_t row_by_rule(const char *base, int version, unsigned long long flags) {
    size_t best = VT_REAL_NO_ROW;
    for (size_t i = 0; i < COUNT(driver_rows); i++) {
        if (strcmp(driver_rows[i].base, base) != 0 || (int)driver_rows[i].since > version ||
            driver_rows[i].stream == ((flags & 2) ? 'L' : 'P'))
            continue;
        if (best == VT_REAL_NO_ROW || driver_rows[i].since >= driver_rows[best].since)
            best = i;
    }
    return best;
}

void *vt_substitute_driver(void *found, const char *base, int version, unsigned long long flags) {
    vt_real_driver();
    void *wrapper = wrapper_of(VT_REAL_DRIVER, found);
    if (wrapper)
        return wrapper;
    /* If no exported symbol has this address, the driver may have returned an internal entry point. If a symbol does,
     * the function is a variant newer than our table, with another prototype, and must not be wrapped. */
    size_t row = row_by_rule(base, version, flags);
    struct vt_elf object;
    if (row == VT_REAL_NO_ROW || !vt_elf_containing(found, &object) ||
        vt_elf_names_address(&object, found))
        return found;
    vt_real_learn(row, found);
    return driver_wrappers[row];
}
