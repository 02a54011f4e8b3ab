/* SPDX-License-Identifier: MIT */
/*
 * Writes packs (see pack.h), for cmd_pack.c.
 */
#include "pack.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

static int fail(int error, struct vt_string *message) {
    vt_string_format(message, "the pack cannot be written: %s", strerror(-error));
    return error;
}

struct vt_pack_writer vt_pack_begin(int fd, bool folder) {
    return (struct vt_pack_writer){.fd = fd,
                                   .header = {.magic = VT_PACK_MAGIC,
                                              .version = VT_PACK_VERSION,
                                              .version_min = VT_PACK_VERSION,
                                              .folder = folder},
                                   .at = sizeof(struct vt_pack_header)};
}

/* A section under construction: its header is written once its lengths are known. */
struct packing {
    struct vt_pack_writer *w;
    ZSTD_CCtx *zstd;
    uint64_t at; /* offset of the next packed byte */
    char *out;
};

static int pack_part(struct packing *p, const char *bytes, size_t length, bool last) {
    ZSTD_inBuffer in = {bytes, length, 0};
    size_t left = 1;
    while (last ? left > 0 : in.pos < in.size) {
        ZSTD_outBuffer out = {p->out, ZSTD_CStreamOutSize(), 0};
        left = ZSTD_compressStream2(p->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        int error =
            ZSTD_isError(left) ? -ENOMEM : vt_file_write_at(p->w->fd, p->out, out.pos, p->at);
        if (error)
            return error;
        p->at += out.pos;
    }
    return 0;
}

/* A log of almost only zeros shrinks so much that readers would refuse its section: a skippable frame makes the
 * section longer. */
static int fill_up(struct packing *p, struct vt_pack_section *s) {
    enum { HEAD = 8 };
    uint64_t step = 1;
    if (s->unpacked <= vt_pack_most(s->kind, s->packed))
        return 0;
    if (s->unpacked > vt_pack_most(s->kind, UINT64_MAX))
        return -EFBIG;
    while (s->unpacked > vt_pack_most(s->kind, s->packed + HEAD + step))
        step *= 2;
    uint32_t head[] = {ZSTD_MAGIC_SKIPPABLE_START, (uint32_t)step};
    int error = vt_file_write_at(p->w->fd, head, sizeof head, p->at);
    p->at += HEAD + step; /* the file's final length fills this with zeros */
    s->packed += HEAD + step;
    return error;
}

/* Writes the header, now that the contents are written. */
static int end_section(struct packing *p, struct vt_pack_section *s, const char *name,
                       struct vt_string *message) {
    struct vt_pack_writer *w = p->w;
    s->packed = p->at - w->at - sizeof *s - s->name_bytes;
    int error = fill_up(p, s);
    s->check = vt_pack_check(*s, name);
    if (!error)
        error = vt_file_write_at(w->fd, s, sizeof *s, w->at);
    if (!error)
        error = vt_file_write_at(w->fd, name, s->name_bytes, w->at + sizeof *s);
    if (error)
        return fail(error, message);
    w->at = p->at;
    w->header.section_count++;
    return 0;
}

/* Packs the contents of `from`, or `bytes` of memory. */
static int add(struct vt_pack_writer *w, struct vt_pack_section *s, const char *name, int from,
               const char *memory, uint64_t bytes, struct vt_string *message) {
    enum { PART = 1 << 20 };
    VT_SCOPED char *in = vt_alloc(PART, 1), *out = vt_alloc(ZSTD_CStreamOutSize(), 1);
    s->name_bytes = (uint32_t)strlen(name);
    struct packing p = {w, ZSTD_createCCtx(), w->at + sizeof *s + s->name_bytes, out};
    ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_checksumFlag, 1);
    int error = 0;
    for (bool last = false; !last && !error;) {
        uint64_t left = bytes - s->unpacked;
        size_t part = left < PART ? (size_t)left : PART;
        ssize_t got = memory ? (ssize_t)part : vt_file_read_at(from, in, part, s->unpacked);
        last = got < PART; /* or the file was truncated meanwhile */
        error = got < 0 ? (int)got
                        : pack_part(&p, memory ? memory + s->unpacked : in, (size_t)got, last);
        s->unpacked += got > 0 ? (uint64_t)got : 0;
    }
    ZSTD_freeCCtx(p.zstd);
    return error ? fail(error, message) : end_section(&p, s, name, message);
}

int vt_pack_add_file(struct vt_pack_writer *w, struct vt_pack_section *section, const char *name,
                     int from, uint64_t bytes, struct vt_string *message) {
    return add(w, section, name, from, NULL, bytes, message);
}

int vt_pack_add_bytes(struct vt_pack_writer *w, struct vt_pack_section *section,
                      const struct vt_string *bytes, struct vt_string *message) {
    return add(w, section, "", -1, bytes->text ? bytes->text : "", bytes->length, message);
}

int vt_pack_end(struct vt_pack_writer *w, struct vt_string *message) {
    int error = ftruncate(w->fd, (off_t)w->at)
                    ? -errno
                    : vt_file_write_at(w->fd, &w->header, sizeof w->header, 0);
    if (!error && fsync(w->fd))
        error = -errno;
    return error ? fail(error, message) : 0;
}
