// SPDX-License-Identifier: MIT
// Loses memory at lines of one function: `lose two`, `lose many`, `lose step` (two lines that rise together), `lose again`
// (one line by two ways, three times).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int);
extern int cuMemAlloc_v2(void **, size_t), cuMemFree_v2(void *);

static void *kept[4096];
static int n;

static void *get(size_t bytes) {
    void *p = NULL;
    if (cuMemAlloc_v2(&p, bytes)) // get
        exit(99);
    return p;
}

#define GET(bytes)                                                                                 \
    do {                                                                                           \
        if (cuMemAlloc_v2(&kept[n], (bytes)))                                                      \
            exit(98);                                                                              \
        n++;                                                                                       \
    } while (0)

__attribute__((noinline)) static void two(void) {
    GET(4 << 20); // two: 4 MiB
    GET(2 << 20); // two: 2 MiB
}

__attribute__((noinline)) static void many(void) {
    GET(1 << 10);  // many: 1 KiB
    GET(2 << 10);  // many: 2 KiB
    GET(3 << 10);  // many: 3 KiB
    GET(4 << 10);  // many: 4 KiB
    GET(5 << 10);  // many: 5 KiB
    GET(6 << 10);  // many: 6 KiB
    GET(7 << 10);  // many: 7 KiB
    GET(8 << 10);  // many: 8 KiB
    GET(9 << 10);  // many: 9 KiB
    GET(10 << 10); // many: 10 KiB
    GET(11 << 10); // many: 11 KiB
    GET(12 << 10); // many: 12 KiB
    GET(13 << 10); // many: 13 KiB
    GET(14 << 10); // many: 14 KiB
    GET(15 << 10); // many: 15 KiB
    GET(16 << 10); // many: 16 KiB
    GET(17 << 10); // many: 17 KiB
    GET(18 << 10); // many: 18 KiB
    GET(19 << 10); // many: 19 KiB
    GET(20 << 10); // many: 20 KiB
    GET(21 << 10); // many: 21 KiB
    GET(22 << 10); // many: 22 KiB
    GET(23 << 10); // many: 23 KiB
}

__attribute__((noinline)) static void step(void) {
    void *scratch = get(1 << 20);
    GET(2 << 20); // step: 2 MiB
    GET(1 << 20); // step: 1 MiB
    GET(1 << 16); // step: 64 KiB
    cuMemFree_v2(scratch);
}

__attribute__((noinline)) static void again(void) {
    for (int i = 0; i < 3; i++)
        kept[n++] = get(1 << 20); // again: one way
    kept[n++] = get(2 << 20);     // again: another way
}

int main(int argc, char **argv) {
    void *context;
    const char *what = argc > 1 ? argv[1] : "";
    if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0))
        return 97;
    for (int i = 0; !strcmp(what, "step") && i < 200; i++)
        step();
    if (!strcmp(what, "two"))
        two();
    if (!strcmp(what, "many"))
        many();
    if (!strcmp(what, "again"))
        again();
    return 0;
}
