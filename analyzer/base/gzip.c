/* SPDX-License-Identifier: MIT */
/*
 * Writes bytes gzip-compressed (see gzip.h).
 */
#include "gzip.h"

#include "files.h"
#include "util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* zlib's largest window; 16: with gzip's header and checksum */
#define PIECE       (1u << 30)

struct vt_gzip {
    z_stream z;
    FILE *out;
    uint8_t room[1 << 16];
};

struct vt_gzip *vt_gzip_open(FILE *out) {
    struct vt_gzip *g = vt_alloc(1, sizeof *g);
    g->out = out;
    if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                     Z_DEFAULT_STRATEGY)) {
        free(g);
        return NULL;
    }
    return g;
}

static void drain(struct vt_gzip *g, int flush) {
    int state;
    do {
        g->z.next_out = g->room;
        g->z.avail_out = sizeof g->room;
        state = deflate(&g->z, flush);
        fwrite(g->room, 1, sizeof g->room - g->z.avail_out, g->out);
    } while (!ferror(g->out) && (flush == Z_FINISH ? state != Z_STREAM_END : !g->z.avail_out));
}

void vt_gzip_add(struct vt_gzip *g, const void *bytes, size_t length) {
    g->z.next_in = (uint8_t *)bytes;
    while (length && !ferror(g->out)) {
        g->z.avail_in = length < PIECE ? (uInt)length : PIECE;
        length -= g->z.avail_in;
        drain(g, Z_NO_FLUSH);
    }
}

void vt_gzip_close(struct vt_gzip *g) {
    g->z.avail_in = 0;
    drain(g, Z_FINISH);
    deflateEnd(&g->z);
    free(g);
}

int vt_gzip_write(FILE *out, const uint8_t *bytes, size_t length) {
    struct vt_gzip *g = vt_gzip_open(out);
    if (!g)
        return -ENOMEM;
    vt_gzip_add(g, bytes, length);
    vt_gzip_close(g);
    return 0;
}

size_t vt_gzip_peek(int fd, char *text, size_t size) {
    uint8_t packed[8192];
    ssize_t got = vt_file_read_at(fd, packed, sizeof packed, 0);
    z_stream z = {.next_in = packed, .next_out = (uint8_t *)text, .avail_out = (uInt)size - 1};
    text[0] = 0;
    if (got < 2)
        return 0;
    if (packed[0] != 0x1f || packed[1] != 0x8b) {
        size_t length = (size_t)got < size ? (size_t)got : size - 1;
        memcpy(text, packed, length);
        text[length] = 0;
        return length;
    }
    z.avail_in = (uInt)got;
    if (inflateInit2(&z, GZIP_WINDOW))
        return 0;
    inflate(&z, Z_SYNC_FLUSH);
    inflateEnd(&z);
    size_t length = size - 1 - z.avail_out;
    text[length] = 0;
    return length;
}
