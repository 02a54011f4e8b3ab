/* SPDX-License-Identifier: MIT */
/*
 * A snapshot as torch.cuda.memory._dump_snapshot() writes it, for PyTorch's memory_viz (the page, and
 * torch/cuda/_memory_viz.py): a pickle of the segments at the end and of what was allocated and freed
 * on the way there. What PyTorch itself cannot see is in it, too: each allocation outside of its
 * allocator is a segment with one block.
 *
 * The keys are PyTorch's. The reader matches what was allocated with its "free_completed", and
 * "free_requested" just before that is one step with it.
 */
#include "export.h"
#include "pickle.h"
#include "pytorch.h"

#include "vramtrace/log_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    struct vt_pickle p;
    bool native;
    const struct vt_process *process;
    uint32_t *stacks, *notes; /* of its sites: where the pickle keeps them, or VT_MAP_NONE */
    uint32_t no_stack, default_pool;
    struct vt_pickle_list events;
};

/* One of the lists of device_traces. */
struct trace {
    const struct vt_process *process;
    const struct vt_device *device;
    struct vt_pytorch_device made;
    uint32_t index;
};

static void text(struct writer *w, const char *key, const char *value) {
    vt_pickle_text(&w->p, key);
    if (value)
        vt_pickle_text(&w->p, value);
    else
        vt_pickle_none(&w->p);
}

static void number(struct writer *w, const char *key, uint64_t value) {
    vt_pickle_text(&w->p, key);
    if (value == VT_UNKNOWN)
        vt_pickle_none(&w->p);
    else
        vt_pickle_number(&w->p, value);
}

static void boolean(struct writer *w, const char *key, bool value) {
    vt_pickle_text(&w->p, key);
    vt_pickle_bool(&w->p, value);
}

/* --- stacks --- */

static void frame(struct writer *w, const struct vt_frame *f) {
    vt_pickle_dict(&w->p);
    vt_pickle_text(&w->p, "name");
    if (f->function) {
        vt_pickle_text(&w->p, f->function);
    } else if (f->module && f->offset != VT_UNKNOWN) {
        VT_SCOPED char *name = vt_formatted("%s+0x%" PRIx64, vt_basename(f->module), f->offset);
        vt_pickle_text_once(&w->p, name);
    } else {
        vt_pickle_text(&w->p, "??");
    }
    text(w, "filename", f->file ? f->file : f->module ? f->module : "??");
    number(w, "line", f->file ? f->line : 0);
    vt_pickle_dict_end(&w->p);
}

static void stack(struct writer *w, const struct vt_stack *s) {
    struct vt_pickle_list list = {0};
    vt_pickle_list(&w->p);
    for (uint32_t i = 0; s && i < s->count; i++)
        if (w->native || !vt_stack_frame(s, i)->interpreter) {
            vt_pickle_item(&w->p, &list);
            frame(w, vt_stack_frame(s, i));
        }
    vt_pickle_list_end(&w->p, &list);
}

static void stack_of(struct writer *w, uint32_t site) {
    vt_pickle_text(&w->p, "frames");
    uint32_t *kept = site == VT_NO_SITE ? &w->no_stack : &w->stacks[site];
    if (*kept != VT_MAP_NONE) {
        vt_pickle_again(&w->p, *kept);
        return;
    }
    stack(w, site == VT_NO_SITE ? NULL : w->process->sites[site].stack);
    *kept = vt_pickle_keep(&w->p);
}

/* What a report knows of it: "site 3f2a19..., growing; cudaMalloc". */
static void note_of(struct writer *w, uint32_t site) {
    vt_pickle_text(&w->p, "user_metadata");
    if (site == VT_NO_SITE) {
        vt_pickle_text(&w->p, "");
        return;
    }
    if (w->notes[site] != VT_MAP_NONE) {
        vt_pickle_again(&w->p, w->notes[site]);
        return;
    }
    const struct vt_site *s = &w->process->sites[site];
    VT_SCOPED_STRING note = {0};
    vt_string_format(&note, "vramtrace: %s, site %s", vt_verdict_names[s->verdict], s->name);
    if (s->layer == VT_LAYER_DRIVER && s->api)
        vt_string_format(&note, ", %s", s->api);
    if (s->class_name)
        vt_string_format(&note, " by %s", s->class_name);
    vt_pickle_text_once(&w->p, note.text);
    w->notes[site] = vt_pickle_keep(&w->p);
}

static void default_pool(struct writer *w, const char *key) {
    vt_pickle_text(&w->p, key);
    if (w->default_pool != VT_MAP_NONE) {
        vt_pickle_again(&w->p, w->default_pool);
        return;
    }
    vt_pickle_pair(&w->p, 0, 0);
    w->default_pool = vt_pickle_keep(&w->p);
}

/* --- segments --- */

static void block(struct writer *w, const struct vt_pytorch_block *b) {
    vt_pickle_dict(&w->p);
    number(w, "address", b->address);
    number(w, "size", b->bytes);
    number(w, "requested_size", b->idle ? 0 : b->bytes);
    text(w, "state", b->idle ? "inactive" : "active_allocated");
    stack_of(w, b->idle ? VT_NO_SITE : b->site);
    vt_pickle_dict_end(&w->p);
}

/* PyTorch serves up to 1 MiB from segments of 2 MiB, or of many such pieces. */
static const char *segment_type(const struct vt_pytorch_segment *s,
                                const struct vt_pytorch_block *blocks) {
    bool small = s->expandable || s->bytes <= 2 << 20;
    for (uint32_t i = 0; i < s->count; i++)
        small &= blocks[i].idle || blocks[i].bytes <= 1 << 20;
    return small ? "small" : "large";
}

static void segment(struct writer *w, const struct trace *t, const struct vt_pytorch_segment *s) {
    const struct vt_pytorch_block *blocks = &t->made.blocks[s->first];
    struct vt_pickle_list list = {0};
    uint64_t active = 0;
    for (uint32_t i = 0; i < s->count; i++)
        active += blocks[i].idle ? 0 : blocks[i].bytes;
    vt_pickle_dict(&w->p);
    number(w, "device", t->index);
    number(w, "address", s->address);
    number(w, "total_size", s->bytes);
    number(w, "allocated_size", active);
    number(w, "active_size", active);
    number(w, "requested_size", active);
    number(w, "stream", 0);
    text(w, "segment_type", segment_type(s, blocks));
    default_pool(w, "segment_pool_id");
    boolean(w, "is_expandable", s->expandable);
    stack_of(w, s->site);
    note_of(w, s->site);
    boolean(w, "caching_allocator", s->of_allocator);
    vt_pickle_text(&w->p, "blocks");
    vt_pickle_list(&w->p);
    for (uint32_t i = 0; i < s->count; i++) {
        vt_pickle_item(&w->p, &list);
        block(w, &blocks[i]);
    }
    vt_pickle_list_end(&w->p, &list);
    vt_pickle_dict_end(&w->p);
}

/* --- changes --- */

/* Opens an entry, up to its address. */
static void entry(struct writer *w, const char *action, uint64_t at) {
    vt_pickle_item(&w->p, &w->events);
    vt_pickle_dict(&w->p);
    text(w, "action", action);
    number(w, "time_us", (w->process->started_at + at) / 1000);
    number(w, "stream", 0);
    text(w, "compile_context", "N/A");
    default_pool(w, "pool_id");
}

static void event(struct writer *w, const char *action, const struct vt_change *c, uint64_t bytes) {
    entry(w, action, c->at);
    number(w, "addr", c->address);
    number(w, "size", bytes);
    note_of(w, c->site);
    stack_of(w, c->site);
    vt_pickle_dict_end(&w->p);
}

static void change(struct writer *w, const struct vt_change *c, uint64_t bytes) {
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

/* PyTorch's are those that it raises; that a retry helped is no event of its own. */
static void oom(struct writer *w, const struct vt_oom *o) {
    entry(w, "oom", o->at);
    number(w, "device_free", o->free_bytes == VT_UNKNOWN ? 0 : o->free_bytes);
    number(w, "size", o->requested_bytes == VT_UNKNOWN ? 0 : o->requested_bytes);
    text(w, "user_metadata", o->why ? o->why : "");
    vt_pickle_text(&w->p, "frames");
    stack(w, o->stack);
    vt_pickle_dict_end(&w->p);
}

static bool is_shown(const struct trace *t, const struct vt_oom *o) {
    const struct vt_timeline *timeline = t->process->timeline;
    return o->device == t->device->ordinal && o->outcome != VT_OOM_RECOVERED &&
           (!timeline->changes_left_out || o->at >= timeline->changes[0].at);
}

/* Pieces that the driver mapped behind each other are one mapping of the allocator's. */
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
    w->events = (struct vt_pickle_list){0};
    vt_pickle_list(&w->p);
    for (uint32_t i = 0, next; i < t->made.change_count; i = next) {
        const struct vt_change *c = t->made.changes[i];
        for (; next_oom < p->oom_count && p->ooms[next_oom].at < c->at; next_oom++)
            if (is_shown(t, &p->ooms[next_oom]))
                oom(w, &p->ooms[next_oom]);
        next = adjacent(t, i, &bytes);
        change(w, c, bytes);
    }
    for (; next_oom < p->oom_count; next_oom++)
        if (is_shown(t, &p->ooms[next_oom]))
            oom(w, &p->ooms[next_oom]);
    vt_pickle_list_end(&w->p, &w->events);
}

/* --- the whole --- */

/* Of what was live at the end, where a device had more allocations than its map has regions. */
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

/* What the page shows as "Allocator Settings". */
static void settings(struct writer *w, const struct trace *traces, uint32_t count) {
    struct vt_pickle_list list = {0};
    bool left_out = false;
    vt_pickle_dict(&w->p);
    const char *conf = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_process *p = traces[i].process;
        left_out |= p->timeline->changes_left_out > 0;
        conf = conf ? conf : vt_process_variable(p, "PYTORCH_ALLOC_CONF");
        conf = conf ? conf : vt_process_variable(p, "PYTORCH_CUDA_ALLOC_CONF");
    }
    text(w, "PYTORCH_CUDA_ALLOC_CONF", conf ? conf : "");
    boolean(w, "expandable_segments", conf && strstr(conf, "expandable_segments:True"));
    boolean(w, "trace_alloc_overflowed", left_out);
    number(w, "trace_alloc_max_entries", VT_CHANGES);
    vt_pickle_text(&w->p, "vramtrace");
    vt_pickle_list(&w->p);
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_process *p = traces[i].process;
        vt_pickle_item(&w->p, &list);
        vt_pickle_dict(&w->p);
        number(w, "device_trace", traces[i].index);
        text(w, "gpu", traces[i].device->name);
        number(w, "ordinal", vt_device_number(traces[i].device->ordinal));
        number(w, "total_bytes", traces[i].device->total_bytes);
        text(w, "log", p->log);
        number(w, "pid", p->pid);
        text(w, "host", p->host);
        number(w, "rank", vt_rank_number(p->rank));
        boolean(w, "simulated", p->simulated);
        number(w, "earlier_changes_left_out", p->timeline->changes_left_out);
        number(w, "bytes_left_out", bytes_left_out(&traces[i]));
        vt_pickle_dict_end(&w->p);
    }
    vt_pickle_list_end(&w->p, &list);
    vt_pickle_dict_end(&w->p);
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

/* One process's devices have the numbers that it knows them by; of several processes those that were
 * used are counted through. */
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
    struct vt_pickle_list list = {0};
    vt_pickle_list(&w->p);
    for (uint32_t i = 0; i < count; i++) {
        if (traces[i].process != w->process)
            begin_process(w, traces[i].process);
        for (uint32_t k = 0; k < traces[i].made.segment_count; k++) {
            vt_pickle_item(&w->p, &list);
            segment(w, &traces[i], &traces[i].made.segments[k]);
        }
    }
    vt_pickle_list_end(&w->p, &list);
}

static void each_trace(struct writer *w, const struct trace *traces, uint32_t count) {
    struct vt_pickle_list list = {0};
    vt_pickle_list(&w->p);
    for (uint32_t i = 0, index = 0; i < count; i++) {
        for (; index <= traces[i].index; index++) {
            vt_pickle_item(&w->p, &list);
            if (index < traces[i].index)
                vt_pickle_list(&w->p); /* a GPU that was not used */
        }
        if (traces[i].process != w->process)
            begin_process(w, traces[i].process);
        trace(w, &traces[i]);
    }
    vt_pickle_list_end(&w->p, &list);
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
    vt_pickle_dict(&w.p);
    vt_pickle_text(&w.p, "segments");
    each_segment(&w, traces, count);
    vt_pickle_text(&w.p, "device_traces");
    each_trace(&w, traces, count);
    vt_pickle_text(&w.p, "allocator_settings");
    settings(&w, traces, count);
    struct vt_pickle_list none = {0};
    vt_pickle_text(&w.p, "external_annotations");
    vt_pickle_list(&w.p);
    vt_pickle_list_end(&w.p, &none);
    vt_pickle_dict_end(&w.p);
    vt_pickle_end(&w.p);
    for (uint32_t i = 0; i < count; i++)
        vt_pytorch_free(&traces[i].made);
    free(traces);
    free(w.stacks);
    free(w.notes);
    return 0;
}
