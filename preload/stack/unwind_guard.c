/* SPDX-License-Identifier: MIT */
/*
 * Keeps libunwind from using the program's descriptors, and threads from being cancelled in our calls.
 *
 * To test whether memory is readable, libunwind writes a byte of it into its own pipe, and empties the pipe by reading
 * a byte. The pipe takes two of the program's low descriptors. If the program closes descriptors that it did not open
 * and gets the same numbers for its own files, libunwind reads a byte from one file and writes a byte into the other.
 * Also, read, write and open are cancellation points: a thread could be cancelled inside cuMemAlloc, which is no
 * cancellation point, and lose its new allocation.
 *
 * In a program with a sanitizer built in, libunwind would call the sanitizer's functions instead of the C library's.
 * The sanitizer does not know libunwind's memory. It also drops a thread's state before libunwind frees its own, in the
 * last round of thread-specific destructors.
 *
 * So our copy of libunwind calls our functions, or the C library's, instead: we redirect its jump slots before its
 * first unwind. If the program uses the same copy (dlopen returns a loaded one), the program's calls are redirected as
 * well, and work. Called by stack.c at arming.
 */
#define _GNU_SOURCE
#include "preload.h"
#include "unwind_guard.h"
#include "base/base.h"
#include "python_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#define NO_DESCRIPTOR INT_MAX /* both ends of our pipe: no real descriptor has this number */

static long answer(long result) {
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}

static long can_be_read(const void *from) {
    char byte;
    errno = 0;
    return vt_python_peek(&byte, (uintptr_t)from, 1) ? 1 : answer(-EFAULT);
}

static ssize_t guard_write(int fd, const void *from, size_t n) {
    return n == 1 ? can_be_read(from) : answer(VT_SYS3(SYS_write, fd, from, n));
}

/* One byte: libunwind empties its pipe, which is always empty. More: it reads a file that it opened. */
static ssize_t guard_read(int fd, void *to, size_t n) {
    return answer(n == 1 ? -EAGAIN : VT_SYS3(SYS_read, fd, to, n));
}

/* Called as a variadic function, whose arguments are in the same registers. */
static long guard_syscall(long number, long a, long b, long c, long d, long e, long f) {
    if (number == SYS_write)
        return guard_write((int)a, (const void *)b, (size_t)c);
    return answer(vt_sys(number, a, b, c, d, e, f));
}

static int guard_pipe(int fds[2]) {
    fds[0] = fds[1] = NO_DESCRIPTOR;
    return 0;
}

static int guard_pipe2(int fds[2], int flags) {
    (void)flags;
    return guard_pipe(fds);
}

static int guard_open(const char *path, int flags, ...) {
    return (int)answer(vt_descriptors_open(path, flags, 0600));
}

static int guard_close(int fd) {
    return (int)answer(VT_SYS1(SYS_close, fd));
}

static int guard_msync(void *address, size_t bytes, int flags) {
    return (int)answer(VT_SYS3(SYS_msync, address, bytes, flags));
}

static void *guard_mmap(void *at, size_t bytes, int prot, int flags, int fd, long offset) {
    return (void *)answer(VT_SYS6(SYS_mmap, at, bytes, prot, flags, fd, offset));
}

static int guard_munmap(void *start, size_t bytes) {
    return (int)answer(VT_SYS2(SYS_munmap, start, bytes));
}

static int guard_sigprocmask(int how, const void *set, void *was) {
    return (int)answer(VT_SYS4(SYS_rt_sigprocmask, how, set, was, 8));
}

static int guard_mincore(void *start, size_t bytes, unsigned char *out) {
    return (int)answer(VT_SYS3(SYS_mincore, start, bytes, out));
}

/* A forked child must know whether a thread of its parent holds one of libunwind's locks. */
static int (*lock_mutex)(pthread_mutex_t *), (*unlock_mutex)(pthread_mutex_t *);
static int (*call_once)(pthread_once_t *, void (*)(void));

static int guard_lock(pthread_mutex_t *mutex) {
    vt_locks_enter();
    return lock_mutex(mutex);
}

static int guard_unlock(pthread_mutex_t *mutex) {
    int result = unlock_mutex(mutex);
    vt_locks_leave();
    return result;
}

static int guard_once(pthread_once_t *once, void (*function)(void)) {
    vt_locks_enter();
    int result = call_once(once, function);
    vt_locks_leave();
    return result;
}

#define OURS(f)                                                                                    \
    { #f, __extension__(void *) f, NULL }
#define OF_THE_C_LIBRARY(name)                                                                     \
    { name, NULL, NULL }
/* A function of the C library that one of ours calls. */
#define AROUND(name, f, real)                                                                      \
    { name, __extension__(void *) f, __extension__(void **) & real }

static const struct {
    const char *name;
    void *function; /* NULL: the C library's */
    void **real;    /* the function that `function` calls; NULL: none */
} guards[] = {
    {"write", __extension__(void *) guard_write, NULL},
    {"read", __extension__(void *) guard_read, NULL},
    {"syscall", __extension__(void *) guard_syscall, NULL},
    {"pipe", __extension__(void *) guard_pipe, NULL},
    {"pipe2", __extension__(void *) guard_pipe2, NULL},
    {"open", __extension__(void *) guard_open, NULL},
    {"open64", __extension__(void *) guard_open, NULL},
    {"close", __extension__(void *) guard_close, NULL},
    {"msync", __extension__(void *) guard_msync, NULL},
    {"mmap", __extension__(void *) guard_mmap, NULL},
    {"munmap", __extension__(void *) guard_munmap, NULL},
    {"dl_iterate_phdr", __extension__(void *) vt_libc_each_object, NULL},
    OURS(memchr),
    OURS(memcpy),
    OURS(memmove),
    OURS(memset),
    OURS(stpcpy),
    OURS(strcmp),
    OURS(strcpy),
    OURS(strlen),
    OURS(strncpy),
    OURS(strrchr),
    OF_THE_C_LIBRARY("pthread_mutex_init"),
    AROUND("pthread_mutex_lock", guard_lock, lock_mutex),
    AROUND("pthread_mutex_unlock", guard_unlock, unlock_mutex),
    AROUND("pthread_once", guard_once, call_once),
    OF_THE_C_LIBRARY("sigfillset"),
    {"sigprocmask", __extension__(void *) guard_sigprocmask, NULL},
    {"mincore", __extension__(void *) guard_mincore, NULL},
};

/* The function that replaces `name`; NULL: not replaced. */
static void *guard_of(const char *name) {
    size_t g = 0;
    while (strcmp(name, guards[g].name) != 0)
        if (++g == sizeof guards / sizeof guards[0])
            return NULL;
    void *own = guards[g].function && !guards[g].real ? NULL : vt_libc_own(name);
    if (guards[g].real && own)
        vt_put(guards[g].real, own);
    return guards[g].real && !own ? NULL : guards[g].function ? guards[g].function : own;
}

/* A slot may lie in the part that the loader made read-only after relocation. We leave its page writable: another
 * thread may be in this function, and would fault if we protected the page again. */
static void point(const struct vt_elf *object, void **slot, void *function) {
    const uintptr_t bytes = vt_machine_page(), page = (uintptr_t)slot & -bytes;
    bool relro =
        (uintptr_t)slot >= (object->relro.start & -bytes) && (uintptr_t)slot < object->relro.end;
    if (vt_get(slot) == function ||
        (relro && VT_SYS3(SYS_mprotect, page, bytes, PROT_READ | PROT_WRITE) != 0))
        return;
    vt_put(slot, function);
}

static void point_slots(const struct vt_elf *object, const struct vt_elf_tables *t) {
    for (size_t table = 0; table < 2; table++)
        for (size_t i = 0;
             t->relocations[table] && i < t->relocation_bytes[table] / sizeof(ElfW(Rela)); i++) {
            const ElfW(Rela) *rela = &t->relocations[table][i];
            unsigned type = ELF64_R_TYPE(rela->r_info);
            if (type != VT_RELOCATE_CALL && type != VT_RELOCATE_DATA)
                continue;
            const char *name = t->strings + t->symbols[ELF64_R_SYM(rela->r_info)].st_name;
            void *function = guard_of(name);
            if (function)
                point(object, (void **)(object->bias + rela->r_offset), function);
        }
}

/* Threads that arm at the same time all do the whole work: no thread may unwind before it is done, and a waiting thread
 * could hold the loader's lock, which the working thread needs. */
void vt_unwind_guard(void *inside) {
    struct vt_elf object;
    struct vt_elf_tables tables;
    if (!vt_elf_containing(inside, &object))
        return;
    vt_elf_read_tables(&object, &tables);
    if (tables.symbols && tables.strings)
        point_slots(&object, &tables);
}
