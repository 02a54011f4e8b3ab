/* SPDX-License-Identifier: MIT */
/* closed LIMIT [constructor|first|never]: started with some of its descriptors 0 to 2 closed. Its data file takes the lowest
 * descriptor: in a library's constructor, before CUDA is used, or not at all. LIMIT: RLIMIT_NOFILE, if not 0. Threads write to and
 * read from what is closed, again and again: none may succeed. At the end all is as it was, and the file holds what
 * was written to it. */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int closed[3];
static volatile int stop;

static void *use_closed(void *arg) {
    char text[16] = "the program's\n";
    while (!stop)
        for (int fd = 0; fd < 3; fd++)
            if (closed[fd] && (write(fd, text, 14) >= 0 || read(fd, text, 1) >= 0))
                _exit(9);
    return arg;
}

static void work(void) {
    for (unsigned i = 0; i < 6000; i++) {
        CUdeviceptr p;
        CHECK(cuMemAlloc_v2(&p, 1024));
        CHECK(cuMemFree_v2(p));
    }
}

int main(int argc, char **argv) {
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    const char *data = argc > 2 ? argv[2] : "";
    struct rlimit limit = {n, n};
    struct stat st;
    const int *early = dlsym(RTLD_DEFAULT, "data_file"); /* libearly.c */
    int data_file = early ? *early : -1;
    CUdeviceptr kept;
    pthread_t thread;
    if (!strcmp(data, "first"))
        data_file = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int fd = 0; fd < 3; fd++)
        closed[fd] = fcntl(fd, F_GETFD) < 0;
    int next = open("/dev/null", O_RDONLY);
    EXPECT(next >= 0 && close(next) == 0);
    if (n)
        CHECK(setrlimit(RLIMIT_NOFILE, &limit));
    CHECK(pthread_create(&thread, NULL, use_closed, NULL));
    start_cuda();
    for (int i = 0; i < 3; i++)
        CHECK(cuMemAlloc_v2(&kept, 100));
    work();
    stop = 1;
    CHECK(pthread_join(thread, NULL));
    for (int fd = 0; fd < 3; fd++)
        EXPECT((fcntl(fd, F_GETFD) < 0) == closed[fd]);
    int again = open("/dev/null", O_RDONLY);
    EXPECT(again == next && close(again) == 0);
    if (data_file >= 0) {
        EXPECT(write(data_file, "data", 4) == 4);
        EXPECT(fstat(data_file, &st) == 0 && st.st_size == 4);
    }
    return 0;
}
