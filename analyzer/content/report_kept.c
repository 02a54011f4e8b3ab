/* SPDX-License-Identifier: MIT */
/*
 * The report on the owners of a leak's memory, and of the memory held when memory ran out (see report_doc.h).
 */

#include "report_doc.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>

void vt_report_add_oom_owners(const struct vt_subject *t, const struct vt_oom *oom,
                              struct vt_doc *doc) {
    enum { SHOWN = 3 };
    const struct vt_snapshot *s = vt_process_snapshot_at(t->process, oom);
    uint32_t count;
    if (!s || oom->layer == VT_LAYER_HOST)
        return;
    VT_SCOPED struct vt_owner_group *groups =
        vt_owner_groups_seen(t->process, s, oom->device, &count);
    for (uint32_t i = 0; i < count && i < SHOWN; i++) {
        char *text = vt_doc_keep(doc, vt_owner_role_text(t->process, &groups[i].owner));
        vt_doc_holder(doc, i ? "" : "kept by", groups[i].bytes, NULL, text);
    }
}

/* The reason why no snapshot shows the owner of a leak that is partly live at the end of the log. NULL: unknown. */
static const char *why_unseen(const struct vt_process *p, struct vt_doc *doc) {
    static const char *const ends[VT_ENDS] = {[VT_END_SIGNALED] = "the process was killed",
                                              [VT_END_EXEC] = "the process replaced itself",
                                              [VT_END_UNKNOWN] = "the log ends"};
    for (uint32_t i = 0; i < p->missed_count; i++)
        if (p->missed[i].why == VT_SNAPSHOT_END)
            return "no snapshot at the end; the notes say why";
    for (uint32_t i = 0; i < p->snapshot_count; i++)
        if (p->snapshots[i].why == VT_SNAPSHOT_END)
            return "it was allocated after the last snapshot";
    const char *end = p->bare_end ? "the process ended by a bare system call" : ends[p->ending.how];
    if (end)
        return vt_doc_text(doc,
                           "%s before the final snapshot; "
                           "VRAMTRACE_SNAPSHOT=phase:NAME takes one earlier",
                           end);
    if (p->ending.how == VT_END_RUNNING)
        return vt_doc_text(doc, "no snapshot yet: `vramtrace snapshot %u` takes one", p->pid);
    return p->snapshot_count ? "no snapshot at the end; VRAMTRACE_SNAPSHOT=end takes one"
                             : NULL; /* perhaps a version that does not search for owners */
}

/* Why the owner of a leak is unknown. */
static void say_unknown(const struct vt_subject *t, const struct vt_leak *leak,
                        struct vt_doc *doc) {
    const struct vt_snapshot *last = vt_process_snapshot(t->process);
    uint64_t unowned = 0, live = 0;
    bool seen = false;
    for (uint32_t i = 0; i < leak->site_count; i++) {
        const struct vt_site *site = &t->process->sites[leak->sites[i]];
        unowned += site->unowned_bytes;
        live += site->live_count;
        seen |= site->reachable == VT_REACHABLE_YES;
    }
    if (leak->verdict == VT_VERDICT_LOST || (!live && !t->process->snapshot_count))
        return;
    const char *why = !live ? "it was freed before a snapshot saw it; "
                              "VRAMTRACE_SNAPSHOT=phase:NAME takes one earlier"
                            : why_unseen(t->process, doc);
    if (unowned && last && !last->complete)
        why = "the search for owners was cut short";
    else if (unowned && t->process->scan_unknown && !seen)
        why = "memory of another allocator than the C library's points to it, whose blocks are "
              "unknown";
    else if (unowned)
        why = seen ? "no named path to it was found, but a pointer to it is left"
                   : "no named path to it was found";
    if (why)
        vt_doc_row(doc, "kept by", "unknown: %s", why);
}

static bool is_of_leak(const struct vt_leak *leak, uint32_t site) {
    for (uint32_t i = 0; i < leak->site_count; i++)
        if (leak->sites[i] == site)
            return true;
    return false;
}

/* The number of other owners that also hold a considerable part of the memory of the leak's owners. */
static uint32_t count_others(const struct vt_process *p, const struct vt_leak *leak) {
    const struct vt_snapshot *s = leak->kept_count ? leak->kept->seen : NULL;
    struct vt_map holders = {0};
    uint32_t count = 0;
    s = s ? s : vt_process_snapshot(p);
    for (uint32_t i = 0; s && i < s->owner_count; i++) {
        const struct vt_memory_owner *o = &s->owners[i];
        uint64_t bytes = 0;
        bool known = vt_map_get(&holders, o->container_id) != VT_MAP_NONE;
        for (uint32_t k = 0; k < leak->kept_count; k++)
            known |= vt_owner_group_has(&leak->kept[k], o);
        for (uint32_t k = 0; k < o->other_count; k++)
            bytes += is_of_leak(leak, o->others[k].site) ? o->others[k].bytes : 0;
        if (!bytes || bytes < leak->kept->bytes / 10 || known)
            continue;
        vt_map_put(&holders, o->container_id, 0);
        count++;
    }
    vt_map_free(&holders);
    return count;
}

static void say_others(const struct vt_subject *t, const struct vt_leak *leak, struct vt_doc *doc) {
    uint32_t count = leak->kept_count ? count_others(t->process, leak) : 0;
    if (count)
        vt_doc_row(doc, "", "also held by %u other%s: --site %.*s", count, vt_plural(count),
                   (int)t->digits, t->process->sites[leak->sites[0]].name);
}

/* Whether the owner of a lost leak, as exit began, has dropped it since. */
static bool was_dropped_by_exit(const struct vt_process *p, const struct vt_leak *leak) {
    uint64_t searched = 0, known = 0;
    for (uint32_t i = 0; i < leak->site_count; i++) {
        const struct vt_site *site = &p->sites[leak->sites[i]];
        searched += vt_site_still_count(&site->figures);
        known += site->lost_count;
    }
    for (uint32_t i = 0; i < leak->kept_count; i++)
        known += leak->kept[i].count;
    return leak->verdict == VT_VERDICT_LOST && leak->kept_count && known > searched;
}

void vt_report_add_kept(const struct vt_subject *t, const struct vt_leak *leak,
                        struct vt_doc *doc) {
    const struct vt_snapshot *seen = NULL;
    bool still = false, dropped = was_dropped_by_exit(t->process, leak),
         lost = leak->verdict == VT_VERDICT_LOST && !dropped;
    if (leak->spread_owners)
        vt_doc_row(doc, "kept by", "%s", leak->kept_by);
    else if (!leak->kept_count || lost)
        say_unknown(t, leak, doc);
    for (uint32_t i = 0; i < leak->kept_count; i++) {
        const struct vt_owner_group *kept = &leak->kept[i];
        const char *label = i ? "" : lost ? "still kept by" : "kept by";
        seen = kept->seen && (!seen || kept->seen->at > seen->at) ? kept->seen : seen;
        still |= kept->still;
        if (i >= VT_OWNERS_SHOWN)
            continue;
        VT_SCOPED char *text = vt_owner_text(t->process, &kept->owner, kept->count);
        VT_SCOPED char *chain = vt_owner_chain(&kept->owner);
        if (leak->kept_count > 1)
            vt_doc_holder(doc, label, kept->bytes, NULL, vt_doc_text(doc, "%s", text));
        else
            vt_doc_row(doc, label, "%s", text);
        if (chain)
            vt_doc_row(doc, "", "%s%s", kept->containers > 1 ? "such as " : "", chain);
    }
    if (leak->kept_count > VT_OWNERS_SHOWN)
        vt_doc_row(doc, "", "and %u more", leak->kept_count - VT_OWNERS_SHOWN);
    say_others(t, leak, doc);
    /* a process that was killed has no snapshot at its end: some of the blocks may be younger */
    const struct vt_snapshot *last = vt_process_snapshot(t->process);
    if (!seen && leak->kept_count && last && last->why != VT_SNAPSHOT_END &&
        t->process->ending.how != VT_END_RUNNING) {
        seen = last;
        still = true;
    }
    if (dropped)
        vt_doc_row(doc, "", "as exit began; a destructor or a handler dropped it");
    else if (seen)
        vt_doc_row(doc, "", "seen %s%s", vt_doc_keep(doc, vt_snapshot_moment(seen)),
                   still ? "" : "; freed later");
}
