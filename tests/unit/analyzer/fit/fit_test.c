/* SPDX-License-Identifier: MIT */
/*
 * fit.c: what a GPU would have measured is put into the model of a recorded run of the stand-in for PyTorch's
 * allocator, 94 MiB: the driver's own share, other processes, events that are missing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../analyzer/build.h"
#include "../analyzer/fit/fit.h"
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)

struct run {
    struct vt_model model;
    struct vt_process *process;
    struct vt_device *device;
    char *log;
    struct vt_fit fit;
    struct vt_string message;
};

static int open_run(void **state) {
    struct run *r = calloc(1, sizeof *r);
    const char *src = getenv("SRC");
    r->log = vt_formatted("%s/tests/logs/1/blockinfo.vtl", src ? src : ".");
    int error = vt_build_model(&(const char *){r->log}, 1, &(struct vt_model_options){.device = -1},
                               &r->model, &r->message);
    *state = r;
    if (error)
        return error;
    r->process = &r->model.processes[0];
    r->device = &r->process->devices[0];
    return 0;
}

static int close_run(void **state) {
    struct run *r = *state;
    vt_fit_free(&r->fit);
    vt_build_free(&r->model);
    vt_string_free(&r->message);
    free(r->log);
    free(r);
    return 0;
}

static int make(struct run *r, uint64_t mib, const char *const *confs, uint32_t count) {
    struct vt_fit_memory memory = {.bytes = mib * MIB, .usable_bytes = mib * MIB};
    struct vt_fit_options options = {
        .memory = &memory, .memory_count = mib > 0, .confs = confs, .conf_count = count};
    vt_fit_free(&r->fit);
    return vt_fit_make(&r->model, r->process, r->device, &options, &r->fit, &r->message);
}

static void as_recorded(void **state) {
    struct run *r = *state;
    assert_int_equal(make(r, 0, NULL, 0), 0);
    assert_true(r->fit.sure && r->fit.torch);
    assert_float_equal(r->fit.deviation, 0, 0);
    assert_int_equal(r->fit.needs_bytes, 94 * MIB);
    assert_int_equal(r->fit.row_count, 13);
    assert_true(r->fit.rows[0].memory.here && r->fit.rows[0].recorded && r->fit.rows[0].fits);
    assert_string_equal(r->fit.rows[1].conf, "expandable_segments:True");
    assert_string_equal(r->fit.smallest->memory.card->name, "8 GiB");
}

/* It is part of the needs, and of each card that much is gone. */
static void the_drivers_share(void **state) {
    struct run *r = *state;
    r->process->simulated = false;
    r->device->untracked_bytes = 500 * MIB;
    assert_int_equal(make(r, 593, NULL, 0), 0);
    assert_int_equal(r->fit.needs_bytes, 594 * MIB);
    assert_false(r->fit.rows[0].fits);
    assert_int_equal(r->fit.rows[0].missing_bytes, MIB);
    assert_int_equal(make(r, 594, NULL, 0), 0);
    assert_true(r->fit.rows[0].fits);
    assert_int_equal(r->fit.rows[0].peak_bytes, 594 * MIB);
    assert_int_equal(r->fit.rows[0].peak_reserved_bytes, 94 * MIB);
}

/* What they had at their worst moment is a limit only where the driver refused something. */
static void other_processes(void **state) {
    struct run *r = *state;
    char *text = NULL;
    size_t length = 0;
    r->process->simulated = false;
    r->device->other_processes_bytes = r->device->total_bytes - 90 * MIB;
    assert_int_equal(make(r, 0, NULL, 0), 0);
    assert_true(r->fit.sure && r->fit.rows[0].fits);
    assert_int_equal(r->fit.rows[0].memory.usable_bytes, r->device->total_bytes);
    FILE *out = open_memstream(&text, &length);
    struct vt_doc doc = {0};
    vt_fit_document(&r->fit, &doc);
    vt_doc_show(&doc, false, out);
    vt_doc_free(&doc);
    fclose(out);
    assert_non_null(strstr(text, "once"));
    free(text);
    r->device->failed_count = 1;
    r->device->other_processes_bytes = r->device->total_bytes - 100 * MIB;
    assert_int_equal(make(r, 0, NULL, 0), 0);
    assert_int_equal(r->fit.rows[0].memory.usable_bytes, 100 * MIB);
    assert_true(r->fit.rows[0].fits);
    r->device->other_processes_bytes += 10 * MIB; /* it did not run like that */
    assert_int_equal(make(r, 0, NULL, 0), 0);
    assert_false(r->fit.sure);
    assert_non_null(strstr(r->fit.why, "% off"));
    assert_true(r->fit.from_bytes <= 94 * MIB && r->fit.to_bytes >= 94 * MIB);
}

/* Recorded processes on the same GPU at the same time count as taken, with their peaks. */
static void sharers(void **state) {
    struct run *r = *state;
    char uuid[] = "GPU-1";
    struct vt_device own = *r->device, device = {.peak_bytes = 1000 * MIB};
    struct vt_process all[4], *self = r->process;
    const struct vt_model model = {.processes = all, .process_count = 4};
    struct vt_fit_memory memory[] = {{.bytes = 2093 * MIB, .usable_bytes = 2093 * MIB},
                                     {.bytes = 2094 * MIB, .usable_bytes = 2094 * MIB}};
    struct vt_fit_options options = {.memory = memory, .memory_count = 2};
    own.uuid = device.uuid = uuid;
    all[0] = *self;
    all[0].devices = &own;
    for (int i = 1; i < 4; i++)
        all[i] = (struct vt_process){.devices = &device,
                                     .device_count = 1,
                                     .duration = 1,
                                     .started_at = self->started_at + (uint64_t)i * 10};
    all[0].duration = 25; /* the last starts later */
    assert_int_equal(vt_fit_make(&model, &all[0], &own, &options, &r->fit, &r->message), 0);
    assert_int_equal(r->fit.sharers, 3);
    assert_int_equal(r->fit.processes, 4);
    assert_int_equal(r->fit.shared_bytes, 2000 * MIB);
    assert_false(r->fit.rows[0].fits);
    assert_true(r->fit.rows[1].fits);
}

static void missing_events(void **state) {
    struct run *r = *state;
    r->process->quality.missing = 3;
    assert_int_equal(make(r, 0, NULL, 0), 0);
    assert_false(r->fit.sure);
    assert_true(isnan(r->fit.deviation));
    assert_non_null(strstr(r->fit.why, "3 events"));
    assert_int_equal(r->fit.to_bytes, VT_UNKNOWN);
    assert_int_equal(r->fit.rows[0].peak_bytes, VT_UNKNOWN);
    assert_null(r->fit.smallest);
}

static void options(void **state) {
    static const char *confs[300];
    struct run *r = *state;
    for (size_t i = 0; i < sizeof confs / sizeof *confs; i++)
        confs[i] = "";
    assert_int_equal(make(r, 100, confs, 300), -EINVAL);
    assert_non_null(strstr(r->message.text, "at most 254 rows, found 300"));
    assert_int_equal(make(r, 100, confs, 254), 0);
    confs[1] = "no_such_setting:1";
    assert_int_equal(make(r, 100, confs, 2), -EINVAL);
    assert_non_null(strstr(r->message.text, "no_such_setting"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_recorded, open_run, close_run),
        cmocka_unit_test_setup_teardown(the_drivers_share, open_run, close_run),
        cmocka_unit_test_setup_teardown(other_processes, open_run, close_run),
        cmocka_unit_test_setup_teardown(sharers, open_run, close_run),
        cmocka_unit_test_setup_teardown(missing_events, open_run, close_run),
        cmocka_unit_test_setup_teardown(options, open_run, close_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
