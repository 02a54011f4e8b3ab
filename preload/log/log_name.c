/* SPDX-License-Identifier: MIT */
/*
 * Chooses the path of a process's log: the template in VRAMTRACE_OUTPUT or the default name, its folders, and the
 * first free name. Called once, by log.c, at the first record. No allocation.
 *
 * A relative name starts at the folder in which the process started. We note it at load, because many programs change
 * folders before they use CUDA.
 */
#define _GNU_SOURCE
#include "log_file.h"
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#define DEFAULT_NAME "vramtrace.%h.%p.vtl"
#define RANK_NAME    "vramtrace.%h.r%r.%p.vtl"
#define NAMES_TRIED  100000u

/* A text under construction. It never overflows: text that does not fit sets `cut`. */
struct text {
    char *at;
    size_t left;
    bool cut;
};

static void put(struct text *t, const char *s, size_t n, bool as_name) {
    if (n >= t->left) {
        t->cut = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        t->at[i] = as_name && s[i] == '/' ? '_' : s[i];
    t->at += n;
    t->left -= n;
    *t->at = 0;
}

static void put_number(struct text *t, unsigned long n) {
    char digits[24];
    put(t, digits, (size_t)(vt_text_put_number(digits, n) - digits), false);
}

/* A value is part of a file name and must not lead into another folder. */
static void put_value(struct text *t, const char *value) {
    const char *name = value ? value : "";
    bool dots = !strcmp(name, ".") || !strcmp(name, "..");
    put(t, dots ? "__" : name, strlen(name), true);
}

static void put_program(struct text *t) {
    char buffer[512];
    const char *exe = vt_process_program(buffer, sizeof buffer), *slash = strrchr(exe, '/');
    put_value(t, slash ? slash + 1 : exe);
}

/* Expands one %-escape. Returns the first character after it. */
static const char *put_escape(struct text *t, const char *s) {
    struct utsname host;
    const char *job = vt_log_launcher_job(), *close;
    int32_t rank = vt_log_launcher_rank();
    char name[128];
    switch (*s) {
    case 'p':
        put_number(t, (unsigned long)VT_SYS0(SYS_getpid));
        break;
    case 'h':
        put_value(t, VT_SYS1(SYS_uname, &host) == 0 ? host.nodename : "localhost");
        break;
    case 'e':
        put_program(t);
        break;
    case 'r':
        if (rank < 0)
            put_value(t, "none");
        else
            put_number(t, (unsigned long)rank);
        break;
    case 'j':
        put_value(t, job ? job : "none");
        break;
    case '%':
        put(t, "%", 1, false);
        break;
    case 'q':
        close = s[1] == '{' ? strchr(s, '}') : NULL;
        if (close && (size_t)(close - s - 2) < sizeof name) {
            memcpy(name, s + 2, (size_t)(close - s - 2));
            name[close - s - 2] = 0;
            put_value(t, vt_settings_env(name));
            return close + 1;
        }
        /* fall through */
    default: /* not one of ours: copied unchanged */
        put(t, "%", 1, false);
        return s;
    }
    return s + 1;
}

static void expand(struct text *t, const char *template) {
    while (*template) {
        if (*template == '%') {
            template = put_escape(t, template + 1);
        } else {
            put(t, template ++, 1, false);
        }
    }
}

/* The kind of the file at a path, following links; 0: none. */
static unsigned kind_of(const char *path) {
    struct stat st;
    return VT_SYS4(SYS_newfstatat, AT_FDCWD, path, &st, 0) == 0 ? st.st_mode & S_IFMT : 0;
}

static bool is_folder(const char *path) {
    return kind_of(path) == S_IFDIR;
}

/* Makes the folders in `name`, the end of `path`. Ignores errors: opening the file will fail. */
static void make_folders(const char *path, char *name) {
    for (char *s = name; *s; s++) {
        if (*s != '/' || s == path)
            continue;
        *s = 0;
        VT_SYS3(SYS_mkdirat, AT_FDCWD, path, 0777);
        *s = '/';
    }
}

static char started_in[VT_PATH_MAX]; /* ends with "/"; empty: unknown, or too long */

static void note_folder(void) {
    size_t n = VT_SYS2(SYS_getcwd, started_in, sizeof started_in - 1) > 0 ? strlen(started_in) : 0;
    if (started_in[0] != '/') /* "(unreachable)/..." */
        n = 0;
    started_in[n] = 0;
    if (n > 1)
        strcat(started_in, "/");
}

void vt_log_start_folder(void) {
    const char *output = vt_settings_env("VRAMTRACE_OUTPUT");
    if (!output || output[0] != '/')
        note_folder();
}

/* The name is appended to `folder`; an empty `template` means the default. */
static int open_in(const char *folder, const char *template, char *path, size_t size) {
    struct text t = {path, size, false};
    const char *usual = vt_log_launcher_rank() < 0 ? DEFAULT_NAME : RANK_NAME;
    char *name = path + strlen(folder);
    *path = 0;
    put(&t, folder, strlen(folder), false);
    expand(&t, template);
    if (!t.cut && (t.at == name || t.at[-1] == '/' || is_folder(path))) {
        if (t.at != name && t.at[-1] != '/')
            put(&t, "/", 1, false);
        expand(&t, usual);
    }
    if (t.cut)
        return -ENAMETOOLONG;
    make_folders(path, name);
    struct text end = t;
    for (unsigned n = 2;; n++) {
        long fd = vt_descriptors_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        if (fd != -EEXIST || n > NAMES_TRIED)
            return (int)fd;
        /* if the user named a device or a pipe, do not make a file beside it */
        unsigned kind = n == 2 ? kind_of(path) : 0;
        bool device = !strncmp(path, "/dev/", 5) && strncmp(path, "/dev/shm/", 9) != 0;
        if (kind && (device || (kind != S_IFREG && kind != S_IFDIR)))
            return -ENODEV;
        t = end;
        *t.at = 0;
        put(&t, ".", 1, false);
        put_number(&t, n);
        if (t.cut)
            return -ENAMETOOLONG;
    }
}

/* Makes this user's folder beside the run's list. `run` later moves the logs there to the remote file system. Other
 * users make folders in the same place, so we check the owner. False: not available; the log goes directly to its final
 * folder. */
static bool find_local(const char *list, char *folder, size_t size) {
    struct text t = {folder, size, false};
    const char *slash = list ? strrchr(list, '/') : NULL;
    unsigned long user = (unsigned long)VT_SYS0(SYS_geteuid);
    struct stat st;
    if (!slash)
        return false;
    put(&t, list, (size_t)(slash + 1 - list), false);
    put_number(&t, user);
    if (t.cut)
        return false;
    VT_SYS3(SYS_mkdirat, AT_FDCWD, folder, 0700);
    bool ours = VT_SYS4(SYS_newfstatat, AT_FDCWD, folder, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                S_ISDIR(st.st_mode) && st.st_uid == user && !(st.st_mode & 077);
    put(&t, "/", 1, false);
    return ours && !t.cut;
}

static int open_absolute(char *path, size_t size) {
    const char *remote = vt_settings_env("VRAMTRACE_RUN_REMOTE");
    static char folder[VT_PATH_MAX]; /* one thread opens the log */
    size_t n = remote ? strlen(remote) : 0;
    if (n && !strncmp(vt_settings.output, remote, n) &&
        find_local(vt_settings_env("VRAMTRACE_RUN_LIST"), folder, sizeof folder)) {
        int fd = open_in(folder, vt_settings.output + n, path, size);
        if (fd >= 0)
            return fd;
    }
    return open_in("", vt_settings.output, path, size);
}

int vt_log_name_open(char *path, size_t size, const char **shown) {
    if (vt_settings.output && vt_settings.output[0] == '/') {
        *shown = path;
        return open_absolute(path, size);
    }
    *shown = path + strlen(started_in);
    const char *template = vt_settings.output ? vt_settings.output : "";
    int fd = open_in(started_in, template, path, size);
    struct stat there;
    bool gone = VT_SYS4(SYS_newfstatat, AT_FDCWD, started_in, &there, 0) != 0;
    if (!(fd == -ENOENT && gone) && fd != -ENAMETOOLONG)
        return fd;
    *shown = path;
    started_in[0] = 0;
    if (fd == -ENOENT)
        /* The start folder does not exist here (chroot): use the current one, and show its path. */
        note_folder();
    return open_in(started_in, template, path, size);
}

void vt_log_name_print_error(const char *path, int error) {
    char text[256] = ": ";
    static const struct {
        int error;
        const char *text;
    } known[] = {
        {EACCES, "permission denied"},
        {EROFS, "the file system is read-only"},
        {ENOSPC, "no space left on the device"},
        {EDQUOT, "the disk quota is used up"},
        {ENOENT, "a folder in that path cannot be created"},
        {ENOTDIR, "a part of that path is not a folder"},
        {ENODEV, "a log is a file, and this is a device or a pipe"},
        {ENAMETOOLONG, "the name is too long"},
        {EFBIG, "the file size limit (ulimit -f) is too small: at least 128 KiB are needed"},
        {EMFILE, "too many open files"}};
    const char *why = "the system call failed";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].error == error)
            why = known[i].text;
    strcat(text, why);
    bool option = vt_settings_env("VRAMTRACE_OUTPUT_OPTION") ||
                  (!vt_settings.output && vt_settings_env("VRAMTRACE_RUN_LIST")); /* by `run` */
    strcat(text, "; this process is not recorded (");
    strcat(text, option ? "-o PATH writes elsewhere)" : "set VRAMTRACE_OUTPUT to write elsewhere)");
    vt_message_path("cannot write the log ", path[0] ? path : "(name too long)", text);
}
