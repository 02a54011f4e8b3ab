/* SPDX-License-Identifier: MIT */
/*
 * The numbers for a device's bar and for the curve of its last minutes. The screen and the plain frame draw them.
 */
#ifndef VRAMTRACE_ANALYZER_STRIPS_H
#define VRAMTRACE_ANALYZER_STRIPS_H

#include "frame.h"

enum vt_strip {
    VT_STRIP_IN_USE,
    VT_STRIP_CACHED,
    VT_STRIP_UNTRACKED,
    VT_STRIP_OTHERS,
    VT_STRIP_FREE,
    VT_STRIPS
};
extern const struct vt_strip_look {
    const char *name;
    char letter;
} vt_strip_looks[VT_STRIPS];

/* The bytes of a part; 0 if it is unknown. */
uint64_t vt_strip_bytes(const struct vt_watch_device *device, enum vt_strip part);

/* Sets each part's columns, in proportion, but at least one for a part with memory. Returns the bytes that the whole
 * bar represents: the device's size, or the known part of it. */
uint64_t vt_strips_bar(const struct vt_watch_device *device, unsigned columns,
                       unsigned widths[VT_STRIPS]);

/* The course of the last minutes: the maximum of live memory, and of memory in use, in each column's time. */
struct vt_strip_level {
    uint64_t live, in_use;
};
struct vt_strip_course {
    uint64_t highest, span; /* the maximum of all columns; the time that they cover */
};
/* Returns a level for each column; free it. */
struct vt_strip_level *vt_strips_course(const struct vt_watch_device *device, uint64_t now,
                                        unsigned columns, struct vt_strip_course *course);

#endif
