/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: a log and its LOG.nvml, through everything that reads them: the whole model with its
 * pictures, every report, every export, the gate with all of its formats, and `dump`. See parts.h for the input; log_mutate.c
 * changes it.
 */
#define _GNU_SOURCE
#include "files.h"
#include "parts.h"

#include "build.h"
#include "commands.h"
#include "export/export.h"
#include "gate/gate_formats.h"
#include "report/report.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG  "log"
#define NVML "log" VT_NVML_SUFFIX

/* The options part: a device (255: all), a byte of choices, and texts that end with NUL. */
struct choices {
    struct vt_model_options model;
    struct vt_format_options format;
    char *texts;
    const char *own[2];
};

static const char *next_text(const char **at, const char *end) {
    const char *text = *at;
    if (text >= end)
        return NULL;
    *at += strlen(text) + 1;
    return *text ? text : NULL;
}

static void choose(struct choices *c, const struct vt_fuzz_part *part) {
    *c = (struct choices){.model = {.device = -1}};
    if (!part || part->length < 2)
        return;
    size_t length = part->length - 2;
    c->texts = vt_strndup((const char *)part->bytes + 2, 0);
    c->texts = vt_realloc(c->texts, length + 1, 1);
    memcpy(c->texts, part->bytes + 2, length);
    c->texts[length] = 0;
    const char *at = c->texts, *end = c->texts + length;
    c->model.device = part->bytes[0] == 255 ? -1 : part->bytes[0];
    c->format.by = (enum vt_by)(part->bytes[1] & 3);
    if (part->bytes[1] & 32)
        c->format.by = VT_BY_OWNER;
    c->format.native = part->bytes[1] & 4;
    c->format.map = part->bytes[1] & 8;
    c->format.colour = part->bytes[1] & 16;
    c->model.since = next_text(&at, end);
    c->model.until = next_text(&at, end);
    c->model.phase = next_text(&at, end);
    c->own[0] = next_text(&at, end);
    c->model.user_code = c->own[0] ? c->own : NULL;
}

static void judge(const struct vt_model *model) {
    struct vt_suppressions suppressions = {0};
    struct vt_baseline baseline = {0};
    struct vt_gate gate;
    struct vt_gate_options options = {
        .chosen = true,
        .fails =
            {[VT_VERDICT_LOST] = true, [VT_VERDICT_GROWING] = true, [VT_VERDICT_UNFREED] = true},
        .max_peak = 1 << 20,
        .suppressions = &suppressions};
    vt_suppress_add_builtin(&suppressions);
    vt_gate_judge(model, &options, &gate);
    for (const struct vt_gate_format *f = vt_gate_formats; f->name; f++)
        vt_gate_write(&gate, f, &(struct vt_gate_format_options){0}, vt_fuzz_sink());
    vt_gate_baseline(&gate, &baseline);
    vt_gate_free(&gate);
    options.baseline = &baseline;
    options.chosen = false;
    vt_gate_judge(model, &options, &gate);
    vt_gate_write(&gate, &vt_gate_formats[0], &(struct vt_gate_format_options){.stable = true},
                  vt_fuzz_sink());
    vt_gate_free(&gate);
    vt_baseline_free(&baseline);
    vt_suppress_free(&suppressions);
}

enum { DUMP, REPORT, EXPORT, GATE, TURNS };

/* `turn` chooses one use of the model, so that an input does not cost all of them. */
static void read_all(struct choices *c, unsigned turn) {
    static const char *const logs[] = {LOG};
    struct vt_model model;
    struct vt_string message = {0};
    if (turn == REPORT)
        c->model.timeline = VT_TIMELINE_COURSES | VT_TIMELINE_MAPS;
    if (turn == EXPORT)
        c->model.timeline = VT_TIMELINE_COURSES | VT_TIMELINE_CHANGES | VT_TIMELINE_END;
    if (!vt_build_model(logs, 1, &c->model, &model, &message)) {
        for (const struct vt_format *f = vt_formats; f->name && turn == REPORT; f++)
            f->write(&model, &c->format, vt_fuzz_sink());
        for (const struct vt_export_format *f = vt_export_formats; f->name && turn == EXPORT; f++)
            f->write(&model, &(struct vt_export_options){.native = c->format.native},
                     vt_fuzz_sink());
        if (turn == GATE)
            judge(&model);
        vt_build_free(&model);
    }
    vt_string_free(&message);
}

static void dump(void) {
    char name[] = "dump", log[] = LOG, *words[] = {name, log, NULL};
    vt_cmd_dump(2, words);
}

static void write_part(int fd, uint32_t at, const struct vt_fuzz_part *part) {
    if (pwrite(fd, part->bytes, part->length, at) != (ssize_t)part->length)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int log = vt_fuzz_file(LOG), nvml = -1;
    struct vt_fuzz_part part, options = {0};
    struct choices choices;
    size_t at = 0;
    vt_fuzz_file_remove(NVML);
    if (ftruncate(log, VT_FUZZ_LOG_BYTES / 4))
        abort();
    while (vt_fuzz_part_next(data, size, &at, &part)) {
        uint32_t where = part.where & VT_FUZZ_OFFSET;
        switch (part.where & VT_FUZZ_KIND) {
        case VT_FUZZ_LOG:
            if (where + (uint64_t)part.length <= VT_FUZZ_LOG_BYTES)
                write_part(log, where, &part);
            break;
        case VT_FUZZ_SIZE:
            if (where <= VT_FUZZ_LOG_BYTES && ftruncate(log, where))
                abort();
            break;
        case VT_FUZZ_NVML:
            if (nvml < 0)
                nvml = vt_fuzz_file(NVML);
            if (where + (uint64_t)part.length <= VT_NVML_MOST_BYTES)
                write_part(nvml, where, &part);
            break;
        default:
            options = part;
        }
    }
    choose(&choices, options.bytes ? &options : NULL);
    unsigned turn = 0;
    for (size_t i = 0; i < size; i++)
        turn += data[i];
    read_all(&choices, turn % TURNS);
    if (turn % TURNS == DUMP)
        dump();
    free(choices.texts);
    return 0;
}
