/* SPDX-License-Identifier: MIT */
/*
 * threads leak|clean: eight threads allocate and free at once in an order that differs each
 * time; with `leak`, each keeps every tenth block of two places: in 27 and 53 rounds of its own, so
 * that there are rounds enough (growth_rules.def: RHYTHM_RISES) even if all threads go in step.
 * $EVERY: they wait for each other after so many rounds, as they do on a machine with many cores.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 800

typedef unsigned long long address;
extern int cuInit(unsigned);
extern int cuCtxCreate_v2(void **, unsigned, int);
extern int cuCtxSetCurrent(void *);
extern int cuMemAlloc_v2(address *, size_t);
extern int cuMemFree_v2(address);

static void *context;
static int leaks, every;
static pthread_barrier_t together;
static volatile address *kept[8]; /* a pointer to each is left, in what may grow */

__attribute__((noinline)) static address small_place(void) {
    address a = 0;
    if (cuMemAlloc_v2(&a, 1000))
        _exit(99);
    return a;
}

__attribute__((noinline)) static address large_place(void) {
    address a = 0;
    if (cuMemAlloc_v2(&a, 1 << 20))
        _exit(99);
    return a;
}

static void *work(void *argument) {
    long me = (long)argument;
    int n = 0;
    cuCtxSetCurrent(context);
    kept[me] = calloc(ROUNDS / 10, sizeof *kept[me]);
    for (int i = 0; i < ROUNDS; i++) {
        if (every && i % every == 0)
            pthread_barrier_wait(&together);
        address a = i % 3 ? small_place() : large_place();
        if (leaks && i % 10 == 0)
            kept[me][n++] = a;
        else if (cuMemFree_v2(a))
            _exit(98);
        if (i % 50 == me)
            usleep(100); /* its work */
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[8];
    leaks = argc > 1 && !strcmp(argv[1], "leak");
    every = getenv("EVERY") ? atoi(getenv("EVERY")) : 0;
    pthread_barrier_init(&together, NULL, 8);
    if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0))
        return 97;
    for (long i = 0; i < 8; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i))
            return 96;
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
