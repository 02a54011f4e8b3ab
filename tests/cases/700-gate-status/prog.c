/* SPDX-License-Identifier: MIT */
/*
 * prog WORD...: does what each word says. "leak" allocates 1 MiB and keeps it, "clean" gives it
 * back; "removed" deletes what is in the folder VRAMTRACE_OUTPUT; "exit N" and "kill" end it.
 * Without CUDA words it never touches CUDA.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *kept[64];
static int keeps;

static void call(const char *name, long a, long b, long c) {
    static void *driver;
    if (!driver)
        driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*function)(long, long, long) =
        driver ? __extension__(int (*)(long, long, long)) dlsym(driver, name) : NULL;
    int result = function ? function(a, b, c) : -1;
    if (result) {
        printf("%s: %d\n", name, result);
        exit(99);
    }
}

static void *allocate(void) {
    static void *context;
    void *address;
    if (!context) {
        call("cuInit", 0, 0, 0);
        call("cuCtxCreate_v2", (long)&context, 0, 0);
    }
    call("cuMemAlloc_v2", (long)&address, 1 << 20, 0);
    return address;
}

static void leaky_place(void) {
    kept[keeps++] = allocate();
}

static void clean_place(void) {
    call("cuMemFree_v2", (long)allocate(), 0, 0);
}

static void remove_logs(void) {
    const char *folder = getenv("VRAMTRACE_OUTPUT");
    DIR *dir = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "leak"))
            leaky_place();
        else if (!strcmp(argv[i], "clean"))
            clean_place();
        else if (!strcmp(argv[i], "removed"))
            remove_logs();
        else if (!strcmp(argv[i], "kill"))
            raise(SIGKILL);
        else if (!strcmp(argv[i], "exit") && i + 1 < argc)
            return atoi(argv[i + 1]);
    }
    return 0;
}
