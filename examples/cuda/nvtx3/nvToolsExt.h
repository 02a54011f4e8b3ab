/* SPDX-License-Identifier: MIT */
/*
 * NVTX's two calls that the examples use, for machines without a CUDA toolkit (see
 * ../cuda_runtime.h). Like NVIDIA's header, it does nothing unless a tool asks for the ranges: a
 * tool names its library in NVTX_INJECTION64_PATH, which is handed the table of functions to fill.
 */
#ifndef NVTX3_NVTOOLSEXT_H
#define NVTX3_NVTOOLSEXT_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

typedef void (*nvtx_function)(void);
enum { NVTX_CORE = 1, NVTX_PUSH = 9, NVTX_POP = 11, NVTX_SLOTS = 16 };

struct nvtx_slots {
    nvtx_function functions[NVTX_SLOTS];
    nvtx_function *table[NVTX_SLOTS + 1];
};

inline nvtx_slots &nvtx_all_slots() {
    static nvtx_slots slots;
    return slots;
}

inline int nvtx_module_table(int module, nvtx_function ***table, unsigned *size) {
    if (module != NVTX_CORE)
        return 0;
    *table = nvtx_all_slots().table;
    *size = NVTX_SLOTS;
    return 1;
}

inline const void *nvtx_export_table(uint32_t which) {
    static const struct {
        size_t bytes;
        int (*module_table)(int, nvtx_function ***, unsigned *);
    } callbacks = {sizeof callbacks, nvtx_module_table};
    return which == 1 ? &callbacks : NULL;
}

inline bool nvtx_attach() {
    nvtx_slots &slots = nvtx_all_slots();
    for (int i = 1; i < NVTX_SLOTS; i++)
        slots.table[i] = &slots.functions[i];
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    typedef int (*initialize)(const void *(*)(uint32_t));
    initialize start =
        library ? (initialize)dlsym(library, "InitializeInjectionNvtx2") : (initialize)NULL;
    return start && start(nvtx_export_table);
}

inline nvtx_function nvtx_slot(int number) {
    static const bool attached = nvtx_attach();
    return attached ? nvtx_all_slots().functions[number] : NULL;
}

inline int nvtxRangePushA(const char *name) {
    nvtx_function push = nvtx_slot(NVTX_PUSH);
    return push ? ((int (*)(const char *))push)(name) : -2;
}

inline int nvtxRangePop(void) {
    nvtx_function pop = nvtx_slot(NVTX_POP);
    return pop ? ((int (*)(void))pop)() : -2;
}

#endif
