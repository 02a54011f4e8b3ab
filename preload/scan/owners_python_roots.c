/* SPDX-License-Identifier: MIT */
/*
 * Where the walk begins in Python: modules, frames, exceptions.
 *
 * Called by owners_walk.c.
 */
#define _GNU_SOURCE
#include "owners_walk.h"

void vt_owners_python_roots(struct vt_owners *w) {
    (void)w;
}
