/* SPDX-License-Identifier: MIT */
/*
 * baseline.c and stack_key.c: a leak's name from build to build, written files read back, invalid ones refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gate/baseline.h"
#include "vramtrace/log_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/vt_baseline_XXXXXX";

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static void put(const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static char *get(void) {
    static char text[16384];
    FILE *file = fopen(path, "r");
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static void key_of(const struct vt_frame *frames, uint32_t count, struct vt_stack_key *key) {
    struct vt_stack stack = {
        .frames = (struct vt_frame *)frames, .count = count, .user_frame = count};
    struct vt_site site = {.api = "cudaMalloc", .layer = VT_LAYER_DRIVER, .stack = &stack};
    vt_stack_key_make(&site, key);
}

static void keys(void **state) {
    const struct vt_frame here[] = {
        {.function = "get(unsigned long)",
         .file = "/a/b/get.cc",
         .line = 4,
         .module = "/l/libx.so.1.2",
         .user_code = true},
        {.function = "loop", .file = "run.py", .line = 9, .python = true, .user_code = true},
        {.function = "_PyEval", .module = "/usr/bin/python3", .interpreter = true},
        {.module = "/l/libx.so.1.2", .offset = 99, .user_code = true},
        {.function = "__libc_start_main", .module = "/lib/libc.so.6"}};
    /* moved lines, another folder, a new build of the library, a compiler's clone, no runner */
    const struct vt_frame there[] = {
        {.function = "get(unsigned long) [clone .isra.0]",
         .file = "/c/get.cc",
         .line = 40,
         .module = "/l/libx.so.2",
         .user_code = true},
        {.function = "loop", .file = "/d/run.py", .line = 10, .python = true, .user_code = true},
        {.module = "/m/libx.so.2", .offset = 7, .user_code = true}};
    struct vt_stack_key a, b, c;
    (void)state;
    key_of(here, 5, &a);
    key_of(there, 3, &b);
    assert_int_equal(a.count, 3);
    assert_string_equal(a.call, "driver cudaMalloc");
    assert_string_equal(a.frames[0], "get (get.cc)");
    assert_string_equal(a.frames[1], "loop (run.py)");
    assert_string_equal(a.frames[2], "? (libx.so)");
    assert_true(a.hash == b.hash);
    key_of(here, 2, &c); /* a caller less */
    assert_true(a.hash != c.hash);
    vt_stack_key_free(&c);
    key_of(NULL, 0, &c); /* never empty: such a leak has a name as well */
    assert_int_equal(c.count, 1);
    assert_string_equal(c.frames[0], "? (no stack)");
    vt_stack_key_free(&c);
    /* a recursion is once there; frames without names are counted */
    const struct vt_frame deep[] = {here[1], here[1], here[1], here[3], here[3]};
    key_of(deep, 5, &c);
    assert_int_equal(c.count, 3);
    vt_stack_key_free(&c);
    vt_stack_key_free(&a);
    vt_stack_key_free(&b);
}

static void round_trip(void **state) {
    static const char *const functions[] = {"zeta", "alpha", "f<int, char*>", "new\nline", "mid"};
    struct vt_baseline written = {0}, read;
    struct vt_string said = {0};
    (void)state;
    for (uint32_t i = 0; i < 5; i++) {
        struct vt_frame frame = {
            .function = functions[i], .file = "a file (1).c", .user_code = true};
        struct vt_stack_key key;
        key_of(&frame, 1, &key);
        vt_baseline_raise(&written, &key, 100 * i, i);
        key_of(&frame, 1, &key);
        vt_baseline_raise(&written, &key, 50, 1); /* less in another process: the larger stays */
    }
    assert_int_equal(written.count, 5);
    assert_int_equal(vt_baseline_write(&written, path, &said), 0);
    char *text = strdup(get());
    assert_true(strstr(text, "  alpha (a file (1).c)") < strstr(text, "  zeta (a file (1).c)"));
    assert_int_equal(vt_baseline_read(path, &read, &said), 0);
    assert_int_equal(read.count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        const struct vt_baseline_entry *e = vt_baseline_find(&read, written.entries[i].key.hash);
        assert_non_null(e);
        assert_int_equal(e->bytes, written.entries[i].bytes);
        assert_int_equal(e->blocks, written.entries[i].blocks);
    }
    assert_int_equal(vt_baseline_write(&read, path, &said), 0);
    assert_string_equal(get(), text);
    free(text);
    vt_baseline_free(&read);
    vt_baseline_free(&written);
    /* none at all */
    assert_int_equal(vt_baseline_write(&written, path, &said), 0);
    assert_int_equal(vt_baseline_read(path, &read, &said), 0);
    assert_int_equal(read.count, 0);
    vt_baseline_free(&read);
}

static void refused(void **state) {
#define HEAD  "vramtrace-baseline 1\n"
#define ENTRY "leak driver cudaMalloc: 10 bytes in 1 blocks\n  f (a.c)\n"
    static const struct {
        const char *text;
        int line; /* 0: it is good */
        const char *says;
    } rows[] = {
        {HEAD, 0, NULL},
        {HEAD ENTRY, 0, NULL},
        {HEAD "# c\r\n\r\n" ENTRY "\n\n# c\n", 0, NULL},
        {"", 1, "empty file"},
        {"\n" HEAD, 1, "expected 'vramtrace-baseline 1'"},
        {"vramtrace-baseline 99\n", 1, "version 99; this vramtrace reads version 1"},
        {"vramtrace-baseline 18446744073709551616\n", 1, "expected 'vramtrace-baseline 1'"},
        {"vramtrace-baseline -1\n", 1, "expected"},
        {"vramtrace-baseline 1 \n" ENTRY "x\n", 4, "expected an indented frame"},
        {HEAD ENTRY ENTRY, 4, NULL}, /* see below: line of the second */
        {HEAD "leak driver cudaMalloc: 10 bytes in 1 blocks\n", 2, "call stack"},
        {HEAD "leak driver cudaMalloc: 10 bytes in 1 blocks\n" ENTRY, 2, "call stack"},
        {HEAD "leak : 10 bytes in 1 blocks\n  f\n", 2, "expected 'leak LAYER API"},
        {HEAD "leak driver x: -1 bytes in 1 blocks\n  f\n", 2, "expected 'leak LAYER API"},
        {HEAD "leak driver x: 10 bytes in 1 blocks more\n  f\n", 2, "expected 'leak LAYER API"},
        {HEAD "leak driver x: 99999999999999999999 bytes in 1 blocks\n  f\n", 2, "LAYER API"},
        {HEAD "  f\n", 2, "expected 'leak ...'"},
        {HEAD "=======\n", 2, "expected 'leak ...'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vt_baseline b;
        struct vt_string said = {0};
        char where[64];
        put(rows[i].text);
        int error = vt_baseline_read(path, &b, &said);
        if (error != (rows[i].line ? -EINVAL : 0))
            fail_msg("'%s': %d, %s", rows[i].text, error, said.text);
        snprintf(where, sizeof where, "%s:%d: ", path, rows[i].line);
        if (rows[i].line && (strncmp(said.text, where, strlen(where)) ||
                             (rows[i].says && !strstr(said.text, rows[i].says))))
            fail_msg("'%s': expected %s%s, found %s", rows[i].text, where,
                     rows[i].says ? rows[i].says : "", said.text);
        if (!error)
            vt_baseline_free(&b);
        vt_string_free(&said);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys), cmocka_unit_test(round_trip),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
