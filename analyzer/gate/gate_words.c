/* SPDX-License-Identifier: MIT */
/*
 * The location to show for a finding, and its sentences (see gate_words.h).
 */
#define _GNU_SOURCE
#include "gate_words.h"

#include "model/model.h"
#include "vramtrace/log_format.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- locations --- */

/* The absolute path without "." and "..", without following links. Free it. */
static char *absolute(const char *file, const char *folder) {
    struct vt_string joined = {0}, path = {0};
    if (*file != '/')
        vt_string_format(&joined, "%s/", folder ? folder : "");
    vt_string_add(&joined, file);
    vt_string_add(&path, "");
    for (char *rest = joined.text, *part; (part = strsep(&rest, "/"));) {
        if (!*part || !strcmp(part, "."))
            continue;
        if (!strcmp(part, "..")) {
            char *slash = path.length ? strrchr(path.text, '/') : NULL;
            if (slash) {
                *slash = 0;
                path.length = (size_t)(slash - path.text);
            }
            continue;
        }
        vt_string_format(&path, "/%s", part);
    }
    vt_string_free(&joined);
    return path.text;
}

/* The path below `root`, or NULL. Free it. */
static char *below(const char *path, const char *root) {
    size_t length = strlen(root);
    if (strncmp(path, root, length) != 0 || (path[length] != '/' && length > 1))
        return NULL;
    return vt_strdup(path + length + (length > 1));
}

/* The longest trailing part of a path that is a file below `root`. This finds the sources of a build made elsewhere,
 * such as in a container or another checkout. NULL: there is none. Free it. */
static char *by_its_end(const char *path, const char *root) {
    for (const char *end = strchr(path + (*path == '/'), '/'); end; end = strchr(end + 1, '/')) {
        VT_SCOPED char *here = vt_formatted("%s%s", strcmp(root, "/") ? root : "", end);
        bool there = !access(here, F_OK);
        if (there)
            return vt_strdup(end + 1);
    }
    return NULL;
}

/* Handles a file name relative to a folder that only the compiler knew. The name is used only if such a file exists,
 * because libc's file names are also relative. For user code, the trailing parts of the path are also tried. */
static void find_relative(const struct vt_process *p, const char *top,
                          struct vt_gate_location *location) {
    const struct vt_frame *frame = location->frame;
    VT_SCOPED char *path = absolute(frame->file, p->cwd), *in_root = absolute(frame->file, top);
    if (!access(path, F_OK))
        location->file = below(path, top);
    if (!location->file && !access(in_root, F_OK))
        location->file = below(in_root, top);
    if (!location->file && frame->user_code)
        location->file = by_its_end(path, top);
    location->inside = location->file;
    if (!location->file && !access(path, F_OK))
        location->file = vt_strdup(path);
}

void vt_gate_location_of(const struct vt_process *p, const struct vt_frame *frame, const char *root,
                         struct vt_gate_location *location) {
    *location = (struct vt_gate_location){.frame = frame};
    if (!frame || !frame->file || !strncmp(frame->file, "<", 1))
        return;
    VT_SCOPED char *top = realpath(root ? root : ".", NULL);
    location->line = frame->line;
    if (*frame->file != '/') {
        find_relative(p, top ? top : "/", location);
    } else {
        char *path = absolute(frame->file, NULL);
        char *in_root = top ? below(path, top) : NULL;
        if (top && !in_root)
            in_root = by_its_end(path, top);
        location->inside = in_root;
        location->file = in_root ? in_root : path;
        if (in_root)
            free(path);
    }
}

void vt_gate_location_find(const struct vt_process *p, const struct vt_stack *stack,
                           const char *root, struct vt_gate_location *location) {
    const struct vt_frame *first = vt_stack_main_frame(stack);
    vt_gate_location_of(p, first, root, location);
    /* Code hosts annotate only files of the repository, so an outer frame of user code below the root is better than an
     * inner frame outside. */
    for (uint32_t i = 0; !location->inside && i < stack->count; i++) {
        struct vt_gate_location other;
        if (!vt_stack_frame(stack, i)->user_code)
            continue;
        vt_gate_location_of(p, vt_stack_frame(stack, i), root, &other);
        if (other.inside) {
            free(location->file);
            *location = other;
        } else {
            free(other.file);
        }
    }
}

struct vt_gate_location vt_gate_message_location(const struct vt_gate_page *page,
                                                 const struct vt_gate_message *said) {
    struct vt_gate_location location = {0};
    if (said->worst->site)
        vt_gate_location_find(said->process, said->worst->site->stack, page->how->source_root,
                              &location);
    return location;
}

/* --- sentences --- */

char *vt_gate_frame_text(const struct vt_gate_message *said) {
    const struct vt_frame *frame = vt_stack_main_frame(said->worst->site->stack);
    return frame ? vt_frame_text(said->process, frame, UINT_MAX) : vt_strdup("an unknown line");
}

char *vt_gate_call_text(const struct vt_gate_message *said) {
    struct vt_site site = *said->worst->site;
    site.device = said->line->one_device ? site.device : VT_DEVICE_UNKNOWN;
    return vt_stack_key_call_text(&site);
}

/* Adds a leak's owners to each of its lines, the advice to the first one, and "Same leak as train.py:41 in step" to the
 * others. */
static void write_leak(const struct vt_gate *gate, const struct vt_gate_finding *f, bool stable,
                       struct vt_string *text) {
    const struct vt_gate_line *line = f->outcome == VT_GATE_FAILS ? &gate->lines[f->line] : NULL;
    const struct vt_gate_line *first = line ? &gate->lines[gate->leaks[line->leak].first] : NULL;
    if (first != line) {
        const struct vt_gate_finding *other = &gate->findings[first->first];
        VT_SCOPED char *frame_text =
            vt_frame_text(&gate->model->processes[other->process],
                          vt_stack_main_frame(other->site->stack), UINT_MAX);
        vt_string_format(text, ". Same leak as %s", frame_text);
    }
    if (f->leak && f->leak->kept_by && !stable)
        vt_string_format(text, ". %s by %s",
                         f->leak->verdict == VT_VERDICT_LOST ? "The rest is still kept" : "Kept",
                         f->leak->kept_by);
    if (f->leak && f->leak->advice && first == line && !stable) {
        vt_string_add(text, ". ");
        size_t begin = text->length;
        vt_string_add(text, f->leak->advice);
        text->text[begin] = (char)toupper((unsigned char)text->text[begin]);
    }
}

static char *sentence_of(const struct vt_gate_page *page, const struct vt_gate_message *said) {
    const struct vt_gate_finding *f = said->worst;
    struct vt_string text = {0};
    if (!f->site)
        return vt_formatted("%s: %s", VT_GPU(f->device), said->why);
    VT_SCOPED char *frame_text = vt_gate_frame_text(said);
    VT_SCOPED char *call = vt_gate_call_text(said);
    VT_SCOPED char *amount = vt_amount_text(said->line->amount);
    if (said->line->known)
        vt_string_format(&text, "%s: ", vt_gate_known_labels[said->line->known]);
    vt_string_format(&text, "%s%s allocated at %s (%s). %s: %s", amount,
                     said->line->amount.freed ? "," : "", frame_text, call, vt_gate_kind(f),
                     said->why);
    write_leak(page->gate, f, page->how->stable, &text);
    return text.text;
}

struct vt_gate_message vt_gate_message_of(const struct vt_gate_page *page,
                                          const struct vt_gate_line *line) {
    const struct vt_gate_finding *worst = &page->gate->findings[line->first];
    struct vt_gate_message said = {.line = line,
                                   .worst = worst,
                                   .process = &page->gate->model->processes[worst->process],
                                   .why = vt_gate_why(page->gate, line, page->how->stable)};
    said.sentence = sentence_of(page, &said);
    return said;
}

/* Adds "4 sites (1.2 MiB) were not judged: too few iterations. The largest was allocated at a.py:12 in f.", and a
 * remedy; or the same of suspects, with their owner. */
static void write_open(const struct vt_process *p, const struct vt_gate_open_sites *open,
                       bool suspects, struct vt_string *text) {
    const struct vt_site *largest = open->largest;
    bool one = open->sum.sites == 1;
    if (!open->sum.sites)
        return;
    VT_SCOPED const struct vt_leak **leaks = vt_process_leaks_by_site(p, true);
    const struct vt_leak *leak = leaks[largest - p->sites];
    VT_SCOPED char *frame = vt_frame_text(p, vt_stack_main_frame(largest->stack), UINT_MAX);
    VT_SCOPED char *what = suspects ? vt_suspects_text(&open->sum)
                                    : vt_inconclusive_text(&open->sum, one ? "was " : "were ");
    vt_string_format(text, "%s%s. %s at %s%s%s", text->length ? " " : "", what,
                     one ? "It was allocated" : "The largest was allocated", frame,
                     largest->tested && largest->tested->test ? ", and left by " : "",
                     largest->tested && largest->tested->test ? largest->tested->test : "");
    if (leak && leak->kept_by)
        vt_string_format(text, ", and is kept by %s", leak->kept_by);
    vt_string_add(text, suspects ? ". --strict fails on suspects." : ".");
    if (!p->phase_count && !largest->tested && largest->inconclusive != VT_RULE_RETURNED)
        vt_string_add(text,
                      " Mark the program's iterations with NVTX ranges or vramtrace.h to have them "
                      "counted.");
}

/* A note on memory that was released with its context and on inconclusive sites, with the process's name if there are
 * several. NULL: there is none. Free it. */
static char *note_of(const struct vt_gate_page *page, uint32_t process) {
    const struct vt_process *p = &page->gate->model->processes[process];
    const struct vt_gate_process *g = &page->gate->processes[process];
    struct vt_string note = {0};
    if (!p->context_freed_note && !g->inconclusive.sum.sites && !g->suspects.sum.sites)
        return NULL;
    if (page->gate->model->process_count > 1)
        vt_string_format(&note, "%s: ", page->names[process]);
    if (p->context_freed_note)
        vt_string_add(&note, p->context_freed_note);
    write_open(p, &g->suspects, true, &note);
    write_open(p, &g->inconclusive, false, &note);
    return note.text;
}

const char *vt_gate_verdict(bool failed, bool open) {
    return failed ? "failed" : open ? "open" : "passed";
}

const char *vt_gate_open_text(const struct vt_gate *gate, uint64_t open_events,
                              uint32_t processes) {
    static char text[64];
    if (gate->options->earlier && !gate->options->earlier->runs)
        return "no earlier run to compare with";
    if (!open_events)
        return processes == 1 ? "the log is cut off or damaged" : "a log is cut off or damaged";
    snprintf(text, sizeof text, "%s event%s lost", VT_NUMBER(open_events), vt_plural(open_events));
    return text;
}

uint64_t vt_gate_dropped(const struct vt_gate *gate) {
    uint64_t dropped = 0;
    for (uint32_t i = 0; i < gate->model->process_count; i++)
        dropped += gate->model->processes[i].quality.missing;
    return dropped;
}

/* --- compared with earlier runs --- */

const char *const vt_gate_measure_names[VT_GATE_MEASURES] = {"peak", "held"};

static void add_share(struct vt_string *text, uint64_t bytes, uint64_t of) {
    if (of)
        vt_string_format(text, ", %+.1f %%", ((double)bytes - (double)of) * 100 / (double)of);
}

/* "3.10 GiB, +3.7 % against 2.99 GiB, the median of 5 earlier runs (2.98 GiB to 3.01 GiB): over --max-increase 3%,
 * and beyond what chance explains (up to 3.05 GiB)". Free it. */
static char *figure_text(const struct vt_gate *gate, unsigned measure, bool stable) {
    const struct vt_gate_figure *f = &gate->figures[measure];
    uint32_t runs = gate->options->earlier->runs;
    struct vt_string text = {0};
    if (stable)
        return vt_formatted("%s in earlier runs", f->fails ? "larger than" : "as");
    vt_string_add(&text, VT_BYTES(f->bytes));
    add_share(&text, f->bytes, f->median);
    vt_string_format(&text, " against %s", VT_BYTES(f->median));
    if (runs == 1)
        vt_string_add(&text, ", the earlier run; noise unknown");
    else if (f->low == f->high)
        vt_string_format(&text, " in all %u earlier runs", runs);
    else
        vt_string_format(&text, ", the median of %u earlier runs (%s to %s)", runs,
                         VT_BYTES(f->low), VT_BYTES(f->high));
    if (f->fails)
        vt_string_format(&text, ": over --max-increase %g%%", gate->options->max_increase * 100);
    if (f->low != f->high && f->bytes > f->allowed)
        vt_string_format(&text, "%s (up to %s)",
                         f->fails ? ", and beyond what chance explains" : ": may be chance",
                         VT_BYTES(f->noise));
    return text.text;
}

/* Adds " (1 new, 2 larger)", counted over the leaks that fail. */
static void count_known(const struct vt_gate *gate, struct vt_string *line) {
    uint32_t counts[VT_GATE_KNOWNS] = {0}, said = 0;
    for (uint32_t i = 0; i < gate->leak_count; i++)
        counts[gate->leaks[i].known]++;
    for (enum vt_gate_known known = VT_GATE_NEW; known < VT_GATE_KNOWNS; known++)
        if (counts[known])
            vt_string_format(line, "%s%u %s", said++ ? ", " : " (", counts[known],
                             vt_gate_known_names[known]);
    vt_string_add(line, said ? ")" : "");
}

/* The result in a line. Free it. */
static char *headline_of(const struct vt_gate *gate) {
    uint32_t leaks = 0, lines = 0, peaks = 0;
    struct vt_string line = {0};
    for (uint32_t i = 0; i < gate->leak_count; i++) {
        const struct vt_gate_leak *leak = &gate->leaks[i];
        const struct vt_gate_line *first = &gate->lines[leak->first];
        bool is_leak = gate->findings[first->first].site != NULL;
        leaks += is_leak;
        lines += is_leak ? leak->count : 0;
        peaks += is_leak ? 0 : first->count;
    }
    if (!gate->model->process_count)
        vt_string_add(&line, "passed: no CUDA call succeeded (--allow-no-cuda)");
    else if (gate->open)
        vt_string_format(&line, "cannot be judged: %s",
                         vt_gate_open_text(gate, gate->open_events, gate->model->process_count));
    else if (!gate->failed && gate->counts[VT_GATE_TOLERATED])
        vt_string_format(&line, "passed: %s leaked, within --max-leaked",
                         VT_BYTES(gate->bytes[VT_GATE_TOLERATED]));
    else if (!gate->failed)
        vt_string_add(&line, gate->counts[VT_GATE_SUPPRESSED] + gate->counts[VT_GATE_ACCEPTED]
                                 ? "passed: no new leak"
                                 : "passed: no leak");
    else
        vt_string_add(&line, "FAILED: ");
    if (!gate->failed && !gate->open && (gate->suspects.sites || gate->inconclusive.sites)) {
        VT_SCOPED char *inconclusive = gate->suspects.sites
                                           ? vt_suspects_text(&gate->suspects)
                                           : vt_inconclusive_text(&gate->inconclusive, "");
        vt_string_format(&line, "%s; %s",
                         gate->counts[VT_GATE_SUPPRESSED] + gate->counts[VT_GATE_ACCEPTED] +
                                 gate->counts[VT_GATE_TOLERATED]
                             ? ""
                             : " found",
                         inconclusive);
    }
    if (gate->failed && leaks)
        vt_string_format(&line, "%u leak%s", leaks, vt_plural(leaks));
    if (gate->failed)
        count_known(gate, &line);
    if (gate->failed && lines > leaks)
        vt_string_format(&line, " at %u lines", lines);
    if (gate->failed && leaks)
        vt_string_format(&line, ", %s", VT_BYTES(gate->bytes[VT_GATE_FAILS]));
    if (gate->failed && peaks)
        vt_string_format(&line, "%s%u peak%s over budget", leaks ? "; " : "", peaks,
                         vt_plural(peaks));
    for (unsigned m = 0, said = leaks + peaks; m < VT_GATE_MEASURES; m++)
        if (gate->figures[m].fails)
            vt_string_format(&line, "%s%s larger", said++ ? "; " : "", vt_gate_measure_names[m]);
    return line.text;
}

/* --- the page --- */

void vt_gate_page_open(struct vt_gate_page *page, const struct vt_gate *gate,
                       const struct vt_gate_format_options *how, FILE *out) {
    uint32_t processes = gate->model->process_count;
    *page = (struct vt_gate_page){.gate = gate,
                                  .how = how,
                                  .out = out,
                                  .headline = headline_of(gate),
                                  .said = vt_alloc(gate->line_count, sizeof *page->said),
                                  .names = vt_alloc(processes, sizeof *page->names),
                                  .notes = vt_alloc(processes, sizeof *page->notes)};
    for (uint32_t i = 0; i < gate->line_count; i++)
        page->said[i] = vt_gate_message_of(page, &gate->lines[i]);
    for (uint32_t i = 0; i < processes; i++)
        page->names[i] = vt_gate_process_name(&gate->model->processes[i], how->stable);
    const struct vt_earlier *earlier = gate->options->earlier;
    for (unsigned m = 0; m < VT_GATE_MEASURES && earlier && earlier->runs; m++)
        page->figures[m] = figure_text(gate, m, how->stable);
    page->not_compared = earlier && !how->stable ? vt_earlier_left_out(earlier) : NULL;
    for (uint32_t i = 0; i < processes; i++) {
        char *note = note_of(page, gate->order[i]);
        if (note)
            page->notes[page->note_count++] = note;
    }
}

void vt_gate_page_close(struct vt_gate_page *page) {
    for (uint32_t i = 0; i < page->gate->line_count; i++) {
        free(page->said[i].why);
        free(page->said[i].sentence);
    }
    for (uint32_t i = 0; i < page->gate->model->process_count; i++)
        free(page->names[i]);
    for (uint32_t i = 0; i < page->note_count; i++)
        free(page->notes[i]);
    for (unsigned m = 0; m < VT_GATE_MEASURES; m++)
        free(page->figures[m]);
    free(page->not_compared);
    free(page->headline);
    free(page->said);
    free(page->names);
    free(page->notes);
}
