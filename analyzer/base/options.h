/* SPDX-License-Identifier: MIT */
/*
 * The options of a command. One table serves to parse the command line, to print --help, and to suggest a name for a
 * misspelt option; packaging/completions makes the shells' completions from --help. For the cmd_*.c files, the gate and
 * run/.
 */
#ifndef VRAMTRACE_ANALYZER_OPTIONS_H
#define VRAMTRACE_ANALYZER_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

struct vt_option;

/* An option that was given. */
struct vt_given_option {
    const char *command; /* "report", for messages */
    const struct vt_option *option;
    const char *value; /* lives as long as argv; NULL: none was given */
    void *field;       /* the row's field */
};

/* Stores an option's value in its field. Returns 0, or prints an error and returns an exit status. */
typedef int vt_option_parser(const struct vt_given_option *given);

/* A table ends with a row whose name is NULL. */
struct vt_option {
    const char *name;
    const char
        *value; /* as --help shows it after the name: " N" or "=N" if required, "[=N]" if optional;
                          NULL: no value */
    const char *help;        /* NULL: shared with the next row */
    vt_option_parser *parse; /* NULL: this is --help */
    size_t at;               /* offset of its field */
    char letter;             /* -o; 0: none */
    const char *(*check)(
        const char *value); /* returns NULL for a good value, else the allowed ones; NULL: any */
    void (*list)(void);     /* prints lines below its help, or NULL */
};

#define VT_OPTION_HELP                                                                             \
    { .name = "help", .help = "print this text", .letter = 'h' }

/* Rows that several commands may share. */
struct vt_option_rows {
    const struct vt_option *rows;
    size_t at;           /* offset of the struct with the fields of these rows */
    bool hidden;         /* not in --help */
    const char *without; /* the name of a row to leave out, or NULL */
    /* Called with each option before it is parsed, or NULL. */
    void (*note)(void *fields, const struct vt_option *option, const char *value);
};

struct vt_options {
    const char *command;
    const char *usage;     /* in --help, above the options */
    const char *after;     /* below the options, or NULL */
    unsigned column;       /* where explanations begin; 0: 20 */
    const char *no_letter; /* printed before the name of an option without a letter, or NULL */
    bool stops;            /* options end at the first other word */
    struct vt_option_rows all[3];                            /* the last has no rows */
    int (*run)(void *to, char *const *arguments, int count); /* gets the other arguments */
};

/* Parses all options into `to`, and runs the command or prints its help. Returns the exit status. */
int vt_options_run(const struct vt_options *options, int argc, char **argv, void *to);

/* Parses the options up to argv[optind]. Returns 0, VT_OPTIONS_HELP, or an exit status after printing an error. */
enum { VT_OPTIONS_HELP = -1 };
int vt_options_parse(const struct vt_options *options, int argc, char **argv, void *to);

void vt_options_help(const struct vt_options *options);

/* The common kinds of values, and the type of their fields. */
vt_option_parser vt_parse_flag;   /* bool: it was given */
vt_option_parser vt_parse_text;   /* const char *: the last one */
vt_option_parser vt_parse_texts;  /* struct vt_texts: all */
vt_option_parser vt_parse_output; /* const char *: a file to write */
vt_option_parser vt_parse_count;  /* uint32_t: a number of at least 1 */
vt_option_parser vt_parse_json;   /* bool: "json"; "text" is false */
vt_option_parser
    vt_parse_milliseconds; /* unsigned; the value is in seconds, above 0, with or without decimals */

/* A decimal number above 0. 0: not a number, or above `most`. */
unsigned long vt_option_number(const char *text, unsigned long most);

/* Checks the name of a file to write: if the user forgot it, the next option takes its place ("-o --help"). Returns
 * 0, or VT_STATUS_USAGE after vt_usage. */
int vt_option_output(const struct vt_given_option *given, const char *file);

/* The option of getopt_long's table that `word` ("--fromat=json") was probably meant to be, or NULL. */
const char *vt_option_nearest(const char *word, const struct option *table);

#endif
