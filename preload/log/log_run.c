/* SPDX-License-Identifier: MIT */
/*
 * `vramtrace run` collects the names of its processes' logs in a list. Called by log.c when a log
 * was made, or could not be.
 */
#include "log_file.h"
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Only a list that `run` made is written to, not any file that the variable names. A descriptor, or
 * negative. */
static long open_list(const char *list) {
    static const char mark[] = VT_RUN_LIST_MARK;
    char begin[sizeof mark - 1];
    struct stat st;
    long fd = VT_SYS4(SYS_openat, AT_FDCWD, list,
                      O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return fd;
    if (VT_SYS2(SYS_fstat, fd, &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_uid == (uid_t)VT_SYS0(SYS_geteuid) &&
        VT_SYS4(SYS_pread64, fd, begin, sizeof begin, 0) == (long)sizeof begin &&
        memcmp(begin, mark, sizeof begin) == 0)
        return fd;
    VT_SYS1(SYS_close, fd);
    return -EINVAL;
}

void vt_log_run_tell(const char *path, bool made) {
    const char *list = vt_options_env("VRAMTRACE_RUN_LIST");
    static char line[VT_PATH_MAX + 2]; /* one thread at a time opens the log */
    size_t n = made ? 0 : 1, length = strlen(path);
    if (!list || !*list)
        return;
    long fd = open_list(list);
    if (fd < 0)
        return;
    line[0] = '!';
    memcpy(line + n, path, length);
    n += length;
    line[n] = '\n';
    VT_SYS3(SYS_write, fd, line, n + 1);
    VT_SYS1(SYS_close, fd);
}
