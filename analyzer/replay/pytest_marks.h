/* SPDX-License-Identifier: MIT */
/*
 * The pytest plugin's marks about tests and fixtures; their names begin with "vramtrace:". analysis/pytest_sites.c
 * draws the conclusions.
 *
 *     vramtrace:tests                      the tests of this process are over and were checked; the
 *                                          tests themselves made all frees before this
 *     vramtrace:setup                      a fixture's set-up begins
 *     vramtrace:made SCOPE NAME            it is over: its allocations belong to the fixture
 *     vramtrace:held SCOPE NAME HEX,HEX    the fixture owns the blocks at these addresses;
 *                                          SCOPE "model": a model does, outside fixtures
 *     vramtrace:left fails|short ROUNDS BYTES BLOCKS SITE TEST
 *                                          a test is over, and left these blocks of a site
 */
#ifndef VRAMTRACE_ANALYZER_PYTEST_MARKS_H
#define VRAMTRACE_ANALYZER_PYTEST_MARKS_H

#include "base/base.h"

struct vt_pytest_holder {
    char *scope, *name;
    bool model;
};

/* A block that was live when a mark named it. The address may have been reused since; the block is still the same if
 * the live table has its site and time. */
struct vt_pytest_block {
    uint64_t key; /* vt_address_key */
    uint32_t site, allocated_at;
    uint32_t holder; /* index in holders */
};

struct vt_pytest_left {
    uint64_t site; /* the site's id */
    uint64_t bytes, blocks;
    const char *per; /* "round"; or "test" or "parameter" if each of many left some */
    uint32_t rounds; /* the number of rounds, tests or parameters */
    bool fails;
    char *test;
};

#define VT_TOLD_DEPTH 16    /* nested set-ups */
#define VT_TOLD_MADE  10000 /* set-ups whose blocks are searched; each search walks the live table */

struct vt_pytest_marks {
    struct vt_pytest_block *blocks;
    struct vt_pytest_holder *holders;
    struct vt_pytest_left *left;
    uint32_t block_count, block_room, holder_count, holder_room, left_count, left_room;
    bool any;                      /* the plugin checked the tests */
    struct vt_map by_key;          /* blocks; the newest at an address */
    struct vt_map by_name;         /* holders, by a hash of scope and name */
    uint64_t began[VT_TOLD_DEPTH]; /* ticks of the unfinished set-ups */
    uint32_t depth, made;
};

struct vt_walk;

/* Whether a mark of this name is the plugin's; reports omit these. */
bool vt_pytest_is(const char *name);

/* Processes the plugin's marks, in the order of the events. Ignores malformed marks. */
void vt_pytest_apply(struct vt_walk *walk, const char *name);

void vt_pytest_free(struct vt_pytest_marks *marks);
/* Saves marks, or loads into empty ones (base/saved_state.h). */
void vt_pytest_state(struct vt_pytest_marks *marks, struct vt_state *s);

#endif
