/* SPDX-License-Identifier: MIT */
/*
 * NVIDIA's management library, asked what the GPUs of this machine are and who uses how much of
 * them. It makes no CUDA context. Opened at run time; where there is none, nothing is known. For
 * run_nvml.c.
 */
#ifndef VRAMTRACE_ANALYZER_NVML_H
#define VRAMTRACE_ANALYZER_NVML_H

#include "base/base.h"

#include <sys/types.h>

#define VT_NVML_GPUS 64 /* at most; later ones are left out */

struct vt_nvml_process {
    pid_t pid;
    uint64_t bytes; /* UINT64_MAX: not known */
};

struct vt_nvml_gpu {
    uint32_t number; /* NVML's index: the order on the PCI bus */
    bool has_uuid;
    uint8_t uuid[16];
    char name[64];
    uint64_t total_bytes;
    uint64_t used_bytes, free_bytes; /* of all processes */
    bool listed;                     /* `processes` could be read */
    struct vt_nvml_process *processes;
    size_t process_count, process_room;
};

struct vt_nvml {
    struct vt_nvml_gpu gpus[VT_NVML_GPUS];
    uint32_t count;
    struct vt_nvml_library *library;
};

/* Opens the library at `path` (NULL: the system's) and fills in what does not change. GPUs that are
 * cut into instances (MIG) are left out: their figures are not their instances'. False, in silence:
 * there is none, or no GPU. After true, vt_nvml_close frees it. */
bool vt_nvml_open(const char *path, struct vt_nvml *nvml);
void vt_nvml_close(struct vt_nvml *nvml);

/* Asks gpus[i] what is used, and by whom. False: it does not answer any more. */
bool vt_nvml_read(struct vt_nvml *nvml, uint32_t i);

/* "GPU-7673696d-0000-4000-8000-000000000001" -> 16 bytes; false: it is not one. */
bool vt_nvml_parse_uuid(const char *text, uint8_t uuid[16]);

/* For each GPU, the ordinal under which a process with this environment (variables with a NUL
 * behind each) sees it; UINT32_MAX: it does not, or that cannot be told. */
void vt_nvml_ordinals(const struct vt_nvml *nvml, const char *environment, size_t length,
                      uint32_t ordinals[VT_NVML_GPUS]);

#endif
