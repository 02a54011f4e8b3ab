/* SPDX-License-Identifier: MIT */
/*
 * A program with two copies of NVTX in it, of which this is the loader and the tables: as NVTX's
 * own header does, a copy opens the library that NVTX_INJECTION64_PATH names at its first use,
 * hands it its slots, and calls through them; slots that nobody filled do nothing. Prints what the
 * calls answered.
 */
#include "../../cuda_case.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <wchar.h>

typedef void (*function)(void);
enum { MARK_EX = 1, MARK_A, MARK_W, START_EX, START_A, START_W, END, PUSH_EX, PUSH_A, PUSH_W, POP };
enum {
    D_MARK = 1,
    D_START,
    D_END,
    D_PUSH,
    D_POP,
    D_STRING_A = 10,
    D_STRING_W,
    D_CREATE_A,
    D_CREATE_W
};
#define SLOTS 16

struct copy {
    function core[SLOTS], core2[SLOTS];
    function *core_table[SLOTS + 1], *core2_table[SLOTS + 1];
};
static struct copy copies[2], *attaching;
static bool early; /* a slot that was never filled was called during attaching */

static void first_call(void) {
    early = true;
}

static int module(int which, function ***table, unsigned *size) {
    *table = which == 1 ? attaching->core_table : which == 5 ? attaching->core2_table : NULL;
    *size = *table ? SLOTS : 0;
    return *table != NULL;
}

static const struct {
    size_t bytes;
    int (*module)(int, function ***, unsigned *);
} callbacks = {sizeof callbacks, module};

static const void *get_table(uint32_t which) {
    return which == 1 ? &callbacks : NULL;
}

static void attach(struct copy *c) {
    const char *path = getenv("NVTX_INJECTION64_PATH");
    attaching = c;
    for (int i = 1; i < SLOTS; i++) {
        c->core[i] = c->core2[i] = first_call;
        c->core_table[i] = &c->core[i];
        c->core2_table[i] = &c->core2[i];
    }
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    int (*init)(const void *(*)(uint32_t)) = NULL;
    *(void **)&init = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
    bool used = init && init(get_table);
    for (int i = 1; i < SLOTS; i++) {
        if (!used || c->core[i] == first_call)
            c->core[i] = NULL;
        if (!used || c->core2[i] == first_call)
            c->core2[i] = NULL;
    }
    EXPECT(!early);
}

struct attributes {
    uint16_t version, size;
    uint32_t category, color[2];
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t type;
    const void *message;
};

static struct attributes ascii(const char *text) {
    return (struct attributes){
        .version = 3, .size = sizeof(struct attributes), .type = 1, .message = text};
}
static struct attributes wide(const wchar_t *text) {
    return (struct attributes){
        .version = 3, .size = sizeof(struct attributes), .type = 2, .message = text};
}
static struct attributes registered(const void *handle) {
    return (struct attributes){
        .version = 3, .size = sizeof(struct attributes), .type = 3, .message = handle};
}

#define CALL(type, slot, none, ...) ((slot) ? ((type)(slot))(__VA_ARGS__) : (none))
static int push_a(struct copy *c, const char *s) {
    return CALL(int (*)(const char *), c->core[PUSH_A], -2, s);
}
static int pop(struct copy *c) {
    return c->core[POP] ? ((int (*)(void))c->core[POP])() : -2;
}
static uint64_t start_a(struct copy *c, const char *s) {
    return CALL(uint64_t(*)(const char *), c->core[START_A], 0, s);
}
static void end(struct copy *c, uint64_t id) {
    if (c->core[END])
        ((void (*)(uint64_t))c->core[END])(id);
}
static void *create(struct copy *c, const char *s) {
    return CALL(void *(*)(const char *), c->core2[D_CREATE_A], NULL, s);
}
static void *string(struct copy *c, void *domain, const char *s) {
    return CALL(void *(*)(void *, const char *), c->core2[D_STRING_A], NULL, domain, s);
}
static int domain_push(struct copy *c, void *domain, struct attributes a) {
    return CALL(int (*)(void *, const struct attributes *), c->core2[D_PUSH], -2, domain, &a);
}
static int domain_pop(struct copy *c, void *domain) {
    return CALL(int (*)(void *), c->core2[D_POP], -2, domain);
}
static void mark(struct copy *c, int slot, const void *s) {
    if (c->core[slot])
        ((void (*)(const void *))c->core[slot])(s);
}

static uint64_t handed_over;

static void *other_thread(void *unused) {
    end(&copies[1], handed_over);
    return unused;
}

int main(int argc, char **argv) {
    struct copy *c = &copies[0], *d = &copies[1];
    pthread_t thread;
    attach(c);
    uint64_t early_range = start_a(c, "loading"), gone = start_a(c, "gone");
    end(c, gone);
    int levels[2] = {push_a(c, "epoch 1"), push_a(c, "step")};
    if (argc > 1 && strcmp(argv[1], "none") == 0)
        return 0;
    start_cuda();
    CUdeviceptr p;
    CHECK(cuMemAlloc_v2(&p, 1 << 20));
    attach(d);
    printf("levels %d %d", levels[0], levels[1]);
    printf(" %d", pop(c));
    printf(" %d\n", pop(c));
    end(c, early_range);

    /* Domains: the program's own, one by NVTX's usual name, a library's. */
    void *mine = create(c, "my domain"), *usual = create(c, "NVTX"), *nccl = create(d, "NCCL");
    void *lower = create(d, "cublas_internal");
    printf("levels %d", domain_push(c, mine, ascii("outer")));
    printf(" %d", domain_push(c, usual, registered(string(c, usual, "registered"))));
    printf(" %d", domain_push(c, mine, wide(L"wide \u00e9\u20ac\U0001f600")));
    printf(" %d", domain_push(d, nccl, ascii("ncclAllReduce")));
    printf(" %d", domain_push(d, lower, ascii("gemm")));
    printf(" %d", domain_pop(d, nccl));
    printf(" %d",
           domain_pop(c, mine)); /* the wide one, though `usual` was pushed later than outer */
    printf(" %d", domain_pop(c, mine));
    printf(" %d", domain_pop(c, usual));
    printf(" %d\n", domain_pop(c, usual)); /* none is open */

    mark(c, MARK_A, "a mark");
    mark(d, MARK_W, L"a w\u00efde mark");
    struct attributes a = ascii("an ex mark");
    mark(d, MARK_EX, &a);
    a.size = 8; /* an older program's: its message cannot be read */
    mark(d, MARK_EX, &a);

    handed_over = start_a(d, "across threads");
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, NULL);
    push_a(c, "open at the end");
    return 0;
}
