/* SPDX-License-Identifier: MIT */
/*
 * The JSON writer (see json.h).
 */
#include "json.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

static void text(struct vt_json *j, const char *s, size_t length) {
    fputc('"', j->out);
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)s[i];
        unsigned bytes = vt_utf8_length(s + i, length - i);
        if (!bytes) {
            fputs("\\ufffd", j->out);
            i++;
            continue;
        }
        if (c == '"' || c == '\\')
            fprintf(j->out, "\\%c", c);
        else if (c == '\n')
            fputs("\\n", j->out);
        else if (c == '\t')
            fputs("\\t", j->out);
        else if (c < 0x20 || c == 0x7f || (c == '<' && j->inside_html))
            fprintf(j->out, "\\u%04x", c);
        else if (c == 0xc2 && (unsigned char)s[i + 1] < 0xa0)
            fprintf(j->out, "\\u%04x", (unsigned char)s[i + 1]);
        else
            fwrite(s + i, 1, bytes, j->out);
        i += bytes;
    }
    fputc('"', j->out);
}

void vt_json_key(struct vt_json *j, const char *name) {
    if (!j->first)
        fputc(',', j->out);
    j->first = false;
    if (j->depth && !j->inside_html)
        fprintf(j->out, "\n%*s", (int)j->depth, "");
    if (name) {
        text(j, name, strlen(name));
        fputs(j->inside_html ? ":" : ": ", j->out);
    }
}

void vt_json_open(struct vt_json *j, const char *name, char bracket) {
    vt_json_key(j, name);
    fputc(bracket, j->out);
    j->depth++;
    j->first = true;
}

void vt_json_close(struct vt_json *j, char bracket) {
    j->depth--;
    if (!j->first && !j->inside_html)
        fprintf(j->out, "\n%*s", (int)j->depth, "");
    fputc(bracket, j->out);
    j->first = false;
}

void vt_json_null(struct vt_json *j, const char *name) {
    vt_json_key(j, name);
    fputs("null", j->out);
}

void vt_json_time(struct vt_json *j, const char *name, uint64_t ns) {
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm tm;
    char date[64], whole[96];
    if (!ns || !gmtime_r(&seconds, &tm) || !strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm)) {
        vt_json_null(j, name);
        return;
    }
    snprintf(whole, sizeof whole, "%s.%03uZ", date, (unsigned)(ns / 1000000u % 1000));
    vt_json_string(j, name, whole);
}

void vt_json_string(struct vt_json *j, const char *name, const char *value) {
    if (!value) {
        vt_json_null(j, name);
        return;
    }
    vt_json_key(j, name);
    text(j, value, strlen(value));
}

void vt_json_number(struct vt_json *j, const char *name, uint64_t value) {
    if (value == UINT64_MAX) {
        vt_json_null(j, name);
        return;
    }
    vt_json_key(j, name);
    fprintf(j->out, "%" PRIu64, value);
}

void vt_json_boolean(struct vt_json *j, const char *name, bool value) {
    vt_json_key(j, name);
    fputs(value ? "true" : "false", j->out);
}

void vt_json_strings(struct vt_json *j, const char *name, char *const *values, uint32_t count) {
    vt_json_open(j, name, '[');
    for (uint32_t i = 0; i < count; i++)
        vt_json_string(j, NULL, values[i]);
    vt_json_close(j, ']');
}
