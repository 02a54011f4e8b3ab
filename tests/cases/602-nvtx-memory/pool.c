/* SPDX-License-Identifier: MIT */
/*
 * A pool in one driver allocation that tells NVTX of its heap and its regions, and one in host
 * memory that does the same. This is NVTX's loader for its memory extension, and then the calls.
 */
#include "../../cuda_case.h"

#include <vramtrace.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

struct segment {
    size_t id, count;
    intptr_t *slots;
};
struct module_info {
    uint16_t version, bytes, module, compatible;
    size_t segments_count;
    struct segment *segments;
    void *get_export;
    const void *private_info;
};
struct range {
    size_t bytes;
    const void *start;
};
struct heap_description {
    uint16_t compatible, bytes;
    uint32_t reserved, usage, type;
    size_t specific_bytes;
    const void *specific;
    uint32_t category, message_type;
    const void *message;
};
struct batch {
    uint16_t compatible, bytes;
    uint32_t type;
    void *heap;
    size_t count, element_bytes;
    const void *elements;
    void **handles;
};
struct batch_no_heap {
    uint16_t compatible, bytes;
    uint32_t type;
    size_t count, element_bytes;
    const void *elements;
};

#define MEMORY 0x0102
static intptr_t slots[63];
static bool used;

static void attach(int module) {
    struct segment segment = {1, 63, slots};
    struct module_info info = {3, sizeof info, (uint16_t)module, MEMORY, 1, &segment, NULL, NULL};
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    int (*init)(struct module_info *) = NULL;
    memset(slots, 0, sizeof slots);
    *(void **)&init = library ? dlsym(library, "InitializeInjectionNvtxExtension") : NULL;
    used = init && init(&info);
    printf("module %d: %d\n", module, used);
}

static void *heap_of(const void *start, size_t bytes) {
    const struct range range = {bytes, start};
    const struct heap_description d = {MEMORY, sizeof d, 0, 1, 1, sizeof range, &range, 0, 0, NULL};
    return used && slots[0] ? ((void *(*)(void *, const void *))slots[0])(NULL, &d) : NULL;
}
static void on_heap(int slot, void *heap) {
    if (used && slots[slot])
        ((void (*)(void *, void *))slots[slot])(NULL, heap);
}
static void add(void *heap, size_t count, const struct range *ranges, void **handles) {
    const struct batch b = {MEMORY, sizeof b, 1, heap, count, sizeof *ranges, ranges, handles};
    if (used && slots[3])
        ((void (*)(void *, const void *))slots[3])(NULL, &b);
}
static void resize(size_t count, const struct range *ranges) {
    const struct batch_no_heap b = {MEMORY, sizeof b, 1, count, sizeof *ranges, ranges};
    if (used && slots[4])
        ((void (*)(void *, const void *))slots[4])(NULL, &b);
}
static void end(int by, size_t count, const void *elements) {
    const struct batch_no_heap b = {MEMORY, sizeof b,       (uint32_t)by,
                                    count,  sizeof(void *), elements};
    if (used && slots[5])
        ((void (*)(void *, const void *))slots[5])(NULL, &b);
}

#define AT(offset) ((const char *)(uintptr_t)pool + (offset))

int main(void) {
    CUdeviceptr pool;
    static char host[4096];
    attach(2); /* another extension: nobody listens */
    attach(1);
    void *early = heap_of(host, sizeof host); /* before CUDA: host memory, let alone */
    start_cuda();
    CHECK(cuMemAlloc_v2(&pool, 1 << 20));
    void *heap = heap_of(AT(0), 1 << 20), *handles[3] = {0};
    const struct range three[] = {{1000, AT(0)}, {2000, AT(4096)}, {3000, AT(8192)}};
    add(heap, 3, three, handles);
    vramtrace_mark("three");
    const struct range in_host = {500, host};
    add(early, 1, &in_host, NULL);
    add(NULL, 1, &in_host, NULL); /* of no heap */
    const struct range larger = {2500, AT(4096)};
    resize(1, &larger);
    vramtrace_mark("larger");
    const void *first = three[0].start;
    end(1, 1, &first);
    end(2, 1, &handles[2]);
    end(1, 1, &first); /* is gone already */
    vramtrace_mark("one left");
    add(heap, 3, three, NULL); /* one of them is live: replaced */
    vramtrace_mark("three again");
    on_heap(2, heap);
    vramtrace_mark("reset");
    add(heap, 1, three, NULL);
    on_heap(1, heap);
    vramtrace_mark("no heap");
    add(heap, 1, three, NULL);
    return 0;
}
