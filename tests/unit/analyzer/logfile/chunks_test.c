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
#include "logfile/log_reader.h"

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
    maker_unended(&m);
    assert_int_equal(maker_save(&m, path), 0);
    assert_int_equal(vt_log_open(path, &log, &message), 0);
    assert_int_equal(log.damage_count, 0);
    vt_log_close(&log);
    maker_free(&m);
}

static void expect_damage(const struct vt_maker *m, size_t offset, const char *what) {
    struct vt_log log;
    struct vt_string message = {0};
    assert_int_equal(maker_save((struct vt_maker *)m, path), 0);
    assert_int_equal(vt_log_open(path, &log, &message), 0);
    assert_int_equal(log.damage_count, what != NULL);
    if (what) {
        assert_int_equal(log.damage[0].offset, offset);
        assert_string_equal(log.damage[0].what, what);
    }
    vt_log_close(&log);
}

static struct vt_chunk_header *header_of(struct vt_maker *m, unsigned chunk) {
    return (struct vt_chunk_header *)(m->bytes + (size_t)chunk * VT_CHUNK_BYTES);
}

static void three_chunks(struct vt_maker *m) {
    maker_start(m);
    for (unsigned thread = 0; thread < 3; thread++)
        for (unsigned i = 0; i < 1500; i++)
            maker_alloc(m, thread, 0, 1, 2, 0, 0, (thread + 1) * 0x7000000 + 0x1000 * i, 64, 1);
}

static void a_page_instead_of_a_header(void **state) {
    (void)state;
    struct vt_maker m;
    three_chunks(&m);
    expect_damage(&m, 0, NULL);
    memset(header_of(&m, 2), 0, 4096);
    expect_damage(&m, 2 * VT_CHUNK_BYTES, "a chunk's magic");
    maker_unended(&m); /* its header may have been written long before */
    expect_damage(&m, 0, NULL);
    maker_free(&m);
}

/* A thread may have ended before it took its chunk, then it had announced an event; or wait for space. */
static void chunks_of_zeroes(void **state) {
    (void)state;
    const struct {
        unsigned zeroes, announced, dropped;
        bool unended, lost;
        uint32_t flags;
    } rows[] = {{.zeroes = 1, .lost = true},
                {.zeroes = 1, .announced = 1},
                {.zeroes = 2, .announced = 1, .lost = true},
                {.zeroes = 2, .announced = 2},
                {.zeroes = 1, .unended = true},
                {.zeroes = 1, .flags = VT_FLAG_BUFFERED},
                {.zeroes = 1, .dropped = 1 << VT_DROP_LOG_FULL},
                {.zeroes = 1, .dropped = 1 << VT_DROP_UNKNOWN, .lost = true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vt_maker m;
        three_chunks(&m);
        size_t slot = maker_slot(&m, 0);
        for (unsigned k = 0; k < rows[i].announced;
             k++) /* of threads at their first event: no tid */
            ((struct vt_log_slot *)(m.bytes + slot))[k] = (struct vt_log_slot){.entered_at = 7};
        for (unsigned k = 0; k < rows[i].zeroes; k++)
            memset(header_of(&m, 3 - k), 0, VT_CHUNK_BYTES);
        maker_header(&m)->flags |= rows[i].flags;
        for (unsigned k = 0; k < VT_DROP_REASONS; k++)
            maker_header(&m)->dropped[k] = rows[i].dropped >> k & 1;
        if (rows[i].unended)
            maker_unended(&m);
        expect_damage(&m, (4 - rows[i].zeroes) * VT_CHUNK_BYTES,
                      rows[i].lost ? "a chunk's magic" : NULL);
        for (unsigned k = 0; k < rows[i].zeroes; k++) /* they had space, and were for the end */
            header_of(&m, 3 - k)->number = 3 - k;
        expect_damage(&m, 0, NULL);
        maker_header(&m)->placed = 2; /* as long as that is known */
        memset(header_of(&m, 3), 0, VT_CHUNK_BYTES);
        expect_damage(&m, 0, NULL);
        maker_free(&m);
    }
}

/* Entries of the live list have no record's header; without a thread's fields, it is one of these. */
static void a_header_without_its_magic(void **state) {
    (void)state;
    struct vt_maker m;
    three_chunks(&m);
    header_of(&m, 2)->magic = 0;
    expect_damage(&m, 2 * VT_CHUNK_BYTES, "a chunk's magic");
    header_of(&m, 2)->tid = 0;
    expect_damage(&m, 0, NULL);
    maker_free(&m);
}

static void a_chunk_in_another_ones_place(void **state) {
    (void)state;
    struct vt_maker m;
    three_chunks(&m);
    memcpy(header_of(&m, 2), header_of(&m, 1), VT_CHUNK_BYTES);
    expect_damage(&m, 2 * VT_CHUNK_BYTES, "a chunk's number");
    maker_free(&m);
}

/* A finished chunk is full, with nothing begun after its end; nor in any chunk, if no thread had announced an event. */
static void zeroes_at_the_end_of_a_chunk(void **state) {
    (void)state;
    struct vt_maker m;
    maker_start(&m);
    for (unsigned i = 0; i < 3000; i++)
        maker_alloc(&m, 0, 0, 1, 2, 0, 0, 0x7000000 + 0x1000 * i, 64, 1);
    struct vt_log_slot *slot = (struct vt_log_slot *)(m.bytes + maker_slot(&m, 0));
    size_t middle = VT_CHUNK_BYTES + 32768;
    memset(m.bytes + middle, 0, 32768);
    expect_damage(&m, 0, NULL);
    header_of(&m, 1)->finished = 1;
    expect_damage(&m, middle, "the first word of a record");
    m.bytes[middle + 100] = 1;
    expect_damage(&m, middle, "the first word of a record");
    m.bytes[middle + 100] = 0;
    header_of(&m, 1)->finished = 0;
    m.bytes[middle + 100] = 1;
    expect_damage(&m, middle, "the first word of a record");
    slot->entered_at = 7;
    expect_damage(&m, 0, NULL);
    maker_free(&m);
}

/* A record that had no room may have been as long as one can be. */
static void a_full_chunk(void **state) {
    (void)state;
    struct vt_maker m;
    maker_start(&m);
    while (m.threads[0].used + VT_RECORD_MAX_BYTES < VT_CHUNK_BYTES)
        maker_alloc(&m, 0, 0, 1, 2, 0, 0, 0x7000000 + m.ticks, 64, 1);
    header_of(&m, 1)->finished = 1;
    expect_damage(&m, 0, NULL);
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
        cmocka_unit_test(a_page_instead_of_a_header),
        cmocka_unit_test(chunks_of_zeroes),
        cmocka_unit_test(a_header_without_its_magic),
        cmocka_unit_test(a_chunk_in_another_ones_place),
        cmocka_unit_test(zeroes_at_the_end_of_a_chunk),
        cmocka_unit_test(a_full_chunk),
        cmocka_unit_test(stacks_at_the_end_of_a_chunk),
        cmocka_unit_test(stacks_of_who_took_a_chunk_over),
    };
    return cmocka_run_group_tests(tests, maker_make_folder, maker_remove_folder);
}
