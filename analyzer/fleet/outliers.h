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

/* --- choose.c --- */

/* Fills fleet->shown, when the rest is there. */
void vt_fleet_find_shown(struct vt_fleet *fleet);

#endif
