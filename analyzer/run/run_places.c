/* SPDX-License-Identifier: MIT */
/*
 * Where vramtrace's own files lie (see run_places.h).
 */
#define _GNU_SOURCE
#include "run_places.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const library_folders[] = {
#define FOLDER(path) path,
#include "library_folders.def"
#undef FOLDER
};
#define LIBRARY_FOLDERS (sizeof library_folders / sizeof *library_folders)

char *vt_run_places_folder(const char *path) {
    char own[PATH_MAX] = ".";
    if (!path) {
        ssize_t got = readlink("/proc/self/exe", own, sizeof own - 1);
        own[got > 0 ? got : 1] = 0;
        path = own;
    }
    const char *slash = strrchr(path, '/');
    return slash ? vt_strndup(path, (size_t)(slash - path)) : vt_strdup(".");
}

char *vt_run_places_look(const char *folder, const char *inside, struct vt_string *tried) {
    char *path = vt_formatted("%s/%s", folder, inside);
    char *found = realpath(path, NULL);
    if (!found)
        vt_string_format(tried, "%s%s", tried->length ? ", " : "", path);
    free(path);
    return found;
}

/* Looks for `name` in the library's folders, in `inside` ("" or "vramtrace/"). */
static char *look_in_library_folders(const char *own, const char *inside, const char *name,
                                     struct vt_string *tried) {
    char *found = NULL;
    for (size_t i = 0; i < LIBRARY_FOLDERS && !found; i++) {
        char *path = vt_formatted("%s/%s%s", library_folders[i], inside, name);
        found = vt_run_places_look(own, path, tried);
        free(path);
    }
    return found;
}

char *vt_run_places_library(const char *name, struct vt_string *tried) {
    char *own = vt_run_places_folder(NULL);
    char *found = vt_run_places_look(own, name, tried);
    if (!found)
        found = look_in_library_folders(own, "", name, tried);
    free(own);
    return found;
}

char *vt_run_places_private(const char *name, const char *tracer, struct vt_string *tried) {
    char *own = vt_run_places_folder(NULL), *beside = vt_run_places_folder(tracer);
    char *inside = vt_formatted("vramtrace/%s", name);
    char *found = vt_run_places_look(own, name, tried);
    if (!found && strcmp(own, beside) != 0)
        found = vt_run_places_look(beside, name, tried);
    if (!found)
        found = vt_run_places_look(beside, inside, tried);
    if (!found)
        found = look_in_library_folders(own, "vramtrace/", name, tried);
    free(own);
    free(beside);
    free(inside);
    return found;
}
