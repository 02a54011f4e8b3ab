/* SPDX-License-Identifier: MIT */
/*
 * All of the log's hand-overs at once, for ThreadSanitizer (tests/cases/199-sanitizers): threads write, end and are followed by
 * others that take their chunks over; another one reads the mapped log meanwhile, and gives back chunks that are full, as the
 * compactor does; all share a stack table. Each event is read once, whole, and its stack was written before.
 */
#define _GNU_SOURCE
#include "log/log_file.h"

#include <sys/mman.h>

/* The log is mapped once, whole: ThreadSanitizer knows memory by its address. */
enum { BOUND = 4 << 20 };
static char *file;
static void *map(size_t bytes, int protection, int flags, int fd, uint64_t offset) {
    if (!(flags & MAP_SHARED))
        return vt_sys_mmap(bytes, protection, flags, fd, offset);
    if (!file)
        file = mmap(NULL, BOUND, protection, flags, fd, 0);
    return file == MAP_FAILED ? NULL : file + offset;
}
#define vt_sys_mmap           map
#define vt_sys_munmap(at, by) ((void)0)

#include "log/log.c"
#include "log/log_chunks.c"
#include "log/log_free.c"
#include "base/numbering.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <pthread.h>

enum {
    CHUNKS = BOUND / VT_CHUNK_BYTES / 4 * 3,
    WRITERS = 3,
    ROUNDS = 4, /* groups of threads, one after the other */
    EVENTS = 20000,
    STACKS = 500
};

static struct vt_numbering stacks;
static uint32_t stack_of[1u << 15]; /* by number - 1: written before it is marked so */
static uint64_t written;            /* atomic: events */
static bool ended;                  /* atomic */

static void record_one(struct vt_thread *t, uint32_t i) {
    bool fresh;
    uint32_t stack = 1 + i % STACKS;
    vt_log_enter_now(t);
    uint32_t number = vt_numbering_of(&stacks, stack * 0x9e3779b97f4a7c15ull, &fresh);
    if (fresh) {
        vt_put(&stack_of[number - 1], stack);
        vt_numbering_written(&stacks, number);
    }
    assert_int_equal(stack, vt_get(&stack_of[number - 1]));
    const struct vt_rec_alloc a = {
        .word = vt_word(VT_REC_ALLOC, VT_KIND_DEVICE, 1, stack),
        .when = vt_when(0, vt_tls.entered),
        .address = 0x7f0000000000ull + 512ull * stack,
        .size_context = 64ull * stack,
    };
    vt_add(&written, vt_log_alloc(t, &a));
    vt_log_leave(t);
}

static void *write_events(void *unused) {
    (void)unused;
    struct vt_thread *t = vt_thread_self();
    vt_log_enter(t);
    vt_log_leave(t);
    for (uint32_t i = 0; i < EVENTS; i++)
        record_one(t, i);
    return NULL;
}

/* What the reader knows of a chunk. */
static struct {
    uint64_t generation;
    uint32_t end;
} read_of[CHUNKS];
static uint64_t taken, given_back;

static void check(const uint64_t *record, uint64_t word) {
    uint64_t size = 0, stack = 0;
    if (vt_word_type(word) == VT_REC_ALLOC) {
        stack = vt_word_high(word);
        size = record[3] & VT_SIZE_MASK;
    } else if ((vt_word_type(word) & 0xf0) == VT_REC_SHORT_ALLOC) {
        stack = word >> 8 & ((1u << VT_SHORT_STACK) - 1);
        size = record[1] >> VT_SHORT_ADDRESS;
    }
    assert_int_equal(size, 64 * stack);
    taken += stack != 0;
}

/* A full chunk is zeroed behind its header before it is offered. */
static void give_back(struct vt_chunk_header *c, uint32_t number) {
    uint64_t free = vt_free_chunk(read_of[number].generation, number);
    memset(c + 1, 0, VT_CHUNK_BYTES - sizeof *c);
    for (unsigned i = 0; i < VT_FREE_CHUNKS; i++)
        if (!vt_get(&vt_log_header->free_chunks[i])) {
            vt_publish(&vt_log_header->free_chunks[i], free);
            break;
        }
    read_of[number].generation++;
    read_of[number].end = sizeof *c;
    given_back++;
}

static void read_chunk(uint32_t number) {
    struct vt_chunk_header *c = (void *)(file + (uint64_t)number * VT_CHUNK_BYTES);
    if (vt_see(&c->magic) != VT_CHUNK_MAGIC || vt_see(&c->generation) != read_of[number].generation)
        return;
    bool finished = vt_see(&c->finished) == read_of[number].generation + 1;
    uint32_t end = read_of[number].end ? read_of[number].end : sizeof *c;
    uint64_t word;
    while (end + 8 <= VT_CHUNK_BYTES && (word = vt_see((uint64_t *)((char *)c + end)))) {
        check((const uint64_t *)((const char *)c + end), word);
        end += vt_record_length(word);
    }
    read_of[number].end = end;
    if (finished)
        give_back(c, number);
}

static void *read_log(void *unused) {
    (void)unused;
    for (bool last = false; !last;) {
        last = vt_see(&ended);
        for (uint32_t i = 1; i < CHUNKS && i < vt_see(&vt_log_header->placed); i++)
            read_chunk(i);
    }
    return NULL;
}

static void all_at_once(void **state) {
    (void)state;
    pthread_t reader, writer[WRITERS];
    vt_settings.output = "/tmp/vt_log_threads_test.%p.vtl";
    vt_settings.max_log = BOUND;
    vt_log_start_clock();
    assert_true(vt_log_ready());
    unlink(path);
    vt_put(&vt_log_header->summary, 1);
    assert_int_equal(0, pthread_create(&reader, NULL, read_log, NULL));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WRITERS; i++)
            assert_int_equal(0, pthread_create(&writer[i], NULL, write_events, NULL));
        for (int i = 0; i < WRITERS; i++)
            pthread_join(writer[i], NULL);
    }
    vt_publish(&ended, true);
    pthread_join(reader, NULL);
    assert_int_equal(written, taken);
    assert_true(given_back);
    print_message("%llu events, %llu chunks given back\n", (unsigned long long)taken,
                  (unsigned long long)given_back);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
