/* SPDX-License-Identifier: MIT */
/*
 * A file for speedscope, which draws flame graphs in a browser: its own JSON format, with one
 * profile for each value of which there is anything. The chosen one is shown first.
 */
#include "samples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct frame {
    uint32_t number;
    UT_hash_handle hh;
    char key[];
};

struct writer {
    struct vt_json json;
    const struct vt_export_options *options;
    struct vt_samples samples;
    struct frame *frames;
    uint32_t *stacks; /* the frames of all samples, each outermost first */
    size_t count, room;
    size_t *ends; /* of each sample, in `stacks` */
};

/* The number of a frame, which is written if it is new. */
static uint32_t frame_number(struct writer *w, const struct vt_sample_frame *from) {
    const struct vt_frame *f = from->frame;
    const char *file = f ? (f->file ? f->file : f->module) : NULL;
    uint32_t line = f ? f->line : 0;
    VT_SCOPED char *name = vt_samples_line(from, false);
    VT_SCOPED_STRING key = {0};
    vt_string_format(&key, "%s\n%s", name, file ? file : ""); /* a name is one line */
    struct frame *known;
    HASH_FIND(hh, w->frames, key.text, key.length, known);
    if (!known) {
        known = vt_alloc(1, sizeof *known + key.length);
        known->number = HASH_COUNT(w->frames);
        memcpy(known->key, key.text, key.length);
        HASH_ADD_KEYPTR(hh, w->frames, known->key, key.length, known);
        vt_json_open(&w->json, NULL, '{');
        vt_json_string(&w->json, "name", name);
        if (file)
            vt_json_string(&w->json, "file", file);
        if (line)
            vt_json_number(&w->json, "line", line);
        vt_json_close(&w->json, '}');
    }
    return known->number;
}

static void write_frames(struct writer *w) {
    struct vt_sample_stack stack = {0};
    w->ends = vt_alloc(w->samples.count + 1, sizeof *w->ends);
    vt_json_open(&w->json, "shared", '{');
    for (uint32_t i = 0; vt_json_items(&w->json, "frames", i, w->samples.count); i++) {
        vt_samples_stack(&w->samples, &w->samples.items[i], w->options->native, &stack);
        for (uint32_t k = 0; k < stack.count; k++) {
            VT_GROW(w->stacks, w->count, w->room);
            w->stacks[w->count++] = frame_number(w, &stack.frames[k]);
        }
        w->ends[i] = w->count;
    }
    vt_json_close(&w->json, '}');
    vt_samples_stack_free(&stack);
}

/* --- a profile --- */

/* In one line, without the writer's indentation. */
static void write_stacks(struct writer *w, enum vt_export_value value) {
    FILE *out = w->json.out;
    bool first = true;
    vt_json_key(&w->json, "samples");
    fputc('[', out);
    for (uint32_t i = 0; i < w->samples.count; i++) {
        if (!w->samples.items[i].bytes[value])
            continue;
        size_t begin = i ? w->ends[i - 1] : 0;
        fprintf(out, "%s[", first ? "" : ",");
        for (size_t k = begin; k < w->ends[i]; k++)
            fprintf(out, "%s%" PRIu32, k > begin ? "," : "", w->stacks[k]);
        fputc(']', out);
        first = false;
    }
    fputc(']', out);
}

static void write_weights(struct writer *w, enum vt_export_value value) {
    bool first = true;
    vt_json_key(&w->json, "weights");
    fputc('[', w->json.out);
    for (uint32_t i = 0; i < w->samples.count; i++) {
        uint64_t bytes = w->samples.items[i].bytes[value];
        if (bytes)
            fprintf(w->json.out, "%s%" PRIu64, first ? "" : ",", bytes);
        first = first && !bytes;
    }
    fputc(']', w->json.out);
}

static void write_profile(struct writer *w, enum vt_export_value value, uint64_t sum) {
    vt_json_open(&w->json, NULL, '{');
    vt_json_string(&w->json, "type", "sampled");
    vt_json_string(&w->json, "name", vt_export_value_names[value]);
    vt_json_string(&w->json, "unit", "bytes");
    vt_json_number(&w->json, "startValue", 0);
    vt_json_number(&w->json, "endValue", sum);
    write_stacks(w, value);
    write_weights(w, value);
    vt_json_close(&w->json, '}');
}

/* Returns the number of the profile to show first. */
static uint32_t write_profiles(struct writer *w) {
    uint32_t written = 0, active = 0;
    vt_json_open(&w->json, "profiles", '[');
    for (unsigned value = 0; value < VT_EXPORT_VALUES; value++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < w->samples.count; i++)
            sum += w->samples.items[i].bytes[value];
        if (value == w->options->value)
            active = sum ? written : 0;
        /* There must be one. */
        if (sum || (value == VT_EXPORT_VALUES - 1 && !written)) {
            write_profile(w, value, sum);
            written++;
        }
    }
    vt_json_close(&w->json, ']');
    return active;
}

/* --- the file --- */

static char *title(const struct vt_model *model) {
    const struct vt_process *p = &model->processes[0];
    struct vt_string text = {0};
    for (uint32_t i = 0; i < p->command_count; i++)
        vt_string_format(&text, "%s%s", i ? " " : "", p->command[i]);
    if (!text.text)
        vt_string_add(&text, p->log);
    if (model->process_count > 1)
        vt_string_format(&text, " and %" PRIu32 " more", model->process_count - 1);
    return text.text;
}

static void free_writer(struct writer *w) {
    struct frame *frame, *next;
    HASH_ITER(hh, w->frames, frame, next) {
        HASH_DEL(w->frames, frame);
        free(frame);
    }
    vt_samples_free(&w->samples);
    free(w->stacks);
    free(w->ends);
}

int vt_export_speedscope_write(const struct vt_model *model,
                               const struct vt_export_options *options, FILE *out) {
    struct writer w = {.json = {.out = out, .first = true}, .options = options};
    vt_samples_make(model, &w.samples);
    VT_SCOPED char *name = title(model);
    vt_json_open(&w.json, NULL, '{');
    vt_json_string(&w.json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    vt_json_string(&w.json, "name", name);
    vt_json_string(&w.json, "exporter", "vramtrace");
    write_frames(&w);
    vt_json_number(&w.json, "activeProfileIndex", write_profiles(&w));
    vt_json_close(&w.json, '}');
    fputc('\n', out);
    free_writer(&w);
    return 0;
}
