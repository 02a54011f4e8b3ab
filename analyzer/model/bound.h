/* SPDX-License-Identifier: MIT */
/*
 * What keeps memory and takes only so many entries: a cache, a queue, an array of fixed length. model.h includes it.
 */
#ifndef VRAMTRACE_ANALYZER_BOUND_H
#define VRAMTRACE_ANALYZER_BOUND_H

#include "base/base.h"

struct vt_growth;
struct vt_leak;
struct vt_process;

/* Of a site that is kept by what takes only so many entries: a cache, a queue, an array. */
struct vt_bound {
    uint64_t holders, entries, capacity; /* of all of them together */
    uint64_t full_bytes; /* of the site, when they are full: an estimate by its largest block */
    const char *holder;  /* the name of the one that has most: "lookup" */
    bool too_large;      /* its device cannot take that, so the bound is of no use */
    struct vt_growth *growth; /* how it grew so far; NULL: it did not, or `too_large` */
    uint64_t key;             /* the same for sites with one holder */
    uint64_t bytes, blocks;   /* that they had when they were looked at */
    uint64_t others;          /* blocks of the site that nothing with a bound had */
};

/* The bounds of all sites of a leak together; false: none has one. The texts are its largest
 * site's. */
bool vt_leak_bound(const struct vt_process *process, const struct vt_leak *leak,
                   struct vt_bound *bound);

/* "lookup has 333 of at most 1,000 entries; full, it holds about 1000 MiB". Free it. */
char *vt_bound_text(const struct vt_bound *bound);

#endif
