/* SPDX-License-Identifier: MIT */
/*
 * The text of a merged file -> rows (see merged_parse.h).
 *
 * Why no JSON library: a file of 10,000 processes has a million rows of one known form. They go from the
 * text into the row's fields, with nothing allocated between: json-c takes 0.33 s for the rows of 1,000 processes,
 * a whole report on them 0.2 s. And the program would need one library more wherever it is installed.
 */
#define _GNU_SOURCE
#include "merged_parse.h"

#include "base/base.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    ROW_MOST = 1 << 20,    /* bytes of a row */
    LEVELS_MOST = 1 << 12, /* of a series */
    NESTED_MOST = 8,       /* lists and objects in what is read over */
    SHOWN = 40,            /* bytes of what was found, in messages */
};

struct vt_merged_parser {
    gzFile in; /* gzip, or plain text */
    char *path;
    struct vt_string *message;
    struct vt_merged_row row;
    uint64_t number; /* of the row; the first is 1 */
    bool begun;      /* there was a schema */
    bool listed;     /* rows are in a list: [{...}, {...}] */
    uint64_t bytes;  /* of the file */
    char *buffer;    /* ROW_MOST + 1 bytes: the row from `at` on, and what follows it up to `end` */
    size_t at, end;
    char behind;   /* the byte at `at`, in whose place is the zero that ends the row before */
    size_t column; /* that is expected next */
    uint64_t levels[LEVELS_MOST];
};

int vt_merged_parser_fail(struct vt_merged_parser *p, const char *format, ...) {
    char *what;
    va_list args;
    va_start(args, format);
    if (vasprintf(&what, format, args) < 0)
        what = NULL;
    va_end(args);
    vt_string_format(p->message, "%s: row %llu: %s", p->path, (unsigned long long)p->number,
                     what ? vt_printable(what) : "not as expected");
    free(what);
    return -EINVAL;
}

int vt_merged_parser_open(const char *path, struct vt_merged_parser **parser,
                          struct vt_string *message) {
    const char *why;
    int fd = vt_file_open(path, &why);
    if (fd < 0) {
        vt_string_format(message, "%s: %s", path, why);
        return fd;
    }
    struct stat st;
    gzFile in = fstat(fd, &st) ? NULL : gzdopen(fd, "r");
    if (!in) {
        close(fd);
        vt_string_format(message, "%s: %s", path, strerror(ENOMEM));
        return -ENOMEM;
    }
    gzbuffer(in, 1 << 18);
    struct vt_merged_parser *p = *parser = vt_alloc(1, sizeof *p);
    p->in = in;
    p->path = vt_strdup(path);
    p->bytes = (uint64_t)st.st_size;
    p->message = message;
    p->buffer = vt_alloc(ROW_MOST + 1, 1);
    return 0;
}

void vt_merged_parser_close(struct vt_merged_parser *p) {
    gzclose(p->in);
    free(p->path);
    free(p->buffer);
    free(p);
}

const struct vt_merged_row *vt_merged_parser_row(const struct vt_merged_parser *p) {
    return &p->row;
}

/* --- the text --- */

/* Reads more of the file behind what is there. Returns the bytes read, 0 at its end, or -errno. */
static int fill(struct vt_merged_parser *p) {
    memmove(p->buffer, p->buffer + p->at, p->end - p->at);
    p->end -= p->at;
    p->at = 0;
    int got = gzread(p->in, p->buffer + p->end, (unsigned)(ROW_MOST - p->end)), error = 0;
    const char *why = gzerror(p->in, &error);
    if (error == Z_BUF_ERROR) {
        vt_merged_parser_fail(p, "the file is cut off here: expected the rest of its gzip stream, "
                                 "found its end");
        return -EINVAL;
    }
    if (got < 0 || error < 0) {
        vt_merged_parser_fail(p, "the file is damaged from here on: %s",
                              error == Z_ERRNO ? strerror(errno) : why);
        return -EINVAL;
    }
    p->end += (size_t)got;
    z_off_t done = gzoffset(p->in);
    vt_progress_at("reading", p->path, done > 0 ? (uint64_t)done : 0, p->bytes);
    return got;
}

/* Where the row that begins at `at` ends: behind its last brace, or where its line ends if it is none. `seen`:
 * bytes of it that were looked at. 0: more of the file is needed. */
struct extent {
    size_t seen;
    unsigned depth;
    bool quoted, escaped;
};

static size_t find_end(const struct vt_merged_parser *p, struct extent *e) {
    const char *s = p->buffer + p->at;
    size_t count = p->end - p->at;
    for (; e->seen < count; e->seen++) {
        char c = s[e->seen];
        if (c == '\n' && (e->quoted || s[0] != '{'))
            return e->seen;
        if (e->quoted) {
            e->quoted = c != '"' || e->escaped;
            e->escaped = c == '\\' && !e->escaped;
        } else if (c == '"') {
            e->quoted = true;
        } else if (c == '{') {
            e->depth++;
        } else if (c == '}' && --e->depth == 0) {
            return e->seen + 1;
        }
    }
    return 0;
}

/* Reads over what stands between rows: blanks, and what makes them a list. */
static void skip_between(struct vt_merged_parser *p) {
    for (; p->at < p->end; p->at++) {
        char c = p->buffer[p->at];
        if (c == (p->listed ? ']' : '['))
            p->listed = !p->listed;
        else if (!strchr(" \t\r\n", c) && !(c == ',' && p->listed))
            return;
        else if (!c)
            return;
    }
}

/* The next row, ended by a zero: an object, whether it is a line or many; what is none is a line. NULL at the end
 * of the file, and after an error. */
static char *next_row(struct vt_merged_parser *p, int *error) {
    struct extent extent = {0};
    size_t length;
    *error = 0;
    if (p->at < p->end)
        p->buffer[p->at] = p->behind;
    skip_between(p);
    while (p->at == p->end || !(length = find_end(p, &extent))) {
        if (extent.seen >= ROW_MOST) {
            *error = vt_merged_parser_fail(p, "expected at most %d bytes in a row, found more",
                                           ROW_MOST);
            return NULL;
        }
        int got = fill(p);
        if (got < 0)
            *error = got;
        else if (got == 0 && p->at == p->end && p->listed)
            *error = vt_merged_parser_fail(p, "expected the end of the list of rows, found that of "
                                              "the file: it is cut off");
        if (got < 0 || (got == 0 && p->at == p->end))
            return NULL;
        length = p->end - p->at; /* what is left is not whole */
        if (got == 0)
            break;
        if (!extent.seen)
            skip_between(p);
    }
    char *row = p->buffer + p->at;
    p->at += length;
    p->behind = p->buffer[p->at];
    p->buffer[p->at] = 0;
    return row;
}

static char *skip_space(char *s) {
    return s + strspn(s, " \t\r\n");
}

/* Says what was found instead of `what`. Returns NULL. */
static char *unexpected(struct vt_merged_parser *p, const char *what, const char *column,
                        const char *found) {
    char *text = vt_strndup(found, SHOWN);
    vt_merged_parser_fail(p, "expected %s%s%s, found %s", what, column ? " as " : "",
                          column ? column : "", text[0] ? text : "its end");
    free(text);
    return NULL;
}

static int hex_digits(const char *s, unsigned *value) {
    *value = 0;
    for (int i = 0; i < 4; i++) {
        char c = s[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (digit > 15)
            return -1;
        *value = *value << 4 | digit;
    }
    return 0;
}

static char *put_utf8(char *to, unsigned c) {
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 63));
        *to++ = (char)(0x80 | (c & 63));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 63));
        *to++ = (char)(0x80 | (c >> 6 & 63));
        *to++ = (char)(0x80 | (c & 63));
    }
    return to;
}

/* What stands behind "\u", two of which may be one character. NULL: it is none, or a zero. */
static char *unescape_unicode(char *s, char **to) {
    unsigned c, low;
    if (hex_digits(s, &c) || !c)
        return NULL;
    s += 4;
    if (c >= 0xd800 && c < 0xdc00 && s[0] == '\\' && s[1] == 'u' && !hex_digits(s + 2, &low) &&
        low >= 0xdc00 && low < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        s += 6;
    } else if (c >= 0xd800 && c < 0xe000) {
        c = 0xfffd;
    }
    *to = put_utf8(*to, c);
    return s;
}

/* A text in quotes, decoded in its place. Returns what stands behind it, or NULL. */
static char *parse_text(struct vt_merged_parser *p, char *s, const char *column, char **text) {
    static const char from[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char *start = s, *to = s + 1;
    if (*s != '"')
        return unexpected(p, "a text", column, s);
    *text = to;
    for (s++; *s != '"';) {
        const char *simple;
        if ((unsigned char)*s < 0x20)
            return unexpected(p, "a text with an end", column, start);
        if (*s != '\\') {
            *to++ = *s++;
        } else if (s[1] == 'u') {
            char *behind = unescape_unicode(s + 2, &to);
            if (!behind)
                return unexpected(p, "four hex digits, not all 0,", column, s);
            s = behind;
        } else if (s[1] && (simple = strchr(from, s[1]))) {
            *to++ = meant[simple - from];
            s += 2;
        } else {
            return unexpected(p, "an escape of JSON", column, s);
        }
    }
    *to = 0;
    return s + 1;
}

/* "12.0", "1.764e+18": a whole number, as those write it to whom all numbers are floating-point. Digits that are
 * lost that way are lost. Returns what stands behind it; NULL: it is none, or too large. */
static char *parse_decimal(char *s, uint64_t *number) {
    char *at = s + strspn(s, "0123456789"), *point = at, *last;
    long exponent = 0;
    at += *at == '.' ? 1 + strspn(at + 1, "0123456789") : 0;
    for (last = at; last > point && (last[-1] == '0' || last[-1] == '.');)
        last--; /* zeros behind the point */
    exponent -= last > point ? last - point - 1 : 0;
    *number = 0;
    for (; s < last; s++) {
        if (*s != '.' && *number > (INT64_MAX - 9) / 10)
            return NULL;
        *number = *s == '.' ? *number : *number * 10 + (uint64_t)(*s - '0');
    }
    if (*at == 'e' || *at == 'E') {
        bool sign = at[1] == '-' || at[1] == '+';
        if (at[1 + sign] < '0' || at[1 + sign] > '9')
            return NULL;
        long said = strtol(at + 1, &at, 10);
        exponent += said > INT32_MAX ? INT32_MAX : said < INT32_MIN ? INT32_MIN : said;
    }
    for (; exponent < 0 && *number && *number % 10 == 0; exponent++)
        *number /= 10;
    for (; exponent > 0 && *number; exponent--) {
        if (*number > INT64_MAX / 10)
            return NULL;
        *number *= 10;
    }
    return exponent < 0 && *number ? NULL : at;
}

static char *parse_number(struct vt_merged_parser *p, char *s, const char *column,
                          uint64_t *number) {
    char *at = s;
    *number = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        *number = *number * 10 + (uint64_t)(*at - '0');
        if (at - s > 18 || *number > INT64_MAX)
            return unexpected(p, "a number below 2^63", column, s);
    }
    if (at > s && (*at == '.' || *at == 'e' || *at == 'E'))
        at = parse_decimal(s, number);
    return at && at > s ? at : unexpected(p, "a whole number", column, s);
}

static char *parse_levels(struct vt_merged_parser *p, char *s, const char *column,
                          struct vt_merged_levels *levels) {
    uint32_t count = 0;
    if (*s != '[')
        return unexpected(p, "a list of numbers", column, s);
    s = skip_space(s + 1);
    while (*s != ']') {
        if (count == LEVELS_MOST)
            return unexpected(p, "at most 4096 numbers", column, s);
        if (!(s = parse_number(p, s, column, &p->levels[count++])))
            return NULL;
        s = skip_space(s);
        if (*s == ',')
            s = skip_space(s + 1);
        else if (*s != ']')
            return unexpected(p, "a comma or the list's end", column, s);
    }
    *levels = (struct vt_merged_levels){p->levels, count};
    return s + 1;
}

/* Reads over a value of a column that is not ours. */
static char *skip_value(struct vt_merged_parser *p, char *s, const char *column) {
    unsigned depth = 0;
    char *unused;
    do {
        s = skip_space(s);
        if (*s == '"') {
            if (!(s = parse_text(p, s, column, &unused)))
                return NULL;
        } else if (*s == '[' || *s == '{') {
            if (++depth > NESTED_MOST)
                return unexpected(p, "fewer lists in each other", column, s);
            s++;
        } else if (depth && (*s == ']' || *s == '}')) {
            depth--;
            s++;
        } else if (depth && (*s == ',' || *s == ':')) {
            s++;
        } else {
            size_t length = strspn(s, "0123456789+-.eEtrufalsn");
            if (!length)
                return unexpected(p, "a value", column, s);
            s += length;
        }
    } while (depth);
    return s;
}

/* "true", "false", "null": returns what stands behind, or NULL without a message. */
static char *parse_word(char *s, const char *word) {
    size_t length = strlen(word);
    return strncmp(s, word, length) ? NULL : s + length;
}

/* An empty one is unknown: the first row's, which may be known for it only later. */
static char *parse_id(struct vt_merged_parser *p, char *s, const char *column, uint64_t *id) {
    char *text, *end;
    if (!(s = parse_text(p, s, column, &text)) || !text[0])
        return s;
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return unexpected(p, "16 hex digits", column, text);
    *id = strtoull(text, &end, 16);
    return s;
}

/* pandas writes truth as 1.0 and 0.0 where some rows do not have it. */
static char *parse_flag(struct vt_merged_parser *p, char *s, const char *column, bool *flag) {
    char *behind;
    uint64_t number = 2;
    if ((behind = parse_word(s, "true")) || (behind = parse_word(s, "false")) ||
        (behind = parse_word(s, "null")))
        *flag = *s == 't';
    else if (*s >= '0' && *s <= '1' && !(behind = parse_number(p, s, column, &number)))
        return NULL;
    else if (number > 1)
        return unexpected(p, "true or false", column, s);
    else
        *flag = number == 1;
    return behind;
}

static char *parse_value(struct vt_merged_parser *p, char *s, const struct vt_merged_column *c) {
    void *value = vt_merged_value(&p->row, c);
    char *text, *behind;
    switch (c->type) {
    case VT_MERGED_TEXT:
        if ((behind = parse_word(s, "null")))
            return behind;
        s = parse_text(p, s, c->name, &text);
        *(const char **)value = text;
        return s;
    case VT_MERGED_NUMBER:
    case VT_MERGED_COUNT:
        behind = parse_word(s, "null");
        return behind ? behind : parse_number(p, s, c->name, value);
    case VT_MERGED_ID:
        behind = parse_word(s, "null");
        return behind ? behind : parse_id(p, s, c->name, value);
    case VT_MERGED_FLAG:
        return parse_flag(p, s, c->name, value);
    case VT_MERGED_LEVELS:
        behind = parse_word(s, "null");
        return behind ? behind : parse_levels(p, s, c->name, value);
    case VT_MERGED_TIME: /* there as a number, too */
        return skip_value(p, s, c->name);
    }
    return NULL;
}

/* The column of this name: nearly always that after the one before. NULL: none of ours. */
static const struct vt_merged_column *find_column(struct vt_merged_parser *p, const char *name) {
    for (size_t i = 0; i < vt_merged_column_count; i++) {
        size_t column = (p->column + i) % vt_merged_column_count;
        if (!strcmp(vt_merged_columns[column].name, name)) {
            p->column = column + 1;
            return &vt_merged_columns[column];
        }
    }
    return NULL;
}

/* --- a row --- */

/* The first row of a file has no values: only its schema is read. */
static bool is_schema(const struct vt_merged_parser *p) {
    return vt_same_text(p->row.row, "schema");
}

static int parse_row(struct vt_merged_parser *p, char *s) {
    p->row = vt_merged_blank;
    p->column = 0;
    s = skip_space(s);
    if (*s != '{') {
        unexpected(p, "a row of JSON", NULL, s);
        return -EINVAL;
    }
    s = skip_space(s + 1);
    while (*s != '}') {
        char *name;
        if (!(s = parse_text(p, s, NULL, &name)))
            return -EINVAL;
        s = skip_space(s);
        if (*s != ':') {
            unexpected(p, "a colon", name, s);
            return -EINVAL;
        }
        s = skip_space(s + 1);
        const struct vt_merged_column *column = find_column(p, name);
        bool wanted = column && (!is_schema(p) || column->type == VT_MERGED_TEXT);
        s = wanted ? parse_value(p, s, column) : skip_value(p, s, name);
        if (!s)
            return -EINVAL;
        s = skip_space(s);
        if (*s == ',' && *(s = skip_space(s + 1)) == '"')
            continue;
        if (*s != '}') {
            unexpected(p, "the next column or the row's end", NULL, s);
            return -EINVAL;
        }
    }
    s = skip_space(s + 1);
    if (*s) {
        unexpected(p, "the row's end", NULL, s);
        return -EINVAL;
    }
    return 0;
}

/* Whether all is there that a row of this kind has to have. */
static int check_row(struct vt_merged_parser *p, unsigned kind) {
    for (size_t i = 0; i < vt_merged_column_count; i++) {
        const struct vt_merged_column *c = &vt_merged_columns[i];
        bool counted =
            c->type == VT_MERGED_COUNT || c->offset == offsetof(struct vt_merged_row, process);
        uint64_t number = 0;
        if (!(c->rows & kind) || !counted)
            continue;
        memcpy(&number, vt_merged_value(&p->row, c), sizeof number);
        if (number == VT_UNKNOWN)
            return vt_merged_parser_fail(p, "expected a value as %s, found none", c->name);
    }
    return 0;
}

static int no_schema(struct vt_merged_parser *p) {
    return vt_merged_parser_fail(p,
                                 "expected the schema " VT_MERGED_SCHEMA
                                 "%d in the first row, found none: this is no merged file, or one "
                                 "that was written anew without its row 'schema'",
                                 VT_MERGED_VERSION);
}

int vt_merged_parser_next(struct vt_merged_parser *p, unsigned *kind) {
    int error;
    for (;;) {
        p->number++;
        char *row = next_row(p, &error);
        if (!row && !error && !p->begun)
            return no_schema(p);
        if (!row)
            return error;
        error = parse_row(p, row);
        if (error)
            return error;
        if (is_schema(p)) {
            *kind = VT_MERGED_SCHEMA_ROW;
            p->begun = true;
            return 1;
        }
        if (!p->begun)
            return no_schema(p);
        for (unsigned i = 0; i < VT_MERGED_KINDS; i++)
            if (vt_same_text(p->row.row, vt_merged_kinds[i])) {
                *kind = 1u << i;
                error = check_row(p, *kind);
                return error ? error : 1;
            }
    }
}
