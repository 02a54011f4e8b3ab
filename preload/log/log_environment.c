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
    struct vt_rec_env *r;
    uint32_t name_bytes = (uint32_t)strlen(name);
    uint32_t value_bytes = (uint32_t)strnlen(value, VT_ENV_MAX_BYTES);
    uint32_t bytes = (uint32_t)sizeof *r + ((name_bytes + value_bytes + 7) & ~7u);
    r = (void *)vt_log_reserve_entry(t, bytes);
    if (!r)
        return;
    r->name_bytes = name_bytes;
    r->value_bytes = value_bytes;
    memset(r + 1, 0, bytes - sizeof *r);
    memcpy(r + 1, name, name_bytes);
    memcpy((char *)(r + 1) + name_bytes, value, value_bytes);
    vt_log_commit(t, &r->word, vt_word(VT_REC_ENV, 0, 0, bytes), bytes);
}

void vt_log_environment_write(struct vt_thread *t) {
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = vt_options_env(variables[i]);
        if (value)
            write_variable(t, variables[i], value);
    }
}
