/* SPDX-License-Identifier: MIT */
/*
 * A JSON writer. It writes the commas and the indentation, and always valid UTF-8: invalid bytes
 * become U+FFFD. Write errors stay in `out`; the caller checks ferror.
 */
#ifndef VRAMTRACE_ANALYZER_JSON_H
#define VRAMTRACE_ANALYZER_JSON_H

#include "util.h"

/* Initialize it to {.out = out, .first = true}. */
struct vt_json {
    FILE *out;
    unsigned depth;
    bool first;         /* the open object or array is still empty */
    bool in_one_line;   /* no line breaks or blanks */
    unsigned one_line;  /* the depth at which vt_json_open_line opened its line; 0: not in one */
    bool inside_html;   /* no '<', which could end a <script> */
    size_t *long_texts; /* how many bytes of long texts to write whole from here on; NULL: all */
};

/* `name`, here and below: the key, or NULL in an array. `bracket`: '{' or '['; to close, '}' or ']'. */
void vt_json_open(struct vt_json *j, const char *name, char bracket);
void vt_json_close(struct vt_json *j, char bracket);

/* As vt_json_open, with everything inside on one line. */
void vt_json_open_line(struct vt_json *j, const char *name, char bracket);

/* Opens an object. If not `there`, writes null and returns false. */
bool vt_json_object(struct vt_json *j, const char *name, bool there);

/* An array: use this as the condition of a loop over its items, from 0 to `count`. It opens the array before the
 * first item and closes it after the last. A loop over objects writes each object's keys and must not `continue`; a
 * loop over items may skip some. Neither may `break`. */
bool vt_json_objects(struct vt_json *j, const char *name, uint64_t item, uint64_t count);
bool vt_json_items(struct vt_json *j, const char *name, uint64_t item, uint64_t count);

/* Writes the comma, the new line and the key; the caller writes the value. */
void vt_json_key(struct vt_json *j, const char *name);

void vt_json_null(struct vt_json *j, const char *name);
void vt_json_string(struct vt_json *j, const char *name, const char *value); /* NULL becomes null */
void vt_json_number(struct vt_json *j, const char *name, uint64_t value);    /* UINT64_MAX: null */
void vt_json_ratio(struct vt_json *j, const char *name, double value);       /* negative: null */
void vt_json_boolean(struct vt_json *j, const char *name, bool value);
/* CLOCK_REALTIME in ns as RFC 3339, UTC, to the millisecond. 0, or beyond the calendar: null. */
void vt_json_time(struct vt_json *j, const char *name, uint64_t ns);
void vt_json_strings(struct vt_json *j, const char *name, char *const *values, uint32_t count);

/* A text in quotes, as vt_json_string writes it. */
void vt_json_add_text(struct vt_string *to, const char *text);

/* A time as vt_json_time writes it. False: null. */
#define VT_JSON_TIME 80
bool vt_json_format_time(uint64_t ns, char out[VT_JSON_TIME]);

#endif
