// SPDX-License-Identifier: MIT
/* Keeps so many blocks of each of three functions: places RED BLUE GREEN [SIZE [FAILS]]. */
#include <stdlib.h>

extern int cuInit(unsigned);
extern int cuCtxCreate_v2(void **, unsigned, int);
extern int cuMemAlloc_v2(void **, size_t);

static void *kept[99];
static int n;
static size_t size = 1 << 20;

#define KEEPS(name)                                                                                \
    __attribute__((noinline)) void name(const char *blocks) {                                      \
        for (int i = atoi(blocks); i; i--)                                                         \
            if (cuMemAlloc_v2(&kept[n++], size))                                                   \
                abort();                                                                           \
    }
KEEPS(red)
KEEPS(blue)
KEEPS(green)

int main(int argc, char **argv) {
    void *context;
    if (argc < 4 || cuInit(0) || cuCtxCreate_v2(&context, 0, 0))
        return 99;
    size = argc > 4 ? (size_t)atol(argv[4]) : size;
    red(argv[1]);
    blue(argv[2]);
    green(argv[3]);
    return argc > 5 ? 3 : 0;
}
