// SPDX-License-Identifier: MIT
/*
 * A program whose memory varies from run to run: noise PROGRAM RUN [LINE BYTES]
 *
 * PROGRAM seeds what the program is: how much each of its twelve lines holds, and how that varies. RUN seeds the run. LINE
 * then holds BYTES more. Sizes are steady, spread around a middle, skewed with far runs, of two kinds, of one kind with rare
 * others, or a varying number of blocks. Half of the lines keep their memory to the end.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "vramtrace.h"

extern int cuInit(unsigned);
extern int cuCtxCreate_v2(void **, unsigned, int);
extern int cuMemAlloc_v2(void **, size_t);
extern int cuMemFree_v2(void *);

#define LINES  12
#define BLOCKS 64

static void *kept[LINES][BLOCKS];

static double chance(uint64_t *seed) {
    *seed += 0x9e3779b97f4a7c15u;
    uint64_t x = *seed;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

static double normal(uint64_t *seed) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += chance(seed);
    return sum;
}

#define LINE(n)                                                                                    \
    __attribute__((noinline)) void line_##n(unsigned blocks, size_t size) {                        \
        for (unsigned i = 0; i < blocks; i++)                                                      \
            if (cuMemAlloc_v2(&kept[n][i], size))                                                  \
                abort();                                                                           \
    }
LINE(0)
LINE(1)
LINE(2)
LINE(3)
LINE(4)
LINE(5)
LINE(6)
LINE(7)
LINE(8)
LINE(9)
LINE(10)
LINE(11)

static void (*const lines[LINES])(unsigned, size_t) = {line_0, line_1, line_2,  line_3,
                                                       line_4, line_5, line_6,  line_7,
                                                       line_8, line_9, line_10, line_11};

/* What a line is, by the program's seed, and how much it holds in this run. */
static double bytes_of(uint64_t *program, uint64_t *run, unsigned *blocks) {
    double kind = chance(program), middle = 65536 * exp(6 * chance(program)),
           noise = 0.3 * chance(program);
    *blocks = 1;
    if (kind < 0.1)
        return middle;
    if (kind < 0.5)
        return middle * (1 + noise * normal(run));
    if (kind < 0.65)
        return middle * exp(3 * noise * normal(run));
    if (kind < 0.75)
        return middle * (chance(run) < 0.5 ? 1 : 1.6) * (1 + 0.05 * noise * normal(run));
    if (kind < 0.85)
        return middle * (chance(run) < 0.1 ? 2 : 1) * (1 + 0.05 * noise * normal(run));
    *blocks = 4 + (unsigned)(chance(run) * 8);
    return middle * *blocks / 8;
}

int main(int argc, char **argv) {
    void *context;
    if (argc < 3 || cuInit(0) || cuCtxCreate_v2(&context, 0, 0))
        return 99;
    uint64_t program = strtoull(argv[1], NULL, 10) * 7919,
             run = strtoull(argv[2], NULL, 10) * 104729 + program;
    int larger = argc > 4 ? atoi(argv[3]) : -1;
    vramtrace_push("fill");
    for (int i = 0; i < LINES; i++) {
        unsigned blocks;
        double bytes = bytes_of(&program, &run, &blocks) + (i == larger ? atof(argv[4]) : 0);
        lines[i](blocks, bytes < 1 ? 1 : (size_t)(bytes / blocks));
        if (i == LINES / 2) {
            vramtrace_pop();
            vramtrace_push("work");
        }
    }
    vramtrace_pop();
    for (int i = 0; i < LINES; i += 2)
        for (int k = 0; k < BLOCKS && kept[i][k]; k++)
            cuMemFree_v2(kept[i][k]);
    return 0;
}
