/* SPDX-License-Identifier: MIT */
/*
 * nvml.c against the simulated NVML, and the order of GPUs that an environment gives.
 */
#define _GNU_SOURCE
#include "run/nvml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LIBRARY VT_BUILD_DIR "/sim/nvml/libnvidia-ml.so.1"
#define NONE    UINT32_MAX

static void test_parses_uuids(void **state) {
    uint8_t uuid[16];
    (void)state;
    assert_true(vt_nvml_parse_uuid("GPU-7673696d-0000-4000-8000-0000000000AB", uuid));
    assert_int_equal(uuid[0], 0x76);
    assert_int_equal(uuid[15], 0xab);
    assert_false(vt_nvml_parse_uuid("GPU-7673696d-0000-4000-8000-0000000000", uuid));
    assert_false(vt_nvml_parse_uuid("GPU-7673696d-0000-4000-8000-0000000000ABCD", uuid));
    assert_false(vt_nvml_parse_uuid("MIG-7673696d-0000-4000-8000-0000000000AB", uuid));
    assert_false(vt_nvml_parse_uuid("GPU-7673696x-0000-4000-8000-0000000000AB", uuid));
    assert_false(vt_nvml_parse_uuid("", uuid));
}

static void test_opens_what_is_there(void **state) {
    struct vt_nvml nvml;
    (void)state;
    assert_false(vt_nvml_open("/nowhere/libnvidia-ml.so.1", &nvml));
    assert_false(vt_nvml_open("/dev/null", &nvml));
    setenv("VRAMTRACE_SIM_DEVICES", "0", 1);
    assert_false(vt_nvml_open(LIBRARY, &nvml));
    setenv("VRAMTRACE_SIM_DEVICES", "3", 1);
    setenv("VRAMTRACE_SIM_MEMORY", "2G", 1);
    setenv("VRAMTRACE_SIM_NAME", "thing", 1);
    assert_true(vt_nvml_open(LIBRARY, &nvml));
    assert_int_equal(nvml.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct vt_nvml_gpu *gpu = &nvml.gpus[i];
        assert_int_equal(gpu->number, i);
        assert_string_equal(gpu->name, "thing");
        assert_true(gpu->has_uuid);
        assert_int_equal(gpu->uuid[15], i + 1);
        assert_true(vt_nvml_read(&nvml, i));
        assert_int_equal(gpu->total_bytes, 2ull << 30);
        assert_int_equal(gpu->used_bytes, 0);
        assert_int_equal(gpu->free_bytes, 2ull << 30);
        assert_true(gpu->listed);
        assert_int_equal(gpu->process_count, 0);
    }
    vt_nvml_close(&nvml);
}

static void test_orders_as_cuda_does(void **state) {
#define GPU "GPU-7673696d-0000-4000-8000-00000000000"
    static const struct {
        const char *visible; /* NULL: not set */
        uint32_t ordinals[3];
    } rows[] = {
        {NULL, {0, 1, 2}},
        {"", {NONE, NONE, NONE}},
        {"0", {0, NONE, NONE}},
        {"2,0", {1, NONE, 0}},
        {" 2, 1", {NONE, 1, 0}},
        {"1,7,0", {NONE, 0, NONE}}, /* what names none ends the list */
        {"1,-1,0", {NONE, 0, NONE}},
        {"1,1", {NONE, NONE, NONE}},
        {"x", {NONE, NONE, NONE}},
        {GPU "3," GPU "1", {1, NONE, 0}},
        {GPU "3,0", {1, NONE, 0}},
        {"GPU-76", {NONE, NONE, NONE}}, /* fits all */
        {"MIG-7673696d-0000-4000-8000-000000000001", {NONE, NONE, NONE}},
    };
    struct vt_nvml nvml;
    uint32_t ordinals[VT_NVML_GPUS];
    (void)state;
    setenv("VRAMTRACE_SIM_DEVICES", "3", 1);
    assert_true(vt_nvml_open(LIBRARY, &nvml));
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct vt_string text = {0};
        vt_string_add_bytes(&text, "A=1", 4);
        if (rows[r].visible) {
            vt_string_format(&text, "CUDA_VISIBLE_DEVICES=%s", rows[r].visible);
            vt_string_add_bytes(&text, "", 1);
        }
        vt_nvml_ordinals(&nvml, text.text, text.length, ordinals);
        for (int i = 0; i < 3; i++)
            assert_int_equal(ordinals[i], rows[r].ordinals[i]);
        /* cut off anywhere, it is unset or shorter; nothing after the end is read */
        for (size_t length = 0; length < text.length; length++) {
            char *copy = malloc(length + 1);
            memcpy(copy, text.text, length);
            vt_nvml_ordinals(&nvml, copy, length, ordinals);
            free(copy);
        }
        vt_string_free(&text);
    }
    /* for different GPUs numbers are ambiguous, unless the user set the bus order */
    strcpy(nvml.gpus[1].name, "another");
    static const char plain[] = "CUDA_VISIBLE_DEVICES=2,0";
    vt_nvml_ordinals(&nvml, plain, sizeof plain, ordinals);
    assert_int_equal(ordinals[0], NONE);
    static const char by_bus[] = "CUDA_DEVICE_ORDER=PCI_BUS_ID\0CUDA_VISIBLE_DEVICES=2,0";
    vt_nvml_ordinals(&nvml, by_bus, sizeof by_bus, ordinals);
    assert_int_equal(ordinals[0], 1);
    assert_int_equal(ordinals[2], 0);
    vt_nvml_close(&nvml);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parses_uuids),
        cmocka_unit_test(test_opens_what_is_there),
        cmocka_unit_test(test_orders_as_cuda_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
