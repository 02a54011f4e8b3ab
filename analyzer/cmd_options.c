/* SPDX-License-Identifier: MIT */
/*
 * The way through a command's options (see cmd_options.h).
 */
#include "cmd_options.h"

#include "base/base.h"
#include "vramtrace/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS_MOST = 1000000 };

static bool has_output(const struct option *table) {
    while (table->name && table->val != 'o')
        table++;
    return table->name != NULL;
}

int vt_cmd_options_run(const struct vt_cmd_options *o, int argc, char **argv, void *to) {
    const char *shorts = has_output(o->table) ? ":ho:" : ":h";
    int option, status = 0;
    opterr = 0;
    optind = 0; /* from the start: another command may have been gone through */
    while (!status && (option = getopt_long(argc, argv, shorts, o->table, NULL)) != -1) {
        if (option == 'h') {
            o->help();
            return VT_STATUS_OK;
        }
        if (option == ':')
            status = vt_usage(o->command, "%s: expected a value", argv[optind - 1]);
        else if (option == '?')
            status = vt_usage_option(o->command, argv, o->table);
        else
            status = o->take(to, option);
    }
    return status ? status : o->run(to, argv + optind, argc - optind);
}

unsigned long vt_cmd_number(const char *text, unsigned long most) {
    char *end;
    errno = 0;
    unsigned long number = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    return number && !errno && !*end && number <= most ? number : 0;
}

int vt_cmd_top(const char *command, uint32_t *top) {
    *top = (uint32_t)vt_cmd_number(optarg, UINT32_MAX);
    return *top ? 0 : vt_usage(command, "--top %s: expected a number of at least 1", optarg);
}

int vt_cmd_json(const char *command, bool *json) {
    *json = !strcmp(optarg, "json");
    return *json || !strcmp(optarg, "text")
               ? 0
               : vt_usage(command, "--format %s: expected text or json", optarg);
}

unsigned long vt_cmd_milliseconds(const char *text) {
    uint64_t whole, part, place;
    const char *end = vt_text_read_decimal(text, &whole, &part, &place);
    if (!end || *end || whole > SECONDS_MOST)
        return 0;
    return (unsigned long)(whole * 1000 + (place > 1 ? part * 1000 / place : 0));
}
