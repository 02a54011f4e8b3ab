/* SPDX-License-Identifier: MIT */
/*
 * hold DEVICE WORD...: makes a context on a device, and then does as told, word by word:
 *   alloc MIB      allocates and keeps
 *   oom MIB        allocates, and expects no memory
 *   module         loads one
 *   sleep MS
 *   uuid           asks for the device's UUID
 *   buffered       nothing; for readability
 *   fill FILE MIB  writes a file of that size, or as much of it as there is room for
 *   kill           ends by SIGKILL
 * Uses the driver API; asks the driver nothing but what is said above.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *driver;

static int call(const char *name, long a, long b, long c) {
    int (*function)(long, long, long) =
        __extension__(int (*)(long, long, long)) dlsym(driver, name);
    return function ? function(a, b, c) : -1;
}

static void expect(const char *what, int expected, int found) {
    if (found != expected) {
        printf("%s: expected %d, found %d\n", what, expected, found);
        exit(99);
    }
}

static void fill(const char *path, long mib) {
    static char block[65536];
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    for (long n = mib * 16; n > 0 && write(fd, block, sizeof block) == (ssize_t)sizeof block; n--)
        ;
    close(fd);
}

int main(int argc, char **argv) {
    void *context, *module;
    unsigned long long address;
    unsigned char uuid[16];
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (argc < 2 || !driver)
        return 98;
    expect("cuInit", 0, call("cuInit", 0, 0, 0));
    expect("cuCtxCreate", 0, call("cuCtxCreate_v2", (long)&context, 0, atol(argv[1])));
    for (int i = 2; i < argc; i++) {
        const char *word = argv[i];
        if (!strcmp(word, "alloc"))
            expect(word, 0, call("cuMemAlloc_v2", (long)&address, atol(argv[++i]) << 20, 0));
        else if (!strcmp(word, "oom"))
            expect(word, 2, call("cuMemAlloc_v2", (long)&address, atol(argv[++i]) << 20, 0));
        else if (!strcmp(word, "module"))
            expect(word, 0, call("cuModuleLoadData", (long)&module, (long)"", 0));
        else if (!strcmp(word, "uuid"))
            expect(word, 0, call("cuDeviceGetUuid", (long)uuid, atol(argv[1]), 0));
        else if (!strcmp(word, "sleep"))
            usleep((useconds_t)atol(argv[++i]) * 1000);
        else if (!strcmp(word, "fill"))
            fill(argv[i + 1], atol(argv[i + 2])), i += 2;
        else if (!strcmp(word, "kill"))
            raise(SIGKILL);
    }
    return 0;
}
