/* SPDX-License-Identifier: MIT */
/*
 * A process with much memory: size KIND MIB [THREADS]. KIND: `large` (a few big blocks of numbers),
 * `small` (a list of blocks of 64 bytes), `mapped`. The last pointer of it all leads to an
 * allocation of device memory; another was forgotten.
 */
#include "../tests/cuda_case.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct block {
    struct block *next;
    CUdeviceptr memory;
    double numbers[4];
};

struct block *all;
double *big[64];
CUdeviceptr *mapped;

static CUdeviceptr allocate(void) {
    CUdeviceptr p;
    CHECK(cuMemAlloc_v2(&p, 65536));
    return p;
}

static void *idle(void *unused) {
    for (;;)
        pause();
    return unused;
}

int main(int argc, char **argv) {
    EXPECT(argc >= 3);
    size_t bytes = (size_t)atoi(argv[2]) << 20;
    start_cuda();
    allocate();
    pthread_t thread;
    for (int i = argc > 3 ? atoi(argv[3]) : 0; i > 0; i--)
        CHECK(pthread_create(&thread, NULL, idle, NULL));
    if (strcmp(argv[1], "small") == 0) {
        for (size_t i = 0; i < bytes / 64; i++) {
            struct block *b = malloc(sizeof *b);
            *b = (struct block){.next = all, .numbers = {1.5, (double)i, 0.1, 3}};
            if (i == 0)
                b->memory = allocate();
            all = b;
        }
    } else if (strcmp(argv[1], "large") == 0) {
        for (int i = 0; i < 64; i++) {
            size_t n = bytes / 64 / sizeof *big[i];
            big[i] = malloc(n * sizeof *big[i]);
            for (size_t k = 0; k < n; k++)
                big[i][k] = (double)k * 1.1;
        }
        CUdeviceptr p = allocate();
        memcpy(&big[63][bytes / 64 / 8 - 1], &p, sizeof p);
    } else {
        mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT(mapped != MAP_FAILED);
        for (size_t i = 0; i < bytes / 8; i++)
            mapped[i] = i * 0x9e3779b97f4a7c15;
        mapped[bytes / 8 - 1] = allocate();
    }
    return 0;
}
