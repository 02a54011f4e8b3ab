/* SPDX-License-Identifier: MIT */
/*
 * Adds a log's name to the list that `vramtrace run` keeps for its processes. Called by log.c, also when the log could
 * not be made.
 */
#include "log_file.h"
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

static bool is_ours(long fd, struct stat *st) {
    return fd >= 0 && VT_SYS2(SYS_fstat, fd, st) == 0 && S_ISREG(st->st_mode) &&
           st->st_uid == (uid_t)VT_SYS0(SYS_geteuid);
}

/* LIST.UID: used if the run's list belongs to another user, because the process may have changed its user. */
static long open_beside(const char *list) {
    static char path[VT_PATH_MAX + 32]; /* one thread opens the log */
    char first = '/';
    struct stat st;
    if (strlen(list) >= VT_PATH_MAX)
        return -ENAMETOOLONG;
    strcpy(path, list);
    strcat(path, ".");
    *vt_text_put_number(path + strlen(path), (uint64_t)VT_SYS0(SYS_geteuid)) = 0;
    long fd = vt_descriptors_open(
        path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    if (is_ours(fd, &st) && st.st_nlink == 1 && VT_SYS4(SYS_pread64, fd, &first, 1, 0) >= 0 &&
        (first == '/' || first == '!'))
        return fd;
    if (fd >= 0)
        VT_SYS1(SYS_close, fd);
    return -EACCES;
}

/* Writes only to a list that `run` made, not to any file that the variable names. Returns a descriptor, or negative
 * errno. */
static long open_list(const char *list) {
    static const char mark[] = VT_RUN_LIST_MARK;
    char begin[sizeof mark];
    struct stat st;
    long fd = vt_descriptors_open(list, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    if (is_ours(fd, &st) &&
        VT_SYS4(SYS_pread64, fd, begin, sizeof begin, 0) == (long)sizeof begin &&
        memcmp(begin, mark, sizeof begin) == 0)
        return fd;
    if (fd >= 0)
        VT_SYS1(SYS_close, fd);
    return fd == -EACCES ? open_beside(list) : -EINVAL;
}

void vt_log_run_add(const char *path, bool made) {
    const char *list = vt_settings_env("VRAMTRACE_RUN_LIST");
    if (!list || !*list)
        return;
    long fd = open_list(list);
    if (fd < 0)
        return;
    struct iovec line[] = {{(void *)(uintptr_t) "!", made ? 0 : 1},
                           {(void *)(uintptr_t)path, strlen(path) + 1}};
    vt_message_to((int)fd, line, 2);
    VT_SYS1(SYS_close, fd);
}
