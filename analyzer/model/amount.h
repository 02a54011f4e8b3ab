/* SPDX-License-Identifier: MIT */
/*
 * How much a leak is: one answer, for the report's headline and map and for the gate's formats.
 *
 * Live at the end is what counts. Only where something grew, and most of it was given back behind
 * the process's last allocation (an interpreter's last cleaning up, a queue of frees that is emptied
 * at exit), is it what was held when that allocation was made: by then it had leaked.
 */
#ifndef VRAMTRACE_ANALYZER_AMOUNT_H
#define VRAMTRACE_ANALYZER_AMOUNT_H

#include "model.h"

struct vt_amount {
    uint64_t bytes, blocks;
    uint64_t freed; /* blocks of these that were freed only at exit; the others never were */
};

/* Of a site that is part of `leak` (NULL: of none; what is live then). */
struct vt_amount vt_amount_of_site(const struct vt_site *site, const struct vt_leak *leak);

/* Of all of a leak's sites together. */
struct vt_amount vt_amount_of_leak(const struct vt_process *process, const struct vt_leak *leak);

void vt_amount_add(struct vt_amount *sum, struct vt_amount part);

/* "7.50 MiB in 120 blocks, freed only at exit"; "960 KiB in 120 blocks, 110 of them freed only at
 * exit"; "1.06 MiB in 17 blocks". Free it. */
char *vt_amount_text(struct vt_amount amount);

#endif
