/* SPDX-License-Identifier: MIT */
/* ends HOW: allocates two pieces, frees one late (where HOW has a late moment), and ends in the way
 * HOW says. */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

extern char **environ;
static CUdeviceptr late;

static void free_late(void) {
    CHECK(cuMemFree_v2(late));
}

static void *exits(void *arg) {
    exit((int)(uintptr_t)arg);
}

static void *sleeps(void *arg) {
    (void)arg;
    for (;;)
        pause();
}

static void replaced(const char *how, char *const argv[]) {
    int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
    if (strcmp(how, "execve") == 0)
        execve("/bin/true", argv, environ);
    if (strcmp(how, "execv") == 0)
        execv("/bin/true", argv);
    if (strcmp(how, "execvp") == 0)
        execvp("true", argv);
    if (strcmp(how, "execvpe") == 0)
        execvpe("true", argv, environ);
    if (strcmp(how, "execl") == 0)
        execl("/bin/true", "true", "a", "b", NULL);
    if (strcmp(how, "execlp") == 0)
        execlp("true", "true", NULL);
    if (strcmp(how, "execle") == 0)
        execle("/bin/true", "true", "a", NULL, environ);
    if (strcmp(how, "fexecve") == 0)
        fexecve(fd, argv, environ);
    if (strcmp(how, "execveat") == 0)
        execveat(AT_FDCWD, "/bin/true", argv, environ, 0);
    if (strcmp(how, "execl-null") == 0) /* no arguments at all, not even a name */
        execve("/bin/true", (char *[]){NULL}, environ);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    struct rlimit none = {0, 0};
    CUdeviceptr kept;
    setrlimit(RLIMIT_CORE, &none);
    start_cuda();
    CHECK(cuMemAlloc_v2(&kept, 1000));
    CHECK(cuMemAlloc_v2(&late, 500));
    fflush(stdout);
    if (strcmp(how, "return") == 0) {
        atexit(free_late);
        return 3;
    }
    if (strcmp(how, "exit") == 0) {
        atexit(free_late);
        exit(259); /* only the low 8 bits are the status */
    }
    if (strcmp(how, "exit-twice") == 0) {
        extern void exit_again(void);
        atexit(exit_again);
        exit(1);
    }
    if (strcmp(how, "_exit") == 0)
        _exit(4);
    if (strcmp(how, "_Exit") == 0)
        _Exit(5);
    if (strcmp(how, "_exit-late") == 0) { /* an exit handler ends it the short way */
        atexit(free_late);
        extern void exit_short(void);
        atexit(exit_short);
        exit(1);
    }
    if (strcmp(how, "quick_exit") == 0) {
        at_quick_exit(free_late);
        quick_exit(6);
    }
    if (strcmp(how, "thread") == 0) {
        pthread_t thread;
        atexit(free_late);
        pthread_create(&thread, NULL, sleeps, NULL);
        pthread_create(&thread, NULL, exits, (void *)8ul);
        pthread_exit(NULL);
    }
    if (strcmp(how, "pthread_exit") == 0) {
        atexit(free_late);
        pthread_exit(NULL); /* the last thread: exit(0) */
    }
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "segv") == 0)
        *(volatile int *)(uintptr_t)8 = 1;
    if (strcmp(how, "failing-exec") == 0) {
        char *const nobody[] = {"nobody", NULL};
        atexit(free_late);
        execve("/nonexistent", nobody, environ);
        execv("/nonexistent", nobody);
        execvp("nonexistent-program", nobody);
        execl("/nonexistent", "x", NULL);
        execlp("nonexistent-program", "x", NULL);
        execle("/nonexistent", "x", NULL, environ);
        return 9;
    }
    replaced(how, (char *const[]){"true", "a", "b", NULL});
    return 100;
}

void exit_again(void) {
    free_late();
    exit(7);
}

void exit_short(void) {
    _exit(10);
}
