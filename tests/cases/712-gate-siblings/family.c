// SPDX-License-Identifier: MIT
// family BYTES HOW: a parent whose child leaks BYTES. `late`: forked before the parent uses CUDA; `early`: after it, so that
// it must be another program; `child` is that one.
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int);
extern int cuMemAlloc_v2(void **, size_t), cuMemFree_v2(void *);

static void use(size_t leaked) {
    void *context, *p;
    if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuMemAlloc_v2(&p, 4096) || cuMemFree_v2(p))
        _exit(99);
    if (leaked && cuMemAlloc_v2(&p, leaked))
        _exit(98);
}

int main(int argc, char **argv) {
    size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
    const char *how = argc > 2 ? argv[2] : "late";
    int status = 1;
    if (strcmp(how, "late") != 0)
        use(strcmp(how, "child") ? 0 : bytes);
    if (!strcmp(how, "child"))
        return 0;
    pid_t child = fork();
    if (!child && !strcmp(how, "early"))
        execl(argv[0], argv[0], argv[1], "child", (char *)NULL);
    if (!child) {
        use(bytes);
        exit(0);
    }
    waitpid(child, &status, 0);
    if (!strcmp(how, "late"))
        use(0);
    return status ? 1 : 0;
}
