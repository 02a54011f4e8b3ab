/* SPDX-License-Identifier: MIT */
/*
 * jumps HOW COUNT: a signal handler that leaves by siglongjmp.
 *   storm    at every tick of a fast timer, out of whatever the thread is at, which is mostly our record path; what
 *            follows calls from as deep, from deeper and from less deep in turn
 *   label    out of a runtime call (the runtime raises the signal in the middle); then driver calls
 *   nested   inside the handler, over a frame of its own, while a record is under way
 * Prints how many calls came back, and how many jumps there were.
 */
#define _GNU_SOURCE
#include "../../../cuda_case.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

int cudaMalloc(void **p, size_t n);
int cudaFree(void *p);

static sigjmp_buf out;
static unsigned long calls, jumps, wanted;
static volatile sig_atomic_t may_jump;
static char handler_stack[65536];

static void set_timer(long us) {
    struct itimerval t = {{0, 0}, {0, us}};
    CHECK(setitimer(ITIMER_REAL, &t, NULL));
}

static void leave(int signal) {
    (void)signal;
    if (!may_jump)
        return set_timer(20);
    jumps++;
    siglongjmp(out, 1);
}

static void jump_inside(int signal) {
    sigjmp_buf here;
    CUdeviceptr p;
    (void)signal;
    if (sigsetjmp(here, 1) == 0)
        siglongjmp(here, 1);
    CHECK(cuMemAlloc_v2(&p, 64));
    CHECK(cuMemFree_v2(p));
    calls += 2;
    jumps++;
    if (jumps < wanted)
        set_timer(20 + (long)(jumps * 7 % 100));
}

static void pair(void) {
    CUdeviceptr p;
    CHECK(cuMemAlloc_v2(&p, 4096));
    calls++;
    CHECK(cuMemFree_v2(p));
    calls++;
}

static __attribute__((noinline)) void deep_pair(void) {
    char unwritten[65536];
    __asm__ volatile("" : : "r"(unwritten) : "memory");
    pair();
    __asm__ volatile("" : : "r"(unwritten) : "memory");
}

static void storm(void) {
    sigsetjmp(out, 1);
    while (jumps < wanted) {
        int deep = jumps % 3;
        may_jump = 1;
        set_timer(20 + (long)(jumps * 7 % 100));
        for (;;)
            deep ? deep_pair() : pair();
    }
}

static void label(void) {
    for (; jumps < wanted;) {
        void *p;
        CUdeviceptr q;
        may_jump = 1;
        if (sigsetjmp(out, 1) == 0)
            cudaMalloc(&p, 4097); /* raises the signal */
        may_jump = 0;
        if (jumps % 2)
            deep_pair();
        CHECK(cuMemAlloc_v2(&q, 4096));
        CHECK(cuMemFree_v2(q));
        CHECK(cudaMalloc(&p, 4096));
        CHECK(cudaFree(p));
        calls += 4;
    }
}

int main(int argc, char **argv) {
    EXPECT(argc > 2);
    wanted = strtoul(argv[2], NULL, 10);
    start_cuda();
    pair();
    int nested = strcmp(argv[1], "nested") == 0;
    stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    CHECK(sigaltstack(&stack, NULL));
    struct sigaction action = {.sa_handler = nested ? jump_inside : leave,
                               .sa_flags = SA_RESTART | (argc > 3 ? SA_ONSTACK : 0)};
    CHECK(sigaction(SIGALRM, &action, NULL));
    if (nested) {
        set_timer(1000);
        while (jumps < wanted)
            pair();
    } else {
        strcmp(argv[1], "label") == 0 ? label() : storm();
    }
    set_timer(0);
    may_jump = 0;
    for (int i = 0; i < 100; i++)
        deep_pair();
    printf("%lu %lu\n", calls, jumps);
    return 0;
}
