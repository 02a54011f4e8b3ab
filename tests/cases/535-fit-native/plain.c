/* SPDX-License-Identifier: MIT */
/* Ten allocations of 3 MiB and 100 of 1000 bytes, without any allocator. */
extern int cuInit(unsigned);
extern int cuCtxCreate_v2(void **, unsigned, int);
extern int cuMemAlloc_v2(void **, unsigned long);

int main(void) {
    void *context, *p;
    if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0))
        return 99;
    for (int i = 0; i < 10; i++)
        if (cuMemAlloc_v2(&p, 3 << 20))
            return 98;
    for (int i = 0; i < 100; i++)
        if (cuMemAlloc_v2(&p, 1000))
            return 97;
    return 0;
}
