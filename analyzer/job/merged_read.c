/* SPDX-License-Identifier: MIT */
/*
 * Reads a merged file (see merged.h) in exactly the form that merged.c writes: one row per line, the columns in their
 * order, numbers in digits. Input is not trusted: any other form is refused, and values are checked before they are
 * added.
 *
 * Why no JSON library: a file of 10,000 processes has a million rows of one known form. They are decoded directly into
 * the fields of a record, without allocations. json-c needs 0.33 s for the rows of 1,000 processes; a whole report on
 * them takes 0.2 s. json-c would also be another dependency.
 */
#define _GNU_SOURCE
#include "job.h"
#include "merged.h"
#include "merged_record.h"
#include "tables.h"

#include "vramtrace/version.h"

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
    SHOWN = 40,            /* bytes of the found text shown in messages */
    UTF8_MOST = 4,         /* bytes of a character */
};

#define ROW_START "{\"row\":"
#define ONLY_OURS                                                                                  \
    "; a merged file is read only as 'vramtrace merge' wrote it: other tools may read it, but "    \
    "not rewrite it"

struct reader {
    gzFile in; /* gzip, or plain text */
    const char *path;
    uint64_t bytes; /* of the file */
    struct vt_string *message;
    uint64_t number; /* the row's number, from 1 */
    char *row, *at;  /* the row's text, and the next byte to read */
    bool begun;      /* the schema was read */
    /* The row's values. Its texts are in `row`. */
    struct vt_merged_record record;
    uint64_t levels[LEVELS_MOST];
    struct vt_job *job;
    struct vt_map processes; /* id -> index in the job, or SKIPPED */
    struct vt_map devices;   /* device_key -> index in the job */
    uint32_t process;        /* of the current row */
    uint32_t line;           /* the last line read, or VT_JOB_NONE, and its id: */
    uint64_t line_id;
};

#define SKIPPED (VT_JOB_NONE - 1) /* the job already has that process */

static int __attribute__((format(printf, 2, 3))) fail(struct reader *r, const char *format, ...) {
    VT_SCOPED char *what = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&what, format, args) < 0)
        what = NULL;
    va_end(args);
    vt_string_format(r->message, "%s: row %llu: %s", r->path, (unsigned long long)r->number,
                     what ? vt_printable(what) : "not as expected");
    return -EINVAL;
}

#define EXPECT(reader, condition, ...)                                                             \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return fail((reader), __VA_ARGS__);                                                    \
    } while (0)

/* Reports that the next text is not `what`, the value of this column (NULL: outside a column). */
static int unexpected(struct reader *r, const char *what, const char *column) {
    return fail(r, "expected %s%s%s at byte %zu, found %.*s" ONLY_OURS, what, column ? " as " : "",
                column ? column : "", (size_t)(r->at - r->row), SHOWN, *r->at ? r->at : "its end");
}

/* --- the text of a row --- */

/* Reads the next row, without its newline. Returns 1, 0 at the end of the file, or -EINVAL. */
static int next_row(struct reader *r) {
    enum { TOLD = 1024 };
    int error;
    r->number++;
    if (r->number % TOLD == 1)
        vt_progress_at("reading", r->path, (uint64_t)gzoffset(r->in), r->bytes);
    r->at = r->row;
    bool found = gzgets(r->in, r->row, ROW_MOST) != NULL;
    size_t length = found ? strlen(r->row) : 0;
    if (length && r->row[length - 1] == '\n') {
        r->row[length - 1] = 0;
        return 1;
    }
    const char *why = gzerror(r->in, &error);
    EXPECT(r, error != Z_BUF_ERROR,
           "the file is cut off here: expected the rest of its gzip stream, found its end");
    EXPECT(r, !error, "the file is damaged from here on: %s",
           error == Z_ERRNO ? strerror(errno) : why);
    EXPECT(r, length < ROW_MOST - 1, "expected at most %d bytes in a row, found more", ROW_MOST);
    EXPECT(r, !found || strncmp(r->row, ROW_START, strlen(ROW_START)),
           "expected the end of the row, found %s",
           gzeof(r->in) ? "that of the file: it is cut off" : "a zero byte");
    return found; /* invalid row */
}

/* Whether this text comes next; consumes it if so. */
static bool comes(struct reader *r, const char *text) {
    size_t length = strlen(text);
    if (strncmp(r->at, text, length))
        return false;
    r->at += length;
    return true;
}

/* Reads text escaped by vt_json_add_text into `to`. Returns the end of the result; NULL: malformed. */
static char *read_escaped(struct reader *r, char *to) {
    static const char from[] = "\"\\nt", meant[] = "\"\\\n\t";
    const char *simple = r->at[1] ? strchr(from, r->at[1]) : NULL;
    if (simple) {
        r->at += 2;
        *to++ = meant[simple - from];
        return to;
    }
    if (comes(r, "\\ufffd"))
        return stpcpy(to, "\xef\xbf\xbd");
    if (strncmp(r->at, "\\u00", 4) || strspn(r->at + 4, "0123456789abcdef") < 2)
        return NULL;
    unsigned control = (unsigned)strtoul((char[]){r->at[4], r->at[5], 0}, NULL, 16);
    if (!control || control >= 0xa0)
        return NULL;
    r->at += 6;
    if (control >= 0x80)
        *to++ = (char)0xc2;
    *to++ = (char)control;
    return to;
}

/* Reads a quoted text, decoded in place. */
static int read_text(struct reader *r, const char *column, const char **text) {
    char *to = r->at;
    if (!comes(r, "\""))
        return unexpected(r, "a text", column);
    *text = to;
    while (*r->at != '"') {
        unsigned bytes = (unsigned char)*r->at < 0x20 ? 0 : vt_utf8_length(r->at, UTF8_MOST);
        if (!bytes)
            return unexpected(r, "a text in UTF-8, with an end,", column);
        if (*r->at != '\\')
            for (; bytes; bytes--)
                *to++ = *r->at++;
        else if (!(to = read_escaped(r, to)))
            return unexpected(r, "an escape as vramtrace writes it", column);
    }
    *to = 0;
    r->at++;
    return 0;
}

static int read_number(struct reader *r, const char *column, uint64_t most, uint64_t *number) {
    const char *start = r->at;
    for (*number = 0; *r->at >= '0' && *r->at <= '9'; r->at++) {
        uint64_t digit = (uint64_t)(*r->at - '0');
        EXPECT(r, *number <= (most - digit) / 10, "expected at most %llu as %s, found %.*s",
               (unsigned long long)most, column, SHOWN, start);
        *number = *number * 10 + digit;
    }
    return r->at > start ? 0 : unexpected(r, "a whole number", column);
}

static int read_id(struct reader *r, const char *column, uint64_t *id) {
    enum { DIGITS = 16 };
    if (*r->at != '"' || strspn(r->at + 1, "0123456789abcdef") != DIGITS ||
        r->at[1 + DIGITS] != '"')
        return unexpected(r, "16 hex digits", column);
    *id = strtoull(r->at + 1, NULL, 16);
    r->at += DIGITS + 2;
    return 0;
}

static int read_levels(struct reader *r, const char *column, struct vt_levels *levels) {
    if (!comes(r, "["))
        return unexpected(r, "a list of numbers", column);
    levels->bytes = r->levels;
    levels->count = 0;
    do {
        EXPECT(r, levels->count < LEVELS_MOST, "expected at most %d levels, found more",
               LEVELS_MOST);
        int error = read_number(r, column, INT64_MAX, &r->levels[levels->count++]);
        if (error)
            return error;
    } while (comes(r, ","));
    return comes(r, "]") ? 0 : unexpected(r, "a comma or the list's end", column);
}

static int read_word(struct reader *r, const struct vt_merged_column *c, uint64_t *number) {
    const char *word;
    int error = read_text(r, c->name, &word);
    if (error)
        return error;
    *number = vt_kind_find(word, c->type->words, (uint32_t)c->type->most + 1);
    EXPECT(r, *number <= c->type->most, "expected another word as %s, found %s", c->name, word);
    return 0;
}

static void set_number(const struct vt_merged_column *c, void *field, uint64_t number) {
    if (c->type->size == 4)
        *(uint32_t *)field = (uint32_t)number;
    else
        *(uint64_t *)field = number;
}

static void set_null(const struct vt_merged_column *c, void *field) {
    if (c->type->size)
        set_number(c, field, c->type->unknown);
    else
        *(const char **)field = NULL;
}

static int read_value(struct reader *r, const struct vt_merged_column *c, void *field) {
    uint64_t number = 0;
    const char *unused;
    int error = 0;
    switch (c->type->form) {
    case VT_MERGED_TEXT:
        return read_text(r, c->name, field);
    case VT_MERGED_TIME: /* the row also has it as a number */
        return read_text(r, c->name, &unused);
    case VT_MERGED_LIST:
        return read_levels(r, c->name, field);
    case VT_MERGED_FLAG:
        *(bool *)field = comes(r, "true");
        return *(bool *)field || comes(r, "false") ? 0 : unexpected(r, "true or false", c->name);
    case VT_MERGED_HEX:
        error = read_id(r, c->name, &number);
        break;
    case VT_MERGED_WORD:
        error = read_word(r, c, &number);
        break;
    case VT_MERGED_NUMBER:
        error = read_number(r, c->name, c->type->most, &number);
    }
    if (!error)
        set_number(c, field, number);
    return error;
}

/* Whether this column comes next; consumes its name if so. */
static bool comes_column(struct reader *r, const char *name) {
    char *start = r->at;
    if (comes(r, ",\"") && comes(r, name) && comes(r, "\":"))
        return true;
    r->at = start;
    return false;
}

/* Whether the next column is known for rows of this kind. */
static bool comes_known(struct reader *r, unsigned kind) {
    char *start = r->at;
    bool known = false;
    for (size_t i = 0; i < vt_merged_column_count && !known; i++)
        known = (vt_merged_columns[i].rows & kind) && comes_column(r, vt_merged_columns[i].name);
    r->at = start;
    return known;
}

/* Skips columns of later versions. */
static int skip_unknown(struct reader *r, unsigned kind) {
    const char *unused;
    int error = 0;
    while (!error && *r->at == ',' && !comes_known(r, kind)) {
        r->at++;
        error = read_text(r, NULL, &unused);
        if (!error && !comes(r, ":"))
            error = unexpected(r, "a colon", NULL);
        if (error)
            return error;
        if (*r->at == '"') {
            error = read_text(r, NULL, &unused);
        } else if (*r->at == '[') {
            r->at += strcspn(r->at, "]");
            error = comes(r, "]") ? 0 : unexpected(r, "the list's end", NULL);
        } else {
            size_t length = strcspn(r->at, ",}");
            error = length ? 0 : unexpected(r, "a value", NULL);
            r->at += length;
        }
    }
    return error;
}

/* Reads the rest of a row after its kind: all columns of the kind. Nullable columns and figures may be missing,
 * because earlier versions did not have them. */
static int read_columns(struct reader *r, unsigned kind) {
    int error = 0;
    for (size_t i = 1; i < vt_merged_column_count && !error; i++) {
        const struct vt_merged_column *c = &vt_merged_columns[i];
        void *field = vt_merged_field(&r->record, c);
        if (!(c->rows & kind))
            continue;
        bool there = comes_column(r, c->name);
        if (!there) {
            error = skip_unknown(r, kind);
            there = !error && comes_column(r, c->name);
        }
        if (error)
            return error;
        if (there ? c->type->null && comes(r, "null") : c->type->null || c->type->optional)
            set_null(c, field);
        else
            error = there ? read_value(r, c, field) : unexpected(r, c->name, NULL);
    }
    if (!error)
        error = skip_unknown(r, kind);
    if (!error && (!comes(r, "}") || *r->at))
        error = unexpected(r, "the next column or the row's end", NULL);
    return error;
}

/* --- rows --- */

/* Whether `word` is one of these names, or is NULL and `or_null` is set. */
static bool is_word(const char *word, const char *const *names, uint32_t count, bool or_null) {
    return word ? vt_kind_find(word, names, count) != UINT32_MAX : or_null;
}

static int read_schema(struct reader *r) {
    const char *schema;
    char *end;
    size_t length = strlen(VT_MERGED_SCHEMA);
    if (!comes_column(r, "schema"))
        return unexpected(r, "schema", NULL);
    int error = read_text(r, "schema", &schema);
    if (error)
        return error;
    EXPECT(r, !strncmp(schema, VT_MERGED_SCHEMA, length),
           "expected the schema " VT_MERGED_SCHEMA "%d, found %s", VT_MERGED_VERSION, schema);
    unsigned long version = strtoul(schema + length, &end, 10);
    EXPECT(r, version >= 1 && !*end, "expected a number after " VT_MERGED_SCHEMA ", found %s",
           schema);
    EXPECT(r, version <= VT_MERGED_VERSION,
           "it is of schema %s, and this vramtrace %s reads up to " VT_MERGED_SCHEMA
           "%d: read it with the newer vramtrace that wrote it",
           schema, VT_VERSION, VT_MERGED_VERSION);
    vt_map_free(&r->processes); /* if files are concatenated */
    r->line = VT_JOB_NONE;
    r->begun = true;
    return 0;
}

static int read_process(struct reader *r) {
    struct vt_job_process *p = &r->record.process;
    EXPECT(r, p->id != VT_UNKNOWN && p->log && p->command && p->program,
           "expected an id, a log, a command and a program, found null");
    EXPECT(r, vt_map_get(&r->processes, p->id) == VT_MAP_NONE,
           "expected another process, found a second row of %016llx", (unsigned long long)p->id);
    p->host = vt_job_add_host(r->job, r->record.host, r->record.boot);
    p->quality.missing = p->dropped_events;
    bool added = vt_job_add_process(r->job, *p);
    vt_map_put(&r->processes, p->id, added ? r->job->process_count - 1 : SKIPPED);
    return 0;
}

static uint64_t device_key(const struct reader *r) {
    return vt_mix(r->process * 256ull + r->record.device_number);
}

/* Finds the process and the device of the row. The process is SKIPPED if the job already has it. */
static int find_process(struct reader *r) {
    unsigned layer = r->record.line.layer;
    r->process = vt_map_get(&r->processes, r->record.process.id);
    EXPECT(r, r->process != VT_MAP_NONE, "expected a process of a row before, found %016llx",
           (unsigned long long)r->record.process.id);
    if (r->record.device_number == VT_DEVICE_UNKNOWN &&
        (layer == VT_LAYER_HOST || layer == VT_LAYER_MANAGED))
        r->record.device_number = VT_DEVICE_HOST;
    return 0;
}

static int read_device(struct reader *r) {
    r->record.device.ordinal = r->record.device_number;
    if (r->process != SKIPPED)
        vt_map_put(&r->devices, device_key(r), (uint32_t)r->job->device_count);
    return 0;
}

/* Reads a series; it follows its device's row. */
static int read_series(struct reader *r) {
    const struct vt_levels *read = &r->record.levels;
    EXPECT(r, read->peak < read->count && read->from <= read->to,
           "expected levels from an earlier to a later time, with the peak among them, found %u",
           read->count);
    if (r->process == SKIPPED)
        return 0;
    uint32_t at = vt_map_get(&r->devices, device_key(r));
    EXPECT(r, at != VT_MAP_NONE && !r->job->devices[at].levels.count,
           "expected the series of a device of a row before, each once, found that of %u",
           r->record.device_number);
    r->job->devices[at].levels = vt_job_levels(read);
    return 0;
}

/* Rows of one line are adjacent. */
static int read_line(struct reader *r) {
    const struct vt_job_line *line = &r->record.line;
    EXPECT(r, line->text && line->key != VT_UNKNOWN, "expected a line's id and text, found null");
    if (r->line == VT_JOB_NONE || r->line_id != line->key) {
        r->line_id = line->key;
        r->line = vt_job_add_line(r->job, *line);
    }
    return 0;
}

static int read_cell(struct reader *r) {
    int error = read_line(r);
    r->record.cell.line = r->line;
    r->record.cell.device = r->record.device_number;
    return error;
}

static int read_owned(struct reader *r) {
    const struct vt_job_owner *owner = &r->record.owner;
    bool anonymous = owner->rest || owner->unowned;
    EXPECT(r, owner->text, "expected an owner's text, found null");
    EXPECT(r, is_word(owner->root, vt_root_names, VT_ROOTS, anonymous), "expected a root, found %s",
           owner->root ? owner->root : "null");
    EXPECT(r, is_word(owner->purpose, vt_purpose_names, VT_PURPOSES, anonymous),
           "expected a role, found %s", owner->purpose ? owner->purpose : "null");
    r->record.owned.owner = vt_job_add_owner(r->job, *owner);
    return 0;
}

static int read_leak(struct reader *r) {
    int error = read_line(r);
    r->record.leak.line = r->line;
    return error;
}

static int read_oom(struct reader *r) {
    bool known = r->record.line.text;
    int error = known ? read_line(r) : 0;
    r->record.oom.line = known ? r->line : VT_JOB_NONE;
    r->record.oom.device = r->record.device_number;
    return error;
}

/* The handler of each kind of row, and the part of the record that it adds to the job. */
static const struct taken {
    int (*take)(struct reader *);
    enum vt_job_rows rows;
    size_t part; /* 0: nothing is added */
} taken[VT_MERGED_KINDS] = {
    {read_process, 0, 0},
    {read_device, VT_DEVICE_ROWS, offsetof(struct vt_merged_record, device)},
    {read_series, 0, 0},
    {read_cell, VT_CELL_ROWS, offsetof(struct vt_merged_record, cell)},
    {read_owned, VT_OWNED_ROWS, offsetof(struct vt_merged_record, owned)},
    {read_leak, VT_LEAK_ROWS, offsetof(struct vt_merged_record, leak)},
    {read_oom, VT_OOM_ROWS, offsetof(struct vt_merged_record, oom)},
};

static int read_row(struct reader *r) {
    if (!comes(r, ROW_START))
        return unexpected(r, "a row of a merged file", NULL);
    int error = read_text(r, "row", &r->record.row);
    if (error)
        return error;
    if (!strcmp(r->record.row, "schema"))
        return read_schema(r);
    EXPECT(r, r->begun,
           "expected the schema " VT_MERGED_SCHEMA "%d in the first row, found none" ONLY_OURS,
           VT_MERGED_VERSION);
    uint32_t kind = vt_kind_find(r->record.row, vt_merged_kinds, VT_MERGED_KINDS);
    if (kind == UINT32_MAX)
        return 0; /* a kind from a later version */
    error = read_columns(r, 1u << kind);
    if (!error && kind != 0)
        error = find_process(r);
    if (!error)
        error = taken[kind].take(r);
    if (!error && taken[kind].part && r->process != SKIPPED) {
        const char *part = (char *)&r->record + taken[kind].part;
        uint32_t *process = vt_job_add_row(r->job, taken[kind].rows, part);
        *process = r->process; /* the first member of each kind */
    }
    return error;
}

int vt_merged_read(const char *path, struct vt_job *job, struct vt_string *message) {
    const char *why;
    struct stat st;
    int fd = vt_rights_open(path, path, &why), error;
    if (fd < 0) {
        vt_string_format(message, "%s: %s", path, why);
        return fd;
    }
    gzFile in = fstat(fd, &st) ? NULL : gzdopen(fd, "r");
    if (!in) {
        close(fd);
        vt_string_format(message, "%s: %s", path, strerror(ENOMEM));
        return -ENOMEM;
    }
    gzbuffer(in, 1 << 18);
    VT_SCOPED struct reader *r = vt_alloc(1, sizeof *r);
    *r = (struct reader){.in = in,
                         .path = path,
                         .bytes = (uint64_t)st.st_size,
                         .message = message,
                         .row = vt_alloc(ROW_MOST + UTF8_MOST, 1),
                         .job = job};
    uint32_t before = job->process_count;
    while ((error = next_row(r)) > 0 && !(error = read_row(r)))
        ;
    if (!error && !r->begun)
        error = fail(r, "expected the schema " VT_MERGED_SCHEMA "%d, found an empty file",
                     VT_MERGED_VERSION);
    if (error)
        vt_job_remove_from(job, before);
    gzclose(r->in);
    vt_map_free(&r->processes);
    vt_map_free(&r->devices);
    free(r->row);
    return error;
}
