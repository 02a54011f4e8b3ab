/* SPDX-License-Identifier: MIT */
/*
 * LOG.nvml, a file beside a log, with samples from NVML (its format: log_format.h). log_reader.c and `vramtrace dump`
 * read it; run_nvml.c writes it.
 */
#ifndef VRAMTRACE_ANALYZER_NVML_FILE_H
#define VRAMTRACE_ANALYZER_NVML_FILE_H

#include "log_reader.h"

struct vt_nvml_file {
    char *path;
    uint8_t *bytes; /* the whole file, 8-aligned; NULL: no file, or not usable */
    /* for vt_log_next: end of the records, which start at sizeof(struct vt_nvml_header) */
    uint32_t end;
    char *fault; /* why the file is ignored; NULL: no file, or no fault */
};

/* The path of a log's LOG.nvml. Free it. */
char *vt_nvml_file_path(const char *log_path);

/* The header that a log's LOG.nvml must have. */
struct vt_nvml_header vt_nvml_file_header(const struct vt_log_header *log);

/* Reads the whole file. Never fails: see `fault`. Free with vt_nvml_file_free. */
void vt_nvml_file_read(const char *log_path, const struct vt_log_header *log,
                       struct vt_nvml_file *file);
void vt_nvml_file_free(struct vt_nvml_file *file);

/* Adds the file's records to log->gpus and log->samples, or a note with the reason to log->notes.
 * Returns the newest sample's time in ticks; 0: none. */
uint64_t vt_nvml_file_add(struct vt_log *log);

#endif
