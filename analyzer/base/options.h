/* SPDX-License-Identifier: MIT */
/*
 * The options of a command: one table, from which the command line is parsed, --help is printed, and a name is
 * proposed for a misspelt option; packaging/completions makes the shells' completions from --help. For the cmd_*.c files, the gate and run/.
 */
#ifndef VRAMTRACE_ANALYZER_OPTIONS_H
#define VRAMTRACE_ANALYZER_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

struct vt_option;

/* An option that was given. */
struct vt_taken {
    const char *command; /* "report": messages name it */
    const struct vt_option *option;
    const char *value; /* it lives as long as argv; NULL: none was given */
    void *field;       /* where the row wants it */
};

/* Keeps an option's value in its field. Returns 0, or an exit status after it printed an error. */
typedef int vt_take(const struct vt_taken *taken);

/* Ends with a row whose name is NULL. */
struct vt_option {
    const char *name;
    const char *
        value; /* as --help shows it behind the name: " N" or "=N", which is needed; "[=N]", which may be
                          missing; NULL: it takes none */
    const char *help; /* NULL: it shares the next row's */
    vt_take *take;    /* NULL: it is --help */
    size_t at;        /* offset of its field */
    char letter;      /* -o; 0: none */
    const char *(*check)(
        const char *value); /* NULL for a good value, or which ones are allowed; NULL: any */
    void (*list)(void);     /* prints what stands below its help; NULL: nothing */
};

#define VT_OPTION_HELP                                                                             \
    { .name = "help", .help = "print this text", .letter = 'h' }

/* Rows that several commands may share. */
struct vt_option_rows {
    const struct vt_option *rows;
    size_t at;           /* offset of the struct that the fields of these rows are in */
    bool hidden;         /* not in --help */
    const char *without; /* the name of a row that is not taken; NULL: all are */
    /* Hears of each before it is taken; NULL: nobody does. */
    void (*note)(void *fields, const struct vt_option *option, const char *value);
};

struct vt_options {
    const char *command;
    const char *usage; /* of --help, above the options */
    const char *after; /* below them; NULL */
    unsigned column;   /* where explanations begin; 0: 20 */
    const char
        *no_letter; /* what stands before the name of an option without a letter; NULL: nothing */
    bool stops;     /* options end at the first word that is none */
    struct vt_option_rows all[3];                            /* the last has no rows */
    int (*run)(void *to, char *const *arguments, int count); /* on the other arguments */
};

/* Takes all options into `to`, and runs the command, or prints its help. Returns the exit status. */
int vt_options_run(const struct vt_options *options, int argc, char **argv, void *to);

/* Takes the options up to argv[optind]. Returns 0, an exit status after it printed an error, or VT_OPTIONS_HELP. */
enum { VT_OPTIONS_HELP = -1 };
int vt_options_take(const struct vt_options *options, int argc, char **argv, void *to);

void vt_options_help(const struct vt_options *options);

/* The common kinds of values, and the type of their fields. */
vt_take vt_take_flag;         /* bool: it was given */
vt_take vt_take_text;         /* const char *: the last one */
vt_take vt_take_texts;        /* struct vt_texts: all */
vt_take vt_take_output;       /* const char *: a file to write */
vt_take vt_take_count;        /* uint32_t: a number of at least 1 */
vt_take vt_take_json;         /* bool: "json"; "text" is false */
vt_take vt_take_milliseconds; /* unsigned: of seconds above 0, with or without decimals */

/* A decimal number above 0. 0: it is none, or more than `most`. */
unsigned long vt_option_number(const char *text, unsigned long most);

/* Checks the name of a file to write: an option whose value was forgotten takes the next option for it, "-o --help".
 * Returns 0, or VT_STATUS_USAGE after vt_usage. */
int vt_option_output(const struct vt_taken *taken, const char *file);

/* The option of getopt_long's table that `word` ("--fromat=json") was probably meant to be, or NULL. */
const char *vt_option_nearest(const char *word, const struct option *table);

#endif
