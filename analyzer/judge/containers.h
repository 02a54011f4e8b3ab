/* SPDX-License-Identifier: MIT */
/*
 * How long a container of a Python program keeps what is put into it, by its source. keepers.c asks.
 */
#ifndef VRAMTRACE_ANALYZER_CONTAINERS_H
#define VRAMTRACE_ANALYZER_CONTAINERS_H

#include "pysource.h"
#include "pyvalue.h"

/* How long a container lives. */
enum vt_life {
    VT_LIFE_UNKNOWN, /* or it is emptied, or is none */
    VT_LIFE_ONCE,    /* made anew for each value */
    VT_LIFE_OUTER,   /* made anew in a loop around the one that fills it: with each epoch */
    VT_LIFE_CALL,    /* as long as the call of the function that fills it in a loop */
    VT_LIFE_RUN
};

/* Of what a name stands for that statement `at`, in the function with head `scope`
 * (VT_NO_STATEMENT: the module), puts something into. `number`: it is a sum, from 0 on. `sure`: what
 * is written there can only be done to a container. */
enum vt_life vt_containers_life(const struct vt_pysource *source, uint32_t scope,
                                struct vt_pytext name, uint32_t at, bool number, bool sure);

/* Whether any statement of the file takes something out of it, whoever calls it; a container of the
 * same name in another class counts as well. */
bool vt_containers_emptied(const struct vt_pysource *source, struct vt_pytext name, bool number);

/* Parts "a=b" or "a+=b"; `sign`: 0 or the operator. False: it assigns nothing. */
bool vt_containers_assignment(struct vt_pytext text, struct vt_pytext *target,
                              struct vt_pytext *value, char *sign);

/* The innermost loop around statement i in its own function; VT_NO_STATEMENT. Then whether statement
 * i stands in what a head holds. */
uint32_t vt_containers_loop(const struct vt_pysource *source, uint32_t i);
bool vt_containers_holds(const struct vt_pysource *source, uint32_t head, uint32_t i);

/* Whether a program's outermost function calls what a stack allocates in a loop, and nothing else on
 * the stack does, so that what is kept from round to round is kept in that function. False where the
 * source leaves doubt. */
bool vt_containers_main_loops(struct vt_pyfiles *files, const struct vt_stack *stack);

#endif
