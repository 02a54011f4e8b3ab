/* SPDX-License-Identifier: MIT */
/*
 * A JSON writer, for every format that is JSON: it keeps count of commas and indentation, and what
 * it writes is valid UTF-8 whatever it was given.
 */
#ifndef VRAMTRACE_ANALYZER_JSON_H
#define VRAMTRACE_ANALYZER_JSON_H

#include "util.h"

/* Start it as {.out = out, .first = true}. */
struct vt_json {
    FILE *out;
    unsigned depth;
    bool first; /* nothing stands yet in what is open */
};

/* `name` is the key, NULL in an array; `bracket` '{' or '[', and '}' or ']' to close. */
void vt_json_open(struct vt_json *j, const char *name, char bracket);
void vt_json_close(struct vt_json *j, char bracket);

/* The comma, the new line and the key alone: the caller writes the value. */
void vt_json_key(struct vt_json *j, const char *name);

void vt_json_null(struct vt_json *j, const char *name);
void vt_json_string(struct vt_json *j, const char *name, const char *value); /* NULL: null */
void vt_json_number(struct vt_json *j, const char *name, uint64_t value);    /* all ones: null */
void vt_json_boolean(struct vt_json *j, const char *name, bool value);

#endif
