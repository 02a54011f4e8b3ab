/* SPDX-License-Identifier: MIT */
/*
 * Does a site's memory grow, iteration after iteration, and would it go on? growth.c says what is
 * asked of the evidence; doc/INTERNALS.md, "Verdicts", says why.
 */
#ifndef VRAMTRACE_ANALYZER_GROWTH_H
#define VRAMTRACE_ANALYZER_GROWTH_H

#include "log/clock.h"
#include "model/model.h"
#include "replay/phases.h"
#include "replay/replay.h"

/* Gives each site of the process that grows its vt_site.growth, and all that allocated their
 * vt_site.held_*. `place`: the replay's site -> the process's, VT_NO_SITE for none. `end`: ticks at
 * which the process ended, or the log does. */
void vt_growth_find(const struct vt_replay *replay, const struct vt_history *history,
                    const struct vt_iterations *iterations, struct vt_clock clock, uint64_t end,
                    const uint32_t *index, struct vt_process *process);

/* Mann-Kendall: the one-sided probability that `count` values without a trend rise as these do;
 * ties are corrected for. 1 where there are fewer than four, or no two that differ. */
double vt_growth_mann_kendall(const double *values, uint32_t count);

#endif
