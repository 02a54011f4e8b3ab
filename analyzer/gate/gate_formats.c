/* SPDX-License-Identifier: MIT */
/*
 * The list of the gate's formats (see gate_formats.h). To add one: write gate_NAME.c, declare its function in
 * gate_formats.h, and add a row here. The option, its help and its errors come from this table; vramtrace-check(1)
 * also names the formats.
 */
#include "gate_formats.h"
#include "gate_words.h"

#include "base/base.h"

#include <string.h>

const struct vt_gate_format vt_gate_formats[] = {
    {"text", "for people", true, vt_gate_text_write},
    {"json", "for programs: schema vramtrace-check/1", false, vt_gate_json_write},
    {"junit", "JUnit XML: a test case for each failing line", false, vt_gate_junit_write},
    {"sarif", "SARIF 2.1.0: code hosts show it beside the source", false, vt_gate_sarif_write},
    {"github", "GitHub workflow commands, and the step summary", true, vt_gate_github_write},
    {NULL, NULL, false, NULL},
};

const struct vt_gate_format *vt_gate_format_find(const char *name) {
    for (const struct vt_gate_format *format = vt_gate_formats; format->name; format++)
        if (!strcmp(format->name, name))
            return format;
    return NULL;
}

void vt_gate_write(const struct vt_gate *gate, const struct vt_gate_format *format,
                   const struct vt_gate_format_options *how, FILE *out) {
    struct vt_page shown;
    struct vt_gate_page page;
    vt_gate_page_open(&page, gate, how, format->shown ? vt_page_open(&shown) : out);
    shown.commands = format->write == vt_gate_github_write;
    format->write(&page);
    vt_gate_page_close(&page);
    if (format->shown)
        vt_page_close(&shown, how->colour, out);
}
