/* SPDX-License-Identifier: MIT */
/*
 * Notes on records that the replay could not explain or had to skip (see build_process.h).
 */
#include "build_process.h"

static void note_missed(struct vt_process *p) {
    for (uint32_t i = 0; i < p->missed_count; i++) {
        const struct vt_missed_snapshots *m = &p->missed[i];
        bool room = m->reason == VT_MISSED_NO_ROOM && m->needed_bytes != VT_UNKNOWN;
        VT_SCOPED char *figures =
            room ? vt_formatted(" (it may take %s, %s are left)", VT_BYTES(m->needed_bytes),
                                VT_BYTES(m->room_bytes))
                 : vt_strdup("");
        vt_model_note(p, "%u snapshot%s not taken (%s): %s%s.", m->count, vt_plural(m->count),
                      vt_snapshot_why_names[m->why], vt_missed_texts[m->reason], figures);
    }
}

/* Whether PyTorch allocated memory, but reports its blocks by functions unknown to the tracer. */
static bool torch_is_mute(const struct vt_replay *r, const struct vt_process *p) {
    const char *listens = vt_process_variable(p, "VRAMTRACE_FRAMEWORK");
    if (listens && !strcmp(listens, "off"))
        return false;
    for (size_t i = 0; i < p->site_count && !r->segments; i++)
        if (p->sites[i].class == VT_CLASS_CACHE && p->sites[i].class_name &&
            !strcmp(p->sites[i].class_name, "PyTorch"))
            return true;
    return false;
}

void vt_build_notes(const struct vt_replay *r, bool since, struct vt_process *p) {
    note_missed(p);
    if (r->unknown_frees && !since)
        vt_model_note(p, "%s free%s had no matching allocation in the log.",
                      VT_NUMBER(r->unknown_frees), vt_plural(r->unknown_frees));
    if (r->replaced)
        vt_model_note(
            p,
            "%s allocation%s reused addresses that were still live: earlier frees were not seen.",
            VT_NUMBER(r->replaced), vt_plural(r->replaced));
    if (r->strays)
        vt_model_note(p,
                      "%s block%s of a caching allocator lie%s outside all recorded driver memory: "
                      "their bytes are counted, their segments are unknown.",
                      VT_NUMBER(r->strays), vt_plural(r->strays), r->strays == 1 ? "s" : "");
    if (r->lost_blocks)
        vt_model_note(p,
                      "%s block%s of a caching allocator %s live when %s freed: counted as freed "
                      "with it.",
                      VT_NUMBER(r->lost_blocks), vt_plural(r->lost_blocks),
                      r->lost_blocks == 1 ? "was" : "were",
                      r->lost_blocks == 1 ? "its segment was" : "their segments were");
    if (torch_is_mute(r, p))
        vt_model_note(p, "PyTorch: this version reports its blocks in a way that the tracer does "
                         "not know; only its segments are recorded.");
    for (unsigned d = 0; d < 256; d++)
        if (r->devices[d].mismatch_count)
            vt_model_note(p,
                          "PyTorch's own totals for %s disagreed with the log %s time%s; at "
                          "the end PyTorch reported %llu allocated bytes, the log %llu.",
                          VT_GPU(d), VT_NUMBER(r->devices[d].mismatch_count),
                          vt_plural(r->devices[d].mismatch_count),
                          (unsigned long long)r->devices[d].reported_allocated,
                          (unsigned long long)r->devices[d].blocks_bytes);
    if (r->evicted_sites)
        vt_model_note(p,
                      "%s rare call site%s without live memory %s counted as \"other call sites\": "
                      "the log's summary had no space for more.",
                      VT_NUMBER(r->evicted_sites), vt_plural(r->evicted_sites),
                      r->evicted_sites == 1 ? "is" : "are");
    vt_log_misses(&p->quality, r->behind_bound, !p->quality.missing_live, true);
    if (r->behind_bound)
        vt_model_note(p,
                      "%s event%s recorded after that by threads whose part of the log still had "
                      "space: also excluded.",
                      VT_NUMBER(r->behind_bound), r->behind_bound == 1 ? " was" : "s were");
    if (r->late_events)
        vt_model_note(p, "%s event%s read after later ones, and counted at their time.",
                      VT_NUMBER(r->late_events), r->late_events == 1 ? " was" : "s were");
    if (r->failed_frees)
        vt_model_note(p, "%s free%s refused by the driver.", VT_NUMBER(r->failed_frees),
                      r->failed_frees == 1 ? " was" : "s were");
}
