/* SPDX-License-Identifier: MIT */
/*
 * spy: a preload that writes down how a CUDA runtime looks for the driver's functions, and the file that each answer lies in.
 * One line each, to the file that SPY names:
 *
 *     dlsym NAME FILE SYMBOL                          (of names that begin with "cu", but for the runtime's own)
 *     proc NAME VERSION FLAGS FILE SYMBOL             proc_v2 NAME VERSION FLAGS FILE SYMBOL
 *     table UUID RESULT
 *
 * It stands before the tracer in LD_PRELOAD, so what the tracer answers is what it sees. Where cuGetProcAddress is
 * asked for itself, by name or by cuGetProcAddress, a function of this library is answered that asks it and notes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int get_proc(const char *, void **, int, uint64_t);
typedef int get_proc_v2(const char *, void **, int, uint64_t, int *);
typedef int get_table(const void **, const unsigned char *);

static get_proc *real_proc;
static get_proc_v2 *real_proc_v2;
static get_table *real_table;

static void note(const char *format, ...) {
    static FILE *out;
    va_list list;
    if (!out && getenv("SPY"))
        out = fopen(getenv("SPY"), "ae");
    if (!out)
        return;
    va_start(list, format);
    vfprintf(out, format, list);
    va_end(list);
    fflush(out);
}

static const char *where(const void *address) {
    static char text[256];
    Dl_info info;
    if (!address || !dladdr(address, &info) || !info.dli_fname)
        return "- -";
    const char *slash = strrchr(info.dli_fname, '/');
    snprintf(text, sizeof text, "%s %s", slash ? slash + 1 : info.dli_fname,
             info.dli_sname && info.dli_saddr == address ? info.dli_sname : "?");
    return text;
}

static int spied_proc(const char *name, void **p, int version, uint64_t flags);
static int spied_proc_v2(const char *name, void **p, int version, uint64_t flags, int *found);

static int spied_table(const void **table, const unsigned char *uuid) {
    int result = real_table(table, uuid);
    note("table %02x%02x%02x%02x %d\n", uuid[0], uuid[1], uuid[2], uuid[3], result);
    return result;
}

/* The answer for a name: our own function if it is one of ours. */
static void *answer(const char *name, int version, void *real) {
    if (!real)
        return NULL;
    if (!strcmp(name, "cuGetProcAddress_v2") ||
        (!strcmp(name, "cuGetProcAddress") && version >= 12000)) {
        real_proc_v2 = (get_proc_v2 *)real;
        return (void *)spied_proc_v2;
    }
    if (!strcmp(name, "cuGetProcAddress")) {
        real_proc = (get_proc *)real;
        return (void *)spied_proc;
    }
    if (!strcmp(name, "cuGetExportTable")) {
        real_table = (get_table *)real;
        return (void *)spied_table;
    }
    return real;
}

static int spied_proc(const char *name, void **p, int version, uint64_t flags) {
    int result = real_proc(name, p, version, flags);
    note("proc %s %d %llu %s\n", *name ? name : "\"\"", version, (unsigned long long)flags,
         where(result || !p ? NULL : *p));
    if (!result && p)
        *p = answer(name, version, *p);
    return result;
}

static int spied_proc_v2(const char *name, void **p, int version, uint64_t flags, int *found) {
    int result = real_proc_v2(name, p, version, flags, found);
    note("proc_v2 %s %d %llu %s\n", *name ? name : "\"\"", version, (unsigned long long)flags,
         where(result || !p ? NULL : *p));
    if (!result && p)
        *p = answer(name, version, *p);
    return result;
}

void *dlsym(void *restrict handle, const char *restrict name) {
    static void *(*real)(void *, const char *);
    if (!real)
        real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (!real)
        real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    void *found = real(handle, name);
    if (strncmp(name, "cu", 2) || !strncmp(name, "cuda", 4))
        return found;
    note("dlsym %s %s\n", name, where(found));
    return answer(name, 0, found);
}
