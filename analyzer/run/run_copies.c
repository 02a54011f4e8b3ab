/* SPDX-License-Identifier: MIT */
/*
 * From memory to the disk (see run_copies.h). One log is on its way at a time, so there is one copy in memory.
 */
#define _GNU_SOURCE
#include "run_copies.h"

#include "log/log.h"
#include "run_copy.h"
#include "run_disk.h"
#include "run_logs.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EACH_MS 1000
#define LOOK_MS 10    /* whether the disk took it */
#define SOON_MS 5     /* the same while `run` waits, */
#define WAIT_MS 10000 /* for so long */

struct log {
    struct vt_run_copy copy;
    size_t number;    /* in the list */
    uint64_t next_ns; /* when to copy it next */
    bool done;
    bool named; /* its name is in the list */
    bool fresh; /* it was copied after the run was over */
};

struct vt_run_copies {
    char *folder, *list;
    struct log **logs;
    size_t count, room;
    uint64_t over_ns; /* when the run was over; 0: it is not */
    bool told;        /* that there is nothing to wait for */
    bool started;     /* the thread; it and we have: */
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct vt_run_take take;
    struct log *busy; /* whose copy is on its way; NULL: none is */
    bool over_then;   /* when it was made */
    bool written;     /* it arrived, or cannot: `error` */
    int error;
};

static void *write_out(void *of) {
    struct vt_run_copies *c = of;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!c->busy || c->written)
            pthread_cond_wait(&c->more, &c->lock);
        pthread_mutex_unlock(&c->lock);
        int error = vt_run_disk_write(&c->take);
        pthread_mutex_lock(&c->lock);
        c->error = error;
        c->written = true;
    }
    return NULL;
}

struct vt_run_copies *vt_run_copies_make(const char *folder, const char *list) {
    struct vt_run_copies *c = vt_alloc(1, sizeof *c);
    c->folder = vt_strdup(folder);
    c->list = vt_strdup(list);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->more, NULL);
    return c;
}

static void tell(const struct vt_run_copies *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void tell(const struct vt_run_copies *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    VT_SCOPED char *text = vt_formatted_of(format, args);
    va_end(args);
    VT_SCOPED_FD fd = open(c->list, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && write(fd, text, strlen(text)) < 0)
        errno = 0; /* then `run` takes it for not written */
}

/* How much of a log's name stands before the number that tells it from another log of the run; else all. */
static size_t stem_of(const struct vt_run_copies *c, const char *path) {
    for (size_t i = 0; i < c->count; i++) {
        const char *other = c->logs[i]->copy.log;
        size_t length = strlen(other);
        if (!strncmp(path, other, length) && path[length] == '.' && path[length + 1] &&
            !path[length + 1 + strspn(path + length + 1, "0123456789")])
            return length;
    }
    return strlen(path);
}

bool vt_run_copies_add(struct vt_run_copies *c, const char *path) {
    size_t above = strlen(c->folder), stem = stem_of(c, path);
    struct log *log = vt_alloc(1, sizeof *log);
    log->copy.log = vt_strdup(path);
    log->number = c->count;
    log->done = strncmp(path, c->folder, above) || path[above] != '/'; /* it is not in memory */
    if (!log->done) {
        log->copy.asked = log->copy.log + above;
        log->copy.stem = stem - above;
    }
    *VT_ADD(c->logs, c->count, c->room) = log;
    return !log->done;
}

void vt_run_copies_over(struct vt_run_copies *c) {
    if (c->over_ns)
        return;
    c->over_ns = vt_now_ns();
    for (size_t i = 0; i < c->count; i++)
        c->logs[i]->next_ns = 0;
}

/* Whether nothing is written to a log any more. A log of which the process could not record its end waits for `run`, which writes
 * it there. One that ended by exec may go on, as the exec may fail. */
static bool is_at_end(const struct vt_run_copies *c, const char *path) {
    struct vt_log_header h;
    VT_SCOPED_STRING message = {0};
    uint64_t bytes;
    char state;
    VT_SCOPED_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT;
    if (vt_log_read_header(fd, path, &h, &bytes, &message))
        return true;
    uint64_t started = vt_file_process_started(h.pid, &state);
    bool alive = started && started == h.process_start && state != 'Z' && state != 'X';
    return !alive && (h.exit_kind != VT_EXIT_NONE || c->over_ns);
}

/* Its last copy is written, or cannot be. */
static void finish(struct vt_run_copies *c, struct log *log, int error) {
    log->done = true;
    if (error) {
        tell(c, "-%zu %d\n", log->number, -error);
        return;
    }
    VT_SCOPED char *samples = vt_log_file_path(log->copy.log, VT_PACK_NVML);
    VT_SCOPED char *summary = vt_log_file_path(log->copy.log, VT_PACK_SUMMARY);
    tell(c, "+%zu\n", log->number);
    unlink(log->copy.log);
    unlink(samples);
    unlink(summary);
}

/* Copies a log, and gives the copy to the thread. */
static void begin(struct vt_run_copies *c, struct log *log, uint64_t now) {
    bool last = is_at_end(c, log->copy.log);
    pthread_t thread;
    int error = vt_run_take_make(&log->copy, last, &c->take);
    log->next_ns = now + EACH_MS * 1000000ull;
    if (!error && !c->started)
        error = -pthread_create(&thread, NULL, write_out, c);
    c->started |= !error;
    if (!error && !c->take.idle) {
        pthread_mutex_lock(&c->lock);
        c->busy = log;
        c->over_then = c->over_ns != 0;
        c->written = false;
        pthread_cond_signal(&c->more);
        pthread_mutex_unlock(&c->lock);
        return;
    }
    vt_run_take_free(&c->take);
    log->fresh = c->over_ns != 0 && !error;
    if (error && last && error != -EAGAIN)
        finish(c, log, error);
}

static void end(struct vt_run_copies *c) {
    struct log *log = c->busy;
    bool last = c->take.last;
    vt_run_take_done(&c->take, !c->error);
    vt_run_take_free(&c->take);
    pthread_mutex_lock(&c->lock);
    c->busy = NULL;
    pthread_mutex_unlock(&c->lock);
    log->named &= log->copy.name != NULL; /* it was removed, and gets another one */
    if (!log->named && log->copy.name) {
        tell(c, "=%zu %s\n", log->number, log->copy.name);
        log->named = true;
    }
    log->fresh |= c->over_then && !c->error;
    if (last && c->error != -ESTALE)
        finish(c, log, c->error);
}

/* nftw: what else lies there stays. */
static int remove_folder(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)st;
    (void)at;
    if (kind == FTW_DP)
        rmdir(path);
    return 0;
}

/* Tells `run`, and ends when all is done. */
static void look_for_end(struct vt_run_copies *c) {
    bool waits = false, goes_on = false;
    for (size_t i = 0; i < c->count; i++) {
        goes_on |= !c->logs[i]->done;
        waits |= !c->logs[i]->done && !c->logs[i]->fresh;
    }
    if (!waits && !c->told) {
        tell(c, VT_RUN_DONE "\n");
        c->told = true;
    }
    if (goes_on)
        return;
    vt_run_logs_remove_list(c->list);
    nftw(c->folder, remove_folder, 8, FTW_DEPTH | FTW_PHYS);
    _exit(0);
}

static struct log *next_of(const struct vt_run_copies *c) {
    struct log *next = NULL;
    for (size_t i = 0; i < c->count; i++)
        if (!c->logs[i]->done && (!next || c->logs[i]->next_ns < next->next_ns))
            next = c->logs[i];
    return next;
}

uint64_t vt_run_copies_work(struct vt_run_copies *c, uint64_t now) {
    pthread_mutex_lock(&c->lock);
    bool arrived = c->busy && c->written;
    pthread_mutex_unlock(&c->lock);
    if (arrived)
        end(c);
    struct log *next = next_of(c);
    if (!c->busy && next && next->next_ns <= now)
        begin(c, next, now);
    if (c->over_ns)
        look_for_end(c);
    bool soon = c->over_ns && now - c->over_ns < WAIT_MS * 1000000ull;
    if (c->busy)
        return now + (soon ? SOON_MS : LOOK_MS) * 1000000ull;
    next = next_of(c);
    return next ? next->next_ns : UINT64_MAX;
}
