/* SPDX-License-Identifier: MIT */
/*
 * All runs of a folder as one fleet, and the figures by which runs are compared (see fleet.h). For the gate,
 * --against, and for diff --run all.
 */
#include "fleet.h"

#include "log/log.h"

int vt_fleet_read_folder(struct vt_fleet *fleet, const char *folder,
                         const struct vt_model_builder *builder,
                         const struct vt_model_options *options, vt_fleet_choose *choose, void *to,
                         struct vt_string *message) {
    char *folders[] = {(char *)folder};
    struct vt_logs logs;
    int error = vt_logs_find_merged(folders, 1, "all", &logs, message);
    for (uint32_t i = 0; i < logs.count && !error; i++) {
        struct vt_model one;
        if (vt_logs_is_merged(logs.paths[i])) {
            error = vt_merged_read(logs.paths[i], fleet, message);
            continue;
        }
        error = builder->build((const char *const *)&logs.paths[i], 1, options, &one, message);
        if (error)
            break;
        if (choose(to, &one))
            vt_fleet_add(fleet, &one.processes[0]);
        builder->free(&one);
    }
    vt_logs_free(&logs);
    vt_fleet_finish(fleet);
    return error;
}

uint64_t vt_fleet_peak(const struct vt_fleet *f, const struct vt_fleet_process *p) {
    uint64_t peak = 0;
    for (uint32_t i = p->first_device; i < p->first_device + p->device_count; i++)
        if (f->devices[i].ordinal != VT_DEVICE_HOST && f->devices[i].peak_bytes > peak)
            peak = f->devices[i].peak_bytes;
    return peak;
}

uint64_t vt_fleet_held(const struct vt_fleet *f, const struct vt_fleet_process *p) {
    uint64_t held = 0;
    for (uint32_t i = p->first_cell; i < p->first_cell + p->cell_count; i++)
        if (f->lines[f->cells[i].line].layer == VT_LAYER_DRIVER)
            held += f->cells[i].held_bytes;
    return p->python ? held : p->live_bytes;
}
