/* SPDX-License-Identifier: MIT */
/*
 * Samples: memory that is not added twice, and stacks that always have a frame.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "export/samples.h"
#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

static struct vt_frame frames[] = {
    {.function = "inner", .file = "/src/a;b.c", .line = 3, .module = "/bin/prog", .offset = 1},
    {.function = "PyEval", .module = "/lib/libpython.so", .offset = 2, .interpreter = true},
    {.module = "/bin/prog", .offset = 0x1f30},
};

static char *folded(struct vt_site *sites, uint32_t count, struct vt_device *device,
                    const struct vt_export_options *options) {
    struct vt_process process = {
        .rank = -1, .sites = sites, .site_count = count, .devices = device, .device_count = 1};
    struct vt_model model = {.processes = &process, .process_count = 1};
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(vt_export_folded_write(&model, options, out), 0);
    fclose(out);
    return text;
}

static void expect(const char *expected, char *found) {
    assert_string_equal(expected, found);
    free(found);
}

static void test_stacks(void **state) {
    (void)state;
    struct vt_device device = {.ordinal = 0};
    struct vt_stack stack = {.frames = frames, .count = 3};
    struct vt_site site = {
        .stack = &stack, .live_bytes = 7, .bytes_at_peak = 8, .reachable = VT_NOT_SEARCHED};
    struct vt_export_options options = {.value = VT_EXPORT_LIVE};
    expect("prog+0x1f30;inner (a\\x3bb.c:3) 7\n", folded(&site, 1, &device, &options));
    options = (struct vt_export_options){.value = VT_EXPORT_PEAK, .native = true};
    expect("prog+0x1f30;PyEval (libpython.so);inner (a\\x3bb.c:3) 8\n",
           folded(&site, 1, &device, &options));
    stack.cut = true;
    options.native = false;
    expect("[outer frames cut];prog+0x1f30;inner (a\\x3bb.c:3) 8\n",
           folded(&site, 1, &device, &options));
}

static void test_no_frames(void **state) {
    (void)state;
    struct vt_device device = {.ordinal = 0};
    struct vt_stack none = {0}, interpreter = {.frames = &frames[1], .count = 1};
    struct vt_site sites[] = {
        {.stack = &none, .live_bytes = 1},
        {.stack = &interpreter, .live_bytes = 2},
        {.stack = &none, .live_bytes = 3, .before = true},
        {.stack = &none, .live_bytes = 4, .layer = VT_LAYER_HOST, .device = VT_DEVICE_HOST},
        {.stack = &none, .live_bytes = 5, .layer = VT_LAYER_MANAGED, .device = VT_DEVICE_HOST},
    };
    expect("[no call stack] 1\n"
           "PyEval (libpython.so) 2\n"
           "[live before] 3\n"
           "[pinned host memory];[no call stack] 4\n"
           "[managed memory];[no call stack] 5\n",
           folded(sites, 5, &device, &(struct vt_export_options){0}));
}

/* A segment of 100 with 60 in use at the end, 30 at the peak; memory released with its context is not idle. */
static void test_idle(void **state) {
    (void)state;
    struct vt_device device = {.ordinal = 2, .blocks = {.name = "PyTorch"}};
    struct vt_stack stack = {.frames = frames, .count = 1};
    struct vt_site sites[] = {
        {.stack = &stack, .device = 2, .segments = true, .live_bytes = 100, .bytes_at_peak = 100},
        {.stack = &stack,
         .device = 2,
         .layer = VT_LAYER_FRAMEWORK,
         .live_bytes = 60,
         .bytes_at_peak = 30},
        {.stack = &stack, .device = 2, .live_bytes = 5, .bytes_at_peak = 5},
    };
    struct vt_export_options options = {.value = VT_EXPORT_LIVE};
    expect("inner (a\\x3bb.c:3) 60\ninner (a\\x3bb.c:3) 5\n[PyTorch: reserved, not in use] 40\n",
           folded(sites, 3, &device, &options));
    options.value = VT_EXPORT_PEAK;
    expect("inner (a\\x3bb.c:3) 30\ninner (a\\x3bb.c:3) 5\n[PyTorch: reserved, not in use] 70\n",
           folded(sites, 3, &device, &options));
    options.value = VT_EXPORT_LIVE;
    sites[0].context_freed_bytes = 100;
    expect("inner (a\\x3bb.c:3) 60\ninner (a\\x3bb.c:3) 5\n", folded(sites, 3, &device, &options));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_no_frames),
        cmocka_unit_test(test_idle),
    };
    return cmocka_run_group_tests_name("samples", tests, NULL, NULL);
}
