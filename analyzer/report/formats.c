/* SPDX-License-Identifier: MIT */
/*
 * The list of report formats (see formats.h).
 */
#include "formats.h"

#include <string.h>

const struct vt_format vt_formats[] = {
    {"text", "for people: leaks, failed allocations, devices and peaks", vt_fmt_text_write},
    {"json", "for programs: everything (schema vramtrace-report/1)", vt_fmt_json_write},
    {NULL, NULL, NULL},
};

const struct vt_format *vt_format_find(const char *name) {
    for (const struct vt_format *format = vt_formats; format->name; format++)
        if (!strcmp(format->name, name))
            return format;
    return NULL;
}
