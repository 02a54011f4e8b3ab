/* SPDX-License-Identifier: MIT */
/*
 * LOG.nvml -> samples (see nvml_file.h). The log is readable without it: if the file cannot be read or belongs to
 * another log, there are no samples, and a note says why.
 */
#include "nvml_file.h"

#include "log_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *vt_nvml_file_path(const char *log_path) {
    return vt_log_file_path(log_path, VT_PACK_NVML);
}

struct vt_nvml_header vt_nvml_file_header(const struct vt_log_header *log) {
    struct vt_nvml_header header = {
        .magic = VT_NVML_MAGIC,
        .version = VT_LOG_VERSION,
        .version_min = VT_LOG_VERSION,
        .clock = log->clock,
        .pid = log->pid,
        .start_ticks = log->start_ticks,
        .process_start = log->process_start,
    };
    memcpy(header.run_id, log->run_id, sizeof header.run_id);
    memcpy(header.boot_id, log->boot_id, sizeof header.boot_id);
    return header;
}

static void leave_out_samples(struct vt_nvml_file *file, const char *why) {
    file->fault = vt_formatted("%s: its samples are left out: %s", vt_basename(file->path), why);
}

static const char *check_header(const struct vt_nvml_header *header,
                                const struct vt_log_header *log) {
    struct vt_nvml_header expected = vt_nvml_file_header(log);
    if (memcmp(header->magic, expected.magic, sizeof header->magic))
        return "it is not a file of samples";
    if (header->version_min > VT_LOG_VERSION)
        return "this vramtrace does not read its format version";
    expected.version = header->version;
    expected.version_min = header->version_min;
    return memcmp(header, &expected, sizeof expected) ? "it belongs to another log" : NULL;
}

void vt_nvml_file_read(const char *log_path, const struct vt_log_header *log,
                       struct vt_nvml_file *file) {
    struct vt_nvml_header header;
    *file = (struct vt_nvml_file){.path = vt_nvml_file_path(log_path)};
    VT_SCOPED_STRING message = {0};
    int fd = vt_log_file_open(log_path, VT_PACK_NVML, UINT64_MAX, NULL, &message);
    if (fd < 0) {
        if (fd != -ENOENT)
            leave_out_samples(file, fd == -EINVAL ? "it is not a file" : strerror(-fd));
        return;
    }
    /* 8 bytes more: see `end` below */
    uint8_t *bytes = vt_alloc(VT_NVML_MOST_BYTES + 8, 1);
    uint32_t have;
    int error = vt_log_read_at(fd, file->path, bytes, VT_NVML_MOST_BYTES, 0, &have, &message);
    close(fd);
    if (error) {
        leave_out_samples(file, strerror(-error));
        free(bytes);
        return;
    }
    memcpy(&header, bytes, sizeof header);
    const char *fault = NULL;
    if (have < sizeof header) /* its writer may have been killed early */
        fault = memcmp(bytes, VT_NVML_MAGIC, have < 8 ? have : 8) ? "it is not a file of samples"
                                                                  : NULL;
    else
        fault = check_header(&header, log);
    if (fault)
        leave_out_samples(file, fault);
    if (fault || have < sizeof header) {
        free(bytes);
        return;
    }
    file->bytes = bytes;
    /* Four more bytes contain no record, but keep `end` from being VT_CHUNK_BYTES, where vt_log_next would report a
     * truncated record as damage. */
    file->end = (have & ~7u) + 4;
}

void vt_nvml_file_free(struct vt_nvml_file *file) {
    free(file->path);
    free(file->bytes);
    free(file->fault);
    *file = (struct vt_nvml_file){0};
}

static void add_record(struct vt_log *log, const uint8_t *record, uint32_t length) {
    uint64_t word;
    memcpy(&word, record, sizeof word);
    if (vt_word_type(word) == VT_REC_GPU)
        vt_log_add_record(log, record, length);
    else if (vt_word_type(word) == VT_REC_SAMPLE)
        vt_log_add_sample(log, record);
}

uint64_t vt_nvml_file_add(struct vt_log *log) {
    struct vt_nvml_file file;
    vt_nvml_file_read(log->path, &log->header, &file);
    uint32_t offset = log->nvml_read ? log->nvml_read : sizeof(struct vt_nvml_header), length;
    const char *what = NULL;
    for (; file.bytes && (length = vt_log_next(file.bytes, offset, file.end, &what));
         offset += length)
        add_record(log, file.bytes + offset, length);
    log->nvml_read = offset;
    if (what)
        vt_log_note(log, vt_formatted(
                             "%s: offset %u: %s is damaged: the samples from there on are left out",
                             vt_basename(file.path), offset, what));
    if (file.fault)
        vt_log_note(log, vt_strdup(file.fault));
    vt_nvml_file_free(&file);
    vt_log_sort_samples(log);
    return log->sample_count ? log->samples[log->sample_count - 1].when : 0;
}
