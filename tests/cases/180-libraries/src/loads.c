/* SPDX-License-Identifier: MIT */
/* loads ROUNDS PLUGIN...: opens, calls and closes each in turn. Prints how often the plug-in lay where the one before had. */
#define _GNU_SOURCE
#include "../../../cuda_case.h"

#include <dlfcn.h>

int main(int argc, char **argv) {
    int rounds = atoi(argv[1]), same = 0;
    void *last = NULL;
    start_cuda();
    for (int i = 0; i < rounds; i++) {
        void *handle = dlopen(argv[2 + i % (argc - 2)], RTLD_NOW | RTLD_LOCAL);
        int (*plugin)(void) = handle ? (int (*)(void))dlsym(handle, "plugin") : NULL;
        EXPECT(plugin);
        same += last == (void *)plugin;
        last = (void *)plugin;
        CHECK(plugin());
        CHECK(dlclose(handle));
    }
    printf("%d\n", same);
    return 0;
}
