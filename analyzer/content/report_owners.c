/* SPDX-License-Identifier: MIT */
/*
 * Owners of memory in the text report: those of a device, and those of a site.
 *
 * A row is the memory of one variable for one purpose: all parameters of a model, all items of a list.
 */
#include "report_doc.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

/* --- a list of owners --- */

enum { ROWS_SHOWN = 10 };

/* How much of the memory in a snapshot is freed at the end. */
static const char *freed_later(const struct vt_process *p, const struct vt_snapshot *s) {
    /* it is unknown whether memory without an owner was freed */
    uint64_t then = s->unowned_bytes, left = then, *seen = vt_alloc(p->site_count, sizeof *seen);
    for (uint32_t i = 0; i < s->owner_count; i++)
        for (uint32_t k = 0; k < s->owners[i].site_count; k++)
            seen[s->owners[i].sites[k].site] += s->owners[i].sites[k].bytes;
    for (uint32_t i = 0; i < p->site_count; i++) {
        uint64_t live = p->sites[i].live_bytes;
        then += seen[i];
        left += live < seen[i] ? live : seen[i];
    }
    free(seen);
    return !then || left > then / 2 ? ""
           : left                   ? "; most was freed later"
                                    : "; all was freed later";
}

void vt_report_add_owners_of(const struct vt_subject *t, const struct vt_snapshot *s,
                             const char *title, uint32_t most, struct vt_doc *doc) {
    static const struct vt_doc_column columns[] = {{"held", 0, 10, .right = true},
                                                   {"blocks", 1, 7, .right = true},
                                                   {"kept by", 2, 0, .words = true}};
    const struct vt_process *p = t->process;
    uint32_t count;
    VT_SCOPED struct vt_owner_group *groups = vt_owner_groups_seen(p, s, VT_UNKNOWN, &count);
    uint64_t bytes = s->unowned_bytes, blocks = s->unowned_count;
    for (uint32_t i = 0; i < count; i++) {
        bytes += groups[i].bytes;
        blocks += groups[i].count;
    }
    VT_SCOPED char *moment = vt_snapshot_moment(s);
    vt_doc_heading(doc, VT_STYLE_HEAD, title, "%s in %s block%s %s%s%s", VT_BYTES(bytes),
                   VT_NUMBER(blocks), vt_plural(blocks),
                   s->why == VT_SNAPSHOT_END ? "when the program's code ended" : moment,
                   s == vt_process_snapshot(p) ? "" : freed_later(p, s),
                   s->complete ? "" : "; the search was cut short")
        ->about = "held";
    vt_doc_table(doc, columns, sizeof columns / sizeof *columns);
    uint64_t left = 0, left_blocks = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i >= most) {
            left += groups[i].bytes;
            left_blocks += groups[i].count;
            continue;
        }
        VT_SCOPED char *text = vt_owner_role_text(p, &groups[i].owner);
        vt_doc_cells(doc, VT_BYTES(groups[i].bytes), VT_NUMBER(groups[i].count), text);
    }
    if (count > most)
        vt_doc_cells(doc, VT_BYTES(left), VT_NUMBER(left_blocks),
                     vt_doc_text(doc, "%u more owner%s (--top %u shows them)", count - most,
                                 vt_plural(count - most), count));
    if (s->runtime_count)
        vt_doc_cells(doc, VT_BYTES(s->runtime_bytes), VT_NUMBER(s->runtime_count),
                     "CUDA's libraries");
    if (s->unowned_count > s->runtime_count)
        vt_doc_cells(doc, VT_BYTES(s->unowned_bytes - s->runtime_bytes),
                     VT_NUMBER(s->unowned_count - s->runtime_count), "no owner found");
}

void vt_report_add_owners(const struct vt_subject *t, struct vt_doc *doc) {
    const struct vt_snapshot *s = vt_process_snapshot_shown(t->process);
    if (s)
        vt_report_add_owners_of(t, s, "OWNERS", t->options->top ? t->options->top : ROWS_SHOWN,
                                doc);
    else
        vt_doc_heading(doc, VT_STYLE_HEAD, "OWNERS",
                       "unknown: this run has no snapshot of owners (VRAMTRACE_SNAPSHOT)");
}

/* --- what keeps a site --- */

/* An owner of a site's blocks in its list. */
static void add_holder(const struct vt_subject *t, const char *label, uint64_t bytes,
                       const struct vt_memory_owner *owner, struct vt_doc *doc) {
    char *text = vt_doc_keep(doc, vt_owner_text(t->process, owner, 0));
    char *chain = vt_doc_keep(doc, vt_owner_chain(owner));
    vt_doc_holder(doc, label, bytes, NULL, text);
    if (chain)
        vt_doc_add(doc, VT_DOC_MORE, chain)->column += VT_DOC_BYTES;
}

void vt_report_add_site_owners(const struct vt_subject *t, const struct vt_site *site,
                               struct vt_doc *doc) {
    enum { SHOWN = 10 };
    const struct vt_process *p = t->process;
    const struct vt_snapshot *s = vt_process_snapshot(p);
    uint32_t index = (uint32_t)(site - p->sites), shown = 0, most = t->options->top, count;
    VT_SCOPED struct vt_owner_group *groups =
        vt_owner_groups(site->owned.owners, site->owned.count, false, &count);
    most = most ? most : SHOWN;
    for (uint32_t i = 0; i < count && i < most; i++)
        add_holder(t, i ? "" : "kept by", groups[i].bytes, &groups[i].owner, doc);
    if (site->owned.count && site->owned.owners[0].seen) {
        s = site->owned.owners[0].seen;
        VT_SCOPED char *moment = vt_snapshot_moment(s);
        char *seen = vt_doc_text(doc, "seen %s%s", moment,
                                 site->owned.owners[0].still ? "" : "; freed later");
        vt_doc_add(doc, VT_DOC_MORE, seen)->column += VT_DOC_BYTES;
    }
    for (uint32_t i = 0; s && i < s->owner_count && shown < most; i++)
        for (uint32_t k = 0; k < s->owners[i].other_count; k++)
            if (s->owners[i].others[k].site == index)
                add_holder(t, shown++ ? "" : "also held by", s->owners[i].others[k].bytes,
                           &s->owners[i], doc);
}
