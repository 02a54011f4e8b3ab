/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: LOG.summary. Its bytes depend on the build, so the input describes changes to a generated one. OFFSET
 * SIZE DESCRIPTION
 *      0    1 which log; 128 and more: what follows is the whole file
 *      then changes:
 *      0    4 where, modulo the summary's length
 *      4    1 how many bytes (0 to 63); 64 and more: it is cut there
 *      5      the bytes
 * It is as long as it says and has the right checksum, as of somebody who knows how it is made; and it is not
 * compressed.
 */
#define _GNU_SOURCE
#include "files.h"
#include "logs.h"

#include "build.h"
#include "compact/compact.h"
#include "logfile/logfile.h"
#include "report/report.h"

#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#define LOG     "log"
#define SUMMARY "log" VT_SUMMARY_SUFFIX

enum { NAME = 16, ROOM = 1 << 24, SUM = 4 };

static struct {
    uint8_t *bytes; /* name and state */
    size_t length;
} made[VT_FUZZ_LOG_COUNT];

static void name_generation(int log) {
    uint64_t first = 1;
    if (pwrite(log, &first, sizeof first, offsetof(struct vt_log_header, summary)) != sizeof first)
        abort();
}

static int write_log(unsigned number) {
    int fd = vt_fuzz_file(LOG);
    vt_fuzz_log_write(number, fd);
    return fd;
}

/* The summary of a log, unpacked. */
static void make(unsigned number) {
    struct vt_log log;
    struct stat st;
    VT_SCOPED_STRING message = {0};
    write_log(number);
    int fd = vt_fuzz_file(SUMMARY);
    if (vt_log_open(LOG, &log, &message))
        abort();
    vt_compact_summarize(&log, UINT64_MAX, &message); /* its folder cannot be synced here */
    vt_log_close(&log);
    if (fstat(fd, &st) || st.st_size < NAME)
        abort();
    VT_SCOPED uint8_t *packed = vt_alloc((size_t)st.st_size, 1);
    uint8_t *bytes = vt_alloc(ROOM, 1);
    if (pread(fd, packed, (size_t)st.st_size, 0) != st.st_size)
        abort();
    size_t length = ZSTD_decompress(bytes, ROOM, packed + NAME, (size_t)st.st_size - NAME);
    if (ZSTD_isError(length) || length < NAME + SUM)
        abort();
    made[number].bytes = bytes;
    made[number].length = length;
}

static void write_changed(unsigned number, const uint8_t *data, size_t size) {
    size_t length = made[number].length;
    VT_SCOPED uint8_t *bytes = vt_alloc(length, 1);
    memcpy(bytes, made[number].bytes, length);
    while (size >= 5 && length > NAME + SUM) {
        uint32_t where;
        memcpy(&where, data, sizeof where);
        size_t at = NAME + where % (length - NAME - SUM), count = data[4];
        data += 5;
        size -= 5;
        if (count >= 64) {
            length = at + SUM;
            continue;
        }
        count = count < size ? count : size;
        count = count < length - SUM - at ? count : length - SUM - at;
        memcpy(bytes + at, data, count);
        data += count;
        size -= count;
    }
    uint32_t sum = (uint32_t)crc32_z(0, bytes, length - SUM);
    memcpy(bytes + length - SUM, &sum, sizeof sum);
    vt_fuzz_file_write(SUMMARY, bytes, length);
}

/* All that a report has of it, and the next summary. */
static void read_all(unsigned turn) {
    static const char *const logs[] = {LOG};
    struct vt_model_options options = {.device = -1, .timeline = turn ? VT_TIMELINE_COURSES : 0};
    struct vt_model model;
    struct vt_log log;
    VT_SCOPED_STRING message = {0};
    if (!vt_build_model(logs, 1, &options, &model, &message)) {
        for (const struct vt_format *f = vt_formats; f->name; f++)
            f->write(&model, &(struct vt_format_options){0}, vt_fuzz_sink());
        vt_build_free(&model);
    } else if (!message.length) {
        abort();
    }
    message.length = 0;
    if (!vt_log_open(LOG, &log, &message)) {
        vt_compact_summarize(&log, UINT64_MAX, &message);
        vt_log_close(&log);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size)
        return 0;
    unsigned number = data[0] % VT_FUZZ_LOG_COUNT;
    if (!made[number].bytes)
        make(number);
    if (data[0] & 128)
        vt_fuzz_file_write(SUMMARY, data + 1, size - 1);
    else
        write_changed(number, data + 1, size - 1);
    name_generation(write_log(number));
    read_all(data[0] & 64);
    return 0;
}
