/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: packs. The input describes one, so that its checks and its zstd frames are right where it does not lie.
 * OFFSET SIZE DESCRIPTION
 *      0    1 128 and more: what follows is the whole file; else bit 0: it is a folder
 *      then sections:
 *      0    1 kind
 *      1    1 flags
 *      2    1 length of the name, modulo 16
 *      3    1 how it lies: added to the length that it claims; 255: its check is wrong; 254: it is cut off
 *      4    2 length of the contents; 0xffff and less: such a log (logs.h), whole
 *      6      the name, the contents
 * pack.c is a part of this program: a pack that was opened stays open there, and has to go before the next input.
 */
#define _GNU_SOURCE
#include "files.h"
#include "logs.h"

#include "logfile/pack.c"
#include "logfile/logfile.h"

#include "build.h"
#include "report/report.h"

#define PACK "pack.vtz"

enum { HEAD = 6, WHOLE = 0xffff - VT_FUZZ_LOG_COUNT, BOUND = 1 << 22 };

static struct {
    char *packed;
    size_t length, unpacked;
} logs_packed[VT_FUZZ_LOG_COUNT];

/* Packs a log, once. */
static void make(unsigned number) {
    struct stat st;
    int fd = vt_fuzz_file("log");
    vt_fuzz_log_write(number, fd);
    if (fstat(fd, &st))
        abort();
    VT_SCOPED char *bytes = vt_alloc((size_t)st.st_size, 1);
    size_t room = ZSTD_compressBound((size_t)st.st_size);
    char *packed = vt_alloc(room, 1);
    if (pread(fd, bytes, (size_t)st.st_size, 0) != st.st_size)
        abort();
    logs_packed[number].packed = packed;
    logs_packed[number].length = ZSTD_compress(packed, room, bytes, (size_t)st.st_size, 1);
    logs_packed[number].unpacked = (size_t)st.st_size;
    vt_fuzz_file_remove("log");
}

/* Adds a section; returns how many bytes of the input describe it. */
static size_t add_section(const uint8_t *data, size_t size, struct vt_string *pack) {
    char packed[1 << 17];
    struct vt_pack_section s = {.kind = data[0], .flags = data[1], .name_bytes = data[2] % 16};
    unsigned lie = data[3], length = data[4] | (unsigned)data[5] << 8;
    const char *rest = (const char *)data + HEAD, *contents = packed;
    size_t left = size - HEAD;
    if (s.name_bytes > left)
        s.name_bytes = (uint32_t)left;
    const char *name = rest;
    rest += s.name_bytes;
    left -= s.name_bytes;
    if (length > WHOLE) {
        unsigned number = length - WHOLE - 1;
        if (!logs_packed[number].packed)
            make(number);
        contents = logs_packed[number].packed;
        s.packed = logs_packed[number].length;
        s.unpacked = logs_packed[number].unpacked;
        length = 0;
    } else {
        length = length < left ? length : (unsigned)left;
        s.packed = ZSTD_compress(packed, sizeof packed, rest, length, 1);
        s.unpacked = length;
    }
    if (lie == 254)
        s.packed /= 2;
    else if (lie != 255)
        s.unpacked += lie;
    s.check = vt_pack_check(s, name) + (lie == 255);
    vt_string_add_bytes(pack, (const char *)&s, sizeof s);
    vt_string_add_bytes(pack, name, s.name_bytes);
    vt_string_add_bytes(pack, contents, s.packed);
    return HEAD + s.name_bytes + length;
}

static void write_pack(const uint8_t *data, size_t size) {
    struct vt_pack_header header = {.magic = VT_PACK_MAGIC,
                                    .version = VT_PACK_VERSION,
                                    .version_min = VT_PACK_VERSION,
                                    .folder = data[0] & 1};
    VT_SCOPED_STRING pack = {0};
    vt_string_add_bytes(&pack, (const char *)&header, sizeof header);
    for (size_t at = 1; size - at >= HEAD && pack.length < BOUND; header.section_count++)
        at += add_section(data + at, size - at, &pack);
    memcpy(pack.text, &header, sizeof header);
    vt_fuzz_file_write(PACK, pack.text, pack.length);
}

static void read_all(void) {
    char name[] = PACK, *words[] = {name};
    struct vt_logs found;
    VT_SCOPED_STRING message = {0};
    if (vt_logs_find(words, 1, "all", &found, &message)) {
        if (!message.length)
            abort();
        return;
    }
    struct vt_model_options options = {.device = -1};
    struct vt_model model;
    message.length = 0;
    if (!vt_build_model((const char *const *)found.paths, found.count, &options, &model,
                        &message)) {
        for (const struct vt_format *f = vt_formats; f->name; f++)
            f->write(&model, &(struct vt_format_options){0}, vt_fuzz_sink());
        vt_build_free(&model);
    }
    vt_logs_free(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size)
        return 0;
    if (data[0] & 128)
        vt_fuzz_file_write(PACK, data + 1, size - 1);
    else
        write_pack(data, size);
    read_all();
    while (opened) {
        struct vt_pack *pack = opened;
        opened = pack->next;
        close_pack(pack);
    }
    return 0;
}
