/* SPDX-License-Identifier: MIT */
/* Phases and marks through vramtrace.h, one scene an argument. */
#include "../../cuda_case.h"

#include <vramtrace.h>

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1 << 20)

static CUdeviceptr allocate(void) {
    CUdeviceptr p;
    CHECK(cuMemAlloc_v2(&p, MIB));
    return p;
}

/* Begun before CUDA is used, nested, repeated, marked; what is open at the end stays open. */
static void nested(void) {
    vramtrace_mark("too early for a log");
    vramtrace_push("gone before the log");
    vramtrace_pop();
    vramtrace_push("setup");
    vramtrace_push("inner");
    start_cuda();
    EXPECT(vramtrace_live_bytes(-1) == 0);
    allocate();
    EXPECT(vramtrace_live_bytes(-1) == MIB && vramtrace_live_bytes(0) == MIB &&
           vramtrace_live_bytes(1) == 0);
    vramtrace_pop();
    for (int epoch = 0; epoch < 3; epoch++) {
        vramtrace_push("epoch");
        for (int step = 0; step < 2; step++) {
            vramtrace_push("step");
            CHECK(cuMemFree_v2(allocate()));
            vramtrace_pop();
        }
        vramtrace_mark("saved");
        vramtrace_pop();
    }
    EXPECT(vramtrace_active() == 1 && vramtrace_simulated() == 1);
}

/* More than are kept, longer names than are kept, ends without a begin. */
static void excess(void) {
    static char longest[1001];
    start_cuda();
    allocate();
    memset(longest, 'x', 1000);
    vramtrace_pop();
    vramtrace_push(longest);
    vramtrace_push(NULL);
    vramtrace_pop();
    vramtrace_pop();
    vramtrace_pop();
    for (int i = 0; i < 70; i++)
        vramtrace_push("deep");
    for (int i = 0; i < 75; i++)
        vramtrace_pop();
    vramtrace_push("\xff\xfe not UTF-8");
    vramtrace_pop();
}

static CUcontext context;

static void *thread_of_phases(void *argument) {
    char name[32];
    CHECK(cuCtxSetCurrent(context));
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "step %d", i % 50);
        vramtrace_push((const char *)argument);
        vramtrace_push(name);
        if (i % 100 == 0)
            CHECK(cuMemFree_v2(allocate()));
        vramtrace_pop();
        vramtrace_pop();
    }
    return NULL;
}

static void threads(void) {
    static char names[8][16];
    pthread_t all[8];
    vramtrace_push("main");
    context = start_cuda();
    for (int t = 0; t < 8; t++) {
        snprintf(names[t], sizeof names[t], "thread %d", t);
        pthread_create(&all[t], NULL, thread_of_phases, names[t]);
    }
    for (int t = 0; t < 8; t++)
        pthread_join(all[t], NULL);
    vramtrace_pop();
}

static void *use_cuda(void *unused) {
    start_cuda();
    allocate();
    return unused;
}

/* Begun before there is a log, which another thread's event opens; ended without an event between. */
static void aside(void) {
    pthread_t thread;
    vramtrace_push("aside");
    vramtrace_push("within");
    pthread_create(&thread, NULL, use_cuda, NULL);
    pthread_join(thread, NULL);
    vramtrace_pop();
    vramtrace_pop();
}

static void *short_lived(void *unused) {
    vramtrace_push("short");
    return unused; /* and leaves it open */
}

static long mapped_pages(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    EXPECT(file && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    return pages;
}

/* Threads that come and go leave nothing behind, whether there is a log or not. */
static void churn(void) {
    long before = 0;
    for (int i = 0; i < 2000; i++) {
        pthread_t thread;
        if (i == 20)
            before = mapped_pages();
        if (i == 1000)
            start_cuda();
        EXPECT(pthread_create(&thread, NULL, short_lived, NULL) == 0);
        pthread_join(thread, NULL);
        if (i == 999)
            EXPECT(mapped_pages() - before < 1000);
        if (i == 1020)
            before = mapped_pages();
    }
    EXPECT(mapped_pages() - before < 1000);
}

/* The child is the one who uses CUDA, within a phase of its parent's. */
static void forks(void) {
    int status;
    vramtrace_push("parent's");
    if (fork() == 0) {
        start_cuda();
        vramtrace_push("child's");
        allocate();
        vramtrace_pop();
        vramtrace_pop();
        exit(0);
    }
    wait(&status);
    EXPECT(status == 0);
    vramtrace_pop();
}

/* Both do: each log has its own. */
static void both(void) {
    int status;
    vramtrace_push("epoch");
    start_cuda();
    allocate();
    vramtrace_push("loading");
    if (fork() == 0) {
        vramtrace_pop();
        cuCtxCreate_v2(&context, 0, 0); /* refused: a child of a CUDA process; and recorded */
        CUdeviceptr p;
        EXPECT(cuMemAlloc_v2(&p, MIB) != CUDA_SUCCESS);
        vramtrace_pop();
        _exit(0);
    }
    wait(&status);
    EXPECT(status == 0);
    vramtrace_pop();
    vramtrace_pop();
}

static void none(void) {
    vramtrace_push("a phase");
    vramtrace_mark("a mark");
    vramtrace_pop();
    EXPECT(vramtrace_live_bytes(-1) == 0);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*scene)(void);
    } scenes[] = {{"nested", nested}, {"excess", excess}, {"threads", threads}, {"aside", aside},
                  {"churn", churn},   {"forks", forks},   {"both", both},       {"none", none}};
    for (size_t i = 0; argc > 1 && i < sizeof scenes / sizeof scenes[0]; i++)
        if (strcmp(argv[1], scenes[i].name) == 0)
            scenes[i].scene();
    return 0;
}
