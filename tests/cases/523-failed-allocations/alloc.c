/* SPDX-License-Identifier: MIT */
/* alloc: asks the CUDA runtime for memory, and prints what it answers; "bad": then three times with no
 * place for the address; "there": so on device 1; "many": then also twice
 * at 1,110 other places. */
#include <stdio.h>

int cudaMalloc(void **p, unsigned long bytes);
int cudaSetDevice(int device);

#define TEN(x) (x, x, x, x, x, x, x, x, x, x)

int main(int argc, char **argv) {
    void *kept = NULL;
    printf("%d\n", cudaMalloc(&kept, 1 << 20));
    if (argc > 1 && argv[1][0] == 't')
        cudaSetDevice(1);
    for (int i = 0; argc > 1 && i < 3; i++)
        printf("%d\n", cudaMalloc(NULL, 1 << 20));
    for (int i = 0; argc > 1 && argv[1][0] == 'm' && i < 2; i++) {
        TEN(TEN(TEN(cudaMalloc(NULL, 1 << 20))));
        TEN(TEN(cudaMalloc(NULL, 1 << 20)));
        TEN(cudaMalloc(NULL, 1 << 20));
    }
    return 0;
}
