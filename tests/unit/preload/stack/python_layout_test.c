/* SPDX-License-Identifier: MIT */
/* Which interpreters are refused, and in which words: versions not known, and published tables that
 * do not hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "stack/python_layout.h"

/* The start of a _PyRuntime as 3.14 publishes it: cookie, version, free-threaded, then offsets. */
static uint64_t runtime[256];

static void publish(unsigned version, bool free_threaded) {
    memset(runtime, 0, sizeof runtime);
    memcpy(runtime, "xdebugpy", 8);
    runtime[1] = version;
    runtime[2] = free_threaded;
    for (size_t i = 3; i < sizeof runtime / sizeof runtime[0]; i++)
        runtime[i] = 8 * i;
}

static const char *layout(unsigned minor) {
    struct vt_pylayout at;
    return vt_python_layout(&at, minor, (uintptr_t)runtime);
}

static void expect_reason(const char *why, const char *part) {
    assert_non_null(why);
    if (strstr(why, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", why, part);
}

static void versions(void **state) {
    (void)state;
    expect_reason(layout(7), "before 3.8");
    expect_reason(layout(16), "newer than this vramtrace supports");
    for (unsigned minor = 8; minor <= 12; minor++) {
        struct vt_pylayout at;
        assert_null(vt_python_layout(&at, minor, 0));
        assert_int_equal(at.minor, minor);
        assert_int_equal(at.anchors, minor >= 10);
    }
}

static void published(void **state) {
    (void)state;
    publish(0x030e0af0, false);
    assert_null(layout(14));
    expect_reason(layout(13), "for another version");
    publish(0x030e0af0, true);
    expect_reason(layout(14), "free-threaded");
    publish(0x030d00f0, true);
    assert_null(layout(13));
    publish(0x030d00f0, false);
    runtime[184 / 8] = 1u << 20; /* thread_state.current_frame */
    expect_reason(layout(13), "is not as expected");
    runtime[0]++;
    expect_reason(layout(13), "xdebugpy");
    struct vt_pylayout at;
    expect_reason(vt_python_layout(&at, 13, 0), "_PyRuntime");
    expect_reason(vt_python_layout(&at, 13, 64), "xdebugpy");
}

/* A code type whose member table says something else, or nothing that can be read. */
static void code_type(void **state) {
    (void)state;
    struct member {
        const char *name;
        intptr_t type, offset, flags;
        const char *doc;
    } members[] = {
        {"co_firstlineno", 0, 68, 0, NULL}, {"co_filename", 0, 112, 0, NULL},
        {"co_name", 0, 120, 0, NULL},       {"co_qualname", 0, 128, 0, NULL},
        {"co_linetable", 0, 136, 0, NULL},  {NULL, 0, 0, 0, NULL},
    };
    uint64_t type[64] = {0};
    struct vt_pylayout at;
    assert_null(vt_python_layout(&at, 12, 0));
    type[at.type_members / 8] = (uintptr_t)members;
    assert_null(vt_python_layout_check(&at, (uintptr_t)type));
    members[4].offset = 144;
    expect_reason(vt_python_layout_check(&at, (uintptr_t)type), "differ from the released");
    members[4].name = "co_other";
    expect_reason(vt_python_layout_check(&at, (uintptr_t)type), "lacks members");
    members[4].name = (const char *)8;
    expect_reason(vt_python_layout_check(&at, (uintptr_t)type), "is not as expected");
    type[at.type_members / 8] = 0;
    expect_reason(vt_python_layout_check(&at, (uintptr_t)type), "is not as expected");
    expect_reason(vt_python_layout_check(&at, 16), "is not as expected");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),
        cmocka_unit_test(published),
        cmocka_unit_test(code_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
