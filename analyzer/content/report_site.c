/* SPDX-License-Identifier: MIT */
/*
 * The text report on one site (--site ID): its figures, and its whole stack with source lines.
 */
#include "report_doc.h"

#include "vramtrace/log_format.h"

#include <limits.h>
#include <stdlib.h>

enum { COLUMN = 19 }; /* column of the rows' texts */

static void add_stack(const struct vt_subject *t, const struct vt_stack *stack,
                      struct vt_doc *doc) {
    uint32_t hidden = 0;
    vt_doc_add(doc, VT_DOC_LINE, NULL);
    vt_doc_line(doc, "  stack, innermost first%s",
                stack->user_frame < stack->count ? "; > marks your own code" : "");
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct vt_frame *frame = vt_stack_frame(stack, i);
        if (frame->interpreter && !t->options->native) {
            hidden++;
            continue;
        }
        if (frame->waiting && i && !vt_stack_frame(stack, i - 1)->waiting)
            vt_doc_line(doc, "    on a thread of PyTorch's autograd engine; the thread that waits "
                             "for it:");
        char *text = vt_doc_keep(doc, vt_frame_text(t->process, frame, UINT_MAX));
        char *source = vt_doc_keep(doc, vt_frame_text_source(t->process, frame, UINT_MAX));
        struct vt_doc_item *item = vt_doc_add(doc, VT_DOC_PLACE, text);
        item->label = frame->user_code ? ">" : "";
        item->column = 4;
        item->style = i == stack->user_frame ? VT_STYLE_HEAD : "";
        if (!source)
            continue;
        item = vt_doc_add(doc, VT_DOC_SOURCE, NULL);
        item->column = 8;
        item->source = source;
    }
    if (!stack->count)
        vt_doc_line(doc,
                    t->process->evicted_sites
                        ? "    other call sites: their stacks were evicted from the log's summary"
                        : "    unknown: the log has no stack for this site");
    if (stack->cut)
        vt_doc_line(doc, "    ... cut here: VRAMTRACE_DEPTH limits the frames that are kept");
    if (stack->unplaced)
        vt_doc_line(doc, "    (Python frames come first: their position among the native ones is "
                         "unknown)");
    if (hidden)
        vt_doc_line(doc,
                    "    (%u frame%s inside the Python interpreter hidden; --native shows them)",
                    hidden, vt_plural(hidden));
}

void vt_report_add_site(const struct vt_subject *t, const struct vt_site *s, struct vt_doc *doc) {
    struct vt_string rest = {0};
    vt_string_add(&rest, s->before ? "allocated before --since"
                         : s->api  ? s->api
                                   : "an unknown call");
    if (s->device < VT_DEVICE_HOST)
        vt_string_format(&rest, " on %s", VT_GPU(s->device));
    else if (s->layer == VT_LAYER_HOST)
        vt_string_add(&rest, ", pinned host memory");
    else if (s->layer == VT_LAYER_MANAGED)
        vt_string_add(&rest, ", managed memory");
    if (s->graph_memory)
        vt_string_add(&rest, ", CUDA graph memory");
    vt_doc_heading(doc, VT_STYLE_HEAD, vt_doc_text(doc, "SITE %s", s->name), "%s   %s",
                   vt_doc_keep(doc, rest.text), vt_verdict_names[s->verdict]);
    doc->column = COLUMN;
    vt_doc_row(doc, s->context_freed_count ? "never freed" : "held at the end",
               "%s in %s allocation%s", VT_BYTES(s->live_bytes), VT_NUMBER(s->live_count),
               vt_plural(s->live_count));
    if (s->held_count > s->live_count)
        vt_doc_row(doc, "before exit", "%s in %s allocation%s, until the process's last allocation",
                   VT_BYTES(s->held_bytes), VT_NUMBER(s->held_count), vt_plural(s->held_count));
    vt_doc_row(doc, "its own peak", "%s; %s at the %s peak", VT_BYTES(s->peak_bytes),
               VT_BYTES(s->bytes_at_peak),
               s->layer == VT_LAYER_HOST      ? "pinned memory's"
               : s->layer == VT_LAYER_MANAGED ? "managed memory's"
                                              : "device's");
    vt_doc_row(doc, "total", "%s allocation%s, %s; %s freed", VT_NUMBER(s->alloc_count),
               vt_plural(s->alloc_count), VT_BYTES(s->allocated_bytes), VT_NUMBER(s->free_count));
    if (s->first_at != VT_UNKNOWN)
        vt_doc_row(doc, "first, last", "%s, %s", VT_DURATION(s->first_at), VT_DURATION(s->last_at));
    vt_doc_row(doc, "why", "%s", s->why);
    vt_report_add_site_owners(t, s, doc);
    add_stack(t, s->stack, doc);
}
