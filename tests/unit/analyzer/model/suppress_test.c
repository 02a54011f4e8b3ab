/* SPDX-License-Identifier: MIT */
/*
 * suppress.c: which patterns match which texts, what a file may hold, the built-in list.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/suppress.c"

#include <unistd.h>

static char path[] = "/tmp/vt_suppress_XXXXXX";

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

/* The result of reading a file with these bytes; the message in `said`. */
static int read_text(const char *text, size_t length, struct vt_suppressions *list,
                     struct vt_string *said) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
    *list = (struct vt_suppressions){0};
    return vt_suppress_read(list, path, said);
}

static void patterns(void **state) {
    static const struct {
        const char *pattern, *text;
        bool matches;
    } rows[] = {
        {"foo", "foo", true},        {"foo", "a foo b", true}, {"foo", "fo", false},
        {"^foo", "foobar", true},    {"^foo", "a foo", false}, {"foo$", "a foo", true},
        {"foo$", "foobar", false},   {"^foo$", "foo", true},   {"^foo$", "foofoo", false},
        {"f*o", "f12o", true},       {"f*o", "fo", true},      {"f*o", "xfyozz", true},
        {"f*o$", "foo", true},       {"f*o$", "foox", false},  {"^a*b*c$", "aXbYc", true},
        {"^a*b*c$", "aXcYb", false}, {"^a*ab$", "aab", true},  {"^*foo", "xfoo", true},
        {"a^b", "a^b", true},        {"a$b", "a$b", true},     {"operator*", "operator<<", true},
        {"\xff", "x\xffy", true},    {"foo", "", false},       {"ab*ab*abc", "abababc", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *glob = glob_of(rows[i].pattern);
        if (matches(glob, rows[i].text) != rows[i].matches)
            fail_msg("leak:%s should%s match '%s'", rows[i].pattern, rows[i].matches ? "" : " not",
                     rows[i].text);
        free(glob);
    }
    /* no pattern takes for ever */
    char *text = vt_alloc(20001, 1);
    memset(text, 'a', 20000);
    char *glob = glob_of("^a*a*a*a*a*a*a*a*a*b$");
    assert_false(matches(glob, text));
    free(glob);
    free(text);
}

static void frames(void **state) {
    struct vt_frame all[] = {
        {.function = "allocate", .file = "/src/deep/alloc.c", .module = "/opt/lib/libdeep.so.3"},
        {.function = "train_step", .file = "/src/train.py", .python = true},
        {.module = "/opt/lib/libnames_missing.so"}};
    const struct vt_stack stack = {.frames = all, .count = 3, .user_frame = 1};
    static const struct {
        const char *line;
        bool found;
    } rows[] = {{"leak:^allocate$\n", true},    {"leak:alloc.c\n", true},
                {"leak:libdeep.so\n", true},    {"leak:^train_step$\n", true},
                {"leak:train.py$\n", true},     {"leak:libnames_missing\n", true},
                {"leak:^alloc.c\n", false},     {"leak:something\n", false},
                {"leak:deep/alloc.cc\n", false}};
    struct vt_suppressions list;
    struct vt_string said = {0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(read_text(rows[i].line, strlen(rows[i].line), &list, &said), 0);
        assert_int_equal(vt_suppress_find(&list, &stack, VT_VERDICT_GROWING),
                         rows[i].found ? 0 : -1);
        vt_suppress_free(&list);
    }
    /* the first rule that matches; an empty stack matches none */
    static const char two[] = "leak:nothing_here\nleak:libdeep\nleak:^allocate$\n";
    assert_int_equal(read_text(two, strlen(two), &list, &said), 0);
    assert_int_equal(vt_suppress_find(&list, &stack, VT_VERDICT_GROWING), 1);
    assert_int_equal(list.rules[1].line, 2);
    assert_int_equal(vt_suppress_find(&list, &(struct vt_stack){0}, VT_VERDICT_LOST), -1);
    vt_suppress_free(&list);
}

static void files(void **state) {
    static const struct {
        const char *text;
        size_t length; /* 0: up to its end */
        int line;      /* that is refused; 0: the file is good */
    } rows[] = {
        {"leak:good_one\n", 0, 0},
        {"# only a comment\n", 0, 0},
        {"  leak:good_one  \r\n\t# c\n\nleak:other_one", 0, 0},
        {"", 0, 1},
        {"\n \n\t\n", 0, 1},
        {"leak:good_one\nleak\n", 0, 2},
        {"Leak:good_one\n", 0, 1},
        {"leak: \n", 0, 1},
        {"leak:*\n", 0, 1},
        {"# c\n# c\nleak:^*$\n", 0, 3},
        {"leak:_start\n", 0, 1},
        {"leak:*in\n", 0, 1},
        {"leak:x86_64-linux-gnu\n", 0, 1},
        {"leak:/usr/bin/python\n", 0, 1},
        {"leak:go\0od\n", 11, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vt_suppressions list;
        struct vt_string said = {0};
        char where[64];
        int error = read_text(rows[i].text, rows[i].length ? rows[i].length : strlen(rows[i].text),
                              &list, &said);
        if (error != (rows[i].line ? -EINVAL : 0))
            fail_msg("'%s': %d, %s", rows[i].text, error, said.text);
        snprintf(where, sizeof where, "%s:%d: ", path, rows[i].line);
        if (rows[i].line && strncmp(said.text, where, strlen(where)))
            fail_msg("'%s': expected %s, found %s", rows[i].text, where, said.text);
        vt_suppress_free(&list);
        vt_string_free(&said);
    }
}

static void builtin(void **state) {
    struct vt_suppressions ours = {0}, read;
    struct vt_string said = {0};
    (void)state;
    vt_suppress_add_builtin(&ours);
    assert_true(ours.count >= 10);
    /* as a file it is the same list, with none that a file would be refused for */
    assert_int_equal(read_text(vt_suppress_builtin, strlen(vt_suppress_builtin), &read, &said), 0);
    assert_int_equal(read.count, ours.count);
    for (uint32_t i = 0; i < ours.count; i++) {
        assert_string_equal(read.rules[i].pattern, ours.rules[i].pattern);
        assert_int_equal(read.rules[i].line, ours.rules[i].line);
        assert_null(ours.rules[i].file);
    }
    struct vt_frame cublas = {.function = "cublasCreate_v2", .module = "/usr/lib/libcublas.so.12"};
    struct vt_frame user = {.function = "use_cublas", .module = "/home/me/libmine.so"};
    assert_true(vt_suppress_find(&ours, &(struct vt_stack){.frames = &cublas, .count = 1},
                                 VT_VERDICT_UNFREED) >= 0);
    assert_int_equal(vt_suppress_find(&ours, &(struct vt_stack){.frames = &cublas, .count = 1},
                                      VT_VERDICT_GROWING),
                     -1);
    assert_int_equal(vt_suppress_find(&ours, &(struct vt_stack){.frames = &user, .count = 1},
                                      VT_VERDICT_UNFREED),
                     -1);
    vt_suppress_free(&ours);
    vt_suppress_free(&read);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(patterns), cmocka_unit_test(frames),
                                       cmocka_unit_test(files), cmocka_unit_test(builtin)};
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
