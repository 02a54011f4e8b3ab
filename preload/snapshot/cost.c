/* SPDX-License-Identifier: MIT */
/*
 * The cost of memory copies to the program: each copy stops the program briefly, and the program's first write to each
 * page afterwards causes a fault. The kernel counts faults, and the program's time in the kernel. After a copy, we
 * count as many faults as there were pages, at a fault's average cost so far; some of these would have happened anyway.
 *
 * Called by snapshot.c, and by triggers.c to decide when to take a snapshot.
 */
#define _GNU_SOURCE
#include "copy.h"

#include <sys/resource.h>
#include <time.h>

#define ENOUGH      1024u  /* faults needed to derive the cost of one */
#define MOST        20000u /* ns: a higher average is not due to faults alone */
#define FIRST_FAULT 2000u  /* ns, on a slow machine, until it is measured */
#define FIRST_COPY  300u
#define SHARE_1     256u

static uint64_t stood;   /* atomic: ns that the program was held up so far */
static uint64_t spent;   /* atomic: ns used by children; a running one counts with its limit */
static uint64_t search;  /* atomic: ns expected for the next child, from the last one */
static uint32_t looking; /* atomic: a try-lock of the struct below */
static struct {
    uint64_t faults, system_ns;   /* totals of the process at the last check */
    uint64_t pages, left;         /* pages at the last copy; those without a fault since */
    uint64_t fault_ns, copied_ns; /* per page */
} last = {.fault_ns = FIRST_FAULT, .copied_ns = FIRST_COPY};

static void count_faults(void) {
    struct rusage now = {0};
    VT_SYS2(SYS_getrusage, RUSAGE_SELF, &now);
    uint64_t system_ns = (uint64_t)now.ru_stime.tv_sec * 1000000000u +
                         (uint64_t)now.ru_stime.tv_usec * 1000u,
             faults = (uint64_t)now.ru_minflt - last.faults,
             ours = faults < last.left ? faults : last.left;
    if (ours >= ENOUGH) {
        uint64_t each = (system_ns - last.system_ns) / faults;
        last.fault_ns = each > MOST ? MOST : each;
    }
    last.left -= ours;
    vt_add(&stood, ours * last.fault_ns);
    last.faults = (uint64_t)now.ru_minflt;
    last.system_ns = system_ns;
}

void vt_cost_copied(uint64_t ns) {
    if (!vt_claim(&looking, 0, 1))
        return;
    count_faults();
    last.pages = last.left = vt_snapshot_private_bytes() / vt_machine_page() + 1;
    last.copied_ns = ns / last.pages;
    vt_add(&stood, ns);
    vt_publish(&looking, 0);
}

void vt_cost_spent(int64_t ns) {
    vt_add(&spent, (uint64_t)ns);
}

/* Estimates the next search. After a partial search, the next one needs more time, or it would be cut off again. A
 * quarter more allows for growth of the process. */
void vt_cost_searched(uint64_t ns, bool partial) {
    vt_put(&search, partial ? 2 * ns : ns + ns / 4);
}

struct vt_snapshot_cost vt_snapshot_cost(void) {
    struct vt_snapshot_cost now = {.next = UINT64_MAX / 2};
    if (vt_claim(&looking, 0, 1)) {
        count_faults();
        /* Before the first copy, and while a search runs, assume that every page will be written to. */
        uint64_t share = last.pages && !vt_snapshot_is_running()
                             ? (last.pages - last.left) * SHARE_1 / last.pages
                             : SHARE_1;
        now.next = vt_snapshot_private_bytes() / vt_machine_page() *
                   (last.copied_ns + last.fault_ns * share / SHARE_1);
        vt_publish(&looking, 0);
    }
    now.spent = vt_get(&spent);
    now.stood = vt_get(&stood);
    now.search = vt_get(&search);
    return now;
}

void vt_cost_forked(void) {
    stood = spent = search = looking = 0;
    last.faults = last.system_ns = last.pages = last.left = 0;
}
