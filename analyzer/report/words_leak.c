/* SPDX-License-Identifier: MIT */
/*
 * What a report says of a leak (see words.h): its size, where it was allocated, since when it grows, how
 * long until the device is full, the evidence, what keeps it, and what helps.
 */
#include "fmt_text.h"
#include "words.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL = 16, MANY_RISES = 100 };
enum { FULL_WITHIN = 1000 }; /* times the run; what is further away is not worth a line */

static void row(struct vt_words *words, const char *label, const char *text) {
    vt_words_add(words, VT_WORDS_TEXT, label, vt_strdup(text));
}

const char *vt_words_unit(const struct vt_growth *g) {
    return g->marked ? g->per : g->iterations == VT_UNKNOWN ? "second" : "round";
}

bool vt_words_full_soon(const struct vt_growth *g, uint64_t duration) {
    return g->full_in != VT_UNKNOWN && g->full_in / FULL_WITHIN <= duration;
}

/* The kind of memory, if not what a call gives on a GPU. */
static const char *memory(const struct vt_process *p, const struct vt_leak *leak) {
    uint32_t host = 0, managed = 0, graph = 0;
    for (uint32_t i = 0; i < leak->site_count; i++) {
        host += p->sites[leak->sites[i]].layer == VT_LAYER_HOST;
        managed += p->sites[leak->sites[i]].layer == VT_LAYER_MANAGED;
        graph += p->sites[leak->sites[i]].graph_memory;
    }
    return host == leak->site_count      ? " of pinned host memory"
           : managed == leak->site_count ? " of managed memory"
           : graph == leak->site_count   ? " of CUDA graph memory"
           : host && managed             ? " of memory (pinned host and managed included)"
           : host                        ? " of memory (pinned host included)"
           : managed                     ? " of memory (managed included)"
                                         : "";
}

/* When the blocks that are not live were freed. */
static const char *end(const struct vt_process *p) {
    return p->window_until != VT_UNKNOWN || !p->complete ? "at the end" : "at exit";
}

static void say_growing(const struct vt_process *p, const struct vt_leak *leak,
                        struct vt_amount amount, struct vt_string *rest) {
    vt_string_add(rest, " kept and growing");
    if (amount.freed && !p->python) /* an interpreter frees what is left, and says nothing by it */
        vt_string_format(rest, ", %sfreed only %s",
                         amount.freed == amount.blocks       ? ""
                         : amount.freed >= amount.blocks / 2 ? "most of it "
                                                             : "part of it ",
                         end(p));
    /* a filling cache has fewer rises */
    vt_string_add(rest, leak->growth->rises >= MANY_RISES ? ". Not a cache." : ". No known cache.");
}

static char *headline(const struct vt_process *p, const struct vt_leak *leak) {
    struct vt_string rest = {0};
    struct vt_amount amount = vt_amount_of_leak(p, leak);
    bool growing = leak->growth != NULL;
    uint64_t lost = 0, live = 0, went = 0;
    for (uint32_t i = 0; i < leak->site_count; i++) {
        lost += p->sites[leak->sites[i]].lost_count;
        live += p->sites[leak->sites[i]].live_count;
        went += p->sites[leak->sites[i]].went_count;
    }
    vt_string_format(&rest, "%s%s", VT_BYTES(amount.bytes), memory(p, leak));
    if (leak->verdict == VT_VERDICT_LOST && lost == live - went)
        vt_string_format(&rest, " lost%s: no pointer to it is left.",
                         growing ? ", and growing" : "");
    else if (leak->verdict == VT_VERDICT_LOST)
        vt_string_format(&rest, "%s: no pointer to %s of %s blocks is left.",
                         growing ? " lost and growing" : " lost in part", VT_NUMBER(lost),
                         VT_NUMBER(live - went));
    else if (growing)
        say_growing(p, leak, amount, &rest);
    else if (went)
        vt_string_add(&rest, went == live ? " never freed: it went with its context."
                                          : " never freed; part of it went with its context.");
    else
        vt_string_format(&rest, " still allocated %s.",
                         p->window_until != VT_UNKNOWN ? "when the window ends"
                         : p->complete                 ? "when the process ended"
                                                       : "where the log ends");
    return rest.text;
}

static void say_place(const struct vt_text *t, const struct vt_leak *leak, struct vt_words *words) {
    const struct vt_frame *frame = vt_stack_main_frame(leak->stack);
    char *node = vt_stack_text_node(leak->stack);
    char *frame_text = vt_stack_text(t->process, leak->stack, t->width - LABEL, true);
    struct vt_words_row *place =
        vt_words_add(words, VT_WORDS_PLACE, node ? "allocated" : "allocated at", frame_text);
    if (!node || !strchr(place->text, '`'))
        place->source = vt_frame_text_source(t->process, frame, t->width - LABEL);
    free(node);
}

/* What a round is, if the program marked no iterations. The caller of a shared allocation helper
 * says more than the helper. */
static void say_round(const struct vt_text *t, const struct vt_leak *leak, struct vt_words *words) {
    const struct vt_stack *beat = leak->growth->beat;
    const struct vt_frame *frame = beat ? vt_stack_main_frame(beat) : NULL;
    if (!frame)
        return;
    struct vt_string s = {0};
    if (beat != leak->stack && vt_stack_line_key(beat) == vt_stack_line_key(leak->stack))
        for (uint32_t i = beat->user_frame + 1; i < beat->count; i++)
            if (vt_stack_frame(beat, i)->user_code) {
                frame = vt_stack_frame(beat, i);
                break;
            }
    char *frame_text = vt_frame_text(t->process, frame, t->width - LABEL - 20);
    if (beat == leak->stack)
        vt_string_add(&s, "one allocation at this line");
    else
        vt_string_format(&s, "one allocation %s %s",
                         frame == vt_stack_main_frame(beat) ? "at" : "for", frame_text);
    row(words, "a round is", s.text);
    vt_string_free(&s);
    free(frame_text);
}

static void say_growth(const struct vt_text *t, const struct vt_leak *leak,
                       struct vt_words *words) {
    const struct vt_growth *g = leak->growth;
    struct vt_string s = {0};
    vt_string_format(&s, "%s per %s", VT_BYTES(vt_growth_bytes(g)), vt_words_unit(g));
    if (g->outer_iterations)
        vt_string_format(&s, "; %s per %s%s%s", VT_BYTES(vt_growth_bytes(g) * g->outer_iterations),
                         g->outer ? g->outer : VT_NUMBER(g->outer_iterations),
                         g->outer ? "" : " rounds", g->outer ? "" : " (an epoch?)");
    row(words, "how much", s.text);
    say_round(t, leak, words);
    s.length = 0;
    if (g->iterations != VT_UNKNOWN)
        vt_string_format(&s, "%s %s of %s (%s)", vt_words_unit(g), VT_NUMBER(g->since_iteration),
                         VT_NUMBER(g->iterations), VT_DURATION(g->since));
    else
        vt_string_format(&s, "%s", VT_DURATION(g->since));
    row(words, "since", s.text);
    s.length = 0;
    if (g->full_in_iterations == 0)
        vt_string_add(&s, t->process->oom_count ? "yes: see OUT OF MEMORY below" : "yes");
    else if (g->full_in_iterations != VT_UNKNOWN && vt_words_full_soon(g, t->process->duration))
        vt_string_format(&s, "in %s %s%s, %s at this pace", VT_NUMBER(g->full_in_iterations),
                         vt_words_unit(g), vt_plural(g->full_in_iterations),
                         VT_DURATION(g->full_in));
    if (s.length)
        row(words, "device full", s.text);
    vt_string_free(&s);
}

/* The counts of the leak's sites, and the trend test. */
static void say_evidence(const struct vt_text *t, const struct vt_leak *leak,
                         struct vt_words *words) {
    const struct vt_process *p = t->process;
    struct vt_string s = {0};
    struct vt_amount amount = vt_amount_of_leak(p, leak);
    uint64_t allocs = 0;
    for (uint32_t i = 0; i < leak->site_count; i++)
        allocs += p->sites[leak->sites[i]].alloc_count;
    if (!leak->growth) {
        vt_string_add(&s, leak->why);
    } else {
        vt_string_format(&s, "%s of %s block%s ", VT_NUMBER(amount.blocks), VT_NUMBER(allocs),
                         vt_plural(allocs));
        if (!amount.freed)
            vt_string_add(&s, "never freed");
        else if (amount.freed == amount.blocks)
            vt_string_format(&s, "freed only %s", end(p));
        else
            vt_string_format(&s, "kept: %s freed only %s, %s never", VT_NUMBER(amount.freed),
                             end(p), VT_NUMBER(amount.blocks - amount.freed));
        if (leak->growth->appends)
            vt_string_format(&s, "; %s made it longer in %s step%s", leak->growth->appends,
                             VT_NUMBER(leak->growth->rises), vt_plural(leak->growth->rises));
        else
            vt_string_format(&s, "; %s rise%s, p < %s", VT_NUMBER(leak->growth->rises),
                             vt_plural(leak->growth->rises),
                             leak->growth->chance < 0.001  ? "0.001"
                             : leak->growth->chance < 0.01 ? "0.01"
                                                           : "0.02");
        if (leak->verdict == VT_VERDICT_LOST)
            vt_string_add(&s, "; no pointer to them is left");
    }
    row(words, "evidence", s.text);
    vt_string_free(&s);
}

/* The callers of a leak with one site; with several sites each has its own. */
static void say_callers(const struct vt_text *t, const struct vt_leak *leak,
                        struct vt_words *words) {
    const struct vt_frame *callers[VT_CALLERS];
    const struct vt_stack *stack = t->process->sites[leak->sites[0]].stack;
    uint32_t count = leak->site_count == 1 ? vt_rows_callers(stack, callers) : 0;
    for (uint32_t i = 0; i < count; i++)
        vt_words_add(words, VT_WORDS_TEXT, "called by",
                     vt_frame_text(t->process, callers[i], t->width - LABEL));
}

/* What it held when memory ran out, where that was clearly more than the headline says. */
static void say_at_oom(const struct vt_text *t, const struct vt_leak *leak,
                       struct vt_words *words) {
    uint64_t bytes = vt_amount_of_leak(t->process, leak).bytes;
    if (leak->bytes_at_oom / 5 * 4 <= bytes)
        return;
    char *text = vt_formatted("%s when memory ran out", VT_BYTES(leak->bytes_at_oom));
    row(words, "held", text);
    free(text);
}

void vt_words_leak(const struct vt_text *t, const struct vt_leak *leak, struct vt_words *words) {
    const struct vt_tested *tested = t->process->sites[leak->sites[0]].tested;
    words->headline = headline(t->process, leak);
    say_place(t, leak, words);
    say_callers(t, leak, words);
    say_at_oom(t, leak, words);
    if (leak->growth)
        say_growth(t, leak, words);
    if (tested && tested->fails)
        row(words, "in test", tested->test);
    say_evidence(t, leak, words);
    vt_words_kept(t, leak, words);
    if (leak->advice)
        row(words, leak->advice_of_owner ? "try" : "likely", leak->advice);
    if (leak->verdict == VT_VERDICT_GROWING && !leak->kept)
        words->remark =
            vt_strdup("This line allocates the memory; the code that keeps it may be elsewhere.");
}
