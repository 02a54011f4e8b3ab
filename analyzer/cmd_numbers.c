/* SPDX-License-Identifier: MIT */
/*
 * Numbers among a command's options (see cmd_numbers.h).
 */
#include "cmd_numbers.h"

#include "vramtrace/text.h"

#include <errno.h>
#include <stdlib.h>

enum { SECONDS_MOST = 1000000 };

unsigned long vt_cmd_number(const char *text, unsigned long most) {
    char *end;
    errno = 0;
    unsigned long number = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    return number && !errno && !*end && number <= most ? number : 0;
}

unsigned long vt_cmd_milliseconds(const char *text) {
    uint64_t whole, part, place;
    const char *end = vt_text_read_decimal(text, &whole, &part, &place);
    if (!end || *end || whole > SECONDS_MOST)
        return 0;
    return (unsigned long)(whole * 1000 + (place > 1 ? part * 1000 / place : 0));
}
