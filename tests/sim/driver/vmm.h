/* SPDX-License-Identifier: MIT */
/* Physical memory of the simulated driver (cuMemCreate): vmm.c creates and maps it, vmm_share.c
 * passes it between processes and binds it to multicast objects, array_map.c maps it to sparse
 * arrays. */
#ifndef SIM_VMM_H
#define SIM_VMM_H

#include "driver.h"

struct sim_physical {
    struct sim_object object;
    struct sim_physical *next;
    struct sim_device *device;
    CUmemAllocationProp props;
    size_t size, span;
    unsigned handles; /* cuMemCreate, cuMemRetainAllocationHandle, imports */
    unsigned uses;    /* mappings, sparse tiles, multicast bindings */
    int file;         /* its own, once it was exported or imported; -1: within its device's */
    size_t offset;
    enum vramtrace_sim_kind kind;
    size_t charged;
    /* a multicast object has no memory of its own */
    bool multicast;
    struct sim_physical *bound;
};

extern struct sim_physical *sim_physicals;

/* The memory behind a handle that still has a reference, or NULL. */
struct sim_physical *sim_physical_get(CUmemGenericAllocationHandle handle);
struct sim_physical *sim_physical_new(struct sim_device *device, size_t size,
                                      enum vramtrace_sim_kind kind);
/* Frees it when neither a handle nor a use is left. */
void sim_physical_settle(struct sim_physical *physical);
/* The file that holds its bytes, and where in it they start. */
int sim_physical_file(struct sim_physical *physical, size_t *offset);

#endif /* SIM_VMM_H */
