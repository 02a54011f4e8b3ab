/* SPDX-License-Identifier: MIT */
/*
 * The head of a text report on many processes: the job, who differs and in what, what leaked, a table
 * of ranks, and their memory on one time line. All of it from the job; the processes that a report
 * shows whole follow.
 */
#include "fmt_text.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 8, LEAKS = 5, OUTLIERS = 5, DIFFERENCES = 3, OWNERS = 10, SUM = 13 };

struct page {
    const struct vt_subject *of;
    const struct vt_text *t;
    const struct vt_job *f;
    struct vt_ranks r;
};

static uint32_t most_of(const struct page *p, uint32_t usual) {
    return p->of->options->top ? p->of->options->top : usual;
}

static char *printable(const char *text) {
    return vt_printable(vt_strdup(text ? text : ""));
}

/* --- the job --- */

static const struct vt_job_process *largest(const struct page *p) {
    const struct vt_job_process *largest = &p->f->processes[p->r.list[0]];
    for (uint32_t i = 1; i < p->r.count; i++)
        if (p->f->processes[p->r.list[i]].peak_bytes > largest->peak_bytes)
            largest = &p->f->processes[p->r.list[i]];
    return largest;
}

static void job(const struct page *p) {
    const struct vt_job_process *first = largest(p);
    struct vt_doc doc = {0};
    char *date = vt_doc_keep(&doc, vt_date_text(p->r.from));
    char *ended = vt_doc_keep(&doc, vt_ranks_all_ended(&p->r, p->f));
    char *where = vt_doc_text(&doc, "%s%s%s%s", first->job ? "job " : "",
                              first->job ? first->job : "", first->job ? "  " : "", date);
    vt_doc_add(&doc, VT_DOC_SIDES, where)->label = vt_doc_keep(&doc, vt_ranks_many(&p->r));
    if (p->r.groups == 1) {
        VT_SCOPED char *command = printable(first->command);
        vt_doc_add(&doc, VT_DOC_LINE, vt_doc_keep(&doc, vt_text_cut(command, p->t->width)));
    }
    vt_doc_add(&doc, VT_DOC_MORE,
               vt_doc_text(&doc, "ran %s: %s", VT_DURATION(p->r.to - p->r.from), ended));
    if (first->simulated)
        vt_report_add_simulated(&doc);
    vt_ranks_notes(&p->r, p->f, &doc);
    vt_doc_print(&doc, p->t);
    vt_doc_free(&doc);
}

/* --- who differs --- */

static void print_outliers(const struct page *p) {
    const struct vt_text *t = p->t;
    uint32_t most = most_of(p, OUTLIERS);
    for (uint32_t i = 0; i < p->f->outlier_count && i < most; i++) {
        struct vt_doc doc = {0};
        vt_ranks_outlier(p->f, &p->f->outliers[i], most_of(p, DIFFERENCES), &doc);
        vt_doc_print(&doc, t);
        vt_doc_free(&doc);
    }
    if (p->f->outlier_count > most)
        fprintf(t->out, "\nand %u more that differ (--top %u lists them)\n",
                p->f->outlier_count - most, p->f->outlier_count);
    bool peers = false;
    for (uint32_t i = 0; i < p->f->peers_count; i++)
        peers |= p->f->peers[i].process_count > 1 && vt_job_peers_compared(&p->f->peers[i]);
    if (!p->f->outlier_count && peers)
        vt_text_heading(t, VT_STYLE_GOOD, "NONE DIFFERS",
                        "processes that do the same work hold the same");
}

/* --- sums --- */

/* A row of bytes and a text, which is freed. */
static void print_sum(const struct vt_text *t, uint64_t bytes, char *text) {
    VT_SCOPED char *label = vt_formatted("  %9s", VT_BYTES(bytes)), *row = vt_printable(text);
    vt_text_wrap(t, label, SUM, row);
}

/* The rows of sums below their heading. */
static void print_sums(const struct vt_text *t, const char *style, const char *heading,
                       struct vt_ranks_sums *sums) {
    vt_text_heading(t, style, heading, sums->headline);
    for (uint32_t i = 0; i < sums->doc.count; i++) {
        const struct vt_doc_item *row = &sums->doc.items[i];
        print_sum(t, row->bytes,
                  vt_formatted("%s, %s%s%s", row->text, row->label, row->label[0] ? ", " : "",
                               row->source));
    }
    vt_doc_free(&sums->doc);
}

static void print_leaks(const struct page *p) {
    struct vt_ranks_sums sums;
    vt_ranks_sums(&p->r, p->f, VT_SUMS_OF_LEAKS, most_of(p, LEAKS), &sums);
    if (sums.count)
        print_sums(p->t, VT_STYLE_BAD, sums.count == 1 ? "LEAK" : "LEAKS", &sums);
    if (sums.left)
        print_sum(p->t, sums.left_bytes,
                  vt_formatted("in %u more lines (--top %u lists them)", sums.left, sums.count));
    vt_doc_free(&sums.doc);
}

static void print_ooms(const struct page *p) {
    struct vt_ranks_sums sums;
    vt_ranks_sums(&p->r, p->f, VT_SUMS_OF_OOMS, most_of(p, LEAKS), &sums);
    if (sums.count)
        print_sums(p->t, VT_STYLE_BAD, "OUT OF MEMORY", &sums);
    vt_doc_free(&sums.doc);
}

static void print_owners(const struct page *p) {
    struct vt_ranks_sums sums;
    vt_ranks_sums(&p->r, p->f, VT_SUMS_OF_OWNERS, most_of(p, OWNERS), &sums);
    sums.headline = sums.count ? "of the memory of all processes, each at its own snapshot"
                               : "unknown: no snapshot says what kept the memory";
    print_sums(p->t, VT_STYLE_HEAD, "OWNERS", &sums);
    if (sums.left)
        fprintf(p->t->out, "%*sand %u more (--top %u lists them)\n", SUM, "", sums.left,
                sums.count);
}

/* --- the table --- */

/* The widths of its columns; 0: it would say the same in each row, and is left out. */
struct columns {
    unsigned rank, pid, host, gpu, command;
};

enum { HOST = 16, GPU = 14, FIGURES = 3 * 11 + 9, LEAST = 24, GAP = 2 };

static unsigned wider(unsigned width, const char *text) {
    unsigned columns = vt_frame_text_columns(text);
    return columns > width ? columns : width;
}

static struct columns choose_columns(const struct page *p, const uint32_t *rows, uint32_t count) {
    struct columns c = {0};
    bool gpus_differ = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_job_process *row = &p->f->processes[rows[i]];
        VT_SCOPED char *gpus = vt_ranks_gpus(p->f, row),
                       *host = printable(p->f->hosts[row->host].name);
        VT_SCOPED char *first = vt_ranks_gpus(p->f, &p->f->processes[rows[0]]);
        if (row->rank >= 0)
            c.rank = 5;
        if (row->rank < 0 || (i && row->rank == p->f->processes[rows[i - 1]].rank))
            c.pid = 8; /* helpers, restarts */
        if (p->r.hosts > 1)
            c.host = wider(c.host, host);
        gpus_differ |= strcmp(gpus, first) != 0;
        c.gpu = wider(c.gpu, gpus);
    }
    c.host = c.host > HOST ? HOST : c.host;
    c.gpu = c.gpu > GPU ? GPU : c.gpu;
    unsigned used = GAP + (c.rank ? c.rank + GAP : 0) + (c.pid ? c.pid + GAP : 0) +
                    (c.host ? c.host + GAP : 0) + FIGURES;
    if (!gpus_differ || (p->r.groups > 1 && used + c.gpu + GAP + LEAST > p->t->width))
        c.gpu = 0;
    used += c.gpu ? c.gpu + GAP : 0;
    if (p->r.groups > 1)
        c.command = p->t->width > used + GAP + LEAST / 2 ? p->t->width - used - GAP : LEAST / 2;
    return c;
}

/* A text in a column, cut to its width; on the right if it is a number. */
static void put_column(struct vt_string *s, unsigned width, bool number, const char *text) {
    if (!width)
        return;
    VT_SCOPED char *cut = vt_text_cut(text, width);
    int blanks = (int)(width - vt_frame_text_columns(cut));
    vt_string_format(s, "%*s%s%*s", number ? blanks : 0, "", cut, (number ? 0 : blanks) + GAP, "");
}

/* "python3 train.py": without the folder of the program. */
static const char *short_command(const char *command) {
    size_t program = strcspn(command, " ");
    while (program && command[program - 1] != '/')
        program--;
    return command + program;
}

static void table_row(const struct page *p, const struct columns *c, uint32_t index) {
    const struct vt_job_process *row = &p->f->processes[index];
    const struct vt_text *t = p->t;
    VT_SCOPED_STRING s = {0};
    VT_SCOPED char *end = vt_ending_text(row->ending, VT_ENDING_COLUMN);
    char rank[16] = "", pid[16];
    VT_SCOPED char *host = printable(p->f->hosts[row->host].name), *gpus = vt_ranks_gpus(p->f, row);
    VT_SCOPED char *command = printable(row->command);
    if (row->rank >= 0)
        snprintf(rank, sizeof rank, "%d", row->rank);
    snprintf(pid, sizeof pid, "%u", row->pid);
    vt_string_add(&s, p->r.differs[index] ? "* " : "  ");
    put_column(&s, c->rank, true, rank);
    put_column(&s, c->pid, true, pid);
    put_column(&s, c->host, false, host);
    put_column(&s, c->gpu, false, gpus);
    vt_string_format(&s, "%9s  %9s  %9s  %s", VT_BYTES(row->peak_bytes), VT_BYTES(row->live_bytes),
                     row->leak_count ? VT_BYTES(row->leaked_bytes) : "none", end);
    if (row->restart)
        vt_string_format(&s, ", start %u", row->restart + 1);
    if (c->command) {
        VT_SCOPED char *cut = vt_text_cut(short_command(command), c->command);
        unsigned used = (unsigned)strlen(end) < 9 ? 9 - (unsigned)strlen(end) : 0;
        vt_string_format(&s, "%*s%s", (int)(row->restart ? 0 : used) + GAP, "", cut);
    }
    fprintf(t->out, "%s%s%s\n", p->r.differs[index] ? vt_text_style(t, VT_STYLE_HEAD) : "", s.text,
            p->r.differs[index] ? vt_text_style(t, VT_STYLE_NONE) : "");
}

static void empty_ones(const struct page *p) {
    VT_SCOPED uint32_t *pids = vt_alloc(p->r.empty, sizeof *pids);
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->f->peers_count && p->r.empty; i++)
        for (uint32_t k = 0; p->f->peers[i].empty && k < p->f->peers[i].process_count; k++)
            pids[count++] = p->f->processes[p->f->peers[i].processes[k]].pid;
    VT_SCOPED char *empty = count ? vt_report_empty(pids, count) : NULL;
    if (empty)
        vt_text_wrap(p->t, "", 0, empty);
}

static void table(const struct page *p) {
    const struct vt_text *t = p->t;
    VT_SCOPED uint32_t *rows = vt_alloc(p->r.count, sizeof *rows);
    uint32_t count = vt_ranks_rows(&p->r, p->f, most_of(p, ROWS), rows);
    struct columns c = choose_columns(p, rows, count);
    VT_SCOPED char *sums = vt_ranks_totals(&p->r);
    vt_text_heading(t, VT_STYLE_HEAD, vt_ranks_list_heading(&p->r), sums);
    VT_SCOPED_STRING head = {0};
    put_column(&head, c.rank, true, "rank");
    put_column(&head, c.pid, true, "pid");
    put_column(&head, c.host, false, "host");
    put_column(&head, c.gpu, false, "GPU");
    vt_string_format(&head, "%9s  %9s  %9s  end%s", "peak", "at end", "leaks",
                     c.command ? "        command" : "");
    fprintf(t->out, "%s  %s%s\n", vt_text_style(t, VT_STYLE_DIM), head.text,
            vt_text_style(t, VT_STYLE_NONE));
    for (uint32_t i = 0; i < count; i++)
        table_row(p, &c, rows[i]);
    if (p->r.count > count)
        fprintf(t->out, "  and %s more (--top %u lists them)\n", VT_NUMBER(p->r.count - count),
                p->r.count);
    empty_ones(p);
}

/* --- the time line --- */

/* Those that have a line of their own: those that are shown whole, up to a limit. */
enum { LINES = 6, NAME = 14, SIZE = 11 };

static void time_line(const struct page *p, const char *name, const uint64_t *levels,
                      unsigned columns, uint64_t peak, uint64_t scale) {
    const struct vt_text *t = p->t;
    VT_SCOPED char *cut = vt_text_cut(name, NAME);
    VT_SCOPED char *line = vt_text_line_draw(levels, columns, scale ? scale : 1, t->blocks);
    fprintf(t->out, "  %s%*s %s%*s %9s\n", cut, (int)(NAME - vt_frame_text_columns(cut)), "", line,
            (int)(columns - vt_frame_text_columns(line)), "", VT_BYTES(peak));
}

static void over_time(const struct page *p) {
    const struct vt_text *t = p->t;
    unsigned columns = t->width - 2 - NAME - 1 - SIZE;
    VT_SCOPED uint64_t *sum = vt_alloc(columns, sizeof *sum);
    uint32_t lines = p->f->shown_count < LINES ? p->f->shown_count : LINES;
    VT_SCOPED uint64_t *own = vt_alloc((size_t)lines * columns, sizeof *own);
    uint64_t peaks[LINES], most = 0;
    vt_ranks_course(&p->r, p->f, VT_JOB_NONE, columns, sum);
    for (uint32_t i = 0; i < lines; i++) {
        peaks[i] = vt_ranks_course(&p->r, p->f, p->f->shown[i], columns, own + (size_t)i * columns);
        most = peaks[i] > most ? peaks[i] : most;
    }
    vt_text_heading(t, VT_STYLE_HEAD, "OVER TIME",
                    lines > 1 ? "GPU memory; all processes on one scale" : "GPU memory");
    time_line(p, "all", sum, columns, p->r.at_once_bytes, p->r.at_once_bytes);
    for (uint32_t i = 0; i < lines; i++) {
        VT_SCOPED char *who = vt_ranks_who(p->f, &p->f->shown[i], 1);
        time_line(p, who, own + (size_t)i * columns, columns, peaks[i], most);
    }
    const char *to = VT_DURATION(p->r.to - p->r.from);
    fprintf(t->out, "  %*s 0%*s\n", NAME, "", (int)columns - 1, to);
    if (p->r.count > lines)
        fprintf(t->out, "  and %s more %s, only in the line \"all\"\n",
                VT_NUMBER(p->r.count - lines), vt_ranks_noun(&p->r, p->r.count - lines));
}

void vt_text_stands_for(const struct vt_subject *of, const struct vt_text *t, uint32_t process) {
    struct vt_ranks ranks;
    vt_ranks_make(&ranks, of->model->job);
    VT_SCOPED char *text = vt_ranks_stands_for(&ranks, of->model->job, process);
    if (text) {
        fputs(vt_text_style(t, VT_STYLE_HEAD), t->out);
        vt_text_wrap(t, "", 0, text);
        fprintf(t->out, "%s\n", vt_text_style(t, VT_STYLE_NONE));
    }
    vt_ranks_free(&ranks);
}

void vt_text_ranks(const struct vt_subject *of, const struct vt_text *t) {
    struct page p = {.of = of, .t = t, .f = of->model->job};
    vt_ranks_make(&p.r, p.f);
    if (p.r.count) {
        job(&p);
        print_outliers(&p);
        print_leaks(&p);
        print_ooms(&p);
        if (of->options->owners)
            print_owners(&p);
        table(&p);
        if (p.r.at_once_bytes)
            over_time(&p);
    }
    vt_ranks_free(&p.r);
}
