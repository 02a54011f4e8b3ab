/* SPDX-License-Identifier: MIT */
/* The library's own string functions (preload/base/string.c) against the C library's, on random texts of few letters. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/libc.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 20000
#define ROOM   700

static void *libc;

/* Ours, really called: the compiler has some of its own. */
#define OURS(f)   (*(__typeof__(&f) volatile[]){f})
/* The C library's function of that name and type. */
#define THEIRS(f) (__extension__(__typeof__(&f)) vt_libc_dlsym(libc, #f))

static int find_libc(void **unused) {
    (void)unused;
    libc = vt_libc_dlopen("libc.so.6", RTLD_LAZY);
    return libc ? 0 : -1;
}

static char text[2][2 * ROOM];

/* Random texts, the second often like the first. */
static void make_texts(void) {
    size_t n = (size_t)rand() % (rand() % 8 ? 20 : ROOM - 1);
    for (size_t i = 0; i < 2 * ROOM; i++)
        text[0][i] = text[1][i] = (char)("abAB\x80"[rand() % 5]);
    text[0][n] = text[1][n] = 0;
    if (rand() % 2)
        text[1][(size_t)rand() % (n + 1)] ^= (char)(rand() % 3 * 32);
    text[1][ROOM - 1] = 0;
}

static int sign(int n) {
    return (n > 0) - (n < 0);
}

static void looking(void **unused) {
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        make_texts();
        const char *a = text[0], *b = text[1];
        size_t n = (size_t)rand() % ROOM;
        int c = "abAB\x80"[rand() % 5];
        char part[4] = {b[0], b[0] ? b[1] : 0};
        assert_int_equal(OURS(strlen)(a), THEIRS(strlen)(a));
        assert_int_equal(OURS(strnlen)(a, n), THEIRS(strnlen)(a, n));
        assert_int_equal(sign(OURS(memcmp)(a, b, n)), sign(THEIRS(memcmp)(a, b, n)));
        assert_int_equal(sign(OURS(strcmp)(a, b)), sign(THEIRS(strcmp)(a, b)));
        assert_int_equal(sign(OURS(strncmp)(a, b, n)), sign(THEIRS(strncmp)(a, b, n)));
        assert_int_equal(sign(OURS(strncasecmp)(a, b, n)), sign(THEIRS(strncasecmp)(a, b, n)));
        assert_ptr_equal(OURS(memchr)(a, c, n), THEIRS(memchr)(a, c, n));
        assert_ptr_equal(OURS(strchr)(a, c), THEIRS(strchr)(a, c));
        assert_ptr_equal(OURS(strchr)(a, 0), THEIRS(strchr)(a, 0));
        assert_ptr_equal(OURS(strrchr)(a, c), THEIRS(strrchr)(a, c));
        assert_ptr_equal(OURS(strstr)(a, part), THEIRS(strstr)(a, part));
    }
}

static char ours[4 * ROOM], theirs[4 * ROOM];

/* One call on each of two equal buffers: the same is left in them, and the answer lies at the same place. */
#define SAME(call_ours, call_theirs)                                                               \
    do {                                                                                           \
        memset(ours, 'x', sizeof ours);                                                            \
        memset(theirs, 'x', sizeof theirs);                                                        \
        strcpy(ours + at, "begin");                                                                \
        strcpy(theirs + at, "begin");                                                              \
        assert_int_equal((char *)(call_ours)-ours, (char *)(call_theirs)-theirs);                  \
        for (size_t i_ = 0; i_ < sizeof ours; i_++)                                                \
            assert_int_equal(ours[i_], theirs[i_]);                                                \
    } while (0)

static void writing(void **unused) {
    (void)unused;
    for (int round = 0; round < ROUNDS / 10; round++) {
        make_texts();
        const char *a = text[0];
        size_t n = (size_t)rand() % ROOM, at = (size_t)rand() % 16, to = (size_t)rand() % 40;
        SAME(OURS(memcpy)(ours + at, a, n), THEIRS(memcpy)(theirs + at, a, n));
        SAME(OURS(memset)(ours + at, 'q', n), THEIRS(memset)(theirs + at, 'q', n));
        SAME(OURS(memmove)(ours + to, ours + at, n), THEIRS(memmove)(theirs + to, theirs + at, n));
        SAME(OURS(strcpy)(ours + at, a), THEIRS(strcpy)(theirs + at, a));
        SAME(OURS(stpcpy)(ours + at, a), THEIRS(stpcpy)(theirs + at, a));
        SAME(OURS(strncpy)(ours + at, a, n), THEIRS(strncpy)(theirs + at, a, n));
        SAME(OURS(strcat)(ours + at, a), THEIRS(strcat)(theirs + at, a));
        SAME(OURS(strncat)(ours + at, a, n), THEIRS(strncat)(theirs + at, a, n));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(looking), cmocka_unit_test(writing)};
    return cmocka_run_group_tests(tests, find_libc, NULL);
}
