/* SPDX-License-Identifier: MIT */
/*
 * Advice for a failed allocation, by its cause. It never recommends a setting that is in effect
 * already, which the recorded environment variables show. build.c calls, after every site has its
 * verdict.
 */
#define _GNU_SOURCE /* strcasestr */
#include "judge.h"
#include "model/model.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* PyTorch's allocator settings, from whichever variable is set, and the variable's name. */
static const char *torch_settings(const struct vt_process *p, const char **name) {
    static const char *const names[] = {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF",
                                        "PYTORCH_HIP_ALLOC_CONF"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = vt_process_variable(p, *name = names[i]);
        if (value && value[0])
            return value;
    }
    *name = "PYTORCH_CUDA_ALLOC_CONF";
    return "";
}

/* A site's main frame as text; NULL: filtered out. The caller frees it. */
static char *site_text(const struct vt_process *p, uint32_t site) {
    if (site == VT_NO_SITE)
        return NULL;
    return vt_frame_text(p, vt_stack_main_frame(p->sites[site].stack), 60);
}

static void name_pins(const struct vt_process *p, const struct vt_oom *oom,
                      struct vt_string *text) {
    char *frame_text = oom->pin_count ? site_text(p, oom->pins[0].site) : NULL;
    if (!frame_text)
        return;
    const struct vt_pin *pin = &oom->pins[0];
    vt_string_format(
        text,
        "%sallocate the blocks kept from %s earlier or in memory of their own: %s block%s "
        "(%s) hold%s %s segment%s with %s idle",
        text->length ? "; or " : "", frame_text, VT_NUMBER(pin->blocks), vt_plural(pin->blocks),
        VT_BYTES(pin->block_bytes), pin->blocks == 1 ? "s" : "", VT_NUMBER(pin->segments),
        vt_plural(pin->segments), VT_BYTES(pin->pinned_bytes));
    free(frame_text);
}

static void against_fragmentation(const struct vt_process *p, const struct vt_oom *oom,
                                  struct vt_string *text) {
    const char *name, *settings = torch_settings(p, &name);
    bool torch = oom->allocator && !strcmp(oom->allocator, "PyTorch");
    bool expandable = oom->expandable || strcasestr(settings, "expandable_segments:true");
    if (torch && !expandable)
        vt_string_format(text, "set %s=%s%sexpandable_segments:True", name, settings,
                         settings[0] ? "," : "");
    name_pins(p, oom, text);
    if (oom->largest_free_bytes != VT_UNKNOWN && oom->largest_free_bytes)
        vt_string_format(text, "%sask for pieces of at most %s", text->length ? "; or " : "",
                         VT_BYTES(oom->largest_free_bytes));
    if (torch && expandable)
        vt_string_add(text, " (expandable segments are on already)");
}

static void against_capacity(const struct vt_process *p, const struct vt_oom *oom,
                             struct vt_string *text) {
    if (oom->requested_bytes > oom->total_bytes) {
        vt_string_add(text, "ask for less at a time, or use a larger device");
        return;
    }
    uint32_t holder = oom->holder_count ? oom->holders[0] : VT_NO_SITE;
    char *frame_text = site_text(p, holder);
    if (frame_text) {
        enum vt_verdict verdict = p->sites[holder].verdict;
        bool leak = verdict == VT_VERDICT_GROWING || verdict == VT_VERDICT_LOST;
        vt_string_format(text, "%s memory allocated at %s: it held %s",
                         leak ? "stop the leak of" : "free, or shrink, the", frame_text,
                         VT_BYTES(oom->holder_bytes[0]));
        free(frame_text);
    }
    uint64_t cached = oom->cached_bytes == VT_UNKNOWN ? 0 : oom->cached_bytes;
    if (oom->free_bytes != VT_UNKNOWN && oom->free_bytes + cached)
        vt_string_format(text, "%sask for at most %s", text->length ? "; or " : "",
                         VT_BYTES(oom->free_bytes + cached));
}

static void against_limit(const struct vt_process *p, const struct vt_oom *oom,
                          struct vt_string *text) {
    const char *limit = vt_process_variable(p, "VRAMTRACE_LIMIT");
    if (oom->unasked)
        vt_string_add(text, "raise torch.cuda.set_per_process_memory_fraction, or ask for less");
    else
        vt_string_format(text, "raise VRAMTRACE_LIMIT%s%s%s, or ask for less",
                         limit ? " (it is " : "", limit ? limit : "", limit ? ")" : "");
}

static void advise(const struct vt_process *p, struct vt_oom *oom) {
    struct vt_string text = {0};
    if (!oom->cause || !strcmp(oom->outcome, "recovered"))
        return;
    if (!strcmp(oom->cause, "fragmentation"))
        against_fragmentation(p, oom, &text);
    else if (!strcmp(oom->cause, "capacity"))
        against_capacity(p, oom, &text);
    else if (!strcmp(oom->cause, "limit"))
        against_limit(p, oom, &text);
    else if (!strcmp(oom->cause, "other-process"))
        vt_string_format(&text,
                         "end the other processes on this GPU (nvidia-smi lists them), or use "
                         "another one with CUDA_VISIBLE_DEVICES; until then at most %s fits",
                         VT_BYTES(oom->free_bytes));
    oom->advice = text.text;
}

void vt_oom_advise(struct vt_process *p) {
    for (uint32_t i = 0; i < p->oom_count; i++)
        advise(p, &p->ooms[i]);
}
