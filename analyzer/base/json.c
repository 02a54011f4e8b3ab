/* SPDX-License-Identifier: MIT */
/*
 * The JSON writer (see json.h).
 */
#include "json.h"

#include "vramtrace/text.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* The number of bytes at the start of `s` that need no escape. */
static size_t plain_bytes(const char *s, size_t length, bool inside_html) {
    size_t i = 0;
    for (unsigned bytes; i < length; i += bytes) {
        bytes = vt_shown_length(s + i, length - i);
        if (!bytes || s[i] == '"' || s[i] == '\\' || (s[i] == '<' && inside_html))
            break;
    }
    return i;
}

/* Escapes the character at `s`, where `left` bytes can be read. Returns its length. */
static unsigned escape_character(const char *s, size_t left, char out[16]) {
    unsigned bytes = vt_utf8_length(s, left);
    uint32_t c = bytes ? vt_text_character(s, bytes) : 0xfffd;
    if (c == '"' || c == '\\')
        snprintf(out, 16, "\\%c", (char)c);
    else if (c == '\n' || c == '\t')
        strcpy(out, c == '\n' ? "\\n" : "\\t");
    else if (c < 0x10000)
        snprintf(out, 16, "\\u%04x", c);
    else
        snprintf(out, 16, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 | (c & 0x3ff));
    return bytes ? bytes : 1;
}

static void add_text(struct vt_string *to, const char *s, size_t left, bool inside_html) {
    vt_string_add_bytes(to, "\"", 1);
    while (left) {
        char escaped[16];
        size_t plain = plain_bytes(s, left, inside_html);
        vt_string_add_bytes(to, s, plain);
        s += plain;
        left -= plain;
        if (left) {
            unsigned bytes = escape_character(s, left, escaped);
            vt_string_add(to, escaped);
            s += bytes;
            left -= bytes;
        }
    }
    vt_string_add_bytes(to, "\"", 1);
}

void vt_json_add_text(struct vt_string *to, const char *s) {
    add_text(to, s, strlen(s), false);
}

static void text(struct vt_json *j, const char *s, size_t length) {
    VT_SCOPED_STRING quoted = {0};
    if (plain_bytes(s, length, j->inside_html) == length) {
        fputc('"', j->out);
        fwrite(s, 1, length, j->out);
        fputc('"', j->out);
        return;
    }
    add_text(&quoted, s, length, j->inside_html);
    fwrite(quoted.text, 1, quoted.length, j->out);
}

void vt_json_key(struct vt_json *j, const char *name) {
    if (!j->first)
        fputc(',', j->out);
    j->first = false;
    if (j->depth && !j->in_one_line)
        fprintf(j->out, "\n%*s", (int)j->depth, "");
    if (name) {
        text(j, name, strlen(name));
        fputs(j->in_one_line ? ":" : ": ", j->out);
    }
}

void vt_json_open(struct vt_json *j, const char *name, char bracket) {
    vt_json_key(j, name);
    fputc(bracket, j->out);
    j->depth++;
    j->first = true;
}

void vt_json_open_line(struct vt_json *j, const char *name, char bracket) {
    vt_json_open(j, name, bracket);
    if (!j->in_one_line)
        j->one_line = j->depth;
    j->in_one_line = true;
}

void vt_json_close(struct vt_json *j, char bracket) {
    if (!j->first && !j->in_one_line)
        fprintf(j->out, "\n%*s", (int)j->depth - 1, "");
    fputc(bracket, j->out);
    if (j->one_line == j->depth) {
        j->one_line = 0;
        j->in_one_line = false;
    }
    j->depth--;
    j->first = false;
}

void vt_json_null(struct vt_json *j, const char *name) {
    vt_json_key(j, name);
    fputs("null", j->out);
}

bool vt_json_object(struct vt_json *j, const char *name, bool there) {
    if (there)
        vt_json_open(j, name, '{');
    else
        vt_json_null(j, name);
    return there;
}

bool vt_json_objects(struct vt_json *j, const char *name, uint64_t item, uint64_t count) {
    if (item)
        vt_json_close(j, '}');
    if (!vt_json_items(j, name, item, count))
        return false;
    vt_json_open(j, NULL, '{');
    return true;
}

bool vt_json_items(struct vt_json *j, const char *name, uint64_t item, uint64_t count) {
    if (!item)
        vt_json_open(j, name, '[');
    if (item == count)
        vt_json_close(j, ']');
    return item < count;
}

bool vt_json_format_time(uint64_t ns, char out[VT_JSON_TIME]) {
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm tm;
    char date[64];
    if (!ns || !gmtime_r(&seconds, &tm) || !strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm))
        return false;
    snprintf(out, VT_JSON_TIME, "%s.%03uZ", date, (unsigned)(ns / 1000000u % 1000));
    return true;
}

void vt_json_time(struct vt_json *j, const char *name, uint64_t ns) {
    char text[VT_JSON_TIME];
    vt_json_string(j, name, vt_json_format_time(ns, text) ? text : NULL);
}

/* A text of many hundred characters loses its end, and earlier where all long texts together are long. */
static size_t shown_bytes(struct vt_json *j, const char *s, size_t length) {
    enum { SHORT = 160, LONG = 2000 };
    size_t most = *j->long_texts >= LONG ? LONG : SHORT;
    if (length <= SHORT)
        return length;
    if (length > most) {
        length = most;
        while (length && ((unsigned char)s[length] & 0xc0) == 0x80)
            length--; /* no part of a character */
    }
    *j->long_texts -= length < *j->long_texts ? length : *j->long_texts;
    return length;
}

void vt_json_string(struct vt_json *j, const char *name, const char *value) {
    if (!value) {
        vt_json_null(j, name);
        return;
    }
    vt_json_key(j, name);
    size_t length = strlen(value), shown = j->long_texts ? shown_bytes(j, value, length) : length;
    if (shown == length) {
        text(j, value, length);
        return;
    }
    VT_SCOPED char *cut = vt_formatted("%.*s...", (int)shown, value);
    text(j, cut, strlen(cut));
}

void vt_json_number(struct vt_json *j, const char *name, uint64_t value) {
    if (value == UINT64_MAX) {
        vt_json_null(j, name);
        return;
    }
    vt_json_key(j, name);
    fprintf(j->out, "%" PRIu64, value);
}

void vt_json_ratio(struct vt_json *j, const char *name, double value) {
    if (value < 0) {
        vt_json_null(j, name);
        return;
    }
    vt_json_key(j, name);
    fprintf(j->out, "%.4f", value);
}

void vt_json_boolean(struct vt_json *j, const char *name, bool value) {
    vt_json_key(j, name);
    fputs(value ? "true" : "false", j->out);
}

void vt_json_strings(struct vt_json *j, const char *name, char *const *values, uint32_t count) {
    for (uint32_t i = 0; vt_json_items(j, name, i, count); i++)
        vt_json_string(j, NULL, values[i]);
}
