/* SPDX-License-Identifier: MIT */
/*
 * Which processes of a fleet differ from their peers, and in what (see model/fleet.h).
 *
 * Called by finish.c, when processes and rows are in order.
 */
#ifndef VRAMTRACE_ANALYZER_FLEET_OUTLIERS_H
#define VRAMTRACE_ANALYZER_FLEET_OUTLIERS_H

#include "model/model.h"

/* Fills fleet->peers, fleet->outliers and fleet->shown. */
void vt_fleet_find_outliers(struct vt_fleet *fleet);

/* --- peers.c --- */

/* Fills fleet->peers, all but `typical`. */
void vt_fleet_find_peers(struct vt_fleet *fleet);

/* Whether there is nothing to say about a process: it allocated nothing. */
bool vt_fleet_is_empty(const struct vt_fleet_process *process);

/* Whether its log lacks so many events that what it held is not known. */
bool vt_fleet_is_lacking(const struct vt_fleet_process *process);

/* --- choose.c --- */

/* Fills fleet->shown, when the rest is there. */
void vt_fleet_find_shown(struct vt_fleet *fleet);

#endif
