/* SPDX-License-Identifier: MIT */
/*
 * The C library's own functions behind those that this library exports under the same names. Our
 * code calls these, because a call by name would come back to us.
 */
#ifndef VT_PRELOAD_LIBC_H
#define VT_PRELOAD_LIBC_H

/* dlsym, dlvsym and dlclose of the C library. dlsym and dlvsym return NULL when it has none. */
void *vt_libc_dlsym(void *handle, const char *name);
void *vt_libc_dlvsym(void *handle, const char *name, const char *version);
int vt_libc_dlclose(void *handle);

/* Functions that a program may call in a signal handler, where nothing may be looked up. */
enum vt_libc_end {
    VT_LIBC__EXIT,
    VT_LIBC_QUICK_EXIT,
    VT_LIBC_EXECVE,
    VT_LIBC_EXECV,
    VT_LIBC_EXECVP,
    VT_LIBC_EXECVPE,
    VT_LIBC_FEXECVE,
    VT_LIBC_EXECVEAT,
    VT_LIBC_ENDS
};

/* Looks them all up. Called by the constructor. */
void vt_libc_find_ends(void);

/* The next definition after ours in the global scope, so that other preloaded libraries stay in the
 * chain. Looks it up now if the constructor has not run yet. NULL: there is none. */
void *vt_libc_end(enum vt_libc_end function);

#endif
