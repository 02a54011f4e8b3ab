/* SPDX-License-Identifier: MIT */
/*
 * Sites: what makes two allocations come from the same place. A site is (merged stack, API, layer,
 * device); its id is a hash of that which is the same in every run of the same program, wherever
 * its libraries were loaded: modules count by build id (by file name where they have none), native
 * frames by their offset in the module, Python frames by file, function and line.
 */
#ifndef VRAMTRACE_ANALYZER_SITES_H
#define VRAMTRACE_ANALYZER_SITES_H

#include "log_reader.h"

struct vt_sites;

/* The log must outlive it. Never NULL; free with vt_sites_close. */
struct vt_sites *vt_sites_open(const struct vt_log *log);
void vt_sites_close(struct vt_sites *sites);

/* The id. `stack`: index in vt_log.stacks, or VT_NO_STACK. */
uint64_t vt_sites_id(struct vt_sites *sites, uint32_t stack, unsigned hook, unsigned layer,
                     unsigned device);

/* How many of a stack's innermost frames are ours or the CUDA library's that the program called:
 * not shown. */
uint32_t vt_sites_skip(const struct vt_log *log, const struct vt_log_stack *stack, bool runtime);

#endif
