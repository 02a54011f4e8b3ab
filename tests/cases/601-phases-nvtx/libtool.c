/* SPDX-License-Identifier: MIT */
/* Another tool that uses NVTX's slot, as a profiler would: it fills some of them, with answers of
 * its own, and says at exit what reached it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*function)(void);
struct callbacks {
    size_t bytes;
    int (*module)(int, function ***, unsigned *);
};

static int attached, pushes, pops, starts, ends, domains, strings, domain_pushes;
static uint64_t wrong;

static int push_a(const char *s) {
    pushes += s != NULL;
    return 100 + pushes;
}
static int pop(void) {
    return 200 + ++pops;
}
static uint64_t start_a(const char *s) {
    starts += s != NULL;
    return 0xabc000 + (uint64_t)starts;
}
static void end(uint64_t id) {
    wrong += id <= 0xabc000 || id > 0xabc000 + (uint64_t)starts;
    ends++;
}
static void *create(const char *name) {
    domains++;
    return strdup(name);
}
static void *string(void *domain, const char *s) {
    wrong += !domain;
    strings++;
    return strdup(s);
}
static int domain_push(void *domain, const void *attributes) {
    wrong += !domain || strlen(domain) == 0 || !attributes;
    return 300 + ++domain_pushes;
}

static void say(void) {
    fprintf(stderr,
            "tool: attached %d push %d pop %d start %d end %d domain %d string %d domain_push %d "
            "wrong %d\n",
            attached, pushes, pops, starts, ends, domains, strings, domain_pushes, (int)wrong);
}

int InitializeInjectionNvtx2(const void *(*get)(uint32_t));
int InitializeInjectionNvtx2(const void *(*get)(uint32_t)) {
    const struct callbacks *callbacks = get(1);
    function **core, **core2;
    unsigned size;
    if (!attached++)
        atexit(say);
    callbacks->module(1, &core, &size);
    callbacks->module(5, &core2, &size);
    *core[9] = (function)push_a;
    *core[11] = (function)pop;
    *core[5] = (function)start_a;
    *core[7] = (function)end;
    *core2[12] = (function)create;
    *core2[10] = (function)string;
    *core2[4] = (function)domain_push;
    return getenv("TOOL_REFUSES") == NULL;
}
