/* SPDX-License-Identifier: MIT */
/*
 * The gate's result as JUnit XML, by the schema of Jenkins' xUnit plugin: a test suite with a test
 * case for each process and device, and a failure for each site. Pinned and managed memory is one
 * more test case if it has findings.
 */
#include "gate_formats.h"
#include "gate_words.h"

#include "model/model.h"
#include "vramtrace/log_format.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* XML 1.0 cannot represent most control characters, nor U+FFFE and U+FFFF. */
static void escape(FILE *out, const char *s) {
    size_t left = strlen(s);
    while (left) {
        unsigned bytes = vt_utf8_length(s, left);
        unsigned char c = (unsigned char)*s;
        bool bad = !bytes || (c < 0x20 && !strchr("\t\n\r", c)) || c == 0x7f ||
                   (c == 0xc2 && (unsigned char)s[1] < 0xa0) ||
                   (bytes == 3 && !memcmp(s, "\xef\xbf\xbe", 3)) ||
                   (bytes == 3 && !memcmp(s, "\xef\xbf\xbf", 3));
        if (bad)
            fputs("\xef\xbf\xbd", out);
        else if (c == '&')
            fputs("&amp;", out);
        else if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else if (c == '\n' || c == '\r' || c == '\t')
            fprintf(out, "&#%d;", c);
        else
            fwrite(s, 1, bytes, out);
        bytes = bytes ? bytes : 1;
        s += bytes;
        left -= bytes;
    }
}

static void attribute(FILE *out, const char *name, const char *value) {
    fprintf(out, " %s=\"", name);
    escape(out, value);
    fputc('"', out);
}

static unsigned bucket(unsigned device) {
    return device == VT_DEVICE_UNKNOWN ? VT_DEVICE_UNKNOWN
           : device >= VT_DEVICE_HOST  ? VT_DEVICE_HOST
                                       : device;
}

static void failure(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                    const struct vt_gate_finding *f, FILE *out) {
    const struct vt_process *p = &gate->model->processes[f->process];
    struct vt_gate_line line = vt_gate_line_of(gate, f);
    char *sentence = vt_gate_sentence(gate, &line, options->stable);
    fputs("      <failure", out);
    attribute(out, "type", vt_gate_kind(f));
    attribute(out, "message", sentence);
    fputs(">", out);
    for (uint32_t i = 0; f->site && i < f->site->stack->count; i++) {
        if (f->site->stack->frames[i].interpreter)
            continue;
        char *frame_text = vt_frame_text(p, &f->site->stack->frames[i], UINT_MAX);
        fputs(i ? "\n  " : "  ", out);
        escape(out, frame_text);
        free(frame_text);
    }
    fputs("</failure>\n", out);
    free(sentence);
}

static void test_case(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                      uint32_t process, unsigned device, FILE *out) {
    const struct vt_process *p = &gate->model->processes[process];
    struct vt_string name = {0};
    char *who = vt_gate_process_name(p, options->stable);
    bool failed = false;
    vt_string_add(&name, who);
    if (device < VT_DEVICE_HOST)
        vt_string_format(&name, ", GPU %u", device);
    else
        vt_string_add(&name, device == VT_DEVICE_HOST ? ", host and managed memory"
                                                      : ", memory of an unknown GPU");
    fputs("    <testcase", out);
    attribute(out, "name", name.text);
    attribute(out, "classname", vt_gate_program(p));
    for (uint32_t i = 0; i < gate->failures; i++) {
        const struct vt_gate_finding *f = &gate->findings[i];
        if (f->process != process || bucket(f->device) != device)
            continue;
        if (!failed)
            fputs(">\n", out);
        failed = true;
        failure(gate, options, f, out);
    }
    uint64_t lost = gate->processes[process].open_events;
    if (lost)
        fprintf(out, ">\n      <error message=\"cannot be judged: %llu events lost\"/>\n",
                (unsigned long long)lost);
    fputs(failed || lost ? "    </testcase>\n" : "/>\n", out);
    vt_string_free(&name);
    free(who);
}

/* The processes' notes, on the suite because they belong to no device. */
static void notes(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                  FILE *out) {
    bool open = false;
    for (uint32_t i = 0; i < gate->model->process_count; i++) {
        char *note = vt_gate_note(gate, &gate->model->processes[gate->order[i]], options->stable);
        if (note) {
            fputs(open ? "\n" : "    <system-out>", out);
            escape(out, note);
            open = true;
        }
        free(note);
    }
    if (open)
        fputs("</system-out>\n", out);
}

/* A process has a test case for each of its devices, and wherever something failed. */
static bool wanted(const struct vt_gate *gate, uint32_t process, unsigned device, bool *failed) {
    const struct vt_process *p = &gate->model->processes[process];
    bool known = false;
    *failed = false;
    for (uint32_t i = 0; i < p->device_count; i++)
        known |= bucket(p->devices[i].ordinal) == device;
    for (uint32_t i = 0; i < gate->failures; i++)
        *failed |=
            gate->findings[i].process == process && bucket(gate->findings[i].device) == device;
    /* a process without any device passes */
    return known || *failed || (!p->device_count && device == VT_DEVICE_HOST);
}

int vt_gate_junit_write(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                        FILE *out) {
    uint32_t tests = 0, failures = 0, errors = 0;
    bool failed;
    for (uint32_t i = 0; i < gate->model->process_count; i++)
        for (unsigned device = 0; device < 256; device++)
            if (wanted(gate, i, device, &failed)) {
                tests++;
                failures += failed;
                errors += gate->processes[i].open_events > 0;
            }
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
            "  <testsuite name=\"vramtrace\" tests=\"%u\" failures=\"%u\" errors=\"%u\" "
            "skipped=\"0\">\n",
            tests, failures, errors);
    for (uint32_t i = 0; i < gate->model->process_count; i++)
        for (unsigned device = 0; device < 256; device++)
            if (wanted(gate, gate->order[i], device, &failed))
                test_case(gate, options, gate->order[i], device, out);
    notes(gate, options, out);
    fputs("  </testsuite>\n</testsuites>\n", out);
    return 0;
}
