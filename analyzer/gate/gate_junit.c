/* SPDX-License-Identifier: MIT */
/*
 * The gate's result as JUnit XML, by the schema of Jenkins' xUnit plugin: a test suite with a test case for each
 * failing line, and one for each process and device without failures. A test case has at most one failure, because
 * GitLab and Jenkins show only one. Its name is unique and has no process id, because they compare runs by the names.
 */
#include "gate_formats.h"
#include "gate_words.h"

#include "model/model.h"
#include "vramtrace/log_format.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* XML 1.0 cannot represent most control characters, nor U+FFFE and U+FFFF. Text that a CI service would interpret as
 * commands in its log is escaped as character references. */
static void put_xml(FILE *out, const char *s) {
    const char *all = s;
    size_t left = strlen(s);
    while (left) {
        unsigned bytes = vt_utf8_length(s, left);
        unsigned char c = (unsigned char)*s;
        bool shown = vt_shown_length(s, left) && (s != all || strncmp(s, "::", 2) != 0);
        if (!bytes || (!shown && !strchr("\t\n\r:#", c)))
            fputs("\xef\xbf\xbd", out);
        else if (c == '&')
            fputs("&amp;", out);
        else if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else if (!shown)
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
    put_xml(out, value);
    fputc('"', out);
}

/* A test suite being written. */
struct suite {
    const struct vt_gate_page *page;
    const struct vt_gate *gate;
    FILE *out;
    struct vt_map names; /* hash of a name -> number of test cases with it */
};

static unsigned bucket(unsigned device) {
    return device == VT_DEVICE_UNKNOWN ? VT_DEVICE_UNKNOWN
           : device >= VT_DEVICE_HOST  ? VT_DEVICE_HOST
                                       : device;
}

/* Begins a test case; its element stays open. */
static void begin_case(struct suite *s, const char *name, const struct vt_process *p) {
    VT_SCOPED_STRING unique = {0};
    const char *program = vt_process_program(p);
    uint64_t key = vt_hash_bytes(vt_hash_bytes(0, program, strlen(program)), name, strlen(name));
    uint32_t same = vt_map_get(&s->names, key);
    same = same == VT_MAP_NONE ? 1 : same + 1;
    vt_map_put(&s->names, key, same);
    vt_string_add(&unique, name);
    if (same > 1)
        vt_string_format(&unique, " (%u)", same);
    fputs("    <testcase", s->out);
    attribute(s->out, "name", unique.text);
    attribute(s->out, "classname", program);
}

/* --- failures --- */

/* Writes the processes of a line: "in rank 0, hold (pid 41); rank 1, hold (pid 42)". */
static void processes(struct suite *s, const struct vt_gate_line *line) {
    const struct vt_gate *g = s->gate;
    VT_SCOPED bool *has = vt_alloc(g->model->process_count, sizeof *has);
    uint32_t shown = 0;
    for (uint32_t i = line->first; i < line->first + line->count; i++)
        has[g->findings[i].process] = true;
    for (uint32_t i = 0; i < g->model->process_count && g->model->process_count > 1; i++) {
        if (!has[g->order[i]])
            continue;
        fputs(shown++ ? "; " : "in ", s->out);
        put_xml(s->out, s->page->names[g->order[i]]);
    }
    fputs(shown ? "\n" : "", s->out);
}

static void frames(struct suite *s, const struct vt_gate_finding *f) {
    const struct vt_process *p = &s->gate->model->processes[f->process];
    for (uint32_t i = 0; i < f->site->stack->count; i++) {
        if (vt_stack_frame(f->site->stack, i)->interpreter)
            continue;
        VT_SCOPED char *frame_text = vt_frame_text(p, vt_stack_frame(f->site->stack, i), UINT_MAX);
        fputs("  ", s->out);
        put_xml(s->out, frame_text);
        fputc('\n', s->out);
    }
}

/* Writes the stack of each call site of a line, with the site's bytes if there are several. */
static void stacks(struct suite *s, const struct vt_gate_line *line) {
    enum { STACKS = 16 };
    VT_SCOPED_MAP seen = {0};
    for (uint32_t i = line->first; i < line->first + line->count && seen.used < STACKS; i++) {
        const struct vt_gate_finding *f = &s->gate->findings[i];
        if (!f->site || vt_map_get(&seen, f->site->id) != VT_MAP_NONE)
            continue;
        vt_map_put(&seen, f->site->id, i);
        if (line->sites > 1) {
            VT_SCOPED char *amount = vt_amount_text(f->amount);
            fprintf(s->out, "%s%s:\n", seen.used > 1 ? "\n" : "", amount);
        }
        frames(s, f);
    }
    if (line->sites > seen.used)
        fprintf(s->out, "\nand %u more call sites\n", line->sites - (uint32_t)seen.used);
}

/* "leak: src/leak.c:41 in new_buffer (cudaMalloc on GPU 0)", "peak: GPU 0": the same on every machine
 * if the file is below the source root. Free it. */
static char *line_name(const struct suite *s, const struct vt_gate_message *said) {
    const struct vt_gate_finding *f = said->worst;
    if (!f->site)
        return vt_formatted("peak: %s", VT_GPU(f->device));
    const struct vt_frame *frame = vt_stack_main_frame(f->site->stack);
    VT_SCOPED char *frame_text = vt_gate_frame_text(said), *call = vt_gate_call_text(said);
    struct vt_gate_location where;
    vt_gate_location_of(said->process, frame, s->page->how->source_root, &where);
    char *name =
        frame && where.inside && where.line && frame->function
            ? vt_formatted("leak: %s:%u in %s (%s)", where.file, where.line, frame->function, call)
            : vt_formatted("leak: %s (%s)", frame_text, call);
    free(where.file);
    return name;
}

static void failing_line(struct suite *s, const struct vt_gate_message *said) {
    VT_SCOPED char *name = line_name(s, said);
    begin_case(s, name, said->process);
    fputs(">\n      <failure", s->out);
    attribute(s->out, "type", vt_gate_kind(said->worst));
    attribute(s->out, "message", said->sentence);
    fputs(">", s->out);
    processes(s, said->line);
    stacks(s, said->line);
    fputs("</failure>\n    </testcase>\n", s->out);
}

/* Writes a test case for a figure compared with earlier runs. */
static void figure_case(struct suite *s, unsigned measure) {
    VT_SCOPED char *name = vt_formatted("increase: %s", vt_gate_measure_names[measure]);
    begin_case(s, name, &s->gate->model->processes[s->gate->order[0]]);
    if (!s->gate->figures[measure].fails) {
        fputs("/>\n", s->out);
        return;
    }
    fputs(">\n      <failure type=\"increase\"", s->out);
    attribute(s->out, "message", s->page->figures[measure]);
    fputs("/>\n    </testcase>\n", s->out);
}

/* --- passes --- */

/* Whether a process gets a test case for a device: it has no failure there, and it uses this device or none at all. */
static bool wanted(const struct vt_gate *gate, uint32_t process, unsigned device) {
    const struct vt_process *p = &gate->model->processes[process];
    bool known = !p->device_count && device == VT_DEVICE_HOST && !gate->processes[process].failed;
    for (uint32_t i = 0; i < p->device_count; i++)
        known |= bucket(p->devices[i].ordinal) == device;
    for (uint32_t i = 0; i < gate->failures && known; i++)
        known = gate->findings[i].process != process || bucket(gate->findings[i].device) != device;
    return known;
}

static void passing_device(struct suite *s, uint32_t process, unsigned device) {
    const struct vt_process *p = &s->gate->model->processes[process];
    const struct vt_gate_process *g = &s->gate->processes[process];
    VT_SCOPED_STRING name = {0};
    vt_string_add(&name, s->page->names[process]);
    if (device < VT_DEVICE_HOST)
        vt_string_format(&name, ", %s", VT_GPU(device));
    else
        vt_string_add(&name, device == VT_DEVICE_HOST ? ", host and managed memory"
                                                      : ", memory of an unknown GPU");
    begin_case(s, name.text, p);
    if (g->open)
        fprintf(s->out,
                ">\n      <error message=\"cannot be judged: %s\"/>\n"
                "    </testcase>\n",
                vt_gate_open_text(s->gate, g->open_events, 1));
    else
        fputs("/>\n", s->out);
}

void vt_gate_junit_write(const struct vt_gate_page *page) {
    const struct vt_gate *gate = page->gate;
    FILE *out = page->out;
    struct suite s = {.page = page, .gate = gate, .out = out};
    uint32_t passing = 0, errors = 0, compared = 0, larger = 0;
    for (uint32_t i = 0; i < gate->model->process_count; i++)
        for (unsigned device = 0; device < 256; device++)
            if (wanted(gate, i, device)) {
                passing++;
                errors += gate->processes[i].open;
            }
    for (unsigned m = 0; m < VT_GATE_MEASURES; m++) {
        compared += page->figures[m] != NULL;
        larger += gate->figures[m].fails;
    }
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
            "  <testsuite name=\"vramtrace\" tests=\"%u\" failures=\"%u\" errors=\"%u\" "
            "skipped=\"0\">\n",
            gate->line_count + compared + passing, gate->line_count + larger, errors);
    for (uint32_t i = 0; i < gate->line_count; i++)
        failing_line(&s, &page->said[i]);
    for (unsigned m = 0; m < compared; m++)
        figure_case(&s, m);
    for (uint32_t i = 0; i < gate->model->process_count; i++)
        for (unsigned device = 0; device < 256; device++)
            if (wanted(gate, gate->order[i], device))
                passing_device(&s, gate->order[i], device);
    for (uint32_t i = 0; i < page->note_count; i++) { /* they are about no device */
        fputs(i ? "\n" : "    <system-out>", out);
        put_xml(out, page->notes[i]);
    }
    fputs(page->note_count ? "</system-out>\n" : "", out);
    fputs("  </testsuite>\n</testsuites>\n", out);
    vt_map_free(&s.names);
}
