/* SPDX-License-Identifier: MIT */
/* Native programs whose leaks have, or do not have, an advice; run says what it must be. */
#include "../../scenarios/scene.h"

#include <dlfcn.h>

enum { ROUNDS = 160 };

static CUdeviceptr *list;
static int (*create)(CUdeviceptr *), (*multiply)(CUdeviceptr *);

static void handles(void) {
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(create(&list[i])); /* HERE handles */
        WORK();
    }
}

/* Its own, and named like one of the library's. */
__attribute__((noinline)) static CUdeviceptr cublasCreatePlanCache(void) {
    CUdeviceptr made = ALLOC(64 * KIB);
    return made;
}

static void handles_like(void) {
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2)
            list[i] = cublasCreatePlanCache();
        else
            FREE(cublasCreatePlanCache());
        WORK();
    }
}

static void products(void) {
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(multiply(&list[i]));
        if (i % 2)
            FREE(list[i]);
        WORK();
    }
}

static void never_freed(void) {
    for (int i = 0; i < ROUNDS; i++) {
        list[i] = ALLOC(64 * KIB); /* HERE never_freed */
        WORK();
    }
}

__attribute__((noinline)) static int try_once(int number) {
    CUdeviceptr made = ALLOC(64 * KIB); /* HERE way_out */
    if (number % 5 == 0)
        return -1;
    FREE(made);
    return 0;
}

static void way_out(void) {
    for (int i = 0; i < ROUNDS; i++) {
        try_once(i);
        WORK();
    }
}

__attribute__((noinline)) static CUdeviceptr borrow(void) {
    CUdeviceptr made = ALLOC(64 * KIB); /* HERE one_caller */
    return made;
}

__attribute__((noinline)) static CUdeviceptr validate(void) {
    return borrow();
}

/* One of the two callers of a helper gives its memory back. */
static void one_caller(void) {
    for (int i = 0; i < ROUNDS; i++) {
        CUdeviceptr made = borrow();
        FREE(made);
        CUdeviceptr other = validate();
        (void)other;
        WORK();
    }
}

static void some_kept(void) {
    for (int i = 0; i < ROUNDS; i++) {
        CUdeviceptr made = ALLOC(64 * KIB);
        if (i % 5)
            FREE(made);
        else
            list[i] = made;
        WORK();
    }
}

/* All but one: who frees everything has no leak. */
static void freed_at_end(void) {
    never_freed();
    for (int i = 1; i < ROUNDS; i++)
        FREE(list[i]);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } scenes[] = {{"handles", handles},           {"handles_like", handles_like},
                  {"products", products},         {"never_freed", never_freed},
                  {"way_out", way_out},           {"some_kept", some_kept},
                  {"freed_at_end", freed_at_end}, {"one_caller", one_caller}};
    SCENE(argc, argv);
    void *library = dlopen("./libcublas.so", RTLD_NOW);
    if (!library)
        return 96;
    create = (int (*)(CUdeviceptr *))dlsym(library, "cublasCreate_v2");
    multiply = (int (*)(CUdeviceptr *))dlsym(library, "cublasSgemm_v2");
    list = new_list(ROUNDS);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes && argc > 1; i++)
        if (!strcmp(argv[1], scenes[i].name))
            scenes[i].run();
    return 0;
}
