/* SPDX-License-Identifier: MIT */
/*
 * Reads all runs of a folder as one job, and computes the figures that compare runs (see job.h). For the gate
 * (--against) and `diff --run all`.
 */
#include "job.h"

#include "logfile/logfile.h"

int vt_job_read_folder(struct vt_job *job, const char *folder,
                       const struct vt_model_builder *builder,
                       const struct vt_model_options *options, vt_job_choose *choose, void *to,
                       struct vt_string *message) {
    char *folders[] = {(char *)folder};
    struct vt_logs logs;
    int error = vt_logs_find_merged(folders, 1, "all", &logs, message);
    for (uint32_t i = 0; i < logs.count && !error; i++) {
        struct vt_model one;
        if (vt_logs_is_merged(logs.paths[i])) {
            error = vt_merged_read(logs.paths[i], job, message);
            continue;
        }
        error = builder->build((const char *const *)&logs.paths[i], 1, options, &one, message);
        if (error)
            break;
        if (choose(to, &one))
            vt_job_add(job, &one.processes[0]);
        builder->free(&one);
    }
    vt_logs_free(&logs);
    vt_job_finish(job);
    return error;
}

uint64_t vt_job_peak(const struct vt_job *f, const struct vt_job_process *p) {
    uint64_t peak = 0;
    for (uint32_t i = p->first_device; i < p->first_device + p->device_count; i++)
        if (f->devices[i].ordinal != VT_DEVICE_HOST && f->devices[i].peak_bytes > peak)
            peak = f->devices[i].peak_bytes;
    return peak;
}

uint64_t vt_job_held(const struct vt_job *f, const struct vt_job_process *p) {
    uint64_t held = 0;
    for (uint32_t i = p->first_cell; i < p->first_cell + p->cell_count; i++)
        if (f->lines[f->cells[i].line].layer == VT_LAYER_DRIVER)
            held += f->cells[i].held_bytes;
    return p->python ? held : p->live_bytes;
}
