/* SPDX-License-Identifier: MIT */
/*
 * Which module was mapped at an address at a time, for log_tables.c.
 */
#ifndef VRAMTRACE_ANALYZER_MODULE_INDEX_H
#define VRAMTRACE_ANALYZER_MODULE_INDEX_H

#include "log_reader.h"

struct vt_module_index;

/* The modules must stay where they are. Never NULL. */
struct vt_module_index *vt_module_index_make(const struct vt_log_module *modules, size_t count);

/* Of the modules that cover the address, the last one seen up to `ticks`; if there is none, the
 * first one seen later, because the tracer looks for modules only when a stack has an address that
 * no known module covers. VT_MAP_NONE: no module covers it. */
uint32_t vt_module_index_at(const struct vt_module_index *index, uint64_t address, uint64_t ticks);

void vt_module_index_free(struct vt_module_index *index);

#endif
