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
#include <sys/uio.h>

/* Only a list that `run` made is written to, not any file that the variable names; it may be another
 * user's, since the process may have changed its own. A descriptor, or negative. */
static long open_list(const char *list) {
    static const char mark[] = VT_RUN_LIST_MARK;
    char begin[sizeof mark - 1];
    struct stat st;
    long fd = VT_SYS4(SYS_openat, AT_FDCWD, list,
                      O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return fd;
    if (VT_SYS2(SYS_fstat, fd, &st) == 0 && S_ISREG(st.st_mode) &&
        VT_SYS4(SYS_pread64, fd, begin, sizeof begin, 0) == (long)sizeof begin &&
        memcmp(begin, mark, sizeof begin) == 0)
        return fd;
    VT_SYS1(SYS_close, fd);
    return -EINVAL;
}

void vt_log_run_tell(const char *path, bool made) {
    const char *list = vt_options_env("VRAMTRACE_RUN_LIST");
    if (!list || !*list)
        return;
    long fd = open_list(list);
    if (fd < 0)
        return;
    const char *parts[] = {made ? "" : "!", path, "\n"};
    struct iovec line[3];
    for (size_t i = 0; i < 3; i++)
        line[i] = (struct iovec){(void *)(uintptr_t)parts[i], strlen(parts[i])};
    vt_say_to((int)fd, line, 3);
    VT_SYS1(SYS_close, fd);
}
