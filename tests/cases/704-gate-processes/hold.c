/* SPDX-License-Identifier: MIT */
/*
 * hold COUNT MIB [then WORD...]: allocates COUNT times MIB and keeps it, and then ends: by return
 * 0, or kill     by SIGKILL           status N   by exit(N) exec     as `hold` with the words that
 * follow devices  by printing the number of devices and the first one's memory in MiB
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *driver;

static void call(const char *name, long a, long b, long c) {
    int (*function)(long, long, long) =
        __extension__(int (*)(long, long, long)) dlsym(driver, name);
    int result = function ? function(a, b, c) : -1;
    if (result) {
        printf("%s: %d\n", name, result);
        exit(99);
    }
}

int main(int argc, char **argv) {
    void *context;
    unsigned long long address, bytes = 0;
    int count = 0;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (argc < 3 || !driver)
        return 98;
    call("cuInit", 0, 0, 0);
    call("cuCtxCreate_v2", (long)&context, 0, 0);
    for (int i = 0; i < atoi(argv[1]); i++)
        call("cuMemAlloc_v2", (long)&address, atol(argv[2]) << 20, 0);
    const char *then = argc > 3 ? argv[3] : "";
    if (!strcmp(then, "kill"))
        raise(SIGKILL);
    if (!strcmp(then, "status"))
        return atoi(argv[4]);
    if (!strcmp(then, "exec")) {
        argv[3] = argv[0];
        execv(argv[0], argv + 3);
        return 97;
    }
    if (!strcmp(then, "devices")) {
        call("cuDeviceGetCount", (long)&count, 0, 0);
        call("cuDeviceTotalMem_v2", (long)&bytes, 0, 0);
        printf("%d %llu\n", count, bytes >> 20);
    }
    return 0;
}
