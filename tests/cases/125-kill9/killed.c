/* SPDX-License-Identifier: MIT */
/* killed FILE: 4 threads allocate and free until they are killed. Each counts in FILE, mapped
 * shared, what it has begun and what has come back: 4 x { allocations begun, back, frees begun,
 * back }. */
#include "../../cuda_case.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct truth {
    volatile unsigned long begun, back, free_begun, free_back;
    volatile long tid;
    char pad[24];
};
static struct truth *truths;
static CUcontext context;

static void *work(void *arg) {
    struct truth *t = &truths[(uintptr_t)arg];
    CHECK(cuCtxSetCurrent(context));
    t->tid = syscall(SYS_gettid);
    for (;;) {
        CUdeviceptr p;
        t->begun++;
        CHECK(cuMemAlloc_v2(&p, 1024));
        t->back++;
        t->free_begun++;
        CHECK(cuMemFree_v2(p));
        t->free_back++;
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread;
    EXPECT(argc == 2);
    int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    CHECK(ftruncate(fd, 4096));
    truths = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    EXPECT(truths != MAP_FAILED);
    context = start_cuda();
    for (uintptr_t i = 0; i < 4; i++)
        CHECK(pthread_create(&thread, NULL, work, (void *)i));
    pause();
    return 0;
}
