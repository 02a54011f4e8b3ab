/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a compactor: writes down what is on the disk, were the power cut. DURABLE: a folder; its `journal` gets a line
 * for each thing that happened, in their order, and the bytes are in the file FILE beside it:
 *
 *     seen FILE             all of the log (DURABLE_LOG), at some moment: of each page, this may be on the disk, or what
 *                           comes later
 *     log FILE              the same, and it was synced: nothing older is on the disk any more
 *     header FILE           the same of its first page
 *     data INODE FILE       what was synced of another file
 *     rename INODE FROM TO  that has this name from now on
 *     names                 the folder was synced: the names are on the disk
 *
 * DURABLE_KILL: it is killed at the so-many-th moment before or after such a call; DURABLE_PROGRAM: so is this process, first.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SEEN = 6 }; /* so many of them are kept */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *folder, *log_path;
static unsigned long files, calls, kill_at;
static char seen[SEEN][64];

static void die(void) {
    const char *program = getenv("DURABLE_PROGRAM");
    if (program)
        kill(atoi(program), SIGKILL);
    kill(getpid(), SIGKILL);
}

/* Between two steps. */
static void moment(void) {
    if (++calls == kill_at)
        die();
}

static __attribute__((format(printf, 1, 2))) void note(const char *format, ...) {
    char line[1000], path[500];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    snprintf(path, sizeof path, "%s/journal", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, line, (size_t)length) != length)
        abort();
    close(fd);
}

/* A new file with what is in `from`, or with the bytes. */
static void keep(char *name, int from, const void *bytes, size_t length) {
    static char block[1 << 20];
    char path[500];
    snprintf(name, 64, "%d.%lu", getpid(), ++files);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ssize_t got;
    for (off_t at = 0; !bytes && (got = pread(from, block, sizeof block, at)) > 0; at += got)
        if (write(fd, block, (size_t)got) != got)
            abort();
    if (fd < 0 || (bytes && write(fd, bytes, length) != (ssize_t)length))
        abort();
    close(fd);
}

static void keep_log(char *name) {
    int fd = open(log_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        abort();
    keep(name, fd, NULL, 0);
    close(fd);
}

static void see(void) {
    static unsigned next;
    char path[500], *name = seen[next++ % SEEN];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (*name)
        unlink(path);
    keep_log(name);
    note("seen %s\n", name);
}

static void *go_on(void *seed) {
    unsigned random = (unsigned)(size_t)seed;
    for (;;) {
        nanosleep(&(struct timespec){0, 1000000 + rand_r(&random) % 60000000}, NULL);
        pthread_mutex_lock(&lock);
        see();
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static __attribute__((constructor)) void start(void) {
    const char *kill_text = getenv("DURABLE_KILL");
    pthread_t thread;
    folder = getenv("DURABLE");
    log_path = getenv("DURABLE_LOG");
    if (!folder || !log_path)
        abort();
    kill_at = kill_text ? strtoul(kill_text, NULL, 10) : 0;
    if (pthread_create(&thread, NULL, go_on, (void *)(size_t)getpid()))
        abort();
}

/* --- the calls --- */

int fdatasync(int fd) {
    struct stat st, log;
    char name[64];
    moment();
    pthread_mutex_lock(&lock);
    if (fstat(fd, &st) || stat(log_path, &log))
        abort();
    if (S_ISDIR(st.st_mode)) {
        note("names\n");
    } else if (st.st_dev == log.st_dev && st.st_ino == log.st_ino) {
        keep_log(name);
        note("log %s\n", name);
    } else {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* it may be open for writing alone */
        int from = open(path, O_RDONLY | O_CLOEXEC);
        keep(name, from, NULL, 0);
        close(from);
        note("data %ju %s\n", (uintmax_t)st.st_ino, name);
    }
    pthread_mutex_unlock(&lock);
    moment();
    return 0;
}

int fsync(int fd) {
    return fdatasync(fd);
}

int msync(void *start, size_t length, int flags) {
    char name[64];
    (void)flags;
    moment();
    pthread_mutex_lock(&lock);
    keep(name, -1, start, length); /* the compactor maps the log's header alone */
    note("header %s\n", name);
    see();
    pthread_mutex_unlock(&lock);
    moment();
    return 0;
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    struct stat st;
    moment();
    pthread_mutex_lock(&lock);
    if (fstatat(from_folder, from, &st, 0))
        abort();
    int error = (int)syscall(SYS_renameat, from_folder, from, to_folder, to);
    note("rename %ju %s %s\n", (uintmax_t)st.st_ino, from, to);
    pthread_mutex_unlock(&lock);
    moment();
    return error;
}
