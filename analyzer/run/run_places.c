/* SPDX-License-Identifier: MIT */
/*
 * Where vramtrace's own files lie (see run_places.h).
 */
#define _GNU_SOURCE
#include "run_places.h"

#include "vramtrace/file_systems.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
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

/* The absolute path of FOLDER/INSIDE if it exists (free it); else NULL, after adding it to `tried`. */
static char *look_in_folder(const char *folder, const char *inside, struct vt_string *tried) {
    VT_SCOPED char *path = vt_formatted("%s/%s", folder, inside);
    char *found = realpath(path, NULL);
    if (!found)
        vt_string_format(tried, "%s%s", tried->length ? ", " : "", path);
    return found;
}

/* Looks for `name` in the library's folders, in `inside` ("" or "vramtrace/"). */
static char *look_in_library_folders(const char *own, const char *inside, const char *name,
                                     struct vt_string *tried) {
    char *found = NULL;
    for (size_t i = 0; i < LIBRARY_FOLDERS && !found; i++) {
        VT_SCOPED char *path = vt_formatted("%s/%s%s", library_folders[i], inside, name);
        found = look_in_folder(own, path, tried);
    }
    return found;
}

char *vt_run_places_library(const char *name, struct vt_string *tried) {
    VT_SCOPED char *own = vt_run_places_folder(NULL);
    char *found = look_in_folder(own, name, tried);
    return found ? found : look_in_library_folders(own, "", name, tried);
}

char *vt_run_places_private(const char *name, const char *tracer, struct vt_string *tried) {
    VT_SCOPED char *own = vt_run_places_folder(NULL), *beside = vt_run_places_folder(tracer);
    VT_SCOPED char *inside = vt_formatted("vramtrace/%s", name);
    char *found = look_in_folder(own, name, tried);
    if (!found && strcmp(own, beside) != 0)
        found = look_in_folder(beside, name, tried);
    if (!found)
        found = look_in_folder(beside, inside, tried);
    return found ? found : look_in_library_folders(own, "vramtrace/", name, tried);
}

char *vt_run_places_temporary(const char *name, const char *first, int (*make)(char *path)) {
    const char *given = getenv("TMPDIR");
    const char *folders[] = {given && *given == '/' ? given : first, first, "/tmp", "/dev/shm"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = vt_formatted("%s/%s.XXXXXX", folders[i], name);
        if (make(path) >= 0)
            return path;
        int error = errno;
        free(path);
        errno = error;
    }
    return NULL;
}

bool vt_run_places_is_remote(const char *folder) {
    const char *forced = getenv("VRAMTRACE_TEST_REMOTE");
    struct statfs fs;
    return (forced && *forced && !strncmp(folder, forced, strlen(forced))) ||
           (!statfs(folder, &fs) && vt_file_system(fs.f_type) & VT_FS_REMOTE);
}
