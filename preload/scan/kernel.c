/* SPDX-License-Identifier: MIT */
/*
 * Finds addresses that only the kernel stores for the process: the data of an epoll event, a timer's signal value,
 * bytes in a pipe, a socket or an unnamed file. Most of this data can be read, and counts as the program's memory. If
 * some cannot, no allocation is called lost (scan->doubt).
 *
 * Called by flood.c if an allocation would be lost otherwise. Consumes nothing that the program would read, not even a
 * socket's pending error.
 */
#define _GNU_SOURCE
#include "flood.h"
#include "log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BYTES      65536u               /* read at a time */
#define FILES_MOST ((uint64_t)64 << 20) /* in all unnamed files */
#define BYTE_WORK  10u                  /* for each copied byte, which may begin a word */

struct asked {
    struct vt_scan *scan;
    struct flood *flood;
    struct vt_maps *maps;
    uint8_t *bytes;      /* BYTES */
    uint64_t file_bytes; /* read from files */
};

static void doubt(struct asked *a, const char *why) {
    a->scan->in_doubt = true;
    a->scan->doubt = why;
}

/* Follows the number after `word` in each line of a file, and sums these numbers. False: the file has no such line. */
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

/* Follows the words of a message, which may begin at any byte. */
static void follow_bytes(struct asked *a, const uint8_t *bytes, long count) {
    for (long i = 0; i + 8 <= count; i++) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        vt_scan_follow(a->flood, word);
    }
}

/* The same for data that is read in parts. Keeps the last bytes, in which a word may begin, at the start of the buffer
 * for the next part. Returns their number. */
static long follow_part(struct asked *a, long count) {
    long kept = count < 7 ? count : 7;
    a->scan->work += (uint64_t)count * BYTE_WORK;
    follow_bytes(a, a->bytes, count);
    memmove(a->bytes, a->bytes + count - kept, (size_t)kept);
    return kept;
}

/* Skips a pipe's write end: its bytes are read through the read end, if the program has that. */
static void ask_pipe(struct asked *a, uint32_t fd) {
    int waiting = 0, copy[2];
    long done = 0, have = 0, got;
    if ((VT_SYS2(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) == O_WRONLY ||
        VT_SYS3(SYS_ioctl, fd, FIONREAD, &waiting) != 0 || waiting < 8)
        return;
    unsigned filled = vt_descriptors_fill();
    bool made = VT_SYS2(SYS_pipe2, copy, O_CLOEXEC | O_NONBLOCK) == 0;
    vt_descriptors_clear(filled);
    if (made) {
        VT_SYS3(SYS_fcntl, copy[1], F_SETPIPE_SZ, VT_SYS2(SYS_fcntl, fd, F_GETPIPE_SZ));
        VT_SYS4(SYS_tee, fd, copy[1], waiting, 2 /* SPLICE_F_NONBLOCK */);
        while ((got = VT_SYS3(SYS_read, copy[0], a->bytes + have, BYTES - have)) > 0) {
            done += got;
            have = follow_part(a, have + got);
        }
        VT_SYS1(SYS_close, copy[0]);
        VT_SYS1(SYS_close, copy[1]);
    }
    if (done < waiting)
        doubt(a, "a pipe holds more bytes than can be copied");
}

static int option(uint32_t fd, int which) {
    int value = -1;
    unsigned size = sizeof value;
    return VT_SYS6(SYS_getsockopt, fd, SOL_SOCKET, which, &value, &size, 0) == 0 ? value : -1;
}

/* Reads a stream's whole queue, or one datagram. */
static void peek(struct asked *a, uint32_t fd, uint32_t waiting) {
    uint8_t *bytes = waiting <= BYTES ? a->bytes : vt_memory_list_add(&a->scan->memory, waiting);
    long size = waiting <= BYTES ? BYTES : waiting,
         got = bytes ? VT_SYS6(SYS_recvfrom, fd, bytes, size, MSG_PEEK | MSG_DONTWAIT, NULL, NULL)
                     : 0;
    if (got < (long)waiting)
        doubt(a, "a socket holds messages that could not be read");
    a->scan->work += got > 0 ? (uint64_t)got * BYTE_WORK : 0;
    follow_bytes(a, bytes, got);
    if (bytes && bytes != a->bytes)
        vt_memory_list_release(&a->scan->memory, bytes);
}

/* A read, even with MSG_PEEK, takes the socket's pending error: the program would then see the end of the file instead.
 * A stream returns its data first. A connected datagram socket first returns the error, which may arrive at any time,
 * so such a socket is not read. Sockets of other kinds are not read either, because reading may have effects. The same
 * holds for a socket whose MSG_PEEK advances (SO_PEEK_OFF). */
static void ask_socket(struct asked *a, uint32_t fd) {
    struct pollfd ready = {.fd = (int)fd, .events = POLLIN};
    struct timespec now = {0, 0};
    struct ucred peer = {.pid = 0};
    struct sockaddr_storage name;
    unsigned size = sizeof peer, name_size = sizeof name;
    int domain = option(fd, SO_DOMAIN), waiting = 0;
    bool stream = option(fd, SO_TYPE) == SOCK_STREAM, local = domain == AF_UNIX,
         known = local || domain == AF_INET || domain == AF_INET6;
    /* Data from the kernel or the network contains no addresses of this process. */
    if (domain == AF_NETLINK || domain == AF_PACKET || domain == AF_ALG ||
        VT_SYS6(SYS_ppoll, &ready, 1, &now, NULL, 8, 0) <= 0 || !(ready.revents & POLLIN))
        return;
    if (known && stream && (VT_SYS3(SYS_ioctl, fd, FIONREAD, &waiting) != 0 || waiting < 8))
        return; /* the socket is listening, or at its end */
    bool connected = !stream && VT_SYS3(SYS_getpeername, fd, &name, &name_size) == 0;
    if (connected && local &&
        VT_SYS6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &size, 0) == 0 &&
        (uint32_t)peer.pid != a->scan->pid)
        return; /* messages of another process */
    if (known && !connected && !(ready.revents & POLLERR) && option(fd, SO_PEEK_OFF) < 0)
        peek(a, fd, (uint32_t)waiting);
    else
        doubt(a, "a socket holds messages that cannot be peeked at");
}

/* A message queue's file has the text "QSIZE:n NOTIFY:n SIGNO:n NOTIFY_PID:n". False: not a queue. */
static bool ask_queue(struct asked *a, uint32_t fd) {
    char text[128] = {0}, *whom;
    if (VT_SYS4(SYS_pread64, fd, text, sizeof text - 1, 0) <= 0 || !vt_maps_begins(text, "QSIZE:"))
        return false;
    whom = strstr(text, "NOTIFY_PID:");
    if (text[6] != '0' || (whom && vt_scan_parse_number(whom + 11, 0) == a->scan->pid))
        doubt(a, "a message queue may hold addresses");
    return true;
}

/* Whether the whole file was already read as mapped memory. */
static bool is_mapped(struct asked *a, const struct stat *st) {
    struct vt_mapping m;
    bool mapped = false;
    if (!vt_maps_open(a->maps))
        return false;
    while (!mapped && vt_maps_next(a->maps, &m))
        mapped = m.inode == st->st_ino && m.offset == 0 && memcmp(m.access, "rw-s", 4) == 0 &&
                 m.end - m.start >= (uint64_t)st->st_size && strstr(m.name, " (deleted)");
    vt_maps_close(a->maps);
    return mapped;
}

/* A file made by memfd_create, or a removed one: only processes that were given the file can reach it. Holes are
 * skipped through a descriptor of our own, so that the program's offset does not move. */
static void ask_file(struct asked *a, uint32_t fd, const char *path, const struct stat *st) {
    long flags = VT_SYS2(SYS_fcntl, fd, F_GETFL), have = 0, got = 0;
    uint64_t at = 0, end = (uint64_t)st->st_size;
    if (vt_log_is_file(st->st_dev, st->st_ino) || (flags & O_ACCMODE) == O_WRONLY || flags & O_PATH)
        return; /* the log, which has every address, or a file that the program cannot read */
    long own = vt_descriptors_open(path, O_RDONLY, 0);
    while (at < end && a->file_bytes < FILES_MOST && vt_scan_may_continue(a->scan)) {
        long data = own >= 0 ? VT_SYS3(SYS_lseek, own, at, SEEK_DATA) : -EINVAL;
        if (data == -ENXIO) /* only a hole up to the end */
            end = at;
        else if (data > (long)at) {
            at = (uint64_t)data;
            have = 0;
        }
        if (at >= end)
            break;
        got = VT_SYS4(SYS_pread64, own >= 0 ? own : fd, a->bytes + have, BYTES - have, at);
        if (got <= 0)
            break;
        at += (uint64_t)got;
        a->file_bytes += (uint64_t)got;
        have = follow_part(a, have + got);
    }
    if (own >= 0)
        VT_SYS1(SYS_close, own);
    if (at < end && !a->scan->found && !is_mapped(a, st))
        doubt(a, "an unnamed file is too large or cannot be read");
}

static void ask_descriptor(struct asked *a, uint32_t fd) {
    struct stat st;
    char path[64] = "/proc/self/fd/", name[32] = {0};
    uint64_t taken, done;
    vt_scan_write_number(path + strlen(path), fd);
    if (VT_SYS2(SYS_fstat, fd, &st) != 0)
        return;
    if (S_ISFIFO(st.st_mode))
        ask_pipe(a, fd);
    else if (S_ISSOCK(st.st_mode))
        ask_socket(a, fd);
    else if (S_ISREG(st.st_mode) && st.st_size == 80 &&
             ask_queue(a, fd)) /* the size of a queue's file */
        return;
    else if (!S_ISREG(st.st_mode) || !st.st_nlink)
        VT_SYS4(SYS_readlinkat, AT_FDCWD, path, name, sizeof name - 1);
    /* Skips our own files, and the simulated driver's device memory, in which a program cannot follow pointers. */
    if (S_ISREG(st.st_mode) && !st.st_nlink && !vt_maps_begins(name, "/memfd:" VT_OUR_MEMFD))
        ask_file(a, fd, path, &st);
    memcpy(path, "/proc/self/fdinfo/", 19);
    *vt_scan_write_number(path + 18, fd) = 0;
    if (strcmp(name, "anon_inode:[eventpoll]") == 0)
        follow_lines(a, path, "data:", &done);
    else if (strcmp(name, "anon_inode:[eventfd]") == 0)
        follow_lines(a, path, "eventfd-count:", &done);
    else if (strcmp(name, "anon_inode:[io_uring]") == 0 &&
             (!follow_lines(a, path, "CachedSqHead:", &taken) ||
              !follow_lines(a, path, "CachedCqTail:", &done) || taken != done))
        doubt(a, "an io_uring has unfinished requests");
}

void vt_scan_follow_kernel(struct vt_scan *scan, struct flood *flood) {
    struct asked a = {.scan = scan, .flood = flood};
    char *block = vt_scan_allocate(scan, 32768);
    uint64_t pending = 0, ignored;
    a.maps = vt_scan_allocate(scan, sizeof *a.maps);
    a.bytes = vt_scan_allocate(scan, BYTES);
    if (scan->stop)
        return;
    follow_lines(&a, "/proc/self/timers", "/", &ignored);
    /* Signals that carry a value: SIGUSR1, SIGUSR2, real-time signals. */
    VT_SYS2(SYS_rt_sigpending, &pending, sizeof pending);
    if (pending & (1u << 9 | 1u << 11 | ~0ull << 31))
        doubt(&a, "a pending signal may carry an address");
    if (scan->aio)
        doubt(&a, "asynchronous I/O may hold addresses");
    long fd = vt_descriptors_open("/proc/self/fd", O_RDONLY | O_DIRECTORY, 0), got;
    ask_descriptor(&a, 0);
    while (fd >= 0 && (got = VT_SYS3(SYS_getdents64, fd, block, 32768)) > 0 && !scan->found) {
        uint32_t number;
        for (long at = 0;
             vt_scan_next_entry(block, got, &at, &number) && vt_scan_may_continue(scan);)
            if (number)
                ask_descriptor(&a, number);
    }
    if (fd >= 0)
        VT_SYS1(SYS_close, fd);
}
