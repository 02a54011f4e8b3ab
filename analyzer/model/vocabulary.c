/* SPDX-License-Identifier: MIT */
/*
 * The words of vocabulary.h, as used in files, JSON and reports: verdicts, layers, endings, causes.
 */
#include "vocabulary.h"

#include "base/base.h"

#include <stdio.h>

const char *const vt_verdict_names[VT_VERDICTS] = {
    [VT_VERDICT_LOST] = "lost",       [VT_VERDICT_GROWING] = "growing",
    [VT_VERDICT_SUSPECT] = "suspect", [VT_VERDICT_UNFREED] = "unfreed",
    [VT_VERDICT_HELD] = "held",       [VT_VERDICT_CACHE] = "cache",
    [VT_VERDICT_RUNTIME] = "runtime", [VT_VERDICT_FREED] = "freed",
};

const char *const vt_class_names[VT_CLASSES] = {
    [VT_CLASS_PROGRAM] = "program",
    [VT_CLASS_CACHE] = "cache",
    [VT_CLASS_RUNTIME] = "runtime",
};

const char *const vt_layer_names[VT_LAYERS] = {
    [VT_LAYER_DRIVER] = "driver",   [VT_LAYER_FRAMEWORK] = "framework", [VT_LAYER_HOST] = "host",
    [VT_LAYER_MANAGED] = "managed", [VT_LAYER_UNKNOWN] = "unknown",
};

const char *vt_layer_name(unsigned layer) {
    return vt_layer_names[layer < VT_LAYER_UNKNOWN ? layer : VT_LAYER_UNKNOWN];
}

const char *vt_device_name(unsigned device, char out[VT_DEVICE_NAME]) {
    if (device < VT_DEVICE_HOST)
        snprintf(out, VT_DEVICE_NAME, "GPU %u", device);
    else
        snprintf(out, VT_DEVICE_NAME, device == VT_DEVICE_HOST ? "host memory" : "GPU ?");
    return out;
}

const char *const vt_end_names[VT_ENDS] = {
    [VT_END_UNKNOWN] = "unknown", [VT_END_EXITED] = "exited",   [VT_END_SIGNALED] = "signaled",
    [VT_END_EXEC] = "exec",       [VT_END_RUNNING] = "running",
};

const char *const vt_oom_outcome_names[VT_OOM_OUTCOMES] = {
    [VT_OOM_UNKNOWN] = "unknown",
    [VT_OOM_RAISED] = "raised",
    [VT_OOM_RECOVERED] = "recovered",
};

const char *const vt_oom_cause_names[VT_CAUSES] = {
    [VT_CAUSE_CAPACITY] = "capacity",           [VT_CAUSE_FRAGMENTATION] = "fragmentation",
    [VT_CAUSE_OTHER_PROCESS] = "other-process", [VT_CAUSE_LIMIT] = "limit",
    [VT_CAUSE_INJECTED] = "injected",
};

const char *const vt_snapshot_why_names[VT_SNAPSHOT_WHYS] = {
    [VT_SNAPSHOT_END] = "end",         [VT_SNAPSHOT_OOM] = "oom",
    [VT_SNAPSHOT_REQUEST] = "request", [VT_SNAPSHOT_PHASE] = "phase",
    [VT_SNAPSHOT_GROWTH] = "growth",
};

const char *const vt_missed_names[VT_MISSED_REASONS] = {
    [VT_MISSED_NO_ROOM] = "no-room",     [VT_MISSED_LEFT] = "left",
    [VT_MISSED_REFUSED] = "refused",     [VT_MISSED_UNSEEN] = "unseen",
    [VT_MISSED_NAMESPACE] = "namespace",
};

const char *const vt_missed_texts[VT_MISSED_REASONS] = {
    [VT_MISSED_NO_ROOM] = "no room for a copy of the process",
    [VT_MISSED_LEFT] = "memory ran short, so the copy of the process left",
    [VT_MISSED_REFUSED] = "the process's memory cannot be copied here",
    [VT_MISSED_UNSEEN] =
        "the memory limits of the process's control group cannot be seen here (/sys/fs/cgroup)",
    [VT_MISSED_NAMESPACE] = "a copy of the process would begin its new pid or time namespace",
};

uint32_t vt_kind_find(const char *name, const char *const *names, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (names[i] && vt_same_text(names[i], name))
            return i;
    return UINT32_MAX;
}
