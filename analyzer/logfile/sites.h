/* SPDX-License-Identifier: MIT */
/*
 * Call sites group allocations. A site is (merged stack, API, layer, device). Its id is a hash that
 * is the same in every run of the same program, wherever its libraries are loaded: for a native frame
 * it uses the module's build id (or file name) and the offset in the module, for a Python frame the
 * file, function and line.
 */
#ifndef VRAMTRACE_ANALYZER_SITES_H
#define VRAMTRACE_ANALYZER_SITES_H

#include "log_reader.h"

struct vt_sites;

/* The log must outlive it. Never NULL; free with vt_sites_close. */
struct vt_sites *vt_sites_open(const struct vt_log *log);
void vt_sites_close(struct vt_sites *sites);

/* A site's id. `stack`: an index in vt_log.stacks, or VT_NO_STACK. */
uint64_t vt_sites_id(struct vt_sites *sites, uint32_t stack, unsigned hook, unsigned layer,
                     unsigned device);

/* How many of a stack's innermost frames are hidden: the tracer's, and for a runtime call the CUDA
 * runtime's. */
uint32_t vt_sites_skip(const struct vt_log *log, const struct vt_log_stack *stack, bool runtime);

/* Whether a module is the tracer, whose frames are always hidden. */
bool vt_sites_is_tracer(const struct vt_log_module *module);

#endif
