/* SPDX-License-Identifier: MIT */
/*
 * The text report's first part: each leak, with its size, where it was allocated, since when, how
 * long until the device is full, and the evidence. Then the phases, such as data loading, training
 * and evaluation.
 */
#include "model/model.h"
#include "fmt_text.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

enum { LEAKS_SHOWN = 3, PATHS_SHOWN = 5, LABEL = 16, MANY_RISES = 100 };
enum { FULL_WITHIN = 1000 }; /* times the run; what is further away is not worth a line */

/* The name of an iteration: "step", "second", "round". */
static const char *unit(const struct vt_growth *g) {
    return g->marked ? g->per : g->iterations == VT_UNKNOWN ? "second" : "round";
}

static void row(const struct vt_text *t, const char *label, const char *text) {
    char full[32];
    snprintf(full, sizeof full, "  %s", label);
    vt_text_wrap(t, full, LABEL, text);
}

/* The kind of memory, if not a GPU's. */
static const char *memory(const struct vt_process *p, const struct vt_leak *leak) {
    uint32_t host = 0, managed = 0;
    for (uint32_t i = 0; i < leak->site_count; i++) {
        host += p->sites[leak->sites[i]].layer == VT_LAYER_HOST;
        managed += p->sites[leak->sites[i]].layer == VT_LAYER_MANAGED;
    }
    return host == leak->site_count      ? " of pinned host memory"
           : managed == leak->site_count ? " of managed memory"
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

static void heading(const struct vt_text *t, const struct vt_leak *leak) {
    const struct vt_process *p = t->process;
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
    vt_text_heading(t, VT_STYLE_BAD, "LEAK", rest.text);
    vt_string_free(&rest);
}

static void print_place(const struct vt_text *t, const struct vt_leak *leak) {
    const struct vt_frame *frame = vt_stack_main_frame(leak->stack);
    char *node = vt_stack_text_node(leak->stack);
    char *frame_text = vt_stack_text(t->process, leak->stack, VT_TEXT_WIDTH - LABEL, true);
    unsigned columns = LABEL + vt_frame_text_columns(frame_text);
    unsigned left = columns + 3 < VT_TEXT_WIDTH ? VT_TEXT_WIDTH - columns - 3 : 0;
    char *source = node && strchr(frame_text, '`')
                       ? NULL
                       : vt_frame_text_source(t->process, frame, VT_TEXT_WIDTH - LABEL);
    fprintf(t->out, "  %-*s%s%s%s", LABEL - 2, node ? "allocated" : "allocated at",
            vt_text_style(t, VT_STYLE_HEAD), frame_text, vt_text_style(t, VT_STYLE_NONE));
    if (source && vt_frame_text_columns(source) <= left)
        fprintf(t->out, "   %s\n", source);
    else if (source)
        fprintf(t->out, "\n%*s%s\n", LABEL, "", source);
    else
        fputc('\n', t->out);
    free(node);
    free(frame_text);
    free(source);
}

/* What a round is, if the program marked no iterations. The caller of a shared allocation helper
 * says more than the helper. */
static void print_round(const struct vt_text *t, const struct vt_leak *leak) {
    const struct vt_stack *beat = leak->growth->beat;
    const struct vt_frame *frame = beat ? vt_stack_main_frame(beat) : NULL;
    if (!frame)
        return;
    struct vt_string s = {0};
    if (beat != leak->stack && vt_stack_line_key(beat) == vt_stack_line_key(leak->stack))
        for (uint32_t i = beat->user_frame + 1; i < beat->count; i++)
            if (beat->frames[i].user_code) {
                frame = &beat->frames[i];
                break;
            }
    char *frame_text = vt_frame_text(t->process, frame, VT_TEXT_WIDTH - LABEL - 20);
    if (beat == leak->stack)
        vt_string_add(&s, "one allocation at this line");
    else
        vt_string_format(&s, "one allocation %s %s",
                         frame == vt_stack_main_frame(beat) ? "at" : "for", frame_text);
    row(t, "a round is", s.text);
    vt_string_free(&s);
    free(frame_text);
}

static void print_growth(const struct vt_text *t, const struct vt_leak *leak) {
    const struct vt_growth *g = leak->growth;
    struct vt_string s = {0};
    vt_string_format(&s, "%s per %s", VT_BYTES(g->bytes_per_iteration), unit(g));
    if (g->outer_iterations)
        vt_string_format(&s, "; %s per %s%s%s",
                         VT_BYTES(g->bytes_per_iteration * g->outer_iterations),
                         g->outer ? g->outer : VT_NUMBER(g->outer_iterations),
                         g->outer ? "" : " rounds", g->outer ? "" : " (an epoch?)");
    row(t, "how much", s.text);
    print_round(t, leak);
    s.length = 0;
    if (g->iterations != VT_UNKNOWN)
        vt_string_format(&s, "%s %s of %s (%s)", unit(g), VT_NUMBER(g->since_iteration),
                         VT_NUMBER(g->iterations), VT_DURATION(g->since));
    else
        vt_string_format(&s, "%s", VT_DURATION(g->since));
    row(t, "since", s.text);
    s.length = 0;
    if (g->full_in_iterations == 0)
        vt_string_add(&s, t->process->oom_count ? "yes: see OUT OF MEMORY below" : "yes");
    else if (g->full_in_iterations != VT_UNKNOWN && g->full_in != VT_UNKNOWN &&
             g->full_in / FULL_WITHIN <= t->process->duration)
        vt_string_format(&s, "in %s %s%s, %s at this pace", VT_NUMBER(g->full_in_iterations),
                         unit(g), vt_plural(g->full_in_iterations), VT_DURATION(g->full_in));
    if (s.length)
        row(t, "device full", s.text);
    vt_string_free(&s);
}

/* The counts of the leak's sites, and the trend test. */
static void print_evidence(const struct vt_text *t, const struct vt_leak *leak) {
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
    row(t, "evidence", s.text);
    vt_string_free(&s);
}

/* A line for a site: what it holds, where its path differs from the others', its id. */
static void print_path(const struct vt_text *t, const struct vt_leak *leak, uint32_t i) {
    const struct vt_process *p = t->process;
    const struct vt_site *site = &p->sites[leak->sites[i]], *other = &p->sites[leak->sites[!i]];
    const struct vt_frame *caller = vt_rows_parting(site, other);
    const struct vt_frame *user_callers[VT_CALLERS];
    if (!caller && vt_rows_same_line(site, other) && vt_rows_callers(site->stack, user_callers))
        caller = user_callers[0]; /* instances of the same template */
    unsigned width = VT_TEXT_WIDTH - LABEL - 11 - t->digits - 2 - (caller ? 5 : 0);
    char *frame_text =
        caller ? vt_frame_text(p, caller, width) : vt_stack_text(p, site->stack, width, false);
    int pad = (int)width - (int)vt_frame_text_columns(frame_text);
    fprintf(t->out, "  %-*s%9s  %s%s%*s  %.*s\n", LABEL - 2, i ? "" : "sites",
            VT_BYTES(vt_amount_of_site(site, leak).bytes), caller ? "from " : "", frame_text,
            pad > 0 ? pad : 0, "", (int)t->digits, site->name);
    free(frame_text);
    /* name a caller outside the helper's file, unless the frame above is it or further out */
    const struct vt_frame *outer = vt_rows_caller_elsewhere(site->stack);
    if (outer && (!caller || caller < outer)) {
        frame_text = vt_frame_text(p, outer, VT_TEXT_WIDTH - LABEL - 16);
        fprintf(t->out, "%*sfrom %s\n", LABEL + 11, "", frame_text);
        free(frame_text);
    }
}

/* The callers of a leak with one site; with several sites each row has its own. */
static void print_callers(const struct vt_text *t, const struct vt_leak *leak) {
    const struct vt_frame *callers[VT_CALLERS];
    const struct vt_stack *stack = t->process->sites[leak->sites[0]].stack;
    uint32_t count = leak->site_count == 1 ? vt_rows_callers(stack, callers) : 0;
    for (uint32_t i = 0; i < count; i++) {
        char *frame_text = vt_frame_text(t->process, callers[i], VT_TEXT_WIDTH - LABEL);
        row(t, i ? "" : "called from", frame_text);
        free(frame_text);
    }
}

/* Chooses the sites to show: the largest, and the largest of each further line. Free it. */
static bool *choose_sites(const struct vt_process *p, const struct vt_leak *leak) {
    bool *shown = vt_alloc(leak->site_count, sizeof *shown);
    struct vt_map lines = {0};
    for (uint32_t i = 0; i < leak->site_count; i++) {
        uint64_t line = vt_site_line_key(&p->sites[leak->sites[i]]);
        shown[i] = i < PATHS_SHOWN || vt_map_get(&lines, line) == VT_MAP_NONE;
        vt_map_put(&lines, line, i);
    }
    vt_map_free(&lines);
    return shown;
}

/* The ids of a leak's sites, with what each holds if there are several. */
static void print_sites(const struct vt_text *t, const struct vt_leak *leak) {
    uint64_t left_bytes = 0;
    uint32_t left = 0;
    if (leak->site_count < 2) {
        char id[32];
        snprintf(id, sizeof id, "%.*s", (int)t->digits, t->process->sites[leak->sites[0]].name);
        row(t, "site", id);
        return;
    }
    bool *shown = choose_sites(t->process, leak);
    for (uint32_t i = 0; i < leak->site_count; i++) {
        if (shown[i]) {
            print_path(t, leak, i);
            continue;
        }
        left_bytes += vt_amount_of_site(&t->process->sites[leak->sites[i]], leak).bytes;
        left++;
    }
    if (left)
        fprintf(t->out, "%*s%9s  in %u more call site%s of these lines\n", LABEL, "",
                VT_BYTES(left_bytes), left, vt_plural(left));
    free(shown);
}

/* What it held when memory ran out, where that was clearly more than the headline says. */
static void print_at_oom(const struct vt_text *t, const struct vt_leak *leak) {
    uint64_t bytes = vt_amount_of_leak(t->process, leak).bytes;
    if (leak->bytes_at_oom / 5 * 4 <= bytes)
        return;
    char *text = vt_formatted("%s when memory ran out", VT_BYTES(leak->bytes_at_oom));
    row(t, "held", text);
    free(text);
}

static void print_leak(const struct vt_text *t, const struct vt_leak *leak) {
    heading(t, leak);
    print_place(t, leak);
    print_callers(t, leak);
    print_at_oom(t, leak);
    if (leak->growth)
        print_growth(t, leak);
    const struct vt_tested *tested = t->process->sites[leak->sites[0]].tested;
    if (tested && tested->fails)
        row(t, "in test", tested->test);
    print_evidence(t, leak);
    vt_text_kept(t, leak, LABEL);
    if (leak->advice)
        row(t, leak->advice_of_owner ? "try" : "likely", leak->advice);
    print_sites(t, leak);
    if (leak->verdict == VT_VERDICT_GROWING && !leak->kept)
        fputs("  This line allocates the memory; the code that keeps it may be elsewhere.\n",
              t->out);
}

/* A leak that is not shown in full: a row for each line, with the sum of its sites. */
static void print_lines(const struct vt_text *t, const struct vt_leak *leak) {
    const struct vt_process *p = t->process;
    struct vt_map lines = {0};
    uint64_t *bytes = vt_alloc(leak->site_count, sizeof *bytes);
    unsigned width = VT_TEXT_WIDTH - 2 - 9 - 2 - 2 - t->digits;
    for (uint32_t i = 0; i < leak->site_count; i++) {
        const struct vt_site *site = &p->sites[leak->sites[i]];
        uint64_t key = vt_site_line_key(site);
        if (vt_map_get(&lines, key) == VT_MAP_NONE)
            vt_map_put(&lines, key, i);
        bytes[vt_map_get(&lines, key)] += vt_amount_of_site(site, leak).bytes;
    }
    for (uint32_t i = 0; i < leak->site_count; i++) {
        const struct vt_site *site = &p->sites[leak->sites[i]];
        if (vt_map_get(&lines, vt_site_line_key(site)) != i)
            continue;
        char *frame_text = vt_frame_text(p, vt_stack_main_frame(site->stack), width);
        int pad = (int)width - (int)vt_frame_text_columns(frame_text);
        fprintf(t->out, "  %9s  %s%*s  %.*s\n", VT_BYTES(bytes[i]), frame_text, pad > 0 ? pad : 0,
                "", (int)t->digits, site->name);
        free(frame_text);
    }
    vt_map_free(&lines);
    free(bytes);
}

void vt_text_leaks(const struct vt_text *t) {
    const struct vt_process *p = t->process;
    uint32_t most = t->options->top ? t->options->top : LEAKS_SHOWN, shown = 0;
    for (; shown < p->leak_count && shown < most; shown++)
        print_leak(t, &p->leaks[shown]);
    uint64_t rest = 0;
    for (uint32_t i = shown; i < p->leak_count; i++)
        rest += vt_amount_of_leak(p, &p->leaks[i]).bytes;
    if (shown < p->leak_count)
        fprintf(t->out, "\n%u more leak%s, %s (--top %u shows %s in full)\n", p->leak_count - shown,
                vt_plural(p->leak_count - shown), VT_BYTES(rest), p->leak_count,
                p->leak_count - shown == 1 ? "it" : "them");
    for (uint32_t i = shown; i < p->leak_count; i++)
        print_lines(t, &p->leaks[i]);
}

/* --- phases --- */

/* All phases of one name. */
struct named {
    const struct vt_phase *first, *last;
    uint64_t count, total, peak_bytes;
    int64_t left; /* bytes, the sum of all */
};

static void add_phase(struct named *n, const struct vt_phase *f) {
    n->first = n->count ? n->first : f;
    n->last = f;
    n->count++;
    n->total += f->end == VT_UNKNOWN ? 0 : f->end - f->start;
    if (f->live_at_end != VT_UNKNOWN)
        n->left += (int64_t)(f->live_at_end - f->live_at_start);
    if (f->peak_bytes > n->peak_bytes)
        n->peak_bytes = f->peak_bytes;
}

void vt_text_phases(const struct vt_text *t) {
    enum { NAMES = 64, SHOWN = 12 };
    const struct vt_process *p = t->process;
    struct named *names = vt_alloc(NAMES, sizeof *names);
    struct vt_map by_name = {0};
    uint32_t count = 0, more = 0;
    for (uint32_t i = 0; i < p->phase_count; i++) {
        const struct vt_phase *f = &p->phases[i];
        if (f->mark || !f->name)
            continue;
        uint64_t key = (uint64_t)(uintptr_t)f->name;
        uint32_t index = vt_map_get(&by_name, key);
        if (index == VT_MAP_NONE) {
            index = count < NAMES ? count++ : NAMES;
            vt_map_put(&by_name, key, index);
            more += index == NAMES;
        }
        if (index < NAMES)
            add_phase(&names[index], f);
    }
    if (count)
        vt_text_heading(t, VT_STYLE_HEAD, "PHASES", "device memory before and after, all GPUs");
    if (count)
        fprintf(t->out, "%s  %-24s %7s %9s %9s %9s %10s%s\n", vt_text_style(t, VT_STYLE_DIM),
                "name", "times", "before", "after", "peak", "left",
                vt_text_style(t, VT_STYLE_NONE));
    uint32_t most = t->options->top ? t->options->top : SHOWN;
    for (uint32_t i = 0; i < count && i < most; i++) {
        const struct named *n = &names[i];
        char change[VT_FORMAT_BYTES + 1], name[25];
        uint64_t left = (uint64_t)(n->left < 0 ? -n->left : n->left);
        snprintf(name, sizeof name, "%s", n->first->name);
        for (char *at = name; *at; at++)
            if ((unsigned char)*at < 0x20 || (unsigned char)*at > 0x7e)
                *at = '?';
        snprintf(change, sizeof change, "%s%s",
                 n->left < 0 ? "-"
                 : left      ? "+"
                             : "",
                 VT_BYTES(left));
        fprintf(t->out, "  %-24s %7s %9s %9s %9s %10s\n", name, VT_NUMBER(n->count),
                VT_BYTES(n->first->live_at_start),
                n->last->live_at_end == VT_UNKNOWN ? "open" : VT_BYTES(n->last->live_at_end),
                VT_BYTES(n->peak_bytes), change);
    }
    if (count > most || more)
        fprintf(t->out, "  and %u more name%s\n", count - (count < most ? count : most) + more,
                vt_plural(count - (count < most ? count : most) + more));
    free(names);
    vt_map_free(&by_name);
}
