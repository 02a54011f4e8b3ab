/* SPDX-License-Identifier: MIT */
/*
 * The list of report formats (see formats.h).
 */
#include "formats.h"

#include <string.h>

const struct vt_format vt_formats[] = {
    {.name = "text",
     .help = "for people: leaks, failed allocations, devices and peaks",
     .write = vt_fmt_text_write},
    {.name = "html",
     .help = "the same as pictures: one file for a browser, with -o FILE",
     .timeline = VT_TIMELINE_COURSES | VT_TIMELINE_MAPS,
     .to_file = true,
     .missing = vt_fmt_html_missing,
     .write = vt_fmt_html_write},
    {.name = "markdown",
     .help = "the first screen for a ticket, a chat or an assistant: 100 lines",
     .write = vt_fmt_markdown_write},
    {.name = "json",
     .help = "for programs: everything (schema vramtrace-report/1)",
     .write = vt_fmt_json_write},
    {.name = NULL},
};

const struct vt_format *vt_format_find(const char *name) {
    for (const struct vt_format *format = vt_formats; format->name; format++)
        if (!strcmp(format->name, name))
            return format;
    return NULL;
}
