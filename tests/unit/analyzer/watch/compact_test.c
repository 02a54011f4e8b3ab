/* SPDX-License-Identifier: MIT */
/*
 * A log that is compacted repeatedly while it is written gives the same final result as without compaction.
 *
 *     compact_test [LOG...]
 *
 * Each log is rewritten step by step, twice: as it was, and with its chunks at other places, as released and reused.
 * At each step the second one is opened with its summary, resumed, and the next summary is written. LOG.nvml is also
 * written, if there is one. The JSON is the same, except for keys about compaction.
 */
#include "build.h"
#include "compact/compact.h"
#include "report/formats.h"

#include "tests/unit/analyzer/log_maker.c"
#include "tests/unit/analyzer/log_player.c"

static int log_count;
static char **logs;
static char whole_path[sizeof maker_path + 8], summary_path[sizeof maker_path + 16];

static struct vt_model_options options = {.device = -1, .timeline = VT_TIMELINE_ALL};

/* Removes the text from each `from` to the next `to`, including both and a comma. */
static void leave_out(char *text, const char *from, const char *to) {
    for (char *at = text; (at = strstr(at, from));) {
        char *end = strstr(at + strlen(from), to);
        assert_non_null(end);
        end += strlen(to);
        end += *end == ',';
        memmove(at, end, strlen(end) + 1);
    }
}

static void leave_out_spaces(char *text) {
    char *to = text;
    for (const char *at = text; *at; at++)
        if (*at != ' ' && *at != '\n')
            *to++ = *at;
    *to = 0;
}

/* Frees the model. */
static char *text_of_model(struct vt_model *model) {
    struct vt_format_options how = {0};
    char *text = NULL, *at;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(vt_fmt_json_write(model, &how, out), 0);
    fclose(out);
    vt_build_free(model);
    leave_out_spaces(text);
    leave_out(text, "\"compacted_until_ns\"", ",");
    leave_out(text, "\"Eventdetailsstartat", "exactforthewholerun.\"");
    for (at = text; (at = strstr(at, ",]"));) /* it was the last note */
        memmove(at, at + 1, strlen(at));
    leave_out(text, "\"setting\":", ","); /* another setting is not tried */
    for (at = text; (at = strstr(at, whole_path));)
        memcpy(at, maker_path, strlen(maker_path));
    return text;
}

static char *text_of(struct vt_follow *f) {
    struct vt_model model;
    struct vt_string message = {0};
    if (vt_builder.go_on(f, UINT64_MAX, &model, &message))
        fail_msg("%s", message.text);
    return text_of_model(&model);
}

/* LOG.nvml up to a time, for a log whose header is `head`. */
static void save_samples(const char *from, const char *to, const struct vt_log_header *head,
                         uint64_t until) {
    VT_SCOPED char *source = vt_nvml_file_path(from);
    VT_SCOPED char *path = vt_nvml_file_path(to);
    VT_SCOPED_FD fd = open(source, O_RDONLY | O_CLOEXEC);
    unlink(path);
    if (fd < 0)
        return;
    VT_SCOPED uint8_t *bytes = vt_alloc(VT_NVML_MOST_BYTES + 8, 1);
    ssize_t length = vt_file_read_at(fd, bytes, VT_NVML_MOST_BYTES, 0);
    struct vt_nvml_header header = vt_nvml_file_header(head);
    const char *what;
    uint32_t at = sizeof header, next;
    if (length < (ssize_t)sizeof header)
        return;
    memcpy(bytes, &header, sizeof header);
    for (; (next = vt_log_next(bytes, at, ((uint32_t)length & ~7u) + 4, &what)); at += next) {
        uint64_t word[2];
        memcpy(word, bytes + at, sizeof word);
        if (vt_word_type(word[0]) == VT_REC_SAMPLE && vt_when_ticks(word[1]) > until)
            break;
    }
    player_save(path, bytes, at);
}

/* Writes a summary, as a compactor does. Returns its generation. */
static uint64_t summarize(void) {
    struct vt_log log;
    struct vt_string message = {0};
    if (vt_log_open_to_follow(maker_path, &log, &message) ||
        vt_compact_summarize(&log, UINT64_MAX, &message))
        fail_msg("%s", message.text);
    uint64_t generation = log.summary;
    vt_log_close(&log);
    return generation;
}

static void play(const char *path, uint32_t steps, uint32_t seed, bool hides) {
    struct player p;
    struct vt_follow *whole = NULL, *broken = NULL;
    struct vt_string message = {0};
    const struct vt_log_header *head;
    player_start(&p, path);
    head = (const struct vt_log_header *)p.now;
    p.hides = hides;
    unlink(summary_path);
    for (uint32_t i = 1; i <= steps + 1; i++) {
        uint64_t until = (uint64_t)((double)p.last * i / (steps + 1));
        if (i <= steps)
            player_write_until(&p, until, &seed);
        else
            player_end(&p);
        player_compact(&p);
        player_save(whole_path, p.now, p.length);
        player_save(maker_path, p.compacted, p.compacted_length);
        save_samples(path, whole_path, head, i <= steps ? until : UINT64_MAX);
        save_samples(path, maker_path, head, i <= steps ? until : UINT64_MAX);
        if (i == 1)
            assert_int_equal(vt_builder.follow(whole_path, &options, &whole, &message), 0);
        if (!broken) /* sometimes it stays open, and finds the summary that it has just written */
            assert_int_equal(vt_builder.follow(maker_path, &options, &broken, &message), 0);
        if (i > steps || i % 3 == 0) {
            VT_SCOPED char *expected = text_of(whole);
            VT_SCOPED char *found = text_of(broken);
            player_expect_same(expected, found, path);
        } else {
            free(text_of(whole)); /* two steps in one would be another reading */
        }
        if (i > steps)
            break;
        p.summary = summarize();
        assert_int_equal(p.summary, i);
        player_compact(&p);
        player_save(maker_path, p.compacted, p.compacted_length);
        struct vt_log log;
        assert_int_equal(vt_log_open(maker_path, &log, &message), 0);
        player_give_back(&p, &log);
        vt_log_close(&log);
        player_save(maker_path, p.compacted, p.compacted_length);
        if (player_chance(&seed, 2)) {
            vt_builder.unfollow(broken);
            broken = NULL;
        }
    }
    vt_builder.unfollow(whole);
    vt_builder.unfollow(broken);
    player_free(&p);
}

static void compacted(void **state) {
    (void)state;
    char made[sizeof maker_path + 8];
    snprintf(made, sizeof made, "%s.made", maker_path);
    player_make(made);
    for (uint32_t steps = 1; steps <= 40; steps += 13)
        play(made, steps, steps, steps % 2);
    unlink(made);
    for (int i = 0; i < log_count; i++)
        for (uint32_t steps = 1; steps <= 10; steps += 9)
            play(logs[i], steps, steps, false);
}

/* A part of the run. */
static char *part(const char *path, const char *since, const char *until, const char *phase,
                  struct vt_string *message) {
    struct vt_model_options of = options;
    struct vt_model model;
    of.since = since;
    of.until = until;
    of.phase = phase;
    int error = vt_builder.build(&path, 1, &of, &model, message);
    if (error)
        assert_int_equal(error, -EINVAL);
    return error ? NULL : text_of_model(&model);
}

/* What began after the summary is told as without it; earlier parts are refused. */
static void play_parts(const char *path, bool has_phases) {
    static const struct {
        const char *since, *until, *phase;
        bool refused;
    } rows[] = {
        {NULL, NULL, NULL, false},   {"60%", NULL, NULL, false},      {"60%", "80%", NULL, false},
        {NULL, "80%", NULL, false},  {NULL, NULL, "epoch#30", false}, {"20%", NULL, NULL, true},
        {NULL, "20%", NULL, true},   {"20%", "80%", NULL, true},      {NULL, NULL, "epoch#3", true},
        {NULL, NULL, "epoch", true},
    };
    struct player p;
    uint32_t seed = 1;
    player_start(&p, path);
    player_write_until(&p, p.last / 2, &seed);
    player_compact(&p);
    player_save(maker_path, p.compacted, p.compacted_length);
    save_samples("/nowhere", whole_path, NULL, 0);
    save_samples("/nowhere", maker_path, NULL, 0);
    p.summary = summarize();
    player_end(&p);
    player_compact(&p);
    player_save(whole_path, p.now, p.length);
    player_save(maker_path, p.compacted, p.compacted_length);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        VT_SCOPED_STRING message = {0};
        if (rows[i].phase && !has_phases)
            continue;
        VT_SCOPED char *expected =
            part(whole_path, rows[i].since, rows[i].until, rows[i].phase, &message);
        VT_SCOPED char *found =
            part(maker_path, rows[i].since, rows[i].until, rows[i].phase, &message);
        assert_non_null(expected);
        if (rows[i].refused && !has_phases) { /* how far half of that log goes is unknown */
            continue;
        } else if (rows[i].refused) {
            assert_null(found);
            assert_non_null(strstr(message.text, "the log was compacted, and its summary has all"));
        } else if (!found) {
            fail_msg("row %zu: %s", i, message.text);
        } else {
            player_expect_same(expected, found, path);
        }
    }
    player_free(&p);
}

static void parts(void **state) {
    (void)state;
    char made[sizeof maker_path + 8];
    snprintf(made, sizeof made, "%s.made", maker_path);
    player_make(made);
    play_parts(made, true);
    unlink(made);
    for (int i = 0; i < log_count; i++)
        play_parts(logs[i], false);
}

static int remove_folder(void **state) {
    save_samples("/nowhere", whole_path, NULL, 0);
    save_samples("/nowhere", maker_path, NULL, 0);
    unlink(whole_path);
    unlink(summary_path);
    return maker_remove_folder(state);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(compacted), cmocka_unit_test(parts)};
    log_count = argc - 1;
    logs = argv + 1;
    int error = maker_make_folder(NULL);
    snprintf(whole_path, sizeof whole_path, "%s", maker_path);
    memcpy(strrchr(whole_path, '/') + 1, "all", 3); /* as long a name */
    snprintf(summary_path, sizeof summary_path, "%s.summary", maker_path);
    return error ? error : cmocka_run_group_tests(tests, NULL, remove_folder);
}
