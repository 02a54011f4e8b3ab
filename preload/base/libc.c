/* SPDX-License-Identifier: MIT */
/*
 * The C library's own functions (see libc.h). Used by the rooms that look symbols up, by init.c and
 * exec.c, and by lookup_entry.S, which jumps to the pointers.
 */
#define _GNU_SOURCE
#include "libc.h"
#include "atomic.h"
#include "elf.h"
#include "preload.h"

#include <dlfcn.h>

/* Also read by lookup_entry.S. dlsym is published last: a thread that sees it sees the others. */
void *(*vt_libc_real_dlsym)(void *, const char *)__attribute__((visibility("hidden")));
void *(*vt_libc_real_dlvsym)(void *, const char *,
                             const char *)__attribute__((visibility("hidden")));
static int (*real_dlclose)(void *);

static void *ends[VT_LIBC_ENDS]; /* atomic; NULL: not looked up yet, &none: there is none */
static char none;

/* Finds the three functions in the C library's symbol table: in libc.so.6 since glibc 2.34, in
 * libdl.so.2 before. It names no version, so it also works with a future glibc. It may run
 * before our constructor, when another library's constructor looks something up. lookup_entry.S
 * calls it too. */
void vt_libc_resolve(void);
void vt_libc_resolve(void) {
    static const char *const homes[] = {"libc.so.", "libdl.so."};
    struct vt_elf libc;
    for (size_t i = 0; i < 2 && !vt_see(&vt_libc_real_dlsym); i++) {
        if (!vt_elf_named(homes[i], &libc))
            continue;
        void *dlsym_ = vt_elf_symbol(&libc, "dlsym", NULL);
        void *dlvsym_ = vt_elf_symbol(&libc, "dlvsym", NULL);
        void *dlclose_ = vt_elf_symbol(&libc, "dlclose", NULL);
        if (!dlsym_ || !dlvsym_ || !dlclose_)
            continue;
        vt_publish(&real_dlclose, __extension__(int (*)(void *)) dlclose_);
        vt_publish(&vt_libc_real_dlvsym,
                   __extension__(void *(*)(void *, const char *, const char *)) dlvsym_);
        vt_publish(&vt_libc_real_dlsym, __extension__(void *(*)(void *, const char *)) dlsym_);
    }
}

void *vt_libc_dlsym(void *handle, const char *name) {
    if (VT_UNLIKELY(!vt_see(&vt_libc_real_dlsym)))
        vt_libc_resolve();
    __typeof__(vt_libc_real_dlsym) real = vt_see(&vt_libc_real_dlsym);
    return real ? real(handle, name) : NULL;
}

void *vt_libc_dlvsym(void *handle, const char *name, const char *version) {
    if (VT_UNLIKELY(!vt_see(&vt_libc_real_dlvsym)))
        vt_libc_resolve();
    __typeof__(vt_libc_real_dlvsym) real = vt_see(&vt_libc_real_dlvsym);
    return real ? real(handle, name, version) : NULL;
}

int vt_libc_dlclose(void *handle) {
    if (VT_UNLIKELY(!vt_see(&real_dlclose)))
        vt_libc_resolve();
    __typeof__(real_dlclose) real = vt_see(&real_dlclose);
    return real ? real(handle) : -1;
}

void *vt_libc_end(enum vt_libc_end function) {
    static const char *const names[] = {
        [VT_LIBC__EXIT] = "_exit",     [VT_LIBC_QUICK_EXIT] = "quick_exit",
        [VT_LIBC_EXECVE] = "execve",   [VT_LIBC_EXECV] = "execv",
        [VT_LIBC_EXECVP] = "execvp",   [VT_LIBC_EXECVPE] = "execvpe",
        [VT_LIBC_FEXECVE] = "fexecve", [VT_LIBC_EXECVEAT] = "execveat",
    };
    void *found = vt_see(&ends[function]);
    if (VT_UNLIKELY(!found)) {
        found = vt_libc_dlsym(RTLD_NEXT, names[function]);
        if (!found)
            dlerror(); /* clears the message, which the program must not see */
        vt_publish(&ends[function], found ? found : &none);
    }
    return found == &none ? NULL : found;
}

void vt_libc_find_ends(void) {
    for (enum vt_libc_end f = 0; f < VT_LIBC_ENDS; f++)
        vt_libc_end(f);
}
