/* SPDX-License-Identifier: MIT */
/* A part of log_format.h: the file beside a log that holds NVML's reports. */
#ifndef VRAMTRACE_LOG_NVML_H
#define VRAMTRACE_LOG_NVML_H

/* The file LOG.nvml lies beside the log LOG and holds NVML's reports from the time of `vramtrace run`. Its header
 * identifies the log. Only the sampler writes it, by appending: this header, then only GPU and SAMPLE records. A reader
 * ignores a truncated last record. The log itself never has these records.
 * OFFSET SIZE DESCRIPTION
 *      0    8 magic, VT_NVML_MAGIC
 *      8    4 version written: VT_LOG_VERSION
 *     12    4 lowest version a reader must understand to read this file
 *     16    4 clock        } copied from the log's header: times count from the
 *     20    4 pid          } log's start, and a file with other values belongs
 *     24    8 start ticks  } to another log
 *     32    8 process start time
 *     40   40 run id
 *     80   40 boot id
 *    120    8 zero
 */
#define VT_NVML_MAGIC      "vramnvm\x01"
#define VT_NVML_SUFFIX     ".nvml"
#define VT_NVML_MOST_BYTES (1u << 20) /* the limit for writing and reading */
struct vt_nvml_header {
    char magic[8];
    uint32_t version, version_min;
    uint32_t clock, pid;
    uint64_t start_ticks, process_start;
    char run_id[40];
    char boot_id[40];
    uint64_t zero;
};
static_assert(sizeof(struct vt_nvml_header) == 128, "byte table");

#endif
