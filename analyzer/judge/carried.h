/* SPDX-License-Identifier: MIT */
/*
 * Whether a Python program's loop carries a tensor, with the graph of all its rounds, from round to
 * round: a hidden state that is never detached. advice.c asks where nothing else keeps the memory.
 */
#ifndef VRAMTRACE_ANALYZER_CARRIED_H
#define VRAMTRACE_ANALYZER_CARRIED_H

#include "model/model.h"
#include "pysource.h"
#include "pyvalue.h"

struct vt_carried {
    char name[VT_PYNAME_BYTES];
    const char *file; /* of the line that hands it on */
    uint32_t line;
};

/* Asks the outermost loop that leads to a stack. The caller knows that gradients are on. */
bool vt_carried_find(struct vt_pyfiles *files, const struct vt_stack *stack,
                     struct vt_carried *carried);

#endif
