/* SPDX-License-Identifier: MIT */
/*
 * Handles the pytest plugin's marks (see pytest_marks.h). Called by replay.c for each mark.
 */
#include "pytest_marks.h"

#include "replay.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX "vramtrace:"

bool vt_pytest_is(const char *name) {
    return !strncmp(name, PREFIX, strlen(PREFIX));
}

static uint32_t holder_of(struct vt_pytest_marks *t, const char *scope, const char *name) {
    uint64_t key = vt_hash_bytes(vt_hash_bytes(0, scope, strlen(scope)), name, strlen(name));
    uint32_t holder = vt_map_add(&t->by_name, key, t->holder_count);
    if (holder == t->holder_count)
        *VT_ADD(t->holders, t->holder_count, t->holder_room) = (struct vt_pytest_holder){
            .scope = vt_strdup(scope), .name = vt_strdup(name), .model = !strcmp(scope, "model")};
    return holder;
}

static bool is_same(const struct vt_replay *r, const struct vt_pytest_block *block,
                    const struct vt_address *entry) {
    return vt_replay_site_index(r, entry) == block->site &&
           entry->allocated_at == block->allocated_at;
}

/* A fixture's block remains the fixture's, even if a mark names a model as its owner. */
static void tag(struct vt_replay *r, const struct vt_address *entry, uint32_t holder) {
    struct vt_pytest_marks *t = &r->pytest;
    uint32_t known = vt_map_get(&t->by_key, entry->key);
    if (known != VT_MAP_NONE && is_same(r, &t->blocks[known], entry)) {
        if (t->holders[t->blocks[known].holder].model)
            t->blocks[known].holder = holder;
        return;
    }
    vt_map_put(&t->by_key, entry->key, t->block_count);
    *VT_ADD(t->blocks, t->block_count, t->block_room) = (struct vt_pytest_block){
        entry->key, vt_replay_site_index(r, entry), entry->allocated_at, holder};
}

static void on_made(struct vt_walk *w, const char *scope, const char *name) {
    struct vt_pytest_marks *t = &w->r->pytest;
    /* A set-up with the process's first CUDA call began before the log existed. */
    uint64_t began = t->depth ? t->began[--t->depth] : 0;
    uint32_t holder = holder_of(t, scope, name), since = (uint32_t)(began >> w->age_shift);
    const struct vt_address *entry;
    if (t->made++ >= VT_TOLD_MADE)
        return;
    for (size_t at = 0; (entry = vt_addresses_next(&w->r->live, &at));) {
        if (entry->allocated_at < since)
            continue;
        uint32_t known = vt_map_get(&t->by_key, entry->key);
        if (known == VT_MAP_NONE || !is_same(w->r, &t->blocks[known], entry))
            tag(w->r, entry, holder);
    }
}

static void on_held(struct vt_walk *w, const char *scope, const char *name, const char *addresses) {
    uint32_t holder = holder_of(&w->r->pytest, scope, name);
    for (const char *at = addresses; *at;) {
        char *end;
        uint64_t address = strtoull(at, &end, 16);
        if (end == at)
            return;
        for (unsigned space = 0; space < VT_SPACES; space++) {
            const struct vt_address *entry =
                vt_addresses_find(&w->r->live, vt_address_key(address, space));
            if (entry)
                tag(w->r, entry, holder);
        }
        at = *end == ',' ? end + 1 : end;
    }
}

/* Values of vt_pytest_left.per. */
static const char *const pers[] = {"round", "test", "parameter"};

static void on_left(struct vt_pytest_marks *t, const char *text) {
    struct vt_pytest_left left = {.per = pers[0]};
    char verdict[8];
    unsigned long long bytes, blocks, site;
    int at = 0;
    if (sscanf(text, "%7s %u %llu %llu %llx %n", verdict, &left.rounds, &bytes, &blocks, &site,
               &at) != 5 ||
        !at || !left.rounds || !blocks)
        return;
    left.fails = strcmp(verdict, "short") != 0;
    if (!strcmp(verdict, "test") || !strcmp(verdict, "param"))
        left.per = pers[*verdict == 't' ? 1 : 2];
    left.bytes = bytes;
    left.blocks = blocks;
    left.site = site;
    left.test = vt_printable(vt_strdup(text + at));
    *VT_ADD(t->left, t->left_count, t->left_room) = left;
}

void vt_pytest_apply(struct vt_walk *w, const char *name) {
    struct vt_pytest_marks *t = &w->r->pytest;
    const char *text = name + strlen(PREFIX);
    char scope[32], holder[VT_NAME_MAX_BYTES + 1];
    int at = 0;
    t->any = true;
    if (!strcmp(text, "setup")) {
        if (t->depth < VT_TOLD_DEPTH)
            t->began[t->depth++] = w->now;
    } else if (sscanf(text, "made %31s %200s", scope, holder) == 2) {
        on_made(w, scope, vt_printable(holder));
    } else if (sscanf(text, "held %31s %200s %n", scope, holder, &at) == 2 && at) {
        on_held(w, scope, vt_printable(holder), text + at);
    } else if (!strncmp(text, "left ", 5)) {
        on_left(t, text + 5);
    } else if (!strcmp(text, "tests") && w->history) {
        vt_history_corrected(w->history); /* the tests, not the exit, made the frees so far */
    }
}

void vt_pytest_free(struct vt_pytest_marks *t) {
    for (uint32_t i = 0; i < t->holder_count; i++) {
        free(t->holders[i].scope);
        free(t->holders[i].name);
    }
    for (uint32_t i = 0; i < t->left_count; i++)
        free(t->left[i].test);
    free(t->blocks);
    free(t->holders);
    free(t->left);
    vt_map_free(&t->by_key);
    vt_map_free(&t->by_name);
    *t = (struct vt_pytest_marks){0};
}

/* --- saving and loading --- */

static void state_left(struct vt_pytest_left *left, struct vt_state *s) {
    uint32_t per = 0;
    while (!s->loading && left->per != pers[per])
        per++;
    VT_STATE(s, left->site);
    VT_STATE(s, left->bytes);
    VT_STATE(s, left->blocks);
    VT_STATE(s, per);
    VT_STATE(s, left->rounds);
    vt_state_bool(s, &left->fails);
    vt_state_text(s, &left->test);
    vt_state_expect(s, left->test, "a test's name");
    if (vt_state_within(s, per, sizeof pers / sizeof *pers, "units of iteration"))
        left->per = pers[per];
}

void vt_pytest_state(struct vt_pytest_marks *t, struct vt_state *s) {
    VT_STATE_SECTION(s, "pytest", struct vt_pytest_block);
    VT_STATE_ARRAY(s, t->blocks, t->block_count, t->block_room);
    VT_STATE_ROWS(s, t->holders, t->holder_count, t->holder_room);
    for (uint32_t i = 0; i < t->holder_count; i++) {
        vt_state_text(s, &t->holders[i].scope);
        vt_state_text(s, &t->holders[i].name);
        vt_state_bool(s, &t->holders[i].model);
        vt_state_expect(s, t->holders[i].scope && t->holders[i].name, "a holder's name");
    }
    VT_STATE_ROWS(s, t->left, t->left_count, t->left_room);
    for (uint32_t i = 0; i < t->left_count; i++)
        state_left(&t->left[i], s);
    vt_state_bool(s, &t->any);
    vt_state_map(s, &t->by_key, t->block_count);
    vt_state_map(s, &t->by_name, t->holder_count);
    VT_STATE(s, t->began);
    VT_STATE(s, t->depth);
    VT_STATE(s, t->made);
    vt_state_expect(s, t->depth <= VT_TOLD_DEPTH, "at most 16 set-ups within each other");
    for (uint32_t i = 0; s->loading && i < t->block_count; i++)
        vt_state_within(s, t->blocks[i].holder, t->holder_count, "holders");
}
