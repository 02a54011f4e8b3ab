/* SPDX-License-Identifier: MIT */
/*
 * NVIDIA's management library, NVML: the GPUs of this machine, and the memory that each process uses. Using it creates
 * no CUDA context. The library is opened at run time, since a machine may lack it. For run_nvml.c.
 */
#ifndef VRAMTRACE_ANALYZER_NVML_H
#define VRAMTRACE_ANALYZER_NVML_H

#include "base/base.h"

#include <sys/types.h>

#define VT_NVML_GPUS 64 /* further GPUs are ignored */

struct vt_nvml_process {
    pid_t pid;
    uint64_t bytes; /* UINT64_MAX: unknown */
};

struct vt_nvml_gpu {
    uint32_t number; /* NVML's index, by PCI bus order */
    bool has_uuid;
    uint8_t uuid[16];
    char uuid_text[96]; /* "GPU-7673696d-0000-4000-8000-000000000001" */
    char name[64];
    uint64_t total_bytes;
    uint64_t used_bytes, free_bytes; /* for all processes together */
    bool listed;                     /* `processes` is valid */
    struct vt_nvml_process *processes;
    size_t process_count, process_room;
};

struct vt_nvml {
    struct vt_nvml_gpu gpus[VT_NVML_GPUS];
    uint32_t count;
    struct vt_nvml_library *library;
};

/* Opens the library at `path` (NULL: the system's) and fills in the fields that do not change. GPUs divided into
 * instances (MIG) are left out, because their figures are not an instance's. False without a message: no library, or
 * no GPU. After true, free with vt_nvml_close. */
bool vt_nvml_open(const char *path, struct vt_nvml *nvml);
void vt_nvml_close(struct vt_nvml *nvml);

/* Updates the memory and the processes of gpus[i]. False: NVML no longer answers. */
bool vt_nvml_read(struct vt_nvml *nvml, uint32_t i);

/* "GPU-7673696d-0000-4000-8000-000000000001" -> 16 bytes; false: no UUID. */
bool vt_nvml_parse_uuid(const char *text, uint8_t uuid[16]);

/* Fills in the ordinal of each GPU in a process with this environment (a NUL after each variable); UINT32_MAX: not
 * visible, or unknown. */
void vt_nvml_ordinals(const struct vt_nvml *nvml, const char *environment, size_t length,
                      uint32_t ordinals[VT_NVML_GPUS]);

#endif
