/* SPDX-License-Identifier: MIT */
/*
 * LOG.summary: saving a reader's state, closing, reopening and resuming gives each event once, at its time, whichever
 * chunks were recycled meanwhile. Invalid summaries are refused.
 *
 *     summary_test [LOG...]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/analyzer/log_maker.c"
#include "tests/unit/analyzer/log_player.c"

#include <zlib.h>
#include <zstd.h>

static int log_count;
static char **logs;
static const char *const path = maker_path;
static char whole[sizeof maker_path + 8], summary[sizeof maker_path + 16];

/* --- each event once --- */

/* The events delivered so far, as one number. */
struct given {
    uint64_t count, hash, late;
};

static void take(struct vt_merge *merge, struct given *given) {
    struct vt_batch batch;
    while (vt_merge_next(merge, &batch))
        for (uint32_t i = 0; i < batch.count; i++) {
            struct vt_event *e = &batch.events[i];
            uint64_t words[] = {e->word, e->when, 0, batch.tid};
            unsigned type = vt_word_type(e->word);
            if (type == VT_REC_ALLOC || type == VT_REC_FREE)
                words[2] = e->key;
            else /* its place in the chunk means nothing */
                memcpy(&words[2], batch.chunk + e->key + 16, 8);
            if (type == VT_REC_FREE_FAIL)
                words[2] = 0;
            given->hash = vt_mix(given->hash ^ vt_hash_bytes(0, words, sizeof words));
            given->count++;
        }
    given->late = vt_merge_late(merge);
    VT_SCOPED_STRING message = {0};
    assert_int_equal(vt_merge_failed(merge, &message), 0);
}

static void expect_given(const char *name, const struct given *expected,
                         const struct given *found) {
    if (expected->count != found->count || expected->hash != found->hash ||
        expected->late != found->late)
        fail_msg("%s: expected %llu events (%llx, %llu late), found %llu (%llx, %llu late)", name,
                 (unsigned long long)expected->count, (unsigned long long)expected->hash,
                 (unsigned long long)expected->late, (unsigned long long)found->count,
                 (unsigned long long)found->hash, (unsigned long long)found->late);
}

static void merge_state(void *merge, struct vt_state *s) {
    vt_merge_state(merge, s);
}

/* The tables, as far as they are not of the file's layout. */
static void expect_same_tables(const char *name, const struct vt_log *a, const struct vt_log *b) {
    const struct {
        const char *name;
        uint64_t expected, found;
    } counts[] = {
        {"events", a->events, b->events},
        {"last_ticks", a->last_ticks, b->last_ticks},
        {"frontier", a->frontier, b->frontier},
        {"word_count", a->word_count, b->word_count},
        {"stack_count", a->stack_count, b->stack_count},
        {"module_count", a->module_count, b->module_count},
        {"code_count", a->code_count, b->code_count},
        {"thread_count", a->thread_count, b->thread_count},
        {"device_count", a->device_count, b->device_count},
        {"sample_count", a->sample_count, b->sample_count},
        {"line_count", a->line_count, b->line_count},
        {"note_count", a->note_count, b->note_count},
        {"variable_count", a->variable_count, b->variable_count},
        {"phase_count", a->phase_count, b->phase_count},
        {"phase_row_count", a->phase_row_count, b->phase_row_count},
        {"name_count", a->name_count, b->name_count},
        {"lost_count", a->lost_count, b->lost_count},
        {"step_count", a->step_count, b->step_count},
        {"unlinked_count", a->unlinked_count, b->unlinked_count},
        {"around_count", a->around_count, b->around_count},
        {"owned_count", a->owned_count, b->owned_count},
        {"owned_row_count", a->owned_row_count, b->owned_row_count},
        {"snapshot_count", a->snapshot_count, b->snapshot_count},
        {"missed_count", a->missed_count, b->missed_count},
        {"live_count", a->live_count, b->live_count},
        {"in_flight", a->in_flight, b->in_flight},
        {"damage_count", a->damage_count, b->damage_count},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].expected != counts[i].found)
            fail_msg("%s: %s: expected %llu, found %llu", name, counts[i].name,
                     (unsigned long long)counts[i].expected, (unsigned long long)counts[i].found);
    for (size_t i = 0; i < a->stack_numbers.slots; i++) {
        if (a->stack_numbers.values[i] == VT_MAP_NONE)
            continue;
        uint32_t number = (uint32_t)a->stack_numbers.keys[i];
        const struct vt_log_stack *x = vt_log_stack(a, number), *y = vt_log_stack(b, number);
        assert_non_null(y);
        assert_int_equal(x->count, y->count);
        if (x->ticks != y->ticks)
            fail_msg("%s: stack %u: expected time %llu, found %llu", name, number,
                     (unsigned long long)x->ticks, (unsigned long long)y->ticks);
        assert_memory_equal(vt_log_words(a, x), vt_log_words(b, y), 8u * x->count);
    }
    for (size_t i = 0; i < a->step_count; i++) {
        uint32_t at = vt_map_get(&b->step_numbers, a->steps[i].number);
        assert_int_not_equal(at, VT_MAP_NONE);
        assert_string_equal(a->steps[i].name, b->steps[at].name);
        assert_int_equal(!a->steps[i].around, !b->steps[at].around);
    }
}

static uint32_t play(const char *name, uint32_t steps, uint32_t seed, bool hides) {
    struct player p;
    struct vt_log a, b;
    struct vt_merge *of_a = NULL, *of_b = NULL;
    struct given all = {0}, parts = {0};
    struct vt_string message = {0};
    uint32_t given_back = 0, seen = seed;
    player_start(&p, name);
    p.hides = hides;
    unlink(summary);
    for (uint32_t i = 1; i <= steps + 1; i++) {
        uint64_t until = (uint64_t)((double)p.last * i / (steps + 1));
        if (i <= steps)
            player_write_until(&p, until, &seed);
        else
            player_end(&p);
        player_save(whole, p.now, p.length);
        player_compact(&p);
        player_save(path, p.compacted, p.compacted_length);
        /* at once */
        assert_int_equal(
            of_a ? vt_log_resume(&a, &message) : vt_log_open_to_follow(whole, &a, &message), 0);
        of_a = of_a ? of_a : vt_merge_open(&a);
        if (vt_log_open_to_follow(path, &b, &message))
            fail_msg("%s", message.text);
        assert_int_equal(b.summary, p.summary);
        of_b = vt_merge_open(&b);
        assert_int_equal(vt_summary_load(&b, merge_state, of_b, &message), 0);
        /* sometimes less than available */
        uint64_t most = player_chance(&seen, 2) ? VT_TICKS_MASK : until;
        most = i > steps ? VT_TICKS_MASK : most;
        vt_merge_go_on(of_a, most);
        vt_merge_go_on(of_b, most);
        take(of_a, &all);
        take(of_b, &parts);
        expect_given(name, &all, &parts);
        if (i <= steps) {
            p.summary++;
            assert_int_equal(vt_summary_write(&b, p.summary, vt_merge_until(of_b), UINT64_MAX,
                                              merge_state, of_b, &message),
                             0);
        } else {
            expect_same_tables(name, &a, &b);
        }
        vt_merge_close(of_b);
        vt_log_close(&b);
        if (i <= steps) {
            memcpy(p.compacted + offsetof(struct vt_log_header, summary), &p.summary, 8);
            player_save(path, p.compacted, p.compacted_length);
            assert_int_equal(vt_log_open(path, &b, &message), 0);
            given_back += player_give_back(&p, &b);
            vt_log_close(&b);
        }
    }
    vt_merge_close(of_a);
    vt_log_close(&a);
    player_free(&p);
    unlink(whole);
    unlink(path);
    unlink(summary);
    return given_back;
}

static void each_event_once(void **state) {
    (void)state;
    char made[sizeof maker_path + 8];
    snprintf(made, sizeof made, "%s.made", maker_path);
    player_make(made);
    uint32_t given_back = 0;
    for (uint32_t steps = 1; steps <= 40; steps += 13)
        given_back += play(made, steps, steps, steps % 2);
    assert_in_range(given_back, 10, 1000);
    unlink(made);
    for (int i = 0; i < log_count; i++)
        for (uint32_t steps = 1; steps <= 30; steps += 9)
            play(logs[i], steps, steps, steps % 2);
}

/* --- refused summaries --- */

/* A log with a summary of generation 5, of half of it. */
static void make_summary(void) {
    struct vt_log log;
    struct vt_string message = {0};
    struct player p;
    uint32_t seed = 1;
    player_make(path);
    player_start(&p, path);
    player_write_until(&p, p.last / 2, &seed);
    player_save(path, p.now, p.length);
    assert_int_equal(vt_log_open(path, &log, &message), 0);
    struct vt_merge *merge = vt_merge_open(&log);
    struct given given = {0};
    vt_merge_go_on(merge, p.last / 3);
    take(merge, &given);
    assert_int_equal(
        vt_summary_write(&log, 5, vt_merge_until(merge), UINT64_MAX, merge_state, merge, &message),
        0);
    vt_merge_close(merge);
    vt_log_close(&log);
    ((struct vt_log_header *)p.now)->summary = 5;
    player_save(path, p.now, p.length);
    player_free(&p);
}

static void set_header(size_t offset, uint64_t value) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, &value, sizeof value, (off_t)offset), sizeof value);
    close(fd);
}

/* Opens the log, and goes on to its end. Returns what vt_log_open, or else vt_summary_load, does. */
static int go_on(char said[500]) {
    struct vt_log log;
    VT_SCOPED_STRING message = {0};
    int error = vt_log_open(path, &log, &message);
    if (!error) {
        struct vt_merge *merge = vt_merge_open(&log);
        struct vt_batch batch;
        error = vt_summary_load(&log, merge_state, merge, &message);
        vt_merge_go_on(merge, VT_TICKS_MASK);
        for (size_t i = 0; i < log.stack_count; i++)
            vt_log_words(&log, &log.stacks[i]);
        while (!error && vt_merge_next(merge, &batch))
            continue;
        vt_merge_close(merge);
        vt_log_close(&log);
    }
    snprintf(said, 500, "%s", message.text ? message.text : "");
    return error;
}

static void expect_refused(const char *why) {
    char said[500];
    assert_int_equal(go_on(said), -EINVAL);
    if (!strstr(said, why) || !strstr(said, "summary"))
        fail_msg("expected \"%s\", found \"%s\"", why, said);
}

static void refusals(void **state) {
    (void)state;
    const size_t generation = offsetof(struct vt_log_header, summary);
    char said[500];
    make_summary();
    assert_int_equal(go_on(said), 0);
    set_header(generation, 4); /* the compactor died before it wrote the header */
    assert_int_equal(go_on(said), 0);
    set_header(generation, 3);
    expect_refused("expected generation 3 of the log's summary, found 5");
    set_header(generation, 6);
    expect_refused("expected generation 6 of the log's summary, found 5");
    set_header(generation, 5);
    set_header(offsetof(struct vt_log_header, start_ticks), 1);
    expect_refused("found another log's");
    make_summary();
    assert_int_equal(rename(summary, whole), 0);
    expect_refused("the log was compacted, expected its summary of generation 5, found no ");
    assert_int_equal(mkdir(summary, 0700), 0);
    assert_int_equal(go_on(said), -EISDIR);
    assert_non_null(strstr(said, ".summary: Is a directory"));
    rmdir(summary);
    struct vt_log log;
    VT_SCOPED_STRING message = {0};
    assert_int_equal(vt_log_open(whole, &log, &message), -EINVAL);
    assert_non_null(strstr(message.text, "found the summary that belongs to a log"));
    unlink(whole);
    unlink(path);
}

/* What a flipped bit changes is either seen, or gives other figures, but nothing else. */
static void damaged(void **state) {
    (void)state;
    struct stat st;
    char said[500];
    uint32_t seed = 1, refused = 0, rounds = 3000;
    make_summary();
    assert_int_equal(stat(summary, &st), 0);
    enum { NAME = 16, ROOM = 1 << 24 }; /* behind its name it is compressed; but it need not be */
    size_t packed = (size_t)st.st_size;
    VT_SCOPED uint8_t *file = vt_alloc(packed, 1), *bytes = vt_alloc(ROOM, 1);
    int fd = open(summary, O_RDONLY | O_CLOEXEC);
    assert_int_equal(vt_file_read_at(fd, file, packed, 0), packed);
    close(fd);
    size_t length = ZSTD_decompress(bytes, ROOM, file + NAME, packed - NAME);
    assert_false(ZSTD_isError(length));
    VT_SCOPED uint8_t *changed = vt_alloc(length, 1);
    for (uint32_t i = 0; i < 100; i++) {
        player_save(summary, bytes, player_chance(&seed, (uint32_t)length));
        expect_refused("expected ");
        memcpy(changed, bytes, length);
        changed[player_chance(&seed, (uint32_t)length)] ^= (uint8_t)(1 << player_chance(&seed, 8));
        player_save(summary, changed, length);
        expect_refused("expected ");
    }
    for (uint32_t i = 0; i < rounds;
         i++) { /* whoever tampers with it knows how a checksum is made */
        memcpy(changed, bytes, length);
        uint32_t most = i % 2 ? 2000 : (uint32_t)length;
        for (uint32_t flips = 1 + player_chance(&seed, 4); flips; flips--) {
            uint32_t at = (uint32_t)length - 5 - player_chance(&seed, most - 5);
            changed[at] ^= (uint8_t)(1 << player_chance(&seed, 8));
        }
        uint32_t sum = (uint32_t)crc32_z(0, changed, length - 4);
        memcpy(changed + length - 4, &sum, sizeof sum);
        player_save(summary, changed, length);
        refused += go_on(said) != 0;
    }
    assert_in_range(refused, rounds / 50, rounds - 1);
    unlink(summary);
    unlink(path);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_event_once),
        cmocka_unit_test(refusals),
        cmocka_unit_test(damaged),
    };
    log_count = argc - 1;
    logs = argv + 1;
    int error = maker_make_folder(NULL);
    snprintf(whole, sizeof whole, "%s.whole", maker_path);
    snprintf(summary, sizeof summary, "%s.summary", maker_path);
    return error ? error : cmocka_run_group_tests(tests, NULL, maker_remove_folder);
}
