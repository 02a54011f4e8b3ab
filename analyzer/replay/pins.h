/* SPDX-License-Identifier: MIT */
/*
 * Live blocks that keep mostly idle segments from being released to the driver. replay_fail.c looks
 * for them at each failed allocation, judge/fragmentation.c at the end.
 */
#ifndef VRAMTRACE_ANALYZER_PINS_H
#define VRAMTRACE_ANALYZER_PINS_H

#include "replay.h"

/* Finds the live blocks of a device whose segments are at least half idle, by site, those with the
 * most idle bytes first. Returns how many rows it filled. */
uint32_t vt_pins_find(const struct vt_replay *replay, unsigned device, struct vt_pin pins[VT_PINS]);

/* The index in replay->sites of the live block at an address; VT_NO_SITE: none. */
uint32_t vt_pins_block_site(const struct vt_replay *replay, uint64_t address);

#endif
