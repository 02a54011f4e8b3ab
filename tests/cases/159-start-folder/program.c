/* SPDX-License-Identifier: MIT */
/*
 * program STEP...: takes the steps, then makes an allocation and keeps it.
 *   to=FOLDER    chdir
 *   gone         removes the current folder
 *   root=FOLDER  chroot (status 77: not allowed here)
 *   long         goes down into folders whose path is longer than PATH_MAX
 *   fork         goes on in a child, for which the parent waits
 *   exec         starts itself anew, with the steps that follow
 */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void go_on_in_child(void) {
    int status = 1;
    pid_t child = fork();
    if (child == 0)
        return;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    exit(0);
}

static void go_down(void) {
    char name[201];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    for (size_t bytes = 0; bytes < PATH_MAX; bytes += sizeof name) {
        CHECK(mkdir(name, 0700));
        CHECK(chdir(name));
    }
}

int main(int argc, char **argv) {
    char here[PATH_MAX];
    for (int i = 1; i < argc; i++) {
        const char *step = argv[i];
        if (strncmp(step, "to=", 3) == 0)
            CHECK(chdir(step + 3));
        else if (strcmp(step, "gone") == 0)
            CHECK(getcwd(here, sizeof here) == NULL || rmdir(here));
        else if (strncmp(step, "root=", 5) == 0 && chroot(step + 5) != 0)
            return 77;
        else if (strcmp(step, "long") == 0)
            go_down();
        else if (strcmp(step, "fork") == 0)
            go_on_in_child();
        else if (strcmp(step, "exec") == 0)
            return execv("/proc/self/exe", argv + i);
    }
    CUdeviceptr p;
    start_cuda();
    CHECK(cuMemAlloc_v2(&p, 64));
    puts("done");
    return 0;
}
