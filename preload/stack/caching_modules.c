/* SPDX-License-Identifier: MIT */
/*
 * Who keeps driver memory by design: caching allocators, whose blocks are looked at instead, and
 * CUDA's libraries. The analyzer gives such memory its verdict by the modules that classes.def names,
 * whatever a search of the process would find; so no search looks for it, which spares most PyTorch
 * processes the search (scan/).
 *
 * modules.c shows each module, and stack.c asks once for each new stack. What only the names of
 * functions could tell is not known here, and is looked for.
 */
#include "caching_modules.h"
#include "base/base.h"

#include <string.h>

#define RANGES_MOST 128u
#define PASSES      255u

/* Modules of the list, and those that only pass calls on. */
static struct {
    uintptr_t start, end;
    uint8_t keeper; /* enum vt_keeper, or PASSES */
} ranges[RANGES_MOST];
static uint32_t count; /* atomic; those before it are whole */

/* Rows that go by functions are the analyzer's: here they match nothing. */
#define VT_CLASS_ROW(class, what, pattern, name, unless) {VT_KEEPER_##class, what pattern, unless},
#define VT_CLASS_PASSING(pattern)                        {PASSES, pattern, ""},
#define MODULE                                           ""
#define FUNCTION                                         "()"
#define FILE                                             "()"
static const struct row {
    uint8_t keeper;
    const char *pattern, *unless;
} rows[] = {
#include "vramtrace/classes.def"
};
#undef MODULE
#undef FUNCTION
#undef FILE

/* The file's beginning. Patterns of another form are left to the analyzer. */
static bool matches(const char *pattern, const char *file) {
    size_t n = strcspn(pattern, "*");
    return n && pattern[n] && !pattern[n + 1] && strncmp(file, pattern, n) == 0;
}

/* Whatever the variable is set to: in doubt, memory is looked for. */
static bool is_excepted(const struct row *row) {
    char name[64];
    size_t n = strcspn(row->unless, "=");
    if (!n || n >= sizeof name)
        return n;
    memcpy(name, row->unless, n);
    name[n] = 0;
    return vt_options_env(name);
}

void vt_keepers_note(const char *path, uintptr_t start, uintptr_t end) {
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    const struct row *row = rows, *last = rows + sizeof rows / sizeof *rows;
    uint32_t n = vt_get(&count);
    while (row < last && (!matches(row->pattern, file) || is_excepted(row)))
        row++;
    if (row == last || n == RANGES_MOST)
        return;
    ranges[n].start = start;
    ranges[n].end = end;
    ranges[n].keeper = row->keeper;
    vt_publish(&count, n + 1);
}

void vt_keepers_forget(void) {
    vt_publish(&count, 0);
}

enum vt_keeper vt_keepers_of(const uintptr_t *frames, size_t n) {
    uint32_t known = vt_see(&count);
    for (size_t i = 0; i < n; i++) {
        uint32_t in = 0;
        while (in < known && frames[i] - ranges[in].start >= ranges[in].end - ranges[in].start)
            in++;
        if (in == known)
            return VT_KEEPER_NONE;
        if (ranges[in].keeper != PASSES)
            return (enum vt_keeper)ranges[in].keeper;
    }
    return VT_KEEPER_NONE;
}
