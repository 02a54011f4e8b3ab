/* SPDX-License-Identifier: MIT */
/*
 * embed LIBPYTHON local|global end|stay: a program that opens libpython itself, starts the interpreter twice, and
 * either ends it or not the second time. Each life holds 10 allocations and loses 5. It holds 3 itself.
 */
#include "../../cuda_case.h"

#include <dlfcn.h>
#include <string.h>

static CUdeviceptr own[3];

static void *symbol(void *library, const char *name) {
    void *p = dlsym(library, name);
    EXPECT(p != NULL);
    return p;
}
#define GET(pointer, library, name)                                                                \
    do {                                                                                           \
        void *p_ = symbol(library, name);                                                          \
        memcpy(&(pointer), &p_, sizeof(pointer));                                                  \
    } while (0)

static void *(*number)(unsigned long long);

/* allocate(): the address. Extension modules such as ctypes need libpython in the global scope. */
static void *allocate(void *self, void *arguments) {
    CUdeviceptr p = 0, found;
    (void)self, (void)arguments;
    CHECK(cuMemAlloc_v2(&p, 65536));
    found = p;
    memset(&p, 0, sizeof p);
    return number(found);
}

static struct {
    const char *name;
    void *(*function)(void *, void *);
    int flags;
    const char *doc;
} method = {"allocate", allocate, 4 /* METH_NOARGS */, NULL};

int main(int argc, char **argv) {
    EXPECT(argc == 4);
    start_cuda();
    for (int i = 0; i < 3; i++)
        CHECK(cuMemAlloc_v2(&own[i], 65536));
    int scope = strcmp(argv[2], "local") == 0 ? RTLD_LOCAL : RTLD_GLOBAL;
    void *python = dlopen(argv[1], RTLD_NOW | scope);
    EXPECT(python != NULL);
    void (*initialize)(int), (*finalize)(void);
    int (*run)(const char *), (*set)(void *, const char *, void *);
    void *(*module)(const char *), *(*make)(void *, void *, void *);
    GET(initialize, python, "Py_InitializeEx");
    GET(finalize, python, "Py_Finalize");
    GET(run, python, "PyRun_SimpleString");
    GET(set, python, "PyObject_SetAttrString");
    GET(module, python, "PyImport_AddModule");
    GET(make, python, "PyCFunction_NewEx");
    GET(number, python, "PyLong_FromUnsignedLongLong");
    for (int life = 0; life < 2; life++) {
        initialize(0);
        set(module("__main__"), "allocate", make(&method, NULL, NULL));
        EXPECT(run("for _ in range(5): allocate()\n"
                   "held = [allocate() for _ in range(10)]\n") == 0);
        if (life == 0 || strcmp(argv[3], "end") == 0)
            finalize();
    }
    return 0;
}
