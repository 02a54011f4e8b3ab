/* SPDX-License-Identifier: MIT */
/*
 * forks HOW. The parent's driver is the simulated one, whose rule is CUDA's: a child of a process
 * that called cuInit cannot use it. Prints the pids of children that used CUDA, one a line: "child
 * PID".
 */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static CUcontext context;
static volatile int stop;

static void *work(void *arg) {
    (void)arg;
    CHECK(cuCtxSetCurrent(context));
    for (unsigned i = 0; !stop; i++) {
        CUdeviceptr p;
        CHECK(cuMemAlloc_v2(&p, 1024));
        CHECK(cuMemFree_v2(p));
    }
    return NULL;
}

static int reap(pid_t child) {
    int status = -1;
    EXPECT(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void say_child(void) {
    char line[32];
    if (write(1, line, (size_t)snprintf(line, sizeof line, "child %d\n", (int)getpid())) < 0)
        _exit(97);
}

/* A child that never reaches for CUDA, in each of a child's ways to end. */
static void plain_children(void) {
    for (int i = 0; i < 4; i++) {
        pid_t child = fork();
        if (!child) {
            if (i == 0)
                exit(0);
            if (i == 1)
                _exit(0);
            if (i == 2)
                quick_exit(0);
            execl("/bin/true", "true", NULL);
        }
        EXPECT(reap(child) == 0);
    }
    errno = EDOM;
    pid_t child = vfork();
    if (!child) {
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    EXPECT(errno == EDOM); /* a vfork child's is its parent's */
    EXPECT(reap(child) == 0);
    child = vfork();
    if (!child) {
        execl("/nonexistent", "true", NULL);
        _exit(0);
    }
    EXPECT(reap(child) == 0);
    char *const words[] = {"true", NULL};
    CHECK(posix_spawn(&child, "/bin/true", NULL, NULL, words, environ));
    EXPECT(reap(child) == 0);
    CHECK(system("exit 0"));
    FILE *pipe = popen("echo piped", "r");
    char line[16];
    EXPECT(fgets(line, sizeof line, pipe) && strcmp(line, "piped\n") == 0);
    CHECK(pclose(pipe));
}

/* CUDA begun in a child: its own context, two allocations, one freed, and a grandchild that does
 * nothing. */
static void use_cuda(size_t bytes) {
    CUdeviceptr p, q;
    start_cuda();
    CHECK(cuMemAlloc_v2(&p, bytes));
    CHECK(cuMemAlloc_v2(&q, 10));
    CHECK(cuMemFree_v2(q));
    pid_t child = fork();
    if (!child)
        exit(0);
    EXPECT(reap(child) == 0);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    CUdeviceptr p;
    if (strcmp(how, "plain") == 0) { /* children of a process that uses CUDA, which do not */
        start_cuda();
        CHECK(cuMemAlloc_v2(&p, 1000));
        plain_children();
        CHECK(cuMemAlloc_v2(&p, 2000));
    } else if (strcmp(how, "before") ==
               0) { /* the parent has not begun CUDA; it has looked, and its tracer is armed */
        void *driver = dlopen("libcuda.so.1", RTLD_NOW);
        EXPECT(dlsym(driver, "cuMemAlloc_v2"));
        for (int i = 0; i < 2; i++) {
            pid_t child = fork();
            if (!child) {
                say_child();
                use_cuda(5000 + (size_t)i);
                if (i)
                    _exit(0);
                exit(0);
            }
            EXPECT(reap(child) == 0);
        }
        use_cuda(1000);
    } else if (strcmp(how, "after") ==
               0) { /* the child of a parent with a log tries, is refused, and that is its log */
        start_cuda();
        CHECK(cuMemAlloc_v2(&p, 1000));
        pid_t child = fork();
        if (!child) {
            say_child();
            EXPECT(cuMemFree_v2(p) != 0);
            EXPECT(cuMemAlloc_v2(&p, 1) != 0);
            return 0;
        }
        EXPECT(reap(child) == 0);
        CHECK(cuMemFree_v2(p));
        CHECK(cuMemAlloc_v2(&p, 3000));
    } else if (strcmp(how, "threads") ==
               0) { /* forks while others allocate; children use the inherited handlers and exit */
        pthread_t threads[3];
        context = start_cuda();
        for (int i = 0; i < 3; i++)
            CHECK(pthread_create(&threads[i], NULL, work, NULL));
        for (int i = 0; i < 100; i++) {
            pid_t child = fork();
            if (!child)
                i % 2 ? exit(0) : _exit(0);
            EXPECT(reap(child) == 0);
        }
        stop = 1;
        for (int i = 0; i < 3; i++)
            CHECK(pthread_join(threads[i], NULL));
    }
    return 0;
}
