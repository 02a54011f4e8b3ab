/* SPDX-License-Identifier: MIT */
/* Unit tests of the names of programs: scripts, modules, programs that embed Python, children of multiprocessing. */
#include "model/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { WORDS = 6 };

static void names_of_commands(void **state) {
    static const struct {
        const char *program, *command[WORDS];
    } rows[] = {
        {"train.py", {"/usr/bin/python3", "train.py", "--epochs", "2"}},
        {"train.py", {"python3.12", "-u", "/home/me/train.py"}},
        {"train.py", {"python3", "-W", "ignore", "-X", "dev", "train.py"}},
        {"train.py", {"pypy3", "-Wignore", "train.py"}},
        {"app.train", {"python3", "-u", "-m", "app.train", "--fast"}},
        {"python3", {"/usr/bin/python3", "-c", "import torch"}},
        {"python3", {"python3", "-"}},
        {"python3", {"python3", "-m"}},
        {"python3", {"python3"}},
        {"player", {"./player", "film.mp4"}}, /* it may embed Python */
        {"my app", {"/opt/my app", "-m", "x"}},
        {"server", {""}},
        {"server", {NULL}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vt_process p = {
            .command = (char **)rows[i].command, .exe = (char *)"/opt/server", .python = true};
        while (p.command_count < WORDS && rows[i].command[p.command_count])
            p.command_count++;
        assert_string_equal(vt_process_program(&p), rows[i].program);
    }
}

static void a_task_is_the_name(void **state) {
    char *command[] = {(char *)"python3", (char *)"train.py"};
    struct vt_process p = {
        .command = command, .command_count = 2, .task = (char *)"load() in data.py"};
    (void)state;
    assert_string_equal(vt_process_program(&p), "load() in data.py");
}

static void a_name_is_never_missing(void **state) {
    struct vt_process p = {0};
    (void)state;
    assert_string_equal(vt_process_program(&p), "unknown program");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_commands),
        cmocka_unit_test(a_task_is_the_name),
        cmocka_unit_test(a_name_is_never_missing),
    };
    return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
