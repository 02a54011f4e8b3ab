/* SPDX-License-Identifier: MIT */
/*
 * A replay that is saved and loaded repeatedly gives the same result as an uninterrupted one.
 *
 *     state_test [LOG...]
 *
 * Each log is rewritten step by step (log_player.c) and followed twice. After each step one of the two is saved to
 * memory, freed, and loaded into new tables; only the log and its pending events stay. At every other step a model is
 * built from both. All models are the same, word by word, with the page and its pictures. A modified state is
 * refused, or gives other figures: nothing crashes or hangs.
 */
#include "build.c"
#include "build.h"

#include "tests/unit/analyzer/log_maker.c"
#include "tests/unit/analyzer/log_player.c"
#include "replay/walk.h"
#include "report/formats.h"

#include <zlib.h>

static int log_count;
static char **logs;

/* --- saved and loaded --- */

static uint8_t *save_walk(struct build *b, size_t *length) {
    struct vt_state s;
    VT_SCOPED_STRING message = {0};
    vt_state_save(&s, NULL);
    vt_walk_state(b->walk, &s);
    assert_int_equal(vt_state_end(&s, "memory", &message), 0);
    *length = s.length;
    return s.saved;
}

/* Puts a walk that was loaded in place of the one that is there, which is freed. With `merge` the new one goes on where
 * that one was. */
static int load_walk(struct build *b, const uint8_t *bytes, size_t length, bool merge,
                     struct vt_string *message) {
    struct vt_walk *old = b->walk;
    struct vt_state s;
    vt_history_close(&b->history);
    vt_pictures_close(&b->pictures);
    vt_replay_free(&b->replay);
    assert_int_equal(open_walk(b, message), 0);
    if (merge) {
        struct vt_merge *fresh = b->walk->merge;
        b->walk->merge = old->merge;
        old->merge = fresh;
    }
    vt_replay_close(old);
    vt_state_load(&s, bytes, length);
    vt_walk_state(b->walk, &s);
    return vt_state_end(&s, "memory", message);
}

static void reload(struct build *b) {
    VT_SCOPED_STRING message = {0};
    size_t length;
    VT_SCOPED uint8_t *bytes = save_walk(b, &length);
    if (load_walk(b, bytes, length, true, &message))
        fail_msg("%s", message.text);
}

/* --- step by step --- */

static struct vt_model_options options = {
    .device = -1, .timeline = VT_TIMELINE_COURSES | VT_TIMELINE_MAPS | VT_TIMELINE_CHANGES};

/* Continues without checking the results. */
static void go_on_blindly(struct vt_follow *f) {
    struct vt_process process = {0};
    VT_SCOPED_STRING message = {0};
    struct build *b = &f->b;
    b->p = &process;
    assert_int_equal(f->looked ? vt_log_resume(&b->log, &message) : 0, 0);
    f->looked = true;
    assert_int_equal(fill_head(b, &message), 0);
    if (!b->walk)
        assert_int_equal(open_walk(b, &message), 0);
    assert_int_equal(vt_replay_resume(b->walk, VT_TICKS_MASK, &message), 0);
    vt_process_free(&process);
}

static char *text_of(struct vt_follow *f) {
    struct vt_model model;
    struct vt_string message = {0};
    struct vt_format_options how = {0};
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(vt_builder.go_on(f, UINT64_MAX, &model, &message), 0);
    assert_int_equal(vt_fmt_json_write(&model, &how, out), 0);
    if (!vt_fmt_html_missing())
        assert_int_equal(vt_fmt_html_write(&model, &how, out), 0);
    fclose(out);
    vt_build_free(&model);
    return text;
}

static void compare(struct vt_follow *whole, struct vt_follow *broken, const char *path) {
    VT_SCOPED char *expected = text_of(whole);
    VT_SCOPED char *found = text_of(broken);
    player_expect_same(expected, found, path);
}

static void play(const char *path, uint32_t steps, uint32_t seed) {
    struct player p;
    struct vt_follow *whole = NULL, *broken = NULL;
    struct vt_string message = {0};
    const char *out = maker_path;
    player_start(&p, path);
    unlink(out);
    for (uint32_t i = 1; i <= steps; i++) {
        player_write_until(&p, (uint64_t)((double)p.last * i / (steps + 1)), &seed);
        player_save(out, p.now, p.length);
        if (i == 1) {
            assert_int_equal(vt_builder.follow(out, &options, &whole, &message), 0);
            assert_int_equal(vt_builder.follow(out, &options, &broken, &message), 0);
        }
        if (i % 2) {
            go_on_blindly(whole);
            go_on_blindly(broken);
        } else {
            compare(whole, broken, path);
        }
        reload(&broken->b);
    }
    player_end(&p);
    player_save(out, p.now, p.length);
    compare(whole, broken, path);
    reload(&broken->b);
    compare(whole, broken, path);
    vt_builder.unfollow(whole);
    vt_builder.unfollow(broken);
    player_free(&p);
}

static void reloaded(void **state) {
    (void)state;
    char made[sizeof maker_path + 8];
    snprintf(made, sizeof made, "%s.made", maker_path);
    player_make(made);
    for (uint32_t steps = 1; steps <= 40; steps += 13)
        play(made, steps, steps);
    unlink(made);
    for (int i = 0; i < log_count; i++)
        for (uint32_t steps = 1; steps <= 10; steps += 9)
            play(logs[i], steps, steps);
}

/* --- eviction --- */

/* A program with a step that leaks, in epochs whose names have numbers, marks, and more snapshots than are kept. */
static void make_phases(const char *path, uint32_t steps) {
    struct vt_maker m;
    uint64_t frame = 0x2001;
    uint32_t range = 0, epoch = 0, name = 10, seed = 7;
    maker_start(&m);
    maker_device(&m, 0, 0, (uint64_t)24 << 30, "a device");
    maker_module(&m, 0, 1, 0x1000, 0x900000, 0, "ab", 2, "/opt/program");
    maker_name(&m, 0, 1, "step");
    maker_name(&m, 0, 2, "saved");
    uint32_t step =
        maker_step(&m, 0, (struct maker_step){0, VT_STEP_MODULE, "__main__", "/p.py", 0, 0, 0});
    step = maker_step(&m, 0, (struct maker_step){step, VT_STEP_NAME, "kept", "list", 0, 0, 0});
    maker_stack(&m, 0, 1, &frame, 1);
    for (uint32_t i = 0; i < steps; i++) {
        uint64_t address = 0x100000 + (uint64_t)i * 0x10000;
        if (i % 500 == 0) {
            VT_SCOPED char *text = vt_formatted("epoch %u", i / 500 % 4);
            maker_name(&m, 0, ++name, text);
            put_phase(&m, 0, VT_PHASE_PUSH, epoch = ++range, name);
        }
        put_phase(&m, 0, VT_PHASE_PUSH, ++range, 1);
        maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 0, 1, address,
                    512 * (1 + player_chance(&seed, 900)), 1);
        if (i % 10)
            maker_free_at(&m, 0, 0, VT_KIND_DEVICE, address);
        put_phase(&m, 0, VT_PHASE_POP, range, 1);
        if (i % 100 == 0)
            put_phase(&m, 0, VT_PHASE_MARK, 0, 2);
        if (i % 500 == 499)
            put_phase(&m, 0, VT_PHASE_POP, epoch, name);
        if (i % 25 == 0) {
            maker_owned(&m, 0, i / 25 + 1, 0x100000, VT_SPACE_DEVICE, step, 0);
            maker_owned(&m, 0, i / 25 + 1, address, VT_SPACE_DEVICE, step, 0);
            maker_snapshot(&m, 0, i / 25 + 1, VT_SNAPSHOT_REQUEST, ++m.ticks, 0);
        }
    }
    assert_int_equal(maker_save(&m, path), 0);
    maker_free(&m);
}

/* The report, and what its JSON has before the phases. Frees the model. */
static char *sums_of_model(struct vt_model *model) {
    struct vt_format_options how = {.top = 100};
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(vt_fmt_json_write(model, &how, out), 0);
    fflush(out);
    char *phases = strstr(text, "\"phases\": [");
    assert_non_null(phases);
    fseek(out, phases - text, SEEK_SET);
    assert_int_equal(vt_fmt_text_write(model, &how, out), 0);
    fclose(out);
    vt_build_free(model);
    return text;
}

static char *sums_of(struct vt_follow *f) {
    struct vt_model model;
    struct vt_string message = {0};
    assert_int_equal(vt_builder.go_on(f, UINT64_MAX, &model, &message), 0);
    return sums_of_model(&model);
}

static void evicts(void **state) {
    (void)state;
    enum { STEPS = 40000, TIMES = 8 };
    struct player p;
    struct vt_follow *whole = NULL, *broken = NULL;
    struct vt_string message = {0};
    uint32_t seed = 1;
    char made[sizeof maker_path + 8];
    const char *out = maker_path;
    snprintf(made, sizeof made, "%s.made", maker_path);
    make_phases(made, STEPS);
    player_start(&p, made);
    unlink(out);
    for (uint32_t i = 1; i <= TIMES; i++) {
        player_write_until(&p, p.last / TIMES * i, &seed);
        if (i == TIMES)
            player_end(&p);
        player_save(out, p.now, p.length);
        if (i == 1) {
            assert_int_equal(vt_builder.follow(out, &options, &whole, &message), 0);
            assert_int_equal(vt_builder.follow(out, &options, &broken, &message), 0);
        }
        go_on_blindly(whole);
        go_on_blindly(broken);
        vt_walk_evict(broken->b.walk, &broken->b.log);
        reload(&broken->b);
        assert_in_range(broken->b.replay.phase_count, 1, 2 * 4096 + 100);
        assert_int_equal(broken->b.replay.phase_count, broken->b.log.phase_count);
        assert_in_range(broken->b.log.owned_count, 0, 100); /* some come later */
    }
    VT_SCOPED char *expected = sums_of(whole);
    VT_SCOPED char *found = sums_of(broken);
    assert_non_null(strstr(expected, "epoch *"));
    assert_non_null(strstr(expected, "40,000"));
    player_expect_same(expected, found, "phases");
    struct vt_model model;
    assert_int_equal(vt_builder.build(&out, 1, &options, &model, &message), 0);
    VT_SCOPED char *at_once = sums_of_model(&model);
    player_expect_same(at_once, found, "at once");
    vt_builder.unfollow(whole);
    vt_builder.unfollow(broken);
    player_free(&p);
    unlink(made);
}

/* Many stacks, by which memory is allocated and freed, now and then by one of the first again; of some of it stays. */
static void make_sites(const char *path) {
    enum { STACKS = 4000, PEAK = 1 << 30 };
    struct vt_maker m;
    uint32_t seed = 5, stacks = 0;
    maker_start(&m);
    maker_device(&m, 0, 0, (uint64_t)24 << 30, "a device");
    maker_module(&m, 0, 1, 0x1000, 0x9000000, 0, "ab", 2, "/opt/program");
    for (uint32_t i = 0; i < STACKS; i++) {
        unsigned thread = player_chance(&seed, 3);
        bool again = i % 5 == 4;
        uint64_t address = 0x100000 + (uint64_t)i * 0x10000;
        uint64_t frames[3] = {0x2001 + (uint64_t)i * 0x100, 0x3001 + i % 7, 0x4001};
        if (!again)
            maker_stack(&m, thread, ++stacks, frames, 3);
        maker_alloc(&m, thread, 0, VT_KIND_DEVICE, 2 + i % 2, 0,
                    again ? 1 + player_chance(&seed, stacks) : stacks, address,
                    i ? 512 * (1 + player_chance(&seed, 9)) : PEAK, 1);
        if (i % 50 != 49)
            maker_free_at(&m, thread, 0, VT_KIND_DEVICE, address);
        if (i % 500 == 499)
            maker_fail(&m, thread, 0, 0, stacks, (uint64_t)1 << 40, 2);
    }
    assert_int_equal(maker_save(&m, path), 0);
    maker_free(&m);
}

/* The report on the devices, and the number of evicted sites. */
static char *devices_of(struct vt_follow *f, uint64_t *evicted) {
    VT_SCOPED char *text = text_of(f);
    char *from = strstr(text, "\"devices\": ["), *to = strstr(text, "\"environment\": ");
    assert_true(from && to && from < to);
    *evicted = f->b.replay.evicted_sites;
    return vt_strndup(from, (size_t)(to - from));
}

/* All sites that may go, after each step: what devices held stays the same. */
static void evicts_sites(const char *path, bool some) {
    enum { STEPS = 8 };
    struct player p;
    struct vt_follow *whole = NULL, *broken = NULL;
    struct vt_string message = {0};
    uint64_t none, evicted;
    uint32_t seed = 3;
    const char *out = maker_path;
    player_start(&p, path);
    unlink(out);
    for (uint32_t i = 1; i <= STEPS; i++) {
        player_write_until(&p, (uint64_t)((double)p.last * i / (STEPS + 1)), &seed);
        if (i == STEPS)
            player_end(&p);
        player_save(out, p.now, p.length);
        if (i == 1) {
            assert_int_equal(vt_builder.follow(out, &options, &whole, &message), 0);
            assert_int_equal(vt_builder.follow(out, &options, &broken, &message), 0);
        }
        go_on_blindly(whole);
        go_on_blindly(broken);
        vt_walk_evict(broken->b.walk, &broken->b.log);
        while (vt_walk_evict_more(broken->b.walk, &broken->b.log)) {
        }
        reload(&broken->b);
    }
    VT_SCOPED char *expected = devices_of(whole, &none);
    VT_SCOPED char *found = devices_of(broken, &evicted);
    player_expect_same(expected, found, path);
    assert_int_equal(none, 0);
    assert_true(evicted || !some);
    vt_builder.unfollow(whole);
    vt_builder.unfollow(broken);
    player_free(&p);
}

static void sites(void **state) {
    (void)state;
    char made[sizeof maker_path + 8];
    snprintf(made, sizeof made, "%s.made", maker_path);
    make_sites(made);
    evicts_sites(made, true);
    player_make(made);
    evicts_sites(made, false);
    unlink(made);
    for (int i = 0; i < log_count; i++)
        evicts_sites(logs[i], false);
}

/* --- changed --- */

static struct vt_follow *follow_half(const char *path) {
    struct player p;
    struct vt_follow *f;
    struct vt_string message = {0};
    uint32_t seed = 1;
    const char *out = maker_path;
    player_start(&p, path);
    unlink(out);
    player_write_until(&p, p.last / 2, &seed);
    player_save(out, p.now, p.length);
    assert_int_equal(vt_builder.follow(out, &options, &f, &message), 0);
    go_on_blindly(f);
    player_end(&p);
    player_save(out, p.now, p.length);
    player_free(&p);
    return f;
}

/* Loads states that were cut or changed, but have the right checksum. Those that are taken go on with the whole log. */
static void damage(const char *path, uint32_t rounds) {
    struct vt_follow *f = follow_half(path);
    size_t length, taken = 0;
    VT_SCOPED uint8_t *bytes = save_walk(&f->b, &length);
    VT_SCOPED uint8_t *copy = vt_alloc(length, 1);
    for (uint32_t i = 0; i < rounds; i++) {
        VT_SCOPED_STRING message = {0};
        uint64_t random = vt_mix(i + 1);
        size_t cut = i % 8 == 0 ? 4 + random % (length - 4) : length;
        memcpy(copy, bytes, length);
        for (unsigned k = 0; k < 1 + i % 3; k++) {
            size_t at = random % cut;
            random = vt_mix(random);
            if (i % 2)
                copy[at] ^= (uint8_t)(1 << random % 8);
            else
                copy[at] = (uint8_t)(random & 1 ? 0xff : random >> 8);
            random = vt_mix(random);
        }
        uint32_t sum = (uint32_t)crc32_z(0, copy, cut - 4);
        memcpy(copy + cut - 4, &sum, 4);
        if (load_walk(&f->b, copy, cut, false, &message))
            continue;
        taken++;
        free(text_of(f));
    }
    vt_builder.unfollow(f);
    if (rounds > 100)
        assert_in_range(taken, 1, rounds - 1);
}

static void damaged(void **state) {
    (void)state;
    const char *rounds = getenv("ROUNDS");
    char made[sizeof maker_path + 8];
    snprintf(made, sizeof made, "%s.made", maker_path);
    player_make(made);
    damage(made, rounds ? (uint32_t)atoi(rounds) : 200);
    unlink(made);
    for (int i = 0; i < log_count; i++)
        damage(logs[i], rounds ? (uint32_t)atoi(rounds) : 20);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reloaded), cmocka_unit_test(evicts),
                                       cmocka_unit_test(sites), cmocka_unit_test(damaged)};
    log_count = argc - 1;
    logs = argv + 1;
    return cmocka_run_group_tests(tests, maker_make_folder, maker_remove_folder);
}
