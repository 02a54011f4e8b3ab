/* SPDX-License-Identifier: MIT */
/*
 * scale.c: which role a call site has, which scale is about it, and names that nothing has. Sites are
 * made by hand, as a snapshot and a replay would leave them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../analyzer/fit/fit.h"
#include "vramtrace/log_format.h"

#include <string.h>

enum { WEIGHTS, STATE, TEMPORARY, ACTIVATION, GRADIENT, INNER, KEPT, DRIVER, SITES };

static struct vt_frame frames[] = {{.file = "/x/torch/optim/adam.py"},
                                   {.file = "train.py"},
                                   {.file = "train.py", .waiting = true}};

static struct vt_site site(uint32_t number, unsigned frame, uint64_t allocated, uint64_t peak) {
    static struct vt_stack stacks[SITES];
    stacks[number] = (struct vt_stack){.frames = &frames[frame], .count = 1};
    struct vt_site s = {.layer = number == DRIVER ? VT_LAYER_DRIVER : VT_LAYER_FRAMEWORK,
                        .number = SITES - 1 - number,
                        .stack = &stacks[number],
                        .allocated_bytes = allocated,
                        .peak_bytes = peak,
                        .bytes_at_peak = peak,
                        .alloc_count = 10,
                        .live_count = allocated == peak,
                        .live_bytes = allocated == peak ? peak : 0,
                        .longest_life = VT_UNKNOWN};
    snprintf(s.name, sizeof s.name, "%x000", number + 10);
    return s;
}

/* A run: its weights were seen by a snapshot, the rest was not. */
static double factor_of(uint32_t number, struct vt_fit_scale *scales, uint32_t count,
                        struct vt_string *message) {
    struct vt_owned_site weights = {.site = WEIGHTS, .bytes = 100};
    struct vt_memory_owner owner = {.name = "model[*].weight",
                                    .container = "model",
                                    .purpose = VT_PURPOSE_PARAMETERS,
                                    .sites = &weights,
                                    .site_count = 1};
    struct vt_snapshot snapshot = {.owners = &owner, .owner_count = 1};
    struct vt_site sites[SITES] = {site(WEIGHTS, 1, 100, 100),   site(STATE, 0, 200, 200),
                                   site(TEMPORARY, 0, 900, 90),  site(ACTIVATION, 1, 1000, 600),
                                   site(GRADIENT, 2, 1000, 100), site(INNER, 2, 1000, 70),
                                   site(KEPT, 1, 300, 300),      site(DRIVER, 1, 4000, 400)};
    sites[ACTIVATION].live_count = 1; /* a variable still has the last round's */
    sites[ACTIVATION].live_bytes = 300;
    struct vt_process p = {.sites = sites,
                           .site_count = SITES,
                           .snapshots = &snapshot,
                           .snapshot_count = 1,
                           .duration = 1000};
    struct vt_fit_options options = {.scales = scales, .scale_count = count};
    struct vt_fit_sites found = vt_fit_sites_open(&p);
    assert_int_equal(found.count, SITES);
    assert_true(found.in_backward[sites[INNER].number]);
    assert_false(found.in_backward[sites[ACTIVATION].number]);
    found.outlived[sites[GRADIENT].number] = 10;
    found.outlived[sites[INNER].number] = 1;
    double factor = vt_fit_sites_scale(&p, 0, &options, &found, message)
                        ? -1
                        : found.factors[sites[number].number];
    vt_fit_sites_close(&found);
    return factor;
}

static struct vt_fit_scale scale(enum vt_fit_scope scope, const char *name, double factor) {
    return (struct vt_fit_scale){
        .text = name, .scope = scope, .name = (char *)(uintptr_t)name, .factor = factor};
}

static void roles(void **state) {
    static const struct {
        const char *role;
        uint32_t site;
    } wanted[] = {{"parameters", WEIGHTS},  {"optimizer", STATE},
                  {"optimizer", TEMPORARY}, {"activations", ACTIVATION},
                  {"gradients", GRADIENT},  {"activations", INNER},
                  {"other", KEPT},          {"activations", SITES - 1}};
    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        for (unsigned role = 0; role < VT_PURPOSES; role++) {
            struct vt_string message = {0};
            struct vt_fit_scale s = scale(VT_FIT_ROLE, vt_purpose_names[role], 3);
            bool is = wanted[i].site != DRIVER && !strcmp(wanted[i].role, vt_purpose_names[role]);
            assert_float_equal(factor_of(wanted[i].site, &s, 1, &message), is ? 3 : 1, 0);
            assert_null(message.text);
        }
}

static void the_most_specific_wins(void **state) {
    static const char *const parts[] = {"model", "model[*]", "model (torch.nn.Linear)"};
    struct vt_string message = {0};
    struct vt_fit_scale scales[] = {scale(VT_FIT_SITE, "a0", 5), scale(VT_FIT_OWNER, "model", 4),
                                    scale(VT_FIT_ROLE, "parameters", 3)};
    (void)state;
    assert_float_equal(factor_of(WEIGHTS, scales, 3, &message), 5, 0);
    assert_int_equal(scales[0].sites, 1);
    assert_int_equal(scales[0].bytes_at_peak, 100);
    scales[1] = scale(VT_FIT_OWNER, "model[*].weight", 4);
    assert_float_equal(factor_of(WEIGHTS, scales + 2, 1, &message), 3, 0);
    assert_float_equal(factor_of(WEIGHTS, scales + 1, 2, &message), 4, 0);
    assert_float_equal(factor_of(STATE, scales + 1, 1, &message), 1, 0);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct vt_fit_scale part = scale(VT_FIT_OWNER, parts[i], 4);
        assert_float_equal(factor_of(WEIGHTS, &part, 1, &message), 4, 0);
    }
}

static void names_that_nothing_has(void **state) {
    static const struct {
        enum vt_fit_scope scope;
        const char *name, *says;
    } wrong[] = {{VT_FIT_ROLE, "activation", "activations"},
                 {VT_FIT_OWNER, "mod", "\n  model"},
                 {VT_FIT_SITE, "1100", "vramtrace report"}}; /* of the driver's memory */
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct vt_string message = {0};
        struct vt_fit_scale s = scale(wrong[i].scope, wrong[i].name, 2);
        assert_float_equal(factor_of(WEIGHTS, &s, 1, &message), -1, 0);
        assert_non_null(strstr(message.text, wrong[i].says));
        vt_string_free(&message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles),
        cmocka_unit_test(the_most_specific_wins),
        cmocka_unit_test(names_that_nothing_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
