/* SPDX-License-Identifier: MIT */
/* A part of log_format.h: values in the exit scan's records (SCAN, LOST). */
#ifndef VRAMTRACE_LOG_SCAN_H
#define VRAMTRACE_LOG_SCAN_H

enum vt_scan_flag {
    VT_SCAN_STOPPED = 1,  /* the scan was abandoned; a NOTE gives the reason */
    VT_SCAN_IN_DOUBT = 2, /* memory that may hold pointers could not be read */
    VT_SCAN_CUT = 4,      /* more allocations were lost than are listed */
    /* some allocations are pointed to only from other heaps than the C library's, whose freed blocks cannot be
     * recognized */
    VT_SCAN_BY_UNKNOWN = 8,
    /* the embedding program continued after Python's end: owners found at that end are out of date */
    VT_SCAN_WENT_ON = 16
};

/* A scan's start: 26 bits of its ticks, rounded up, and the number of bits they are shifted by. */
static inline uint32_t vt_scan_at(uint64_t ticks) {
    unsigned shift = 0;
    while (ticks >> shift >= (1u << 26) - 1)
        shift++;
    return (uint32_t)((ticks >> shift) + 1) << 6 | shift;
}
static inline uint64_t vt_scan_ticks(uint32_t at) {
    return (uint64_t)(at >> 6) << (at & 63);
}

/* An entry of LOST, and an allocation in OWNED: enum vt_space << 61 | address. */
static inline uint64_t vt_lost_entry(uint64_t address, enum vt_space space) {
    return (uint64_t)space << 61 | (address & 0x1fffffffffffffffull);
}
static inline uint64_t vt_lost_address(uint64_t entry) {
    return entry & 0x1fffffffffffffffull;
}
static inline enum vt_space vt_lost_space(uint64_t entry) {
    return (enum vt_space)(entry >> 61);
}

#endif
