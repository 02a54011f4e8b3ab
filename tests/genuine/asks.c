/* SPDX-License-Identifier: MIT */
/*
 * asks: every hooked driver function by every route that a program has, and what each answers. One line each:
 *
 *     equal SYMBOL yes|no|none              whether dlsym and cuGetProcAddress, asked for its version and stream, agree
 *     dlsym|default|next SYMBOL FILE SYMBOL           by the library's handle, RTLD_DEFAULT, RTLD_NEXT
 *     ROUTE BASE VERSION FLAGS RESULT STATUS FILE SYMBOL
 *
 * ROUTE is proc or proc_v2, found by dlsym, or proc@11030 or proc@12000, found by cuGetProcAddress. Nothing here needs a
 * device.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int get_proc(const char *, void **, int, uint64_t);
typedef int get_proc_v2(const char *, void **, int, uint64_t, int *);

#define VT_DRIVER(id, symbol, base, since, stream, role, prototype)                                \
    {#symbol, #base, since, !strcmp(#stream, "PTSZ") || !strcmp(#stream, "VT_PTSZ")},
static const struct {
    const char *symbol, *base;
    int since, own_stream;
} rows[] = {
#include "vramtrace/hooks.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

static const int versions[] = {0,     2000,  2020,  3020,  4000,  4010,  5000,  5050,  6000,  6050,
                               7000,  7050,  8000,  9000,  9020,  10000, 10010, 10020, 11000, 11010,
                               11020, 11030, 11040, 11060, 11070, 11080, 12000, 12010, 12020, 12030,
                               12040, 12050, 12060, 12080, 12090, 13000, 13010, 14000};

static const char *where(void *address, char text[256]) {
    Dl_info info;
    if (!address || !dladdr(address, &info) || !info.dli_fname)
        return "- -";
    const char *slash = strrchr(info.dli_fname, '/');
    snprintf(text, 256, "%s %s", slash ? slash + 1 : info.dli_fname,
             info.dli_sname && info.dli_saddr == address ? info.dli_sname : "?");
    return text;
}

static void ask(const char *route, const char *base, get_proc *one, get_proc_v2 *two) {
    char text[256];
    for (unsigned v = 0; v < sizeof versions / sizeof *versions; v++)
        for (uint64_t flags = 0; flags < 3; flags++) {
            void *found = NULL;
            int status = -1, result = two ? two(base, &found, versions[v], flags, &status)
                                          : one(base, &found, versions[v], flags);
            printf("%s %s %d %d %d %d %s\n", route, base, versions[v], (int)flags, result, status,
                   where(found, text));
        }
}

int main(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), *p = NULL, *q = NULL;
    char text[256];
    if (!driver)
        return 99;
    get_proc *one = (get_proc *)dlsym(driver, "cuGetProcAddress");
    get_proc_v2 *two = (get_proc_v2 *)dlsym(driver, "cuGetProcAddress_v2");
    if (!one || !two || two("cuGetProcAddress", &p, 11030, 0, NULL) ||
        two("cuGetProcAddress", &q, 12000, 0, NULL))
        return 98;
    for (unsigned i = 0; i < ROWS; i++) {
        void *named = dlsym(driver, rows[i].symbol), *found = NULL;
        two(rows[i].base, &found, rows[i].since, rows[i].own_stream ? 2 : 1, NULL);
        printf("equal %s %s\n", rows[i].symbol, !named ? "none" : named == found ? "yes" : "no");
        printf("dlsym %s %s\n", rows[i].symbol, where(named, text));
        printf("default %s %s\n", rows[i].symbol, where(dlsym(RTLD_DEFAULT, rows[i].symbol), text));
        printf("next %s %s\n", rows[i].symbol, where(dlsym(RTLD_NEXT, rows[i].symbol), text));
        for (unsigned k = 0; k < i; k++)
            if (!strcmp(rows[k].base, rows[i].base))
                goto asked;
        ask("proc", rows[i].base, one, NULL);
        ask("proc_v2", rows[i].base, NULL, two);
        ask("proc@11030", rows[i].base, (get_proc *)p, NULL);
        ask("proc@12000", rows[i].base, NULL, (get_proc_v2 *)q);
    asked:;
    }
    return 0;
}
