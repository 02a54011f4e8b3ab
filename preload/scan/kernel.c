/* SPDX-License-Identifier: MIT */
/*
 * Addresses that only the kernel has for the process: what epoll gives back with an event, a timer with its
 * signal, a pipe, a socket or a file without a name to who reads it. Most can be read, and count as words of the program's
 * memory. Where one cannot be, nothing is called lost (scan->doubt).
 *
 * Called by flood.c when something would be lost otherwise. Nothing that the program would read is taken away.
 */
#define _GNU_SOURCE
#include "flood.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define BYTES 65536u /* a pipe's and most of what a socket holds */

struct asked {
    struct vt_scan *scan;
    struct flood *flood;
    struct vt_maps *maps;
    uint8_t *bytes; /* BYTES */
};

static void doubt(struct asked *a, const char *why) {
    a->scan->in_doubt = true;
    a->scan->doubt = why;
}

/* Follows the numbers behind a word in lines of a file. Their sum; false: it has none. */
static bool follow_lines(struct asked *a, const char *path, const char *word, uint64_t *sum) {
    uintptr_t value;
    bool found = false;
    *sum = 0;
    if (!vt_maps_open_file(a->maps, path))
        return false;
    for (const char *line, *at; (line = vt_maps_line(a->maps));) {
        if (!(at = strstr(line, word)))
            continue;
        for (at += strlen(word); *at == ' ' || *at == '\t';)
            at++;
        vt_maps_hex(at, &value);
        vt_scan_follow(a->flood, value);
        *sum += value;
        found = true;
    }
    vt_maps_close(a->maps);
    return found;
}

/* A message has its words anywhere. */
static void follow_bytes(struct asked *a, long count) {
    for (long i = 0; i + 8 <= count; i++) {
        uint64_t word;
        memcpy(&word, a->bytes + i, sizeof word);
        vt_scan_follow(a->flood, word);
    }
}

static void ask_pipe(struct asked *a, uint32_t fd) {
    int waiting = 0, copy[2];
    if (VT_SYS3(SYS_ioctl, fd, FIONREAD, &waiting) != 0 || waiting < 8)
        return;
    unsigned filled = vt_descriptors_fill();
    bool made = VT_SYS2(SYS_pipe2, copy, O_CLOEXEC | O_NONBLOCK) == 0;
    vt_descriptors_clear(filled);
    if (!made)
        return;
    if (VT_SYS4(SYS_tee, fd, copy[1], BYTES, 2 /* SPLICE_F_NONBLOCK */) > 0)
        follow_bytes(a, VT_SYS3(SYS_read, copy[0], a->bytes, BYTES));
    VT_SYS1(SYS_close, copy[0]);
    VT_SYS1(SYS_close, copy[1]);
}

/* Of datagrams only the first can be read. They may be the process's own where it made both ends. */
static void ask_socket(struct asked *a, uint32_t fd) {
    struct ucred peer = {.pid = 0};
    int type = SOCK_STREAM;
    unsigned size = sizeof peer, type_size = sizeof type;
    long got = VT_SYS6(SYS_recvfrom, fd, a->bytes, BYTES, MSG_PEEK | MSG_DONTWAIT, NULL, NULL);
    if (got < 8)
        return;
    follow_bytes(a, got);
    VT_SYS6(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &type_size, 0);
    if ((type != SOCK_STREAM || got == BYTES) &&
        VT_SYS6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &size, 0) == 0 &&
        (uint32_t)peer.pid == a->scan->pid)
        doubt(a, "a socket of the process's own holds unread messages");
}

/* A message queue says of itself "QSIZE:n NOTIFY:n SIGNO:n NOTIFY_PID:n". */
static void ask_queue(struct asked *a, uint32_t fd) {
    char text[128] = {0}, *whom;
    if (VT_SYS4(SYS_pread64, fd, text, sizeof text - 1, 0) <= 0 || !vt_maps_begins(text, "QSIZE:"))
        return;
    whom = strstr(text, "NOTIFY_PID:");
    if (text[6] != '0' || (whom && vt_scan_number_in(whom + 11, 0) == a->scan->pid))
        doubt(a, "a message queue may hold addresses");
}

static void ask_descriptor(struct asked *a, uint32_t fd) {
    struct stat st;
    char path[64] = "/proc/self/fd/", name[32] = {0};
    uint64_t taken, done;
    vt_scan_number(path + strlen(path), fd);
    if (VT_SYS2(SYS_fstat, fd, &st) != 0)
        return;
    if (S_ISFIFO(st.st_mode))
        ask_pipe(a, fd);
    else if (S_ISSOCK(st.st_mode))
        ask_socket(a, fd);
    else if (S_ISREG(st.st_mode) && st.st_size == 80) /* as a message queue has */
        ask_queue(a, fd);
    else if (S_ISREG(st.st_mode) &&
             !st.st_nlink) /* memfd_create, or removed: only this process has it */
        follow_bytes(a, VT_SYS4(SYS_pread64, fd, a->bytes, BYTES, 0));
    else if (!S_ISREG(st.st_mode))
        VT_SYS4(SYS_readlinkat, AT_FDCWD, path, name, sizeof name - 1);
    memcpy(path, "/proc/self/fdinfo/", 19);
    *vt_scan_number(path + 18, fd) = 0;
    if (strcmp(name, "anon_inode:[eventpoll]") == 0)
        follow_lines(a, path, "data:", &done);
    else if (strcmp(name, "anon_inode:[eventfd]") == 0)
        follow_lines(a, path, "eventfd-count:", &done);
    else if (strcmp(name, "anon_inode:[io_uring]") == 0 &&
             (!follow_lines(a, path, "CachedSqHead:", &taken) ||
              !follow_lines(a, path, "CachedCqTail:", &done) || taken != done))
        doubt(a, "an io_uring has requests that are not done");
}

void vt_scan_ask_kernel(struct vt_scan *scan, struct flood *flood) {
    struct asked a = {.scan = scan, .flood = flood};
    char *block = vt_scan_take(scan, 32768);
    uint64_t pending = 0, ignored;
    a.maps = vt_scan_take(scan, sizeof *a.maps);
    a.bytes = vt_scan_take(scan, BYTES);
    if (scan->stop)
        return;
    follow_lines(&a, "/proc/self/timers", "/", &ignored);
    /* Signals with a value: SIGUSR1, SIGUSR2, those of real time. */
    VT_SYS2(SYS_rt_sigpending, &pending, sizeof pending);
    if (pending & (1u << 9 | 1u << 11 | ~0ull << 31))
        doubt(&a, "a signal waits that may have an address");
    if (scan->aio)
        doubt(&a, "asynchronous I/O may hold addresses");
    long fd = vt_descriptors_open("/proc/self/fd", O_RDONLY | O_DIRECTORY, 0), got;
    ask_descriptor(&a, 0);
    while (fd >= 0 && (got = VT_SYS3(SYS_getdents64, fd, block, 32768)) > 0 && !scan->found) {
        uint32_t number;
        for (long at = 0; vt_scan_entry(block, got, &at, &number) && vt_scan_goes_on(scan);)
            if (number)
                ask_descriptor(&a, number);
    }
    if (fd >= 0)
        VT_SYS1(SYS_close, fd);
}
