/* SPDX-License-Identifier: MIT */
/*
 * Recognizes a known library by its file name: a stem listed in libraries.def, then ".so" and a version
 * (libcublas.so.12.4). Wheel repair tools insert a hash before ".so" (libcublas-1a2b3c4d.so.12); extension modules have
 * their ABI there (x.abi3.so).
 */
#ifndef VRAMTRACE_LIBRARY_H
#define VRAMTRACE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum vt_library_what {
    VT_LIBRARY_DRIVER = 1,
    VT_LIBRARY_TOOL,
    VT_LIBRARY_RUNTIME,
    VT_LIBRARY_CACHE,
    VT_LIBRARY_PASSING
};

struct vt_library {
    enum vt_library_what what;
    const char *stems, *exports, *name, *unless;
};

static inline bool vt_library_passes(const struct vt_library *row) {
    return row && (row->what == VT_LIBRARY_PASSING || row->what == VT_LIBRARY_DRIVER);
}

/* Whether the row is one of CUDA's libraries. */
static inline bool vt_library_is_cuda(const struct vt_library *row) {
    return row && row->what <= VT_LIBRARY_RUNTIME;
}

/* Returns the stem within a path, and its length in *length; length 0: not a library's name. */
static inline const char *vt_library_stem(const char *path, size_t *length) {
    static const char hex[] = "0123456789abcdef";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *end;
    *length = 0;
    for (end = strstr(name, ".so"); end; end = strstr(end + 1, ".so")) {
        const char *rest = end + 3 + (end[3] == '.' ? strspn(end + 3, ".0123456789") : 0);
        if (!*rest || strcmp(rest, " (deleted)") == 0) /* as in /proc/self/maps */
            break;
    }
    if (!end)
        return name;
    const char *abi = strstr(name, ".abi3."), *python = strstr(name, ".cpython-");
    end = abi && abi < end ? abi : python && python < end ? python : end;
    *length = (size_t)(end - name);
    if (*length > 9 && end[-9] == '-' && strspn(end - 8, hex) == 8)
        *length -= 9;
    return name;
}

/* Whether a stem is in a list separated by blanks. */
static inline bool vt_library_listed(const char *stem, size_t length, const char *list) {
    for (size_t n; *list; list += n + (list[n] == ' ')) {
        n = strcspn(list, " ");
        bool begins = n && list[n - 1] == '*';
        if (length && (begins ? length >= n - 1 : length == n) &&
            strncmp(stem, list, n - begins) == 0)
            return true;
    }
    return false;
}

static inline bool vt_library_named(const char *path, const char *list) {
    size_t length;
    const char *stem = vt_library_stem(path, &length);
    return vt_library_listed(stem, length, list);
}

/* The row for a file's name; NULL: none. */
static inline const struct vt_library *vt_library_of(const char *path) {
#define VT_LIBRARY(what, ...) {VT_LIBRARY_##what, __VA_ARGS__},
    static const struct vt_library rows[] = {
#include "vramtrace/libraries.def"
    };
    size_t length;
    const char *stem = vt_library_stem(path, &length);
    for (size_t i = 0; length && i < sizeof rows / sizeof *rows; i++)
        if (vt_library_listed(stem, length, rows[i].stems))
            return &rows[i];
    return NULL;
}

/* Whether a file is Python's interpreter or its library: python3.12, python3.13t, libpython3.11.so.1.0. */
static inline bool vt_library_is_python(const char *path) {
    static const char *const names[] = {"libpython", "python", "pypy", "libpypy"};
    size_t length;
    const char *name = vt_library_stem(path, &length);
    length = length ? length : strcspn(name, " "); /* " (deleted)" */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(name, names[i], n) != 0 || length < n)
            continue;
        n += strspn(name + n, "0123456789.dmtu");
        n += strncmp(name + n, "-dbg", 4) == 0 ? 4 : 0;
        return n >= length;
    }
    return false;
}

#endif
