/* SPDX-License-Identifier: MIT */
/*
 * The bytes and blocks that count for a leak, and the sum of inconclusive sites. For the report's headline and map, and
 * for the gate.
 *
 * A leak counts blocks that are live at the end. The exception is a growing leak that was mostly freed after the
 * process's last allocation, by an interpreter's finalization or by a queue of frees flushed at exit. Such a leak
 * counts the memory held at that allocation, because it leaked until then. So does a site that failed a pytest test, as
 * a test is decided when it ends.
 */
#ifndef VRAMTRACE_ANALYZER_AMOUNT_H
#define VRAMTRACE_ANALYZER_AMOUNT_H

#include "model.h"

struct vt_amount {
    uint64_t bytes, blocks;
    /* blocks freed after the process's last allocation; the others were never freed */
    uint64_t freed;
    bool at_exit; /* freed after the program's own code ended */
};

/* The amount of a site of `leak`. `leak` NULL: the site is in no leak, and its live memory counts. */
struct vt_amount vt_amount_of_site(const struct vt_site *site, const struct vt_leak *leak);

/* The sum over all sites of a leak. */
struct vt_amount vt_amount_of_leak(const struct vt_process *process, const struct vt_leak *leak);

/* The bytes of a process's leaks, without its suspects. */
uint64_t vt_amount_leaked(const struct vt_process *process);

/* "freed only at exit", or another phrase if the program itself may have freed them. */
const char *vt_amount_freed(struct vt_amount amount);

void vt_amount_add(struct vt_amount *sum, struct vt_amount part);

/* "7.50 MiB in 120 blocks, freed only at exit"; "960 KiB in 120 blocks, 110 of them freed only after
 * the last allocation"; "1.06 MiB in 17 blocks". Free it. */
char *vt_amount_text(struct vt_amount amount);

/* The sum of inconclusive sites, or of suspects. `reasons` has bits 1 << enum vt_growth_rule. */
struct vt_inconclusive_sum {
    uint32_t sites;
    unsigned reasons;
    uint64_t bytes;
};
void vt_inconclusive_add(struct vt_inconclusive_sum *sum, const struct vt_site *site);
struct vt_inconclusive_sum vt_process_inconclusive(const struct vt_process *process);

/* "2 sites (3.00 MiB) were not judged: too few iterations"; `were`: "were ", "was ", "". Free it. */
char *vt_inconclusive_text(const struct vt_inconclusive_sum *sum, const char *were);

/* The same for a sum of suspects: "2 suspects (3.00 MiB): too few iterations". Free it. */
char *vt_suspects_text(const struct vt_inconclusive_sum *sum);

#endif
