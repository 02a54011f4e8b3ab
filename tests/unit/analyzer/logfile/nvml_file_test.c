/* SPDX-License-Identifier: MIT */
/*
 * LOG.nvml, read: cut at every byte it is its whole records; bytes that are wrong cost samples and
 * never the log.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/analyzer/log_maker.c"
#include "logfile/nvml_file.h"

#include <stdlib.h>
#include <unistd.h>

enum { SAMPLES = 5, BYTES = 128 + 112 + SAMPLES * 64 };

static char folder[] = "/tmp/vt_nvml_XXXXXX", path[64], beside[80];
static uint8_t file[BYTES];

static int make_folder(void **state) {
    struct vt_maker m;
    struct vt_log log;
    struct vt_string message = {0};
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/log.vtl", folder);
    snprintf(beside, sizeof beside, "%s.nvml", path);
    maker_start(&m);
    maker_alloc(&m, 0, 10, VT_KIND_DEVICE, 2, 0, 1, 0x1000, 512, 0);
    if (maker_save(&m, path) || vt_log_open(path, &log, &message))
        return -1;
    struct vt_nvml_header header = vt_nvml_file_header(&log.header);
    struct vt_rec_gpu gpu = {.word = vt_word(VT_REC_GPU, 0, 0, sizeof gpu), .name = "thing"};
    memcpy(file, &header, sizeof header);
    memcpy(file + sizeof header, &gpu, sizeof gpu);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        struct vt_rec_sample s = {.word = vt_word(VT_REC_SAMPLE, 0, 0, 0),
                                  .when = vt_when(VT_DEVICE_UNKNOWN, 100 - 10 * i),
                                  .own_bytes = i};
        memcpy(file + sizeof header + sizeof gpu + i * sizeof s, &s, sizeof s);
    }
    vt_log_close(&log);
    maker_free(&m);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    unlink(beside);
    return rmdir(folder);
}

static void save(const void *bytes, size_t length) {
    FILE *out = fopen(beside, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, length, out), length);
    assert_int_equal(fclose(out), 0);
}

static void open_log(struct vt_log *log) {
    struct vt_string message = {0};
    assert_int_equal(vt_log_open(path, log, &message), 0);
    assert_int_equal(log->events, 1);
    assert_int_equal(log->last_ticks, 10);
    for (size_t i = 1; i < log->sample_count; i++)
        assert_true(log->samples[i - 1].when <= log->samples[i].when);
}

static void cut_everywhere(void **state) {
    struct vt_log log;
    (void)state;
    for (size_t length = 0; length <= BYTES; length++) {
        save(file, length);
        open_log(&log);
        assert_int_equal(log.note_count, 0);
        assert_int_equal(log.gpu_count, length >= 128 + 112);
        assert_int_equal(log.sample_count, length < 128 + 112 ? 0 : (length - 128 - 112) / 64);
        vt_log_close(&log);
    }
}

/* As long as a chunk: what the end cuts is no damage there either. */
static void cut_at_a_chunk(void **state) {
    static uint8_t bytes[VT_CHUNK_BYTES + 64];
    struct vt_log log;
    size_t length = BYTES;
    (void)state;
    memcpy(bytes, file, BYTES);
    for (; length + 64 <= sizeof bytes; length += 64)
        memcpy(bytes + length, file + BYTES - 64, 64);
    save(bytes, VT_CHUNK_BYTES);
    open_log(&log);
    assert_int_equal(log.note_count, 0);
    assert_int_equal(log.sample_count, (VT_CHUNK_BYTES - 128 - 112) / 64);
    vt_log_close(&log);
}

static void wrong_bytes(void **state) {
    struct vt_log log;
    uint8_t bytes[BYTES];
    (void)state;
    for (size_t at = 0; at < BYTES; at++) {
        memcpy(bytes, file, BYTES);
        bytes[at] ^= (uint8_t)(1u << at % 8 | 0x80);
        save(bytes, BYTES);
        open_log(&log);
        bool of_version = at >= 8 && at < 16;
        if (at < sizeof(struct vt_nvml_header) && !of_version) {
            assert_int_equal(log.sample_count, 0);
            assert_int_equal(log.note_count, 1);
            assert_non_null(strstr(log.notes[0], "log.vtl.nvml"));
        }
        vt_log_close(&log);
    }
    srand(7);
    for (int i = 0; i < 300; i++) {
        memcpy(bytes, file, 128);
        for (size_t at = 128; at < BYTES; at++)
            bytes[at] = (uint8_t)rand();
        save(bytes, BYTES);
        open_log(&log);
        vt_log_close(&log);
    }
}

/* No reader takes in more than a writer puts down. */
static void much_too_long(void **state) {
    struct vt_log log;
    (void)state;
    save(file, BYTES);
    assert_int_equal(truncate(beside, 1ll << 40), 0);
    open_log(&log);
    assert_int_equal(log.sample_count, SAMPLES);
    vt_log_close(&log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_everywhere),
        cmocka_unit_test(cut_at_a_chunk),
        cmocka_unit_test(wrong_bytes),
        cmocka_unit_test(much_too_long),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
