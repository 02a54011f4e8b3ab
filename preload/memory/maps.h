/* SPDX-License-Identifier: MIT */
/*
 * Reads the process's mappings one at a time, as the kernel lists them, and other files in /proc line by line.
 */
#ifndef VT_PRELOAD_MAPS_H
#define VT_PRELOAD_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct vt_mapping {
    uintptr_t start, end;
    uintptr_t offset; /* in the file, bytes */
    uint64_t inode;   /* 0: no file */
    char access[4];   /* as "rw-p" */
    const char *name; /* a path, "[heap]", "[anon:...]"; "": none. Valid until the next call */
    bool device;      /* a device file: reading its memory may have effects */
};

/* A file being read. Too large for a small stack. */
struct vt_maps {
    int fd;
    bool cut; /* skip the rest of a line that did not fit */
    size_t have, at;
    char text[8192];
};

/* Opens the list of mappings. False: it cannot be read, and there is nothing to close. */
bool vt_maps_open(struct vt_maps *maps);
/* The same for another file, to be read line by line. */
bool vt_maps_open_file(struct vt_maps *maps, const char *path);
/* The next line, valid until the next call; lines that do not fit are skipped. NULL: no more. */
char *vt_maps_line(struct vt_maps *maps);

/* The next mapping, in order of address; false: no more. A mapping that grew downwards meanwhile may come again. */
bool vt_maps_next(struct vt_maps *maps, struct vt_mapping *mapping);

void vt_maps_close(struct vt_maps *maps);

/* Parses a hexadecimal number without 0x. Returns a pointer past it. */
const char *vt_maps_hex(const char *s, uintptr_t *value);

/* Whether a text begins with another one. */
static inline bool vt_maps_begins(const char *s, const char *with) {
    return strncmp(s, with, strlen(with)) == 0;
}

#endif
