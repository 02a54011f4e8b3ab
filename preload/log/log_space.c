/* SPDX-License-Identifier: MIT */
/*
 * Checks how long the file may be, and whether its file system guarantees allocated space. Also writes to the file by
 * system calls: all records if a store to mapped space could fail, else only zeroes in advance. Called by log.c.
 */
#define _GNU_SOURCE
#include "log_file.h"
#include "base/base.h"
#include "vramtrace/file_systems.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/vfs.h>

bool vt_log_space_allowed(uint64_t bytes) {
    struct rlimit limit;
    return VT_SYS4(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) < 0 || bytes <= limit.rlim_cur;
}

bool vt_log_space_is_unsure(int fd) {
    struct statfs fs;
    const char *forced = vt_settings_env("VRAMTRACE_TEST_BUFFERED");
    if (forced && *forced == '1')
        return true;
    return VT_SYS2(SYS_fstatfs, fd, &fs) == 0 && vt_file_system(fs.f_type) & VT_FS_UNSURE;
}

bool vt_log_space_write(int fd, const void *data, uint64_t bytes, uint64_t offset) {
    while (bytes) {
        long n = VT_SYS4(SYS_pwrite64, fd, data, bytes, offset);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            return false;
        data = (const char *)data + n;
        offset += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return true;
}

void vt_log_space_fill(int fd, uint64_t offset) {
    /* Not const: a constant would take space in the library's file */
    static char zeroes[VT_CHUNK_BYTES];
    vt_log_space_write(fd, zeroes, sizeof zeroes, offset);
}
