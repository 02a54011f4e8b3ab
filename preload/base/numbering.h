/* SPDX-License-Identifier: MIT */
/*
 * Numbers for items that are written to the log once and named by number afterwards: stacks, Python code, names of
 * phases. An item is identified by the hash of its content; its number is the hash's slot in one table, from 1. So
 * threads that have the same item get the same number without communicating. Lock-free; calls no malloc. The table
 * grows up to 8 million items, and its memory grows with it.
 */
#ifndef VT_PRELOAD_NUMBERING_H
#define VT_PRELOAD_NUMBERING_H

#include <stdbool.h>
#include <stdint.h>

#define VT_NUMBERING_PARTS 8u

struct vt_numbering {
    uint64_t *parts[VT_NUMBERING_PARTS]; /* atomic; NULL: not made yet. 0 in a part: a free slot */
};

/* The number of a hash; 0: no space. *fresh: its record may not be in the log yet, so the caller writes it and then
 * calls vt_numbering_written(). Threads that meet a new item at the same time may all write it, which is harmless. If
 * one thread relied on another to write the record, and that thread was killed first, the log would name an item
 * without a record. */
uint32_t vt_numbering_of(struct vt_numbering *numbering, uint64_t hash, bool *fresh);
void vt_numbering_written(struct vt_numbering *numbering, uint32_t number);
/* Call if there was no space for an item's record, or (number 0) no number. True the first time: the caller then counts
 * it. */
bool vt_numbering_unwritten(struct vt_numbering *numbering, uint32_t number);
/* A byte for the caller's use, one per number; 0 at first. */
uint8_t *vt_numbering_note(const struct vt_numbering *numbering, uint32_t number);
/* For a forked child, whose log has no records yet. */
void vt_numbering_forget(struct vt_numbering *numbering);

#endif
