/* SPDX-License-Identifier: MIT */
/*
 * Untracked memory: the process's use by the driver's figures, minus the memory in the log. It consists of contexts,
 * code, the idle reserve of pools, and allocations that the tracer missed. The driver's figures come from the samples
 * that `vramtrace run` took through NVML.
 *
 * Which GPU has which ordinal? NVML numbers the GPUs of the machine, but a process numbers them by its environment. The
 * answer comes from, in this order:
 *   - the UUID, which is in the log if the program asked for it;
 *   - the fact that there is only one GPU;
 *   - NVML's list, if it shows the process on one GPU without a known UUID and the log has one such device;
 *   - the order by the process's environment when it started, unless that contradicts the list.
 */

#include "steps.h"

#include <string.h>

static const struct vt_log_device *device_of(const struct vt_log *log, unsigned ordinal) {
    for (size_t i = 0; i < log->device_count; i++)
        if (log->devices[i].ordinal == ordinal)
            return &log->devices[i];
    return NULL;
}

/* The ordinal with this GPU's UUID; VT_DEVICE_UNKNOWN: none. */
static unsigned named_ordinal(const struct vt_log *log, const struct vt_log_gpu *gpu) {
    for (size_t i = 0; i < log->device_count; i++)
        if (gpu->has_uuid && log->devices[i].has_uuid &&
            !memcmp(log->devices[i].uuid, gpu->uuid, sizeof gpu->uuid))
            return log->devices[i].ordinal;
    return VT_DEVICE_UNKNOWN;
}

static bool has_uuid(const struct vt_log *log, unsigned ordinal) {
    const struct vt_log_device *device = device_of(log, ordinal);
    return device && device->has_uuid;
}

/* Whether NVML ever listed the process on this GPU. */
static bool is_listed(const struct vt_replay *replay, uint32_t gpu) {
    for (size_t i = 0; i < replay->sample_count; i++)
        if (replay->samples[i].gpu == gpu && replay->samples[i].own_bytes != VT_SAMPLE_UNKNOWN)
            return true;
    return false;
}

/* The GPU that the process knows by this ordinal; NULL: unknown, or there are no samples. */
static const struct vt_log_gpu *gpu_of(const struct vt_sources *from, unsigned ordinal) {
    const struct vt_log *log = from->log;
    const struct vt_replay *replay = from->replay;
    const struct vt_log_gpu *listed = NULL, *ordered = NULL;
    unsigned listed_count = 0, used_count = 0;
    for (size_t i = 0; i < log->gpu_count; i++) {
        const struct vt_log_gpu *gpu = &log->gpus[i];
        unsigned named = named_ordinal(log, gpu);
        if (named == ordinal && named != VT_DEVICE_UNKNOWN)
            return gpu;
        if (named != VT_DEVICE_UNKNOWN)
            continue;
        if (is_listed(replay, gpu->number)) {
            listed = gpu;
            listed_count++;
        }
        if (gpu->ordinal == ordinal)
            ordered = gpu;
    }
    if (has_uuid(log, ordinal)) /* NVML does not show this GPU */
        return NULL;
    if (log->gpu_count == 1)
        return ordinal == 0 || ordinal == VT_DEVICE_UNKNOWN ? &log->gpus[0] : NULL;
    for (unsigned d = 0; d < VT_DEVICE_HOST; d++)
        used_count += replay->devices[d].driver.used && !has_uuid(log, d);
    if (listed_count == 1 && used_count == 1)
        return replay->devices[ordinal].driver.used ? listed : NULL;
    if (ordinal == VT_DEVICE_UNKNOWN ||
        (listed_count && ordered && !is_listed(replay, ordered->number) &&
         replay->devices[ordinal].driver.used))
        return NULL;
    return ordered;
}

bool vt_untracked_gpu(const struct vt_sources *from, unsigned ordinal, uint32_t *gpu) {
    const struct vt_log_gpu *found = gpu_of(from, ordinal);
    if (found)
        *gpu = found->number;
    return found;
}

/* The recorded bytes of the device at a sample; UINT64_MAX: unknown. */
static uint64_t tracked_at(const struct vt_log *log, const struct vt_replay_sample *sample,
                           unsigned ordinal) {
    uint64_t stray = sample->tracked[VT_SAMPLE_DEVICES - 1];
    if (ordinal == VT_DEVICE_UNKNOWN)
        return log->gpu_count == 1 ? sample->tracked[0] + stray : UINT64_MAX;
    if (ordinal >= VT_SAMPLE_DEVICES - 1 || (stray && log->gpu_count > 1))
        return UINT64_MAX;
    return sample->tracked[ordinal] + stray;
}

/* Whether the recorded bytes certainly did not change during the sample. */
static bool is_steady(const struct vt_replay_sample *sample, unsigned ordinal) {
    unsigned slot = ordinal == VT_DEVICE_UNKNOWN ? 0 : ordinal;
    return !(sample->moved & (1u << slot | 1u << (VT_SAMPLE_DEVICES - 1)));
}

const struct vt_replay_sample *vt_untracked_near(const struct vt_sources *from, unsigned ordinal,
                                                 uint64_t ticks, uint64_t *tracked) {
    const struct vt_log_gpu *gpu = gpu_of(from, ordinal);
    const struct vt_replay_sample *nearest = NULL;
    for (size_t i = 0; gpu && i < from->replay->sample_count; i++) {
        const struct vt_replay_sample *sample = &from->replay->samples[i];
        uint64_t then = tracked_at(from->log, sample, ordinal);
        if (sample->gpu != gpu->number || then == UINT64_MAX || !is_steady(sample, ordinal) ||
            (nearest && vt_apart(sample->ticks, ticks) >= vt_apart(nearest->ticks, ticks)))
            continue;
        nearest = sample;
        *tracked = then;
    }
    return nearest;
}

static void note_course(struct vt_untracked *u, uint64_t untracked, uint64_t at) {
    if (!u->samples++)
        u->first_bytes = untracked;
    u->last_bytes = untracked;
    if (u->max_bytes == VT_UNKNOWN || untracked > u->max_bytes) {
        u->max_bytes = untracked;
        u->max_at = at;
    }
}

/* Fills in the name, size and UUID if the program never asked for them. */
static void fill_in(const struct vt_sources *from, const struct vt_log_gpu *gpu,
                    struct vt_device *device) {
    if (!device->name && gpu->name[0])
        device->name = vt_strdup(gpu->name);
    if (device->total_bytes == VT_UNKNOWN && gpu->total_bytes)
        device->total_bytes = gpu->total_bytes;
    /* a machine's GPUs are mostly of one model: from a wrong GPU, only the UUID would be wrong */
    bool sure = from->log->gpu_count == 1 || is_listed(from->replay, gpu->number);
    if (!device->uuid && gpu->has_uuid && sure)
        device->uuid = vt_model_uuid(gpu->uuid);
}

bool vt_untracked_fill(const struct vt_sources *from, struct vt_device *device) {
    const struct vt_replay *replay = from->replay;
    unsigned ordinal = device->ordinal;
    const struct vt_log_gpu *gpu = gpu_of(from, ordinal);
    struct vt_untracked *u = &device->untracked;
    u->first_bytes = u->last_bytes = u->max_bytes = u->max_at = VT_UNKNOWN;
    u->samples = 0;
    if (!gpu)
        return false;
    fill_in(from, gpu, device);
    uint64_t peak = replay->devices[ordinal].driver.peak_ticks;
    const struct vt_replay_sample *nearest = NULL;
    uint64_t untracked = VT_UNKNOWN; /* untracked memory at `nearest` */
    for (size_t i = 0; i < replay->sample_count; i++) {
        const struct vt_replay_sample *sample = &replay->samples[i];
        if (sample->gpu != gpu->number || sample->own_bytes == VT_SAMPLE_UNKNOWN)
            continue;
        uint64_t tracked = tracked_at(from->log, sample, ordinal), rest = VT_UNKNOWN;
        if (tracked <= sample->own_bytes && is_steady(sample, ordinal)) {
            rest = sample->own_bytes - tracked;
            note_course(u, rest, vt_clock_ns(from->clock, sample->ticks));
        }
        /* a sample with a figure for untracked memory is better than one without */
        bool has = rest != VT_UNKNOWN, had = untracked != VT_UNKNOWN;
        if (!nearest || has > had ||
            (has == had && vt_apart(sample->ticks, peak) < vt_apart(nearest->ticks, peak))) {
            nearest = sample;
            untracked = rest;
        }
    }
    if (!nearest)
        return false;
    device->from_nvml = true;
    device->driver_used_bytes = nearest->own_bytes;
    device->driver_used_at_ns = vt_clock_ns(from->clock, nearest->ticks);
    device->untracked_bytes = untracked;
    if (nearest->others_bytes != VT_SAMPLE_UNKNOWN)
        device->other_processes_bytes = nearest->others_bytes;
    return true;
}
