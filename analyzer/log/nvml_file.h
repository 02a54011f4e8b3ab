/* SPDX-License-Identifier: MIT */
/*
 * LOG.nvml, the file beside a log with what NVML said (see log_format.h). For log_reader.c, for
 * `vramtrace dump`, and for run_nvml.c, which writes it.
 */
#ifndef VRAMTRACE_ANALYZER_NVML_FILE_H
#define VRAMTRACE_ANALYZER_NVML_FILE_H

#include "log_reader.h"

struct vt_nvml_file {
    char *path;
    uint8_t
        *bytes;   /* the whole file, 8-aligned; NULL: there is none, or nothing that can be read */
    uint32_t end; /* records: bytes + sizeof(struct vt_nvml_header) up to here, for vt_log_next */
    char *fault;  /* why it is left out; NULL: it is not, or there is none */
};

/* The path of a log's file; free it. */
char *vt_nvml_file_path(const char *log_path);

/* The header that the file of a log must have. */
struct vt_nvml_header vt_nvml_file_header(const struct vt_log_header *log);

void vt_nvml_file_read(const char *log_path, const struct vt_log_header *log,
                       struct vt_nvml_file *file);
void vt_nvml_file_free(struct vt_nvml_file *file);

/* Takes the file's records into log->gpus and log->samples, or says in log->notes why not. Returns
 * the newest sample's time, 0: none. */
uint64_t vt_nvml_file_take(struct vt_log *log);

#endif
