/* SPDX-License-Identifier: MIT */
/*
 * Owners of memory in the text report: what keeps a leak, and who holds the device.
 *
 * A row is what one variable holds for one purpose: all parameters of a model, all items of a list.
 */
#include "fmt_text.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

/* The owners of a snapshot as they are told, the largest first; VT_UNKNOWN: on all devices. Free them. */
static struct vt_owner_group *make_groups(const struct vt_process *p, const struct vt_snapshot *s,
                                          uint64_t device, uint32_t *group_count) {
    struct vt_owned_by *owned = vt_alloc(s->owner_count, sizeof *owned);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->owner_count; i++) {
        struct vt_owned_by *by = &owned[count];
        *by = (struct vt_owned_by){.owner = &s->owners[i]};
        by->bytes = vt_owner_bytes_on(p, by->owner, device, &by->count);
        count += by->count > 0;
    }
    struct vt_owner_group *groups = vt_owner_groups(owned, count, true, group_count);
    free(owned);
    return groups;
}

/* --- a list of owners --- */

enum { ROWS_SHOWN = 10, TEXT_AT = 20 };

static void print_row(const struct vt_text *t, uint64_t bytes, uint64_t count, const char *text,
                      const char *role) {
    unsigned columns = vt_frame_text_columns(text), room = VT_TEXT_WIDTH - TEXT_AT;
    char label[64];
    snprintf(label, sizeof label, "%10s %7s", VT_BYTES(bytes), VT_NUMBER(count));
    if (role && columns + 2 + strlen(role) <= room) {
        fprintf(t->out, "%s  %s%s%s%*s\n", label, vt_text_style(t, VT_STYLE_HEAD), text,
                vt_text_style(t, VT_STYLE_NONE), (int)(room - columns), role);
        return;
    }
    char *whole = role ? vt_formatted("%s: %s", text, role) : vt_strdup(text);
    vt_text_wrap(t, label, TEXT_AT, whole);
    free(whole);
}

void vt_text_owners(const struct vt_text *t) {
    const struct vt_process *p = t->process;
    const struct vt_snapshot *s = vt_process_snapshot_shown(p);
    uint32_t count, most = t->options->top ? t->options->top : ROWS_SHOWN;
    if (!s) {
        vt_text_heading(t, VT_STYLE_HEAD, "OWNERS",
                        "unknown: nobody looked for them in this run (VRAMTRACE_SNAPSHOT)");
        return;
    }
    struct vt_owner_group *groups = make_groups(p, s, VT_UNKNOWN, &count);
    uint64_t bytes = s->unowned_bytes, blocks = s->unowned_count;
    for (uint32_t i = 0; i < count; i++) {
        bytes += groups[i].bytes;
        blocks += groups[i].count;
    }
    char *moment = vt_snapshot_moment(s);
    char *rest = vt_formatted(
        "of %s in %s block%s, %s%s%s", VT_BYTES(bytes), VT_NUMBER(blocks), vt_plural(blocks),
        !strcmp(s->why, "end") ? "as the program's code ended" : moment,
        s->passing ? "; all was freed later" : "", s->complete ? "" : "; the search was cut short");
    vt_text_heading(t, VT_STYLE_HEAD, "OWNERS", rest);
    free(rest);
    free(moment);
    fprintf(t->out, "%s%10s %7s  %-*s%s%s\n", vt_text_style(t, VT_STYLE_DIM), "held", "blocks",
            (int)(VT_TEXT_WIDTH - TEXT_AT - 4), "kept by", "role", vt_text_style(t, VT_STYLE_NONE));
    uint64_t left = 0, left_blocks = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i >= most) {
            left += groups[i].bytes;
            left_blocks += groups[i].count;
            continue;
        }
        char *text = vt_owner_text(p, &groups[i].owner, 0);
        enum vt_purpose purpose = groups[i].owner.purpose;
        print_row(t, groups[i].bytes, groups[i].count, text,
                  purpose == VT_PURPOSE_OTHER ? NULL : vt_purpose_names[purpose]);
        free(text);
    }
    if (count > most) {
        char *more = vt_formatted("%u more owner%s (--top %u shows them)", count - most,
                                  vt_plural(count - most), count);
        print_row(t, left, left_blocks, more, NULL);
        free(more);
    }
    if (s->runtime_count)
        print_row(t, s->runtime_bytes, s->runtime_count, "CUDA's libraries", NULL);
    if (s->unowned_count > s->runtime_count)
        print_row(t, s->unowned_bytes - s->runtime_bytes, s->unowned_count - s->runtime_count,
                  "no owner found", NULL);
    free(groups);
}

void vt_text_oom_owners(const struct vt_text *t, const struct vt_oom *oom, unsigned indent) {
    enum { SHOWN = 3 };
    const struct vt_snapshot *s = vt_process_snapshot_at(t->process, oom);
    uint32_t count;
    if (!s || oom->layer == VT_LAYER_HOST)
        return;
    struct vt_owner_group *groups = make_groups(t->process, s, oom->device, &count);
    for (uint32_t i = 0; i < count && i < SHOWN; i++) {
        char label[64], *text = vt_owner_text(t->process, &groups[i].owner, 0);
        enum vt_purpose purpose = groups[i].owner.purpose;
        char *whole = purpose == VT_PURPOSE_OTHER
                          ? vt_strdup(text)
                          : vt_formatted("%s: %s", text, vt_purpose_names[purpose]);
        snprintf(label, sizeof label, "%-*s%9s", (int)indent, i ? "" : "  kept by",
                 VT_BYTES(groups[i].bytes));
        vt_text_wrap(t, label, indent + 11, whole);
        free(whole);
        free(text);
    }
    free(groups);
}

/* --- what keeps a leak, or a site --- */

/* What a leak without an owner was last seen in. */
static void say_last_hop(const struct vt_text *t, const struct vt_leak *leak, unsigned indent) {
    static const char *const texts[] = {
        [VT_HOP_HOLDER] = "unknown: held by %s that no named way leads to",
        [VT_HOP_SEEN] = "unknown: a pointer to it is in %s that no named way leads to",
        [VT_HOP_SEEN_NAMED] = "unknown: a pointer to it is in %s"};
    char *text = leak->verdict != VT_VERDICT_LOST
                     ? vt_formatted(texts[leak->hop], leak->last_hop)
                     : vt_formatted("nothing: the last pointer to it is in %s%s", leak->last_hop,
                                    leak->hop == VT_HOP_SEEN_NAMED ? "" : " that nothing leads to");
    vt_text_wrap(t, "  kept by", indent, text);
    free(text);
}

/* Why nobody has seen what keeps a leak, though some of it is live where the log ends. NULL: unknown.
 * Free it. */
static char *why_unseen(const struct vt_process *p) {
    static const struct {
        const char *kind, *text;
    } ends[] = {{"signaled", "the process was killed"},
                {"exec", "the process replaced itself"},
                {"unknown", "the log ends"}};
    for (uint32_t i = 0; i < p->snapshot_count; i++)
        if (!strcmp(p->snapshots[i].why, "end"))
            return vt_strdup("it was allocated after owners were looked for");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!strcmp(p->exit_kind, ends[i].kind))
            return vt_formatted("%s before owners were looked for; a snapshot in a phase "
                                "(VRAMTRACE_SNAPSHOT=phase:NAME) comes earlier",
                                ends[i].text);
    if (!strcmp(p->exit_kind, "running"))
        return vt_formatted("owners were not looked for yet: `vramtrace snapshot %u` does", p->pid);
    return p->snapshot_count ? vt_strdup("owners were not looked for at the end; "
                                         "VRAMTRACE_SNAPSHOT=end does")
                             : NULL; /* a version that looks for no owners, perhaps */
}

/* Why nothing is known of what keeps a leak. */
static void say_unknown(const struct vt_text *t, const struct vt_leak *leak, unsigned indent) {
    uint64_t unowned = 0, live = 0;
    bool seen = false;
    for (uint32_t i = 0; i < leak->site_count; i++) {
        const struct vt_site *site = &t->process->sites[leak->sites[i]];
        unowned += site->unowned_bytes;
        live += site->live_count;
        seen |= site->reachable == 1;
    }
    if (unowned && leak->last_hop) {
        say_last_hop(t, leak, indent);
        return;
    }
    if (leak->verdict == VT_VERDICT_LOST || (!live && !t->process->snapshot_count))
        return;
    char *why = unowned ? vt_strdup(seen ? "a pointer to it is left, in memory that no named "
                                           "variable leads to"
                                         : "no variable was found from which a named way leads to "
                                           "it")
                : live  ? why_unseen(t->process)
                        : vt_strdup("it was freed before owners were looked for; a snapshot in a "
                                     "phase (VRAMTRACE_SNAPSHOT=phase:NAME) comes earlier");
    char *text = why ? vt_formatted("unknown: %s", why) : NULL;
    if (text)
        vt_text_wrap(t, "  kept by", indent, text);
    free(text);
    free(why);
}

static bool is_of_leak(const struct vt_leak *leak, uint32_t site) {
    for (uint32_t i = 0; i < leak->site_count; i++)
        if (leak->sites[i] == site)
            return true;
    return false;
}

/* How many others hold a good part of what the leak's keepers own. */
static uint32_t count_others(const struct vt_process *p, const struct vt_leak *leak) {
    const struct vt_snapshot *s = leak->kept_count ? leak->kept->seen : NULL;
    struct vt_map holders = {0};
    uint32_t count = 0;
    s = s ? s : vt_process_snapshot(p);
    for (uint32_t i = 0; s && i < s->owner_count; i++) {
        const struct vt_memory_owner *o = &s->owners[i];
        uint64_t bytes = 0;
        bool known = vt_map_get(&holders, o->holder_id) != VT_MAP_NONE;
        for (uint32_t k = 0; k < leak->kept_count; k++)
            known |= vt_owner_group_has(&leak->kept[k], o);
        for (uint32_t k = 0; k < o->other_count; k++)
            bytes += is_of_leak(leak, o->others[k].site) ? o->others[k].bytes : 0;
        if (!bytes || bytes < leak->kept->bytes / 10 || known)
            continue;
        vt_map_put(&holders, o->holder_id, 0);
        count++;
    }
    vt_map_free(&holders);
    return count;
}

static void say_others(const struct vt_text *t, const struct vt_leak *leak, unsigned indent) {
    uint32_t count = leak->kept_count ? count_others(t->process, leak) : 0;
    if (!count)
        return;
    char *text =
        vt_formatted("%u other%s hold%s it, too: --site %.*s", count, vt_plural(count),
                     count == 1 ? "s" : "", (int)t->digits, t->process->sites[leak->sites[0]].name);
    vt_text_wrap(t, "", indent, text);
    free(text);
}

void vt_text_kept(const struct vt_text *t, const struct vt_leak *leak, unsigned indent) {
    const struct vt_snapshot *seen = NULL;
    bool still = false, lost = leak->verdict == VT_VERDICT_LOST;
    if (!leak->kept_count || lost)
        say_unknown(t, leak, indent);
    for (uint32_t i = 0; i < leak->kept_count; i++) {
        const struct vt_owner_group *kept = &leak->kept[i];
        char *text = vt_owner_text(t->process, &kept->owner, kept->count);
        char *chain = vt_owner_chain(&kept->owner);
        vt_text_wrap(t, i ? "   and by" : lost ? "  rest kept by" : "  kept by", indent, text);
        if (chain) {
            char *line = vt_formatted("%s%s", kept->holders > 1 ? "such as " : "", chain);
            vt_text_wrap(t, "", indent, line);
            free(line);
        }
        free(text);
        free(chain);
        seen = kept->seen && (!seen || kept->seen->at > seen->at) ? kept->seen : seen;
        still |= kept->still;
    }
    say_others(t, leak, indent);
    /* a process that was killed has no snapshot of its end: some of the blocks may be younger */
    const struct vt_snapshot *last = vt_process_snapshot(t->process);
    if (!seen && leak->kept_count && last && strcmp(last->why, "end") != 0 &&
        strcmp(t->process->exit_kind, "running") != 0) {
        seen = last;
        still = true;
    }
    if (seen) {
        char *moment = vt_snapshot_moment(seen);
        char *text = vt_formatted("seen %s%s", moment, still ? "" : "; freed later");
        vt_text_wrap(t, "", indent, text);
        free(text);
        free(moment);
    }
}

/* A holder of a site's blocks in its list. */
static void print_holder(const struct vt_text *t, const char *label, uint64_t bytes,
                         const struct vt_memory_owner *owner) {
    enum { AT = 19 };
    char head[64], *text = vt_owner_text(t->process, owner, 0), *chain = vt_owner_chain(owner);
    snprintf(head, sizeof head, "  %-*s%s", AT - 2, label, VT_BYTES(bytes));
    vt_text_wrap(t, head, AT + 10, text);
    if (chain)
        vt_text_wrap(t, "", AT + 10, chain);
    free(text);
    free(chain);
}

void vt_text_site_owners(const struct vt_text *t, const struct vt_site *site) {
    enum { SHOWN = 10 };
    const struct vt_process *p = t->process;
    const struct vt_snapshot *s = vt_process_snapshot(p);
    uint32_t index = (uint32_t)(site - p->sites), shown = 0, most = t->options->top;
    most = most ? most : SHOWN;
    for (uint32_t i = 0; i < site->owned.count && i < most; i++)
        print_holder(t, i ? "" : "kept by", site->owned.owners[i].bytes,
                     site->owned.owners[i].owner);
    if (site->owned.count && site->owned.owners[0].seen) {
        s = site->owned.owners[0].seen;
        char *moment = vt_snapshot_moment(s);
        fprintf(t->out, "%29sseen %s%s\n", "", moment,
                site->owned.owners[0].still ? "" : "; freed later");
        free(moment);
    }
    if (site->last_hop) {
        char *text =
            vt_formatted("%s%s", site->last_hop,
                         site->hop == VT_HOP_SEEN_NAMED ? "" : " that no named way leads to");
        vt_text_wrap(t, "  also seen in", 29, text);
        free(text);
    }
    for (uint32_t i = 0; s && i < s->owner_count && shown < most; i++)
        for (uint32_t k = 0; k < s->owners[i].other_count; k++)
            if (s->owners[i].others[k].site == index)
                print_holder(t, shown++ ? "" : "held too by", s->owners[i].others[k].bytes,
                             &s->owners[i]);
}
