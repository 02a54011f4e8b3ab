/* SPDX-License-Identifier: MIT */
/* alloc: asks the CUDA runtime for memory, and prints what it answers; "bad": then three times with no
 * place for the address. */
#include <stdio.h>

int cudaMalloc(void **p, unsigned long bytes);

int main(int argc, char **argv) {
    void *kept = NULL;
    printf("%d\n", cudaMalloc(&kept, 1 << 20));
    for (int i = 0; argc > 1 && i < 3; i++)
        printf("%d\n", cudaMalloc(NULL, 1 << 20));
    return 0;
}
