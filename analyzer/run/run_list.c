/* SPDX-License-Identifier: MIT */
/*
 * The lists of a run's logs (see run_list.h). Other users can add files to root's folder, so we open only regular files
 * with one link in it, and remove files by name from the open folder.
 */
#define _GNU_SOURCE
#include "run_list.h"

#include "run_places.h"
#include "vramtrace/log_format.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "list"

/* Puts root's folder inside another, which others can traverse but not list, so that they cannot find this folder's
 * random name. */
static char *make_inner_folder(const char *path) {
    char *inner = vt_formatted(geteuid() ? "%s" : "%s/XXXXXX", path);
    if (geteuid())
        return inner;
    if (mkdtemp(inner) && !chmod(inner, 01733)) {
        /* on mounts where files inherit the folder's group, users' lists must not get root's group */
        int unused = chown(inner, (uid_t)-1, VT_NO_GROUP);
        (void)unused;
        return inner;
    }
    free(inner);
    return NULL;
}

char *vt_run_list_make(void) {
    static const char mark[] = VT_RUN_LIST_MARK;
    VT_SCOPED char *folder = vt_run_places_temporary("vramtrace-run", "/tmp", 0711, NULL, NULL);
    VT_SCOPED char *inner = folder ? make_inner_folder(folder) : NULL;
    if (!inner)
        return NULL;
    char *path = vt_formatted("%s/" NAME, inner);
    VT_SCOPED_FD fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 && write(fd, mark, sizeof mark) == (ssize_t)sizeof mark)
        return path;
    int error = errno;
    vt_run_list_remove(path);
    free(path);
    errno = error;
    return NULL;
}

/* Opens the folder of a list. NULL: it no longer exists. */
static DIR *open_folder(const char *list) {
    VT_SCOPED char *folder = vt_run_places_folder(list);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir)
        vt_file_close_scoped(&fd);
    return dir;
}

static bool is_list(const char *name) {
    return !strncmp(name, NAME, strlen(NAME)) && (!name[strlen(NAME)] || name[strlen(NAME)] == '.');
}

void vt_run_list_remove(const char *list) {
    VT_SCOPED char *folder = vt_run_places_folder(list), *above = vt_run_places_folder(folder);
    bool is_inner = !geteuid();
    DIR *dir = open_folder(list);
    bool left = !dir;
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
            strcmp(entry->d_name, VT_RUN_NOTE))
            left |=
                unlinkat(dirfd(dir), entry->d_name, is_list(entry->d_name) ? 0 : AT_REMOVEDIR) != 0;
    if (!left)
        unlinkat(dirfd(dir), VT_RUN_NOTE, 0);
    if (dir)
        closedir(dir);
    if (is_inner)
        rmdir(folder);
    vt_run_places_remove(is_inner ? above : folder, true);
}

int vt_run_list_open(const char *list) {
    static const char mark[] = VT_RUN_LIST_MARK;
    char begin[sizeof mark];
    struct stat st;
    int fd = vt_file_open_as(list, O_RDWR | O_APPEND | O_NOFOLLOW, NULL);
    if (fd < 0)
        return -1;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin &&
        !memcmp(begin, mark, sizeof begin))
        return fd;
    close(fd);
    return -1;
}

static struct vt_run_list_part *part_of(struct vt_run_list *list, const char *name) {
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->parts[i].name, name))
            return &list->parts[i];
    struct vt_run_list_part *part = VT_ADD(list->parts, list->count, list->room);
    *part = (struct vt_run_list_part){.name = vt_strdup(name)};
    return part;
}

/* An incomplete line is read next time; after a line longer than any path, nothing is read. */
static void read_part(int folder, struct vt_run_list_part *part,
                      void (*each)(void *of, const char *line), void *of) {
    char text[2 * PATH_MAX];
    struct stat st;
    ssize_t got = -1;
    VT_SCOPED_FD fd = openat(folder, part->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool ours = !strcmp(part->name, NAME);
    if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
        ours != (st.st_uid == geteuid()))
        return;
    for (size_t length = 1; length; part->at += (off_t)length) {
        got = vt_file_read_at(fd, text, sizeof text, (uint64_t)part->at);
        length = got > 0 ? strnlen(text, (size_t)got) + 1 : 0;
        if (length > (size_t)(got > 0 ? got : 0))
            break;
        if (length && *text == '/' && !ours &&
            vt_rights_user(text) == geteuid()) /* the first note stays */
            vt_rights_note(text, st.st_uid, st.st_gid);
        if (length && (*text == '/' || *text == '!'))
            each(of, text);
    }
}

bool vt_run_list_read(struct vt_run_list *list, void (*each)(void *of, const char *line),
                      void *of) {
    DIR *dir = open_folder(list->path);
    if (!dir || faccessat(dirfd(dir), NAME, F_OK, 0)) {
        if (dir)
            closedir(dir);
        return false;
    }
    for (struct dirent *entry; (entry = readdir(dir));)
        if (is_list(entry->d_name))
            part_of(list, entry->d_name);
    for (size_t i = 0; i < list->count; i++)
        read_part(dirfd(dir), &list->parts[i], each, of);
    closedir(dir);
    return true;
}

void vt_run_list_free(struct vt_run_list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->parts[i].name);
    free(list->parts);
    *list = (struct vt_run_list){0};
}
