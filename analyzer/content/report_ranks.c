/* SPDX-License-Identifier: MIT */
/*
 * The report's sentences about many processes (see ranks.h).
 */
#include "report_doc.h"
#include "ranks.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

/* --- who --- */

/* A rank identifies a process, unless a helper or an earlier start has the same number. */
static bool by_rank(const struct vt_job *f, const uint32_t *processes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (f->processes[processes[i]].rank < 0 ||
            (i && f->processes[processes[i]].rank == f->processes[processes[i - 1]].rank))
            return false;
    return true;
}

char *vt_ranks_who(const struct vt_job *f, const uint32_t *processes, uint32_t count) {
    enum { NAMED = 6 }; /* single ones, or ranges */
    struct vt_string s = {0};
    bool ranks = by_rank(f, processes, count);
    vt_string_format(&s, "%s%s",
                     ranks        ? "rank"
                     : count == 1 ? "process"
                                  : "processe",
                     count == 1 ? "" : "s");
    uint32_t named = 0, i = 0;
    while (i < count && named < NAMED) {
        const struct vt_job_process *p = &f->processes[processes[i]];
        uint32_t run = 1;
        while (ranks && i + run < count &&
               f->processes[processes[i + run]].rank == p->rank + (int)run)
            run++;
        vt_string_format(&s, "%s %u", named ? "," : "", ranks ? (unsigned)p->rank : p->pid);
        if (run > 2)
            vt_string_format(&s, " to %u", (unsigned)p->rank + run - 1);
        else
            run = 1;
        i += run;
        named++;
    }
    if (i < count)
        vt_string_format(&s, " and %s more", VT_NUMBER(count - i));
    return s.text;
}

const char *vt_ranks_noun(const struct vt_ranks *r, uint32_t count) {
    bool ranks = r->ranks && r->ranks == r->count;
    return ranks ? count == 1 ? "rank" : "ranks" : count == 1 ? "process" : "processes";
}

char *vt_ranks_totals(const struct vt_ranks *r) {
    return vt_formatted("peaks add up to %s; %s at the ends", VT_BYTES(r->peak_bytes),
                        VT_BYTES(r->live_bytes));
}

char *vt_ranks_many(const struct vt_ranks *r) {
    struct vt_string s = {0};
    vt_string_format(&s, "%s %s", VT_NUMBER(r->count), vt_ranks_noun(r, r->count));
    if (r->hosts > 1)
        vt_string_format(&s, " on %s hosts", VT_NUMBER(r->hosts));
    if (r->gpus)
        vt_string_format(&s, "%s %s GPU%s", r->hosts > 1 ? "," : " on", VT_NUMBER(r->gpus),
                         vt_plural(r->gpus));
    return s.text;
}

/* --- how they ended --- */

struct endings {
    struct vt_ending ending;
    uint32_t count;
};

static int compare_endings(const void *a, const void *b) {
    const struct endings *x = a, *y = b;
    return VT_ORDER({y->count, x->count}, {(uint64_t)x->ending.status, (uint64_t)y->ending.status});
}

static char *how_ended(const struct vt_job *f, const uint32_t *list, uint32_t count) {
    enum { KINDS = 16 }; /* further kinds count as the last one */
    struct endings endings[KINDS];
    uint32_t kinds = 0;
    struct vt_string s = {0};
    for (uint32_t i = 0; i < count; i++) {
        struct vt_ending e = f->processes[list[i]].ending;
        uint32_t k = 0;
        while (k < kinds &&
               (endings[k].ending.how != e.how || endings[k].ending.status != e.status))
            k++;
        if (k == kinds && kinds < KINDS)
            endings[kinds++] = (struct endings){e, 0};
        endings[k < KINDS ? k : KINDS - 1].count++;
    }
    vt_sort(endings, kinds, sizeof *endings, compare_endings);
    for (uint32_t k = 0; k < kinds; k++) {
        VT_SCOPED char *how = vt_ending_text(
            endings[k].ending, endings[k].count == 1 ? VT_ENDING_OF_ONE : VT_ENDING_OF_MANY);
        vt_string_format(&s, "%s%s %s", k ? ", " : "", VT_NUMBER(endings[k].count), how);
    }
    return vt_printable(s.text);
}

char *vt_ranks_all_ended(const struct vt_ranks *r, const struct vt_job *f) {
    return how_ended(f, r->list, r->count);
}

char *vt_ranks_gpus(const struct vt_job *f, const struct vt_job_process *p) {
    enum { DIGITS = 4 };
    const struct vt_job_device *largest = NULL;
    uint32_t others = 0;
    for (uint32_t i = 0; i < p->device_count; i++) {
        const struct vt_job_device *d = &f->devices[p->first_device + i];
        if (d->ordinal == VT_DEVICE_HOST || !d->peak_bytes)
            continue;
        others += largest != NULL;
        if (!largest || d->peak_bytes > largest->peak_bytes)
            largest = d;
    }
    struct vt_string s = {0};
    if (!largest)
        return vt_strdup("");
    if (largest->uuid) { /* "GPU-a1b2c3d4-...": nvidia-smi -L lists them */
        const char *uuid = largest->uuid + (strncmp(largest->uuid, "GPU-", 4) ? 0 : 4);
        size_t length = strlen(uuid);
        vt_string_format(&s, "%.*s..%s", DIGITS, uuid,
                         uuid + (length > DIGITS ? length - DIGITS : 0));
    } else if (largest->ordinal < VT_DEVICE_HOST)
        vt_string_format(&s, "%s", VT_GPU(largest->ordinal));
    if (others)
        vt_string_format(&s, " +%u", others);
    return s.text ? vt_printable(s.text) : vt_strdup("");
}

/* --- outliers --- */

/* "640 MiB to 644 MiB", "nothing". */
static char *between(const struct vt_job_difference *d) {
    if (!d->high)
        return vt_strdup("nothing");
    char low[VT_FORMAT_BYTES], high[VT_FORMAT_BYTES];
    vt_format_bytes(d->low, low);
    vt_format_bytes(d->high, high);
    if (!strcmp(low, high))
        return vt_strdup(low);
    return vt_formatted("%s to %s", d->low ? low : "nothing", high);
}

static void add_difference(const struct vt_job *f, const struct vt_job_outlier *o,
                           const struct vt_job_difference *d, const char *label,
                           struct vt_doc *doc) {
    bool more = d->bytes > d->median;
    VT_SCOPED char *others = between(d),
                   *own = d->bytes ? vt_strdup(VT_BYTES(d->bytes)) : vt_strdup("nothing");
    const char *what = d->measure == VT_JOB_LINE    ? f->lines[d->what].text
                       : d->measure == VT_JOB_OWNER ? f->owners[d->what].text
                                                    : NULL;
    const char *caller = vt_ranks_caller(f, o, d);
    char *text =
        what ? vt_formatted("%c%s %s%s%s: %s, the other%s %s", more ? '+' : '-',
                            VT_BYTES(vt_job_difference_size(d)), what, caller ? ", called by " : "",
                            caller ? caller : "", own, o->two ? "" : "s", others)
             : vt_formatted("%s, the other%s %s", own, o->two ? "" : "s", others);
    vt_doc_row(doc, label, "%s", vt_doc_keep(doc, text));
}

enum { SMALL_PART = 20 };

/* The largest differences come first; small ones after a large one are left out. */
static void add_measure(const struct vt_job *f, const struct vt_job_outlier *o,
                        enum vt_job_measure measure, uint32_t most, struct vt_doc *doc) {
    static const char *const labels[] = {"peak", "allocated at", "kept by"};
    uint64_t largest = 0;
    uint32_t count = 0, shown = 0;
    for (uint32_t i = 0; i < o->difference_count; i++) {
        const struct vt_job_difference *d = &o->differences[i];
        if (d->measure != measure)
            continue;
        largest = count++ ? largest : vt_job_difference_size(d);
        if (shown == most || vt_job_difference_size(d) < largest / SMALL_PART)
            continue;
        add_difference(f, o, d, shown++ ? "" : labels[measure], doc);
    }
    if (count > shown)
        vt_doc_row(doc, "", "and less at %u more %s%s", count - shown,
                   measure == VT_JOB_LINE ? "line" : "owner", vt_plural(count - shown));
}

/* The peak, unless it is one of the differences. */
static void add_peak(const struct vt_job *f, const struct vt_job_outlier *o, struct vt_doc *doc) {
    const struct vt_job_peers *peers = &f->peers[o->peers];
    const struct vt_job_process *first = &f->processes[o->processes[0]],
                                *typical = &f->processes[peers->typical];
    for (uint32_t i = 0; i < o->difference_count; i++)
        if (o->differences[i].measure == VT_JOB_PEAK)
            return;
    if (peers->typical != o->processes[0])
        vt_doc_row(doc, "peak", "%s; the others typically %s", VT_BYTES(first->peak_bytes),
                   VT_BYTES(typical->peak_bytes));
}

enum { LABEL = 16 };

void vt_ranks_outlier(const struct vt_job *f, const struct vt_job_outlier *o, uint32_t most,
                      struct vt_doc *doc) {
    const struct vt_job_peers *peers = &f->peers[o->peers];
    VT_SCOPED char *who = vt_ranks_who(f, o->processes, o->process_count);
    VT_SCOPED char *than =
        o->two ? vt_ranks_who(f, &peers->processes[peers->processes[0] == o->processes[0]], 1)
               : vt_formatted("the other %s", VT_NUMBER(peers->process_count - o->process_count));
    vt_doc_heading(doc, VT_STYLE_BAD, "DIFFERS", "%s hold%s %s than %s", who,
                   o->process_count == 1 ? "s" : "", o->more ? "more" : "less", than);
    uint32_t heading = doc->count;
    doc->column = LABEL;
    add_measure(f, o, VT_JOB_PEAK, 1, doc);
    add_peak(f, o, doc);
    add_measure(f, o, VT_JOB_LINE, most, doc);
    add_measure(f, o, VT_JOB_OWNER, most, doc);
    if (o->process_count > 1 && doc->count > heading)
        vt_doc_add(doc, VT_DOC_REMARK, "The figures are those of the first.");
    else if (o->two)
        vt_doc_add(doc, VT_DOC_REMARK, "With only two to compare, either may be the odd one out.");
}

/* The processes in `all` that are not left out, without this one. Returns their number. */
static uint32_t others_of(const uint32_t *all, uint32_t count, uint32_t process, const bool *out,
                          uint32_t *others) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (all[i] != process && !(out && out[all[i]]))
            others[kept++] = all[i];
    return kept;
}

char *vt_ranks_stands_for(const struct vt_ranks *r, const struct vt_job *f, uint32_t process) {
    VT_SCOPED uint32_t *others = vt_alloc(f->process_count, sizeof *others);
    uint32_t count = 0;
    bool differs = false, two = false;
    for (uint32_t i = 0; i < f->outlier_count && !count; i++)
        if (f->outliers[i].processes[0] == process) {
            differs = true;
            two |= f->outliers[i].two;
            count = others_of(f->outliers[i].processes, f->outliers[i].process_count, process, NULL,
                              others);
        }
    for (uint32_t i = 0; i < f->peers_count && !count && !differs; i++)
        if (f->peers[i].typical == process && !f->peers[i].lacking)
            count = others_of(f->peers[i].processes, f->peers[i].process_count, process, r->differs,
                              others);
    VT_SCOPED char *who = vt_ranks_who(f, &process, 1),
                   *like = count ? vt_ranks_who(f, others, count) : NULL;
    if (differs)
        return vt_formatted("%s differs from the other%s%s%s%s", who, two ? "" : "s",
                            like ? ", as " : "",
                            count > 1 ? "do "
                            : count   ? "does "
                                      : "",
                            like ? like : "");
    return like ? vt_formatted("%s is like %s", who, like) : NULL;
}

/* --- sums --- */

/* "train.py:13 in make, called by train.py:41 in step": the line of a leak or a failure. */
static char *line_text(const struct vt_job *f, const struct vt_ranks_sum *sum) {
    return vt_formatted("%s%s%s%s",
                        sum->what == VT_JOB_NONE ? "(unknown line)" : f->lines[sum->what].text,
                        sum->caller ? ", called by " : "", sum->caller ? sum->caller : "",
                        sum->caller && sum->callers ? " and others" : "");
}

/* "in rank 3", "in 2 of them; largest in rank 3": the processes that ran out of memory at a line. */
static char *in_which(const struct vt_job *f, const struct vt_ranks_sum *oom) {
    VT_SCOPED char *who = vt_ranks_who(f, &oom->most, 1);
    return oom->processes == 1
               ? vt_formatted("in %s", who)
               : vt_formatted("in %s of them; largest in %s", VT_NUMBER(oom->processes), who);
}

static char *in_how_many(const struct vt_ranks *r, const struct vt_job *f,
                         const struct vt_ranks_sum *sum) {
    VT_SCOPED char *who = vt_ranks_who(f, &sum->most, 1);
    struct vt_string s = {0};
    if (sum->processes == 1)
        vt_string_format(&s, "in %s", who);
    else
        vt_string_format(&s, "in %s of %s %s; most in %s: %s", VT_NUMBER(sum->processes),
                         VT_NUMBER(r->count), vt_ranks_noun(r, r->count), who,
                         VT_BYTES(sum->most_bytes));
    if (sum->kept_by)
        vt_string_format(&s, "; kept by %s", sum->kept_by);
    return s.text;
}

static char *headline_of_leaks(const struct vt_ranks *r, const struct vt_job *f) {
    uint32_t processes = 0;
    for (uint32_t i = 0; i < f->process_count; i++)
        processes += f->processes[i].leak_count > 0;
    return vt_formatted("%s in %s of %s %s", VT_BYTES(r->leaked_bytes), VT_NUMBER(processes),
                        VT_NUMBER(r->count), vt_ranks_noun(r, r->count));
}

void vt_ranks_sums(const struct vt_ranks *r, const struct vt_job *f, enum vt_ranks_sums_of what,
                   uint32_t most, struct vt_ranks_sums *sums) {
    bool leaks = what == VT_SUMS_OF_LEAKS, ooms = what == VT_SUMS_OF_OOMS;
    *sums = (struct vt_ranks_sums){0};
    VT_SCOPED struct vt_ranks_sum *all = leaks  ? vt_ranks_leaks(f, &sums->count)
                                         : ooms ? vt_ranks_ooms(f, &sums->count)
                                                : vt_ranks_owners(f, &sums->count);
    struct vt_doc *doc = &sums->doc;
    if (leaks)
        sums->headline = vt_doc_keep(doc, headline_of_leaks(r, f));
    else if (ooms)
        sums->headline =
            vt_doc_text(doc, "in %s of %s %s; the largest request at each line", VT_NUMBER(r->ooms),
                        VT_NUMBER(r->count), vt_ranks_noun(r, r->count));
    for (uint32_t i = 0; i < sums->count; i++) {
        if (i >= most) {
            sums->left++;
            sums->left_bytes += all[i].bytes;
            continue;
        }
        char *text = leaks || ooms ? line_text(f, &all[i]) : vt_strdup(f->owners[all[i].what].text);
        struct vt_doc_item *row = vt_doc_add(doc, VT_DOC_ROW, vt_doc_keep(doc, text));
        row->label = leaks ? vt_verdict_names[all[i].verdict] : "";
        row->bytes = all[i].bytes;
        row->source = vt_doc_keep(doc, ooms ? in_which(f, &all[i]) : in_how_many(r, f, &all[i]));
    }
}

/* --- restarts --- */

/* The failure that ended a process: the last one without a recovery. NULL: none. */
static const struct vt_job_oom *ended_by(const struct vt_job *f, uint32_t process) {
    const struct vt_job_process *p = &f->processes[process];
    const struct vt_job_oom *last = NULL;
    for (uint32_t i = p->first_oom; i < p->first_oom + p->oom_rows; i++)
        if (f->ooms[i].outcome != VT_OOM_RECOVERED)
            last = &f->ooms[i];
    return last;
}

/* The earlier starts that ran out of memory: "rank 1 had run out of memory at train.py:5 in step". */
static void add_why_restarted(const struct vt_job *f, const uint32_t *earlier, uint32_t count,
                              struct vt_string *s) {
    VT_SCOPED uint32_t *who = vt_alloc(count, sizeof *who);
    uint32_t found = 0;
    struct vt_ranks_sum at = {.what = VT_JOB_NONE};
    bool one_line = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_job_oom *oom = ended_by(f, earlier[i]);
        if (!oom)
            continue;
        one_line = one_line && (!found || oom->line == at.what);
        at.callers = at.callers || (found && !vt_same_text(oom->caller, at.caller));
        at.what = oom->line;
        at.caller = oom->caller;
        /* a rank with several failures is named once */
        if (!found || f->processes[who[found - 1]].rank != f->processes[earlier[i]].rank)
            who[found++] = earlier[i];
    }
    if (found) {
        VT_SCOPED char *names = vt_ranks_who(f, who, found), *line = line_text(f, &at);
        vt_string_format(s, "; %s had run out of memory", names);
        if (one_line && at.what != VT_JOB_NONE)
            vt_string_format(s, " at %s", line);
    }
}

char *vt_ranks_restarts(const struct vt_job *f) {
    VT_SCOPED uint32_t *earlier = vt_alloc(f->process_count, sizeof *earlier),
                       *ranks = vt_alloc(f->process_count, sizeof *ranks);
    uint32_t count = 0, restarted = 0, least = 0, most = 0;
    struct vt_string s = {0};
    for (uint32_t i = 0; i < f->process_count; i++) {
        const struct vt_job_process *p = &f->processes[i], *before = p - 1;
        uint32_t last = i;
        if (p->rank < 0 || (i && before->rank == p->rank && before->run == p->run))
            continue; /* not the first start of its rank */
        for (; f->processes[last].next_start != VT_JOB_NONE; last = f->processes[last].next_start)
            earlier[count++] = last;
        uint32_t restart = f->processes[last].restart;
        if (restart) {
            least = restarted && least < restart ? least : restart;
            most = restart > most ? restart : most;
            ranks[restarted++] = last;
        }
    }
    if (restarted) {
        VT_SCOPED char *who = vt_ranks_who(f, ranks, restarted);
        who[0] = (char)(who[0] - 'a' + 'A');
        vt_string_format(&s, "%s %s restarted %s", who, restarted == 1 ? "was" : "were",
                         least != most ? "up to " : "");
        vt_string_format(&s, most == 1 ? "once" : "%u times", most);
    }
    if (restarted && count) {
        VT_SCOPED char *ended = how_ended(f, earlier, count);
        vt_string_format(&s, ". Of the earlier starts, %s", ended);
        add_why_restarted(f, earlier, count, &s);
    }
    if (restarted)
        vt_string_add(&s, ".");
    return restarted ? vt_printable(s.text) : NULL;
}

/* --- notes --- */

/* Adds a sentence, and frees it. */
static void add_note(struct vt_doc *doc, char *text) {
    bool first = !doc->count || doc->items[doc->count - 1].kind != VT_DOC_NOTE;
    struct vt_doc_item *item = vt_doc_add(doc, VT_DOC_NOTE, vt_doc_keep(doc, text));
    item->label = first ? "NOTE" : "";
    item->column = 6;
}

static const char *host_name(const struct vt_job_host *host) {
    return host->name ? host->name : "a host";
}

/* Clock differences between hosts according to their ranks; for many hosts, only the largest difference. */
static void note_apart(const struct vt_job *f, struct vt_doc *doc) {
    const struct vt_job_host *most = NULL;
    uint32_t hosts = 0;
    for (uint32_t i = 0; i < f->host_count; i++) {
        const struct vt_job_host *host = &f->hosts[i];
        hosts += host->later_by != 0;
        if (host->later_by && (!most || llabs(host->later_by) > llabs(most->later_by)))
            most = host;
    }
    if (most)
        add_note(doc, vt_formatted(
                          "The ranks of %s began and ended about %s %s than those of %s%s: their "
                          "clocks probably differ by that much.",
                          host_name(most), VT_DURATION((uint64_t)llabs(most->later_by)),
                          most->later_by > 0 ? "later" : "earlier",
                          host_name(&f->hosts[most->later_than]),
                          hosts > 1 ? ", and other hosts also differ" : ""));
}

static void note_clocks(const struct vt_ranks *r, const struct vt_job *f, struct vt_doc *doc) {
    enum { MATTERS = 200 }; /* parts of the job's time */
    if (r->hosts > 1)
        add_note(doc, vt_strdup("The times of each host are by its own clock."));
    note_apart(f, doc);
    for (uint32_t i = 0; i < f->host_count; i++)
        if (f->hosts[i].clock_step > (r->to - r->from) / MATTERS) {
            add_note(doc,
                     vt_formatted("The clock of %s jumped by %s during the job; its times here "
                                  "are corrected for that.",
                                  host_name(&f->hosts[i]), VT_DURATION(f->hosts[i].clock_step)));
            return; /* one such note is enough */
        }
}

/* Number of ranks according to the launcher; 0: unknown, or several launches. */
static uint32_t world_of(const struct vt_job *f) {
    enum { MOST = 1 << 20 };
    uint32_t world = 0;
    for (uint32_t i = 0; i < f->process_count; i++) {
        const struct vt_job_process *p = &f->processes[i];
        if (p->rank < 0)
            continue;
        if (!p->world_size || p->world_size > MOST || (world && p->world_size != world) ||
            (uint32_t)p->rank >= p->world_size)
            return 0;
        world = p->world_size;
    }
    return world;
}

/* Ranks without a log: one that died before it used CUDA is the greatest outlier. */
static void note_missing(const struct vt_job *f, struct vt_doc *doc) {
    enum { NAMED = 6 };
    uint32_t world = world_of(f), missing = 0, named = 0;
    VT_SCOPED bool *seen = vt_alloc(world + 1, sizeof *seen);
    VT_SCOPED_STRING list = {0};
    for (uint32_t i = 0; world && i < f->process_count; i++)
        if (f->processes[i].rank >= 0)
            seen[f->processes[i].rank] = true;
    for (uint32_t rank = 0, run; rank < world; rank += run) {
        for (run = 0; rank + run < world && !seen[rank + run];)
            run++;
        missing += run;
        if (run && named++ < NAMED)
            vt_string_format(&list, "%s %u", named > 1 ? "," : "", rank);
        if (run > 1 && named <= NAMED)
            vt_string_format(&list, " to %u", rank + run - 1);
        run += !run;
    }
    if (missing)
        add_note(doc,
                 vt_formatted("No log of rank%s%s%s (%s of %s): %s did not use CUDA, or died "
                              "before that, or the log is elsewhere.",
                              vt_plural(missing), list.text, named > NAMED ? ", ..." : "",
                              VT_NUMBER(missing), VT_NUMBER(world), missing == 1 ? "it" : "they"));
}

void vt_ranks_notes(const struct vt_ranks *r, const struct vt_job *f, struct vt_doc *doc) {
    char *restarts = vt_ranks_restarts(f);
    if (f->unread_count)
        add_note(doc, vt_formatted("%s log%s could not be read: %s%s", VT_NUMBER(f->unread_count),
                                   vt_plural(f->unread_count), f->unread[0],
                                   f->unread_count > 1 ? " ..." : ""));
    if (restarts)
        add_note(doc, restarts);
    if (r->incomplete)
        add_note(doc, vt_formatted("%s log%s incomplete.", VT_NUMBER(r->incomplete),
                                   r->incomplete == 1 ? " is" : "s are"));
    if (r->dropped_events)
        add_note(doc,
                 vt_formatted("%s event%s dropped in all%s%s%s%s%s.", VT_NUMBER(r->dropped_events),
                              r->dropped_events == 1 ? " was" : "s were", r->lacking ? "; " : "",
                              r->lacking ? VT_NUMBER(r->lacking) : "", r->lacking ? " " : "",
                              r->lacking ? vt_ranks_noun(r, r->lacking) : "",
                              !r->lacking       ? ""
                              : r->lacking == 1 ? " lacks too many to be compared"
                                                : " lack too many to be compared"));
    note_missing(f, doc);
    note_clocks(r, f, doc);
}
