/* SPDX-License-Identifier: MIT */
/* A memory pool of the simulated driver: pool.c works it, pool_share.c exports and imports it. */
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

#endif /* SIM_POOL_H */
