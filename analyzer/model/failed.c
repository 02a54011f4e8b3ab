/* SPDX-License-Identifier: MIT */
/*
 * Texts for CUDA's errors when an allocation failed for a reason other than lack of memory (see failed.h).
 */
#include "model.h"

static const struct error {
    int result; /* 0: any other result */
    const char *name, *causes;
} errors[] = {
    {1, "invalid value", NULL},
    {3, "not initialized", "cuInit failed or was not called; fork() after CUDA was in use"},
    {35, "no driver for this CUDA runtime",
     "no driver here, or one that is older than the runtime (nvidia-smi shows its newest CUDA)"},
    {100, "no CUDA device",
     "no GPU or no driver here (nvidia-smi shows both); a container without GPUs; "
     "CUDA_VISIBLE_DEVICES names no device that is there"},
    {700, "illegal address", "an earlier kernel failed: each later call returns that error"},
    {802, "system not ready", "on NVSwitch machines, no Fabric Manager that matches the driver"},
    {803, "driver mismatch",
     "libcuda.so.1 and the kernel's driver are of two versions: an update without a reboot"},
    {804, "forward compatibility not supported",
     "libcuda.so.1 comes from a compat package that this GPU does not support"},
    {0, "error", NULL},
};

static const struct error *find(int result) {
    const struct error *error = errors;
    while (error->result && error->result != result)
        error++;
    return error;
}

const char *vt_failed_name(int result) {
    return find(result)->name;
}

char *vt_failed_text(const struct vt_process *p, const struct vt_failed *failed, unsigned width) {
    VT_SCOPED char *at = vt_stack_text(p, failed->stack, width, false);
    return vt_formatted("%s allocation%s failed: %s (%d) at %s", VT_NUMBER(failed->count),
                        vt_plural(failed->count), vt_failed_name(failed->result), failed->result,
                        at);
}

char *vt_failed_causes(const struct vt_process *p, const struct vt_failed *failed) {
    const char *causes = find(failed->result)->causes;
    const char *visible = vt_process_variable(p, "CUDA_VISIBLE_DEVICES");
    if (failed->result == 100 && visible)
        return vt_formatted("CUDA_VISIBLE_DEVICES was \"%s\"; %s", visible, causes);
    return causes ? vt_strdup(causes) : NULL;
}
