/* SPDX-License-Identifier: MIT */
/*
 * calls: each allocating function of the CUDA runtime, and what it answers, with the versions of driver and runtime first.
 * Where there is no device each fails; what the runtime looked for until then is the test's matter. "NAME RESULT" each.
 */
#include <stdio.h>

typedef int result;
result cudaDriverGetVersion(int *), cudaRuntimeGetVersion(int *), cudaGetDeviceCount(int *);
result cudaMalloc(void **, size_t), cudaMallocPitch(void **, size_t *, size_t, size_t),
    cudaFree(void *);
result cudaMallocManaged(void **, size_t, unsigned), cudaMallocHost(void **, size_t),
    cudaHostAlloc(void **, size_t, unsigned);
result cudaHostRegister(void *, size_t, unsigned), cudaMallocAsync(void **, size_t, void *),
    cudaDeviceReset(void);
const char *cudaGetErrorString(result);

#define SAY(call) printf("%.*s %d\n", (int)(sizeof #call - 1), #call, call)

int main(void) {
    static char page[4096];
    int driver = -1, runtime = -1, count = -1;
    size_t pitch = 0;
    void *p = NULL;
    int first = cudaDriverGetVersion(&driver), second = cudaRuntimeGetVersion(&runtime);
    printf("versions %d %d: %d %d\n", first, second, driver, runtime);
    SAY(cudaGetDeviceCount(&count));
    SAY(cudaMalloc(&p, 4096));
    SAY(cudaMallocPitch(&p, &pitch, 4096, 4));
    SAY(cudaMallocManaged(&p, 4096, 1));
    SAY(cudaMallocHost(&p, 4096));
    SAY(cudaHostAlloc(&p, 4096, 0));
    SAY(cudaHostRegister(page, sizeof page, 0));
    SAY(cudaMallocAsync(&p, 4096, NULL));
    SAY(cudaFree(p));
    SAY(cudaDeviceReset());
    printf("%s\n", cudaGetErrorString(cudaMalloc(&p, 1)));
    return 0;
}
