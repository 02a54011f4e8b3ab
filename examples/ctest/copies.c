/* SPDX-License-Identifier: MIT */
/*
 * A test program for the CTest recipe: copies a buffer to the GPU and back. With --fail-early it
 * returns early without freeing the second buffer, so its test fails under the gate.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 4096

/* The driver is looked up, so that this compiles where there is no CUDA toolkit. */
static void *function(const char *name) {
    static void *driver;
    if (!driver)
        driver = dlopen("libcuda.so.1", RTLD_NOW);
    void *found = driver ? dlsym(driver, name) : NULL;
    if (!found) {
        fprintf(stderr, "no %s here\n", name);
        exit(2);
    }
    return found;
}
#define CALL(name, types, ...) ((int(*) types)function(#name))(__VA_ARGS__)

static int copy_there_and_back(int fail_early) {
    char in[BYTES], out[BYTES];
    unsigned long long first = 0, second = 0;
    memset(in, 'v', sizeof in);
    if (CALL(cuMemAlloc_v2, (unsigned long long *, size_t), &first, BYTES) ||
        CALL(cuMemAlloc_v2, (unsigned long long *, size_t), &second, BYTES))
        return 1;
    CALL(cuMemcpyHtoD_v2, (unsigned long long, const void *, size_t), first, in, BYTES);
    if (fail_early) {
        CALL(cuMemFree_v2, (unsigned long long), first);
        return 0; /* the leak: second is still allocated */
    }
    CALL(cuMemcpyDtoD_v2, (unsigned long long, unsigned long long, size_t), second, first, BYTES);
    CALL(cuMemcpyDtoH_v2, (void *, unsigned long long, size_t), out, second, BYTES);
    CALL(cuMemFree_v2, (unsigned long long), first);
    CALL(cuMemFree_v2, (unsigned long long), second);
    return memcmp(in, out, BYTES) != 0;
}

int main(int argc, char **argv) {
    void *context;
    if (CALL(cuInit, (unsigned), 0) ||
        CALL(cuCtxCreate_v2, (void **, unsigned, int), &context, 0, 0)) {
        fprintf(stderr, "no GPU\n");
        return 2;
    }
    return copy_there_and_back(argc > 1 && !strcmp(argv[1], "--fail-early"));
}
