/* SPDX-License-Identifier: MIT */
/*
 * run_options.c and run_preload.c: accepted and refused options, and the environment that they set.
 */
#include "base/base.h"
#include "run/run_options.h"
#include "run/run_preload.h"
#include "tests/unit/sizes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int parse(struct vt_run_options *options, const char *first, const char *second) {
    char *argv[] = {"run", (char *)(uintptr_t)first, (char *)(uintptr_t)second, "word", NULL};
    return vt_run_options_parse(second ? 4 : first ? 2 : 1, argv, NULL, options);
}

/* Each as --name=value and as --name value; with a command that has options of its own behind. */
static void test_values(void **state) {
    (void)state;
    static const struct {
        const char *option, *good[6], *bad[10];
    } rows[] = {
        {"depth", {"1", "64", "256"}, {"", "0", "257", "-1", " 5", "5x", "0x10", "1e2"}},
        {"python", {"auto", "off"}, {"", "on", "0", "AUTO"}},
        {"framework", {"auto", "off"}, {"", "none"}},
        {"max-log", {"auto", "off", "1M", "512M"}, {"", "1", "1023K", "on", "512 M"}},
        {"limit", {"8G", "1073741824"}, {"", "8 G x", "all"}},
        {"inject",
         {"1", "17", "3+", "each"},
         {"", "0", "0+", "+", "3++", "x", "-2", "each+", "3 "}},
        {"output",
         {"x.vtl", "a/%p.%h.%e.%r.%j", "%q{HOME}/x", "100%%"},
         {"", "%", "%x", "%q", "%q{}", "%q{A", "a%p%"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int good = 0; good < 2; good++) {
            const char *const *values = good ? rows[i].good : rows[i].bad;
            for (; *values; values++) {
                struct vt_run_options options;
                char joined[64], name[32];
                snprintf(joined, sizeof joined, "--%s=%s", rows[i].option, *values);
                snprintf(name, sizeof name, "--%s", rows[i].option);
                if (parse(&options, joined, "true") != (good ? 0 : VT_STATUS_USAGE))
                    fail_msg("%s should be %s", joined, good ? "accepted" : "refused");
                assert_true(!good || options.command == 2);
                assert_int_equal(parse(&options, name, *values), good ? 0 : VT_STATUS_USAGE);
            }
        }
    }
}

/* What the tracer takes, this takes, and nothing else. */
static void test_sizes(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof size_rows / sizeof *size_rows; i++) {
        struct vt_run_options options;
        char limit[64], alarm[64];
        snprintf(limit, sizeof limit, "--limit=%s", size_rows[i].text);
        snprintf(alarm, sizeof alarm, "--alarm=%s", size_rows[i].text);
        bool size = size_rows[i].bytes, share = size_rows[i].share;
        if (parse(&options, limit, "true") != (size ? 0 : VT_STATUS_USAGE))
            fail_msg("%s should be %s", limit, size ? "accepted" : "refused");
        if (parse(&options, alarm, "true") != (size || share ? 0 : VT_STATUS_USAGE))
            fail_msg("%s should be %s", alarm, size || share ? "accepted" : "refused");
    }
}

static void test_sim(void **state) {
    (void)state;
    struct vt_run_options options;
    assert_int_equal(parse(&options, "--sim", "8G"), 0); /* "8G" is the command */
    assert_true(options.simulated && !options.sim);
    assert_int_equal(options.command, 2);
    static const char *const good[] = {"--sim=8G", "--sim=512M,1", "--sim=141G,64"};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(parse(&options, good[i], "true"), 0);
    static const char *const bad[] = {"--sim=",     "--sim=0",     "--sim=8G,",    "--sim=8G,0",
                                      "--sim=8G,x", "--sim=8G,65", "--sim=8G,1,2", "--sim=,2"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (parse(&options, bad[i], "true") != VT_STATUS_USAGE)
            fail_msg("%s should be refused", bad[i]);
}

static void test_words(void **state) {
    (void)state;
    struct vt_run_options options;
    static const char *const bad[] = {
        "--nosuch",  "-x",    "--quiet=1",    "--strict",    "--report=a=b",        "--depth",
        "--check=1", "--d=0", "--max-runs=3", "--timeout=1", "--print-suppressions"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (parse(&options, bad[i], NULL) != VT_STATUS_USAGE)
            fail_msg("%s should be refused", bad[i]);
    assert_int_equal(parse(&options, NULL, NULL), 0);
    assert_int_equal(options.command, 1); /* == argc: none */
    assert_int_equal(parse(&options, "--", "--depth=0"), 0);
    assert_int_equal(options.command, 2);
    assert_int_equal(parse(&options, "true", "--depth=0"), 0);
    assert_int_equal(options.command, 1);
    assert_int_equal(parse(&options, "-qofile", "true"), 0);
    assert_true(options.quiet);
    assert_string_equal(options.output, "file");
}

static const char *env(const char *name) {
    const char *value = getenv(name);
    return value ? value : "(unset)";
}

static void test_set(void **state) {
    (void)state;
    struct vt_run_options options;
    char *argv[] = {"run",  "--sim=2G,3", "--depth=7", "--uncached", "-o",
                    "x.%p", "--depth",    "9",         "true",       NULL};
    setenv("VRAMTRACE_OUTPUT", "the user's", 1);
    setenv("XLA_PYTHON_CLIENT_ALLOCATOR", "bfc", 1);
    setenv("VRAMTRACE_PYTHON", "off", 1);
    unsetenv("PYTORCH_NO_CUDA_MEMORY_CACHING");
    assert_int_equal(vt_run_options_parse(9, argv, NULL, &options), 0);
    vt_run_options_set(&options);
    assert_string_equal(env("VRAMTRACE_OUTPUT"), "x.%p");
    assert_string_equal(env("VRAMTRACE_DEPTH"), "9"); /* the last one counts */
    assert_string_equal(env("VRAMTRACE_PYTHON"), "off");
    assert_string_equal(env("VRAMTRACE_LIMIT"), "(unset)");
    assert_string_equal(env("VRAMTRACE_SIM_MEMORY"), "2G");
    assert_string_equal(env("VRAMTRACE_SIM_DEVICES"), "3");
    assert_string_equal(env("XLA_PYTHON_CLIENT_ALLOCATOR"), "bfc");
    assert_string_equal(env("XLA_PYTHON_CLIENT_PREALLOCATE"), "false");
    assert_string_equal(env("PYTORCH_NO_CUDA_MEMORY_CACHING"), "1");
    assert_string_equal(env("TF_GPU_ALLOCATOR"), "cuda_malloc");
}

static void test_set_little(void **state) {
    (void)state;
    struct vt_run_options options;
    setenv("VRAMTRACE_SIM_MEMORY", "5G", 1);
    setenv("VRAMTRACE_SIM_DEVICES", "4", 1);
    unsetenv("PYTORCH_NO_CUDA_MEMORY_CACHING");
    assert_int_equal(parse(&options, "--sim", "true"), 0);
    vt_run_options_set(&options);
    assert_string_equal(env("VRAMTRACE_SIM_MEMORY"), "5G");
    assert_string_equal(env("PYTORCH_NO_CUDA_MEMORY_CACHING"), "(unset)");
    assert_int_equal(parse(&options, "--sim=6G", "true"), 0);
    vt_run_options_set(&options);
    assert_string_equal(env("VRAMTRACE_SIM_MEMORY"), "6G");
    assert_string_equal(env("VRAMTRACE_SIM_DEVICES"), "4");
}

static void expect_preload(const char *expected, bool simulated, const char *user) {
    char *sim[] = {"/s/cuda.so", "/s/rt12.so", "/s/rt13.so"};
    struct vt_run_libraries libraries = {
        .tracer = "/l/t.so", .sim = sim, .sim_count = simulated ? 3 : 0};
    char *found = vt_run_preload_value(&libraries, user);
    assert_string_equal(expected, found);
    free(found);
}

static void test_preload(void **state) {
    (void)state;
    expect_preload("/$LIB/../../../../l/t.so", false, NULL);
    expect_preload("/$LIB/../../../../l/t.so", false, " : ");
    expect_preload("/$LIB/../../../../l/t.so:a.so:/b/c.so", false, "a.so /b/c.so:");
    expect_preload("/$LIB/../../../../l/t.so:a.so", false, "/l/t.so:a.so:/l/t.so");
    expect_preload("/$LIB/../../../../l/t.so:a.so", false, "/$LIB/../../../../l/t.so:a.so");
    expect_preload("/$LIB/../../../../l/t.so:/l/t.so.1", false, "/l/t.so.1");
    expect_preload("/$LIB/../../../../l/t.so:/$LIB/../../../../s/cuda.so:/$LIB/../../../../s/"
                   "rt12.so:/$LIB/../../../../s/rt13.so",
                   true, NULL);
    expect_preload("/$LIB/../../../../l/t.so:a.so:/$LIB/../../../../s/cuda.so:/$LIB/../../../../s/"
                   "rt12.so:/$LIB/../../../../s/rt13.so",
                   true, "/s/cuda.so:a.so");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),  cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_sim),     cmocka_unit_test(test_words),
        cmocka_unit_test(test_set),     cmocka_unit_test(test_set_little),
        cmocka_unit_test(test_preload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
