/* SPDX-License-Identifier: MIT */
/*
 * Loops that wait for a kernel's result. Kernels do not run, so what a loop tests (has each sequence
 * ended? has it converged?) never changes, and the loop would not end: Hugging Face's generate() is one.
 * So of reads of one number that follow a launch, every 256th (VRAMTRACE_SIM_STEPS) with the same answer
 * is answered with the opposite: 1 for 0, 0 for anything else.
 */
#include "driver.h"

#include <string.h>

static bool launched; /* since the last read. All under the driver's lock */
static struct {
    uint64_t answer;
    int count;
} same[9][2]; /* by size, and whether it is 0 */

void sim_steps_launched(void) {
    launched = true;
}

void sim_steps_read(void *answer, size_t bytes) {
    uint64_t value = 0;
    if (!launched || sim.steps == 0 || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
        return;
    launched = false;
    memcpy(&value, answer, bytes);
    int *count = &same[bytes][value == 0].count;
    uint64_t *last = &same[bytes][value == 0].answer;
    *count = value == *last ? *count + 1 : 1;
    *last = value;
    if (*count < sim.steps)
        return;
    *count = -1; /* 257 from now on, a prime: of several tests in the loop it is another's turn */
    memset(answer, 0, bytes);
    *(char *)answer = value == 0;
}
