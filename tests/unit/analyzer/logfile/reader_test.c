/* SPDX-License-Identifier: MIT */
/*
 * The reader trusts nothing: logs cut at every byte, with flipped bits, of random bytes, of other
 * versions. Everything that opens is also built into a model and written in every format, because
 * damage that passes the reader must not hurt behind it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "build.h"
#include "report/formats.h"
#include "tests/unit/analyzer/log_maker.c"
#include "logfile/log_reader.h"
#include "logfile/merge.h"
#include "logfile/sites.h"
#include "replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static const char *const path = maker_path;

static void save_bytes(const uint8_t *bytes, size_t length) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, length, out), length);
    assert_int_equal(fclose(out), 0);
}

#define ADDRESS_BITS(address) ((address) >> VT_SHORT_ALIGNED & ((1ull << VT_SHORT_ADDRESS) - 1))
#define SHORT_FREE(slot, since, address)                                                           \
    { {VT_REC_SHORT_FREE | (slot) | (uint64_t)(since) << 8 | ADDRESS_BITS(address) << 30}, 8 }
#define SHORT_ALLOC(slot, stack, since, address, size)                                             \
    {                                                                                              \
        {VT_REC_SHORT_ALLOC | (slot) | (stack) << 8 | (uint64_t)(since) << 32,                     \
         ADDRESS_BITS(address) | (uint64_t)(size) << VT_SHORT_ADDRESS},                            \
            16                                                                                     \
    }
#define TEMPLATE(slot, kind, device, hook, context, high)                                          \
    {                                                                                              \
        {VT_REC_TEMPLATE | 24ull << 32,                                                            \
         (device) | (kind) << 8 | (hook) << 16 | (uint64_t)(context) << 32 |                       \
             (uint64_t)(high) << 48,                                                               \
         slot},                                                                                    \
            24                                                                                     \
    }

/* Behind an ALLOC at the time 50. The last free's template has taken the slot of the first one's. */
static const struct {
    uint64_t words[3];
    uint32_t bytes;
} small_short[] = {TEMPLATE(3, VT_KIND_DEVICE, 2, 1000, 5, 0x7f),
                   TEMPLATE(15, VT_KIND_DEVICE, 2, 1001, 0, 0x7f),
                   SHORT_ALLOC(3, 1, 4, 0x12345678f0, 1000),
                   SHORT_FREE(15, 1, 0x12345678f0),
                   SHORT_ALLOC(3, 1, 0, 0x3ffffffff0, (1 << VT_SHORT_SIZE) - 1),
                   TEMPLATE(15, VT_KIND_POOL, 1, 12, 0, 0),
                   SHORT_FREE(15, 5, 0x2000)};
enum { SMALL_EVENTS = 20 };

/* A small log with a record of every type. Records lie in the first bytes of each chunk. */
static void make_small(struct vt_maker *m) {
    uint64_t frames[] = {0x400100, 0x400200, vt_frame_python(1, 7), 0x700000};
    struct vt_rec_note note = {vt_word(VT_REC_NOTE, 0, 0, 24), 5, 0};
    uint8_t note_record[24] = {0};
    struct vt_rec_object object = {vt_word(VT_REC_OBJECT, VT_OBJECT_CONTEXT, 30, 1), vt_when(0, 2),
                                   77, 0, 0};
    struct vt_rec_free_fail refused = {vt_word(VT_REC_FREE_FAIL, 1, 7, 1), vt_when(0, 900), 5, 1,
                                       0};
    memcpy(note_record, &note, sizeof note);
    memcpy(note_record + sizeof note, "hello", 5);
    maker_start(m);
    maker_module(m, 0, 1, 0x400000, 0x500000, 0x400000, "\1\2\3\4", 4, "/nowhere/program");
    maker_code(m, 0, 1, 3, "f", "/nowhere/x.py");
    maker_stack(m, 0, 1, frames, 4);
    maker_device(m, 0, 0, 1 << 30, "GPU");
    maker_put(m, 0, note_record, sizeof note_record);
    maker_put(m, 0, &object, sizeof object);
    for (uint64_t i = 0; i < 6; i++)
        maker_alloc(m, i & 1, 10 + i, VT_KIND_DEVICE, 2, 0, 1, 0x1000 + i * 512, 512, 0);
    maker_alloc(m, 0, 20, VT_KIND_HOST, 16, VT_DEVICE_HOST, 1, 0x1000, 4096, 0);
    maker_alloc(m, 0, 21, VT_KIND_BLOCK, 2, 0, 1, 0x1000, 256, 0);
    maker_alloc(m, 0, 22, VT_KIND_MANAGED, 5, 0, 1, 0x9000, 4096, 0);
    maker_free_at(m, 1, 30, VT_KIND_DEVICE, 0x1000);
    maker_fail(m, 0, 31, 0, 1, 1ull << 31, 2);
    maker_meminfo(m, 0, 32, 0, 1 << 29, 1 << 30);
    maker_put(m, 0, &refused, sizeof refused);
    maker_bulk(m, 1, 40, 0, false);
    maker_alloc(m, 1, 50, VT_KIND_POOL, 8, 1, 1, 0x2000, 1024, 1);
    for (size_t i = 0; i < sizeof small_short / sizeof *small_short; i++)
        maker_put(m, 1, small_short[i].words, small_short[i].bytes);
}

/* Opens, builds, writes. Returns the open's result; the model's facts through `events` and
 * `complete`. */
static int read_all(uint64_t *events, bool *complete) {
    const char *logs[] = {path};
    struct vt_model_options options = {.device = -1};
    struct vt_format_options how = {.native = true};
    struct vt_model model;
    struct vt_string message = {0};
    int error = vt_build_model(logs, 1, &options, &model, &message);
    if (error) {
        assert_non_null(message.text);
        assert_non_null(strstr(message.text, path));
        vt_string_free(&message);
        return error;
    }
    assert_null(message.text);
    FILE *out = fopen("/dev/null", "w");
    for (const struct vt_format *f = vt_formats; f->name; f++)
        assert_int_equal(f->write(&model, &how, out), 0);
    fclose(out);
    *events = model.processes[0].events;
    *complete = model.processes[0].quality.complete;
    vt_build_free(&model);
    return 0;
}

static void whole_log(void **state) {
    struct vt_maker m;
    uint64_t events;
    bool complete;
    (void)state;
    make_small(&m);
    assert_int_equal(maker_save(&m, path), 0);
    assert_int_equal(read_all(&events, &complete), 0);
    assert_int_equal(events, SMALL_EVENTS);
    assert_true(complete);
    maker_free(&m);
}

/* Cut at every byte: before the header's end an error that says so, behind it a report that is
 * never called complete. */
static void cut_everywhere(void **state) {
    struct vt_maker m;
    uint64_t events, most = 0;
    bool complete;
    (void)state;
    make_small(&m);
    save_bytes(m.bytes, m.length);
    for (size_t length = m.length; length-- > 0;) {
        size_t in_chunk = length % VT_CHUNK_BYTES;
        /* between the last record of a chunk and its end only zeros are lost */
        if (length > sizeof(struct vt_log_header) && in_chunk > 2048 &&
            in_chunk < VT_CHUNK_BYTES - 2)
            length -= 509;
        assert_int_equal(truncate(path, (off_t)length), 0);
        int error = read_all(&events, &complete);
        assert_int_equal(error, length < sizeof(struct vt_log_header) ? -EINVAL : 0);
        if (error)
            continue;
        assert_false(complete);
        assert_true(events <= SMALL_EVENTS);
        most = events > most ? events : most;
    }
    assert_int_equal(most, SMALL_EVENTS);
    maker_free(&m);
}

static uint64_t random_state;
static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

/* Random bytes in random places of the parts that hold something, 1 to 8 at a time. */
static void flipped_bytes(void **state) {
    struct vt_maker m;
    uint64_t events;
    bool complete;
    (void)state;
    make_small(&m);
    uint8_t *bytes = malloc(m.length);
    assert_non_null(bytes);
    random_state = 20261121;
    unsigned opened = 0;
    for (int round = 0; round < 4000; round++) {
        memcpy(bytes, m.bytes, m.length);
        for (uint64_t n = next_random() % 8 + 1; n; n--) {
            size_t chunk = next_random() % (m.length / VT_CHUNK_BYTES);
            size_t at = chunk * VT_CHUNK_BYTES + next_random() % (chunk ? 1200 : 480);
            bytes[at] = next_random() % 4 ? (uint8_t)next_random() : next_random() % 2 ? 0xff : 0;
        }
        save_bytes(bytes, m.length);
        opened += !read_all(&events, &complete);
    }
    assert_true(opened > 1000);
    free(bytes);
    maker_free(&m);
}

static void random_bytes(void **state) {
    uint8_t bytes[70000];
    uint64_t events;
    bool complete;
    (void)state;
    random_state = 42;
    for (int round = 0; round < 50; round++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)next_random();
        save_bytes(bytes, sizeof bytes - (size_t)round);
        assert_int_equal(read_all(&events, &complete), -EINVAL);
        /* and with a good header in front of them */
        struct vt_maker m;
        maker_start(&m);
        memcpy(bytes, m.bytes, sizeof(struct vt_log_header));
        uint32_t magic = VT_CHUNK_MAGIC;
        memcpy(bytes + VT_CHUNK_BYTES, &magic, sizeof magic);
        save_bytes(bytes, sizeof bytes);
        assert_int_equal(read_all(&events, &complete), 0);
        assert_false(complete);
        maker_free(&m);
    }
}

static void refusal(void (*change)(struct vt_log_header *), const char *expected) {
    struct vt_maker m;
    struct vt_log log;
    struct vt_string message = {0};
    maker_start(&m);
    change(maker_header(&m));
    assert_int_equal(maker_save(&m, path), 0);
    assert_int_equal(vt_log_open(path, &log, &message), -EINVAL);
    if (!strstr(message.text, expected))
        fail_msg("expected \"%s\" in \"%s\"", expected, message.text);
    assert_non_null(strstr(message.text, "offset"));
    vt_string_free(&message);
    maker_free(&m);
}

static void newer(struct vt_log_header *h) {
    h->version = VT_LOG_VERSION + 2;
    h->version_min = VT_LOG_VERSION + 1;
}
static void reversed(struct vt_log_header *h) {
    for (int i = 0; i < 8; i++)
        h->magic[i] = VT_LOG_MAGIC[7 - i];
}
static void older(struct vt_log_header *h) {
    h->version = 0;
}
static void development(struct vt_log_header *h) {
    memcpy(h->magic, VT_LOG_DEVELOPMENT, 8);
    h->version = 13;
}
static void unwritten(struct vt_log_header *h) {
    memset(h, 0, sizeof *h);
}
static void other_chunks(struct vt_log_header *h) {
    h->chunk_bytes = 4096;
}

static void refusals(void **state) {
    (void)state;
    refusal(newer, "format version 3 and needs a reader of version 2");
    refusal(newer, "this vramtrace reads version 1");
    refusal(reversed, "reversed");
    refusal(older, "format version 0");
    refusal(development, "found one of a development version, format 13, before the first release");
    refusal(unwritten, "found zeros");
    refusal(other_chunks, "expected chunks of 65536 bytes, found 4096");
}

/* A newer writer whose logs older readers can read. */
static void newer_but_readable(void **state) {
    struct vt_maker m;
    uint64_t events;
    bool complete;
    (void)state;
    make_small(&m);
    maker_header(&m)->version = VT_LOG_VERSION + 1;
    uint64_t unknown[3] = {vt_word(0xf0, 0, 0, 24), 1, 2};
    maker_put(&m, 0, unknown, sizeof unknown);
    maker_alloc(&m, 0, 60, VT_KIND_DEVICE, 2, 0, 1, 0x77000, 1, 0);
    assert_int_equal(maker_save(&m, path), 0);
    assert_int_equal(read_all(&events, &complete), 0);
    assert_int_equal(events, SMALL_EVENTS + 1);
    assert_true(complete);
    maker_free(&m);
}

/* A signal that killed the process costs a log that is mapped nothing, and one that is written in
 * blocks perhaps its end. */
static void killed(void **state) {
    (void)state;
    for (int buffered = 0; buffered < 2; buffered++) {
        struct vt_maker m;
        uint64_t events;
        bool complete;
        make_small(&m);
        maker_header(&m)->exit_kind = VT_EXIT_SIGNALED;
        maker_header(&m)->exit_status = 9;
        maker_header(&m)->flags |= buffered ? VT_FLAG_BUFFERED : 0;
        assert_int_equal(maker_save(&m, path), 0);
        assert_int_equal(read_all(&events, &complete), 0);
        assert_int_equal(complete, !buffered);
        maker_free(&m);
    }
}

/* A record of a type that no length is known of ends its chunk, and is told. */
static void damage_is_told(void **state) {
    struct vt_maker m;
    struct vt_log log;
    struct vt_string message = {0};
    uint64_t bad = 0x1234567800000055ull;
    (void)state;
    make_small(&m);
    size_t at = maker_put(&m, 0, &bad, sizeof bad);
    assert_int_equal(maker_save(&m, path), 0);
    assert_int_equal(vt_log_open(path, &log, &message), 0);
    assert_int_equal(log.damage_count, 1);
    assert_int_equal(log.damage[0].offset, at);
    assert_int_equal(log.damage[0].found, bad);
    assert_int_equal(log.events, SMALL_EVENTS);
    vt_log_close(&log);
    maker_free(&m);
}

/* Opens a log with one record behind the small one's; it must be damage. */
static void expect_damage(const uint64_t *record, uint32_t bytes, const char *what) {
    struct vt_maker m;
    struct vt_log log;
    struct vt_string message = {0};
    make_small(&m);
    size_t at = maker_put(&m, 1, record, bytes);
    assert_int_equal(maker_save(&m, path), 0);
    assert_int_equal(vt_log_open(path, &log, &message), 0);
    assert_int_equal(log.damage_count, 1);
    assert_string_equal(log.damage[0].what, what);
    assert_int_equal(log.damage[0].offset, at);
    assert_int_equal(log.damage[0].found, *record);
    assert_int_equal(log.events, SMALL_EVENTS);
    vt_log_close(&log);
    maker_free(&m);
}

/* A record that cannot be expanded to its long form also ends the chunk. */
static void short_damage(void **state) {
    uint64_t no_slot[] = {VT_REC_SHORT_FREE | 4}, no_slot_either[] = {VT_REC_SHORT_ALLOC, 1},
             far_slot[] = {VT_REC_TEMPLATE | 24ull << 32, 1, VT_SHORT_SLOTS},
             half[] = {vt_word(VT_REC_TEMPLATE, 0, 0, 16), 1};
    (void)state;
    expect_damage(no_slot, sizeof no_slot, "a short record's template");
    expect_damage(no_slot_either, sizeof no_slot_either, "a short record's template");
    expect_damage(far_slot, sizeof far_slot, "a template");
    expect_damage(half, sizeof half, "a template");
    uint64_t no_frame[] = {VT_REC_SHORT_STACK | 24ull << 32, 7 | 1ull << 32, 5},
             far_place[] = {VT_REC_SHORT_STACK | 32ull << 32, 7 | 1ull << 32,
                            VT_SHORT_FRAME_NEW | VT_SHORT_FRAMES, 0x400100},
             no_word[] = {VT_REC_SHORT_STACK | 24ull << 32, 7 | 1ull << 32, VT_SHORT_FRAME_NEW | 5},
             too_many[] = {VT_REC_SHORT_STACK | 24ull << 32, 7 | 5ull << 32, 0};
    expect_damage(no_frame, sizeof no_frame, "a short stack");
    expect_damage(far_place, sizeof far_place, "a short stack");
    expect_damage(no_word, sizeof no_word, "a short stack");
    expect_damage(too_many, sizeof too_many, "a short stack");
    static uint64_t too_long[VT_RECORD_MAX_BYTES / 8] = {
        VT_REC_SHORT_STACK | (uint64_t)VT_RECORD_MAX_BYTES << 32, 7 | 1023ull << 32};
    for (unsigned i = 0; i < 1023; i++)
        ((uint16_t *)(too_long + 2))[i] = 5;
    ((uint16_t *)(too_long + 2))[0] |= VT_SHORT_FRAME_NEW;
    too_long[(16 + 2 * 1023 + 7) / 8] = 1;
    expect_damage(too_long, sizeof too_long, "a short stack");
}

/* Above the reader there are long records only. */
static void short_becomes_long(void **state) {
    static const uint64_t high = 0x7full << VT_SHORT_WINDOW, context = 5ull << 48;
    const struct vt_rec_alloc expected[] = {
        {vt_word(VT_REC_ALLOC, VT_KIND_DEVICE, 1000, 1), vt_when(2, 54), high | 0x12345678f0,
         context | 1000},
        {vt_word(VT_REC_FREE, VT_KIND_DEVICE, 1001, 0), vt_when(2, 55), high | 0x12345678f0, 0},
        {vt_word(VT_REC_ALLOC, VT_KIND_DEVICE, 1000, 1), vt_when(2, 55), high | 0x3ffffffff0,
         context | ((1 << VT_SHORT_SIZE) - 1)},
        {vt_word(VT_REC_FREE, VT_KIND_POOL, 12, 0), vt_when(1, 60), 0x2000, 0}};
    struct vt_maker m;
    struct vt_log log;
    struct vt_batch batch;
    struct vt_string message = {0};
    uint32_t found = 0;
    (void)state;
    make_small(&m);
    assert_int_equal(maker_save(&m, path), 0);
    maker_free(&m);
    assert_int_equal(vt_log_open(path, &log, &message), 0);
    struct vt_merge *merge = vt_merge_open(&log);
    vt_merge_go_on(merge, VT_TICKS_MASK);
    while (vt_merge_next(merge, &batch))
        for (uint32_t i = 0; i < batch.count; i++) {
            const struct vt_event *e = &batch.events[i];
            if (vt_when_ticks(e->when) <= 50 || vt_word_type(e->word) == VT_REC_FREE_FAIL)
                continue;
            assert_in_range(found, 0, 3);
            assert_int_equal(batch.tid, 101);
            assert_int_equal(e->word, expected[found].word);
            assert_int_equal(e->when, expected[found].when);
            assert_int_equal(e->key, vt_address_key(expected[found].address, VT_SPACE_DEVICE));
            assert_int_equal(e->size_context, expected[found].size_context);
            found++;
        }
    assert_int_equal(found, 4);
    assert_int_equal(vt_merge_failed(merge, &message), 0);
    vt_merge_close(merge);
    vt_log_close(&log);
}

/* Up to where a log is read that was as long as it may become, and may have got space again. */
static void bound(void **state) {
    static const uint64_t logs[][2] = {{40, 39}, {0, VT_TICKS_MASK}}; /* bound_at, frontier */
    (void)state;
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        struct vt_maker m;
        struct vt_log log;
        struct vt_string message = {0};
        make_small(&m);
        struct vt_log_header *h = maker_header(&m);
        h->dropped[VT_DROP_BOUND] = 3;
        h->first_drop = 30;
        h->bound_at = logs[i][0];
        assert_int_equal(maker_save(&m, path), 0);
        assert_int_equal(vt_log_open(path, &log, &message), 0);
        assert_int_equal(log.frontier, logs[i][1]);
        vt_log_close(&log);
        maker_free(&m);
    }
}

static void empty_and_missing(void **state) {
    struct vt_log log;
    struct vt_string message = {0};
    (void)state;
    save_bytes((const uint8_t *)"", 0);
    assert_int_equal(vt_log_open(path, &log, &message), -EINVAL);
    assert_non_null(strstr(message.text, "empty file"));
    message.length = 0;
    assert_int_equal(vt_log_open("/nowhere/at/all.vtl", &log, &message), -ENOENT);
    assert_int_equal(vt_log_open("/tmp", &log, &message), -EISDIR);
    vt_string_free(&message);
}

/* A log of this very process that has no end is one that runs; events that a thread may yet be
 * writing are left out. */
static void running(void **state) {
    struct vt_maker m;
    struct vt_log log;
    struct vt_string message = {0};
    char text[1024], boot[64] = "";
    (void)state;
    make_small(&m);
    struct vt_log_header *h = maker_header(&m);
    maker_unended(&m);
    h->pid = (uint32_t)getpid();
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY);
    assert_true(fd >= 0 && read(fd, boot, sizeof boot - 1) > 0);
    close(fd);
    memcpy(h->boot_id, boot, 36);
    fd = open("/proc/self/stat", O_RDONLY);
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    assert_true(got > 0);
    text[got] = 0;
    char *at = strrchr(text, ')') + 2;
    for (int field = 3; field < 22; field++)
        at = strchr(at, ' ') + 1;
    h->process_start = strtoull(at, NULL, 10);
    /* Thread 1 entered at 35. Its BULK at 40 and ALLOC at 50 may not be all there is: a call that began
     * at 35 may not have been recorded yet. A slot says so, here in the last but one chunk of them; in a
     * log that is written in blocks its chunk does. */
    size_t places[] = {maker_slot(&m, 1),
                       2 * VT_CHUNK_BYTES + offsetof(struct vt_chunk_header, entered_at)};
    maker_slot(&m, 0);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t *entered_at = (uint64_t *)(m.bytes + places[i]);
        *entered_at = 35;
        assert_int_equal(maker_save(&m, path), 0);
        assert_int_equal(vt_log_open(path, &log, &message), 0);
        assert_true(log.running);
        assert_int_equal(log.damage_count, 0);
        assert_int_equal(log.frontier, 34);
        assert_int_equal(log.last_ticks, 34);
        assert_false(log.in_flight);
        vt_log_close(&log);
        *entered_at = 1000; /* after all that it wrote */
        assert_int_equal(maker_save(&m, path), 0);
        assert_int_equal(vt_log_open(path, &log, &message), 0);
        assert_true(log.in_flight);
        vt_log_close(&log);
        *entered_at = 0;
    }
    maker_header(&m)->process_start++;
    assert_int_equal(maker_save(&m, path), 0);
    assert_int_equal(vt_log_open(path, &log, &message), 0);
    assert_false(log.running);
    vt_log_close(&log);
    maker_free(&m);
}

/* A read error is not an end of file: the reader reports the file, the place and the reason. A folder's descriptor
 * replaces the log's, like a disk that begins to fail. */
static void read_errors(void **state) {
    struct vt_maker m;
    struct vt_log log;
    struct vt_replay replay;
    struct vt_string message = {0}, expected = {0};
    uint8_t bytes[8];
    uint32_t got = 1;
    (void)state;
    make_small(&m);
    assert_int_equal(maker_save(&m, path), 0);
    assert_int_equal(vt_log_open(path, &log, &message), 0);
    assert_int_equal(vt_log_read_at(log.fd, path, bytes, 8, log.file_bytes, &got, &message), 0);
    assert_int_equal(got, 0); /* the end */
    close(log.fd);
    log.fd = open("/", O_RDONLY | O_CLOEXEC);
    assert_true(log.fd >= 0);
    assert_int_equal(vt_log_read_at(log.fd, path, bytes, 8, 77, &got, &message), -EISDIR);
    vt_string_format(&expected, "%s: offset 77: cannot be read: %s", path, strerror(EISDIR));
    assert_string_equal(message.text, expected.text);
    vt_string_free(&message);
    vt_string_free(&expected);
    assert_int_equal(vt_replay_run(&log, (struct vt_window){0, VT_TICKS_MASK},
                                   (struct vt_replay_options){0}, &replay, &message),
                     -EISDIR);
    vt_string_format(&expected, "%s: offset %u: cannot be read: %s", path,
                     (unsigned)(log.chunks[0].number * VT_CHUNK_BYTES), strerror(EISDIR));
    assert_string_equal(message.text, expected.text);
    vt_string_free(&message);
    vt_string_free(&expected);
    vt_replay_free(&replay);
    vt_log_close(&log);
    maker_free(&m);
}

/* Readers add a stack's offset to the pointer, which must not be NULL then. */
static void stacks_without_frames(void **state) {
    struct vt_maker m;
    struct vt_log log;
    struct vt_string message = {0};
    (void)state;
    maker_start(&m);
    maker_stack(&m, 0, 1, NULL, 0);
    assert_int_equal(maker_save(&m, path), 0);
    maker_free(&m);
    assert_int_equal(vt_log_open(path, &log, &message), 0);
    assert_int_equal(log.stack_count, 1);
    assert_non_null(vt_log_words(&log, &log.stacks[0]));
    vt_log_close(&log);
}

/* A module's place is taken by another: each stack is looked up in the map of its own time. */
static void modules_have_lifetimes(void **state) {
    struct vt_maker m;
    struct vt_log log;
    struct vt_string message = {0};
    (void)state;
    maker_start(&m);
    maker_module(&m, 0, 10, 0x1000, 0x3000, 0x1000, "", 0, "/a");
    maker_module(&m, 0, 20, 0x2000, 0x4000, 0x2000, "", 0, "/b");
    maker_module(&m, 0, 30, 0x1000, 0x3000, 0x1000, "", 0, "/c");
    assert_int_equal(maker_save(&m, path), 0);
    assert_int_equal(vt_log_open(path, &log, &message), 0);
    assert_string_equal(vt_log_module_at(&log, 0x2500, 15)->path, "/a");
    assert_string_equal(vt_log_module_at(&log, 0x2500, 25)->path, "/b");
    assert_string_equal(vt_log_module_at(&log, 0x2500, 35)->path, "/c");
    assert_string_equal(vt_log_module_at(&log, 0x2500, 5)->path, "/a");
    assert_string_equal(vt_log_module_at(&log, 0x3500, 35)->path, "/b");
    assert_null(vt_log_module_at(&log, 0x4000, 35));
    assert_null(vt_log_module_at(&log, 0xfff, 35));
    vt_log_close(&log);
    maker_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_log),
        cmocka_unit_test(cut_everywhere),
        cmocka_unit_test(flipped_bytes),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(refusals),
        cmocka_unit_test(newer_but_readable),
        cmocka_unit_test(killed),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(short_damage),
        cmocka_unit_test(short_becomes_long),
        cmocka_unit_test(bound),
        cmocka_unit_test(empty_and_missing),
        cmocka_unit_test(running),
        cmocka_unit_test(read_errors),
        cmocka_unit_test(stacks_without_frames),
        cmocka_unit_test(modules_have_lifetimes),
    };
    return cmocka_run_group_tests(tests, maker_make_folder, maker_remove_folder);
}
