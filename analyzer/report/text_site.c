/* SPDX-License-Identifier: MIT */
/*
 * The text report about one site (--site ID): its figures, and its whole stack with source lines.
 */
#include "fmt_text.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>

static void print_stack(const struct vt_text *t, const struct vt_stack *stack) {
    uint32_t hidden = 0;
    fputs("\n  stack, innermost first", t->out);
    fputs(stack->user_frame < stack->count ? "; > marks your own code\n" : "\n", t->out);
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct vt_frame *frame = vt_stack_frame(stack, i);
        if (frame->interpreter && !t->options->native) {
            hidden++;
            continue;
        }
        if (frame->waiting && i && !vt_stack_frame(stack, i - 1)->waiting)
            fputs("    on a thread of PyTorch's autograd engine; the thread that waits for it:\n",
                  t->out);
        char *frame_text = vt_frame_text(t->process, frame, t->width - 4);
        char *source = vt_frame_text_source(t->process, frame, t->width - 8);
        bool main_frame = i == stack->user_frame;
        fprintf(t->out, "  %c %s%s%s\n", frame->user_code ? '>' : ' ',
                vt_text_style(t, main_frame ? VT_STYLE_HEAD : ""), frame_text,
                vt_text_style(t, main_frame ? VT_STYLE_NONE : ""));
        if (source)
            fprintf(t->out, "        %s%s%s\n", vt_text_style(t, VT_STYLE_DIM), source,
                    vt_text_style(t, VT_STYLE_NONE));
        free(frame_text);
        free(source);
    }
    if (!stack->count)
        fputs("    unknown: the log has no stack for this site\n", t->out);
    if (stack->cut)
        fputs("    ... cut here: VRAMTRACE_DEPTH limits the frames that are kept\n", t->out);
    if (stack->unplaced)
        fputs("    (Python frames come first: their position among the native ones is unknown)\n",
              t->out);
    if (hidden)
        fprintf(t->out,
                "    (%u frame%s inside the Python interpreter hidden; --native shows them)\n",
                hidden, vt_plural(hidden));
}

void vt_text_site(const struct vt_text *t, const struct vt_site *s) {
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
    vt_string_format(&rest, "   %s", vt_verdict_names[s->verdict]);
    char *heading = vt_formatted("SITE %s", s->name);
    vt_text_heading(t, VT_STYLE_HEAD, heading, rest.text);
    fprintf(t->out, "  %s%s in %s allocation%s\n",
            s->went_count ? "never freed      " : "held at the end  ", VT_BYTES(s->live_bytes),
            VT_NUMBER(s->live_count), vt_plural(s->live_count));
    if (s->held_count > s->live_count) {
        char *before = vt_formatted("%s in %s allocation%s, until the process's last allocation",
                                    VT_BYTES(s->held_bytes), VT_NUMBER(s->held_count),
                                    vt_plural(s->held_count));
        vt_text_wrap(t, "  before exit", 19, before);
        free(before);
    }
    fprintf(t->out, "  its own peak     %s; %s at the %s peak\n", VT_BYTES(s->peak_bytes),
            VT_BYTES(s->bytes_at_peak),
            s->layer == VT_LAYER_HOST      ? "pinned memory's"
            : s->layer == VT_LAYER_MANAGED ? "managed memory's"
                                           : "device's");
    fprintf(t->out, "  total            %s allocation%s, %s; %s freed\n", VT_NUMBER(s->alloc_count),
            vt_plural(s->alloc_count), VT_BYTES(s->allocated_bytes), VT_NUMBER(s->free_count));
    if (s->first_at != VT_UNKNOWN)
        fprintf(t->out, "  first, last      %s, %s\n", VT_DURATION(s->first_at),
                VT_DURATION(s->last_at));
    vt_text_wrap(t, "  why", 19, s->why);
    if (s->sawtooth)
        vt_text_wrap(t, "  up and down", 19, s->sawtooth->says);
    vt_text_site_owners(t, s);
    print_stack(t, s->stack);
    vt_string_free(&rest);
    free(heading);
}
