/* SPDX-License-Identifier: MIT */
/* Memory pools of the simulated driver: pool.c implements them, external.c exports and imports. */
#ifndef SIM_POOL_H
#define SIM_POOL_H

#include "driver.h"

struct sim_pool {
    struct sim_object object;
    struct sim_pool *next;
    struct sim_device *device;
    CUmemPoolProps props;
    int place; /* on the device, managed, on the host */
    size_t used, used_high, reserved, reserved_high, most;
    cuuint64_t threshold;
    size_t blocks;
    int reuse[3];
    uint64_t peers;
    CUmemAccess_flags access;
    bool is_default, destroyed, imported;
};

/* A pool of another process: nothing can be allocated from it. NULL when there is no memory. */
struct sim_pool *sim_pool_import(struct sim_device *device);

#endif /* SIM_POOL_H */
