/* SPDX-License-Identifier: MIT */
/*
 * What a report says of a leak (see words.h): its size, where it was allocated, since when it grows, how
 * long until the device is full, the evidence, what keeps it, and what helps.
 */
#include "report_doc.h"

#include "vramtrace/log_format.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 16, LEAKS_SHOWN = 3 };

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
static const char *freed(const struct vt_process *p, struct vt_amount amount) {
    return p->window_until != VT_UNKNOWN || !p->quality.complete ? "freed only at the end"
                                                                 : vt_amount_freed(amount);
}

/* "104 MiB kept by history, growing to the end. A leak?" */
static void say_suspect(const struct vt_leak *leak, struct vt_string *rest) {
    const struct vt_memory_owner *owner = leak->kept_count == 1 ? &leak->kept->owner : NULL;
    vt_string_format(rest, " kept%s%s, rising to the end.", owner && owner->container ? " by " : "",
                     owner && owner->container ? owner->container : "");
}

static void say_growing(const struct vt_process *p, const struct vt_leak *leak,
                        struct vt_amount amount, struct vt_string *rest) {
    vt_string_add(rest, " kept and growing");
    if (amount.freed && !p->python) /* an interpreter frees the rest, which proves nothing */
        vt_string_format(rest, ", %s%s",
                         amount.freed == amount.blocks       ? ""
                         : amount.freed >= amount.blocks / 2 ? "most of it "
                                                             : "part of it ",
                         freed(p, amount));
    struct vt_bound bound;
    vt_string_add(rest, leak->no_cache                   ? ". Not a cache."
                        : vt_leak_bound(p, leak, &bound) ? ". Too large when full."
                                                         : ". No known bound.");
}

static char *headline(const struct vt_process *p, const struct vt_leak *leak) {
    struct vt_string rest = {0};
    struct vt_amount amount = vt_amount_of_leak(p, leak);
    bool growing = leak->growth != NULL;
    uint64_t lost = 0, live = 0, went = 0;
    for (uint32_t i = 0; i < leak->site_count; i++) {
        lost += p->sites[leak->sites[i]].lost_count;
        live += p->sites[leak->sites[i]].live_count;
        went += p->sites[leak->sites[i]].context_freed_count;
    }
    vt_string_format(&rest, "%s%s", VT_BYTES(amount.bytes), memory(p, leak));
    if (leak->verdict == VT_VERDICT_SUSPECT)
        say_suspect(leak, &rest);
    else if (leak->verdict == VT_VERDICT_LOST && lost == live - went)
        vt_string_format(&rest, " lost%s: no pointer to it is left.",
                         growing ? ", and growing" : "");
    else if (leak->verdict == VT_VERDICT_LOST)
        vt_string_format(&rest, "%s: no pointer to %s of %s blocks is left.",
                         growing ? " lost and growing" : " lost in part", VT_NUMBER(lost),
                         VT_NUMBER(live - went));
    else if (growing)
        say_growing(p, leak, amount, &rest);
    else if (went)
        vt_string_add(&rest, went == live
                                 ? " released only when its context was destroyed."
                                 : " never freed; part of it was released with its context.");
    else
        vt_string_format(&rest, " still allocated %s.",
                         p->window_until != VT_UNKNOWN ? "when the window ends"
                         : p->quality.complete         ? "when the process ended"
                                                       : "where the log ends");
    return rest.text;
}

static void say_place(const struct vt_subject *t, const struct vt_leak *leak, struct vt_doc *doc) {
    const struct vt_frame *frame = vt_stack_main_frame(leak->stack);
    VT_SCOPED char *node = vt_stack_text_node(leak->stack);
    char *at = vt_doc_keep(doc, vt_stack_text(t->process, leak->stack, UINT_MAX, true));
    struct vt_doc_item *place = vt_doc_add(doc, VT_DOC_PLACE, at);
    place->label = node ? "allocated" : "allocated at";
    place->style = VT_STYLE_HEAD;
    if (!node || !strchr(at, '`'))
        place->source = vt_doc_keep(doc, vt_frame_text_source(t->process, frame, UINT_MAX));
}

/* What an iteration is, if the program marked no iterations. The caller of a shared allocation helper
 * says more than the helper. */
static void say_iteration(const struct vt_subject *t, const struct vt_leak *leak,
                          struct vt_doc *doc) {
    const struct vt_stack *period = leak->growth->period;
    const struct vt_frame *frame = period ? vt_stack_main_frame(period) : NULL;
    if (!frame)
        return;
    if (period != leak->stack && period->line == leak->stack->line)
        for (uint32_t i = period->user_frame + 1; i < period->count; i++)
            if (vt_stack_frame(period, i)->user_code) {
                frame = vt_stack_frame(period, i);
                break;
            }
    VT_SCOPED char *frame_text = vt_frame_text(t->process, frame, UINT_MAX);
    if (period == leak->stack)
        vt_doc_row(doc, "iteration", "one allocation at this line");
    else
        vt_doc_row(doc, "iteration", "one allocation %s %s",
                   frame == vt_stack_main_frame(period) ? "at" : "called from", frame_text);
}

static void say_growth(const struct vt_subject *t, const struct vt_leak *leak, struct vt_doc *doc) {
    const struct vt_growth *g = leak->growth;
    const char *per = vt_growth_unit(g);
    VT_SCOPED_STRING pace = {0};
    vt_growth_pace(g, &pace);
    if (g->outer_iterations)
        vt_string_format(&pace, "; %s per %s%s", VT_BYTES(vt_growth_bytes(g) * g->outer_iterations),
                         g->outer ? g->outer : VT_NUMBER(g->outer_iterations),
                         g->outer ? "" : " iterations (an epoch?)");
    vt_doc_row(doc, "how much", "%s", pace.text);
    say_iteration(t, leak, doc);
    vt_doc_row(doc, "since", "%s %s of %s (%s)", per, VT_NUMBER(g->since_iteration),
               VT_NUMBER(g->iterations), VT_DURATION(g->since));
    if (g->full_in_iterations == 0)
        vt_doc_row(doc, "device full",
                   t->process->oom_count ? "yes: see OUT OF MEMORY below" : "yes");
    else if (g->full_in_iterations != VT_UNKNOWN && vt_growth_fills_soon(g, t->process->duration))
        vt_doc_row(doc, "device full", "in %s %s%s, %s at this pace",
                   VT_NUMBER(g->full_in_iterations), per, vt_plural(g->full_in_iterations),
                   VT_DURATION(g->full_in));
}

/* The counts of the leak's sites, and the trend test. */
static void say_evidence(const struct vt_subject *t, const struct vt_leak *leak,
                         struct vt_doc *doc) {
    const struct vt_process *p = t->process;
    VT_SCOPED_STRING s = {0};
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
            vt_string_format(&s, "%s", freed(p, amount));
        else
            vt_string_format(&s, "kept: %s %s, %s never", VT_NUMBER(amount.freed), freed(p, amount),
                             VT_NUMBER(amount.blocks - amount.freed));
        if (leak->verdict != VT_VERDICT_SUSPECT) {
            vt_string_add(&s, "; ");
            vt_growth_evidence(leak->growth, &s);
        }
        if (leak->verdict == VT_VERDICT_LOST)
            vt_string_add(&s, "; no pointer to them is left");
    }
    vt_doc_row(doc, "evidence", "%s", s.text);
}

/* The callers of a leak with one site; with several sites each has its own. */
static void say_callers(const struct vt_subject *t, const struct vt_leak *leak,
                        struct vt_doc *doc) {
    const struct vt_frame *callers[VT_CALLERS];
    const struct vt_stack *stack = t->process->sites[leak->sites[0]].stack;
    uint32_t count = leak->site_count == 1 ? vt_rows_callers(stack, callers) : 0;
    for (uint32_t i = 0; i < count; i++)
        vt_doc_add(doc, VT_DOC_PLACE,
                   vt_doc_keep(doc, vt_frame_text(t->process, callers[i], UINT_MAX)))
            ->label = "called by";
}

/* What it held when memory ran out, where that was clearly more than the headline says. */
static void say_at_oom(const struct vt_subject *t, const struct vt_leak *leak, struct vt_doc *doc) {
    uint64_t bytes = vt_amount_of_leak(t->process, leak).bytes;
    if (vt_known(leak->bytes_at_oom) / 5 * 4 > bytes)
        vt_doc_row(doc, "held", "%s when memory ran out", VT_BYTES(leak->bytes_at_oom));
}

/* --- its call sites --- */

enum { PATHS_SHOWN = 5 };

/* Adds a row for a site: what it holds, where its path differs from the others', its id. */
static void say_path(const struct vt_subject *t, const struct vt_leak *leak, uint32_t i,
                     struct vt_doc *doc) {
    const struct vt_process *p = t->process;
    const struct vt_site *site = &p->sites[leak->sites[i]], *other = &p->sites[leak->sites[!i]];
    const struct vt_frame *caller = vt_rows_parting(site, other);
    const struct vt_frame *way = caller ? NULL : vt_rows_way_in(site, other);
    const char *how = caller ? "called by " : way ? "through " : "";
    const struct vt_frame *shown = caller ? caller : way;
    VT_SCOPED char *at =
        shown ? vt_frame_text(p, shown, UINT_MAX) : vt_stack_text(p, site->stack, UINT_MAX, false);
    vt_doc_holder(doc, i ? "" : "sites", vt_amount_of_site(site, leak).bytes, site,
                  vt_doc_text(doc, "%s%s", how, at));
    /* name a caller outside the helper's file, unless the frame above is it or further out */
    const struct vt_frame *outer = vt_rows_caller_elsewhere(site->stack);
    if (outer && (!caller || caller < outer))
        vt_doc_add(doc, VT_DOC_CALLER, vt_doc_keep(doc, vt_frame_text(p, outer, UINT_MAX)))
            ->column = LABEL + VT_DOC_BYTES;
}

/* Chooses the sites to show: the largest, and the largest of each further line. Free it. */
static bool *choose_sites(const struct vt_process *p, const struct vt_leak *leak) {
    bool *shown = vt_alloc(leak->site_count, sizeof *shown);
    VT_SCOPED_MAP lines = {0};
    for (uint32_t i = 0; i < leak->site_count; i++) {
        uint64_t line = vt_site_growth_line(&p->sites[leak->sites[i]]);
        shown[i] = i < PATHS_SHOWN || vt_map_get(&lines, line) == VT_MAP_NONE;
        vt_map_put(&lines, line, i);
    }
    return shown;
}

/* Adds a row for each of several sites that is worth it. */
static void say_paths(const struct vt_subject *t, const struct vt_leak *leak, struct vt_doc *doc) {
    uint64_t left_bytes = 0;
    uint32_t left = 0;
    VT_SCOPED bool *shown = choose_sites(t->process, leak);
    for (uint32_t i = 0; i < leak->site_count; i++) {
        if (shown[i]) {
            say_path(t, leak, i, doc);
            continue;
        }
        left_bytes += vt_amount_of_site(&t->process->sites[leak->sites[i]], leak).bytes;
        left++;
    }
    if (left)
        vt_doc_holder(
            doc, "", left_bytes, NULL,
            vt_doc_text(doc, "in %u more call site%s of these lines", left, vt_plural(left)));
}

static void add_id(const struct vt_subject *t, const struct vt_site *site, struct vt_doc *doc) {
    char *id = vt_doc_text(doc, "%.*s", (int)t->digits, site->name);
    struct vt_doc_item *item = vt_doc_add(doc, VT_DOC_PLACE, id);
    item->label = "site";
    item->site = site;
}

/* Adds the ids of a leak's sites, with what each holds if there are several. */
static void say_sites(const struct vt_subject *t, const struct vt_leak *leak, struct vt_doc *doc) {
    if (leak->site_count < 2)
        add_id(t, &t->process->sites[leak->sites[0]], doc);
    else
        say_paths(t, leak, doc);
}

/* --- leaks --- */

static void say_leak(const struct vt_subject *t, const struct vt_leak *leak, struct vt_doc *doc) {
    const struct vt_tested *tested = t->process->sites[leak->sites[0]].tested;
    struct vt_bound bound;
    bool suspect = leak->verdict == VT_VERDICT_SUSPECT;
    struct vt_doc_item *heading =
        vt_doc_heading(doc, suspect ? VT_STYLE_WARN : VT_STYLE_BAD, suspect ? "SUSPECT" : "LEAK",
                       "%s", vt_doc_keep(doc, headline(t->process, leak)));
    heading->about = "leak";
    heading->leak = leak;
    doc->column = LABEL;
    say_place(t, leak, doc);
    say_callers(t, leak, doc);
    say_at_oom(t, leak, doc);
    if (leak->growth)
        say_growth(t, leak, doc);
    if (tested && tested->fails)
        vt_doc_row(doc, "in test", "%s", tested->test);
    say_evidence(t, leak, doc);
    vt_report_add_kept(t, leak, doc);
    if (suspect)
        vt_doc_row(doc, "no LEAK yet", "%s", vt_growth_rules[leak->growth->rule].sentence);
    if (vt_leak_bound(t->process, leak, &bound))
        vt_doc_row(doc, "bound", "%s", vt_doc_keep(doc, vt_bound_text(&bound)));
    if (leak->advice)
        vt_doc_row(doc, leak->advice_of_owner ? "try" : "likely", "%s", leak->advice);
    say_sites(t, leak, doc);
    if (leak->verdict == VT_VERDICT_GROWING && !leak->kept)
        vt_doc_add(doc, VT_DOC_REMARK,
                   "This line allocates the memory; the code that keeps it may be elsewhere.");
    vt_doc_add(doc, VT_DOC_END, NULL);
}

/* Adds a row for each line of a leak that is not shown in full, with the sum of its sites. */
static void say_lines(const struct vt_subject *t, const struct vt_leak *leak, struct vt_doc *doc) {
    const struct vt_process *p = t->process;
    VT_SCOPED_MAP lines = {0};
    VT_SCOPED uint64_t *bytes = vt_alloc(leak->site_count, sizeof *bytes);
    for (uint32_t i = 0; i < leak->site_count; i++) {
        const struct vt_site *site = &p->sites[leak->sites[i]];
        uint64_t key = vt_site_growth_line(site);
        if (vt_map_get(&lines, key) == VT_MAP_NONE)
            vt_map_put(&lines, key, i);
        bytes[vt_map_get(&lines, key)] += vt_amount_of_site(site, leak).bytes;
    }
    for (uint32_t i = 0; i < leak->site_count; i++) {
        const struct vt_site *site = &p->sites[leak->sites[i]];
        if (vt_map_get(&lines, vt_site_growth_line(site)) != i)
            continue;
        char *at = vt_doc_keep(doc, vt_stack_text(p, site->stack, UINT_MAX, false));
        vt_doc_holder(doc, "", bytes[i], site, at)->column = 2;
    }
}

/* Adds the lines of `left` leaks or suspects that are not shown in full, with their sums. `shown`: --top shows them. */
static void add_rest(const struct vt_subject *t, struct vt_doc *doc, const char *what,
                     const struct vt_leak *leaks, uint32_t left, uint32_t shown) {
    uint64_t sum = 0;
    if (!left)
        return;
    for (uint32_t i = 0; i < left; i++)
        sum += vt_amount_of_leak(t->process, &leaks[i]).bytes;
    vt_doc_heading(
        doc, VT_STYLE_HEAD, vt_doc_text(doc, "%u MORE %s%s", left, what, left == 1 ? "" : "S"),
        "%s (--top %u shows %s in full)", VT_BYTES(sum), shown, left == 1 ? "it" : "them")
        ->about = "leaks";
    for (uint32_t i = 0; i < left; i++)
        say_lines(t, &leaks[i], doc);
    vt_doc_add(doc, VT_DOC_END, NULL);
}

void vt_report_add_leaks(const struct vt_subject *t, struct vt_doc *doc) {
    const struct vt_process *p = t->process;
    uint32_t most = t->leaks ? t->leaks : LEAKS_SHOWN, shown = 0;
    if (t->options->top)
        most = t->options->top;
    for (; shown < p->leak_count && shown < most; shown++)
        say_leak(t, &p->leaks[shown], doc);
    add_rest(t, doc, "LEAK", p->leaks + shown, p->leak_count - shown, p->leak_count);
    const struct vt_leak *suspects = p->leaks + p->leak_count;
    for (shown = 0; shown < p->suspect_count && shown < most; shown++)
        say_leak(t, &suspects[shown], doc);
    add_rest(t, doc, "SUSPECT", suspects + shown, p->suspect_count - shown, p->suspect_count);
}
