/* SPDX-License-Identifier: MIT */
/*
 * Names in a log may hold anything: whatever they are, nothing that any format writes is obeyed by a
 * terminal, ends a line, or is not UTF-8.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "build.h"
#include "gate/gate.h"
#include "gate/gate_formats.h"
#include "report/formats.h"
#include "tests/unit/sizes.h"
#include "tests/unit/analyzer/log_maker.c"

#include <unistd.h>

/* An escape sequence, a title, a line of its own, a C1 control in UTF-8 and alone, a byte that is no
 * UTF-8, DEL; with colour on, our own styles would pass. */
#define EVIL                                                                                       \
    "\033[2Jx\033]0;t\007\nleak check passed: no leak\r\xc2\x9b"                                   \
    "31mq\x9b"                                                                                     \
    "q\xff\x7f"                                                                                    \
    "\xe2\x80\xa8::error ::x\xe2\x80\x8b\xe2\x80\xae\xef\xbb\xbf##[error]"

static char path[] = "/tmp/vt_escapes_XXXXXX";

static void put_phase(struct vt_maker *m, const char *name) {
    uint8_t record[256] = {0};
    uint32_t length = (uint32_t)(sizeof(struct vt_rec_name) + strlen(name) + 7) & ~7u;
    struct vt_rec_name n = {vt_word(VT_REC_NAME, 0, 0, length), 1, (uint32_t)strlen(name)};
    struct vt_rec_phase p = {
        .word = vt_word(VT_REC_PHASE, VT_PHASE_PUSH, 0, 0), .name = 1, .range = 1};
    memcpy(record, &n, sizeof n);
    memcpy(record + sizeof n, name, strlen(name));
    maker_put(m, 0, record, length);
    p.began = ++m->ticks;
    p.when = vt_when(VT_DEVICE_UNKNOWN, p.began);
    maker_put(m, 0, &p, sizeof p);
}

static void make_log(struct vt_maker *m) {
    maker_start(m);
    struct vt_log_header *h = maker_header(m);
    snprintf(h->host, sizeof h->host, "host%.50s", EVIL);
    snprintf(h->job, sizeof h->job, "%.39s", EVIL);
    snprintf(h->exe, sizeof h->exe, "/bin/%s", EVIL);
    h->command_bytes = (uint32_t)snprintf(h->command, sizeof h->command, "prog%s", EVIL) + 1;
    maker_device(m, 0, 0, 1 << 30, "GPU " EVIL);
    maker_module(m, 0, 1, 0x400000, 0x500000, 0, "1234", 4, "/lib/" EVIL ".so");
    maker_code(m, 0, 1, 7, "function" EVIL, "/src/" EVIL ".py");
    maker_code(m, 0, 2, 9, "other" EVIL, "../" EVIL "/b.py");
    put_phase(m, "phase" EVIL);
    uint64_t native[] = {0x401000},
             python[] = {VT_FRAME_PYTHON | 1ull << 32 | 8, VT_FRAME_PYTHON | 2ull << 32 | 9};
    maker_stack(m, 0, 1, native, 1);
    maker_stack(m, 0, 2, python, 2);
    for (unsigned i = 0; i < 30; i++)
        maker_alloc(m, 0, 0, VT_KIND_DEVICE, 2, 0, 1 + i % 2, 0x1000000 + i * 0x10000ul, 0x10000,
                    0);
}

/* Fails on what a terminal would obey; `marks`: what must still be readable. */
static void inspect(const char *what, const char *text, const char *mark) {
    size_t left = strlen(text);
    assert_non_null(text);
    if (!strstr(text, mark))
        fail_msg("%s: expected '%s' in:\n%s", what, mark, text);
    for (const char *at = text; left;) {
        unsigned bytes = vt_utf8_length(at, left);
        unsigned char c = (unsigned char)*at;
        if (!bytes || (c < 0x20 && c != '\n') || c == 0x7f ||
            (c == 0xc2 && (unsigned char)at[1] < 0xa0) || !memcmp(at, "\xe2\x80\xa8", 3) ||
            !memcmp(at, "\xe2\x80\x8b", 3) || !memcmp(at, "\xe2\x80\xae", 3) ||
            !memcmp(at, "\xef\xbb\xbf", 3) || !strncmp(at, "##[", 3))
            fail_msg("%s: byte 0x%02x at %zu: ...%.40s", what, c, (size_t)(at - text), at);
        at += bytes;
        left -= bytes;
    }
    if (strstr(text, "\nleak check passed"))
        fail_msg("%s: a name made a line of its own:\n%s", what, text);
}

static void all_formats(void **state) {
    struct vt_maker m;
    struct vt_model model;
    struct vt_model_options how = {.device = -1};
    struct vt_gate_options rules = {.max_peak = VT_UNKNOWN};
    struct vt_gate gate;
    struct vt_string message = {0};
    const char *logs[] = {path};
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    make_log(&m);
    assert_int_equal(maker_save(&m, path), 0);
    assert_int_equal(vt_build_model(logs, 1, &how, &model, &message), 0);
    for (const struct vt_format *f = vt_formats; f->name; f++) {
        char *text = NULL;
        size_t length;
        struct vt_format_options as = {0};
        FILE *out = open_memstream(&text, &length);
        assert_int_equal(f->write(&model, &as, out), 0);
        fclose(out);
        inspect(f->name, text, "host");
        free(text);
    }
    rules.chosen = true;
    memset(rules.fails, 1, sizeof rules.fails);
    vt_gate_judge(&model, &rules, &gate);
    assert_true(gate.failed);
    for (const struct vt_gate_format *f = vt_gate_formats; f->name; f++) {
        char *text = NULL;
        size_t length;
        struct vt_gate_format_options as = {0};
        FILE *out = open_memstream(&text, &length);
        vt_gate_write(&gate, f, &as, out);
        fclose(out);
        inspect(f->name, text, "31mq");
        free(text);
    }
    vt_gate_free(&gate);
    vt_build_free(&model);
    maker_free(&m);
    unlink(path);
}

static void one_line(void **state) {
    char text[] = "a\tb\n\033[0m\xc2\x9b\xc3\xa9\xff\x7f";
    (void)state;
    char turned[] = "a\xe2\x80\xae\x62\xe2\x81\xa9\xe2\x82\xac"; /* U+202E, U+2069, a euro */
    assert_string_equal(vt_printable(text), "a b ?[0m?\xc3\xa9??");
    assert_string_equal(vt_printable(turned), "a?b?\xe2\x82\xac");
    assert_null(vt_printable(NULL));
}

/* Our own styles pass where they are wanted, and nothing else does. */
static void pages(void **state) {
    for (int colour = 0; colour < 2; colour++) {
        char *text = NULL;
        size_t length;
        struct vt_page page;
        FILE *out = open_memstream(&text, &length);
        fputs("\033[1;31mLEAK\033[0m\n\033[8mhidden\t\xff", vt_page_open(&page));
        vt_page_close(&page, colour, out);
        fclose(out);
        assert_string_equal(text, colour ? "\033[1;31mLEAK\033[0m\n?[8mhidden ?"
                                         : "?[1;31mLEAK?[0m\n?[8mhidden ?");
        free(text);
    }
    (void)state;
}

/* What the log of a CI service obeys. */
static void commands(void **state) {
    static const char *const rows[][2] = {
        {"::error ::x\n \t::y\na::b\n", "?:error ::x\n  ?:y\na::b\n"},
        {"\xc2\xa0\xe3\x80\x80::x", "\xc2\xa0\xe3\x80\x80?:x"},
        {"a ##[error]b ##vso[c]d ## [e", "a ?#[error]b ?#vso[c]d ## [e"}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char *text = NULL;
        size_t length;
        FILE *out = open_memstream(&text, &length);
        vt_print(out, "%s", rows[i][0]);
        fclose(out);
        assert_string_equal(text, rows[i][1]);
        free(text);
    }
}

static void json_names(void **state) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    struct vt_json j = {.out = out, .first = true};
    (void)state;
    vt_json_open(&j, NULL, '{');
    vt_json_string(&j, "A\"B\033\xff", "v\xc2\x9b\xe2\x80\xa8\xf3\xa0\x81\x81##[");
    vt_json_close(&j, '}');
    fclose(out);
    assert_string_equal(
        text, "{\n \"A\\\"B\\u001b\\ufffd\": \"v\\u009b\\u2028\\udb40\\udc41\\u0023#[\"\n}");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_line), cmocka_unit_test(pages),
                                       cmocka_unit_test(commands), cmocka_unit_test(json_names),
                                       cmocka_unit_test(all_formats)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
