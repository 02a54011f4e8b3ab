/* SPDX-License-Identifier: MIT */
/*
 * exec*: the process continues as another program, so this log ends. The whole family is wrapped, because the C
 * library's functions call each other directly, not through our exports. If an exec fails, the call returns and the END
 * mark is removed. fork is in fork.c.
 */
#define _GNU_SOURCE
/* The C library declares the first argument nonnull, but accepts NULL; so do we. */
#ifndef __clang__ /* clang does not warn about it */
#pragma GCC diagnostic ignored "-Wnonnull-compare"
#endif
#include "base/base.h"
#include "life.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

typedef int execve_function(const char *path, char *const argv[], char *const envp[]);
typedef int execv_function(const char *path, char *const argv[]);
typedef int fexecve_function(int fd, char *const argv[], char *const envp[]);
typedef int execveat_function(int dirfd, const char *path, char *const argv[], char *const envp[],
                              int flags);

/* Looks up the real function, marks the log's end, and calls the function, which returns only on failure. errno changes
 * only then, because a vfork child shares it with its parent. */
#define EXEC(type, function, ...)                                                                  \
    __extension__({                                                                                \
        type *real_ = __extension__(type *) vt_libc_end(function);                                 \
        int result_ = -1;                                                                          \
        if (!real_) {                                                                              \
            errno = ENOSYS;                                                                        \
        } else {                                                                                   \
            vt_exit_exec_begins();                                                                 \
            result_ = real_(__VA_ARGS__);                                                          \
            vt_exit_exec_failed();                                                                 \
        }                                                                                          \
        result_;                                                                                   \
    })

VT_EXPORT int execve(const char *path, char *const argv[], char *const envp[]) {
    return EXEC(execve_function, VT_LIBC_EXECVE, path, argv, envp);
}

VT_EXPORT int execv(const char *path, char *const argv[]) {
    return EXEC(execv_function, VT_LIBC_EXECV, path, argv);
}

VT_EXPORT int execvp(const char *file, char *const argv[]) {
    return EXEC(execv_function, VT_LIBC_EXECVP, file, argv);
}

VT_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[]) {
    return EXEC(execve_function, VT_LIBC_EXECVPE, file, argv, envp);
}

VT_EXPORT int fexecve(int fd, char *const argv[], char *const envp[]) {
    return EXEC(fexecve_function, VT_LIBC_FEXECVE, fd, argv, envp);
}

VT_EXPORT int execveat(int dirfd, const char *path, char *const argv[], char *const envp[],
                       int flags) {
    return EXEC(execveat_function, VT_LIBC_EXECVEAT, dirfd, path, argv, envp, flags);
}

/* The variadic functions build a vector on the stack, as in the C library. */
static size_t count(va_list list) {
    size_t n = 1;
    while (va_arg(list, char *))
        n++;
    return n;
}

/* `list` is passed by its address: on AArch64 a va_list argument is a copy. */
static void gather(char **argv, const char *first, size_t n, va_list *list) {
    __extension__ union {
        const char *in;
        char *out;
    } u = {.in = first};
    argv[0] = u.out;
    for (size_t i = 1; i <= n; i++)
        argv[i] = va_arg(*list, char *);
}

/* Declares argv[] from the variadic arguments after `arg`; `list` ends just after the NULL. */
#define GATHER(arg)                                                                                \
    va_list list, counting;                                                                        \
    va_start(list, arg);                                                                           \
    va_copy(counting, list);                                                                       \
    size_t n = arg ? count(counting) : 0;                                                          \
    va_end(counting);                                                                              \
    char *argv[n + 1];                                                                             \
    gather(argv, arg, n, &list)

VT_EXPORT int execl(const char *path, const char *arg, ...) {
    GATHER(arg);
    va_end(list);
    return execv(path, argv);
}

VT_EXPORT int execlp(const char *file, const char *arg, ...) {
    GATHER(arg);
    va_end(list);
    return execvp(file, argv);
}

VT_EXPORT int execle(const char *path, const char *arg, ...) {
    GATHER(arg);
    char *const *envp = va_arg(list, char *const *);
    va_end(list);
    return execve(path, argv, envp);
}
