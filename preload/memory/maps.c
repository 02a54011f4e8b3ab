/* SPDX-License-Identifier: MIT */
/*
 * Reads /proc/self/maps and similar files line by line (see maps.h). The format is that of proc(5): "start-end access
 * offset device inode path", and the path extends to the end of the line.
 */
#define _GNU_SOURCE
#include "maps.h"
#include "base/descriptors.h"
#include "base/sys.h"

#include <fcntl.h>
#include <string.h>

#define INTERRUPTED (-4L)

bool vt_maps_open_file(struct vt_maps *maps, const char *path) {
    maps->have = maps->at = 0;
    maps->cut = false;
    maps->fd = (int)vt_descriptors_open(path, O_RDONLY, 0);
    return maps->fd >= 0;
}

bool vt_maps_open(struct vt_maps *maps) {
    return vt_maps_open_file(maps, "/proc/self/maps");
}

char *vt_maps_line(struct vt_maps *maps) {
    for (;;) {
        char *line = maps->text + maps->at, *end = memchr(line, '\n', maps->have - maps->at);
        if (end) {
            bool rest = maps->cut;
            *end = 0;
            maps->at = (size_t)(end + 1 - maps->text);
            maps->cut = false;
            if (rest)
                continue;
            return line;
        }
        maps->have -= maps->at;
        memmove(maps->text, line, maps->have);
        maps->at = 0;
        if (maps->have == sizeof maps->text) {
            maps->have = 0;
            maps->cut = true;
        }
        long got =
            VT_SYS3(SYS_read, maps->fd, maps->text + maps->have, sizeof maps->text - maps->have);
        if (got == INTERRUPTED)
            continue;
        if (got <= 0)
            return NULL;
        maps->have += (size_t)got;
    }
}

const char *vt_maps_hex(const char *s, uintptr_t *value) {
    *value = 0;
    for (;; s++) {
        if (*s >= '0' && *s <= '9')
            *value = *value << 4 | (uintptr_t)(*s - '0');
        else if (*s >= 'a' && *s <= 'f')
            *value = *value << 4 | (uintptr_t)(*s - 'a' + 10);
        else
            return s;
    }
}

static const char *past_word(const char *s) {
    while (*s && *s != ' ')
        s++;
    while (*s == ' ')
        s++;
    return s;
}

static bool parse(const char *s, struct vt_mapping *m) {
    s = vt_maps_hex(s, &m->start);
    s = vt_maps_hex(s + (*s == '-'), &m->end);
    if (*s != ' ' || strlen(s) < 6)
        return false;
    memcpy(m->access, s + 1, sizeof m->access);
    s = past_word(vt_maps_hex(s + 6, &m->offset)); /* at the device */
    s = past_word(s);
    for (m->inode = 0; *s >= '0' && *s <= '9'; s++)
        m->inode = m->inode * 10 + (uint64_t)(*s - '0');
    m->name = past_word(s);
    m->device = vt_maps_begins(m->name, "/dev/") && !vt_maps_begins(m->name, "/dev/shm/") &&
                !vt_maps_begins(m->name, "/dev/zero");
    return true;
}

bool vt_maps_next(struct vt_maps *maps, struct vt_mapping *mapping) {
    for (const char *line; (line = vt_maps_line(maps));)
        if (parse(line, mapping))
            return true;
    return false;
}

void vt_maps_close(struct vt_maps *maps) {
    VT_SYS1(SYS_close, maps->fd);
}
