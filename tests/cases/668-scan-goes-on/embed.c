/* SPDX-License-Identifier: MIT */
/* embed LIBPYTHON: starts and ends Python, then loses 5 new allocations and drops 4 of its earlier ones; it keeps 3. */
#include "../../cuda_case.h"

#include <dlfcn.h>
#include <string.h>

static CUdeviceptr kept[3], late[4];

static __attribute__((noinline)) void lose(int n) {
    CUdeviceptr p;
    for (int i = 0; i < n; i++)
        CHECK(cuMemAlloc_v2(&p, 65536));
    memset(&p, 0, sizeof p);
    __asm__ volatile("" : : "r"(&p) : "memory");
}

int main(int argc, char **argv) {
    EXPECT(argc == 2);
    start_cuda();
    for (int i = 0; i < 3; i++)
        CHECK(cuMemAlloc_v2(&kept[i], 65536));
    for (int i = 0; i < 4; i++)
        CHECK(cuMemAlloc_v2(&late[i], 65536));
    void *python = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    EXPECT(python != NULL);
    __extension__ void (*initialize)(int) = (void (*)(int))dlsym(python, "Py_InitializeEx");
    __extension__ void (*finalize)(void) = (void (*)(void))dlsym(python, "Py_Finalize");
    __extension__ int (*run)(const char *) =
        (int (*)(const char *))dlsym(python, "PyRun_SimpleString");
    initialize(0);
    lose(3); /* an event while it runs */
    EXPECT(run("for _ in range(100000): pass\n") == 0);
    finalize();
    lose(5);
    memset(late, 0, sizeof late);
    return 0;
}
