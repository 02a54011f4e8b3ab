/* SPDX-License-Identifier: MIT */
/*
 * Parses a command's options, and prints their help (see options.h).
 */
#include "options.h"

#include "exit_status.h"
#include "util.h"
#include "vramtrace/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* getopt_long's value for the first row, above all letters; later rows count on. */
enum { FIRST_ROW = 256, SECONDS_MOST = 1000000 };

/* --- the command line --- */

/* Finds the row for getopt_long's value; `*rows` gets its set of rows. */
static const struct vt_option *find_row(const struct vt_options *o, int found,
                                        const struct vt_option_rows **rows) {
    int value = FIRST_ROW;
    for (*rows = o->all; (*rows)->rows; ++*rows)
        for (const struct vt_option *row = (*rows)->rows; row->name; row++, value++)
            if (found == value || found == row->letter)
                return row;
    return NULL;
}

/* All rows in getopt_long's form (free them), and their letters, which must fit into `letters`. */
static struct option *rows_for_getopt(const struct vt_options *o, char *letters) {
    struct option *table = NULL;
    size_t count = 0, room = 0;
    int value = FIRST_ROW;
    letters += sprintf(letters, o->stops ? "+:" : ":");
    for (const struct vt_option_rows *rows = o->all; rows->rows; rows++)
        for (const struct vt_option *row = rows->rows; row->name; row++, value++) {
            if (rows->without && !strcmp(rows->without, row->name))
                continue;
            int takes = !row->value            ? no_argument
                        : row->value[0] == '[' ? optional_argument
                                               : required_argument;
            VT_GROW(table, count, room);
            table[count++] = (struct option){row->name, takes, NULL, value};
            if (row->letter)
                letters += sprintf(letters, "%c%s", row->letter, row->value ? ":" : "");
        }
    VT_GROW(table, count, room);
    table[count] = (struct option){0};
    return table;
}

/* getopt_long found no value after the option. */
static int refuse_missing(const struct vt_options *o, const char *word) {
    const struct vt_option_rows *rows;
    const struct vt_option *row = find_row(o, optopt, &rows);
    if (optopt >= FIRST_ROW && row->value[0] == '=')
        return vt_usage(o->command, "--%s: expected a value (%s)", row->name, row->value + 1);
    return vt_usage(o->command, "%s: expected a value", word);
}

/* getopt_long does not know the option, or the option takes no value. */
static int refuse_unknown(const char *command, char *const *argv, const struct option *table) {
    const char *word = argv[optind > 1 ? optind - 1 : 1], *next = argv[optind];
    /* getopt_long stays at a word until it has parsed all its letters */
    if (optopt && next && next[0] == '-' && next[1] != '-' && strchr(next, optopt))
        word = next;
    if (optopt && !strncmp(word, "--", 2))
        return vt_usage(command, "%.*s: takes no value, found '%s'", (int)strcspn(word, "="), word,
                        word);
    const char *nearest = vt_option_nearest(word, table);
    const char letter[] = {'-', (char)optopt, 0};
    return vt_usage(command,
                    nearest ? "unknown option '%s'; did you mean --%s?" : "unknown option '%s'",
                    optopt && !nearest ? letter : word, nearest);
}

static int apply_option(const struct vt_options *o, int found, void *to) {
    const struct vt_option_rows *rows;
    const struct vt_option *row = find_row(o, found, &rows);
    char *fields = (char *)to + rows->at;
    struct vt_given_option given = {o->command, row, optarg, fields + row->at};
    if (!row->parse)
        return VT_OPTIONS_HELP;
    const char *allowed = row->check && optarg ? row->check(optarg) : NULL;
    if (allowed)
        return vt_usage(o->command, "--%s: expected %s, found '%s'", row->name, allowed, optarg);
    if (rows->note)
        rows->note(fields, row, optarg);
    return row->parse(&given);
}

int vt_options_parse(const struct vt_options *o, int argc, char **argv, void *to) {
    char letters[64];
    VT_SCOPED struct option *table = rows_for_getopt(o, letters);
    int found, status = 0;
    opterr = 0;
    optind = 0; /* restart: another command line may have been parsed */
    while (!status && (found = getopt_long(argc, argv, letters, table, NULL)) != -1) {
        if (found == ':')
            status = refuse_missing(o, argv[optind - 1]);
        else if (found == '?')
            status = refuse_unknown(o->command, argv, table);
        else
            status = apply_option(o, found, to);
    }
    return status;
}

int vt_options_run(const struct vt_options *o, int argc, char **argv, void *to) {
    int status = vt_options_parse(o, argc, argv, to);
    if (status == VT_OPTIONS_HELP) {
        vt_options_help(o);
        return VT_STATUS_OK;
    }
    return status ? status : o->run(to, argv + optind, argc - optind);
}

const char *vt_option_nearest(const char *word, const struct option *table) {
    word += strspn(word, "-");
    VT_SCOPED char *name = vt_strndup(word, strcspn(word, "="));
    const char *nearest = NULL;
    unsigned least = VT_SLIPS_MANY;
    for (; table->name; table++) {
        unsigned slips = vt_slips(name, table->name);
        nearest = slips < least ? table->name : nearest;
        least = slips < least ? slips : least;
    }
    return nearest;
}

/* --- help --- */

/* Prints an option and its help, wrapped at column 80 and at the help's line ends. A long option has a line of its
 * own. */
static void print_wrapped(const char *left, const char *help, unsigned column) {
    const size_t width = 80 - column;
    if (strlen(left) >= column - 2) {
        printf("  %s\n", left);
        left = "";
    }
    while (*help) {
        size_t length = strcspn(help, "\n");
        if (length > width)
            for (length = width; help[length] != ' ';)
                length--;
        printf("  %-*s%.*s\n", (int)column - 2, left, (int)length, help);
        help += length + (help[length] != 0);
        left = "";
    }
}

void vt_options_help(const struct vt_options *o) {
    struct vt_string left = {0};
    fputs(o->usage, stdout);
    for (const struct vt_option_rows *rows = o->all; rows->rows; rows++)
        for (const struct vt_option *row = rows->rows; row->name && !rows->hidden; row++) {
            if (row->letter && row->parse)
                vt_string_format(&left, "-%c, ", row->letter);
            else
                vt_string_add(&left, o->no_letter ? o->no_letter : "");
            vt_string_format(&left, "--%s%s", row->name, row->value && row->help ? row->value : "");
            if (!row->help) {
                vt_string_add(&left, ", ");
                continue;
            }
            print_wrapped(left.text, row->help, o->column ? o->column : 20);
            vt_string_free(&left);
            if (row->list)
                row->list();
        }
    if (o->after)
        fputs(o->after, stdout);
}

/* --- values --- */

int vt_parse_flag(const struct vt_given_option *given) {
    *(bool *)given->field = true;
    return 0;
}

int vt_parse_text(const struct vt_given_option *given) {
    *(const char **)given->field = given->value;
    return 0;
}

int vt_parse_texts(const struct vt_given_option *given) {
    vt_texts_add(given->field, given->value);
    return 0;
}

int vt_parse_output(const struct vt_given_option *given) {
    *(const char **)given->field = given->value;
    return vt_option_output(given, given->value);
}

unsigned long vt_option_number(const char *text, unsigned long most) {
    char *end;
    errno = 0;
    unsigned long number = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    return number && !errno && !*end && number <= most ? number : 0;
}

int vt_parse_count(const struct vt_given_option *given) {
    uint32_t *count = given->field;
    *count = (uint32_t)vt_option_number(given->value, UINT32_MAX);
    return *count ? 0
                  : vt_usage(given->command, "--%s %s: expected a number of at least 1",
                             given->option->name, given->value);
}

int vt_parse_json(const struct vt_given_option *given) {
    bool json = !strcmp(given->value, "json");
    *(bool *)given->field = json;
    return json || !strcmp(given->value, "text")
               ? 0
               : vt_usage(given->command, "--%s %s: expected text or json", given->option->name,
                          given->value);
}

int vt_parse_milliseconds(const struct vt_given_option *given) {
    uint64_t whole, part, place;
    const char *end = vt_text_read_decimal(given->value, &whole, &part, &place);
    unsigned *milliseconds = given->field;
    *milliseconds = 0;
    if (end && !*end && whole <= SECONDS_MOST)
        *milliseconds = (unsigned)(whole * 1000 + (place > 1 ? part * 1000 / place : 0));
    return *milliseconds ? 0
                         : vt_usage(given->command, "--%s %s: expected seconds, above 0",
                                    given->option->name, given->value);
}

int vt_option_output(const struct vt_given_option *given, const char *file) {
    const struct vt_option *option = given->option;
    const char letter[] = {option->letter, 0};
    if (strncmp(file, "--", 2) != 0)
        return 0;
    return vt_usage(
        given->command, "%s%s: expected a file, found '%s'; for a file of that name: ./%s",
        option->letter ? "-" : "--", option->letter ? letter : option->name, file, file);
}
