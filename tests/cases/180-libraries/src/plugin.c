/* SPDX-License-Identifier: MIT */
/* One of several plug-ins that are loaded in turns at the same address: what stands at one address is other code each time.
 * -DNUMBER: allocates 1000 + NUMBER bytes out of a frame whose size differs. */
#include <stddef.h>
extern int cuMemAlloc_v2(unsigned long long *p, size_t n);

#if NUMBER % 2
#define FRAME 4000
#else
#define FRAME 40
#endif
#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)

static __attribute__((noinline)) int PASTE(inner_, NUMBER)(volatile char *pad, size_t n) {
    unsigned long long p;
    pad[0] = 1;
    int result = cuMemAlloc_v2(&p, n);
    pad[1] = 2;
    return result;
}

int plugin(void);
int plugin(void) {
    volatile char pad[FRAME];
    int result = PASTE(inner_, NUMBER)(pad, 1000 + NUMBER);
    pad[2] = 3;
    return result + pad[0] - 1;
}
