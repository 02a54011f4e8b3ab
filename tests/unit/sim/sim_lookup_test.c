/* SPDX-License-Identifier: MIT */
/*
 * The simulated driver's exports and its two cuGetProcAddress, row by row of driver_symbols.def:
 * every symbol is there, every variant comes out for exactly the versions and flags that it should.
 */
#include "sim_test.h"

#include <dlfcn.h>

enum stream { ANY, LEGACY, PER_THREAD };

static const struct row {
    const char *symbol, *base;
    int since;
    enum stream stream;
} rows[] = {
#define SIM_SYMBOL(symbol, base, since, stream) {#symbol, #base, since, stream},
#include "tests/sim/driver_symbols.def"
#undef SIM_SYMBOL
};
#define ROWS (sizeof rows / sizeof *rows)

/* Not hooked, so not declared by hooks.def. */
CUresult cuDriverGetVersion(int *version);

static void *address_of(const char *symbol) {
    return dlsym(RTLD_DEFAULT, symbol);
}

static void every_symbol_is_exported_and_distinct(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        void *address = address_of(rows[i].symbol);
        if (address == NULL)
            fail_msg("%s is not exported", rows[i].symbol);
        for (size_t j = 0; j < i; j++) {
            if (address == address_of(rows[j].symbol))
                fail_msg("%s and %s are one function", rows[i].symbol, rows[j].symbol);
        }
    }
}

/* What must come out: written another way than the driver does it. */
static const struct row *expected(const char *base, int version, int flags) {
    const struct row *legacy = NULL, *per_thread = NULL;
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].base, base) != 0 || rows[i].since > version)
            continue;
        const struct row **best = rows[i].stream == PER_THREAD ? &per_thread : &legacy;
        if (*best == NULL || (*best)->since < rows[i].since)
            *best = &rows[i];
    }
    return flags == 2 && per_thread != NULL ? per_thread : legacy;
}

static void expect(const char *base, int version, int flags) {
    CUdriverProcAddressQueryResult status = 99;
    void *found = (void *)1;
    const struct row *row = expected(base, version, flags);
    assert_int_equal(cuGetProcAddress_v2(base, &found, version, (cuuint64_t)flags, &status), 0);
    if (found != (row != NULL ? address_of(row->symbol) : NULL))
        fail_msg("%s, version %d, flags %d: expected %s, found another", base, version, flags,
                 row != NULL ? row->symbol : "nothing");
    assert_int_equal(status, row != NULL ? CU_GET_PROC_ADDRESS_SUCCESS
                                         : CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    void *first = (void *)1;
    assert_int_equal(cuGetProcAddress(base, &first, version, (cuuint64_t)flags), 0);
    assert_ptr_equal(first, found);
}

static void every_variant_comes_out_for_its_versions(void **state) {
    (void)state;
    int newest;
    assert_int_equal(cuDriverGetVersion(&newest), 0);
    for (size_t i = 0; i < ROWS; i++) {
        for (int flags = 0; flags <= 2 && rows[i].since <= newest; flags++) {
            expect(rows[i].base, rows[i].since, flags);
            expect(rows[i].base, rows[i].since - 10, flags);
            expect(rows[i].base, 13000, flags);
        }
    }
}

static void known_answers(void **state) {
    void *found;
    (void)state;
    assert_int_equal(cuGetProcAddress_v2("cuMemAlloc", &found, 3010, 0, NULL), 0);
    assert_ptr_equal(found, address_of("cuMemAlloc"));
    assert_int_equal(cuGetProcAddress_v2("cuMemAlloc", &found, 12000, 0, NULL), 0);
    assert_ptr_equal(found, address_of("cuMemAlloc_v2"));
    assert_int_equal(cuGetProcAddress_v2("cuMemAllocAsync", &found, 12000, 1, NULL), 0);
    assert_ptr_equal(found, address_of("cuMemAllocAsync"));
    assert_int_equal(cuGetProcAddress_v2("cuMemAllocAsync", &found, 12000, 2, NULL), 0);
    assert_ptr_equal(found, address_of("cuMemAllocAsync_ptsz"));
    assert_int_equal(cuGetProcAddress_v2("cuMemcpy", &found, 4000, 2, NULL), 0);
    assert_ptr_equal(found, address_of("cuMemcpy")); /* its twin is from 7000 on */
    assert_int_equal(cuGetProcAddress_v2("cuGetProcAddress", &found, 11030, 0, NULL), 0);
    assert_ptr_equal(found, address_of("cuGetProcAddress"));
    assert_int_equal(cuGetProcAddress_v2("cuGetProcAddress", &found, 12000, 0, NULL), 0);
    assert_ptr_equal(found, address_of("cuGetProcAddress_v2"));
}

static void what_is_not_there_is_null(void **state) {
    static const char *const names[] = {"", "cuNoSuchFunction", "cuMemAlloc_v2", "cumemalloc"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CUdriverProcAddressQueryResult status = 99;
        void *found = (void *)1;
        assert_int_equal(cuGetProcAddress_v2(names[i], &found, 12000, 0, &status), 0);
        assert_null(found);
        assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    }
    void *found;
    assert_int_equal(cuGetProcAddress_v2("", &found, 0, 0, NULL), 0);
    assert_int_equal(cuGetProcAddress_v2(NULL, &found, 12000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGetProcAddress_v2("cuInit", NULL, 12000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGetProcAddress_v2("cuInit", &found, 13010, 0, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGetProcAddress_v2("cuInit", &found, 12000, 3, NULL),
                     CUDA_ERROR_INVALID_VALUE);
}

static void the_unknown_is_not_supported_and_logged_once(void) {
    CUresult (*function)(void);
    void *found = address_of("cuLogsDumpToFile");
    memcpy(&function, &found, sizeof function);
    ANSWERS(CUDA_ERROR_NOT_SUPPORTED, function());
    ANSWERS(CUDA_ERROR_NOT_SUPPORTED, function());
    char text[200] = "";
    FILE *file = fopen("sim.log", "r");
    EXPECT(file != NULL);
    size_t length = fread(text, 1, sizeof text - 1, file);
    EXPECT(length > 0 && strcmp(text, "unsupported: cuLogsDumpToFile\n") == 0);
    unlink("sim.log");
}

static void unsupported(void **state) {
    (void)state;
    in_child(WITH("VRAMTRACE_SIM_LOG=sim.log"), the_unknown_is_not_supported_and_logged_once);
}

static void runtime_symbols(void **state) {
    static const struct {
        const char *name;
        int in12, in13;
    } names[] = {
#define SIM_RUNTIME_BOTH(symbol) {#symbol, 1, 1},
#define SIM_RUNTIME_12(symbol)   {#symbol, 1, 0},
#define SIM_RUNTIME_13(symbol)   {#symbol, 0, 1},
#include "tests/sim/runtime_symbols.def"
#undef SIM_RUNTIME_BOTH
#undef SIM_RUNTIME_12
#undef SIM_RUNTIME_13
    };
    (void)state;
    void *old = dlopen(SIM_DIR "libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
    void *new = dlopen(SIM_DIR "libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(old);
    assert_non_null(new);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = names[i].name;
        void *in12 = dlvsym(old, name, "libcudart.so.12"),
             *in13 = dlvsym(new, name, "libcudart.so.13");
        if ((in12 != NULL) != names[i].in12 || (in13 != NULL) != names[i].in13)
            fail_msg("%s: expected in 12: %d, in 13: %d; found %d, %d", name, names[i].in12,
                     names[i].in13, in12 != NULL, in13 != NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_symbol_is_exported_and_distinct),
        cmocka_unit_test(every_variant_comes_out_for_its_versions),
        cmocka_unit_test(known_answers),
        cmocka_unit_test(what_is_not_there_is_null),
        cmocka_unit_test(unsupported),
        cmocka_unit_test(runtime_symbols),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
