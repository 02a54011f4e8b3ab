/* SPDX-License-Identifier: MIT */
/*
 * The log file: opened at the first record, and extended chunk by chunk. Its format is described in
 * include/vramtrace/log_format.h. log_chunks.c hands the chunks out to threads.
 *
 * There are two modes. Mapped (the usual one): a chunk's space is allocated in the file, then mapped shared. So written
 * records survive SIGKILL without a flush, and a full disk causes an error code here, not a SIGBUS in the program
 * (log_fault.c handles a file that someone truncates). Buffered, if the file system cannot guarantee the space (NFS,
 * FUSE, copy-on-write): chunks lie in our own memory and are written when they are full, once a second, and at the end.
 *
 * Called by log_chunks.c and log_live.c.
 */
#define _GNU_SOURCE
#include "log_file.h"
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define FD_AT_LEAST 512 /* out of the way of programs that count descriptors from 3 */

enum { CLOSED, OPENING, OPEN, FAILED };

static uint32_t state;  /* atomic */
bool vt_log_opened;     /* ... whether `state` is OPEN */
static int log_fd = -1; /* atomic */
static dev_t log_device;
static ino_t log_inode;
bool vt_log_buffered;
static uint32_t log_pid;           /* a copy, because the header may be lost */
static char absolute[VT_PATH_MAX]; /* to reopen the file after the program closed our descriptor */
static const char *path = "";      /* as shown to the user: without the start folder */

struct vt_log_header *vt_log_header = &vt_log_early;

static bool fd_is_ours(int fd) {
    struct stat st;
    return fd >= 0 && VT_SYS2(SYS_fstat, fd, &st) == 0 && st.st_dev == log_device &&
           st.st_ino == log_inode;
}

bool vt_log_is_file(uint64_t device, uint64_t inode) {
    return log_inode && device == log_device && inode == log_inode;
}

/* The log's descriptor, valid for a few system calls. */
struct use {
    int fd;      /* negative: there is none */
    bool closes; /* whether to close it afterwards */
};

static void end_use(struct use u) {
    if (u.closes)
        VT_SYS1(SYS_close, u.fd);
}

static struct use use_kept(void) {
    int fd = vt_get(&log_fd);
    return (struct use){fd_is_ours(fd) ? fd : -1, false};
}

/* Programs expect the next descriptor to be the lowest free one, so we move ours up. If that fails, we keep none,
 * because the program may have few descriptors and need them all. If several threads do this together, the first one's
 * descriptor stays. */
static struct use keep(int fresh, int was) {
    long high = VT_SYS3(SYS_fcntl, fresh, F_DUPFD_CLOEXEC, FD_AT_LEAST);
    if (high < 0)
        return (struct use){fresh, true};
    VT_SYS1(SYS_close, fresh);
    if (!vt_claim(&log_fd, was, (int)high))
        VT_SYS1(SYS_close, high);
    return use_kept();
}

/* The program may have closed our descriptor, or opened another file in its place. Then we open the file again by
 * name. */
static struct use begin_use(void) {
    int was = vt_get(&log_fd);
    if (VT_LIKELY(fd_is_ours(was)))
        return (struct use){was, false};
    int fresh = (int)vt_descriptors_open(absolute, O_RDWR | O_NOFOLLOW, 0);
    if (fd_is_ours(fresh))
        return keep(fresh, was);
    if (fresh >= 0)
        VT_SYS1(SYS_close, fresh);
    return use_kept();
}

bool vt_log_is_lost(void) {
    struct use u = begin_use();
    end_use(u);
    return vt_log_fault_seen() || u.fd < 0;
}

/* Allocates a chunk's space in the file. Returns 0 or negative errno. */
static long allocate(int fd, uint64_t number) {
    long result;
    if (!vt_log_space_allowed((number + 1) * VT_CHUNK_BYTES))
        return -EFBIG;
    do
        result = VT_SYS4(SYS_fallocate, fd, 0, number * VT_CHUNK_BYTES, VT_CHUNK_BYTES);
    while (result == -EINTR);
    return result;
}

bool vt_log_write(const void *data, uint64_t bytes, uint64_t offset) {
    struct use u = begin_use();
    bool written = u.fd >= 0 && vt_log_space_allowed(offset + bytes) &&
                   vt_log_space_write(u.fd, data, bytes, offset);
    end_use(u);
    return written;
}

/* Returns 0 or negative errno. The file was made if u->fd >= 0. */
static int open_file(struct use *u) {
    int fresh = vt_log_name_open(absolute, sizeof absolute, &path);
    struct stat st;
    if (fresh < 0)
        return fresh;
    *u = (struct use){fresh, true};
    if (VT_SYS2(SYS_fstat, fresh, &st) != 0)
        return -EIO;
    log_device = st.st_dev;
    log_inode = st.st_ino;
    *u = keep(fresh, -1);
    vt_log_buffered = vt_log_space_is_unsure(u->fd);
    long result = vt_log_buffered ? (vt_log_space_allowed(2 * VT_CHUNK_BYTES) ? 0 : -EFBIG)
                                  : allocate(u->fd, 0);
    if (result == -EOPNOTSUPP || result == -ENOSYS) {
        vt_log_buffered = true;
        result = 0;
    }
    return (int)result;
}

/* A chunk's memory: the file's space, or in buffered mode our own. */
static void *map_chunk(int fd, uint64_t number) {
    return vt_log_buffered ? vt_sys_mmap(VT_CHUNK_BYTES, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                           : vt_sys_mmap(VT_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                                         number * VT_CHUNK_BYTES);
}

void *vt_log_map(uint64_t number) {
    struct use u = vt_log_fault_seen() ? (struct use){-1, false} : begin_use();
    void *chunk = u.fd >= 0 ? map_chunk(u.fd, number) : NULL;
    end_use(u);
    return chunk;
}

/* The header counts a chunk only once the file is long enough for it. If a process ended after a thread reserved a
 * number and before it allocated the space, a reader would otherwise find the file too short, and call it truncated. */
void vt_log_count_placed(uint64_t number) {
    uint64_t counted;
    while ((counted = vt_get(&vt_log_header->placed)) <= number &&
           !vt_claim(&vt_log_header->placed, counted, number + 1))
        continue;
}

struct vt_chunk_header *vt_log_place(uint64_t number, bool fills) {
    struct use u = vt_log_buffered || vt_log_fault_seen() ? (struct use){-1, false} : begin_use();
    bool space = u.fd >= 0 && allocate(u.fd, number) == 0;
    if (space && fills)
        vt_log_space_fill(u.fd, number * VT_CHUNK_BYTES);
    struct vt_chunk_header *c = space || vt_log_buffered ? map_chunk(u.fd, number) : NULL;
    end_use(u);
    if (c && space)
        vt_log_count_placed(number);
    if (c)
        c->number = number;
    return c;
}

/* Makes slots for more threads. If two threads do so together, some slots stay free. */
bool vt_log_place_slots(uint64_t number) {
    struct vt_log_slots *s = (void *)vt_log_place(number, false);
    if (s)
        vt_log_slots_add(vt_log_header, s);
    return s != NULL;
}

static bool open_log(void) {
    struct use u = {-1, false};
    int result = open_file(&u);
    if (result == 0) {
        struct vt_log_header *h = map_chunk(u.fd, 0);
        if (h) {
            if (!vt_log_buffered)
                vt_log_fault_watch();
            vt_log_header_fill(h, &vt_log_clock_start, vt_log_clock);
            h->flags |= vt_get(&vt_log_early.flags) | (vt_log_buffered ? VT_FLAG_BUFFERED : 0);
            for (size_t i = 0; i < VT_DROP_REASONS; i++)
                h->dropped[i] = vt_get(&vt_log_early.dropped[i]);
            h->first_drop = vt_get(&vt_log_early.first_drop);
            h->bound = vt_log_bound_start(u.fd);
            h->kept_chunks = vt_log_bound.most - vt_log_bound.scan;
            vt_put(&h->chunks, 1);
            vt_put(&h->placed, 1);
            log_pid = h->pid;
            vt_log_header = h;
            vt_log_calibrate(vt_log_header);
            /* the whole chunk: the live list needs its space at the end */
            if (!vt_log_buffered || vt_log_write(h, VT_CHUNK_BYTES, 0)) {
                vt_log_counters = h; /* stays mapped: all threads count drops here */
                if (!vt_log_buffered)
                    vt_log_place_slots(vt_add(&h->chunks, 1));
                end_use(u);
                vt_log_run_add(absolute, true);
                return true;
            }
            vt_sys_munmap(h, VT_CHUNK_BYTES);
            result = -ENOSPC;
        } else {
            result = -ENOMEM;
        }
    }
    vt_log_run_add(path, false);
    vt_log_name_print_error(path, -result);
    if (u.fd >= 0) {
        VT_SYS3(SYS_unlinkat, AT_FDCWD, absolute, 0); /* we made it, and it is empty */
        VT_SYS1(SYS_close, u.fd);
        log_fd = -1;
    }
    vt_log_header = &vt_log_early;
    return false;
}

/* An exception to "never waits": threads that have their first events at the same time wait for the one that opens the
 * file. That one takes no lock that they might hold. */
VT_COLD bool vt_log_open_(void) {
    uint32_t s = vt_see(&state);
    if (s == CLOSED) {
        uint64_t held = vt_sys_hold_signals();
        if (vt_claim(&state, CLOSED, OPENING)) {
            bool open = open_log();
            vt_publish(&vt_log_opened, open);
            vt_publish(&state, open ? OPEN : FAILED);
        }
        vt_sys_let_signals(held);
    }
    while ((s = vt_see(&state)) == OPENING)
        sched_yield();
    return s == OPEN;
}

struct vt_log_live_chunk *vt_log_next_live(struct vt_log_live_chunk *before, bool more) {
    uint64_t number = before ? before->number : 0;
    if (before && vt_log_buffered && vt_log_write(before, VT_CHUNK_BYTES, number * VT_CHUNK_BYTES))
        vt_log_count_placed(number);
    if (before)
        vt_sys_munmap(before, VT_CHUNK_BYTES);
    vt_put(&vt_log_bound.now, vt_log_bound.most);
    uint64_t next = more ? vt_log_bound_number(&vt_log_header->chunks) : 0;
    struct vt_log_live_chunk *c = next ? (void *)vt_log_place(next, true) : NULL;
    if (c) {
        c->before = number;
        vt_log_header->live_last = c->number;
    }
    return c;
}

void vt_log_program(bool runs, uint64_t ticks) {
    uint64_t said = vt_get(&vt_log_header->program_end);
    if (runs ? said == 0 : said == 0 || said == VT_PROGRAM_RUNS)
        vt_put(&vt_log_header->program_end, runs ? VT_PROGRAM_RUNS : ticks);
}

const char *vt_log_path(void) {
    return path;
}

const char *vt_log_fate(void) {
    struct stat st;
    if (fd_is_ours(log_fd) && VT_SYS2(SYS_fstat, log_fd, &st) == 0 && st.st_nlink == 0)
        return " was deleted";
    return vt_log_fault_seen() ? " was truncated" : NULL;
}

uint32_t vt_log_pid(void) {
    return vt_log_is_open() ? log_pid : (uint32_t)VT_SYS0(SYS_getpid);
}

bool vt_log_is_mine(void) {
    return !vt_locks_vforks && vt_process_is_ours() && vt_log_is_open() &&
           (!vt_sys_is_free() || vt_log_pid() == (uint32_t)VT_SYS0(SYS_getpid));
}

void vt_log_file_forked(void) {
    if (fd_is_ours(log_fd))
        VT_SYS1(SYS_close, log_fd);
    log_fd = -1;
    path = "";
    vt_log_header = &vt_log_early; /* not NULL: interrupted code may still use it */
    vt_publish(&vt_log_opened, false);
    vt_publish(&state, (uint32_t)CLOSED);
}
