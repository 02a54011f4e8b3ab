/* SPDX-License-Identifier: MIT */
/*
 * rewrite plain|growing|pinned MIB ROUNDS: a heap of that size, which a second thread rewrites completely in each
 * round, while the first requests a snapshot of the owners. `growing` begins with half of it; `pinned` registers a
 * quarter of it with io_uring, which pins its pages (VmPin). Prints the number of rounds. Linked with the simulated
 * driver.
 */
#include "../cuda_case.h"

#include <vramtrace.h>

#include <linux/io_uring.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define BUFFER                                                                                     \
    MIB /* io_uring takes up to 1 GiB in one buffer; memory that is locked has a limit for users */

static char *heap;
static size_t now, most;
static int ended; /* atomic */

/* Every word points to another place of the heap, so that a search has much to look at. */
static void write_all(size_t round) {
    size_t all = __atomic_load_n(&now, __ATOMIC_RELAXED), words = all / sizeof(char *);
    char *volatile *word = (char *volatile *)heap;
    for (size_t i = 0; i < words; i++)
        word[i] = heap + (i * 7919 + round) % words * sizeof(char *);
}

static void *writer(void *unused) {
    (void)unused;
    for (size_t round = 2; !__atomic_load_n(&ended, __ATOMIC_RELAXED); round++)
        write_all(round);
    return NULL;
}

static void pin(size_t bytes) {
    static struct iovec vectors[1024];
    struct io_uring_params params = {0};
    unsigned count = 0;
    int ring = (int)syscall(SYS_io_uring_setup, 4, &params);
    EXPECT(ring >= 0);
    for (size_t at = 0; at < bytes; at += BUFFER)
        vectors[count++] = (struct iovec){heap + at, BUFFER};
    CHECK(syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, vectors, count));
}

int main(int argc, char **argv) {
    pthread_t thread;
    CUdeviceptr kept;
    EXPECT(argc == 4);
    most = (size_t)atol(argv[2]) * MIB;
    int rounds = atoi(argv[3]);
    bool growing = strcmp(argv[1], "growing") == 0;
    heap = mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(heap != MAP_FAILED);
    now = growing ? most / 2 : most;
    write_all(1);
    if (strcmp(argv[1], "pinned") == 0)
        pin(most / 4);
    start_cuda();
    CHECK(pthread_create(&thread, NULL, writer, NULL));
    for (int i = 1; i <= rounds; i++) {
        CHECK(cuMemAlloc_v2(&kept, MIB));
        if (growing)
            __atomic_store_n(&now, most / 2 + most / 2 * (size_t)i / (size_t)rounds,
                             __ATOMIC_RELAXED);
        vramtrace_snapshot("round");
    }
    __atomic_store_n(&now, most, __ATOMIC_RELAXED);
    __atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    write_all(1);
    printf("%d rounds\n", rounds);
    return 0;
}
