/* SPDX-License-Identifier: MIT */
/*
 * Saved state is loaded unchanged, from memory and from a file; truncated or modified state is refused with a
 * message, or loaded with other figures, and can be freed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <errno.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "base/base.h"

struct row {
    char *name;
    uint32_t site;
    bool open;
};

struct thing {
    uint64_t ticks;
    uint32_t *numbers;
    uint32_t number_count, number_room;
    struct row *rows;
    size_t row_count, row_room;
    uint8_t *bits; /* as many as numbers */
    struct vt_map map;
    char *text, *none;
    uint32_t index;
};

static void visit(struct thing *t, struct vt_state *s) {
    VT_STATE_SECTION(s, "thing", *t);
    VT_STATE(s, t->ticks);
    VT_STATE_ARRAY(s, t->numbers, t->number_count, t->number_room);
    VT_STATE_ITEMS(s, t->bits, t->number_count);
    VT_STATE_ROWS(s, t->rows, t->row_count, t->row_room);
    for (size_t i = 0; i < t->row_count; i++) {
        VT_STATE_BUT(s, t->rows[i], name);
        vt_state_text(s, &t->rows[i].name);
        vt_state_within(s, t->rows[i].site, t->number_count, "numbers");
    }
    VT_STATE_BOOLS(s, t->rows, t->row_count, open);
    vt_state_map(s, &t->map, t->row_count);
    vt_state_text(s, &t->text);
    vt_state_text(s, &t->none);
    vt_state_index(s, &t->index, t->number_count, VT_MAP_NONE);
}

static void make(struct thing *t) {
    *t = (struct thing){.ticks = 7, .text = vt_strdup("a text"), .index = 99};
    for (uint32_t i = 0; i < 100; i++)
        *VT_ADD(t->numbers, t->number_count, t->number_room) = i * i;
    t->bits = vt_alloc(t->number_count, 1);
    t->bits[99] = 3;
    for (uint32_t i = 0; i < 1000; i++) {
        *VT_ADD(t->rows, t->row_count, t->row_room) =
            (struct row){i % 3 ? vt_formatted("row %u", i) : NULL, i % 100, i % 2};
        vt_map_put(&t->map, (uint64_t)i << 40, i);
    }
}

static void free_thing(struct thing *t) {
    for (size_t i = 0; i < t->row_count; i++)
        free(t->rows[i].name);
    free(t->numbers);
    free(t->rows);
    free(t->bits);
    free(t->text);
    free(t->none);
    vt_map_free(&t->map);
}

static void check(const struct thing *t) {
    assert_int_equal(t->ticks, 7);
    assert_int_equal(t->number_count, 100);
    assert_int_equal(t->numbers[99], 99 * 99);
    assert_int_equal(t->bits[99], 3);
    assert_int_equal(t->row_count, 1000);
    assert_int_equal(t->map.used, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        VT_SCOPED char *name = i % 3 ? vt_formatted("row %u", i) : NULL;
        assert_true(vt_same_text(t->rows[i].name, name));
        assert_int_equal(t->rows[i].site, i % 100);
        assert_int_equal(t->rows[i].open, i % 2);
        assert_int_equal(vt_map_get(&t->map, (uint64_t)i << 40), i);
    }
    assert_string_equal(t->text, "a text");
    assert_null(t->none);
    assert_int_equal(t->index, 99);
}

static uint8_t *saved(size_t *length) {
    struct thing t;
    struct vt_state s;
    struct vt_string message = {0};
    make(&t);
    vt_state_save(&s, NULL);
    visit(&t, &s);
    assert_int_equal(vt_state_end(&s, "memory", &message), 0);
    free_thing(&t);
    *length = s.length;
    return s.saved;
}

static int load(const uint8_t *bytes, size_t length, struct thing *t, struct vt_string *message) {
    struct vt_state s;
    *t = (struct thing){0};
    vt_state_load(&s, bytes, length);
    visit(t, &s);
    return vt_state_end(&s, "LOG.summary", message);
}

static void there_and_back(void **state) {
    (void)state;
    size_t length;
    struct thing t;
    VT_SCOPED_STRING message = {0};
    VT_SCOPED uint8_t *bytes = saved(&length);
    assert_int_equal(load(bytes, length, &t, &message), 0);
    check(&t);
    t.text[0] = 'b'; /* it can go on changing */
    *VT_ADD(t.numbers, t.number_count, t.number_room) = 5;
    vt_map_put(&t.map, 5, 5);
    free_thing(&t);

    struct vt_state s;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    make(&t);
    vt_state_save(&s, file);
    visit(&t, &s);
    assert_int_equal(vt_state_end(&s, "file", &message), 0);
    fclose(file);
    free_thing(&t);
    assert_true(size < length / 2); /* compressed */
    assert_int_equal(load((uint8_t *)text, size, &t, &message), 0);
    check(&t);
    free_thing(&t);
    free(text);

    file = fopen("/dev/full", "w");
    make(&t);
    vt_state_save(&s, file);
    visit(&t, &s);
    assert_int_equal(vt_state_end(&s, "/dev/full", &message), -28);
    assert_string_equal(message.text, "/dev/full: cannot be written: No space left on device");
    fclose(file);
    free_thing(&t);
}

static void large(void **state) {
    (void)state;
    struct vt_state s;
    struct vt_string message = {0};
    enum { WORDS = 1 << 20 };
    VT_SCOPED uint64_t *words = vt_alloc(WORDS, sizeof *words);
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    vt_state_save(&s, file);
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = vt_mix(i);
    for (unsigned i = 0; i < 4; i++)
        vt_state_bytes(&s, words, WORDS * sizeof *words);
    assert_int_equal(vt_state_end(&s, "file", &message), 0);
    fclose(file);
    vt_state_load(&s, text, size);
    memset(words, 0, WORDS * sizeof *words);
    for (unsigned i = 0; i < 4; i++)
        vt_state_bytes(&s, words, WORDS * sizeof *words);
    assert_int_equal(vt_state_end(&s, "file", &message), 0);
    for (unsigned i = 0; i < WORDS; i++)
        assert_int_equal(words[i], vt_mix(i));
    free(text);

    size_t most = size / 2;
    file = open_memstream(&text, &size);
    vt_state_save(&s, file);
    s.most = most;
    for (unsigned i = 0; i < 4; i++)
        vt_state_bytes(&s, words, WORDS * sizeof *words);
    assert_int_equal(vt_state_end(&s, "file", &message), -EFBIG);
    assert_string_equal(message.text, "file: expected at most 16.0 MiB, found more");
    fclose(file);
    assert_in_range(size, most / 2, most);
    free(text);
}

/* The bytes with another checksum, as somebody might make them who means harm. */
static void set_sum(uint8_t *bytes, size_t length) {
    uint32_t sum = (uint32_t)crc32_z(0, bytes, length - 4);
    memcpy(bytes + length - 4, &sum, 4);
}

static void changed(void **state) {
    (void)state;
    size_t length, accepted = 0;
    struct thing t;
    VT_SCOPED uint8_t *bytes = saved(&length);
    VT_SCOPED uint8_t *copy = vt_alloc(length, 1);
    for (uint32_t i = 0; i < 20000; i++) {
        VT_SCOPED_STRING message = {0};
        uint64_t random = vt_mix(i + 1);
        size_t cut = i % 4 == 0 ? 4 + random % (length - 4) : length;
        memcpy(copy, bytes, length);
        for (unsigned k = 0; k < i % 3 + (i % 4 != 0); k++, random = vt_mix(random))
            copy[random % cut] ^= (uint8_t)(1 << random / cut % 8);
        assert_int_equal(load(copy, cut, &t, &message), -22); /* by its checksum */
        free_thing(&t);
        assert_memory_equal(message.text, "LOG.summary: byte ", 18);
        set_sum(copy, cut);
        int error = load(copy, cut, &t, &message);
        accepted += !error;
        free_thing(&t);
    }
    assert_in_range(accepted, 1, 19999);
    /* a count that would take more memory than there is */
    VT_SCOPED_STRING message = {0};
    memcpy(copy, bytes, length);
    memset(copy + 24 + 24 + 8, 0x7f, 8);
    set_sum(copy, length);
    assert_int_equal(load(copy, length, &t, &message), -22);
    free_thing(&t);
    assert_non_null(strstr(message.text, "byte 64: expected a count of items of 4 bytes, found "
                                         "9187201950435737471 with "));
    /* and another build's */
    VT_SCOPED_STRING other = {0};
    memcpy(copy, bytes, length);
    copy[24 + 16]++;
    set_sum(copy, length);
    assert_int_equal(load(copy, length, &t, &other), -22);
    free_thing(&t);
    VT_SCOPED char *expected = vt_formatted("LOG.summary: byte 48: expected the part \"thing\" of "
                                            "%zu, found \"thing\" of %zu: another build of "
                                            "vramtrace wrote it",
                                            sizeof t, sizeof t + 1);
    assert_string_equal(other.text, expected);
}

/* A file is refused unless all of it is as it was. */
static void changed_file(void **state) {
    (void)state;
    struct thing t;
    struct vt_state s;
    VT_SCOPED_STRING message = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    make(&t);
    vt_state_save(&s, file);
    visit(&t, &s);
    assert_int_equal(vt_state_end(&s, "file", &message), 0);
    fclose(file);
    free_thing(&t);
    for (uint32_t i = 0; i < 20000; i++) {
        VT_SCOPED_STRING why = {0};
        size_t at = vt_mix(i + 1) % size;
        uint8_t flipped = (uint8_t)(1 << i % 8);
        text[at] = (char)(text[at] ^ flipped);
        int error = load((uint8_t *)text, i % 3 ? size : at, &t, &why);
        free_thing(&t);
        text[at] = (char)(text[at] ^ flipped);
        assert_true(error == -22 || !error);
        if (!error) /* zstd has bits that mean nothing */
            assert_true(i % 3 != 0);
    }
    free(text);
}

/* A valid state never has a billion zeros. */
static void bomb(void **state) {
    (void)state;
    enum { ZEROS = 16 << 20 };
    struct thing t;
    VT_SCOPED_STRING message = {0};
    const size_t room = ZSTD_compressBound(ZEROS);
    VT_SCOPED uint8_t *zeros = vt_alloc(ZEROS, 1), *packed = vt_alloc(16 + room, 1);
    strcpy((char *)packed, "vramtrace state");
    size_t length = 16 + ZSTD_compress(packed + 16, room, zeros, ZEROS, 1);
    assert_true(length < ZEROS / 1100);
    assert_int_equal(load(packed, length, &t, &message), -22);
    free_thing(&t);
    assert_string_equal(message.text, "LOG.summary: byte 0: expected one frame of zstd, found a "
                                      "part of it");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back), cmocka_unit_test(large), cmocka_unit_test(changed),
        cmocka_unit_test(changed_file),   cmocka_unit_test(bomb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
