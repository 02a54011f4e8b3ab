/* SPDX-License-Identifier: MIT */
/* descriptors HOW: does something to the process's descriptors or to the log's place between its
 * events, allocates enough for several chunks of the log before and after, and keeps 3 pieces. Its
 * own files must hold what it wrote and no more. */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void pairs(unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        CUdeviceptr p;
        CHECK(cuMemAlloc_v2(&p, 1024));
        CHECK(cuMemFree_v2(p));
    }
}

static void keep(void) {
    CUdeviceptr p;
    CHECK(cuMemAlloc_v2(&p, 100));
}

/* A file of the program's own on every descriptor from `from` to `to`. */
static void take_all(int from, int to) {
    int fd = open("own", O_RDWR | O_CREAT | O_TRUNC, 0600);
    EXPECT(fd >= 0);
    for (int i = from; i < to; i++)
        if (i != fd)
            EXPECT(dup2(fd, i) == i);
}

static void own_untouched(void) {
    struct stat st;
    CHECK(stat("own", &st));
    EXPECT(st.st_size == 0);
}

static CUcontext context;

static void *work(void *arg) {
    CHECK(cuCtxSetCurrent(context));
    pairs(10);
    return arg;
}

/* A file with something in it on every descriptor; then new threads, which are unwound for the first time. */
static void own_data(void) {
    char data[3000], now[3001];
    memset(data, 'x', sizeof data);
    take_all(3, 1000);
    int fd = open("own", O_RDWR);
    EXPECT(fd < 0 || fd >= 1000); /* none is free below */
    EXPECT(write(500, data, sizeof data) == sizeof data && lseek(500, 1000, SEEK_SET) == 1000);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, work, NULL));
        CHECK(pthread_join(thread, NULL));
    }
    EXPECT(lseek(500, 0, SEEK_CUR) == 1000);
    EXPECT(pread(500, now, sizeof now, 0) == sizeof data && memcmp(now, data, sizeof data) == 0);
    CHECK(ftruncate(500, 0));
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "", *log = argc > 2 ? argv[2] : "log.vtl";
    struct rlimit limit = {8, 8};
    if (strcmp(how, "few") == 0)
        CHECK(setrlimit(RLIMIT_NOFILE, &limit));
    if (strcmp(how, "none") == 0) {
        limit.rlim_cur = 3;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit));
    }
    context = start_cuda();
    keep();
    pairs(4000);
    if (strcmp(how, "nothing") ==
        0) { /* the program's next descriptor is the one that it would be without us */
        int next = open("/dev/null", O_RDONLY);
        EXPECT(next == 3);
        close(next);
    }
    if (strcmp(how, "dup2-data") == 0)
        own_data();
    if (strcmp(how, "closefrom") == 0) {
        CHECK(syscall(SYS_close_range, 3, ~0u, 0));
        int first = open("/dev/null", O_RDONLY);
        pairs(4000); /* the log is opened again, and not where the program looks for its next
                        descriptor */
        int next = open("/dev/null", O_RDONLY);
        EXPECT(first == 3 && next == 4);
    }
    if (strcmp(how, "dup2") == 0)
        take_all(3, 1000);
    if (strcmp(how, "dup2-gone") == 0) {
        take_all(3, 1000);
        CHECK(unlink(log));
    }
    if (strcmp(how, "close-stderr") == 0)
        close(2);
    if (strcmp(how, "other-stderr") == 0) { /* its own data where stderr was */
        close(2);
        EXPECT(open("own", O_RDWR | O_CREAT | O_TRUNC, 0600) == 2);
    }
    if (strcmp(how, "chdir") == 0) {
        CHECK(mkdir("elsewhere", 0700));
        CHECK(chdir("elsewhere"));
        CHECK(syscall(SYS_close_range, 3, ~0u, 0));
    }
    if (strcmp(how, "deleted") == 0)
        CHECK(unlink(log));
    if (strcmp(how, "closed-deleted") == 0) {
        CHECK(unlink(log));
        CHECK(syscall(SYS_close_range, 3, ~0u, 0));
    }
    if (strcmp(how, "no-sigpipe") == 0)
        signal(SIGPIPE, SIG_DFL);
    pairs(4000);
    keep();
    pairs(4000);
    keep();
    if (strncmp(how, "dup2", 4) == 0 || strcmp(how, "other-stderr") == 0)
        own_untouched();
    printf("%llu\n", (unsigned long long)vramtrace_sim_live_count(-1));
    fflush(stdout);
    if (strcmp(how, "other-stderr") == 0)
        atexit(own_untouched);
    return 0;
}
