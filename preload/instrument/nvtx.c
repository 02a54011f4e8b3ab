/* SPDX-License-Identifier: MIT */
/*
 * Records NVTX ranges and marks as phases, without a change to the program (torch.cuda.nvtx, nvtx.annotate, C).
 *
 * Each library that uses NVTX has its own copy of NVTX. At its first call, a copy opens the library named by
 * NVTX_INJECTION64_PATH and gives it a table of function slots. There is no other way in, so the constructor sets the
 * variable to our path. If the variable named a tool before (Nsight), we keep the name in VRAMTRACE_NVTX_NEXT and
 * attach that tool first. If the tool filled a slot, our function calls it, and the program gets its results (levels,
 * ids, handles). A slot that the tool did not fill holds NVTX's own first-call function. We must not call it: it would
 * wait for this initialization to end.
 *
 * Ranges that libraries report in their own domains (NCCL, cuBLAS, ...) are not phases of the program: see
 * library_domains. All others are.
 *
 * The layout of tables and attributes is the tool interface of NVTX version 3.
 */
#define _GNU_SOURCE
#include "nvtx.h"
#include "instrument.h"
#include "phase.h"
#include "base/base.h"
#include "state/state.h"

#include <dlfcn.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

/* Domains that libraries use for themselves: starts of their names, in any case. */
static const char *const library_domains[] = {
    "NCCL",     "cuBLAS",  "cuDNN",   "cuSPARSE",  "cuSOLVER", "cuFFT",  "cuRAND",
    "cuTENSOR", "cuDSS",   "NPP",     "nvJPEG",    "TSL",      "XLA",    "CCCL",
    "CUB",      "thrust",  "NVSHMEM", "libcudf",   "cudf_",    "librmm", "rmm_",
    "libraft",  "libcuml", "libcuvs", "libkvikio", "TensorRT", "DALI",   "UCX",
    "UCC",      "MPI",     "OpenACC", "Triton",    "cuda_core"};

typedef void (*slot_function)(void);

struct callbacks {
    size_t bytes;
    int (*module)(int module, slot_function ***table, unsigned *size);
};
typedef const void *(*get_table)(uint32_t which);

enum { TABLE_CALLBACKS = 1 };
enum { MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };
#define NO_TRACKING (-2) /* result of push and pop if no tool tracks levels */

struct attributes {
    uint16_t version, bytes;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *wide;
        void *registered;
    } message;
};
static_assert(sizeof(struct attributes) == 48, "nvtxEventAttributes_t, version 2 and 3");

/* The slots that we fill: one row each. */
#define SLOTS(X)                                                                                   \
    X(MODULE_CORE, 1, void, mark_ex, (const struct attributes *a))                                 \
    X(MODULE_CORE, 2, void, mark_a, (const char *name))                                            \
    X(MODULE_CORE, 3, void, mark_w, (const wchar_t *name))                                         \
    X(MODULE_CORE, 4, uint64_t, start_ex, (const struct attributes *a))                            \
    X(MODULE_CORE, 5, uint64_t, start_a, (const char *name))                                       \
    X(MODULE_CORE, 6, uint64_t, start_w, (const wchar_t *name))                                    \
    X(MODULE_CORE, 7, void, end_any, (uint64_t id))                                                \
    X(MODULE_CORE, 8, int, push_ex, (const struct attributes *a))                                  \
    X(MODULE_CORE, 9, int, push_a, (const char *name))                                             \
    X(MODULE_CORE, 10, int, push_w, (const wchar_t *name))                                         \
    X(MODULE_CORE, 11, int, pop, (void))                                                           \
    X(MODULE_CORE2, 1, void, domain_mark, (void *domain, const struct attributes *a))              \
    X(MODULE_CORE2, 2, uint64_t, domain_start, (void *domain, const struct attributes *a))         \
    X(MODULE_CORE2, 3, void, domain_end, (void *domain, uint64_t id))                              \
    X(MODULE_CORE2, 4, int, domain_push, (void *domain, const struct attributes *a))               \
    X(MODULE_CORE2, 5, int, domain_pop, (void *domain))                                            \
    X(MODULE_CORE2, 10, void *, register_a, (void *domain, const char *text))                      \
    X(MODULE_CORE2, 11, void *, register_w, (void *domain, const wchar_t *text))                   \
    X(MODULE_CORE2, 12, void *, domain_create_a, (const char *name))                               \
    X(MODULE_CORE2, 13, void *, domain_create_w, (const wchar_t *name))

#define SLOT(module, index, result, name, parameters) static result name parameters;
SLOTS(SLOT)
#undef SLOT

/* The other tool's functions. Like ours, they are the same for every copy of NVTX. NULL: none. */
static struct {
#define SLOT(module, index, result, name, parameters) __typeof__(&name) name;
    SLOTS(SLOT)
#undef SLOT
} next;

enum {
#define SLOT(module, index, result, name, parameters) SLOT_##name,
    SLOTS(SLOT)
#undef SLOT
        SLOT_COUNT
};
static_assert(sizeof next == SLOT_COUNT * sizeof(slot_function), "one pointer a slot");

static const struct {
    int module;
    unsigned index;
    slot_function ours;
} slots[SLOT_COUNT] = {
#define SLOT(module, index, result, name, parameters)                                              \
    {module, index, __extension__(slot_function) name},
    SLOTS(SLOT)
#undef SLOT
};

struct text {
    uint32_t domain;
    char text[VT_NAME_MAX_BYTES + 1];
};
#define IGNORED   UINT32_MAX /* a domain whose ranges are not recorded */
#define ARENA_MAX (1u << 24)

/* Handles that we make point into this arena. Nothing is freed, because NVTX has no call that releases a string. */
static char *arena;         /* atomic */
static uint32_t arena_used; /* atomic */

/* Handles and ids made by the other tool -> struct text, range number. */
static struct vt_table handles, ranges;

static char *arena_start(void) {
    char *a = vt_see(&arena);
    if (a)
        return a;
    char *fresh = vt_sys_mmap(ARENA_MAX, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!fresh || vt_claim(&arena, NULL, fresh))
        return fresh;
    vt_sys_munmap(fresh, ARENA_MAX);
    return vt_see(&arena);
}

/* NULL: the arena is full. Ranges with this text then have no name. */
static struct text *new_text(const char *s, uint32_t domain) {
    char *a = arena_start();
    size_t n = s ? strnlen(s, VT_NAME_MAX_BYTES) : 0;
    uint32_t bytes = (uint32_t)((offsetof(struct text, text) + n + 1 + 7) & ~(size_t)7);
    uint32_t at;
    do {
        at = vt_get(&arena_used);
        if (!a || at > ARENA_MAX - bytes)
            return NULL;
    } while (!vt_claim(&arena_used, at, at + bytes));
    struct text *t = (void *)(a + at);
    t->domain = domain;
    if (n)
        memcpy(t->text, s, n);
    return t;
}

static bool is_ours(const void *handle) {
    const char *a = vt_see(&arena);
    return a && (uintptr_t)handle - (uintptr_t)a < vt_get(&arena_used);
}

static const struct text *text_of(const void *handle) {
    uint64_t words[VT_TABLE_WORDS];
    if (is_ours(handle))
        return handle;
    if (!handle || !vt_table_find(&handles, (uint64_t)(uintptr_t)handle, words))
        return NULL;
    return (const struct text *)(uintptr_t)words[0];
}

/* The handle for the program. If the other tool made a handle, it is that one, and our text is stored under it. */
static void *handle_for(struct text *text, void *theirs) {
    const uint64_t words[VT_TABLE_WORDS] = {(uint64_t)(uintptr_t)text};
    if (!theirs)
        return text;
    if (text && !vt_table_replace(&handles, (uint64_t)(uintptr_t)theirs, words))
        vt_table_insert(&handles, (uint64_t)(uintptr_t)theirs, words);
    return theirs;
}

static uint32_t domain_of(const void *handle) {
    const struct text *t = handle ? text_of(handle) : NULL;
    return t ? t->domain : 0;
}

/* The other tool must not see our handles. */
static void *for_next(void *handle) {
    return is_ours(handle) ? NULL : handle;
}

/* Converts to UTF-8, cut to a name's maximum length. */
static const char *narrow(char to[VT_NAME_MAX_BYTES + 1], const wchar_t *from) {
    char *at = to;
    for (; from && *from && at - to + 4 <= (long)VT_NAME_MAX_BYTES; from++)
        at = vt_text_put_utf8(at, (uint32_t)*from);
    *at = 0;
    return to;
}

static const char *message(const struct attributes *a, char buffer[VT_NAME_MAX_BYTES + 1]) {
    const struct text *t;
    if (!a || a->bytes < sizeof *a)
        return "";
    switch (a->message_type) {
    case MESSAGE_ASCII:
        return a->message.ascii ? a->message.ascii : "";
    case MESSAGE_WIDE:
        return narrow(buffer, a->message.wide);
    case MESSAGE_REGISTERED:
        t = text_of(a->message.registered);
        return t ? t->text : "";
    default:
        return "";
    }
}

static void mark(uint32_t domain, const char *name) {
    if (domain != IGNORED)
        vt_phase_mark(domain, name);
}

static int push(uint32_t domain, const char *name) {
    return domain == IGNORED ? NO_TRACKING : vt_phase_push(domain, name);
}

static int pop_of(uint32_t domain) {
    return domain == IGNORED ? NO_TRACKING : vt_phase_pop(domain);
}

/* The other tool numbers its ranges itself, and its numbers may equal ours. So they get keys of their own. */
static uint64_t range_key(uint64_t theirs) {
    return theirs << 2 | 3;
}

static uint64_t start(uint32_t domain, const char *name, bool they_did, uint64_t theirs) {
    uint64_t range = domain == IGNORED ? 0 : vt_phase_start(domain, name);
    if (!they_did)
        return range;
    const uint64_t words[VT_TABLE_WORDS] = {range};
    if (range)
        vt_table_insert(&ranges, range_key(theirs), words);
    return theirs;
}

static void end(uint64_t id) {
    uint64_t words[VT_TABLE_WORDS];
    if (!next.end_any && !next.domain_end)
        vt_phase_end(id);
    else if (vt_table_take(&ranges, range_key(id), words))
        vt_phase_end(words[0]);
}

#define BUFFER char buffer[VT_NAME_MAX_BYTES + 1]

static void mark_ex(const struct attributes *a) {
    BUFFER;
    mark(0, message(a, buffer));
    if (next.mark_ex)
        next.mark_ex(a);
}

static void mark_a(const char *name) {
    mark(0, name);
    if (next.mark_a)
        next.mark_a(name);
}

static void mark_w(const wchar_t *name) {
    BUFFER;
    mark(0, narrow(buffer, name));
    if (next.mark_w)
        next.mark_w(name);
}

static uint64_t start_ex(const struct attributes *a) {
    BUFFER;
    return start(0, message(a, buffer), next.start_ex, next.start_ex ? next.start_ex(a) : 0);
}

static uint64_t start_a(const char *name) {
    return start(0, name, next.start_a, next.start_a ? next.start_a(name) : 0);
}

static uint64_t start_w(const wchar_t *name) {
    BUFFER;
    return start(0, narrow(buffer, name), next.start_w, next.start_w ? next.start_w(name) : 0);
}

static void end_any(uint64_t id) {
    end(id);
    if (next.end_any)
        next.end_any(id);
}

static int push_ex(const struct attributes *a) {
    BUFFER;
    int level = push(0, message(a, buffer));
    return next.push_ex ? next.push_ex(a) : level;
}

static int push_a(const char *name) {
    int level = push(0, name);
    return next.push_a ? next.push_a(name) : level;
}

static int push_w(const wchar_t *name) {
    BUFFER;
    int level = push(0, narrow(buffer, name));
    return next.push_w ? next.push_w(name) : level;
}

static int pop(void) {
    int level = pop_of(0);
    return next.pop ? next.pop() : level;
}

static void domain_mark(void *domain, const struct attributes *a) {
    BUFFER;
    mark(domain_of(domain), message(a, buffer));
    if (next.domain_mark)
        next.domain_mark(for_next(domain), a);
}

static uint64_t domain_start(void *domain, const struct attributes *a) {
    BUFFER;
    return start(domain_of(domain), message(a, buffer), next.domain_start,
                 next.domain_start ? next.domain_start(for_next(domain), a) : 0);
}

static void domain_end(void *domain, uint64_t id) {
    end(id);
    if (next.domain_end)
        next.domain_end(for_next(domain), id);
}

static int domain_push(void *domain, const struct attributes *a) {
    BUFFER;
    int level = push(domain_of(domain), message(a, buffer));
    return next.domain_push ? next.domain_push(for_next(domain), a) : level;
}

static int domain_pop(void *domain) {
    int level = pop_of(domain_of(domain));
    return next.domain_pop ? next.domain_pop(for_next(domain)) : level;
}

static void *register_a(void *domain, const char *text) {
    return handle_for(new_text(text, 0),
                      next.register_a ? next.register_a(for_next(domain), text) : NULL);
}

static void *register_w(void *domain, const wchar_t *text) {
    BUFFER;
    return handle_for(new_text(narrow(buffer, text), 0),
                      next.register_w ? next.register_w(for_next(domain), text) : NULL);
}

static uint32_t number_domain(const char *name) {
    for (size_t i = 0; name && i < sizeof library_domains / sizeof library_domains[0]; i++)
        if (strncasecmp(name, library_domains[i], strlen(library_domains[i])) == 0)
            return IGNORED;
    uint32_t number = name && *name ? vt_phases_domain(name) : 0;
    return number || !name || !*name ? number : IGNORED; /* no number is left for another domain */
}

static void *domain_create_a(const char *name) {
    return handle_for(new_text(name, number_domain(name)),
                      next.domain_create_a ? next.domain_create_a(name) : NULL);
}

static void *domain_create_w(const wchar_t *name) {
    BUFFER;
    const char *text = narrow(buffer, name);
    return handle_for(new_text(text, number_domain(text)),
                      next.domain_create_w ? next.domain_create_w(name) : NULL);
}

static slot_function *slot_of(const struct callbacks *callbacks, size_t i) {
    slot_function **table = NULL;
    unsigned size = 0;
    if (!callbacks->module(slots[i].module, &table, &size) || !table || slots[i].index >= size)
        return NULL;
    return table[slots[i].index];
}

void *vt_nvtx_next(const char *symbol) {
    const char *path = vt_settings_env("VRAMTRACE_NVTX_NEXT");
    if (!path || !*path)
        return NULL;
    struct vt_elf self, its;
    void *handle = vt_descriptors_dlopen(path, RTLD_LAZY);
    void *function = handle ? vt_libc_dlsym(handle, symbol) : NULL;
    if (function && vt_elf_containing(slots, &self) && vt_elf_containing(function, &its) &&
        self.start == its.start) /* this library under another path */
        function = NULL;
    if (!function)
        vt_libc_dlerror_clear();
    return function;
}

static bool attach_next(get_table get) {
    int (*function)(get_table) =
        __extension__(int (*)(get_table)) vt_nvtx_next("InitializeInjectionNvtx2");
    return function && function(get) != 0;
}

/* Whether we are preloaded, that is, loaded before the C library. A process that inherited NVTX's variable but not the
 * preload opens us after the C library, and is not traced. */
static bool is_preloaded(void) {
    struct vt_elf libc;
    return vt_elf_behind(slots, "fexecve", &libc);
}

static bool is_off(void) {
    const char *value = vt_settings_env("VRAMTRACE_NVTX");
    return value && strcmp(value, "0") == 0;
}

bool vt_nvtx_wanted(void) {
    return !is_off() && is_preloaded();
}

/* Each copy of NVTX calls this at its first use. If it returns 0, that copy continues without a tool. */
VT_EXPORT int InitializeInjectionNvtx2(get_table get) {
    slot_function before[SLOT_COUNT];
    const struct callbacks *callbacks = get(TABLE_CALLBACKS);
    bool usable = callbacks && callbacks->bytes >= sizeof *callbacks && callbacks->module;
    for (size_t i = 0; usable && i < SLOT_COUNT; i++) {
        slot_function *slot = slot_of(callbacks, i);
        before[i] = slot ? *slot : NULL;
    }
    bool attached = attach_next(get);
    if (!usable || !vt_nvtx_wanted())
        return attached;
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        slot_function *slot = slot_of(callbacks, i), *theirs = (slot_function *)&next + i;
        if (!slot)
            continue;
        if (attached && *slot != before[i]) {
            /* We can call only one function per slot. A tool whose functions differ between copies of NVTX keeps the
             * slot, and we lose these phases. */
            if (!vt_claim(theirs, NULL, *slot) && vt_get(theirs) != *slot)
                continue;
        }
        *slot = slots[i].ours;
    }
    return 1;
}

/* The index of "NAME=" in the environment, or of the environment's end. */
static size_t variable_index(const char *name) {
    size_t n = strlen(name), i = 0;
    while (environ[i] && strncmp(environ[i], name, n) != 0)
        i++;
    return i;
}

static char *join(char *at, const char *name, const char *value) {
    at = stpcpy(at, name);
    return stpcpy(at, value) + 1;
}

/* The constructor calls this in every process that inherits the preload. So it calls no malloc (the program's may not
 * be ready) and no setenv (a shell defines its own). We replace the environment by a copy in our pages. Later changes
 * modify or replace that copy, as with any environment. */
void vt_nvtx_load(void) {
    static const char injection[] = "NVTX_INJECTION64_PATH=", kept[] = "VRAMTRACE_NVTX_NEXT=";
    struct vt_elf self;
    char folder[4096] = "";
    if (is_off() || !environ || !vt_elf_containing(injection, &self) || !self.name || !*self.name)
        return;
    /* The path must stay valid after a change of folder. */
    if (self.name[0] != '/' && VT_SYS2(SYS_getcwd, folder, sizeof folder - 1) > 0)
        strcat(folder, "/");
    size_t folder_bytes = strlen(folder), n = 0;
    while (environ[n])
        n++;
    size_t old_at = variable_index(injection);
    const char *old = environ[old_at] ? environ[old_at] + sizeof injection - 1 : "";
    if (strncmp(old, folder, folder_bytes) == 0 && strcmp(old + folder_bytes, self.name) == 0)
        return; /* inherited from a traced parent */
    size_t texts = sizeof injection + sizeof kept + folder_bytes + strlen(self.name) + strlen(old);
    /* Zero words for code that looks for the auxiliary vector after the end. */
    size_t words = n + 2 + 1 + 4;
    char **fresh = vt_sys_mmap((words * sizeof *fresh + texts + 4095) & ~(size_t)4095,
                               PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!fresh)
        return;
    memcpy(fresh, environ, n * sizeof *fresh);
    char *at = (char *)(fresh + words);
    fresh[old_at] = at; /* in place of the old value, or after the last variable */
    at = stpcpy(at, injection);
    at = join(at, folder, self.name);
    if (*old) {
        size_t kept_at = variable_index(kept);
        fresh[kept_at < n ? kept_at : n] = at;
        join(at, kept, old);
    }
    environ = fresh;
}
