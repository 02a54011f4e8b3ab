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

/* Physical memory, mapped as a pool does; each way leaves out one call. */
static CUmemGenericAllocationHandle map_physical(CUdeviceptr *at) {
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle handle;
    CHECK(cuMemCreate(&handle, 2 * MIB, &prop, 0));
    CHECK(cuMemAddressReserve(at, 2 * MIB, 0, 0, 0));
    CHECK(cuMemMap(*at, 2 * MIB, 0, handle, 0));
    return handle;
}

static void unreleased(void) {
    for (int i = 0; i < ROUNDS; i++) {
        CUdeviceptr at;
        map_physical(&at);
        CHECK(cuMemUnmap(at, 2 * MIB));
        WORK();
    }
}

static void mapped(void) {
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(cuMemRelease(map_physical(&list[i])));
        WORK();
    }
}

static void retained(void) {
    for (int i = 0; i < ROUNDS; i++) {
        CUdeviceptr at;
        CUmemGenericAllocationHandle handle = map_physical(&at), again;
        CHECK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)at));
        CHECK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)at));
        CHECK(cuMemUnmap(at, 2 * MIB));
        CHECK(cuMemRelease(handle));
        WORK();
    }
}

/* Half of what is leaked is mapped. */
static void half_mapped(void) {
    for (int i = 0; i < ROUNDS; i++) {
        map_physical(&list[i]);
        if (i % 2)
            CHECK(cuMemUnmap(list[i], 2 * MIB));
        WORK();
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } scenes[] = {{"handles", handles},           {"handles_like", handles_like},
                  {"products", products},         {"never_freed", never_freed},
                  {"way_out", way_out},           {"some_kept", some_kept},
                  {"freed_at_end", freed_at_end}, {"one_caller", one_caller},
                  {"unreleased", unreleased},     {"mapped", mapped},
                  {"retained", retained},         {"half_mapped", half_mapped}};
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
