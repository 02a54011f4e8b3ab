/* SPDX-License-Identifier: MIT */
/*
 * Functions of the simulated driver for tests: its own count of allocations, to compare a tracer's totals with. Find
 * them with dlsym in libcuda.so.1; a real driver has none of them.
 *
 * It counts as the report does: the requested bytes (pitched memory: pitch * height; arrays: their elements, tightly
 * packed, with all mipmap levels), but neither reserved address space nor imported memory.
 */
#ifndef VRAMTRACE_SIM_H
#define VRAMTRACE_SIM_H

#include <stdint.h>

enum vramtrace_sim_kind {
    VRAMTRACE_SIM_LINEAR,   /* cuMemAlloc, cuMemAllocPitch */
    VRAMTRACE_SIM_ASYNC,    /* handed out of stream-ordered pools of device memory */
    VRAMTRACE_SIM_PHYSICAL, /* cuMemCreate on a device, while a reference or a mapping is left */
    VRAMTRACE_SIM_ARRAY,    /* arrays and mipmapped arrays that have memory of their own */
    VRAMTRACE_SIM_GRAPH,    /* allocated by memory nodes of launched graphs, not yet freed */
    VRAMTRACE_SIM_MANAGED,  /* cuMemAllocManaged, managed pools; wherever it resides */
    VRAMTRACE_SIM_HOST, /* cuMemHostAlloc, cuMemAllocHost, host pools, cuMemCreate on the host */
    VRAMTRACE_SIM_REGISTERED, /* cuMemHostRegister */
    VRAMTRACE_SIM_IMPORTED,   /* IPC, external memory, imported handles: not this process's */
    VRAMTRACE_SIM_KINDS
};

/* 1 in the simulated driver: how the tracer and vramtrace_simulated() know it. */
extern const int vramtrace_sim_driver;

/* Device memory in use on a device (ordinal as the program sees it; -1: all): the sum of the kinds
 * LINEAR to GRAPH. 0 for an unknown device. Never fails; takes the driver's lock. */
uint64_t vramtrace_sim_live_bytes(int device);
uint64_t vramtrace_sim_live_count(int device);

/* The same for one kind. Host kinds are counted under the device that was current. */
uint64_t vramtrace_sim_kind_bytes(int device, enum vramtrace_sim_kind kind);
uint64_t vramtrace_sim_kind_count(int device, enum vramtrace_sim_kind kind);

#endif /* VRAMTRACE_SIM_H */
