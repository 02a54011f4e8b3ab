/* SPDX-License-Identifier: MIT */
/*
 * Chunks that were given back are taken before the file gets longer, and where it may not; what else stands in
 * header.free_chunks does no harm. tests/cases/128-chunks-again does the same with threads and processes.
 */
#define _GNU_SOURCE
#include "log/log.c"
#include "log/log_chunks.c"
#include "log/log_free.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { BOUND = 2 << 20, CHUNKS = BOUND / VT_CHUNK_BYTES / 4 * 3 };

static struct vt_chunk_header *chunks; /* the whole file */
static struct vt_thread *thread;

static struct vt_chunk_header *chunk(uint64_t number) {
    return (void *)((char *)chunks + number * VT_CHUNK_BYTES);
}

static uint64_t dropped(void) {
    return vt_log_header->dropped[VT_DROP_BOUND];
}

static void record(void) {
    const struct vt_rec_fail r = {.word = vt_word(VT_REC_FAIL, 0, 0, 0)};
    vt_log_event(thread, &r, sizeof r);
}

/* Events until the thread has another chunk, or loses one of them. */
static void fill_chunk(void) {
    uint64_t were = dropped();
    uint32_t used;
    do {
        used = thread->used;
        record();
    } while (thread->used > used && dropped() == were);
}

static int start_log(void **state) {
    (void)state;
    vt_settings.output = "/tmp/vt_log_free_test.%p.vtl";
    vt_settings.max_log = BOUND;
    vt_log_start_clock();
    if (!vt_log_ready())
        return -1;
    unlink(path);
    thread = vt_thread_self();
    vt_log_enter(thread);
    chunks = mmap(NULL, BOUND, PROT_READ | PROT_WRITE, MAP_SHARED, log_fd, 0);
    vt_log_header->summary = 1;
    record();
    return chunks == MAP_FAILED ? -1 : 0;
}

static int end_log(void **state) {
    (void)state;
    munmap(chunks, BOUND);
    vt_log_forked();
    unsetenv("VRAMTRACE_TEST_BUFFERED");
    vt_tls.thread = NULL;
    vt_thread_forked();
    return 0;
}

static int start_buffered_log(void **state) {
    setenv("VRAMTRACE_TEST_BUFFERED", "1", 1);
    return start_log(state);
}

static void fill_log(void) {
    while (!dropped())
        fill_chunk();
    assert_int_equal(vt_log_header->chunks, vt_log_bound.events);
}

/* As the compactor does. */
static uint64_t give_back(uint64_t number, unsigned place) {
    struct vt_chunk_header *c = chunk(number);
    assert_true(vt_chunk_is_finished(c));
    memset(c + 1, 0, VT_CHUNK_BYTES - sizeof *c);
    return vt_log_header->free_chunks[place] = vt_free_chunk(c->generation, (uint32_t)number);
}

static bool is_free(unsigned place) {
    return vt_log_header->free_chunks[place] != 0;
}

/* The time goes on until it is looked again whether there are some. */
static void look_again(void) {
    vt_tls.entered += vt_log_second_ticks;
}

static void before_file_gets_longer(void **state) {
    (void)state;
    fill_chunk(); /* the chunk with number 2 */
    fill_chunk(); /* 3 */
    give_back(2, 77);
    uint64_t placed = vt_log_header->placed;
    fill_chunk();
    assert_int_equal(thread->chunk->number, 2);
    assert_int_equal(chunk(2)->generation, 1);
    assert_false(vt_chunk_is_finished(chunk(2)));
    assert_false(is_free(77));
    fill_chunk();
    assert_int_equal(vt_log_header->placed, placed + 1);
    assert_true(vt_chunk_is_finished(chunk(2)));
    give_back(2, 0);
    fill_chunk();
    assert_int_equal(chunk(2)->generation, 2);
}

/* What a killed compactor and its follower leave, and what none would write. */
static void only_once(void **state) {
    (void)state;
    fill_chunk();
    fill_chunk();
    uint64_t word = give_back(2, 1), *words = vt_log_header->free_chunks;
    words[0] = vt_free_chunk(7, 2);
    words[2] = words[9] = word;
    words[3] = 5ull << 32;             /* the header */
    words[4] = vt_free_chunk(0, 1);    /* slots */
    words[5] = vt_free_chunk(0, 1000); /* not there */
    words[6] = vt_free_chunk(UINT32_MAX, UINT32_MAX);
    fill_chunk();
    assert_int_equal(thread->chunk->number, 2);
    assert_true(!is_free(0) && !is_free(1) && is_free(2));
    fill_chunk();
    assert_int_equal(thread->chunk->number, 5);
    for (unsigned i = 0; i < VT_FREE_CHUNKS; i++)
        assert_false(is_free(i));
    assert_int_equal(chunk(2)->generation, 1);
    assert_int_equal(chunk(3)->generation, 0);
}

static void at_bound(void **state) {
    (void)state;
    fill_log();
    uint64_t first = vt_log_header->bound_at;
    assert_int_equal(first, vt_log_header->first_drop);
    assert_true(vt_log_is_at_bound());
    assert_int_equal(vt_log_bound.kept_free, 1);
    give_back(2, 5);
    look_again();
    assert_true(vt_log_is_at_bound()); /* the last one is for stacks and names */
    give_back(3, 6);
    assert_true(vt_log_is_at_bound()); /* not looked again yet */
    look_again();
    assert_false(vt_log_is_at_bound());
    uint64_t were = dropped();
    assert_int_equal(vt_log_header->bound_at, first);
    look(vt_log_ticks());
    assert_int_equal(vt_log_header->bound_at, 0);
    assert_int_equal(vt_log_header->first_drop, first);
    fill_chunk();
    assert_int_equal(dropped(), were);
    assert_int_equal(thread->chunk->number, 2);
    fill_chunk();
    assert_int_equal(dropped(), were + 1);
    assert_true(vt_log_header->bound_at > first);
    assert_true(is_free(6));
    char text[1000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    vt_log_note(text); /* no event */
    assert_int_equal(thread->chunk->number, 3);
    assert_int_equal(vt_log_header->chunks, vt_log_bound.events);
}

/* Chunks reserved for the end stay reserved: events do not get their numbers. */
static void kept_for_end(void **state) {
    (void)state;
    fill_log();
    give_back(2, 0);
    give_back(3, 1);
    look_again();
    fill_chunk();
    fill_chunk();
    assert_true(vt_log_bound.now < CHUNKS);
    assert_int_equal(vt_log_header->chunks, vt_log_bound.events);
    vt_log_ends(true);
    struct vt_log_live_chunk *live = vt_log_next_live(NULL, true);
    assert_non_null(live);
    assert_true(live->number >= vt_log_bound.events);
    vt_log_next_live(live, false);
}

static void not_buffered(void **state) {
    (void)state;
    uint64_t number = thread->chunk->number;
    fill_chunk();
    vt_log_header->free_chunks[0] = vt_free_chunk(0, (uint32_t)number);
    fill_chunk();
    assert_int_equal(thread->chunk->number, number + 2);
    assert_true(is_free(0));
}

static void not_without_summary(void **state) {
    (void)state;
    fill_chunk();
    fill_chunk();
    give_back(2, 0);
    vt_log_header->summary = 0;
    fill_chunk();
    assert_int_equal(thread->chunk->number, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(before_file_gets_longer, start_log, end_log),
        cmocka_unit_test_setup_teardown(only_once, start_log, end_log),
        cmocka_unit_test_setup_teardown(at_bound, start_log, end_log),
        cmocka_unit_test_setup_teardown(kept_for_end, start_log, end_log),
        {"not_buffered", not_buffered, start_buffered_log, end_log, NULL},
        cmocka_unit_test_setup_teardown(not_without_summary, start_log, end_log)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
