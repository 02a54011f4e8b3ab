/* SPDX-License-Identifier: MIT */
/*
 * Bounded containers that keep memory: a cache, a queue, an array of fixed length. model.h includes it.
 */
#ifndef VRAMTRACE_ANALYZER_BOUND_H
#define VRAMTRACE_ANALYZER_BOUND_H

#include "base/base.h"

struct vt_growth;
struct vt_leak;
struct vt_process;

/* For a site whose memory is kept by bounded containers. */
struct vt_bound {
    uint64_t containers, entries, capacity; /* of all containers together */
    uint64_t full_bytes;      /* of the site when they are full: estimated from its largest block */
    const char *container;    /* the name of the largest container: "lookup" */
    bool too_large;           /* full_bytes exceeds the device, so the bound does not help */
    struct vt_growth *growth; /* its growth so far; NULL: none, or `too_large` */
    uint64_t key;             /* equal for sites with the same container */
    uint64_t bytes, blocks;   /* held by the containers at the snapshot */
    uint64_t others;          /* blocks of the site outside bounded containers */
};

/* Sums the bounds of a leak's sites, with the texts of its largest site. False: no site has one. */
bool vt_leak_bound(const struct vt_process *process, const struct vt_leak *leak,
                   struct vt_bound *bound);

/* "lookup has 333 of at most 1,000 entries; full, it holds about 1000 MiB". Free it. */
char *vt_bound_text(const struct vt_bound *bound);

#endif
