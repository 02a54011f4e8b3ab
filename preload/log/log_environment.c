/* SPDX-License-Identifier: MIT */
/*
 * Environment variables that influence GPU memory: allocator settings, visible devices, our own
 * limit. They are written once, into the log's first chunk, so that the report of a failed
 * allocation knows what is already set and does not advise it again. Called by log.c. No other
 * variable is recorded.
 */
#include "log_file.h"

#include <string.h>

static const char *const variables[] = {
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_HIP_ALLOC_CONF",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "XLA_PYTHON_CLIENT_ALLOCATOR",
    "XLA_PYTHON_CLIENT_PREALLOCATE",
    "XLA_PYTHON_CLIENT_MEM_FRACTION",
    "XLA_CLIENT_MEM_FRACTION",
    "TF_GPU_ALLOCATOR",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "CUPY_GPU_MEMORY_LIMIT",
    "CUDA_VISIBLE_DEVICES",
    "CUBLAS_WORKSPACE_CONFIG",
    "NCCL_CUMEM_ENABLE",
    "VRAMTRACE_ALARM",
    "VRAMTRACE_LIMIT",
    "VRAMTRACE_INJECT",
    "VRAMTRACE_FRAMEWORK",
    "VRAMTRACE_SIM_OTHER",
};

static void write_variable(struct vt_thread *t, const char *name, const char *value) {
    const struct vt_rec_env r = {.word = VT_REC_ENV,
                                 .name_bytes = (uint32_t)strlen(name),
                                 .value_bytes = (uint32_t)strnlen(value, VT_ENV_MAX_BYTES)};
    vt_log_entry(t, &r, sizeof r, (struct vt_log_part){name, r.name_bytes},
                 (struct vt_log_part){value, r.value_bytes});
}

void vt_log_environment_write(struct vt_thread *t) {
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = vt_options_env(variables[i]);
        if (value)
            write_variable(t, variables[i], value);
    }
}
