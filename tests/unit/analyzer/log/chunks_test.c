/* SPDX-License-Identifier: MIT */
/*
 * Where a chunk ends: stacks whose event is in the next one, chunks that another thread took over, zeros
 * where records go on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/analyzer/log_maker.c"
#include "log/log_reader.h"

static const char *const path = maker_path;

/* A page that was never written out, in the middle of a chunk. */
static void zeros_where_records_go_on(void **state) {
    (void)state;
    struct vt_maker m;
    struct vt_log log;
    struct vt_string message = {0};
    maker_start(&m);
    for (unsigned i = 0; i < 1000; i++)
        maker_alloc(&m, 0, 0, 1, 2, 0, 0, 0x7000 + 0x1000 * i, 64, 1);
    memset(m.bytes + VT_CHUNK_BYTES + 4096, 0, 4096);
    assert_int_equal(maker_save(&m, path), 0);
    assert_int_equal(vt_log_open(path, &log, &message), 0);
    assert_int_equal(log.damage_count, 1);
    assert_true(log.damage[0].offset >= VT_CHUNK_BYTES + 4096 - 64);
    assert_true(log.events < 200);
    vt_log_close(&log);
    /* a record that was begun when the process was killed */
    memset(m.bytes + VT_CHUNK_BYTES + 4096, 0, VT_CHUNK_BYTES - 4096);
    memset(m.bytes + VT_CHUNK_BYTES + 5000, 1, 1000);
    assert_int_equal(maker_save(&m, path), 0);
    assert_int_equal(vt_log_open(path, &log, &message), 0);
    assert_int_equal(log.damage_count, 0);
    vt_log_close(&log);
    maker_free(&m);
}

/* A chunk may end between a stack and its event, wherever the records before it happen to end; other
 * threads' chunks come between. The stack lies in the module that was mapped at the event's time. */
static void stacks_at_the_end_of_a_chunk(void **state) {
    (void)state;
    const uint64_t frame = 0x1800;
    for (unsigned entries = 0; entries < 3; entries++) { /* chunks without an event between */
        struct vt_maker m;
        maker_start(&m);
        maker_module(&m, 0, 1, 0x1000, 0x2000, 0, "", 0, "/old.so");
        maker_alloc(&m, 0, 10, 1, 2, 0, 0, 0x7000, 64, 1);
        maker_module(&m, 0, 20, 0x1000, 0x2000, 0, "", 0, "/new.so");
        maker_stack(&m, 0, 1, &frame, 1);
        for (unsigned i = 0; i < entries; i++) {
            m.threads[0].used = VT_CHUNK_BYTES;
            maker_stack(&m, 0, 2 + i, &frame, 1);
        }
        maker_alloc(&m, 1, 5, 1, 2, 0, 0, 0x9000, 64, 1);
        maker_stack(&m, 1, 9, &frame, 1); /* this thread was killed before its event */
        m.threads[0].used = VT_CHUNK_BYTES;
        maker_alloc(&m, 0, 25, 1, 2, 0, 1, 0x8000, 64, 1);
        struct vt_log log;
        struct vt_string message = {0};
        assert_int_equal(maker_save(&m, path), 0);
        assert_int_equal(vt_log_open(path, &log, &message), 0);
        for (uint32_t number = 1; number < 2 + entries; number++)
            assert_int_equal(vt_log_stack(&log, number)->ticks, 25);
        assert_int_equal(vt_log_stack(&log, 9)->ticks, 5);
        assert_string_equal(vt_log_module_at(&log, frame, vt_log_stack(&log, 1)->ticks)->path,
                            "/new.so");
        vt_log_close(&log);
        maker_free(&m);
    }
}

/* A thread that ends leaves its chunk to another, whose next chunk is of its own. */
static void stacks_of_who_took_a_chunk_over(void **state) {
    (void)state;
    const uint64_t frame = 0x1800;
    struct vt_maker m;
    maker_start(&m);
    maker_alloc(&m, 0, 10, 1, 2, 0, 0, 0x7000, 64, 1);
    maker_stack(&m, 0, 1, &frame, 1); /* killed before its event */
    struct vt_rec_thread taken = {.word = vt_word(VT_REC_THREAD, 0, 0, sizeof taken), .tid = 101};
    maker_put(&m, 0, &taken, sizeof taken);
    maker_stack(&m, 0, 2, &frame, 1);
    m.threads[0].used = VT_CHUNK_BYTES;
    maker_alloc(&m, 0, 30, 1, 2, 0, 0, 0x7100, 64, 1); /* another with the first thread's number */
    maker_alloc(&m, 1, 20, 1, 2, 0, 2, 0x8000, 64, 1);
    struct vt_log log;
    struct vt_string message = {0};
    assert_int_equal(maker_save(&m, path), 0);
    assert_int_equal(vt_log_open(path, &log, &message), 0);
    assert_int_equal(vt_log_stack(&log, 1)->ticks, 30);
    assert_int_equal(vt_log_stack(&log, 2)->ticks, 20);
    vt_log_close(&log);
    maker_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeros_where_records_go_on),
        cmocka_unit_test(stacks_at_the_end_of_a_chunk),
        cmocka_unit_test(stacks_of_who_took_a_chunk_over),
    };
    return cmocka_run_group_tests(tests, maker_make_folder, maker_remove_folder);
}
