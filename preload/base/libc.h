/* SPDX-License-Identifier: MIT */
/*
 * The C library's own functions that this library exports replacements for. Our code calls them through this header,
 * because a call by name would reach our own export.
 */
#ifndef VT_PRELOAD_LIBC_H
#define VT_PRELOAD_LIBC_H

#include <stddef.h>

struct dl_phdr_info; /* <link.h> has it under _GNU_SOURCE only */

/* Functions of the C library itself, bypassing any library that replaces them. A sanitizer's replacements are not ready
 * while a program starts; later, they report false errors in our memory, because they do not see our writes. If the C
 * library has no such function, these return NULL or -1, or visit nothing. */
void *vt_libc_dlsym(void *handle, const char *name);
void *vt_libc_dlvsym(void *handle, const char *name, const char *version);
int vt_libc_dlclose(void *handle);
/* Returns NULL in a forked child, where the call might wait for the loader's lock for ever. Only with RTLD_NOLOAD;
 * otherwise use vt_descriptors_dlopen. */
void *vt_libc_dlopen(const char *path, int flags);
void vt_libc_dlerror_clear(void); /* clears a message that the program must not see */
int vt_libc_on_exit(void (*function)(int status, void *data), void *data);
/* A C library function by name. NULL: there is none, or its variant is chosen at run time
 * (strlen, ...). */
void *vt_libc_own(const char *name);
/* dl_iterate_phdr. Takes the loader's lock, except in a forked child that can never get it. */
int vt_libc_each_object(int (*visit)(struct dl_phdr_info *info, size_t size, void *data),
                        void *data);

/* Functions that a program may call in a signal handler, where we must not look up symbols. */
enum vt_libc_end {
    VT_LIBC__EXIT,
    VT_LIBC_QUICK_EXIT,
    VT_LIBC_EXECVE,
    VT_LIBC_EXECV,
    VT_LIBC_EXECVP,
    VT_LIBC_EXECVPE,
    VT_LIBC_FEXECVE,
    VT_LIBC_EXECVEAT,
    VT_LIBC__FORK,
    VT_LIBC_CLONE,
    VT_LIBC_LONGJMP,
    VT_LIBC__LONGJMP,
    VT_LIBC_SIGLONGJMP,
    VT_LIBC_LONGJMP_CHK,
    VT_LIBC_PRCTL,
    VT_LIBC_CXA_ATEXIT,
    VT_LIBC_ENDS
};

/* Looks up all of these functions. Called by the constructor. */
void vt_libc_find_ends(void);

/* Returns the next definition after ours in the global scope, so that other preloaded libraries stay in the chain.
 * NULL: there is none. Looks it up if the constructor has not run yet. */
void *vt_libc_end(enum vt_libc_end function);

#endif
