/* SPDX-License-Identifier: MIT */
/* The driver's own record of allocations and frees, for tests with programs from elsewhere. */
#ifndef SIM_JOURNAL_H
#define SIM_JOURNAL_H

#include <stdint.h>

/* Notes that `bytes` of a kind (enum vramtrace_sim_kind) came into use (count 1) or went (-1) on a
 * device. Called by sim_count, under the driver's lock. Nothing unless VRAMTRACE_SIM_JOURNAL names
 * a
 * file: then a line "KIND DEVICE COUNT BYTES" is appended to it. */
void sim_journal(int device, int kind, int64_t bytes, int count);

#endif
