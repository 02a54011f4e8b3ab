/* SPDX-License-Identifier: MIT */
/*
 * The functions behind our wrappers: those of the real driver and the real runtimes, one pointer per symbol variant,
 * generated from hooks.def. Called by every wrapper and by the look-ups.
 *
 * A library is adopted when the program first uses it, and then kept: the driver once, each major version of the
 * runtime once. If the global scope has another definition after ours, we call that definition, so that other preloaded
 * libraries stay in the chain. Otherwise we call the library's own function.
 */
#define _GNU_SOURCE
#include "real.h"
#include "base/base.h"
#include "log/log.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

struct row {
    const char *symbol;
    unsigned since, until;
};

/* One adopted library. `call` and `direct` are arrays beside `rows`. */
struct library {
    uintptr_t home; /* atomic: start address of the adopted object; 0: none yet */
    bool ready;     /* atomic: the pointers below are filled in */
    void **call;    /* what our wrappers call; the same memory as the typed struct */
    void **direct;  /* the library's own functions, as look-ups return them */
    const struct row *rows;
    size_t count;
    const char *node;   /* version node of its symbols; NULL: none */
    unsigned major;     /* a runtime's major version; 0: the driver */
    const char *prefix; /* start of its file name */
};

static const struct row driver_rows[] = {
#define VT_DRIVER(id, symbol, base, since, stream, role, prototype) {#symbol, since, 0},
#include "vramtrace/hooks.def"
};

static const struct row cudart_rows[] = {
#define VT_RUNTIME(id, symbol, since, until, role, prototype) {#symbol, since, until},
#define VT_LABEL_AS(id, symbol, exported, since, until, role, prototype, arguments)                \
    {#exported, since, until},
#include "vramtrace/hooks.def"
};

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

struct vt_real_driver vt_real_driver_functions;
bool vt_real_driver_ready;
/* Functions of runtime 12, runtime 13, and an unversioned runtime. */
static struct vt_real_cudart cudart_functions[3];
static void *driver_direct[COUNT(driver_rows)], *cudart_direct[3][COUNT(cudart_rows)];
static_assert(sizeof vt_real_driver_functions == sizeof driver_direct, "one pointer per row");
static_assert(sizeof cudart_functions == sizeof cudart_direct, "one pointer per row");

#define CUDART(which)                                                                              \
    .call = (void **)&cudart_functions[which], .direct = cudart_direct[which],                     \
    .rows = cudart_rows, .count = COUNT(cudart_rows)

static struct library libraries[VT_REAL_LIBRARIES] = {
    [VT_REAL_DRIVER] = {.call = (void **)&vt_real_driver_functions,
                        .direct = driver_direct,
                        .rows = driver_rows,
                        .count = COUNT(driver_rows),
                        .prefix = "libcuda.so"},
    [VT_REAL_CUDART12] = {CUDART(0), .node = "libcudart.so.12", .major = 12,
                          .prefix = "libcudart.so.12"},
    [VT_REAL_CUDART13] = {CUDART(1), .node = "libcudart.so.13", .major = 13,
                          .prefix = "libcudart.so.13"},
};
static struct library *const driver = &libraries[VT_REAL_DRIVER],
                             *const cudart12 = &libraries[VT_REAL_CUDART12],
                             *const cudart13 = &libraries[VT_REAL_CUDART13];

/* A caller that names no version (RTLD_DEFAULT, a plug-in not linked with the runtime) gets the default version:
 * runtime 13's wrapper. If runtime 13 is not loaded, this entry serves the loaded runtime. */
static struct library unversioned = {CUDART(2), .prefix = "libcudart.so"};

/* The next definition after ours in the global scope; NULL: none. */
static void *next_in_scope(const struct library *l, const char *symbol) {
    /* A failed look-up allocates its error message. */
    if (vt_get(&vt_sys_sealed) || vt_locks_lost_as_known(VT_LOST_LOADER))
        return NULL;
    return l->node ? vt_libc_dlvsym(RTLD_NEXT, symbol, l->node) : vt_libc_dlsym(RTLD_NEXT, symbol);
}

/* AddressSanitizer forbids access to the gap in its shadow memory, where CUDA maps its memory,
 * unless the user allows it. cuInit then fails with out-of-memory (google/sanitizers#629). */
static bool shadow_gap_is_protected(void) {
    const char *options = vt_settings_env("ASAN_OPTIONS");
    return !vt_locks_lost_as_known(VT_LOST_LOADER) && vt_libc_dlsym(RTLD_DEFAULT, "__asan_init") &&
           !(options && strstr(options, "protect_shadow_gap=0"));
}

static void fill(struct library *l, const struct vt_elf *object) {
    for (size_t i = 0; i < l->count; i++) {
        if (l->major && (l->major < l->rows[i].since || l->major > l->rows[i].until))
            continue; /* this version has another prototype, or no such function */
        l->direct[i] = vt_elf_symbol(object, l->rows[i].symbol, l->node);
        void *next = next_in_scope(l, l->rows[i].symbol);
        l->call[i] = next ? next : l->direct[i];
    }
    if (l == driver && vt_elf_symbol(object, "vramtrace_sim_driver", NULL))
        vt_log_flag(VT_FLAG_SIMULATED);
    if (l == driver && !vt_get(&vt_sys_sealed) && shadow_gap_is_protected())
        vt_log_flag(VT_FLAG_SHADOW_GAP);
    /* The library must stay loaded from now on, because our pointers lead into it, and another library could take its
     * place. So the handle is never closed. */
    if (object->name && *object->name && !vt_get(&vt_sys_sealed))
        vt_libc_dlopen(object->name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    /* The program must not see the message of our failed RTLD_NEXT look-ups. */
    vt_libc_dlerror_clear();
}

/* Adopts `object` as this library, once. A second object of the same kind is ignored: look-ups in it get no wrapper.
 * Threads that arrive together all do the work, with the same result. They do not wait for each other, because the work
 * needs the loader's lock, which a waiting thread may hold (inside dlopen). */
static void adopt(struct library *l, const struct vt_elf *object) {
    int saved_errno = errno;
    if (!vt_claim(&l->home, 0, object->start) && vt_see(&l->home) != object->start)
        return;
    vt_process_arm();
    fill(l, object);
    vt_publish(&l->ready, true);
    if (l == driver)
        vt_publish(&vt_real_driver_ready, true);
    errno = saved_errno;
}

/* Called if an exported wrapper runs without a look-up before it. Adopts the library if it is already loaded. */
static void adopt_loaded(struct library *l) {
    struct vt_elf object;
    int saved_errno = errno;
    vt_process_begin();
    void *next = next_in_scope(l, l->rows[0].symbol);
    if (vt_elf_named(l->prefix, l == driver ? "cuInit" : "cudaMalloc", &object) ||
        (next && vt_elf_containing(next, &object)))
        adopt(l, &object);
    else
        vt_libc_dlerror_clear();
    errno = saved_errno;
}

void vt_real_driver_adopt(void) {
    if (!vt_see(&driver->ready))
        adopt_loaded(driver);
}

const struct vt_real_cudart *vt_real_cudart(unsigned major) {
    struct library *l = major == 12 ? cudart12 : cudart13;
    if (VT_UNLIKELY(!vt_see(&l->ready)))
        adopt_loaded(l);
    if (VT_LIKELY(vt_see(&l->ready)))
        return &cudart_functions[major == 12 ? 0 : 1];
    if (!vt_see(&unversioned.ready))
        adopt_loaded(&unversioned);
    return &cudart_functions[2];
}

static bool has_row(const struct library *l, const char *symbol) {
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->rows[i].symbol, symbol) == 0)
            return true;
    return false;
}

size_t vt_real_row(enum vt_real_library library, const void *found) {
    const struct library *l = &libraries[library];
    if (vt_see(&l->ready))
        for (size_t i = 0; i < l->count; i++)
            if (l->direct[i] == found || l->call[i] == found)
                return i;
    return VT_REAL_NO_ROW;
}

/* The library to which the function `symbol` of `object` belongs; NULL: neither the driver nor a runtime. */
static struct library *library_of(const struct vt_elf *object, const char *symbol,
                                  const void *found) {
    /* Another library may define its own cuMemAlloc; it is not a driver, and lacks the other functions. */
    if (has_row(driver, symbol))
        return vt_elf_symbol(object, "cuInit", NULL) ? driver : NULL;
    if (has_row(cudart12, symbol)) {
        if (vt_elf_symbol(object, symbol, cudart12->node) == found &&
            vt_elf_symbol(object, symbol, cudart13->node) != found)
            return cudart12;
        if (vt_elf_symbol(object, symbol, cudart13->node) == found &&
            vt_elf_symbol(object, symbol, cudart12->node) != found)
            return cudart13;
    }
    return NULL;
}

bool vt_real_adopt(const void *found, const char *name, enum vt_real_library *library) {
    struct vt_elf object;
    if (vt_see(&driver->ready) && vt_see(&cudart12->ready) && vt_see(&cudart13->ready))
        return false;
    if ((!has_row(driver, name) && !has_row(cudart12, name)) || !vt_elf_containing(found, &object))
        return false;
    struct library *l = library_of(&object, name, found);
    if (!l || vt_see(&l->ready))
        return false;
    adopt(l, &object);
    *library = (enum vt_real_library)(l - libraries);
    return true;
}

void vt_real_learn(size_t driver_row, void *found) {
    if (!driver->call[driver_row])
        vt_put(&driver->call[driver_row], found);
}
