/* SPDX-License-Identifier: MIT */
/*
 * The tables of a fleet, for those who fill it (reduce.c, merged_read.c): each text, line, owner and
 * host is stored once, and rows of processes name it by its index.
 */
#ifndef VRAMTRACE_ANALYZER_FLEET_TABLES_H
#define VRAMTRACE_ANALYZER_FLEET_TABLES_H

#include "model/model.h"

/* The fleet's own copy of a text, as valid UTF-8; NULL stays NULL. Lives as long as the fleet. */
const char *vt_fleet_text(struct vt_fleet *fleet, const char *text);

/* The index of a line, owner or host like this one, which is added if it is new. Their texts may be
 * anyone's; `key` is made here. What of them is no part of the key is that of the first one in the order of
 * texts, whichever comes first. */
uint32_t vt_fleet_add_line(struct vt_fleet *fleet, struct vt_fleet_line line);
uint32_t vt_fleet_add_owner(struct vt_fleet *fleet, struct vt_fleet_owner owner);
uint32_t vt_fleet_add_host(struct vt_fleet *fleet, const char *name, const char *boot);

/* Adds a process, whose texts may be anyone's; false: there is one with its id already, and no rows may
 * follow. Rows that are added next are its. One that knows more of the same process takes its place: its
 * log was read again after it went on. */
bool vt_fleet_add_process(struct vt_fleet *fleet, struct vt_fleet_process process);

/* Takes back the processes from this index on, the last ones added. */
void vt_fleet_take_back(struct vt_fleet *fleet, uint32_t first);

/* Removes those whose place another one took, with their rows. For finish.c, before it sorts. */
void vt_fleet_remove_dropped(struct vt_fleet *fleet);

/* Moves the rows to where their processes are now: `places` by where they were, VT_FLEET_NONE: gone. Rows of one process
 * stay in their order. */
void vt_fleet_move_rows(struct vt_fleet *fleet, const uint32_t *places);

/* The order of a process's lines: the largest first; `key`s: of their lines. */
int vt_fleet_compare_cells(const struct vt_fleet_cell *x, uint64_t x_key,
                           const struct vt_fleet_cell *y, uint64_t y_key);

/* The kinds of rows. */
enum vt_fleet_rows {
    VT_DEVICE_ROWS, /* struct vt_fleet_device, whose levels are the fleet's from then on */
    VT_CELL_ROWS,
    VT_OWNED_ROWS,
    VT_LEAK_ROWS,
    VT_OOM_ROWS,
    VT_ROW_KINDS
};

/* Adds a row like this one, whose texts may be anyone's, to the process added last. Returns the fleet's, which is valid
 * until the next is added. */
void *vt_fleet_add_row(struct vt_fleet *fleet, enum vt_fleet_rows kind, const void *row);

/* A copy, for a device. */
struct vt_levels vt_fleet_levels(const struct vt_levels *levels);

#endif
