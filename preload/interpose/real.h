/* SPDX-License-Identifier: MIT */
/*
 * The real functions behind our wrappers.
 *
 * Invariants: a library is adopted when the program first uses it, never before, and then stays loaded.
 * Each symbol variant has its own pointer; none is derived from another.
 */
#ifndef VT_PRELOAD_REAL_H
#define VT_PRELOAD_REAL_H

#include "base/base.h"

/* The real driver: one pointer per symbol variant, NULL where the driver has none. */
struct vt_real_driver {
#define VT_DRIVER(id, symbol, base, since, stream, role, prototype) CUresult(*symbol) prototype;
#include "vramtrace/hooks.def"
};

/* The real runtime of one major version. */
struct vt_real_cudart {
#define VT_RUNTIME(id, symbol, since, until, role, prototype) cudaError_t(*symbol) prototype;
#include "vramtrace/hooks.def"
};

/* The driver's functions: all NULL until a driver is loaded. */
extern struct vt_real_driver vt_real_driver_functions;
extern bool vt_real_driver_ready; /* atomic; set once the pointers are filled in */
void vt_real_driver_adopt(void);
static inline const struct vt_real_driver *vt_real_driver(void) {
    if (VT_UNLIKELY(!vt_see(&vt_real_driver_ready)))
        vt_real_driver_adopt();
    else
        vt_process_check_fork(); /* first: a forked child starts with new contexts */
    return &vt_real_driver_functions;
}

/* The functions of runtime 12 or 13: all NULL until that runtime is loaded. Never returns NULL. */
const struct vt_real_cudart *vt_real_cudart(unsigned major);

enum vt_real_library { VT_REAL_DRIVER, VT_REAL_CUDART12, VT_REAL_CUDART13, VT_REAL_LIBRARIES };
#define VT_REAL_NO_ROW SIZE_MAX

/* The row of hooks.def, counted within the library, whose real function is `found`; or VT_REAL_NO_ROW. */
size_t vt_real_row(enum vt_real_library library, const void *found);

/* Adopts the library that contains `found`, the result of looking up `name`, and stores the library's number. False:
 * not a CUDA library, or already adopted. */
bool vt_real_adopt(const void *found, const char *name, enum vt_real_library *library);

/* Makes `found` the real function of that driver row, if the row has none. */
void vt_real_learn(size_t driver_row, void *found);

#endif
