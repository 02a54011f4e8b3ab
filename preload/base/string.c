/* SPDX-License-Identifier: MIT */
/*
 * Our own versions of the functions of <string.h> that the library uses. They are hidden symbols, so our calls, and the
 * compiler's calls to copy a struct, reach no other library. In a program with a sanitizer, the usual names belong to
 * the sanitizer. Its functions are not ready while the program starts. Later, they expect instrumented writes. Our
 * writes are not instrumented, so a sanitizer would end the program for a race or an uninitialized read that does not
 * exist.
 *
 * Compiled with -fno-builtin: otherwise the compiler would make some of them call themselves. Long copies use the
 * machine's instructions.
 */
#define _GNU_SOURCE
#include "machine/machine.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Keeps the compiler from replacing a loop with a call of strlen or memcpy. */
#define STEP(x) __asm__("" : "+r"(x))

typedef uint64_t unaligned __attribute__((aligned(1), may_alias));

#define MANY 256u

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
    char *t = to;
    const char *f = from;
    if (n >= MANY) {
        vt_machine_copy(t, f, n);
        return to;
    }
    for (; n >= 8; n -= 8, t += 8, f += 8) {
        *(unaligned *)t = *(const unaligned *)f;
        STEP(t);
    }
    for (; n; n--) {
        *t++ = *f++;
        STEP(t);
    }
    return to;
}

void *memmove(void *to, const void *from, size_t n) {
    char *t = to;
    const char *f = from;
    if ((uintptr_t)t - (uintptr_t)f >= n) {
        vt_machine_copy(t, f, n);
        return to;
    }
    while (n--) {
        t[n] = f[n];
        STEP(n);
    }
    return to;
}

void *memset(void *to, int byte, size_t n) {
    vt_machine_fill(to, byte, n);
    return to;
}

int memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *x = a, *y = b;
    for (; n >= 8 && *(const unaligned *)x == *(const unaligned *)y; n -= 8, x += 8, y += 8)
        STEP(x);
    for (; n && *x == *y; n--, x++, y++)
        STEP(x);
    return n ? *x - *y : 0;
}

void *memchr(const void *in, int byte, size_t n) {
    for (const unsigned char *s = in; n; n--, s++) {
        STEP(s);
        if (*s == (unsigned char)byte)
            return (void *)(uintptr_t)s;
    }
    return NULL;
}

size_t strnlen(const char *s, size_t most) {
    size_t n = 0;
    for (; n < most && s[n]; n++)
        STEP(n);
    return n;
}

size_t strlen(const char *s) {
    return strnlen(s, SIZE_MAX);
}

int strncmp(const char *a, const char *b, size_t n) {
    for (; n && *a && *a == *b; n--, a++, b++)
        STEP(a);
    return n ? (unsigned char)*a - (unsigned char)*b : 0;
}

int strcmp(const char *a, const char *b) {
    return strncmp(a, b, SIZE_MAX);
}

static int lower(char c) {
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : (unsigned char)c;
}

int strncasecmp(const char *a, const char *b, size_t n) {
    for (; n && *a && lower(*a) == lower(*b); n--, a++, b++)
        STEP(a);
    return n ? lower(*a) - lower(*b) : 0;
}

char *strchr(const char *s, int c) {
    for (;; s++) {
        STEP(s);
        if (*s == (char)c)
            return (char *)(uintptr_t)s;
        if (!*s)
            return NULL;
    }
}

char *strrchr(const char *s, int c) {
    const char *last = NULL;
    for (;; s++) {
        STEP(s);
        if (*s == (char)c)
            last = s;
        if (!*s)
            return (char *)(uintptr_t)last;
    }
}

size_t strspn(const char *s, const char *accept) {
    size_t n = 0;
    while (s[n] && strchr(accept, s[n]))
        n++;
    return n;
}

size_t strcspn(const char *s, const char *reject) {
    size_t n = 0;
    while (s[n] && !strchr(reject, s[n]))
        n++;
    return n;
}

char *strstr(const char *s, const char *part) {
    size_t n = strlen(part);
    for (;; s++) {
        STEP(s);
        if (strncmp(s, part, n) == 0)
            return (char *)(uintptr_t)s;
        if (!*s)
            return NULL;
    }
}

char *stpcpy(char *restrict to, const char *restrict from) {
    size_t n = strlen(from);
    memcpy(to, from, n + 1);
    return to + n;
}

char *strcpy(char *restrict to, const char *restrict from) {
    stpcpy(to, from);
    return to;
}

char *strncpy(char *restrict to, const char *restrict from, size_t n) {
    size_t has = strnlen(from, n);
    memcpy(to, from, has);
    memset(to + has, 0, n - has);
    return to;
}

char *strncat(char *restrict to, const char *restrict from, size_t most) {
    char *end = to + strlen(to);
    size_t n = strnlen(from, most);
    memcpy(end, from, n);
    end[n] = 0;
    return to;
}

char *strcat(char *restrict to, const char *restrict from) {
    stpcpy(to + strlen(to), from);
    return to;
}
