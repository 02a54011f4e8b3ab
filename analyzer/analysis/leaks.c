/* SPDX-License-Identifier: MIT */
/*
 * Groups failing sites into leaks, so that one mistake is one finding, and orders them. Sites belong together if they
 * have the same user frame, reached by different paths; if one owner holds them (owners.c); or if they rise together and
 * have more in common (in_step.c). verdicts.c decides which sites fail. analysis.c calls.
 */
#include "steps.h"

#include <stdlib.h>

/* --- grouping --- */

/* Sites come by size, so the first site of a leak is its largest. */
struct gathering {
    struct vt_process *p;
    uint32_t *next_in_leak, *last_of, *first_of; /* sites of a leak, chained */
    struct vt_map by_line;                       /* class, verdict and line -> leak */
    struct vt_map by_owner;                      /* class, verdict and owner -> leak */
    const struct vt_courses *courses;
};

static void add_site(struct gathering *g, uint32_t leak, uint32_t i) {
    struct vt_leak *l = &g->p->leaks[leak];
    const struct vt_site *site = &g->p->sites[i];
    if (l->site_count)
        g->next_in_leak[g->last_of[leak]] = i;
    else
        g->first_of[leak] = i;
    g->last_of[leak] = i;
    vt_site_figures_add(&l->figures, &site->figures);
    l->site_count++;
    const struct vt_growth *growth = site->growth ? site->growth : site->suspected;
    if (growth)
        l->growth = vt_growth_sum(l->growth, growth);
}

/* Whether the same test failed for both, after as many rounds. */
static bool same_test(const struct vt_tested *a, const struct vt_tested *b) {
    return a && b && a->fails && b->fails && a->rounds == b->rounds &&
           vt_same_text(a->test, b->test);
}

/* Whether a leak grows together with a site. Asks the largest of its sites. */
static bool grows_with(const struct gathering *g, uint32_t leak, uint32_t i) {
    enum { ASKED = 8 };
    const struct vt_process *p = g->p;
    uint32_t asked = 0;
    for (uint32_t j = g->first_of[leak]; j != VT_NO_SITE && asked < ASKED; j = g->next_in_leak[j]) {
        const struct vt_site *other = &p->sites[j], *site = &p->sites[i];
        asked++;
        if (other->growth &&
            (vt_in_step_one(p, g->courses, j, i) ||
             (same_test(other->tested, site->tested) && other->layer == site->layer &&
              other->device == site->device && vt_in_step(g->courses, j, i))))
            return true;
    }
    return false;
}

/* A leak that grows together with this site. Asks only the first, because a process can have
 * thousands of leaks. */
static uint32_t find_partner(const struct gathering *g, uint32_t i) {
    enum { ASKED = 256 };
    for (uint32_t leak = 0; leak < g->p->leak_count && leak < ASKED; leak++)
        if (g->p->leaks[leak].verdict == g->p->sites[i].verdict &&
            g->p->sites[g->first_of[leak]].class == g->p->sites[i].class && grows_with(g, leak, i))
            return leak;
    return VT_MAP_NONE;
}

static void gather_site(struct gathering *g, uint32_t i) {
    struct vt_process *p = g->p;
    const struct vt_site *site = &p->sites[i];
    uint64_t line = site->growth || site->suspected ? vt_site_growth_line(site) : site->stack->line;
    /* a CUDA library's site is a leak of its own, whatever it shares with the program's */
    uint64_t kind = site->class * VT_VERDICTS + site->verdict;
    uint64_t key = line * VT_CLASSES * VT_VERDICTS + kind;
    uint32_t leak = vt_map_get(&g->by_line, key), owner = vt_owners_main_container(site);
    uint64_t owner_key = (uint64_t)owner * VT_CLASSES * VT_VERDICTS + kind;
    if (leak == VT_MAP_NONE && owner != VT_MAP_NONE)
        leak = vt_map_get(&g->by_owner, owner_key);
    if (leak == VT_MAP_NONE && site->growth)
        leak = find_partner(g, i);
    if (leak == VT_MAP_NONE) {
        leak = p->leak_count++;
        p->leaks[leak] = (struct vt_leak){
            .verdict = site->verdict, .figures = vt_site_no_figures, .stack = site->stack};
    }
    vt_map_add(&g->by_line, key, leak);
    if (owner != VT_MAP_NONE)
        vt_map_add(&g->by_owner, owner_key, leak);
    add_site(g, leak, i);
}

/* --- order --- */

/* The bytes that rank a leak or a site: those held when memory ran out, if more than at the last allocation. (Sites
 * freed at exit have nothing live.) */
static uint64_t rank(uint64_t at_oom, uint64_t held) {
    return at_oom != VT_UNKNOWN && at_oom > held ? at_oom : held;
}

/* The largest first; `unfreed` after the others, as such memory may be meant to live to the end; suspects last. */
static int compare_leaks(const void *a, const void *b) {
    const struct vt_leak *x = a, *y = b;
    return VT_ORDER({x->verdict == VT_VERDICT_SUSPECT, y->verdict == VT_VERDICT_SUSPECT},
                    {x->verdict == VT_VERDICT_UNFREED, y->verdict == VT_VERDICT_UNFREED},
                    {rank(y->bytes_at_oom, y->held_bytes), rank(x->bytes_at_oom, x->held_bytes)},
                    {x->verdict, y->verdict}, {x->sites[0], y->sites[0]});
}

static int compare_sites(const void *a, const void *b) {
    const struct vt_site *x = *(const struct vt_site *const *)a;
    const struct vt_site *y = *(const struct vt_site *const *)b;
    return VT_ORDER({rank(y->bytes_at_oom, y->held_bytes), rank(x->bytes_at_oom, x->held_bytes)},
                    {(uintptr_t)x, (uintptr_t)y});
}

void vt_leaks_gather(const struct vt_courses *courses, struct vt_process *p) {
    struct gathering g = {.p = p, .courses = courses};
    VT_SCOPED const struct vt_site **order = vt_alloc(p->site_count, sizeof *order);
    uint32_t count = 0;
    g.next_in_leak = vt_alloc(p->site_count, sizeof *g.next_in_leak);
    g.last_of = vt_alloc(p->site_count, sizeof *g.last_of);
    g.first_of = vt_alloc(p->site_count, sizeof *g.first_of);
    p->leaks = vt_alloc(p->site_count, sizeof *p->leaks);
    for (uint32_t i = 0; i < p->site_count; i++) {
        g.next_in_leak[i] = VT_NO_SITE;
        const struct vt_site *site = &p->sites[i]; /* leaks are what the gate fails by default */
        if (!site->before && !site->library_own &&
            (site->verdict == VT_VERDICT_SUSPECT || vt_site_fails(p, site, NULL)))
            order[count++] = site;
    }
    vt_sort(order, count, sizeof *order, compare_sites);
    for (uint32_t i = 0; i < count; i++)
        gather_site(&g, (uint32_t)(order[i] - p->sites));
    for (uint32_t i = 0; i < p->leak_count; i++) {
        struct vt_leak *leak = &p->leaks[i];
        uint32_t *sites = vt_alloc(leak->site_count, sizeof *sites), n = 0;
        for (uint32_t site = g.first_of[i]; site != VT_NO_SITE; site = g.next_in_leak[site])
            sites[n++] = site;
        leak->sites = sites;
    }
    vt_sort(p->leaks, p->leak_count, sizeof *p->leaks, compare_leaks);
    p->found_count = p->leak_count;
    while (p->leak_count && p->leaks[p->leak_count - 1].verdict == VT_VERDICT_SUSPECT) {
        p->leak_count--;
        p->suspect_count++;
    }
    free(g.next_in_leak);
    free(g.last_of);
    free(g.first_of);
    vt_map_free(&g.by_line);
    vt_map_free(&g.by_owner);
}
