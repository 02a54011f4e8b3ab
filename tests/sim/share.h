/* SPDX-License-Identifier: MIT */
/*
 * The memory of each simulated process on each GPU, in the file named by VRAMTRACE_SIM_SHARE, for the simulated NVML.
 * A process takes a slot at cuInit (driver/share.c), and only it writes there; it can take over the slot of a dead
 * process. All accesses are atomic; nothing waits.
 */
#ifndef VRAMTRACE_SIM_SHARE_H
#define VRAMTRACE_SIM_SHARE_H

#include <stdint.h>

#define SIM_SHARE_GPUS  64
#define SIM_SHARE_SLOTS 256

struct sim_share_slot {
    int32_t pid; /* 0: free */
    uint32_t unused;
    uint64_t context; /* a bit for each GPU that the process has, or had, a context on */
    uint64_t used[SIM_SHARE_GPUS]; /* bytes, by physical number */
};

struct sim_share {
    uint64_t total[SIM_SHARE_GPUS]; /* size of each, as a process saw it last; 0: none did */
    struct sim_share_slot slots[SIM_SHARE_SLOTS];
};

#endif
