/* SPDX-License-Identifier: MIT */
/*
 * paths WORD...: one error path of each kind, each behind an allocation of its own. "good" gives up
 * cleanly, "retry" goes on with less, "crash" uses what it did not get, "hang" tries for ever,
 * "forget" goes on without its second buffer and loses the first.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long address;
extern int cuInit(unsigned);
extern int cuCtxCreate_v2(void **, unsigned, int);
extern int cuMemAlloc_v2(address *, size_t);
extern int cuMemFree_v2(address);

static void *context;

__attribute__((noinline)) static int good(void) {
    address a;
    if (cuMemAlloc_v2(&a, 1000)) {
        printf("out of memory\n");
        return 3;
    }
    return cuMemFree_v2(a);
}

__attribute__((noinline)) static int retry(void) {
    address a;
    if (cuMemAlloc_v2(&a, 2000) && cuMemAlloc_v2(&a, 20))
        return 4;
    return cuMemFree_v2(a);
}

__attribute__((noinline)) static int crash(void) {
    address a;
    if (cuMemAlloc_v2(&a, 3000))
        raise(SIGSEGV);
    return cuMemFree_v2(a);
}

__attribute__((noinline)) static int hang(void) {
    address a;
    if (cuMemAlloc_v2(&a, 4000))
        for (;;)
            sleep(1);
    return cuMemFree_v2(a);
}

__attribute__((noinline)) static void forget_second(address *kept) {
    if (cuMemAlloc_v2(kept, 6000))
        *kept = 0;
}

/* The first buffer is freed only where the second is there. */
__attribute__((noinline)) static int forget(void) {
    address *first = malloc(sizeof *first), second;
    if (cuMemAlloc_v2(first, 5000))
        return 5;
    forget_second(&second);
    if (second) {
        cuMemFree_v2(second);
        cuMemFree_v2(*first);
    }
    *first = 0;
    free(first);
    return 0;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*function)(void);
    } paths[] = {
        {"good", good}, {"retry", retry}, {"crash", crash}, {"hang", hang}, {"forget", forget}};
    if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0))
        return 99;
    for (int i = 1; i < argc; i++) {
        for (size_t j = 0; j < sizeof paths / sizeof *paths; j++) {
            int status = strcmp(argv[i], paths[j].name) ? 0 : paths[j].function();
            if (status)
                return status;
        }
        if (!strcmp(argv[i], "fail"))
            return 7;
    }
    printf("done\n");
    return 0;
}
