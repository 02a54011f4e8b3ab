/* SPDX-License-Identifier: MIT */
/*
 * The process's mappings, one after the other, as the kernel lists them; and lines of other such files.
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
    const char *name; /* a path, "[heap]", "[anon:...]"; "": none. Valid until the next one */
    bool device;      /* reading its memory may do something */
};

/* A list that is being read. It is too large for a small stack. */
struct vt_maps {
    int fd;
    bool cut; /* the rest of a line that was longer than the room follows */
    size_t have, at;
    char text[8192];
};

/* False: the list cannot be read, and there is nothing to close. */
bool vt_maps_open(struct vt_maps *maps);
/* The same for the lines of another file. */
bool vt_maps_open_file(struct vt_maps *maps, const char *path);
/* The next line, without those that are longer than the room; NULL: no more. */
char *vt_maps_line(struct vt_maps *maps);

/* The next one; false: there is none. They come by address; one that grew downwards while the list
 * was read may come again. */
bool vt_maps_next(struct vt_maps *maps, struct vt_mapping *mapping);

void vt_maps_close(struct vt_maps *maps);

/* A number as such files have it, without 0x. Returns where it ends. */
const char *vt_maps_hex(const char *s, uintptr_t *value);

/* Whether a text begins with another. */
static inline bool vt_maps_begins(const char *s, const char *with) {
    return strncmp(s, with, strlen(with)) == 0;
}

#endif
