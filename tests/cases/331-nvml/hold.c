/* SPDX-License-Identifier: MIT */
/*
 * hold DEVICE WORD...: makes a context on a device, and then does as told, word by word:
 *   alloc MIB      allocates and keeps
 *   oom MIB        allocates, and expects no memory
 *   module         loads one
 *   sampled        waits until the sampler has put down two samples: the second was begun after now
 *   wait FILE      waits until there is such a file
 *   uuid           asks for the device's UUID
 *   fill FILE MIB  writes a file of that size, or as much of it as there is room for
 *   kill           ends by SIGKILL
 * Uses the driver API; asks the driver nothing but what is said above.
 */
#include <dlfcn.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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

/* How many samples are in a file. */
static int count_samples(const char *path) {
    static unsigned char bytes[1 << 20];
    int fd = open(path, O_RDONLY), samples = 0;
    long length = fd < 0 ? 0 : (long)read(fd, bytes, sizeof bytes);
    for (long at = 128; at + 8 <= length;) {
        unsigned words[2];
        memcpy(words, bytes + at, sizeof words);
        at += (words[0] & 0xff) == 0x0c ? 64 : words[1] ? words[1] : 8;
        samples += (words[0] & 0xff) == 0x0c && at <= length;
    }
    if (fd >= 0)
        close(fd);
    return samples;
}

/* How many are beside our log, which is one of our descriptors. */
static int own_samples(void) {
    char link[64], path[4096];
    int samples = 0;
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(link, sizeof link, "/proc/self/fd/%.20s", entry->d_name);
        long length = (long)readlink(link, path, sizeof path - 6);
        if (length <= 0)
            continue;
        strcpy(path + length, ".nvml");
        samples += count_samples(path);
    }
    closedir(dir);
    return samples;
}

/* Ends the program where a thing does not happen. */
static void wait_on(const char *what, int *tries) {
    if (++*tries > 6000) {
        printf("%s: waited in vain\n", what);
        exit(97);
    }
    nanosleep(&(struct timespec){0, 5000000}, NULL);
}

static void wait_sampled(void) {
    int tries = 0, before = own_samples();
    while (own_samples() < before + 2)
        wait_on("sampled", &tries);
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
        else if (!strcmp(word, "sampled"))
            wait_sampled();
        else if (!strcmp(word, "wait")) {
            int tries = 0;
            for (i++; access(argv[i], F_OK);)
                wait_on(argv[i], &tries);
        } else if (!strcmp(word, "fill"))
            fill(argv[i + 1], atol(argv[i + 2])), i += 2;
        else if (!strcmp(word, "kill"))
            raise(SIGKILL);
    }
    return 0;
}
