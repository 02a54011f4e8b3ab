/* SPDX-License-Identifier: MIT */
/*
 * Reads packs (see pack.h), and opens every log. A pack may come from strangers: its lengths are checked
 * against the file and against bounds, and unpacked data against its lengths.
 */
#include "pack.h"

#include "short_records.h"
#include "vramtrace/log_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

struct section {
    struct vt_pack_section head;
    char name[VT_PACK_NAME_MOST + 1];
    uint64_t at; /* offset of its frames in the file */
};

struct vt_pack {
    char *path;
    int fd;
    bool folder;
    struct section *sections;
    uint32_t count;
    struct vt_answers *answers;
    struct vt_pack *next;
};

static struct vt_pack *opened; /* a list of all */

uint32_t vt_pack_check(struct vt_pack_section section, const char *name) {
    section.check = 0;
    return (uint32_t)vt_hash_bytes(vt_hash_bytes(0, &section, sizeof section), name,
                                   section.name_bytes);
}

uint64_t vt_pack_most(uint32_t kind, uint64_t packed) {
    static const uint64_t by_kind[VT_PACK_KINDS] = {
        [VT_PACK_LOG] = 1ull << 41,
        [VT_PACK_NVML] = VT_NVML_MOST_BYTES,
        [VT_PACK_SUMMARY] = 1ull << 40,
        [VT_PACK_ANSWERS] = 1ull << 30, /* loaded into memory */
    };
    enum { SMALL = 64 << 20, RATIO = 1024 };
    uint64_t by_length = packed < UINT64_MAX / RATIO - SMALL ? SMALL + packed * RATIO : UINT64_MAX;
    uint64_t most = kind < VT_PACK_KINDS ? by_kind[kind] : UINT64_MAX;
    return most < by_length ? most : by_length;
}

bool vt_pack_is_folder(const struct vt_pack *pack) {
    return pack->folder;
}

const char *vt_pack_log(const struct vt_pack *pack, uint32_t index) {
    for (uint32_t i = 0; i < pack->count; i++)
        if (pack->sections[i].head.kind == VT_PACK_LOG && index-- == 0)
            return pack->sections[i].name;
    return NULL;
}

static const struct section *find_section(const struct vt_pack *pack, enum vt_pack_kind kind,
                                          const char *name) {
    for (uint32_t i = 0; i < pack->count; i++)
        if (pack->sections[i].head.kind == kind && !strcmp(pack->sections[i].name, name))
            return &pack->sections[i];
    return NULL;
}

/* --- unpacking --- */

/* A section being unpacked. */
struct unpacking {
    const struct section *section;
    int to;
    ZSTD_DStream *stream;
    char *out;
    uint64_t done;    /* unpacked bytes */
    uint64_t most;    /* ... at most */
    bool whole;       /* a frame has ended, and nothing follows */
    const char *what; /* the error, or NULL */
};

static int unpack_part(struct unpacking *u, const char *bytes, size_t length) {
    ZSTD_inBuffer in = {bytes, length, 0};
    ZSTD_outBuffer out = {u->out, 0, 0};
    int error = 0;
    while (!error && u->done < u->most &&
           (in.pos < in.size || (!u->whole && out.pos == out.size && out.size))) {
        out = (ZSTD_outBuffer){u->out, ZSTD_DStreamOutSize(), 0};
        size_t state = ZSTD_decompressStream(u->stream, &out, &in);
        u->whole = state == 0;
        u->what = ZSTD_isError(state) ? ZSTD_getErrorName(state)
                  : out.pos > u->section->head.unpacked - u->done
                      ? "it holds more than its header says"
                      : NULL;
        if (u->what)
            return -EINVAL;
        error = vt_file_write_at(u->to, u->out, out.pos, u->done);
        u->done += out.pos;
    }
    return error;
}

/* Unpacks a section, up to `most` bytes of it. Returns the descriptor of a file that has them, or -errno with
 * `message`. */
static int unpack(const struct vt_pack *pack, const struct section *s, uint64_t most,
                  struct vt_string *message) {
    struct unpacking u = {.section = s, .to = vt_file_temporary(), .most = most};
    int error = u.to < 0 ? -errno : 0;
    VT_SCOPED char *out = vt_alloc(ZSTD_DStreamOutSize(), 1),
                   *in = vt_alloc(ZSTD_DStreamInSize(), 1);
    u.out = out;
    u.stream = ZSTD_createDStream();
    for (uint64_t read = 0; !error && read < s->head.packed && u.done < most;) {
        uint64_t left = s->head.packed - read;
        size_t part = left < ZSTD_DStreamInSize() ? (size_t)left : ZSTD_DStreamInSize();
        if (vt_file_read_at(pack->fd, in, part, s->at + read) != (ssize_t)part)
            break;
        error = unpack_part(&u, in, part);
        read += part;
    }
    ZSTD_freeDStream(u.stream);
    if (!error && u.done < most && (!u.whole || u.done != s->head.unpacked)) {
        u.what = u.whole ? "it holds less than its header says" : "it is cut off";
        error = -EINVAL;
    }
    if (!error)
        return u.to;
    if (u.to >= 0)
        close(u.to);
    const char *name = s->name[0] ? s->name : "the list of names";
    if (u.what)
        vt_string_format(message, "%s: offset %llu: %s is damaged: %s", pack->path,
                         (unsigned long long)s->at, name, u.what);
    else
        vt_string_format(message, "%s: %s cannot be unpacked: %s (TMPDIR names the folder for it)",
                         pack->path, name, strerror(-error));
    return error;
}

/* --- opening --- */

static int refuse(const struct vt_pack *pack, uint64_t offset, const char *why,
                  struct vt_string *message) {
    vt_string_format(message, "%s: offset %llu: %s", pack->path, (unsigned long long)offset, why);
    return -EINVAL;
}

/* Whether the name may be a log's: it becomes part of a path that we show. */
static bool is_name(const struct section *s) {
    return s->name[0] && strlen(s->name) == s->head.name_bytes && !strchr(s->name, '/') &&
           strcmp(s->name, ".") != 0 && strcmp(s->name, "..") != 0;
}

/* Reads the header of the section at `*at`, and moves `*at` past the section. */
static int read_section(struct vt_pack *pack, uint64_t size, uint64_t *at,
                        struct vt_string *message) {
    struct section s = {.at = *at};
    uint64_t start = *at;
    if (vt_file_read_at(pack->fd, &s.head, sizeof s.head, *at) != sizeof s.head)
        return refuse(pack, start, "expected a section, found the end of the file: cut off",
                      message);
    s.at += sizeof s.head;
    if (s.head.name_bytes > VT_PACK_NAME_MOST)
        return refuse(pack, start, "a section's header is damaged", message);
    if (vt_file_read_at(pack->fd, s.name, s.head.name_bytes, s.at) != (ssize_t)s.head.name_bytes)
        return refuse(pack, start, "expected a section's name, found the end of the file: cut off",
                      message);
    if (vt_pack_check(s.head, s.name) != s.head.check)
        return refuse(pack, start, "a section's header is damaged", message);
    s.at += s.head.name_bytes;
    if (s.head.packed > size - s.at)
        return refuse(pack, start, "the section ends behind the end of the file: cut off", message);
    if (s.head.unpacked > vt_pack_most(s.head.kind, s.head.packed))
        return refuse(pack, start, "the section claims to be longer than any that is written",
                      message);
    *at = s.at + s.head.packed;
    bool belongs_to_log = s.head.kind < VT_PACK_ANSWERS && s.head.kind;
    if (belongs_to_log && (!is_name(&s) || find_section(pack, s.head.kind, s.name)))
        return refuse(pack, start, "the section has no name of its own", message);
    pack->sections[pack->count++] = s;
    return 0;
}

static int read_sections(struct vt_pack *pack, struct vt_string *message) {
    struct vt_pack_header h;
    struct stat st;
    if (vt_file_read_at(pack->fd, &h, sizeof h, 0) != sizeof h || fstat(pack->fd, &st))
        return refuse(pack, 0, "expected a pack's header, found the end of the file: cut off",
                      message);
    if (h.version_min > VT_PACK_VERSION) {
        vt_string_format(
            message,
            "%s: offset 12: the pack has format version %u and needs a reader of version "
            "%u; this vramtrace reads version %u: use a newer one",
            pack->path, h.version, h.version_min, VT_PACK_VERSION);
        return -EINVAL;
    }
    uint64_t at = sizeof h, size = (uint64_t)st.st_size;
    if (h.section_count > (size - at) / sizeof(struct vt_pack_section))
        return refuse(pack, 20, "it has less room than it claims to have sections: cut off",
                      message);
    pack->folder = h.folder;
    pack->sections = vt_alloc(h.section_count, sizeof *pack->sections);
    int error = 0;
    for (uint32_t i = 0; i < h.section_count && !error; i++)
        error = read_section(pack, size, &at, message);
    if (!error && at != size)
        return refuse(pack, at, "expected the end of the file", message);
    if (!error && (!vt_pack_log(pack, 0) || (!pack->folder && vt_pack_log(pack, 1))))
        return refuse(pack, 16, "it has no log, or several that are no folder", message);
    return error;
}

static int read_answers(struct vt_pack *pack, struct vt_string *message) {
    const struct section *s = find_section(pack, VT_PACK_ANSWERS, "");
    struct vt_string bytes = {0};
    if (!s)
        return refuse(pack, 0, "it has no list of names", message);
    VT_SCOPED_FD fd = unpack(pack, s, UINT64_MAX, message);
    if (fd < 0)
        return fd;
    bytes.room = bytes.length = (size_t)s->head.unpacked;
    bytes.text = vt_alloc(bytes.length, 1);
    vt_file_read_at(fd, bytes.text, bytes.length, 0);
    pack->answers = vt_answers_replay(&bytes);
    return pack->answers ? 0 : refuse(pack, s->at, "the list of names is damaged", message);
}

static void close_pack(struct vt_pack *pack) {
    if (pack->fd >= 0)
        close(pack->fd);
    vt_answers_close(pack->answers);
    free(pack->sections);
    free(pack->path);
    free(pack);
}

bool vt_pack_is_pack(const char *path) {
    static const char magic[8] = VT_PACK_MAGIC;
    char found[sizeof magic];
    VT_SCOPED_FD fd = vt_rights_open(path, path, NULL);
    return fd >= 0 && vt_file_read_at(fd, found, sizeof found, 0) == sizeof found &&
           !memcmp(found, magic, sizeof magic);
}

int vt_pack_open(const char *path, const struct vt_pack **found, struct vt_string *message) {
    *found = NULL;
    for (const struct vt_pack *pack = opened; pack; pack = pack->next)
        if (!strcmp(pack->path, path)) {
            *found = pack;
            return 0;
        }
    if (!vt_pack_is_pack(path))
        return 0;
    struct vt_pack *pack = vt_alloc(1, sizeof *pack);
    pack->path = vt_strdup(path);
    pack->fd = vt_rights_open(path, path, NULL);
    int error = read_sections(pack, message);
    if (!error)
        error = read_answers(pack, message);
    if (error) {
        close_pack(pack);
        return error;
    }
    pack->next = opened;
    *found = opened = pack;
    return 0;
}

/* --- logs in packs and folders --- */

/* A log in a pack. */
struct packed {
    const struct vt_pack *pack; /* NULL: not in a pack */
    const char *name;
};

/* The PACK of a path PACK/LOG, which continues after a file. Free it. NULL: another path. */
static char *path_of_pack(const char *path) {
    struct stat st;
    const char *slash = strrchr(path, '/');
    return slash && stat(path, &st) && errno == ENOTDIR ? vt_strndup(path, (size_t)(slash - path))
                                                        : NULL;
}

static int find_packed(const char *path, struct packed *found, struct vt_string *message) {
    VT_SCOPED char *before = path_of_pack(path);
    *found = (struct packed){.pack = NULL};
    int error = vt_pack_open(before ? before : path, &found->pack, message);
    if (error || !found->pack)
        return error;
    found->name = before ? vt_basename(path) : vt_pack_log(found->pack, 0);
    if (!before && found->pack->folder) {
        vt_string_format(message, "%s: expected a log, found a pack of several: name one, %s/%s",
                         path, path, found->name);
        return -EISDIR;
    }
    if (!find_section(found->pack, VT_PACK_LOG, found->name)) {
        vt_string_format(message, "%s: the pack has no log of this name", path);
        return -ENOENT;
    }
    return 0;
}

static int open_packed(const struct packed *packed, enum vt_pack_kind kind, uint64_t most,
                       struct vt_log_origin *origin, struct vt_string *message) {
    const struct section *log = find_section(packed->pack, VT_PACK_LOG, packed->name),
                         *s = find_section(packed->pack, kind, packed->name);
    *origin = (struct vt_log_origin){.packed = true,
                                     .running = log->head.flags & VT_PACK_RUNNING,
                                     .foreign = log->head.flags & VT_PACK_FOREIGN,
                                     .answers = packed->pack->answers};
    return s ? unpack(packed->pack, s, most, message) : -ENOENT;
}

char *vt_log_file_path(const char *log, enum vt_pack_kind kind) {
    static const char *const suffixes[VT_PACK_KINDS] = {
        [VT_PACK_LOG] = "", [VT_PACK_NVML] = VT_NVML_SUFFIX, [VT_PACK_SUMMARY] = VT_SUMMARY_SUFFIX};
    return vt_formatted("%s%s", log, suffixes[kind]);
}

int vt_log_file_open(const char *path, enum vt_pack_kind kind, uint64_t most,
                     struct vt_log_origin *origin, struct vt_string *message) {
    struct vt_log_origin unused;
    struct packed packed;
    origin = origin ? origin : &unused;
    *origin = (struct vt_log_origin){.packed = false};
    int error = find_packed(path, &packed, message);
    if (error || packed.pack)
        return error ? error : open_packed(&packed, kind, most, origin, message);
    VT_SCOPED char *file = vt_log_file_path(path, kind);
    const char *why;
    int fd = vt_rights_open(file, path, &why);
    if (fd < 0)
        vt_string_format(message, "%s: %s", file, why);
    return fd;
}

int vt_log_read_at(int fd, const char *path, void *bytes, uint32_t size, uint64_t offset,
                   uint32_t *got, struct vt_string *message) {
    ssize_t n = vt_file_read_at(fd, bytes, size, offset);
    *got = n < 0 ? 0 : (uint32_t)n;
    if (n >= 0)
        return 0;
    vt_string_format(message, "%s: offset %llu: cannot be read: %s", path,
                     (unsigned long long)offset, strerror((int)-n));
    return (int)n;
}

int vt_log_copy_chunk(int fd, const char *path, uint32_t number, uint8_t *bytes, uint32_t *got,
                      struct vt_string *message) {
    const uint64_t at = (uint64_t)number * VT_CHUNK_BYTES;
    struct vt_chunk_header head = {0};
    uint32_t end = sizeof head, length, again;
    const char *what;
    int error = vt_log_read_at(fd, path, &head, sizeof head, at, got, message);
    if (!error)
        error = vt_log_read_at(fd, path, bytes, VT_CHUNK_BYTES, at, got, message);
    if (error || *got < sizeof head)
        return error;
    memcpy(bytes, &head, sizeof head); /* as read before the records; model: HEAD_FIRST */
    if (head.magic != VT_CHUNK_MAGIC || vt_chunk_is_finished(&head))
        return 0;
    while ((length = vt_log_next(bytes, end, *got, &what)))
        end += length;
    return vt_log_read_at(fd, path, bytes + sizeof head, end - (uint32_t)sizeof head,
                          at + sizeof head, &again, message); /* model: COPY_TWICE */
}

int vt_log_file_stat(const char *path, struct stat *st) {
    VT_SCOPED char *pack = path_of_pack(path);
    vt_rights_note_owner(pack ? pack : path);
    return stat(pack ? pack : path, st);
}
