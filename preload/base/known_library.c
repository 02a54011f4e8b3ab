/* SPDX-License-Identifier: MIT */
/*
 * Finds the loaded modules that are known libraries: CUDA's own, and caching allocators, which keep driver memory by
 * design. The analyzer classifies such memory by the same list, whatever a search would find. So we do not search for
 * this memory, and most PyTorch processes need no search at all (scan/).
 *
 * stack/modules.c passes each module, and stack.c asks once for each new stack. Classes that need function names
 * (classes.def) are unknown here; their memory is searched for.
 */
#include "known_library.h"
#include "base.h"

#include <string.h>

#define RANGES_MOST 128u

static struct {
    uintptr_t start, end;
    const struct vt_library *row;
} ranges[RANGES_MOST];
static uint32_t count; /* atomic; entries below it are complete */

static bool exports_all(const struct vt_elf *e, const char *names) {
    struct vt_range all;
    char name[64];
    for (size_t n; *names; names += n + (names[n] == ' ')) {
        n = strcspn(names, " ");
        if (n >= sizeof name)
            return false;
        memcpy(name, names, n);
        name[n] = 0;
        bool begins = n && name[n - 1] == '*';
        name[n - begins] = 0;
        if (begins ? !vt_elf_functions(e, (const char *[2]){name, name}, &all)
                   : !vt_elf_symbol(e, name, NULL))
            return false;
    }
    return true;
}

const struct vt_library *vt_library_loaded(const char *path, const struct vt_elf *e, bool *other) {
    const struct vt_library *row = vt_library_of(path);
    *other = row && !exports_all(e, row->exports);
    return *other ? NULL : row;
}

void vt_library_note(const struct vt_library *row, uintptr_t start, uintptr_t end) {
    uint32_t n = vt_get(&count);
    if (!row || n == RANGES_MOST)
        return;
    ranges[n].start = start;
    ranges[n].end = end;
    ranges[n].row = row;
    vt_publish(&count, n + 1);
}

void vt_library_forget(void) {
    vt_publish(&count, 0);
}

static const struct vt_library *row_at(uintptr_t address) {
    for (uint32_t i = 0, known = vt_see(&count); i < known; i++)
        if (address - ranges[i].start < ranges[i].end - ranges[i].start)
            return ranges[i].row;
    return NULL;
}

/* Any value of the variable counts as a match: in doubt, we search for the memory. */
static bool is_excepted(const struct vt_library *row) {
    char name[64];
    size_t n = strcspn(row->unless, "=");
    if (!n || n >= sizeof name)
        return n;
    memcpy(name, row->unless, n);
    name[n] = 0;
    return vt_settings_env(name);
}

enum vt_allocator vt_library_allocator(const uintptr_t *frames, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const struct vt_library *row = row_at(frames[i]);
        if (!vt_library_passes(row))
            return !row || is_excepted(row)          ? VT_ALLOCATOR_PROGRAM
                   : row->what == VT_LIBRARY_RUNTIME ? VT_ALLOCATOR_CUDA
                   : row->what == VT_LIBRARY_CACHE   ? VT_ALLOCATOR_CACHE
                                                     : VT_ALLOCATOR_PROGRAM;
    }
    return VT_ALLOCATOR_PROGRAM;
}

bool vt_library_is_cuda_at(uintptr_t address, const char *path) {
    return vt_library_is_cuda(vt_see(&count) ? row_at(address) : vt_library_of(path));
}
