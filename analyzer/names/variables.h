/* SPDX-License-Identifier: MIT */
/*
 * The C and C++ variables of a module by their addresses, from its debug information: globals,
 * statics, those of namespaces and classes, and static ones inside functions. For symbolize.c.
 */
#ifndef VRAMTRACE_ANALYZER_VARIABLES_H
#define VRAMTRACE_ANALYZER_VARIABLES_H

#include "base/base.h"

#include <elfutils/libdw.h>

/* Start it as {0}; free with vt_variables_free. The Dwarf must outlive it. */
struct vt_variables {
    struct vt_variable *list; /* by address */
    size_t count, room;
    uint64_t work; /* entries of the debug information that were read */
    bool read;
};

/* The variable that begins at an address; a thread-local one's is that in its module's storage. *whole: all
 * of it is there, as its type says. False: none begins there. */
bool vt_variables_find(struct vt_variables *v, Dwarf *dwarf, Dwarf_Addr address,
                       bool is_thread_local, Dwarf_Die *found, bool *whole);

void vt_variables_free(struct vt_variables *v);

#endif
