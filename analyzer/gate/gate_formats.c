/* SPDX-License-Identifier: MIT */
/*
 * The list of the gate's formats (see gate_formats.h). To add one: write gate_NAME.c, declare its
 * function in gate_formats.h, and add a row here. The option, its help and its errors come from this
 * table; vramtrace-check(1) names the formats too.
 */
#include "gate_formats.h"

#include <string.h>

const struct vt_gate_format vt_gate_formats[] = {
    {"text", "for people", vt_gate_text_write},
    {"json", "for programs: schema vramtrace-check/1", vt_gate_json_write},
    {"junit", "JUnit XML: a test case for each failing line", vt_gate_junit_write},
    {"sarif", "SARIF 2.1.0: code hosts show it beside the source", vt_gate_sarif_write},
    {"github", "GitHub workflow commands, and the step summary", vt_gate_github_write},
    {NULL, NULL, NULL},
};

const struct vt_gate_format *vt_gate_format_find(const char *name) {
    for (const struct vt_gate_format *format = vt_gate_formats; format->name; format++)
        if (!strcmp(format->name, name))
            return format;
    return NULL;
}
