/* SPDX-License-Identifier: MIT */
/*
 * Enums: verdicts, classes, layers, endings of processes, outcomes of failed allocations, reasons for snapshots. Each
 * has one table of its words, shared by reports, JSON, merged files and their reader. model.h includes this file.
 */
#ifndef VRAMTRACE_ANALYZER_VOCABULARY_H
#define VRAMTRACE_ANALYZER_VOCABULARY_H

#include "vramtrace/log_format.h"

#include <stdbool.h>
#include <stdint.h>

enum vt_verdict { /* in the order of a report */
                  VT_VERDICT_LOST,
                  VT_VERDICT_GROWING,
                  VT_VERDICT_SUSPECT,
                  VT_VERDICT_UNFREED,
                  VT_VERDICT_HELD,
                  VT_VERDICT_CACHE,
                  VT_VERDICT_RUNTIME,
                  VT_VERDICT_FREED,
                  VT_VERDICTS
};
extern const char *const vt_verdict_names[VT_VERDICTS];

/* The owner of driver memory. */
enum vt_class {
    VT_CLASS_PROGRAM, /* the program, unless something shows otherwise */
    VT_CLASS_CACHE,   /* a caching allocator: the blocks inside are analyzed instead */
    VT_CLASS_RUNTIME, /* a CUDA library, for the life of the process */
    VT_CLASSES
};
extern const char *const vt_class_names[VT_CLASSES];

/* Whether the exit scan found pointers to all live memory of a site. */
enum vt_reachable { VT_REACHABLE_NO, VT_REACHABLE_YES, VT_NOT_SEARCHED, VT_REACHABLE_UNKNOWN };

/* The growth rule by which a site grows, is a suspect or is inconclusive. */
enum vt_growth_rule {
    VT_RULE_NONE,
#define VT_GROWTH_RULE(NAME, stage, applies, test, sentence, in_short) VT_RULE_##NAME,
#define VT_GROWTH_FINDING(NAME, sentence)                              VT_RULE_##NAME,
#include "growth_rules.def"
    VT_GROWTH_RULES
};
/* Their sentences (see growth_rules.def). */
struct vt_growth_words {
    const char *sentence, *in_short;
};
extern const struct vt_growth_words vt_growth_rules[VT_GROWTH_RULES];

/* Indexed by enum vt_layer (log_format.h); VT_LAYER_UNKNOWN: a layer that only newer versions know. */
#define VT_LAYER_UNKNOWN 4u
#define VT_LAYERS        5
extern const char *const vt_layer_names[VT_LAYERS];

/* The word for a layer of a log, or that of VT_LAYER_UNKNOWN. */
const char *vt_layer_name(unsigned layer);

/* A device's name in texts: "GPU 0", "GPU ?" (unknown number), "host memory". The macro's buffer lives until the end of
 * the enclosing block. */
#define VT_DEVICE_NAME 16
const char *vt_device_name(unsigned device, char out[VT_DEVICE_NAME]);
#define VT_GPU(device) vt_device_name((device), (char[VT_DEVICE_NAME]){0})

/* How a process ended. */
enum vt_end {
    VT_END_UNKNOWN, /* not in its log: SIGKILL, a direct system call, a crash of the machine */
    VT_END_EXITED,
    VT_END_SIGNALED,
    VT_END_EXEC, /* it replaced itself with another program */
    VT_END_RUNNING,
    VT_ENDS
};
extern const char *const vt_end_names[VT_ENDS];

#define VT_NO_STATUS INT32_MIN
struct vt_ending {
    enum vt_end how;
    int status; /* VT_END_EXITED: its exit status; VT_END_SIGNALED: the signal; else VT_NO_STATUS */
};

/* It exited with status 0. */
static inline bool vt_ended_well(struct vt_ending e) {
    return e.how == VT_END_EXITED && !e.status;
}

/* It was killed, or exited with another status. */
static inline bool vt_ended_badly(struct vt_ending e) {
    return e.how == VT_END_SIGNALED || (e.how == VT_END_EXITED && e.status);
}

/* The outcome of a request that failed for lack of memory. */
enum vt_oom_outcome {
    VT_OOM_UNKNOWN,
    VT_OOM_RAISED,    /* the program received the error */
    VT_OOM_RECOVERED, /* an equally large request soon succeeded on the same thread */
    VT_OOM_OUTCOMES
};
extern const char *const vt_oom_outcome_names[VT_OOM_OUTCOMES];

enum vt_oom_cause {
    VT_CAUSE_UNKNOWN, /* its name is NULL */
    VT_CAUSE_CAPACITY,
    VT_CAUSE_FRAGMENTATION,
    VT_CAUSE_OTHER_PROCESS,
    VT_CAUSE_LIMIT,
    VT_CAUSE_INJECTED,
    VT_CAUSES
};
extern const char *const vt_oom_cause_names[VT_CAUSES];

/* Indexed by enum vt_snapshot_why (log_format.h); 0: unknown, with the name NULL. */
#define VT_SNAPSHOT_WHYS 6
extern const char *const vt_snapshot_why_names[VT_SNAPSHOT_WHYS];

/* Indexed by enum vt_missed; 0 as above. */
#define VT_MISSED_REASONS 6
extern const char *const vt_missed_names[VT_MISSED_REASONS],
    *const vt_missed_texts[VT_MISSED_REASONS];

/* The index of `name` in a table of names; UINT32_MAX: not found. */
uint32_t vt_kind_find(const char *name, const char *const *names, uint32_t count);

#endif
