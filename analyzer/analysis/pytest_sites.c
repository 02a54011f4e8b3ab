/* SPDX-License-Identifier: MIT */
/*
 * The pytest plugin's findings (replay/pytest_marks.h): memory that a test left behind, and memory held by a fixture of
 * a wider scope. A site whose test failed grows: its iterations are the test's rounds. A site is inconclusive if a test
 * left too little of it. Called by analysis.c between growth and verdicts.
 */
#include "steps.h"

#include <stdlib.h>
#include <string.h>

static struct vt_tested *tested(struct vt_site *site) {
    if (!site->tested)
        site->tested = vt_alloc(1, sizeof *site->tested);
    return site->tested;
}

/* Counts the named blocks that are still live. */
void vt_tests_find_blocks(const struct vt_sources *from, struct vt_process *p) {
    const struct vt_replay *r = from->replay;
    struct vt_map models = {0}; /* pairs of a site and a model, each once */
    for (uint32_t i = 0; i < r->pytest.block_count; i++) {
        const struct vt_pytest_block *b = &r->pytest.blocks[i];
        const struct vt_pytest_holder *holder = &r->pytest.holders[b->holder];
        const struct vt_address *entry = vt_addresses_find(&r->live, b->key);
        if (vt_map_get(&r->pytest.by_key, b->key) != i || !entry ||
            vt_replay_site_index(r, entry) != b->site || entry->allocated_at != b->allocated_at ||
            from->index[b->site] == VT_NO_SITE)
            continue;
        struct vt_site *site = &p->sites[from->index[b->site]];
        if (site->class != VT_CLASS_PROGRAM)
            continue; /* the first caller also creates caches and workspaces */
        struct vt_tested *t = tested(site);
        uint64_t bytes = entry->size;
        if (holder->model) {
            t->models += vt_map_add_key(&models, (uint64_t)b->site << 32 | b->holder);
            t->models_bytes += bytes;
            t->models_count++;
            continue;
        }
        t->fixture_bytes += bytes;
        t->fixture_count++;
        if (!t->fixture) {
            t->fixture = vt_strdup(holder->name);
            t->scope = vt_strdup(holder->scope);
        }
    }
    vt_map_free(&models);
}

static bool is_worse(const struct vt_pytest_left *left, const struct vt_tested *than) {
    if (!than->test || left->fails != than->fails)
        return !than->test || left->fails;
    return left->bytes > than->left_bytes;
}

static void set_left(const struct vt_pytest_marks *marks, struct vt_process *p) {
    struct vt_map by_id = {0};
    for (uint32_t i = 0; i < p->site_count && marks->left_count; i++)
        vt_map_put(&by_id, p->sites[i].id, i);
    for (uint32_t i = 0; i < marks->left_count; i++) {
        const struct vt_pytest_left *left = &marks->left[i];
        uint32_t at = vt_map_get(&by_id, left->site);
        if (at == VT_MAP_NONE)
            continue;
        struct vt_tested *t = tested(&p->sites[at]);
        t->tests += !t->test || strcmp(t->test, left->test) != 0; /* a test may run again */
        if (!is_worse(left, t))
            continue;
        free(t->test);
        t->test = vt_strdup(left->test);
        t->fails = left->fails;
        t->per = left->per;
        t->rounds = left->rounds;
        t->left_bytes = left->bytes;
        t->left_count = left->blocks;
    }
    vt_map_free(&by_id);
}

/* Marks a site whose test failed as growing. */
static void grow(struct vt_site *site) {
    const struct vt_tested *t = site->tested;
    if (site->held_count < t->left_count) { /* memory was freed later, but the test had failed */
        site->held_bytes = t->left_bytes;
        site->held_count = t->left_count;
    }
    if (!site->growth)
        site->growth = vt_growth_of_test(t, site);
}

void vt_tests_find_left(const struct vt_sources *from, struct vt_process *p) {
    set_left(&from->replay->pytest, p);
    for (uint32_t i = 0; i < p->site_count; i++) {
        struct vt_site *site = &p->sites[i];
        if (!site->tested || !site->tested->test)
            continue;
        if (site->tested->fails)
            grow(site);
        else
            site->inconclusive = !site->growth && site->held_count > site->tested->fixture_count
                                     ? VT_RULE_TOO_FEW
                                     : VT_RULE_NONE;
    }
}
