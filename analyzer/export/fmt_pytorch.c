/* SPDX-License-Identifier: MIT */
/*
 * A snapshot in the format of torch.cuda.memory._dump_snapshot(), for PyTorch's memory_viz (the page, and
 * torch/cuda/_memory_viz.py): a pickle of the segments at the end and of earlier allocations and frees. It also has
 * memory that PyTorch does not see: each allocation outside PyTorch's allocator is a segment with one block.
 *
 * The keys are PyTorch's. The reader matches an allocation with its "free_completed", and merges a "free_requested"
 * directly before the latter.
 */
#include "export.h"
#include "pickle.h"
#include "pytorch.h"

#include "replay/replay.h"
#include "vramtrace/log_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    struct vt_pickle p;
    bool native;
    const struct vt_process *process;
    uint32_t *stacks, *notes; /* per site: index in the pickle, or VT_MAP_NONE */
    uint32_t no_stack, default_pool;
};

/* One of the lists of device_traces. */
struct trace {
    const struct vt_process *process;
    const struct vt_device *device;
    struct vt_pytorch_device made;
    uint32_t index;
};

/* --- stacks --- */

static void frame(struct writer *w, const struct vt_frame *f) {
    vt_pickle_open(&w->p, NULL, '{');
    if (f->function) {
        vt_pickle_text(&w->p, "name", f->function);
    } else if (f->module && f->offset != VT_UNKNOWN) {
        VT_SCOPED char *name = vt_formatted("%s+0x%" PRIx64, vt_basename(f->module), f->offset);
        vt_pickle_text_once(&w->p, "name", name);
    } else {
        vt_pickle_text(&w->p, "name", "??");
    }
    vt_pickle_text(&w->p, "filename", f->file ? f->file : f->module ? f->module : "??");
    vt_pickle_number(&w->p, "line", f->file ? f->line : 0);
    vt_pickle_close(&w->p);
}

/* Writes the value of "frames". */
static void write_frames_of(struct writer *w, const struct vt_stack *s) {
    vt_pickle_open(&w->p, "frames", '[');
    for (uint32_t i = 0; s && i < s->count; i++)
        if (w->native || !vt_stack_frame(s, i)->interpreter)
            frame(w, vt_stack_frame(s, i));
    vt_pickle_close(&w->p);
}

static void stack_of(struct writer *w, uint32_t site) {
    uint32_t *kept = site == VT_NO_SITE ? &w->no_stack : &w->stacks[site];
    if (*kept != VT_MAP_NONE) {
        vt_pickle_again(&w->p, "frames", *kept);
        return;
    }
    write_frames_of(w, site == VT_NO_SITE ? NULL : w->process->sites[site].stack);
    *kept = vt_pickle_keep(&w->p);
}

/* Makes the report's note on a site: "site 3f2a19..., growing; cudaMalloc". */
static void note_of(struct writer *w, uint32_t site) {
    const char *key = "user_metadata";
    if (site == VT_NO_SITE) {
        vt_pickle_text(&w->p, key, "");
        return;
    }
    if (w->notes[site] != VT_MAP_NONE) {
        vt_pickle_again(&w->p, key, w->notes[site]);
        return;
    }
    const struct vt_site *s = &w->process->sites[site];
    VT_SCOPED_STRING note = {0};
    vt_string_format(&note, "vramtrace: %s, site %s", vt_verdict_names[s->verdict], s->name);
    if (s->layer == VT_LAYER_DRIVER && s->api)
        vt_string_format(&note, ", %s", s->api);
    if (s->class_name)
        vt_string_format(&note, " by %s", s->class_name);
    vt_pickle_text_once(&w->p, key, note.text);
    w->notes[site] = vt_pickle_keep(&w->p);
}

static void default_pool(struct writer *w, const char *key) {
    if (w->default_pool != VT_MAP_NONE) {
        vt_pickle_again(&w->p, key, w->default_pool);
        return;
    }
    vt_pickle_pair(&w->p, key, 0, 0);
    w->default_pool = vt_pickle_keep(&w->p);
}

/* --- segments --- */

static void block(struct writer *w, const struct vt_pytorch_block *b) {
    vt_pickle_open(&w->p, NULL, '{');
    vt_pickle_number(&w->p, "address", b->address);
    vt_pickle_number(&w->p, "size", b->bytes);
    vt_pickle_number(&w->p, "requested_size", b->idle ? 0 : b->bytes);
    vt_pickle_text(&w->p, "state", b->idle ? "inactive" : "active_allocated");
    stack_of(w, b->idle ? VT_NO_SITE : b->site);
    vt_pickle_close(&w->p);
}

/* Small requests come from small segments, or from an expandable one. */
static const char *segment_type(const struct vt_pytorch_segment *s,
                                const struct vt_pytorch_block *blocks) {
    bool small = s->expandable || s->bytes <= VT_CACHE_SMALL_SEGMENT;
    for (uint32_t i = 0; i < s->count; i++)
        small &= blocks[i].idle || blocks[i].bytes <= VT_CACHE_SMALL;
    return small ? "small" : "large";
}

static void segment(struct writer *w, const struct trace *t, const struct vt_pytorch_segment *s) {
    const struct vt_pytorch_block *blocks = &t->made.blocks[s->first];
    uint64_t active = 0;
    for (uint32_t i = 0; i < s->count; i++)
        active += blocks[i].idle ? 0 : blocks[i].bytes;
    vt_pickle_open(&w->p, NULL, '{');
    vt_pickle_number(&w->p, "device", t->index);
    vt_pickle_number(&w->p, "address", s->address);
    vt_pickle_number(&w->p, "total_size", s->bytes);
    vt_pickle_number(&w->p, "allocated_size", active);
    vt_pickle_number(&w->p, "active_size", active);
    vt_pickle_number(&w->p, "requested_size", active);
    vt_pickle_number(&w->p, "stream", 0);
    vt_pickle_text(&w->p, "segment_type", segment_type(s, blocks));
    default_pool(w, "segment_pool_id");
    vt_pickle_bool(&w->p, "is_expandable", s->expandable);
    stack_of(w, s->site);
    note_of(w, s->site);
    vt_pickle_bool(&w->p, "caching_allocator", s->of_allocator);
    vt_pickle_open(&w->p, "blocks", '[');
    for (uint32_t i = 0; i < s->count; i++)
        block(w, &blocks[i]);
    vt_pickle_close(&w->p);
    vt_pickle_close(&w->p);
}

/* --- changes --- */

/* Begins an entry, including its address. */
static void entry(struct writer *w, const char *action, uint64_t at) {
    vt_pickle_open(&w->p, NULL, '{');
    vt_pickle_text(&w->p, "action", action);
    vt_pickle_number(&w->p, "time_us", (w->process->started_at + at) / 1000);
    vt_pickle_number(&w->p, "stream", 0);
    vt_pickle_text(&w->p, "compile_context", "N/A");
    default_pool(w, "pool_id");
}

static void event(struct writer *w, const char *action, const struct vt_change *c, uint64_t bytes) {
    entry(w, action, c->at);
    vt_pickle_number(&w->p, "addr", c->address);
    vt_pickle_number(&w->p, "size", bytes);
    note_of(w, c->site);
    stack_of(w, c->site);
    vt_pickle_close(&w->p);
}

static void write_change(struct writer *w, const struct vt_change *c, uint64_t bytes) {
    bool driver = c->layer == VT_LAYER_DRIVER, block = !driver || !c->segment;
    if (c->alloc) {
        if (driver)
            event(w, c->mapping ? "segment_map" : "segment_alloc", c, bytes);
        if (block)
            event(w, "alloc", c, bytes);
        return;
    }
    if (block) {
        event(w, "free_requested", c, bytes);
        event(w, "free_completed", c, bytes);
    }
    if (driver)
        event(w, c->mapping ? "segment_unmap" : "segment_free", c, bytes);
}

/* PyTorch logs an event for each error that it raises, but not for a successful retry. */
static void oom(struct writer *w, const struct vt_oom *o) {
    entry(w, "oom", o->at);
    vt_pickle_number(&w->p, "device_free", o->free_bytes == VT_UNKNOWN ? 0 : o->free_bytes);
    vt_pickle_number(&w->p, "size", o->requested_bytes == VT_UNKNOWN ? 0 : o->requested_bytes);
    vt_pickle_text(&w->p, "user_metadata", o->why ? o->why : "");
    write_frames_of(w, o->stack);
    vt_pickle_close(&w->p);
}

static bool is_shown(const struct trace *t, const struct vt_oom *o) {
    const struct vt_timeline *timeline = t->process->timeline;
    return o->device == t->device->ordinal && o->outcome != VT_OOM_RECOVERED &&
           (!timeline->changes_left_out || o->at >= timeline->changes[0].at);
}

/* Counts consecutive pieces that the driver mapped: together they are one mapping of the allocator. */
static uint32_t adjacent(const struct trace *t, uint32_t first, uint64_t *bytes) {
    const struct vt_change *c = t->made.changes[first];
    uint32_t i = first + 1;
    *bytes = c->bytes;
    if (!c->mapping || !c->segment)
        return i;
    for (; i < t->made.change_count; i++) {
        const struct vt_change *next = t->made.changes[i];
        if (!next->mapping || next->alloc != c->alloc || (c->alloc && next->site != c->site) ||
            next->thread != c->thread || next->address != c->address + *bytes)
            break;
        *bytes += next->bytes;
    }
    return i;
}

static void trace(struct writer *w, const struct trace *t) {
    const struct vt_process *p = t->process;
    uint32_t next_oom = 0;
    uint64_t bytes;
    vt_pickle_open(&w->p, NULL, '[');
    for (uint32_t i = 0, next; i < t->made.change_count; i = next) {
        const struct vt_change *c = t->made.changes[i];
        for (; next_oom < p->oom_count && p->ooms[next_oom].at < c->at; next_oom++)
            if (is_shown(t, &p->ooms[next_oom]))
                oom(w, &p->ooms[next_oom]);
        next = adjacent(t, i, &bytes);
        write_change(w, c, bytes);
    }
    for (; next_oom < p->oom_count; next_oom++)
        if (is_shown(t, &p->ooms[next_oom]))
            oom(w, &p->ooms[next_oom]);
    vt_pickle_close(&w->p);
}

/* --- the snapshot --- */

/* Bytes live at the end that are not in the map: a device may have more allocations than its map has regions. */
static uint64_t bytes_left_out(const struct trace *t) {
    const struct vt_timeline *timeline = t->process->timeline;
    uint64_t bytes = 0, regions = 0;
    for (uint32_t i = 0; i < timeline->map_count; i++)
        if (timeline->maps[i].device == t->device->ordinal && timeline->maps[i].why == VT_MAP_END)
            regions = timeline->maps[i].regions_left_out;
    for (uint32_t i = 0; i < t->made.segment_count; i++)
        bytes += t->made.segments[i].bytes;
    return regions && t->device->live_bytes > bytes ? t->device->live_bytes - bytes : 0;
}

/* Writes the text that the page shows as "Allocator Settings". */
static void settings(struct writer *w, const struct trace *traces, uint32_t count) {
    bool left_out = false;
    vt_pickle_open(&w->p, "allocator_settings", '{');
    const char *conf = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_process *p = traces[i].process;
        left_out |= p->timeline->changes_left_out > 0;
        conf = conf ? conf : vt_process_variable(p, "PYTORCH_ALLOC_CONF");
        conf = conf ? conf : vt_process_variable(p, "PYTORCH_CUDA_ALLOC_CONF");
    }
    vt_pickle_text(&w->p, "PYTORCH_CUDA_ALLOC_CONF", conf ? conf : "");
    vt_pickle_bool(&w->p, "expandable_segments", conf && strstr(conf, "expandable_segments:True"));
    vt_pickle_bool(&w->p, "trace_alloc_overflowed", left_out);
    vt_pickle_number(&w->p, "trace_alloc_max_entries", VT_CHANGES);
    vt_pickle_open(&w->p, "vramtrace", '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_process *p = traces[i].process;
        vt_pickle_open(&w->p, NULL, '{');
        vt_pickle_number(&w->p, "device_trace", traces[i].index);
        vt_pickle_text(&w->p, "gpu", traces[i].device->name);
        vt_pickle_number(&w->p, "ordinal", vt_device_number(traces[i].device->ordinal));
        vt_pickle_number(&w->p, "total_bytes", traces[i].device->total_bytes);
        vt_pickle_text(&w->p, "log", p->log);
        vt_pickle_number(&w->p, "pid", p->pid);
        vt_pickle_text(&w->p, "host", p->host);
        vt_pickle_number(&w->p, "rank", vt_rank_number(p->rank));
        vt_pickle_bool(&w->p, "simulated", p->simulated);
        vt_pickle_number(&w->p, "earlier_changes_left_out", p->timeline->changes_left_out);
        vt_pickle_number(&w->p, "bytes_left_out", bytes_left_out(&traces[i]));
        vt_pickle_close(&w->p);
    }
    vt_pickle_close(&w->p);
    vt_pickle_close(&w->p);
}

static void begin_process(struct writer *w, const struct vt_process *p) {
    free(w->stacks);
    free(w->notes);
    w->process = p;
    w->stacks = vt_alloc(p->site_count, sizeof *w->stacks);
    w->notes = vt_alloc(p->site_count, sizeof *w->notes);
    memset(w->stacks, 0xff, p->site_count * sizeof *w->stacks);
    memset(w->notes, 0xff, p->site_count * sizeof *w->notes);
}

/* A single process's devices keep their numbers. For several processes, all used devices are numbered consecutively. */
static struct trace *make_traces(const struct vt_model *model, uint32_t *count) {
    struct trace *traces = NULL;
    uint32_t room = 0, next = 0;
    *count = 0;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct vt_process *p = &model->processes[i];
        for (uint32_t k = 0; p->timeline && k < p->device_count; k++) {
            const struct vt_device *d = &p->devices[k];
            VT_GROW(traces, *count, room);
            struct trace *t = &traces[(*count)++];
            *t = (struct trace){.process = p, .device = d, .index = next};
            if (model->process_count == 1 && d->ordinal < VT_DEVICE_HOST && d->ordinal > next)
                t->index = d->ordinal;
            next = t->index + 1;
            vt_pytorch_make(p, d->ordinal, &t->made);
            if (model->process_count > 1 && !t->made.segment_count && !t->made.change_count) {
                vt_pytorch_free(&t->made);
                next = traces[--*count].index;
            }
        }
    }
    return traces;
}

static void each_segment(struct writer *w, const struct trace *traces, uint32_t count) {
    vt_pickle_open(&w->p, "segments", '[');
    for (uint32_t i = 0; i < count; i++) {
        if (traces[i].process != w->process)
            begin_process(w, traces[i].process);
        for (uint32_t k = 0; k < traces[i].made.segment_count; k++)
            segment(w, &traces[i], &traces[i].made.segments[k]);
    }
    vt_pickle_close(&w->p);
}

static void each_trace(struct writer *w, const struct trace *traces, uint32_t count) {
    vt_pickle_open(&w->p, "device_traces", '[');
    for (uint32_t i = 0, index = 0; i < count; i++, index++) {
        for (; index < traces[i].index; index++) { /* a GPU that was not used */
            vt_pickle_open(&w->p, NULL, '[');
            vt_pickle_close(&w->p);
        }
        if (traces[i].process != w->process)
            begin_process(w, traces[i].process);
        trace(w, &traces[i]);
    }
    vt_pickle_close(&w->p);
}

int vt_export_pytorch_write(const struct vt_model *model, const struct vt_export_options *options,
                            FILE *out) {
    struct writer w = {.p = {.out = out},
                       .native = options->native,
                       .no_stack = VT_MAP_NONE,
                       .default_pool = VT_MAP_NONE};
    uint32_t count;
    struct trace *traces = make_traces(model, &count);
    vt_pickle_begin(&w.p);
    vt_pickle_open(&w.p, NULL, '{');
    each_segment(&w, traces, count);
    each_trace(&w, traces, count);
    settings(&w, traces, count);
    vt_pickle_open(&w.p, "external_annotations", '[');
    vt_pickle_close(&w.p);
    vt_pickle_close(&w.p);
    vt_pickle_end(&w.p);
    for (uint32_t i = 0; i < count; i++)
        vt_pytorch_free(&traces[i].made);
    free(traces);
    free(w.stacks);
    free(w.notes);
    return 0;
}
