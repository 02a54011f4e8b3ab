/* SPDX-License-Identifier: MIT */
/*
 * Answers that are recorded are replayed as they were; bytes that were cut anywhere, or lie, give none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/answers.h"

#include <string.h>

struct place {
    const char *function, *file;
    uint64_t line;
};

static void fields(struct vt_reply *reply, void *what) {
    struct place *place = what;
    vt_reply_text(reply, &place->function);
    vt_reply_text(reply, &place->file);
    vt_reply_number(reply, &place->line);
}

/* An answer with one more number than was asked for. */
static void more_fields(struct vt_reply *reply, void *what) {
    uint64_t number = 0;
    fields(reply, what);
    vt_reply_number(reply, &number);
}

static struct vt_answers *recorded(void) {
    struct vt_answers *answers = vt_answers_open();
    vt_answers_keep(answers, 1, fields, &(struct place){"step", "train.py", 41});
    vt_answers_keep(answers, 2, fields, &(struct place){"", NULL, 0});
    vt_answers_keep(answers, 1, fields, &(struct place){"another", NULL, 2});
    assert_false(vt_answers_replays(answers));
    return answers;
}

static void round_trip(void **state) {
    (void)state;
    struct vt_answers *answers = recorded();
    const struct vt_string *bytes = vt_answers_bytes(answers);
    struct vt_string copy = {0};
    struct place place;
    vt_string_add_bytes(&copy, bytes->text, bytes->length);
    vt_answers_close(answers);
    answers = vt_answers_replay(&copy);
    assert_non_null(answers);
    assert_true(vt_answers_replays(answers));
    assert_true(vt_answers_find(answers, 1, fields, &place));
    assert_string_equal(place.function, "step");
    assert_string_equal(place.file, "train.py");
    assert_int_equal(place.line, 41);
    assert_true(vt_answers_find(answers, 2, fields, &place));
    assert_string_equal(place.function, "");
    assert_null(place.file);
    assert_false(vt_answers_find(answers, 3, fields, &place));
    assert_false(vt_answers_find(answers, 2, more_fields, &place));
    vt_answers_keep(answers, 3, fields, &place); /* nothing is added to them */
    assert_false(vt_answers_find(answers, 3, fields, &place));
    vt_answers_close(answers);
}

static void cut_or_changed(void **state) {
    (void)state;
    struct vt_answers *answers = recorded();
    const struct vt_string *bytes = vt_answers_bytes(answers);
    for (size_t i = 0; i < bytes->length; i++) {
        struct vt_string copy = {0};
        vt_string_add_bytes(&copy, bytes->text, i);
        struct vt_answers *cut = vt_answers_replay(&copy); /* whole only between two answers */
        vt_answers_close(cut);
        vt_string_add_bytes(&copy, bytes->text, bytes->length);
        copy.text[i] ^= (char)0xff;
        struct vt_answers *changed = vt_answers_replay(&copy);
        struct place place;
        for (uint64_t question = 1; changed && question < 3; question++)
            if (vt_answers_find(changed, question, fields, &place))
                assert_true(!place.function || strlen(place.function) < bytes->length);
        vt_answers_close(changed);
    }
    vt_answers_close(answers);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip),
                                       cmocka_unit_test(cut_or_changed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
