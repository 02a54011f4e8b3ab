/* SPDX-License-Identifier: MIT */
/*
 * Calls the same functions by every route and prints, each time, which of the driver's functions
 * really ran, and what it answered. With -DDIRECT the program is linked with the driver. The output
 * must be the same with and without the tracer; RUNS is how many allocations and frees of each kind
 * were really made.
 */
#define _GNU_SOURCE
#include "../../../cuda_case.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

static const char **called;

enum shape { ALLOC1, ALLOC2, ASYNC, HOST1, FREE1, FREE2, FREE_ASYNC };
static const struct {
    const char *symbol, *base;
    enum shape shape;
    int version;
    unsigned flags;
} functions[] = {
    {"cuMemAlloc", "cuMemAlloc", ALLOC1, 2000, 0},
    {"cuMemAlloc_v2", "cuMemAlloc", ALLOC2, 12000, 0},
    {"cuMemAllocAsync", "cuMemAllocAsync", ASYNC, 12000, 1},
    {"cuMemAllocAsync_ptsz", "cuMemAllocAsync", ASYNC, 12000, 2},
    {"cuMemAllocHost", "cuMemAllocHost", HOST1, 3010, 0},
    {"cuMemAllocHost_v2", "cuMemAllocHost", ALLOC2, 12000, 0},
    {"cuMemFree", "cuMemFree", FREE1, 2000, 0},
    {"cuMemFree_v2", "cuMemFree", FREE2, 12000, 0},
    {"cuMemFreeAsync", "cuMemFreeAsync", FREE_ASYNC, 12000, 0},
    {"cuMemFreeAsync_ptsz", "cuMemFreeAsync", FREE_ASYNC, 12000, 2},
};
#define COUNT (sizeof functions / sizeof functions[0])

static void use(const char *route, size_t i, void *f) {
    static size_t size = 1000;
    CUdeviceptr p = 0;
    CUdeviceptr_v1 p1 = 0;
    int result = -1;
    *called = "nothing";
    errno = 77;
    size++;
    if (f)
        switch (functions[i].shape) {
        case ALLOC1:
            result = (int)((CUresult(*)(CUdeviceptr_v1 *, unsigned))f)(&p1, (unsigned)size);
            break;
        case ALLOC2:
            result = (int)((CUresult(*)(CUdeviceptr *, size_t))f)(&p, size + (5ull << 32));
            break;
        case ASYNC:
            result = (int)((CUresult(*)(CUdeviceptr *, size_t, CUstream))f)(&p, size, NULL);
            break;
        case HOST1:
            result = (int)((CUresult(*)(void **, unsigned))f)((void **)&p, (unsigned)size);
            break;
        case FREE1:
            result = (int)((CUresult(*)(CUdeviceptr_v1))f)((CUdeviceptr_v1)size);
            break;
        case FREE2:
            result = (int)((CUresult(*)(CUdeviceptr))f)(size);
            break;
        case FREE_ASYNC:
            result = (int)((CUresult(*)(CUdeviceptr, CUstream))f)(size, NULL);
            break;
        }
    printf("%-16s %-22s called %-22s answered %d errno %d dlerror %s\n", route, functions[i].symbol,
           *called, result, errno, dlerror());
}

/* The message of a look-up that found nothing, and that it is told once. */
static void print_error(const void *found) {
    printf("%d %s", found == NULL, dlerror());
    printf(" / %s\n", dlerror());
}

static inline void print_missing(const void *found) {
    printf("%d", found == NULL);
    printf(" %s", dlerror() ? "says why" : "says nothing");
    printf(" / %s\n", dlerror());
}

int main(void) {
    typedef CUresult get1(const char *, void **, int, cuuint64_t);
    typedef CUresult get2(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
    void *f;
#ifdef DIRECT
    /* Not through a look-up of ours: the first call must be the first reach for CUDA. */
    extern const char **fake_where(void);
    called = fake_where();
    void *direct[] = {cuMemAlloc,     cuMemAlloc_v2,      cuMemAllocAsync, cuMemAllocAsync_ptsz,
                      cuMemAllocHost, cuMemAllocHost_v2,  cuMemFree,       cuMemFree_v2,
                      cuMemFreeAsync, cuMemFreeAsync_ptsz};
    for (size_t i = 0; i < COUNT; i++)
        use("direct", i, direct[i]);
    for (size_t i = 0; i < COUNT; i++)
        use("RTLD_DEFAULT", i, dlsym(RTLD_DEFAULT, functions[i].symbol));
    for (size_t i = 0; i < COUNT; i++)
        use("RTLD_NEXT", i, dlsym(RTLD_NEXT, functions[i].symbol));
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *global = dlopen(NULL, RTLD_NOW);
    for (size_t i = 0; i < COUNT; i++)
        use("dlopen(NULL)", i, dlsym(global, functions[i].symbol));
#else
    /* Before there is a driver: what is not there is not there, by a handle. */
    void *global = dlopen(NULL, RTLD_NOW);
    print_error(dlsym(global, "cuMemFancy"));
    print_missing(dlsym(global, "cuMemAlloc_v2"));
    print_missing(dlsym(global, "cuMemAlloc_v2"));
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    EXPECT(driver);
    called = dlsym(driver, "fake_called");
    for (size_t i = 0; i < COUNT; i++)
        use("dlvsym", i, dlvsym(driver, functions[i].symbol, "FAKE_1"));
#endif
    for (size_t i = 0; i < COUNT; i++)
        use("dlsym", i, dlsym(driver, functions[i].symbol));

    get1 *first = (get1 *)dlsym(driver, "cuGetProcAddress"), *again = NULL;
    get2 *second = (get2 *)dlsym(driver, "cuGetProcAddress_v2"), *second_again = NULL;
    CUdriverProcAddressQueryResult status;
    CHECK(first("cuGetProcAddress", (void **)&again, 11030, 0));
    CHECK(second("cuGetProcAddress", (void **)&second_again, 12000, 0, &status));
    get2 *from_first = NULL;
    CHECK(again("cuGetProcAddress", (void **)&from_first, 13000, 0));
    for (size_t i = 0; i < COUNT; i++) {
        const char *base = functions[i].base;
        int version = functions[i].version;
        CHECK(first(base, &f, version, functions[i].flags));
        use("getproc", i, f);
        CHECK(again(base, &f, version, functions[i].flags));
        use("getproc itself", i, f);
        CHECK(second(base, &f, version, functions[i].flags, &status));
        use("getproc2", i, f);
        CHECK(second_again(base, &f, version, functions[i].flags, NULL));
        use("getproc2 itself", i, f);
        CHECK(from_first(base, &f, version, functions[i].flags, &status));
        use("getproc2 from 1", i, f);
    }
    /* Not hooked: as it is. */
    CHECK(second("cuMemFancy", &f, 12000, 0, &status));
    printf("fancy %d %d\n", f == dlsym(driver, "cuMemFancy"), ((int (*)(int))f)(41));
    /* A variant that no table knows: hands off. */
    CUdeviceptr p;
    CHECK(second("cuMemAlloc", &f, 14000, 0, &status));
    int result = (int)((CUresult(*)(CUdeviceptr *, int, size_t))f)(&p, 1, 64);
    printf("v3 %s %d\n", *called, result);
    result =
        (int)((CUresult(*)(CUdeviceptr *, int, size_t))dlsym(driver, "cuMemAlloc_v3"))(&p, 1, 64);
    printf("v3 %s %d\n", *called, result);
    /* An entry that no symbol names. */
    CHECK(second("cuMemAllocManaged", &f, 12000, 0, &status));
    result = (int)((CUresult(*)(CUdeviceptr *, size_t, unsigned))f)(&p, 4242, 1);
    printf("unnamed %s %d\n", *called, result);
    /* What is not there. */
    result = (int)second("cuNothing", &f, 12000, 0, &status);
    printf("nothing %d %d %d\n", result, f == NULL, (int)status);
    result = (int)second("cuMemAlloc", &f, 1000, 0, &status);
    printf("too old %d %d %d\n", result, f == NULL, (int)status);
    result = (int)first("cuNothing", &f, 12000, 0);
    printf("nothing %d %d\n", result, f == NULL);
    printf("bad %d %d %d\n", (int)first(NULL, &f, 12000, 0),
           (int)second("cuMemAlloc", NULL, 12000, 0, NULL),
           (int)second(NULL, NULL, 12000, 0, &status));
    f = dlsym(driver, "cuNothing");
    print_error(f);
    f = dlvsym(driver, "cuMemAlloc_v2", "NO_SUCH");
    print_error(f);
    f = dlsym(driver,
              "cuMemCreate"); /* a name that a tracer may know and this driver does not have */
    print_error(f);
    return 0;
}
