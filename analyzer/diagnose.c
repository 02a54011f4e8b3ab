/* SPDX-License-Identifier: MIT */
/*
 * Verdicts: what became of each site's memory, with the evidence in one sentence, and which sites
 * are one leak.
 *
 * Of the contract's verdicts three are told apart so far: `freed`, `unfreed`, and by the exit scan
 * `lost`. Whether it grew (`growing`), and who else may hold it (`cache`, `runtime`) needs more.
 */
#include "diagnose.h"

#include <stdlib.h>
#include <string.h>

const char *const vt_verdict_names[VT_VERDICTS] = {
    [VT_VERDICT_LOST] = "lost",       [VT_VERDICT_GROWING] = "growing",
    [VT_VERDICT_UNFREED] = "unfreed", [VT_VERDICT_CACHE] = "cache",
    [VT_VERDICT_RUNTIME] = "runtime", [VT_VERDICT_FREED] = "freed",
};

/* What the end of the books is: in a sentence after "live". */
static const char *the_end(const struct vt_process *p) {
    if (p->window_until != VT_UNKNOWN)
        return "when the window ends";
    if (!strcmp(p->exit_kind, "running"))
        return "when the log was read; the process was still running";
    if (!strcmp(p->exit_kind, "unknown"))
        return "where the log ends; it does not say how the process did";
    if (!strcmp(p->exit_kind, "signaled"))
        return "when the process was killed";
    if (!strcmp(p->exit_kind, "exec"))
        return "when the process replaced itself";
    return "when the process ended";
}

/* A framework's blocks, and physical memory by its handles, are not looked for. */
static bool looked_for(const struct vt_process *p, const struct vt_site *site) {
    return p->scan_bytes != VT_UNKNOWN && site->live_count && !site->before &&
           site->layer != VT_LAYER_FRAMEWORK;
}

static void say_lost(const struct vt_process *p, const struct vt_site *site,
                     struct vt_string *why) {
    char lost[VT_FORMAT_BYTES], live[VT_FORMAT_BYTES], bytes[VT_FORMAT_BYTES];
    vt_format_bytes(p->scan_bytes, bytes);
    if (site->live_count == 1)
        vt_string_add(why, "no pointer to it");
    else if (site->lost_count == site->live_count)
        vt_string_format(why, "no pointer to any of its %s live allocations",
                         vt_format_count(site->live_count, live));
    else
        vt_string_format(why, "no pointer to %s of its %s live allocations",
                         vt_format_count(site->lost_count, lost),
                         vt_format_count(site->live_count, live));
    vt_string_format(why, " was left in the process's memory (%s looked through in %llu ms)", bytes,
                     (unsigned long long)((p->scan_ns + 999999) / 1000000));
}

static void judge(const struct vt_process *p, struct vt_site *site) {
    struct vt_string why = {0};
    char live[VT_FORMAT_BYTES], all[VT_FORMAT_BYTES];
    site->reachable = -1;
    site->verdict = site->live_count ? VT_VERDICT_UNFREED : VT_VERDICT_FREED;
    vt_format_count(site->live_count, live);
    vt_format_count(site->alloc_count, all);
    if (looked_for(p, site)) {
        site->reachable = site->lost_count == 0;
        if (site->lost_count)
            site->verdict = VT_VERDICT_LOST;
    }
    if (site->verdict == VT_VERDICT_LOST)
        say_lost(p, site, &why);
    else if (site->before)
        vt_string_format(&why, "allocated before the window; %s of it live %s",
                         site->live_count ? live : "nothing", the_end(p));
    else if (site->live_count && site->alloc_count == 1)
        vt_string_format(&why, "its one allocation was live %s", the_end(p));
    else if (site->live_count == site->alloc_count && site->live_count)
        vt_string_format(&why, "all of its %s allocations were live %s", all, the_end(p));
    else if (site->live_count)
        vt_string_format(&why, "%s of its %s allocations were live %s", live, all, the_end(p));
    else if (site->alloc_count == 1)
        vt_string_add(&why, "its one allocation was freed");
    else
        vt_string_format(&why, "all of its %s allocations were freed", all);
    site->why = why.text;
}

/* `unfreed` fails the gate only where there is no Python: its interpreter leaves objects to the end
 * of the process. */
static bool fails(const struct vt_process *p, const struct vt_site *site) {
    return site->verdict == VT_VERDICT_LOST || site->verdict == VT_VERDICT_GROWING ||
           (site->verdict == VT_VERDICT_UNFREED && !p->python);
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_place(const struct vt_stack *a, const struct vt_stack *b) {
    const struct vt_frame *x = vt_stack_main_frame(a), *y = vt_stack_main_frame(b);
    if (!x || !y)
        return x == y;
    if (x->line || y->line)
        return x->line == y->line && same_text(x->file, y->file) &&
               same_text(x->function, y->function);
    return x->offset == y->offset && same_text(x->module, y->module);
}

static int compare_leaks(const void *a, const void *b) {
    const struct vt_leak *x = a, *y = b;
    if (x->verdict != y->verdict)
        return x->verdict < y->verdict ? -1 : 1;
    return x->live_bytes < y->live_bytes ? 1 : -(x->live_bytes > y->live_bytes);
}

/* Sites come sorted, the largest first: so the first of a leak is its largest. Many places and many
 * sites meet here, so the leak of a place is found through a map of its hash. */
static void gather(struct vt_process *p) {
    struct vt_map places = {0};
    uint32_t *next_in_leak = vt_alloc(p->site_count, sizeof *next_in_leak);
    uint32_t *last_of = vt_alloc(p->site_count, sizeof *last_of);
    uint32_t *first_of = vt_alloc(p->site_count, sizeof *first_of);
    p->leaks = vt_alloc(p->site_count, sizeof *p->leaks);
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *site = &p->sites[i];
        const struct vt_frame *f = vt_stack_main_frame(site->stack);
        next_in_leak[i] = VT_NO_SITE;
        if (!fails(p, site))
            continue;
        uint64_t key = site->verdict;
        if (f) {
            const char *where = f->line ? f->file : f->module;
            key = vt_hash_bytes(key + (f->line ? f->line : f->offset), where ? where : "",
                                where ? strlen(where) : 0);
        }
        uint32_t leak = vt_map_get(&places, key);
        if (leak == VT_MAP_NONE || !same_place(p->leaks[leak].stack, site->stack)) {
            leak = p->leak_count++;
            p->leaks[leak] = (struct vt_leak){.verdict = site->verdict, .stack = site->stack};
            vt_map_put(&places, key, leak);
            first_of[leak] = i;
        } else {
            next_in_leak[last_of[leak]] = i;
        }
        last_of[leak] = i;
        p->leaks[leak].live_bytes += site->live_bytes;
        p->leaks[leak].live_count += site->live_count;
        p->leaks[leak].site_count++;
    }
    for (uint32_t i = 0; i < p->leak_count; i++) {
        struct vt_leak *leak = &p->leaks[i];
        uint32_t *sites = vt_alloc(leak->site_count, sizeof *sites), n = 0;
        uint64_t allocations = 0, lost = 0;
        for (uint32_t site = first_of[i]; site != VT_NO_SITE; site = next_in_leak[site]) {
            sites[n++] = site;
            allocations += p->sites[site].alloc_count;
            lost += p->sites[site].lost_count;
        }
        leak->sites = sites;
        if (n == 1) {
            leak->why = vt_strdup(p->sites[sites[0]].why);
        } else {
            char live[VT_FORMAT_BYTES], all[VT_FORMAT_BYTES];
            struct vt_string why = {0};
            if (leak->verdict == VT_VERDICT_LOST)
                vt_string_format(&why,
                                 "no pointer to %s of its %s live allocations, from %u call sites, "
                                 "was left in the process's memory",
                                 vt_format_count(lost, all),
                                 vt_format_count(leak->live_count, live), n);
            else
                vt_string_format(&why, "%s of its %s allocations, from %u call sites, were live %s",
                                 vt_format_count(leak->live_count, live),
                                 vt_format_count(allocations, all), n, the_end(p));
            leak->why = why.text;
        }
    }
    if (p->leak_count)
        qsort(p->leaks, p->leak_count, sizeof *p->leaks, compare_leaks);
    free(next_in_leak);
    free(last_of);
    free(first_of);
    vt_map_free(&places);
}

void vt_diagnose_sites(struct vt_process *p) {
    for (uint32_t i = 0; i < p->site_count; i++)
        judge(p, &p->sites[i]);
    gather(p);
}
