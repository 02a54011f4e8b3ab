/* SPDX-License-Identifier: MIT */
/*
 * Which line of a Python program keeps what another one allocated. advice.c asks.
 */
#ifndef VRAMTRACE_ANALYZER_KEEPERS_H
#define VRAMTRACE_ANALYZER_KEEPERS_H

#include "model/model.h"
#include "pysource.h"
#include "pyvalue.h"

struct vt_keeper {
    char name[VT_PYNAME_BYTES];      /* the variable that is kept; "": a call's result */
    char container[VT_PYNAME_BYTES]; /* where */
    const char *file;
    uint32_t line;
    bool added; /* to a number */
};

/* What is known of the blocks beside where they were made. */
struct vt_keepers_facts {
    bool graph;      /* what is computed from them keeps them, too */
    bool none_freed; /* before the end */
    bool repeats;    /* something of the run that is longer than an iteration does */
};

/* Follows what is allocated on a stack from its innermost own frame outwards to a line that keeps it
 * from one iteration to the next. False: no such line, or the source leaves doubt. */
bool vt_keepers_find(struct vt_pyfiles *files, const struct vt_stack *stack,
                     struct vt_keepers_facts facts, struct vt_keeper *keeper);

#endif
