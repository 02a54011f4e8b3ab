/* SPDX-License-Identifier: MIT */
/*
 * ALLOC, FREE and STACK records come back from the log as they went in, whether they were written short or long: at every
 * field's limits, by chance, from chunk to chunk, and where a signal handler has jumped out in between. The real writer
 * writes, the analyzer's own code reads.
 */
#define _GNU_SOURCE
#include "base/atomic.h"

#include <stdint.h>

/* A handler may jump out at any store; it is tried at each one whose order matters. */
static void (*at_store)(void);
static inline void store_done(void) {
    if (at_store)
        at_store();
}
#undef vt_put
#undef vt_publish
#define vt_put(p, v)     (__atomic_store_n((p), (v), __ATOMIC_RELAXED), store_done())
#define vt_publish(p, v) (__atomic_store_n((p), (v), __ATOMIC_RELEASE), store_done())

#include "log/log.c"
#include "log/log_short.c"

#include "analyzer/logfile/short_records.c"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* The written records, in order. */
static struct written {
    uint64_t words[4]; /* of an ALLOC or FREE; of a STACK its first two */
    uint32_t bytes;
    uint64_t *frames; /* for a STACK, else NULL */
    bool unsure;      /* it was jumped out of: it may be there or not */
} * written;
static size_t written_count, written_room;

static uint64_t random_state;

static uint64_t any(void) {
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return random_state >> 20 ^ random_state << 31;
}

static uint64_t one_of(const uint64_t *numbers, size_t count) {
    return numbers[any() % count];
}
#define ONE_OF(...)                                                                                \
    one_of((const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

/* --- the log --- */

static int start_log(void **state) {
    (void)state;
    vt_settings.output = "/tmp/vt_log_short_test.%p.vtl";
    vt_log_start_clock();
    bool open = vt_log_ready();
    unlink(path);
    if (open)
        vt_log_enter(vt_thread_self());
    return open ? 0 : -1;
}

static int start_buffered_log(void **state) {
    setenv("VRAMTRACE_TEST_BUFFERED", "1", 1);
    return start_log(state);
}

static int end_log(void **state) {
    (void)state;
    vt_log_forked();
    unsetenv("VRAMTRACE_TEST_BUFFERED");
    for (size_t i = 0; i < written_count; i++)
        free(written[i].frames);
    free(written);
    written = NULL;
    written_count = written_room = 0;
    vt_tls.thread = NULL;
    vt_thread_forked();
    return 0;
}

static bool is_watched(const uint8_t *record) {
    return *record == VT_REC_ALLOC || *record == VT_REC_FREE || *record == VT_REC_STACK;
}

static bool is_same(const uint8_t *record, uint32_t length, const struct written *w) {
    uint32_t first = w->frames ? 16 : w->bytes;
    return length == w->bytes && !memcmp(record, w->words, first) &&
           (!w->frames || !memcmp(record + first, w->frames, length - first));
}

/* Reads the log and compares; returns its bytes in the short form. */
static uint64_t expect_all(void) {
    static uint8_t raw[VT_CHUNK_BYTES], bytes[VT_LONG_CHUNK_BYTES];
    uint64_t used = 0;
    size_t at = 0;
    vt_log_end(VT_EXIT_EXITED, 0);
    for (off_t offset = VT_CHUNK_BYTES; pread(log_fd, raw, sizeof raw, offset) == sizeof raw;
         offset += VT_CHUNK_BYTES) {
        struct vt_short_records records;
        if (!memcmp(raw, &(uint32_t){VT_SLOTS_MAGIC}, 4))
            continue;
        const char *what;
        uint32_t length;
        vt_short_records_start(&records, raw, sizeof raw);
        uint32_t end = vt_short_records_all(&records, bytes);
        assert_null(records.what);
        used += records.offset - sizeof(struct vt_chunk_header);
        for (uint32_t i = sizeof(struct vt_chunk_header);
             i < end && (length = vt_log_next(bytes, i, end, &what)); i += length) {
            if (!is_watched(bytes + i))
                continue;
            while (at < written_count && written[at].unsure &&
                   !is_same(bytes + i, length, &written[at]))
                at++;
            assert_true(at < written_count);
            assert_true(is_same(bytes + i, length, &written[at]));
            at++;
        }
    }
    while (at < written_count && written[at].unsure)
        at++;
    assert_int_equal(at, written_count);
    return used;
}

static struct written *note(uint32_t bytes) {
    if (written_count == written_room) {
        written_room = written_room ? 2 * written_room : 4096;
        written = realloc(written, written_room * sizeof *written);
        assert_non_null(written);
    }
    struct written *w = &written[written_count++];
    *w = (struct written){.bytes = bytes, .unsure = true};
    return w;
}

static void write_one(struct vt_rec_alloc record) {
    struct written *w = note(vt_record_bytes(vt_word_type(record.word)));
    memcpy(w->words, &record, sizeof w->words);
    if (vt_word_type(record.word) == VT_REC_ALLOC) {
        vt_log_alloc(vt_thread_self(), &record);
    } else {
        struct vt_rec_free gone = {record.word, record.when, record.address};
        vt_log_free(vt_thread_self(), &gone);
    }
    written[written_count - 1].unsure = false;
}

static void write_stack(uint32_t number, uint16_t flags, const uint64_t *frames, uint32_t count) {
    struct written *w = note((uint32_t)sizeof(struct vt_rec_stack) + 8 * count);
    w->frames = malloc(8 * (size_t)count + 1);
    memcpy(w->frames, frames, 8 * (size_t)count);
    w->words[0] = vt_word(VT_REC_STACK, 0, 0, w->bytes);
    w->words[1] = number | (uint64_t)count << 32 | (uint64_t)flags << 48;
    vt_log_stack(vt_thread_self(), number, flags, frames, count);
    written[written_count - 1].unsure = false;
}

/* --- records --- */

static struct vt_rec_alloc an_alloc(uint64_t ticks, uint64_t address, uint64_t size,
                                    uint32_t stack) {
    return (struct vt_rec_alloc){vt_word(VT_REC_ALLOC, VT_KIND_DEVICE, 1000, stack),
                                 vt_when(0, ticks), address, size};
}

static struct vt_rec_alloc a_free(uint64_t ticks, uint64_t address) {
    return (struct vt_rec_alloc){vt_word(VT_REC_FREE, VT_KIND_DEVICE, 1001, 0), vt_when(0, ticks),
                                 address, 0};
}

/* Realistic records, with every field at its limits and beyond. */
static struct vt_rec_alloc random_record(uint64_t *ticks) {
    bool odd = any() % 8 == 0, is_free = any() & 1;
    unsigned devices = any() % 4 == 0 ? 64 : 2;
    uint64_t since = any() % 5000;
    if (odd)
        since = ONE_OF(0, 1, (1 << 22) - 1, 1 << 22, (1 << 22) + 1, UINT32_MAX, 1ull << 32,
                       0 - 1ull, 0 - 100000ull, 1ull << 40);
    *ticks = (*ticks + since) & VT_TICKS_MASK;
    uint64_t address = (any() & 0x3fffffff) << VT_SHORT_ALIGNED | (any() & 1) << VT_SHORT_WINDOW;
    if (odd && any() & 1)
        address = ONE_OF(0, 1, 8, 16, (1ull << 38) - 16, 1ull << 38, (1ull << 54) - 16, 1ull << 54,
                         (1ull << 57) - 16, UINT64_MAX, UINT64_MAX - 15);
    uint64_t size = any() & 0xffffff;
    if (odd && any() & 1)
        size = ONE_OF(0, 1, (1 << 30) - 1, 1 << 30, (1 << 30) + 1, VT_SIZE_MASK);
    uint32_t stack = (uint32_t)(any() % 1000);
    if (odd && any() & 1)
        stack = (uint32_t)ONE_OF(0, 1 << 22, (1 << 24) - 1, 1 << 24, UINT32_MAX);
    unsigned kind = any() & 1 ? VT_KIND_DEVICE : VT_KIND_BLOCK, device = any() % devices;
    if (is_free)
        return (struct vt_rec_alloc){
            vt_word(VT_REC_FREE, kind, 1001, odd && any() % 4 == 0 ? stack : 0),
            vt_when(device, *ticks), address, 0};
    return (struct vt_rec_alloc){vt_word(VT_REC_ALLOC, kind, 1000, stack), vt_when(device, *ticks),
                                 address, size | (any() & 1) << 48};
}

/* A stack of some of 3,000 frames, or of one again and again; of as many as there may be. */
static void write_random_stack(void) {
    enum { FRAMES_MOST = (VT_RECORD_MAX_BYTES - sizeof(struct vt_rec_stack)) / 8 };
    uint64_t frames[FRAMES_MOST], few = any() % 4 ? 3000 : 1;
    uint32_t count = (uint32_t)(any() % 40);
    if (any() % 16 == 0)
        count = (uint32_t)ONE_OF(0, 1, FRAMES_MOST - 1, FRAMES_MOST);
    for (uint32_t i = 0; i < count; i++)
        frames[i] = any() % 100 == 0 ? any() : any() % few * 0x1234567;
    write_stack((uint32_t)any(), (uint16_t)(any() & 7), frames, count);
}

/* Any other record, which takes no part. */
static void write_other(void) {
    struct vt_rec_meminfo *r = (void *)vt_log_reserve(vt_thread_self(), sizeof *r);
    assert_non_null(r);
    r->when = vt_when(0, any() & VT_TICKS_MASK);
    r->free_bytes = r->total_bytes = any();
    vt_log_commit(vt_thread_self(), &r->word, vt_word(VT_REC_MEMINFO, 0, 1, 0), sizeof *r);
}

/* The records that a reader finds if the process is killed now: whole ones, the last of them among the last written. */
static void expect_readable(void) {
    static uint8_t bytes[VT_LONG_CHUNK_BYTES];
    const uint8_t *chunk = (const uint8_t *)vt_thread_self()->chunk;
    struct vt_short_records records;
    const char *what;
    uint32_t length, last = 0, last_length = 0;
    if (!chunk)
        return;
    vt_short_records_start(&records, chunk, VT_CHUNK_BYTES);
    uint32_t end = vt_short_records_all(&records, bytes);
    assert_null(records.what);
    for (uint32_t i = sizeof(struct vt_chunk_header);
         i < end && (length = vt_log_next(bytes, i, end, &what)); i += length)
        if (is_watched(bytes + i))
            last = i, last_length = length;
    if (!last)
        return;
    for (size_t i = written_count; i-- > 0;) {
        if (is_same(bytes + last, last_length, &written[i]))
            return;
        assert_true(written[i].unsure || i + 1 == written_count);
    }
}

/* --- tests --- */

static void limits(void **state) {
    (void)state;
    uint64_t t = 1000;
    static const uint64_t big = 1ull << VT_SHORT_SIZE, far = 1ull << (VT_SHORT_WINDOW + 16);
    const uint64_t later = t + UINT32_MAX, much_later = later + (1ull << 32),
                   freed = much_later + (1 << 22) - 1;
    const struct vt_rec_alloc records[] = {
        an_alloc(t, 0x7f0000000000, 512, 1),
        an_alloc(t, 0x7f0000000010, big - 1, (1 << 24) - 1),
        an_alloc(t, 0x7f0000000020, big, 1),
        an_alloc(t, 0x7f0000000030, 1, 1 << 24),
        an_alloc(t, 0x7f0000000038, 1, 1),
        an_alloc(t, far - 16, 1, 1),
        an_alloc(t, far, 1, 1),
        an_alloc(later, 0x7f0000000000, 0, 0),
        an_alloc(much_later, 0x7f0000000000, 0, 0),
        a_free(freed, 0x7f0000000000),
        a_free(freed + (1 << 22), 0x7f0000000000),
        a_free(freed + (1 << 22) - 1, 0x7f0000000000),
        a_free(freed + (1 << 22) - 1, far - 16),
        a_free(freed + (1 << 22) - 1, far),
        a_free(freed + (1 << 22) - 1, 0x7f0000000001),
        a_free(VT_TICKS_MASK, 16),
        a_free(0, 16),
    };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        write_one(records[i]);
    expect_all();
}

/* A loop's pair takes 24 bytes, wherever its memory lies. */
static void how_short(void **state) {
    (void)state;
    enum { PAIRS = 20000 };
    for (uint64_t i = 0, t = 0; i < PAIRS; i++) {
        write_one(an_alloc(t += 1000, 0x7f0000000000 + any() % (1 << 20) * 512, any() % (1 << 28),
                           (uint32_t)(any() % 10000)));
        write_one(a_free(t += 100, 0x7f0000000000 + any() % (1 << 20) * 512));
    }
    assert_in_range(expect_all(), 24 * PAIRS, 24 * PAIRS + PAIRS / 4);
}

static void by_chance(void **state) {
    (void)state;
    uint64_t ticks = 0;
    for (unsigned i = 0; i < 200000; i++) {
        write_one(random_record(&ticks));
        if (any() % 50 == 0)
            write_other();
        if (any() % 50 == 0)
            write_random_stack();
    }
    expect_all();
}

/* A stack takes 16 bytes, and 2 for each frame that was there before. */
static void how_short_stacks(void **state) {
    (void)state;
    enum { STACKS = 10000, FRAMES = 36 };
    uint64_t frames[FRAMES];
    for (uint32_t i = 1; i <= STACKS; i++) {
        for (unsigned k = 0; k < FRAMES; k++)
            frames[k] = 0x7f0000400000 + 64 * k + any() % 2;
        write_stack(i, 0, frames, FRAMES);
    }
    uint64_t used = expect_all();
    assert_in_range(used, 88 * STACKS, 92 * STACKS);
}

/* --- signal handlers that jump out --- */

static jmp_buf out;
static unsigned stores_left;

/* From one chunk to the next, signals are held back. */
static bool are_signals_held(void) {
    sigset_t held;
    return sigprocmask(SIG_BLOCK, NULL, &held) == 0 && sigismember(&held, SIGTERM) == 1;
}

static void maybe_jump(void) {
    if (stores_left-- == 0 && !are_signals_held()) {
        at_store = NULL;
        longjmp(out, 1);
    }
}

static void jumped_out_of(void **state) {
    (void)state;
    static uint64_t ticks;
    ticks = 0;
    write_other();
    static unsigned i;
    for (i = 0; i < 100000; i++) {
        const struct vt_rec_alloc record = random_record(&ticks);
        stores_left = any() % 3 ? UINT32_MAX : (unsigned)(any() % 16);
        at_store = maybe_jump;
        bool of_stack = any() % 8 == 0;
        if (setjmp(out))
            vt_log_abandon(vt_thread_self());
        else if (of_stack)
            write_random_stack();
        else
            write_one(record);
        at_store = NULL;
        if (i % 8 == 0)
            expect_readable();
    }
    expect_all();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(limits, start_log, end_log),
        cmocka_unit_test_setup_teardown(how_short, start_log, end_log),
        cmocka_unit_test_setup_teardown(how_short_stacks, start_log, end_log),
        cmocka_unit_test_setup_teardown(by_chance, start_log, end_log),
        {"by_chance_buffered", by_chance, start_buffered_log, end_log, NULL},
        cmocka_unit_test_setup_teardown(jumped_out_of, start_log, end_log)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
