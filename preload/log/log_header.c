/* SPDX-License-Identifier: MIT */
/*
 * Fills in the log's header fields about the process: its identity, host, start time and command line. Called once, by
 * log.c, at the first record, not at load, because launchers set the rank late.
 */
#define _GNU_SOURCE
#include "log_file.h"
#include "base/base.h"

#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

/* Reads a file's beginning and returns its length. The buffer is NUL-terminated. */
static size_t read_file(const char *path, char *buffer, size_t size) {
    long fd = vt_descriptors_open(path, O_RDONLY, 0);
    size_t used = 0;
    while (fd >= 0 && used < size - 1) {
        long n = VT_SYS3(SYS_read, fd, buffer + used, size - 1 - used);
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    if (fd >= 0)
        VT_SYS1(SYS_close, fd);
    buffer[used] = 0;
    return used;
}

static void copy(char *to, size_t size, const char *from) {
    size_t n = from ? strnlen(from, size - 1) : 0;
    if (n)
        memcpy(to, from, n);
    to[n] = 0;
}

/* 32 hex digits: the run's id, or a random one for a process that `vramtrace run` did not start. */
static void fill_run_id(char *id) {
    static const char hex[] = "0123456789abcdef";
    const char *given = vt_settings_env("VRAMTRACE_RUN_ID");
    unsigned char random[16] = {0};
    if (given && *given) {
        copy(id, 40, given);
        return;
    }
    VT_SYS3(SYS_getrandom, random, sizeof random, 1 /* GRND_NONBLOCK */);
    for (size_t i = 0; i < sizeof random; i++) {
        id[2 * i] = hex[random[i] >> 4];
        id[2 * i + 1] = hex[random[i] & 15];
    }
}

/* Field 22 of /proc/self/stat. Field 2, the name in parentheses, may contain any character. */
static uint64_t process_start(void) {
    char stat[1024];
    read_file("/proc/self/stat", stat, sizeof stat);
    const char *s = strrchr(stat, ')');
    uint64_t n = 0;
    for (int field = 2; s && *s && field < 22; s++)
        field += *s == ' ';
    while (s && *s >= '0' && *s <= '9')
        n = n * 10 + (uint64_t)(*s++ - '0');
    return n;
}

/* The link's text is "pid:[4026531836]". */
static uint64_t pid_namespace(void) {
    char link[64];
    long n = VT_SYS4(SYS_readlinkat, AT_FDCWD, "/proc/self/ns/pid", link, sizeof link);
    uint64_t inode = 0;
    for (long i = 5; i < n && link[i] >= '0' && link[i] <= '9'; i++)
        inode = inode * 10 + (uint64_t)(link[i] - '0');
    return inode;
}

void vt_log_header_fill(struct vt_log_header *h, const struct vt_clock_pair *start,
                        uint32_t clock) {
    struct utsname host;
    char boot[64];
    memcpy(h->magic, VT_LOG_MAGIC, sizeof h->magic);
    h->version = VT_LOG_VERSION;
    h->version_min = VT_LOG_VERSION;
    h->header_bytes = sizeof *h;
    h->chunk_bytes = VT_CHUNK_BYTES;
    h->clock = clock;
    h->pid = (uint32_t)VT_SYS0(SYS_getpid);
    h->ppid = (uint32_t)VT_SYS0(SYS_getppid);
    h->start_ticks = start->ticks;
    h->start_monotonic_ns = start->monotonic_ns;
    h->start_realtime_ns =
        vt_sys_clock_ns(CLOCK_REALTIME) - (vt_sys_clock_ns(CLOCK_MONOTONIC) - start->monotonic_ns);
    vt_log_launcher_fill(h);
    fill_run_id(h->run_id);
    size_t n = read_file("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    if (n && boot[n - 1] == '\n')
        boot[n - 1] = 0;
    copy(h->boot_id, sizeof h->boot_id, boot);
    copy(h->host, sizeof h->host, VT_SYS1(SYS_uname, &host) == 0 ? host.nodename : NULL);
    copy(h->tracer, sizeof h->tracer, VT_VERSION);
    copy(h->job, sizeof h->job, vt_log_launcher_job());
    h->process_start = process_start();
    h->pid_namespace = pid_namespace();
    n = read_file("/proc/self/cmdline", h->command, sizeof h->command);
    if (!n && vt_process_command) {
        n = vt_process_command_bytes < sizeof h->command - 1 ? vt_process_command_bytes
                                                             : sizeof h->command - 1;
        memcpy(h->command, vt_process_command, n);
    }
    h->command_bytes = (uint32_t)n;
    if (n == sizeof h->command - 1)
        h->flags |= VT_FLAG_COMMAND_CUT;
    const char *program = vt_process_program(h->exe, sizeof h->exe);
    if (program != h->exe)
        copy(h->exe, sizeof h->exe, program);
    VT_SYS2(SYS_getcwd, h->cwd, sizeof h->cwd);
}
