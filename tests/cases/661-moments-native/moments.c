/* SPDX-License-Identifier: MIT */
/* Moments at which owners are looked for, in a program without Python; one scene an argument. */
#include "../../cuda_case.h"

#include <vramtrace.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static CUdeviceptr kept[64];
static unsigned kept_count;

static void hold(unsigned count) {
    while (count--)
        CHECK(cuMemAlloc_v2(&kept[kept_count++], MIB));
}

static void refused(void) {
    CUdeviceptr none;
    EXPECT(cuMemAlloc_v2(&none, 1000 * MIB) == CUDA_ERROR_OUT_OF_MEMORY);
}

/* Each has a call site of its own. */
static void oom(void) {
    CUdeviceptr none;
    hold(3);
    for (int i = 0; i < 5; i++)
        refused();
    errno = 77;
    EXPECT(cuMemAlloc_v2(&none, 1000 * MIB) == CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(errno == 77);
    EXPECT(cuMemAlloc_v2(&none, 1000 * MIB) == CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(cuMemAlloc_v2(&none, 1000 * MIB) == CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(cuMemAlloc_v2(&none, 1000 * MIB) == CUDA_ERROR_OUT_OF_MEMORY);
}

static void phases(void) {
    hold(1);
    for (int epoch = 0; epoch < 20; epoch++) {
        vramtrace_push("epoch");
        vramtrace_push("epoch 1");
        vramtrace_pop();
        vramtrace_pop();
    }
}

static void contexts(int count) {
    for (int i = 0; i < count; i++) {
        CUcontext context;
        CUdeviceptr p;
        CHECK(cuCtxCreate_v2(&context, 0, 0));
        CHECK(cuMemAlloc_v2(&p, MIB));
        CHECK(cuCtxDestroy_v2(context));
    }
}

/* Pages, resident or not. */
static int mapped(void) {
    char text[128] = "";
    int fd = open("/proc/self/statm", O_RDONLY);
    EXPECT(fd >= 0 && read(fd, text, sizeof text - 1) > 0 && close(fd) == 0);
    return atoi(text);
}

static void asked(int expected) {
    EXPECT(vramtrace_snapshot("too early") == 0);
    start_cuda();
    EXPECT(vramtrace_snapshot("nothing is live") == 0);
    hold(2);
    errno = 78;
    EXPECT(vramtrace_snapshot("half way") == expected);
    int before = mapped();
    EXPECT(vramtrace_snapshot(NULL) == expected);
    EXPECT(errno == 78);
    EXPECT(mapped() == before);
}

/* The child has a log of its own, and its own count. */
static void child(void) {
    pid_t pid = fork();
    if (pid == 0) {
        start_cuda();
        oom();
        exit(0);
    }
    int status;
    EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
    start_cuda();
    oom();
}

int main(int argc, char **argv) {
    const char *scene = argc > 1 ? argv[1] : "";
    if (strcmp(scene, "asked") == 0)
        asked(1);
    else if (strcmp(scene, "asked-off") == 0)
        asked(0);
    else if (strcmp(scene, "child") == 0)
        child();
    else
        start_cuda();
    if (strcmp(scene, "oom") == 0)
        oom();
    else if (strcmp(scene, "phases") == 0)
        phases();
    else if (strcmp(scene, "contexts") == 0)
        contexts(10);
    else if (strcmp(scene, "return") == 0 || strstr(scene, "exit"))
        hold(3);
    if (strcmp(scene, "_exit") == 0)
        _exit(6);
    if (strcmp(scene, "quick_exit") == 0)
        quick_exit(7);
    if (strcmp(scene, "exit") == 0)
        exit(8);
    return 0;
}
