/* SPDX-License-Identifier: MIT */
/*
 * Logs for a remote file system (see run_local.h). A log's name is FOLDER/UID/REST while the command runs, and
 * REMOTE/REST afterwards. The library makes REST from the user's template. As processes of a user choose REST, a
 * process that has become that user handles it.
 */
#define _GNU_SOURCE
#include "run_local.h"

#include "logfile/logfile.h"
#include "run_list.h"
#include "run_places.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEAST (16ull << 20) /* bytes that must be free in FOLDER */
#define SAY_S 3             /* to wait before a message */

static bool leads_up(const char *path) {
    VT_SCOPED char *framed = vt_formatted("/%s/", path);
    return strstr(framed, "/../");
}

/* --- before the command --- */

/* Makes the template absolute; NULL: impossible. Free it. */
static char *template_of(const char *output) {
    VT_SCOPED char *here = getcwd(NULL, 0);
    struct stat st;
    if (*output != '/' && (!here || *here != '/' || strchr(here, '%')))
        return NULL;
    bool folder = *output && output[strlen(output) - 1] != '/' && !strchr(output, '%') &&
                  !stat(output, &st) && S_ISDIR(st.st_mode);
    return *output == '/' ? vt_formatted("%s%s", output, folder ? "/" : "")
                          : vt_formatted("%s/%s%s", here, output, folder ? "/" : "");
}

/* Whether `remote` is on a remote file system, by its innermost existing folder. */
static bool leads_away(const char *remote) {
    VT_SCOPED char *folder = vt_strdup(remote);
    struct stat st;
    char *slash;
    while ((slash = strrchr(folder, '/')) && slash != folder) {
        *slash = 0;
        if (!stat(folder, &st))
            break;
    }
    return vt_run_places_is_remote(slash == folder ? "/" : folder);
}

void vt_run_local_start(struct vt_run_local *local, const char *list) {
    const char *output = getenv("VRAMTRACE_OUTPUT");
    VT_SCOPED char *folder = vt_run_places_folder(list);
    VT_SCOPED char *template = template_of(output ? output : "");
    VT_SCOPED char *fixed =
        vt_strndup(template ? template : "", strcspn(template ? template : "", "%"));
    VT_SCOPED char *remote = vt_strndup(fixed, (size_t)(vt_basename(fixed) - fixed));
    VT_SCOPED char *note = vt_formatted("%s/" VT_RUN_NOTE, folder);
    struct statvfs fs;
    if (!template || leads_up(template + strlen(remote)) || !leads_away(remote) ||
        vt_run_places_is_remote(folder) || statvfs(folder, &fs) ||
        fs.f_bavail * fs.f_frsize < LEAST)
        return;
    setenv("VRAMTRACE_OUTPUT", template, 1);
    setenv("VRAMTRACE_RUN_REMOTE", remote, 1);
    *local = (struct vt_run_local){vt_strdup(folder), vt_strdup(remote)};
    VT_SCOPED_FD fd = open(note, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        dprintf(fd,
                "Logs that belong below %s, in a folder for each user's number. vramtrace run "
                "(process %d) copies them when its command has ended. If it was killed, copy "
                "them, or read them here.\n",
                remote, (int)getpid());
}

void vt_run_local_free(struct vt_run_local *local) {
    free(local->folder);
    free(local->remote);
}

/* --- after the command --- */

/* A log's fate, written by the process that copies it. */
struct fate {
    bool tried, copied;
    int error;
    char name[PATH_MAX]; /* the remote name */
};

/* REST of a log in its user's folder; NULL: the log is elsewhere. */
static const char *rest_of(const struct vt_run_local *local, const char *path) {
    VT_SCOPED char *begin = vt_formatted("%s/%u/", local->folder, (unsigned)vt_rights_user(path));
    const char *rest = strncmp(path, begin, strlen(begin)) ? NULL : path + strlen(begin);
    return rest && !leads_up(rest) ? rest : NULL;
}

/* Returns 0, also if `path` does not exist; or -errno, and then there is no copy. */
static int copy_file(const char *path, const char *to) {
    static const char zeros[VT_CHUNK_BYTES];
    static char block[VT_CHUNK_BYTES];
    ssize_t got = 0;
    uint64_t at = 0;
    VT_SCOPED_FD in = vt_file_open_as(path, O_NOFOLLOW, NULL);
    if (in < 0)
        return in == -ENOENT ? 0 : in;
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int error = out < 0 ? -errno : 0;
    for (; !error && (got = vt_file_read_at(in, block, sizeof block, at)) > 0; at += (uint64_t)got)
        if (memcmp(block, zeros, (size_t)got)) /* else leave a hole */
            error = vt_file_write_at(out, block, (size_t)got, at);
    if (!error && got < 0)
        error = (int)got;
    if (!error && (ftruncate(out, (off_t)at) || fdatasync(out)))
        error = -errno;
    if (out >= 0 && close(out) && !error) /* network file systems report errors here */
        error = -errno;
    if (error && out >= 0)
        unlink(to);
    return error;
}

/* Finds the first free name for a log and its other files. As in the library, if a folder has the log's name, the
 * log goes into the folder. */
static void find_name(char name[PATH_MAX], const struct vt_log_header *h) {
    struct stat st;
    bool taken = true, folder = !stat(name, &st) && S_ISDIR(st.st_mode);
    VT_SCOPED char *rank = h->rank < 0 ? vt_strdup("") : vt_formatted("r%d.", h->rank);
    VT_SCOPED char *first =
        folder ? vt_formatted("%s/vramtrace.%.64s.%s%u.vtl", name, h->host, rank, h->pid)
               : vt_strdup(name);
    for (unsigned n = 1; taken && n < 100000; n++) {
        snprintf(name, PATH_MAX, n == 1 ? "%s" : "%s.%u", first, n);
        taken = false;
        for (unsigned i = 0; i < VT_PACK_KINDS; i++) {
            VT_SCOPED char *path = vt_log_file_path(name, i);
            taken |= !lstat(path, &st);
        }
    }
    VT_SCOPED char *above = vt_strdup(name);
    for (char *slash = above; (slash = strchr(slash + 1, '/')); *slash = '/') {
        *slash = 0;
        mkdir(above, 0777); /* a failure shows when the file is created */
    }
}

/* Moves a log, its samples and its summary. Returns 0; or -errno, and then all is as before. */
static int copy_log(const char *path, char name[PATH_MAX]) {
    struct vt_log_header header;
    VT_SCOPED_STRING message = {0};
    uint64_t bytes;
    unsigned done = 0;
    int error = 0;
    VT_SCOPED_FD fd = vt_file_open_as(path, O_NOFOLLOW, NULL);
    if (fd < 0 || vt_log_read_header(fd, path, &header, &bytes, &message))
        return fd < 0 ? fd : -EINVAL;
    if (vt_log_is_running(&header))
        return -EBUSY;
    find_name(name, &header);
    while (!error && done < VT_PACK_KINDS) {
        VT_SCOPED char *from = vt_log_file_path(path, done), *to = vt_log_file_path(name, done);
        error = copy_file(from, to);
        done += !error;
    }
    for (unsigned i = 0; i < done; i++) {
        VT_SCOPED char *from = vt_log_file_path(path, i), *to = vt_log_file_path(name, i);
        unlink(error ? to : from);
    }
    return error;
}

/* Copies the logs of one user, as that user. This process may outlive `run`, so it closes all descriptors: readers
 * of `run`'s output must not wait for it. */
static _Noreturn void copy_logs(const struct vt_run_local *local, const char *list,
                                const struct vt_run_logs *logs, struct fate *fates, size_t first) {
    uid_t user = vt_rights_user(logs->paths[first]);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    vt_file_close_from(0);
    if (open("/dev/null", O_RDWR) || dup(0) != 1 || dup(0) != 2 ||
        !vt_rights_drop(logs->paths[first]))
        _exit(1);
    for (size_t i = first; i < logs->count; i++) {
        if (!fates[i].tried || vt_rights_user(logs->paths[i]) != user)
            continue;
        fates[i].error = -copy_log(logs->paths[i], fates[i].name);
        fates[i].copied = !fates[i].error;
        VT_SCOPED char *folder = vt_strdup(logs->paths[i]);
        for (char *slash; (slash = strrchr(folder, '/')) > folder + strlen(local->folder);) {
            *slash = 0;
            rmdir(folder);
        }
    }
    vt_run_list_remove(list);
    _exit(0);
}

/* Waits for the copying process. False: a terminating signal came first. */
static bool wait_for(pid_t pid, const struct fate *fate, const char *path) {
    sigset_t set, mask;
    int number = 0;
    sigemptyset(&set);
    for (size_t i = 0; i < 4; i++)
        sigaddset(&set, (const int[]){SIGINT, SIGTERM, SIGQUIT, SIGCHLD}[i]);
    sigprocmask(SIG_BLOCK, &set, &mask);
    for (unsigned s = 0; !waitpid(pid, NULL, WNOHANG); s += number < 0) {
        if (s == SAY_S && number < 0)
            vt_error("waiting for the disk to take %s (interrupt to leave it at %s until the disk "
                     "does)",
                     fate->name, path);
        number = sigtimedwait(&set, NULL, &(struct timespec){1, 0});
        if (number > 0 && number != SIGCHLD)
            break;
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return number <= 0 || number == SIGCHLD;
}

/* Has the logs of a user copied. Returns whether to continue with the next user's. */
static bool copy_as_user(const struct vt_run_local *local, const char *list,
                         const struct vt_run_logs *logs, struct fate *fates, size_t first) {
    for (size_t i = first; i < logs->count; i++) {
        const char *path = logs->paths[i], *rest = rest_of(local, path);
        if (!rest || vt_rights_user(path) != vt_rights_user(logs->paths[first]))
            continue;
        fates[i].tried = true;
        snprintf(fates[i].name, sizeof fates[i].name, "%s%s", local->remote, rest);
    }
    pid_t pid = fork();
    if (pid == 0)
        copy_logs(local, list, logs, fates, first);
    return pid < 0 || wait_for(pid, &fates[first], logs->paths[first]);
}

void vt_run_local_finish(const struct vt_run_local *local, const char *list,
                         struct vt_run_logs *logs) {
    size_t bytes = (logs->count + 1) * sizeof(struct fate);
    struct fate *fates =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool goes_on = fates != MAP_FAILED;
    for (size_t i = 0; i < logs->count && goes_on; i++)
        if (!fates[i].tried && rest_of(local, logs->paths[i]))
            goes_on = copy_as_user(local, list, logs, fates, i);
    for (size_t i = 0; i < logs->count; i++) {
        const struct fate *fate = fates != MAP_FAILED && fates[i].tried ? &fates[i] : NULL;
        char *path = logs->paths[i];
        if (fate && fate->copied) {
            logs->paths[i] = vt_strdup(fate->name);
            vt_rights_note_like(logs->paths[i], path);
            free(path);
        } else if (rest_of(local, path)) {
            vt_error("%s: cannot be written: %s; the log stays at %s",
                     fate ? fate->name : local->remote,
                     !fate || !fate->error  ? "the disk has not taken it yet"
                     : fate->error == EBUSY ? "its process is still running"
                                            : strerror(fate->error),
                     path);
        }
    }
    if (fates != MAP_FAILED)
        munmap(fates, bytes);
}
