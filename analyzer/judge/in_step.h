/* SPDX-License-Identifier: MIT */
/*
 * Which growing sites rise together (see in_step.c). leaks.c asks.
 */
#ifndef VRAMTRACE_ANALYZER_IN_STEP_H
#define VRAMTRACE_ANALYZER_IN_STEP_H

#include "model/model.h"
#include "replay/replay.h"

/* The order in which blocks were freed after the process's last allocation. */
struct vt_exit_order {
    const struct vt_freed *freed; /* the history's, which must outlive it */
    size_t *first; /* index of each of a process's sites in `at`, and behind the last */
    size_t *at;    /* indices in `freed` */
};
void vt_exit_order_open(struct vt_exit_order *order, const struct vt_history *history,
                        const uint32_t *index, uint32_t site_count);
void vt_exit_order_close(struct vt_exit_order *order);

/* Whether two growths rise in the same rounds. */
bool vt_in_step(const struct vt_growth *a, const struct vt_growth *b);

/* Whether two growing sites of a process, by their indices, are one leak. */
bool vt_in_step_one(const struct vt_process *process, const struct vt_exit_order *order, uint32_t a,
                    uint32_t b);

#endif
