/* SPDX-License-Identifier: MIT */
/* helpers KIND: "helper": all memory comes through grab(), from weights() and batch(). "deep": the same through another function
 * between. "one": nearly all of it for one caller. "half": as much again without the helper. */
#include "../../cuda_case.h"

#include <string.h>

CUdeviceptr kept[64];
static int count;

__attribute__((noinline)) static void grab(size_t mib) {
    CHECK(cuMemAlloc_v2(&kept[count++], mib << 20)); /* grab */
}

__attribute__((noinline)) static void aligned(size_t mib) {
    grab(mib); /* aligned */
    __asm__ volatile("");
}

__attribute__((noinline)) static void weights(void (*make)(size_t), size_t mib) {
    make(mib); /* weights */
    __asm__ volatile("");
}

__attribute__((noinline)) static void batch(void (*make)(size_t), size_t mib) {
    make(mib); /* batch */
    __asm__ volatile("");
}

int main(int argc, char **argv) {
    EXPECT(argc > 1);
    const char *kind = argv[1];
    void (*make)(size_t) = strcmp(kind, "deep") ? grab : aligned;
    start_cuda();
    for (volatile int i = 0; i < 3; i = i + 1) /* not unrolled: one call site */
        weights(make, 10);
    batch(make, strcmp(kind, "one") ? 8 : 1);
    if (!strcmp(kind, "half"))
        CHECK(cuMemAlloc_v2(&kept[count++], 64 << 20)); /* apart */
    return 0;
}
