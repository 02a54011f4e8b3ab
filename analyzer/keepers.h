/* SPDX-License-Identifier: MIT */
/*
 * Which line of a Python program keeps what another one allocated. advice.c asks.
 */
#ifndef VRAMTRACE_ANALYZER_KEEPERS_H
#define VRAMTRACE_ANALYZER_KEEPERS_H

#include "model.h"
#include "pysource.h"
#include "pyvalue.h"

struct vt_keeper {
    char name[VT_PYNAME_BYTES];      /* the variable that is kept; "": a call's result */
    char container[VT_PYNAME_BYTES]; /* where */
    const char *file;
    uint32_t line;
    bool added; /* to a number */
};

/* Follows what a site allocates from its innermost own frame outwards to a line that keeps it from
 * one iteration to the next. `graph`: what is computed from it keeps it, too. `whole`: nothing of it
 * was given back, and nothing of the run repeats that is longer than an iteration. False: no such
 * line, or the source leaves doubt. */
bool vt_keepers_find(struct vt_pyfiles *files, const struct vt_stack *stack, bool graph, bool whole,
                     struct vt_keeper *keeper);

#endif
