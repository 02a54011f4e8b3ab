/* SPDX-License-Identifier: MIT */
/*
 * The C library's own functions (see libc.h). Used by the modules that look symbols up, by load.c and
 * exec.c, and by lookup_entry.S, which jumps to the pointers.
 */
#define _GNU_SOURCE
#include "libc.h"
#include "atomic.h"
#include "elf.h"
#include "locks.h"
#include "preload.h"
#include "sys.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

/* Also read by lookup_entry.S. dlsym is published last: a thread that sees it sees the others. */
void *(*vt_libc_real_dlsym)(void *, const char *)__attribute__((visibility("hidden")));
void *(*vt_libc_real_dlvsym)(void *, const char *,
                             const char *)__attribute__((visibility("hidden")));

/* The other functions, in the order of `names`. */
enum real { DLCLOSE, DLOPEN, DLERROR, ON_EXIT, EACH_OBJECT, REALS };
static const char *const names[REALS] = {
    [DLCLOSE] = "dlclose",
    [DLOPEN] = "dlopen",
    [DLERROR] = "dlerror",
    [ON_EXIT] = "on_exit",
    [EACH_OBJECT] = "dl_iterate_phdr",
};
static void *reals[REALS]; /* atomic */

static void *ends[VT_LIBC_ENDS]; /* atomic; NULL: not looked up yet; &none: not found */
static char none;

/* Looks up the functions that are still missing in one of the C library's objects. */
static void look_up_in(const struct vt_elf *libc) {
    for (enum real r = 0; r < REALS; r++)
        if (!vt_see(&reals[r]))
            vt_publish(&reals[r], vt_elf_symbol(libc, names[r], NULL));
    void *dlsym_ = vt_elf_symbol(libc, "dlsym", NULL);
    void *dlvsym_ = vt_elf_symbol(libc, "dlvsym", NULL);
    if (!dlsym_ || !dlvsym_)
        return;
    vt_publish(&vt_libc_real_dlvsym,
               __extension__(void *(*)(void *, const char *, const char *)) dlvsym_);
    vt_publish(&vt_libc_real_dlsym, __extension__(void *(*)(void *, const char *)) dlsym_);
}

/* Finds the functions in the C library's symbol table. Since 2.34, glibc has them all in libc.so.6; before, some were
 * in libdl.so.2. We ask for no symbol version, so this also works with a future glibc.
 *
 * This may run before our constructor, and before a sanitizer is ready, because a sanitizer looks symbols up while it
 * starts. So we call no function of the C library, and find the library on the loader's own list. The list is read
 * without a lock: the libraries that the program was started with come first and are never unloaded, and the C library
 * is one of them. Also called by lookup_entry.S. */
void vt_libc_resolve(void) {
    static const char *const homes[] = {"libc.so.", "libdl.so."};
    struct vt_elf libc;
    for (size_t i = 0; i < 2 && !vt_see(&vt_libc_real_dlsym); i++)
        if (vt_elf_at_start(_r_debug.r_map, homes[i], &libc))
            look_up_in(&libc);
}

void *vt_libc_own(const char *name) {
    static const char *const homes[] = {"libc.so.", "libpthread.so."};
    struct vt_elf libc;
    void *found = NULL;
    for (size_t i = 0; i < 2 && !found; i++)
        if (vt_elf_at_start(_r_debug.r_map, homes[i], &libc))
            found = vt_elf_symbol(&libc, name, NULL);
    return found;
}

static void *real_of(enum real r) {
    if (VT_UNLIKELY(!vt_see(&reals[r])))
        vt_libc_resolve();
    return vt_see(&reals[r]);
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

static __thread uint32_t closes; /* per thread: calls in progress */

int vt_libc_dlclose(void *handle) {
    int (*real)(void *) = __extension__(int (*)(void *)) real_of(DLCLOSE);
    closes++;
    int result = real ? real(handle) : -1;
    closes--;
    return result;
}

void *vt_libc_dlopen(const char *path, int flags) {
    void *(*real)(const char *, int) = __extension__(void *(*)(const char *, int)) real_of(DLOPEN);
    void *handle = NULL;
    if (real && !vt_locks_lost(VT_LOST_LOADER | (flags & RTLD_NOLOAD ? 0 : VT_LOST_LIST))) {
        vt_locks_enter();
        handle = real(path, flags);
        vt_locks_leave();
    }
    return handle;
}

void vt_libc_dlerror_clear(void) {
    char *(*real)(void) = __extension__(char *(*)(void)) real_of(DLERROR);
    if (real)
        real();
}

int vt_libc_on_exit(void (*function)(int status, void *data), void *data) {
    int (*real)(void (*)(int, void *), void *) =
        __extension__(int (*)(void (*)(int, void *), void *)) real_of(ON_EXIT);
    if (!real || vt_locks_lost(VT_LOST_LOADER | VT_LOST_INSIDE))
        return -1;
    vt_locks_enter();
    int result = real(function, data);
    vt_locks_leave();
    return result;
}

struct each {
    int (*visit)(struct dl_phdr_info *info, size_t size, void *data);
    void *data;
};

/* In a signal handler, the list may contain a library that the interrupted dlclose has already unmapped. */
static int visit_readable(struct dl_phdr_info *info, size_t size, void *data) {
    const struct each *each = data;
    return vt_sys_is_readable((uintptr_t)info->dlpi_phdr) ? each->visit(info, size, each->data) : 0;
}

/* For a child that can never get the list's lock. No thread can change the list, but it may contain a library that one
 * of the parent's threads had unmapped. */
static int each_without_lock(const struct each *each) {
    int result = 0;
    for (const struct link_map *m = _r_debug.r_map; m && !result; m = m->l_next) {
        const ElfW(Ehdr) *file = (const void *)m->l_addr;
        struct dl_phdr_info info = {.dlpi_addr = m->l_addr, .dlpi_name = m->l_name, .dlpi_adds = 1};
        if (m == _r_debug.r_map) { /* the program; its header may be anywhere */
            info.dlpi_phdr = (const void *)getauxval(AT_PHDR);
            info.dlpi_phnum = (ElfW(Half))getauxval(AT_PHNUM);
        } else if (vt_sys_is_readable(m->l_addr) && memcmp(file->e_ident, ELFMAG, SELFMAG) == 0) {
            info.dlpi_phdr = (const void *)(m->l_addr + file->e_phoff);
            info.dlpi_phnum = file->e_phnum;
        }
        if (info.dlpi_phdr)
            result = each->visit(&info, sizeof info, each->data);
    }
    return result;
}

int vt_libc_each_object(int (*visit)(struct dl_phdr_info *info, size_t size, void *data),
                        void *data) {
    int (*real)(int (*)(struct dl_phdr_info *, size_t, void *), void *) =
        __extension__(int (*)(int (*)(struct dl_phdr_info *, size_t, void *), void *))
            real_of(EACH_OBJECT);
    struct each each = {visit, data};
    if (vt_locks_lost(VT_LOST_LIST))
        return each_without_lock(&each);
    uint64_t held = vt_sys_hold_signals(); /* a signal handler must not fork meanwhile */
    vt_locks_enter();
    int result = !real ? -1 : closes ? real(visit_readable, &each) : real(visit, data);
    vt_locks_leave();
    vt_sys_let_signals(held);
    return result;
}

void *vt_libc_end(enum vt_libc_end function) {
    static const char *const end_names[] = {
        [VT_LIBC__EXIT] = "_exit",           [VT_LIBC_QUICK_EXIT] = "quick_exit",
        [VT_LIBC_EXECVE] = "execve",         [VT_LIBC_EXECV] = "execv",
        [VT_LIBC_EXECVP] = "execvp",         [VT_LIBC_EXECVPE] = "execvpe",
        [VT_LIBC_FEXECVE] = "fexecve",       [VT_LIBC_EXECVEAT] = "execveat",
        [VT_LIBC__FORK] = "_Fork",           [VT_LIBC_CLONE] = "clone",
        [VT_LIBC_LONGJMP] = "longjmp",       [VT_LIBC__LONGJMP] = "_longjmp",
        [VT_LIBC_SIGLONGJMP] = "siglongjmp", [VT_LIBC_LONGJMP_CHK] = "__longjmp_chk",
        [VT_LIBC_PRCTL] = "prctl",           [VT_LIBC_CXA_ATEXIT] = "__cxa_atexit",
    };
    void *found = vt_see(&ends[function]);
    if (VT_UNLIKELY(!found)) {
        found = vt_libc_dlsym(RTLD_NEXT, end_names[function]);
        if (!found)
            vt_libc_dlerror_clear();
        vt_publish(&ends[function], found ? found : &none);
    }
    return found == &none ? NULL : found;
}

void vt_libc_find_ends(void) {
    for (enum vt_libc_end f = 0; f < VT_LIBC_ENDS; f++)
        vt_libc_end(f);
}
