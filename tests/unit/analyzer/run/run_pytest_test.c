/* SPDX-License-Identifier: MIT */
/*
 * Which commands run pytest, which of them would not find the plugin, and what their environment
 * becomes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/run_options.h"
#include "run/run_pytest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARGV(...) ((char *const[]){__VA_ARGS__, NULL})

static void test_is(void **state) {
    (void)state;
    assert_true(vt_run_pytest_is(ARGV("pytest")));
    assert_true(vt_run_pytest_is(ARGV("venv/bin/py.test", "-q")));
    assert_true(vt_run_pytest_is(ARGV("/usr/bin/pytest-3")));
    assert_true(vt_run_pytest_is(ARGV("python3.12", "-m", "pytest", "tests/")));
    assert_true(vt_run_pytest_is(ARGV("coverage", "run", "-m", "pytest")));
    assert_true(vt_run_pytest_is(ARGV("uv", "run", "pytest")));
    assert_true(vt_run_pytest_is(ARGV("sh", "-c", "cd tests; pytest -q")));
    assert_false(vt_run_pytest_is(ARGV("python", "train.py")));
    assert_false(vt_run_pytest_is(ARGV("./pytester", "tests/test_pytest.py")));
    assert_false(vt_run_pytest_is(ARGV("make", "test")));
}

static void test_isolated(void **state) {
    const char *none = "/nonexistent";
    (void)state;
    assert_true(vt_run_pytest_is_isolated(none, ARGV("python", "-I", "-m", "pytest")));
    assert_true(vt_run_pytest_is_isolated(none, ARGV("python3", "-sE", "-m", "pytest")));
    assert_true(
        vt_run_pytest_is_isolated(none, ARGV("env", "python3", "-B", "-E", "-m", "pytest")));
    assert_false(vt_run_pytest_is_isolated(none, ARGV("python", "-W", "-m", "pytest", "-I")));
    assert_false(vt_run_pytest_is_isolated(none, ARGV("python", "-WIgnore", "-m", "pytest")));
    assert_false(vt_run_pytest_is_isolated(none, ARGV("bash", "-E", "-c", "pytest -q")));
    char path[] = "/tmp/vt_pytest_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    static const char script[] = "#!/usr/bin/python3 -sI\nimport pytest\n";
    assert_int_equal(write(fd, script, sizeof script - 1), sizeof script - 1);
    assert_true(vt_run_pytest_is_isolated(path, ARGV("pytest")));
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_false(vt_run_pytest_is_isolated(path, ARGV("pytest")));
    close(fd);
    unlink(path);
}

/* The plugin lies beside the tracer; what the user has set stays in front. */
static void test_set(void **state) {
    struct vt_run_options options;
    char *argv[] = {"run",         "--check",  "--fail-on=lost", "--report=json=x",
                    "--classes=c", "--strict", "--max-peak=1G",  NULL};
    (void)state;
    assert_int_equal(vt_run_options_parse(7, argv, NULL, &options), 0);
    setenv("PYTEST_PLUGINS", "mine,yours", 1);
    setenv("PYTHONPATH", "/a:/b", 1);
    assert_false(vt_run_pytest_set(&options.check, "/nonexistent/libvramtrace.so"));
    assert_string_equal(getenv("PYTEST_PLUGINS"), "mine,yours");
    assert_true(vt_run_pytest_set(&options.check, VT_BUILD_DIR "/libvramtrace.so"));
    assert_string_equal(getenv("PYTEST_PLUGINS"), "mine,yours,vramtrace_pytest");
    const char *path = getenv("PYTHONPATH");
    assert_memory_equal(path, "/a:/b:/", 7);
    assert_string_equal(strrchr(path, '/'), "/python");
    assert_string_equal(getenv("VRAMTRACE_CHECK"), "--fail-on=lost\n--classes=c\n--strict");
    vt_run_options_free(&options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is),
        cmocka_unit_test(test_isolated),
        cmocka_unit_test(test_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
