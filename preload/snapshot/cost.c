/* SPDX-License-Identifier: MIT */
/*
 * What copies of the memory cost the program: each one holds it up, and each page that it writes to later is
 * a fault once. The kernel counts faults, and the program's time in the kernel: so many faults after a copy as
 * there were pages count, at what faults took so far, also those that would have come without it.
 *
 * Called by snapshot.c; moments.c chooses the moments by it.
 */
#define _GNU_SOURCE
#include "copy.h"

#include <sys/resource.h>
#include <time.h>

#define ENOUGH      1024u  /* faults that tell what one takes */
#define MOST        20000u /* ns: the rest is not the faults' */
#define FIRST_FAULT 2000u  /* ns, of a slow machine, until it is known */
#define FIRST_COPY  300u
#define SHARE_1     256u

static uint64_t stood;   /* atomic: ns, so far */
static uint64_t spent;   /* atomic: of children; those that go on count with what they may take */
static uint64_t search;  /* atomic: of the next child, by the last one */
static uint32_t looking; /* atomic: a try-lock of what is below */
static struct {
    uint64_t faults, system_ns;   /* of the process, at the last look */
    uint64_t pages, left;         /* at the last copy; of these, without a fault since */
    uint64_t fault_ns, copied_ns; /* of one page */
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
    last.pages = last.left = vt_owners_private() / vt_machine_page() + 1;
    last.copied_ns = ns / last.pages;
    vt_add(&stood, ns);
    vt_publish(&looking, 0);
}

void vt_cost_spent(int64_t ns) {
    vt_add(&spent, (uint64_t)ns);
}

/* With less, it would be cut off again. A process grows, too: a quarter more. */
void vt_cost_searched(uint64_t ns, bool partial) {
    vt_put(&search, partial ? 2 * ns : ns + ns / 4);
}

struct vt_owners_cost vt_owners_cost(void) {
    struct vt_owners_cost now = {.next = UINT64_MAX / 2};
    if (vt_claim(&looking, 0, 1)) {
        count_faults();
        /* Until the first copy, and while one goes on, each page may be written to. */
        uint64_t share = last.pages && !vt_owners_under_way()
                             ? (last.pages - last.left) * SHARE_1 / last.pages
                             : SHARE_1;
        now.next = vt_owners_private() / vt_machine_page() *
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
