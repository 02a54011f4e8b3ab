/* SPDX-License-Identifier: MIT */
/*
 * Which live blocks keep segments from being given back. replay_fail.c asks at each failed
 * allocation, judge/fragmentation.c at the end.
 */
#ifndef VRAMTRACE_ANALYZER_PINS_H
#define VRAMTRACE_ANALYZER_PINS_H

#include "replay.h"

/* Of what a replay's device holds now: the live blocks whose segments are at least half idle, by
 * site, the most idle bytes first. How many rows were filled. */
uint32_t vt_pins_find(const struct vt_replay *replay, unsigned device,
                      struct vt_replay_pin pins[VT_PINS]);

/* The replay's site of the live block at an address; VT_NO_SITE: there is none. */
uint32_t vt_pins_block_site(const struct vt_replay *replay, uint64_t address);

#endif
