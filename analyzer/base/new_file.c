/* SPDX-License-Identifier: MIT */
/*
 * Writes files (see new_file.h). All calls use a descriptor of the folder, so moving or replacing the folder has no
 * effect.
 */
#define _GNU_SOURCE
#include "new_file.h"

#include "files.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PROC_MAGIC 0x9fa0 /* from statfs: /proc, where a link's target is not always a path */
#define MOST_LINKS 40     /* the kernel's limit */

/* --- the path to the file --- */

/* With lowered rights (rights.h), geteuid is not the user. */
static uid_t user(void) {
    return (uid_t)setfsuid((uid_t)-1);
}

static bool is_trusted(const struct stat *st) {
    return st->st_uid == user() || st->st_uid == 0;
}

/* Replaces the link in the path by its target. Only links of this user or of root are followed: another user's link
 * could lead to any file of this user. For links on the way to the folder, only root is this careful. */
static int follow(int link, const struct stat *st, const char *behind, char **rest) {
    char text[PATH_MAX];
    if (!is_trusted(st) && (!*behind || user() == 0))
        return -EXDEV;
    ssize_t length = readlinkat(link, "", text, sizeof text - 1);
    if (length < 0)
        return -errno;
    text[length] = 0;
    char *path = vt_formatted("%s%s%s", text, *behind ? "/" : "", behind);
    free(*rest);
    *rest = path;
    return 0;
}

/* Finds the folder, the name in it and the file of that name. Returns the file's descriptor, or -errno; -ENOENT with
 * a folder: the name is free. */
static int find(struct vt_new_file *f, const char *path, bool follows) {
    VT_SCOPED char *rest = vt_strdup(path);
    int error = 0;
    for (unsigned links = 0; !error && links <= MOST_LINKS;) {
        char *name = rest + strspn(rest, "/"), *end = name + strcspn(name, "/"),
             *behind = end + strspn(end, "/");
        struct statfs system;
        if (f->folder < 0 || *rest == '/') {
            vt_file_close_scoped(&f->folder);
            f->folder = open(*rest == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        }
        if (!*name || (*end && !*behind)) /* the path ends with a slash */
            return -EISDIR;
        free(f->name);
        f->name = vt_strndup(name, (size_t)(end - name));
        int fd = openat(f->folder, f->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && !fstat(fd, &f->found) && S_ISLNK(f->found.st_mode) &&
            is_trusted(&f->found) && !fstatfs(fd, &system) && system.f_type == PROC_MAGIC) {
            close(fd);
            fd = openat(f->folder, f->name, O_PATH | O_CLOEXEC);
        }
        if (fd < 0 || fstat(fd, &f->found)) {
            error = -errno;
            if (*behind) {
                close(f->folder);
                f->folder = -1;
            }
        } else if (S_ISLNK(f->found.st_mode) && (*behind || follows)) {
            links++;
            error = follow(fd, &f->found, behind, &rest);
            close(fd);
        } else if (!*behind) {
            return fd;
        } else {
            close(f->folder);
            f->folder = fd;
            memmove(rest, behind, strlen(behind) + 1);
        }
    }
    return error ? error : -ELOOP;
}

int vt_new_file_find(const char *path, struct stat *st) {
    struct vt_new_file f = {.folder = -1};
    int at = find(&f, path, true);
    *st = f.found;
    vt_file_close_scoped(&f.folder);
    free(f.name);
    return at;
}

/* --- the file --- */

/* The path of a descriptor. */
#define SELF(fd) (snprintf(self, sizeof self, "/proc/self/fd/%d", fd), self)

/* Opens the existing file for writing in place: a device, a pipe, a file without further hard links. */
static int open_in_place(struct vt_new_file *f) {
    char self[64];
    bool is_file = S_ISREG(f->found.st_mode);
    if ((is_file && f->found.st_nlink > 1) ||
        (S_ISFIFO(f->found.st_mode) && !is_trusted(&f->found)))
        return is_file ? -EACCES : -EXDEV;
    f->direct = true;
    int fd = open(SELF(f->at), O_WRONLY | O_NOCTTY | O_CLOEXEC | (is_file ? O_TRUNC : 0));
    return fd < 0 ? -errno : fd;
}

/* A random name that no command mistakes for an input. */
static void choose_name(struct vt_new_file *f) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        random = vt_now_ns() ^ (uint64_t)getpid() << 40; /* O_EXCL must suffice */
    free(f->temporary);
    f->temporary = vt_formatted(".%.200s.%016llx", f->name, (unsigned long long)random);
}

/* A file without a name, if the file system supports it: it vanishes if we are killed. */
static int open_beside(struct vt_new_file *f, mode_t mode) {
    bool has_proc = !access("/proc/self/fd", X_OK); /* needed to name the file */
    int fd = has_proc ? openat(f->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode) : -1;
    if (fd < 0) {
        choose_name(f);
        fd = openat(f->folder, f->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    mode);
    }
    return fd < 0 ? -errno : fd;
}

static int open_new(struct vt_new_file *f, mode_t mode) {
    bool given = f->exists && f->how & VT_NEW_FILE_GIVEN;
    if (S_ISDIR(f->found.st_mode) && !(f->how & VT_NEW_FILE_ONCE))
        return -EISDIR;
    if (given && !S_ISREG(f->found.st_mode))
        return open_in_place(f);
    if (given && faccessat(f->folder, f->name, W_OK, AT_EACCESS))
        return -errno;
    int fd = open_beside(f, given ? f->found.st_mode & 0777 : mode);
    /* the folder accepts no new files; -ENOENT: for instance /proc/PID/fd */
    bool shut = fd == -EACCES || fd == -EROFS || fd == -EPERM || fd == -ENOENT;
    return shut && given ? open_in_place(f) : fd;
}

static void drop(struct vt_new_file *f) {
    vt_file_close_scoped(&f->folder);
    vt_file_close_scoped(&f->at);
    free(f->name);
    free(f->temporary);
    *f = (struct vt_new_file){.folder = -1, .at = -1, .why = f->why};
}

int vt_new_file_open(struct vt_new_file *f, const char *path, unsigned how, mode_t mode) {
    int fd = how & VT_NEW_FILE_GIVEN ? vt_file_descriptor(path) : -1;
    *f = (struct vt_new_file){.how = how, .direct = fd >= 0, .folder = -1, .at = -1};
    if (f->direct) { /* /dev/stdout, or the shell's >(...) */
        fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        fd = fd < 0 ? -errno : fd;
    } else {
        f->at = find(f, path, how & VT_NEW_FILE_GIVEN);
        f->exists = f->at >= 0;
        if (!f->exists)
            f->found = (struct stat){0};
        fd = f->exists || (f->at == -ENOENT && f->folder >= 0) ? open_new(f, mode) : f->at;
    }
    f->out = fd < 0 ? NULL : fdopen(fd, "w");
    if (f->out)
        return 0;
    f->why = fd == -EXDEV ? "a link or a pipe of another user" : strerror(-fd);
    drop(f);
    return fd;
}

/* --- its name --- */

static int link_as(const struct vt_new_file *f, const char *name) {
    char self[64];
    return linkat(AT_FDCWD, SELF(fileno(f->out)), f->folder, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* Without replacing a file. */
static int name_once(const struct vt_new_file *f, const char *name) {
    int error = link_as(f, name);
    if (!error || error == -EEXIST || !f->temporary)
        return error;
    /* without hard links, another process may take the name between these two calls */
    if (!faccessat(f->folder, name, F_OK, AT_SYMLINK_NOFOLLOW))
        return -EEXIST;
    return renameat(f->folder, f->temporary, f->folder, name) ? -errno : 0;
}

/* A mounted file (containers mount single files) cannot be replaced, so the bytes are copied into it. */
static int copy_in_place(struct vt_new_file *f) {
    off_t at = 0;
    VT_SCOPED_FD to = open_in_place(f);
    ssize_t got = to < 0 ? to : 1;
    while (got > 0)
        got = sendfile(to, fileno(f->out), &at, 1 << 30);
    return to < 0 ? to : got < 0 || fsync(to) ? -errno : 0;
}

static int name_over(struct vt_new_file *f) {
    if (!f->temporary) {
        choose_name(f);
        int error = link_as(f, f->temporary);
        if (error)
            return error;
    }
    if (!renameat(f->folder, f->temporary, f->folder, f->name))
        return 0;
    return errno == EBUSY && f->exists ? copy_in_place(f) : -errno;
}

int vt_new_file_finalize(struct vt_new_file *f, const char *name) {
    const struct stat *found = f->exists && f->how & VT_NEW_FILE_GIVEN ? &f->found : NULL;
    int fd = fileno(f->out);
    if (fflush(f->out) || ferror(f->out))
        return errno ? -errno : -EIO;
    if (f->direct)
        return 0;
    if (found && (found->st_uid != geteuid() || found->st_gid != getegid()) &&
        fchown(fd, found->st_uid, found->st_gid))
        errno = 0; /* only root may change the owner */
    if ((found && fchmod(fd, found->st_mode & 0777)) || (f->how & VT_NEW_FILE_SYNC && fsync(fd)))
        return -errno;
    int error = f->how & VT_NEW_FILE_ONCE ? name_once(f, name ? name : f->name) : name_over(f);
    f->direct = !error;
    return error;
}

int vt_new_file_close(struct vt_new_file *f, int error) {
    if (f->out && !error)
        error = vt_new_file_finalize(f, NULL);
    if (f->temporary) /* none is left after a rename */
        unlinkat(f->folder, f->temporary, 0);
    if (f->out && fclose(f->out) && !error)
        error = -errno;
    drop(f);
    return error;
}
