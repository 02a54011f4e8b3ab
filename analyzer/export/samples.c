/* SPDX-License-Identifier: MIT */
/*
 * The memory of a model as samples (see samples.h).
 */
#include "samples.h"

#include "vramtrace/log_format.h"
#include "vramtrace/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void vt_samples_of_site(const struct vt_site *site, const struct vt_leak *leak,
                        uint64_t bytes[VT_EXPORT_VALUES], uint64_t counts[VT_EXPORT_VALUES]) {
    struct vt_amount leaked = leak ? vt_amount_of_site(site, leak) : (struct vt_amount){0};
    bytes[VT_EXPORT_LIVE] = site->live_bytes;
    counts[VT_EXPORT_LIVE] = site->live_count;
    bytes[VT_EXPORT_PEAK] = site->bytes_at_peak;
    counts[VT_EXPORT_PEAK] = site->count_at_peak;
    bytes[VT_EXPORT_ALLOCATED] = site->allocated_bytes;
    counts[VT_EXPORT_ALLOCATED] = site->alloc_count;
    bytes[VT_EXPORT_LEAKED] = leaked.bytes;
    counts[VT_EXPORT_LEAKED] = leaked.blocks;
}

static struct vt_sample *add_sample(struct vt_samples *samples, struct vt_sample sample) {
    VT_GROW(samples->items, samples->count, samples->room);
    samples->items[samples->count] = sample;
    return &samples->items[samples->count++];
}

/* Adds the part of a device's segments that no block uses. */
static void add_idle(struct vt_samples *samples, const struct vt_process *p,
                     const struct vt_device *d) {
    static const enum vt_export_value values[] = {VT_EXPORT_LIVE, VT_EXPORT_PEAK};
    uint64_t segments[VT_EXPORT_VALUES] = {0}, blocks[VT_EXPORT_VALUES] = {0};
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *site = &p->sites[i];
        if (site->device != d->ordinal || (site->layer == VT_LAYER_DRIVER && !site->segments))
            continue;
        uint64_t *sums = site->layer == VT_LAYER_DRIVER      ? segments
                         : site->layer == VT_LAYER_FRAMEWORK ? blocks
                                                             : NULL;
        if (!sums)
            continue;
        sums[VT_EXPORT_LIVE] += vt_site_still_bytes(&site->figures);
        sums[VT_EXPORT_PEAK] += site->bytes_at_peak;
    }
    struct vt_sample idle = {.process = p,
                             .allocator = d->blocks.name ? d->blocks.name : "a caching allocator",
                             .device = d->ordinal,
                             .layer = VT_LAYER_DRIVER};
    bool any = false;
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
        uint64_t held = segments[values[i]], used = blocks[values[i]];
        idle.bytes[values[i]] = held > used ? held - used : 0;
        any |= held > used;
    }
    if (any)
        add_sample(samples, idle);
}

void vt_samples_make(const struct vt_model *model, struct vt_samples *samples) {
    *samples = (struct vt_samples){.many = model->process_count > 1};
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct vt_process *p = &model->processes[i];
        VT_SCOPED const struct vt_leak **leaks = vt_process_leaks_by_site(p, false);
        for (uint32_t k = 0; k < p->site_count; k++) {
            const struct vt_site *site = &p->sites[k];
            if (site->segments && site->layer == VT_LAYER_DRIVER)
                continue;
            struct vt_sample *sample = add_sample(
                samples,
                (struct vt_sample){
                    .process = p, .site = site, .device = site->device, .layer = site->layer});
            vt_samples_of_site(site, leaks[k], sample->bytes, sample->counts);
        }
        for (uint32_t k = 0; k < p->device_count; k++)
            add_idle(samples, p, &p->devices[k]);
    }
}

void vt_samples_free(struct vt_samples *samples) {
    free(samples->items);
}

/* --- frames --- */

/* Takes over `name`. */
static void push_frame(struct vt_sample_stack *stack, char *name, const struct vt_frame *frame) {
    VT_GROW(stack->frames, stack->count, stack->room);
    stack->frames[stack->count++] = (struct vt_sample_frame){name, frame};
}

static void clear(struct vt_sample_stack *stack) {
    for (uint32_t i = 0; i < stack->count; i++)
        free(stack->frames[i].name);
    stack->count = 0;
}

void vt_samples_stack_free(struct vt_sample_stack *stack) {
    clear(stack);
    free(stack->frames);
}

static char *process_name(const struct vt_process *p) {
    const char *program = vt_process_program(p);
    if (p->rank >= 0)
        return vt_formatted("rank %d: %s (pid %" PRIu32 ")", p->rank, program, p->pid);
    return vt_formatted("%s (pid %" PRIu32 ")", program, p->pid);
}

static char *frame_name(const struct vt_frame *frame) {
    char *function = vt_frame_text_function(frame);
    if (function)
        return function;
    if (!frame->module)
        return vt_strdup("generated code");
    return vt_formatted("%s+0x%" PRIx64, vt_basename(frame->module), frame->offset);
}

void vt_samples_stack(const struct vt_samples *samples, const struct vt_sample *sample, bool native,
                      struct vt_sample_stack *stack) {
    clear(stack);
    if (samples->many)
        push_frame(stack, process_name(sample->process), NULL);
    if (sample->layer == VT_LAYER_HOST)
        push_frame(stack, vt_strdup("[pinned host memory]"), NULL);
    if (sample->layer == VT_LAYER_MANAGED)
        push_frame(stack, vt_strdup("[managed memory]"), NULL);
    if (!sample->site) {
        push_frame(stack, vt_formatted("[%s: reserved, not in use]", sample->allocator), NULL);
        return;
    }
    const struct vt_stack *calls = sample->site->stack;
    if (sample->site->before)
        push_frame(stack, vt_strdup("[live before]"), NULL);
    else if (!calls || !calls->count)
        push_frame(
            stack,
            vt_strdup(sample->process->evicted_sites ? "[other call sites]" : "[no call stack]"),
            NULL);
    else if (calls->cut)
        push_frame(stack, vt_strdup("[outer frames cut]"), NULL);
    bool only_interpreter = true;
    for (uint32_t i = 0; calls && i < calls->count; i++)
        only_interpreter = only_interpreter && vt_stack_frame(calls, i)->interpreter;
    for (uint32_t i = calls ? calls->count : 0; i-- > 0;)
        if (native || only_interpreter || !vt_stack_frame(calls, i)->interpreter)
            push_frame(stack, frame_name(vt_stack_frame(calls, i)), vt_stack_frame(calls, i));
}

/* --- as text --- */

void vt_samples_escape(struct vt_string *out, const char *text, bool semicolons) {
    for (size_t left = strlen(text); left;) {
        unsigned bytes = vt_utf8_length(text, left);
        unsigned char c = (unsigned char)*text;
        if (!bytes)
            vt_string_add(out, "\xef\xbf\xbd"); /* U+FFFD */
        else if (c == '\n')
            vt_string_add(out, "\\n");
        else if (c == '\\')
            vt_string_add(out, "\\\\");
        else if ((c == ';' && semicolons) || !vt_shown_length(text, left))
            vt_string_format(out, vt_text_character(text, bytes) < 0x100 ? "\\x%02x" : "\\u%04x",
                             vt_text_character(text, bytes));
        else
            vt_string_add_bytes(out, text, bytes);
        bytes = bytes ? bytes : 1;
        text += bytes;
        left -= bytes;
    }
}

char *vt_samples_line(const struct vt_sample_frame *f, bool semicolons) {
    struct vt_string out = {0};
    vt_samples_escape(&out, f->name, semicolons);
    if (f->frame && f->frame->file) {
        VT_SCOPED char *cell =
            f->frame->python ? vt_python_file_cell_name(f->frame->file, true) : NULL;
        vt_string_add(&out, " (");
        vt_samples_escape(&out, cell ? cell : vt_basename(f->frame->file), semicolons);
        vt_string_format(&out, f->frame->line ? ":%" PRIu32 ")" : ")", f->frame->line);
    } else if (f->frame && f->frame->module && f->frame->function) {
        vt_string_add(&out, " (");
        vt_samples_escape(&out, vt_basename(f->frame->module), semicolons);
        vt_string_add(&out, ")");
    }
    return out.text ? out.text : vt_strdup("?");
}
