/* SPDX-License-Identifier: MIT */
/*
 * Packs (.vtz): logs with their other files, compressed, and with the machine's answers about them, so that a report
 * needs no other file. `vramtrace pack` writes one; every command that reads logs also reads packs. The path PACK
 * stands for the pack's log, or for a folder of logs, each then at PACK/LOG.
 *
 *     struct vt_pack_header
 *     for each section: struct vt_pack_section, its name, zstd frames
 *
 * All numbers are little-endian. The logs come first, each followed by its other files; the answers are last.
 */
#ifndef VRAMTRACE_ANALYZER_PACK_H
#define VRAMTRACE_ANALYZER_PACK_H

#include "base/base.h"

#define VT_PACK_MAGIC   "vramtrz" /* 8 bytes with the NUL */
#define VT_PACK_VERSION 1

struct vt_pack_header {
    char magic[8];
    uint32_t version, version_min; /* a reader of the latter can read it */
    uint32_t folder;               /* 1: made from a folder, or from several logs */
    uint32_t section_count;
};

enum vt_pack_kind {
    VT_PACK_LOG = 1,
    VT_PACK_NVML,    /* LOG.nvml */
    VT_PACK_SUMMARY, /* LOG.summary */
    VT_PACK_ANSWERS, /* vt_answers_bytes; without a name */
    VT_PACK_KINDS
};
#define VT_PACK_RUNNING 1u /* for a log: its process was running when it was packed */
#define VT_PACK_FOREIGN 2u /* ... it belonged to another user than the packer */

struct vt_pack_section {
    uint32_t kind, flags;
    uint32_t name_bytes; /* the log's name, without its folder and without a NUL */
    uint32_t check;      /* vt_pack_check */
    uint64_t packed, unpacked;
};
#define VT_PACK_NAME_MOST 255u

#define VT_SUMMARY_SUFFIX ".summary"

/* The checksum of a section's header (with `check` 0) and its name. The contents have zstd's checksum. */
uint32_t vt_pack_check(struct vt_pack_section section, const char *name);

/* The largest unpacked length of a section, by its kind and its packed length. Our packs never exceed this; a
 * section that claims more is an attempt to fill the disk. */
uint64_t vt_pack_most(uint32_t kind, uint64_t packed);

/* --- reading --- */

/* An opened pack stays open until the process ends. */
struct vt_pack;

/* Opens a pack and checks its sections' headers. Returns 0, with *pack NULL if the file is not a pack; or -errno
 * with `message` for a damaged pack. */
int vt_pack_open(const char *path, const struct vt_pack **pack, struct vt_string *message);
bool vt_pack_is_folder(const struct vt_pack *pack);

/* Whether a file is a pack, by its first bytes. */
bool vt_pack_is_pack(const char *path);

/* The name of the pack's log with this index; NULL: past the last. */
const char *vt_pack_log(const struct vt_pack *pack, uint32_t index);

/* Where a log was found. */
struct vt_log_origin {
    bool packed;
    bool running, foreign;      /* for a packed log: see above */
    struct vt_answers *answers; /* from its pack; NULL: not packed */
};

/* Opens a log, or one of its other files (`kind`), for reading. From a packed file, up to `most` bytes are unpacked
 * into a temporary file without a name. `origin` may be NULL. Returns the descriptor, or -errno with `message`. */
int vt_log_file_open(const char *path, enum vt_pack_kind kind, uint64_t most,
                     struct vt_log_origin *origin, struct vt_string *message);

/* Reads up to `size` bytes at `offset`; *got: how many were read. Returns 0, or -errno with the
 * file, the offset and the reason in `message`. */
int vt_log_read_at(int fd, const char *path, void *bytes, uint32_t size, uint64_t offset,
                   uint32_t *got, struct vt_string *message);

/* Copies a chunk, VT_CHUNK_BYTES, during possible writes; *got: bytes copied. The words of one copy are read in any
 * order: it may have a record's first word without the rest, and `finished` without the last records. So the header
 * is read first, and records whose first word is in the copy are copied again. Pairs with vt_log_commit and
 * release_chunk in the tracer. Returns 0, or -errno with `message`. */
int vt_log_copy_chunk(int fd, const char *path, uint32_t number, uint8_t *bytes, uint32_t *got,
                      struct vt_string *message);

/* stat of a log, or of its pack. */
struct stat;
int vt_log_file_stat(const char *path, struct stat *st);

/* The path of a log's other file: LOG.nvml or LOG.summary. Free it. */
char *vt_log_file_path(const char *log, enum vt_pack_kind kind);

/* --- writing (pack_write.c) --- */

struct vt_pack_writer {
    int fd;
    struct vt_pack_header header;
    uint64_t at;
};

/* Begins a pack. Only vt_pack_end makes it valid. */
struct vt_pack_writer vt_pack_begin(int fd, bool folder);

/* The other functions return 0, or -errno with `message`. */

/* Adds a section with the contents `bytes` of `from`. `section` has its kind and flags; fills in the lengths. */
int vt_pack_add_file(struct vt_pack_writer *w, struct vt_pack_section *section, const char *name,
                     int from, uint64_t bytes, struct vt_string *message);
int vt_pack_add_bytes(struct vt_pack_writer *w, struct vt_pack_section *section,
                      const struct vt_string *bytes, struct vt_string *message);
int vt_pack_end(struct vt_pack_writer *w, struct vt_string *message);

#endif
