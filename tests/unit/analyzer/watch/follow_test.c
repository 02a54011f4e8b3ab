/* SPDX-License-Identifier: MIT */
/*
 * A log that is read repeatedly while it is written gives the same final result as a single reading.
 *
 *     follow_test [LOG...]
 *
 * Each log of an ended process is rewritten into another file, as its process may have written it: up to a time, with
 * some chunks further than that, and missing records announced. After each such step the model is built. When the log
 * is complete, the model equals that of the log, word by word. Without an argument: for a log made here, with
 * threads, phases, snapshots, stacks and late names.
 */
#include "build.h"
#include "report/formats.h"

#include "tests/unit/analyzer/log_maker.c"
#include "tests/unit/analyzer/log_player.c"

static int log_count;
static char **logs;

/* The model as JSON. Frees both; the caller frees the text. */
static char *json_of(struct vt_model *model) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    struct vt_format_options options = {0};
    assert_int_equal(vt_fmt_json_write(model, &options, out), 0);
    fclose(out);
    vt_build_free(model);
    return text;
}

static void play(const char *path, uint32_t steps, uint32_t seed) {
    struct player p;
    struct vt_follow *follow = NULL;
    struct vt_model model;
    struct vt_string message = {0};
    struct vt_model_options options = {.device = -1, .timeline = VT_TIMELINE_COURSES};
    const char *out = maker_path;
    player_start(&p, path);
    unlink(out);
    for (uint32_t i = 1; i <= steps; i++) {
        uint64_t until = (uint64_t)((double)p.last * i / (steps + 1));
        player_write_until(&p, until, &seed);
        player_save(out, p.now, p.length);
        if (i == 1)
            assert_int_equal(vt_builder.follow(out, &options, &follow, &message), 0);
        assert_int_equal(vt_builder.go_on(follow, UINT64_MAX, &model, &message), 0);
        vt_build_free(&model);
    }
    player_end(&p);
    player_save(out, p.now, p.length);
    assert_int_equal(vt_builder.go_on(follow, UINT64_MAX, &model, &message), 0);
    char *found = json_of(&model);
    vt_builder.unfollow(follow);
    assert_int_equal(vt_builder.build(&out, 1, &options, &model, &message), 0);
    char *expected = json_of(&model);
    player_expect_same(expected, found, path);
    free(found);
    free(expected);
    player_free(&p);
}

static void followed(void **state) {
    (void)state;
    char made[sizeof maker_path + 8];
    snprintf(made, sizeof made, "%s.made", maker_path);
    player_make(made);
    for (uint32_t steps = 1; steps <= 40; steps += 13)
        play(made, steps, steps);
    unlink(made);
    for (int i = 0; i < log_count; i++)
        for (uint32_t steps = 1; steps <= 30; steps += 9)
            play(logs[i], steps, steps);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(followed)};
    log_count = argc - 1;
    logs = argv + 1;
    return cmocka_run_group_tests(tests, maker_make_folder, maker_remove_folder);
}
