/* SPDX-License-Identifier: MIT */
/*
 * Finds vramtrace's own files (see run_places.h).
 */
#define _GNU_SOURCE
#include "run_places.h"

#include "vramtrace/file_systems.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

bool vt_run_places_is_remote(const char *folder) {
    const char *forced = getenv("VRAMTRACE_TEST_REMOTE");
    struct statfs fs;
    return (forced && *forced && !strncmp(folder, forced, strlen(forced))) ||
           (!statfs(folder, &fs) && vt_file_system(fs.f_type) & VT_FS_REMOTE);
}

/* --- temporary folders --- */

/* A folder that we made. It stays open, so that no other folder gets its inode number. */
struct temporary {
    char *folder, *path; /* path: as returned to the caller */
    int fd;
    struct stat st;
    struct temporary *next;
};

static struct temporary *temporary;

/* Makes the folder, with the file in it. The path goes into VRAMTRACE_OUTPUT, where % is special. */
static bool make(struct temporary *t, mode_t of_root, const char *file, int *fd) {
    if (strchr(t->folder, '%') || !mkdtemp(t->folder))
        return false;
    t->fd = open(t->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool done = t->fd >= 0 && !fstat(t->fd, &t->st) && t->st.st_uid == geteuid() &&
                (geteuid() || !fchmod(t->fd, of_root));
    if (done && file)
        done = (*fd = openat(t->fd, file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                             0600)) >= 0;
    if (!done) {
        vt_file_close_scoped(&t->fd);
        rmdir(t->folder);
    }
    return done;
}

char *vt_run_places_temporary(const char *name, const char *first, mode_t of_root, const char *file,
                              int *fd) {
    enum { FOLDERS = 4 };
    const char *given = getenv("TMPDIR");
    const char *folders[FOLDERS] = {given && *given == '/' ? given : first, first, "/tmp",
                                    "/dev/shm"};
    struct temporary *t = vt_alloc(1, sizeof *t);
    for (size_t i = 0; i < 2 * FOLDERS; i++) { /* first folders on local disks */
        const char *folder = folders[i % FOLDERS];
        if (vt_run_places_is_remote(folder) != (i >= FOLDERS))
            continue;
        t->folder = vt_formatted("%s/%s.XXXXXX", folder, name);
        if (make(t, of_root, file, fd)) {
            t->path = file ? vt_formatted("%s/%s", t->folder, file) : vt_strdup(t->folder);
            t->next = temporary;
            temporary = t;
            return vt_strdup(t->path);
        }
        int error = errno;
        free(t->folder);
        errno = error;
    }
    free(t);
    return NULL;
}

/* Empties a folder, and closes it. If names in it change meanwhile, some files may be missed, but the search never
 * leaves the folder. */
static void clear(int folder, dev_t device, unsigned depth) {
    DIR *dir = fdopendir(folder);
    if (!dir)
        close(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct stat st;
        const char *name = entry->d_name;
        if (!strcmp(name, ".") || !strcmp(name, "..") || !unlinkat(folder, name, 0) || !depth)
            continue;
        int below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0 && !fstat(below, &st) && st.st_dev == device)
            clear(below, device, depth - 1);
        else
            vt_file_close_scoped(&below);
        unlinkat(folder, name, AT_REMOVEDIR);
    }
    if (dir)
        closedir(dir);
}

bool vt_run_places_remove(const char *path, bool empty) {
    enum { DEPTH = 32 }; /* our folders are less deep */
    struct temporary **at = &temporary;
    while (*at && strcmp((*at)->path, path) != 0)
        at = &(*at)->next;
    struct temporary *t = *at;
    struct stat st;
    if (!t)
        return false;
    int fd = open(t->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    VT_SCOPED_FD above = fd < 0 ? -1 : openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!empty && fd >= 0 && !fstat(fd, &st) && st.st_dev == t->st.st_dev &&
        st.st_ino == t->st.st_ino)
        clear(fd, st.st_dev, DEPTH);
    else
        vt_file_close_scoped(&fd);
    bool gone = above >= 0 && !unlinkat(above, vt_basename(t->folder), AT_REMOVEDIR);
    vt_file_close_scoped(&t->fd);
    *at = t->next;
    free(t->folder);
    free(t->path);
    free(t);
    return gone;
}
