/* SPDX-License-Identifier: MIT */
/*
 * What the pytest plugin tells of its tests and fixtures, in marks whose names begin with
 * "vramtrace:". analysis/pytest_sites.c draws the conclusions.
 *
 *     vramtrace:tests                      the tests of this process are over, and were judged; what
 *                                          was freed before, they gave back themselves
 *     vramtrace:setup                      a fixture's set-up begins
 *     vramtrace:made SCOPE NAME            it is over: what it allocated is the fixture's
 *     vramtrace:held SCOPE NAME HEX,HEX    what lies at these addresses is held by the fixture;
 *                                          SCOPE "model": by a model, which is no fixture's
 *     vramtrace:left fails|short ROUNDS BYTES BLOCKS SITE TEST
 *                                          a test is over, and left this of a site behind
 */
#ifndef VRAMTRACE_ANALYZER_PYTEST_MARKS_H
#define VRAMTRACE_ANALYZER_PYTEST_MARKS_H

#include "base/base.h"

struct vt_pytest_holder {
    char *scope, *name;
    bool model;
};

/* A block that was live when it was named. The address may have been reused since: it is still the
 * same block if the live table has its site and time. */
struct vt_pytest_block {
    uint64_t key; /* vt_address_key */
    uint32_t site, allocated_at;
    uint32_t holder; /* index in holders */
};

struct vt_pytest_left {
    uint64_t site; /* its id */
    uint64_t bytes, blocks;
    const char *per; /* "round", or "test", "parameter" where each of many tests left some */
    uint32_t rounds; /* how many of these */
    bool fails;
    char *test;
};

#define VT_TOLD_DEPTH 16    /* set-ups within set-ups */
#define VT_TOLD_MADE  10000 /* set-ups whose blocks are looked for: each walks the live table */

struct vt_pytest_marks {
    struct vt_pytest_block *blocks;
    struct vt_pytest_holder *holders;
    struct vt_pytest_left *left;
    uint32_t block_count, block_room, holder_count, holder_room, left_count, left_room;
    bool any;                      /* the plugin judged the tests */
    struct vt_map by_key;          /* of blocks; the newest of an address */
    struct vt_map by_name;         /* of holders: a hash of scope and name */
    uint64_t began[VT_TOLD_DEPTH]; /* ticks of the set-ups that are not over */
    uint32_t depth, made;
};

struct vt_walk;

/* Whether a mark of this name is the plugin's: reports do not list it. */
bool vt_pytest_is(const char *name);

/* Takes such a mark, in the order of the events. Ignores what it does not understand. */
void vt_pytest_take(struct vt_walk *walk, const char *name);

void vt_pytest_free(struct vt_pytest_marks *told);
/* Saves them, or loads them into empty ones (base/state.h). */
void vt_pytest_state(struct vt_pytest_marks *told, struct vt_state *s);

#endif
