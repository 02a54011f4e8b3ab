/* SPDX-License-Identifier: MIT */
/*
 * Does what it is told by lines on its standard input, and answers each with "done": `hold N` keeps N
 * blocks of 1 MiB, `grow N` keeps 64 KiB in each of N steps, `churn N` allocates and frees N times,
 * `oom` asks for more than there is, `push NAME` and `pop` begin and end a phase, `end` ends.
 */
#include "../../cuda_case.h"

#include <vramtrace.h>

#include <string.h>

#define MIB (1 << 20)

enum { HELD_MOST = 1000, GROWN_MOST = 100000 };
CUdeviceptr *held, *grown; /* no arrays: those have a bound */
unsigned held_count, grown_count;

static void hold(unsigned count) {
    while (count-- && held_count < HELD_MOST)
        CHECK(cuMemAlloc_v2(&held[held_count++], MIB));
}

static void grow(unsigned steps) {
    while (steps-- && grown_count < GROWN_MOST) {
        vramtrace_push("step");
        CHECK(cuMemAlloc_v2(&grown[grown_count++], MIB / 16));
        vramtrace_pop();
    }
}

static void churn(unsigned count) {
    while (count--) {
        CUdeviceptr p;
        CHECK(cuMemAlloc_v2(&p, MIB));
        CHECK(cuMemFree_v2(p));
    }
}

int main(void) {
    char line[4096], *word;
    CUdeviceptr p;
    EXPECT(held = calloc(HELD_MOST, sizeof *held));
    EXPECT(grown = calloc(GROWN_MOST, sizeof *grown));
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("up");
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        word = strchr(line, ' ');
        unsigned number = word ? (unsigned)atoi(word) : 0;
        if (!strcmp(line, "end"))
            break;
        if (!strcmp(line, "start"))
            start_cuda();
        if (!strncmp(line, "hold", 4))
            hold(number);
        if (!strncmp(line, "grow", 4))
            grow(number);
        if (!strncmp(line, "churn", 5))
            churn(number);
        if (!strcmp(line, "oom"))
            EXPECT(cuMemAlloc_v2(&p, (size_t)1 << 40) == CUDA_ERROR_OUT_OF_MEMORY);
        if (!strncmp(line, "push", 4))
            vramtrace_push(word + 1);
        if (!strcmp(line, "pop"))
            vramtrace_pop();
        puts("done");
    }
    return 0;
}
