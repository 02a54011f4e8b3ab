/* SPDX-License-Identifier: MIT */
/* ranks N MIB: starts N processes as ranks 0 to N-1. Each takes MIB mebibytes in steps, and waits until all have them; in turn,
 * rank 0 first, each asks for more than there is, twice, and frees everything. So at one moment all hold N times MIB. */
#include "../../cuda_case.h"

#include <sys/wait.h>
#include <unistd.h>

#define STEPS 40

/* Waits until all are here: each writes a byte, and the parent answers when it has them all. */
static void meet(int out, int in) {
    char byte = 0;
    CHECK(write(out, &byte, 1) != 1);
    CHECK(read(in, &byte, 1) != 1);
}

static int rank(int out, int in, size_t bytes) {
    CUdeviceptr held[STEPS], more;
    start_cuda();
    meet(out, in);
    for (int i = 0; i < STEPS; i++) {
        CHECK(cuMemAlloc_v2(&held[i], bytes / STEPS));
        usleep(500); /* stands for the work of a step */
    }
    meet(out, in);
    for (int i = 0; i < 2; i++)
        EXPECT(cuMemAlloc_v2(&more, 1ull << 40)); /* too much */
    meet(out, in);
    for (int i = 0; i < STEPS; i++)
        CHECK(cuMemFree_v2(held[i]));
    return 0;
}

int main(int argc, char **argv) {
    EXPECT(argc > 2);
    int count = atoi(argv[1]), up[2], down[2], status = 0;
    char number[12], byte;
    CHECK(pipe(up));
    CHECK(pipe(down));
    for (int i = 0; i < count; i++) {
        snprintf(number, sizeof number, "%d", i);
        setenv("RANK", number, 1);
        setenv("WORLD_SIZE", argv[1], 1);
        setenv("MASTER_ADDR", "here", 1);
        pid_t child = fork();
        CHECK(child < 0);
        if (!child)
            exit(rank(up[1], down[0], (size_t)atoi(argv[2]) << 20));
    }
    for (int meeting = 0; meeting < 3; meeting++) {
        for (int i = 0; i < count; i++)
            CHECK(read(up[0], &byte, 1) != 1);
        for (int i = 0; i < count; i++)
            CHECK(write(down[1], &byte, 1) != 1);
    }
    for (int i = 0; i < count; i++) {
        EXPECT(wait(&status) > 0);
        EXPECT(!status);
    }
    return 0;
}
