/* SPDX-License-Identifier: MIT */
/*
 * Writes bytes gzip-compressed (see gzip.h).
 */
#include "gzip.h"

#include <errno.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* zlib's largest window; 16: with gzip's header and checksum */
#define PIECE       (1u << 30)

int vt_gzip_write(FILE *out, const uint8_t *bytes, size_t length) {
    uint8_t room[1 << 15];
    z_stream z = {0};
    int state;
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY))
        return -ENOMEM;
    z.next_in = (uint8_t *)bytes;
    do {
        if (!z.avail_in && length) {
            z.avail_in = length < PIECE ? (uInt)length : PIECE;
            length -= z.avail_in;
        }
        z.next_out = room;
        z.avail_out = sizeof room;
        state = deflate(&z, length ? Z_NO_FLUSH : Z_FINISH);
        fwrite(room, 1, sizeof room - z.avail_out, out);
    } while (state != Z_STREAM_END && !ferror(out));
    deflateEnd(&z);
    return 0;
}
