/* SPDX-License-Identifier: MIT */
/*
 * The document of a report on many processes: the job, who differs and in what, what leaked, a table of ranks, and
 * their memory on one time line. The processes that a report shows whole follow.
 */
#include "report_doc.h"
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 8, LEAKS = 5, OUTLIERS = 5, DIFFERENCES = 3, OWNERS = 10 };

struct part {
    const struct vt_subject *t;
    const struct vt_job *f;
    struct vt_ranks r;
};

static uint32_t most_of(const struct part *p, uint32_t usual) {
    return p->t->options->top ? p->t->options->top : usual;
}

static void end(struct vt_doc *doc) {
    vt_doc_add(doc, VT_DOC_END, NULL);
}

/* --- the job --- */

static const struct vt_job_process *largest(const struct part *p) {
    const struct vt_job_process *largest = &p->f->processes[p->r.list[0]];
    for (uint32_t i = 1; i < p->r.count; i++)
        if (p->f->processes[p->r.list[i]].peak_bytes > largest->peak_bytes)
            largest = &p->f->processes[p->r.list[i]];
    return largest;
}

static void add_job(const struct part *p, struct vt_doc *doc) {
    const struct vt_job_process *first = largest(p);
    VT_SCOPED char *date = vt_date_text(p->r.from);
    char *where = vt_doc_text(doc, "%s%s%s%s", first->job ? "job " : "",
                              first->job ? first->job : "", first->job ? "  " : "", date);
    vt_doc_add(doc, VT_DOC_SIDES, where)->label = vt_doc_keep(doc, vt_ranks_many(&p->r));
    vt_doc_add(doc, VT_DOC_SIDES, vt_doc_keep(doc, vt_ranks_all_ended(&p->r, p->f)))->label =
        vt_doc_text(doc, "ran %s", VT_DURATION(p->r.to - p->r.from));
    if (p->r.groups == 1 && first->command)
        vt_doc_line(doc, "%s", first->command);
    if (first->simulated)
        vt_report_add_simulated(doc);
    vt_ranks_notes(&p->r, p->f, doc);
    end(doc);
}

static void add_outliers(const struct part *p, struct vt_doc *doc) {
    uint32_t most = most_of(p, OUTLIERS);
    bool peers = false;
    for (uint32_t i = 0; i < p->f->outlier_count && i < most; i++) {
        vt_ranks_outlier(p->f, &p->f->outliers[i], most_of(p, DIFFERENCES), doc);
        end(doc);
    }
    if (p->f->outlier_count > most)
        vt_doc_remark(doc, "and %u more that differ (--top %u lists them)",
                      p->f->outlier_count - most, p->f->outlier_count);
    for (uint32_t i = 0; i < p->f->peers_count; i++)
        peers |= p->f->peers[i].process_count > 1 && vt_job_peers_compared(&p->f->peers[i]);
    if (!p->f->outlier_count && peers)
        vt_doc_heading(doc, VT_STYLE_GOOD, "NONE DIFFERS",
                       "processes that do the same work hold the same");
    end(doc);
}

/* --- sums --- */

static void add_sums(const struct part *p, enum vt_ranks_sums_of what, const char *title,
                     uint32_t most, struct vt_doc *doc) {
    struct vt_ranks_sums sums;
    bool owners = what == VT_SUMS_OF_OWNERS;
    vt_ranks_sums(&p->r, p->f, what, most_of(p, most), &sums);
    const char *headline = !owners      ? sums.headline
                           : sums.count ? "memory of all processes, each at its own snapshot"
                                        : "unknown: no snapshot says what kept the memory";
    if (what == VT_SUMS_OF_LEAKS && sums.count == 1)
        title = "LEAK";
    if (sums.count || owners)
        vt_doc_heading(doc, owners ? VT_STYLE_HEAD : VT_STYLE_BAD, title, "%s", headline);
    for (uint32_t i = 0; i < sums.doc.count; i++) {
        const struct vt_doc_item *row = &sums.doc.items[i];
        vt_doc_holder(doc, "", row->bytes, NULL,
                      vt_doc_text(doc, "%s, %s%s%s", row->text, row->label,
                                  row->label[0] ? ", " : "", row->source))
            ->column = 2;
    }
    if (sums.left)
        vt_doc_holder(doc, "", sums.left_bytes, NULL,
                      vt_doc_text(doc, "in %u more (--top %u lists them)", sums.left, sums.count))
            ->column = 2;
    vt_doc_free(&sums.doc);
    end(doc);
}

/* --- the table --- */

enum { MARK, RANK, PID, HOST, GPU, PEAK, HELD, LEAKED, END, COMMAND, COLUMNS };

static const struct vt_doc_column columns[COLUMNS] = {
    [MARK] = {.title = ""},
    [RANK] = {"rank", 1, 5, .right = true},
    [PID] = {"pid", 1, 8, .right = true},
    [HOST] = {"host", 2, 0, .name = true},
    [GPU] = {"GPU", 2, 0, .name = true},
    [PEAK] = {"peak", 2, 9, .right = true},
    [HELD] = {"at end", 2, 9, .right = true},
    [LEAKED] = {"leaks", 2, 9, .right = true},
    [END] = {.title = "end", .before = 2},
    [COMMAND] = {"command", 2, 0, .name = true},
};

/* "python3 train.py": without the folder of the program. */
static const char *short_command(const char *command) {
    size_t program = strcspn(command, " ");
    while (program && command[program - 1] != '/')
        program--;
    return command + program;
}

static void row_cells(const struct part *p, uint32_t index, const char *cells[COLUMNS],
                      struct vt_doc *doc) {
    const struct vt_job_process *row = &p->f->processes[index];
    VT_SCOPED char *end = vt_ending_text(row->ending, VT_ENDING_COLUMN);
    const char *host = p->f->hosts[row->host].name;
    cells[MARK] = p->r.differs[index] ? "*" : "";
    cells[RANK] = row->rank >= 0 ? vt_doc_text(doc, "%d", row->rank) : "";
    cells[PID] = vt_doc_text(doc, "%u", row->pid);
    cells[HOST] = host ? host : "";
    cells[GPU] = vt_doc_keep(doc, vt_ranks_gpus(p->f, row));
    cells[PEAK] = vt_doc_text(doc, "%s", VT_BYTES(row->peak_bytes));
    cells[HELD] = vt_doc_text(doc, "%s", VT_BYTES(row->live_bytes));
    cells[LEAKED] = vt_doc_text(doc, "%s", row->leak_count ? VT_BYTES(row->leaked_bytes) : "none");
    cells[END] = row->restart ? vt_doc_text(doc, "%s, start %u", end, row->restart + 1)
                              : vt_doc_text(doc, "%s", end);
    cells[COMMAND] = row->command ? short_command(row->command) : "";
}

/* A column that would say the same in each row is left out. */
static void choose_columns(const struct part *p, const uint32_t *rows, uint32_t count,
                           const char *(*cells)[COLUMNS], bool shown[COLUMNS]) {
    for (unsigned c = 0; c < COLUMNS; c++)
        shown[c] = c == MARK || c >= PEAK;
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_job_process *row = &p->f->processes[rows[i]];
        shown[RANK] |= row->rank >= 0;
        /* helpers, restarts */
        shown[PID] |= row->rank < 0 || (i && row->rank == p->f->processes[rows[i - 1]].rank);
        shown[GPU] |= strcmp(cells[i][GPU], cells[0][GPU]) != 0;
    }
    shown[HOST] = p->r.hosts > 1;
    shown[COMMAND] = p->r.groups > 1;
    shown[GPU] = shown[GPU] && !(shown[HOST] && shown[COMMAND]); /* there is no room for it */
}

static void add_empty(const struct part *p, struct vt_doc *doc) {
    VT_SCOPED uint32_t *pids = vt_alloc(p->r.empty, sizeof *pids);
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->f->peers_count && p->r.empty; i++)
        for (uint32_t k = 0; p->f->peers[i].empty && k < p->f->peers[i].process_count; k++)
            pids[count++] = p->f->processes[p->f->peers[i].processes[k]].pid;
    if (count)
        vt_doc_add(doc, VT_DOC_REMARK, vt_doc_keep(doc, vt_report_empty(pids, count)));
}

static void add_table(const struct part *p, struct vt_doc *doc) {
    VT_SCOPED uint32_t *rows = vt_alloc(p->r.count, sizeof *rows);
    uint32_t count = vt_ranks_rows(&p->r, p->f, most_of(p, ROWS), rows);
    VT_SCOPED const char *(*cells)[COLUMNS] = vt_alloc(count, sizeof *cells);
    VT_SCOPED char *sums = vt_ranks_totals(&p->r);
    struct vt_doc_column chosen[COLUMNS];
    bool shown[COLUMNS];
    for (uint32_t i = 0; i < count; i++)
        row_cells(p, rows[i], cells[i], doc);
    choose_columns(p, rows, count, cells, shown);
    vt_doc_heading(doc, VT_STYLE_HEAD, vt_ranks_list_heading(&p->r), "%s", sums);
    for (uint32_t i = 0; i <= count; i++) {
        const char *row[COLUMNS];
        unsigned n = 0;
        for (unsigned c = 0; c < COLUMNS; c++)
            if (shown[c]) {
                chosen[n] = columns[c];
                row[n++] = i ? cells[i - 1][c] : "";
            }
        if (!i)
            vt_doc_table(doc, chosen, n);
        else
            vt_doc_add_cells(doc, row, n)->style = p->r.differs[rows[i - 1]] ? VT_STYLE_HEAD : "";
    }
    if (p->r.count > count)
        vt_doc_remark(doc, "and %s more (--top %u lists them)", VT_NUMBER(p->r.count - count),
                      p->r.count);
    add_empty(p, doc);
    end(doc);
}

/* --- the time line --- */

static uint64_t add_course(const struct part *p, uint32_t process, const char *name,
                           struct vt_doc *doc) {
    enum { PARTS = 480 };
    struct vt_levels *levels = vt_doc_own(doc, vt_alloc(1, sizeof *levels));
    levels->bytes = vt_doc_own(doc, vt_alloc(PARTS, sizeof *levels->bytes));
    levels->count = PARTS;
    uint64_t peak = vt_ranks_course(&p->r, p->f, process, PARTS, levels->bytes);
    struct vt_doc_item *item = vt_doc_add(doc, VT_DOC_COURSE, NULL);
    item->label = name;
    item->bytes = peak;
    item->levels = levels;
    return peak;
}

/* Those that have a line of their own: those that are shown whole, up to a limit. */
static void add_courses(const struct part *p, struct vt_doc *doc) {
    enum { LINES = 6 };
    uint32_t lines = p->f->shown_count < LINES ? p->f->shown_count : LINES;
    uint64_t most = 0;
    vt_doc_heading(doc, VT_STYLE_HEAD, "OVER TIME", "GPU memory%s",
                   lines > 1 ? "; all processes on one scale" : "");
    add_course(p, VT_JOB_NONE, "all", doc);
    doc->items[doc->count - 1].scale = p->r.at_once_bytes;
    uint32_t first = doc->count;
    for (uint32_t i = 0; i < lines; i++) {
        char *who = vt_doc_keep(doc, vt_ranks_who(p->f, &p->f->shown[i], 1));
        uint64_t peak = add_course(p, p->f->shown[i], who, doc);
        most = peak > most ? peak : most;
    }
    for (uint32_t i = first; i < doc->count; i++)
        doc->items[i].scale = most;
    vt_doc_add(doc, VT_DOC_COURSE, vt_doc_text(doc, "%s", VT_DURATION(p->r.to - p->r.from)));
    if (p->r.count > lines)
        vt_doc_remark(doc, "and %s more %s, only in the line \"all\"",
                      VT_NUMBER(p->r.count - lines), vt_ranks_noun(&p->r, p->r.count - lines));
    end(doc);
}

void vt_ranks_add(const struct vt_subject *t, struct vt_doc *doc) {
    struct part p = {.t = t, .f = t->model->job};
    vt_ranks_make(&p.r, p.f);
    if (p.r.count) {
        add_job(&p, doc);
        add_outliers(&p, doc);
        add_sums(&p, VT_SUMS_OF_LEAKS, "LEAKS", LEAKS, doc);
        add_sums(&p, VT_SUMS_OF_OOMS, "OUT OF MEMORY", LEAKS, doc);
        if (t->options->owners)
            add_sums(&p, VT_SUMS_OF_OWNERS, "OWNERS", OWNERS, doc);
        add_table(&p, doc);
        if (p.r.at_once_bytes)
            add_courses(&p, doc);
    }
    vt_ranks_free(&p.r);
}

void vt_ranks_add_stands_for(const struct vt_job *f, uint32_t process, struct vt_doc *doc) {
    struct vt_ranks ranks;
    vt_ranks_make(&ranks, f);
    char *text = vt_ranks_stands_for(&ranks, f, process);
    if (text) {
        vt_doc_line(doc, "%s", text)->style = VT_STYLE_HEAD;
        vt_doc_line(doc, "%s", "");
    }
    free(text);
    vt_ranks_free(&ranks);
}
