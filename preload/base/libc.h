/* SPDX-License-Identifier: MIT */
/*
 * The C library's own functions behind those that this library exports under the same names. A call
 * by name from our code would come back to us. Everyone here calls these.
 */
#ifndef VT_PRELOAD_LIBC_H
#define VT_PRELOAD_LIBC_H

/* dlsym, dlvsym and dlclose of the C library. dlsym and dlvsym answer NULL when it has none. */
void *vt_libc_dlsym(void *handle, const char *name);
void *vt_libc_dlvsym(void *handle, const char *name, const char *version);
int vt_libc_dlclose(void *handle);

/* Functions that may be called from a signal handler, so nothing is looked up when they are. */
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

/* Looks them all up. In the constructor. */
void vt_libc_find_ends(void);

/* The next definition behind ours in the global scope, so other preloaded libraries stay in the
 * chain. Looked up now if the constructor has not run yet. NULL: there is none. */
void *vt_libc_end(enum vt_libc_end function);

#endif
