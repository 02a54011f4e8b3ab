/* SPDX-License-Identifier: MIT */
/*
 * Packs (.vtz): logs with what belongs to them, compressed, and with what the machine answers about them, so that
 * a report needs no other file. `vramtrace pack` writes one; every command that takes a log reads it. PACK stands
 * for its log, or for a folder of logs: each of these is PACK/LOG then.
 *
 *     struct vt_pack_header
 *     of each section: struct vt_pack_section, its name, zstd frames
 *
 * All numbers are little-endian. The logs are first; behind each is what belongs to it; the answers are last.
 */
#ifndef VRAMTRACE_ANALYZER_PACK_H
#define VRAMTRACE_ANALYZER_PACK_H

#include "base/base.h"

#define VT_PACK_MAGIC   "vramtrz" /* 8 bytes with the NUL */
#define VT_PACK_VERSION 1

struct vt_pack_header {
    char magic[8];
    uint32_t version, version_min; /* who reads the latter can read it */
    uint32_t folder;               /* 1: it was made of a folder, or of several logs */
    uint32_t section_count;
};

enum vt_pack_kind {
    VT_PACK_LOG = 1,
    VT_PACK_NVML,    /* LOG.nvml */
    VT_PACK_SUMMARY, /* LOG.summary */
    VT_PACK_ANSWERS, /* vt_answers_bytes; it has no name */
    VT_PACK_KINDS
};
#define VT_PACK_RUNNING 1u /* of a log: its process ran when it was packed */
#define VT_PACK_FOREIGN 2u /* ... it belonged to another user than who packed it */

struct vt_pack_section {
    uint32_t kind, flags;
    uint32_t name_bytes; /* the log's name, without its folder and without a NUL */
    uint32_t check;      /* vt_pack_check */
    uint64_t packed, unpacked;
};
#define VT_PACK_NAME_MOST 255u

#define VT_SUMMARY_SUFFIX ".summary"

/* Of a section's header with check 0, and its name. (The contents have zstd's checksum.) */
uint32_t vt_pack_check(struct vt_pack_section section, const char *name);

/* The longest that a section may be unpacked, by its kind and by its packed length: nobody writes more, and what
 * claims more is there to fill the disk. */
uint64_t vt_pack_most(uint32_t kind, uint64_t packed);

/* --- reading --- */

/* A pack that was opened stays open until the process ends. */
struct vt_pack;

/* Opens a pack and checks its sections' headers. Returns 0, also with *pack NULL: it is none; or -errno with
 * `message`: a broken one. */
int vt_pack_open(const char *path, const struct vt_pack **pack, struct vt_string *message);
bool vt_pack_is_folder(const struct vt_pack *pack);

/* Whether a file is a pack, by its first bytes. */
bool vt_pack_is_pack(const char *path);

/* The name of its log of this index; NULL: it has not so many. */
const char *vt_pack_log(const struct vt_pack *pack, uint32_t index);

/* How a log was found. */
struct vt_log_origin {
    bool packed;
    bool running, foreign;      /* if it is packed: see above */
    struct vt_answers *answers; /* of its pack; NULL: it is in none */
};

/* Opens a log, or what belongs to it (`kind`), for reading, wherever it is: a packed one is unpacked into a
 * temporary file without a name, up to `most` bytes of it. `origin` may be NULL. Returns the descriptor, or -errno
 * with `message`. */
int vt_log_file_open(const char *path, enum vt_pack_kind kind, uint64_t most,
                     struct vt_log_origin *origin, struct vt_string *message);

/* Reads up to `size` bytes at `offset`; *got: how many were read. Returns 0, or -errno with the
 * file, the offset and the reason in `message`. */
int vt_log_read_at(int fd, const char *path, void *bytes, uint32_t size, uint64_t offset,
                   uint32_t *got, struct vt_string *message);

/* Copies a chunk that may be written to meanwhile (VT_CHUNK_BYTES; *got: how many there are). Words of one copy are read in
 * any order: a record's first word may be there without the rest, and `finished` without the last records. So the header is
 * read before, and what had a first word in the copy is copied once more. Pairs with vt_log_commit and release_chunk in the
 * tracer. Returns 0, or -errno with `message`. */
int vt_log_copy_chunk(int fd, const char *path, uint32_t number, uint8_t *bytes, uint32_t *got,
                      struct vt_string *message);

/* stat of the log, or of the pack that it is in. */
struct stat;
int vt_log_file_stat(const char *path, struct stat *st);

/* The path of what belongs to a log: LOG.nvml, LOG.summary. Free it. */
char *vt_log_file_path(const char *log, enum vt_pack_kind kind);

/* --- writing (pack_write.c) --- */

struct vt_pack_writer {
    int fd;
    struct vt_pack_header header;
    uint64_t at;
};

/* In a new file. Only vt_pack_end makes it a pack, so half of one is none. */
struct vt_pack_writer vt_pack_begin(int fd, bool folder);

/* What the others do returns 0 or -errno with `message`. */

/* Adds a section: `section` with kind and flags, which gets its lengths; its contents are `bytes` of `from`. */
int vt_pack_add_file(struct vt_pack_writer *w, struct vt_pack_section *section, const char *name,
                     int from, uint64_t bytes, struct vt_string *message);
int vt_pack_add_bytes(struct vt_pack_writer *w, struct vt_pack_section *section,
                      const struct vt_string *bytes, struct vt_string *message);
int vt_pack_end(struct vt_pack_writer *w, struct vt_string *message);

#endif
