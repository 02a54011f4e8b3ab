/* SPDX-License-Identifier: MIT */
/*
 * What holds the memory: snapshots of owners, as a report shows them. model.h includes it.
 *
 * The owner of a block is the shortest named path to it from a root: a variable, and what lies
 * between. A snapshot's owners are ways with one name: all items of a list are one owner, and all
 * that an autograd graph behind one variable holds.
 */
#ifndef VRAMTRACE_ANALYZER_OWNER_H
#define VRAMTRACE_ANALYZER_OWNER_H

#include "base/base.h"
#include "vocabulary.h"

enum vt_root_kind {
    VT_ROOT_MODULE,
    VT_ROOT_FRAME,
    VT_ROOT_EXCEPTION,
    VT_ROOT_GLOBAL,
    VT_ROOT_THREAD_LOCAL,
    VT_ROOT_NATIVE_STACK,
    VT_ROOT_INTERPRETER,
    VT_ROOT_CYCLE,
    VT_ROOTS
};
extern const char *const vt_root_names[VT_ROOTS];

/* What memory is for in training. names/roles.def says what makes which. */
enum vt_purpose {
    VT_PURPOSE_PARAMETERS,
    VT_PURPOSE_GRADIENTS,
    VT_PURPOSE_OPTIMIZER,
    VT_PURPOSE_ACTIVATIONS,
    VT_PURPOSE_BUFFERS,
    VT_PURPOSE_BATCH,
    VT_PURPOSE_OTHER,
    VT_PURPOSES
};
extern const char *const vt_purpose_names[VT_PURPOSES];

/* Where a way begins. */
struct vt_root {
    enum vt_root_kind kind;
    const char *module;   /* Python: its __name__; native: the library or program; NULL */
    const char *function; /* of a frame; NULL */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
    const char *what;     /* the class of the exception or of an object of the cycle, the
                             interpreter's part; NULL */
    bool hidden;          /* a native variable that other files do not see: static */
};

/* What is said of an owner that `may_be_unused`. */
#define VT_MAY_BE_UNUSED "in slots that may no longer be in use"

/* What an owner has of one site. */
struct vt_owned_site {
    uint32_t site; /* index in vt_process.sites */
    uint64_t bytes, count;
    uint64_t
        shared_count; /* more blocks of it that it holds as well, of which another one is the owner */
};

/* A step of a name, and the name up to it. */
struct vt_owner_step {
    uint32_t id;      /* owners with this number at the same place have all up to here in common */
    const char *name; /* "kept['a'] (closure of hook)" */
    uint32_t length;  /* of the name without what it is of */
    const char *local_of; /* "f()", of which it is a local variable; NULL: it is none */
};

struct vt_memory_owner {
    uint64_t id;      /* stays the same from run to run */
    char key[17];     /* the id in hex */
    const char *name; /* "history[*]" */
    uint32_t name_id; /* as vt_owner_names_of */
    uint64_t entries; /* of what has it, if that takes only so many; 0: it has no bound */
    /* it is a variable of a frame that the root leads to: a generator's */
    bool is_local_of_another;
    struct vt_root root;
    /* the steps: those of the name, then the classes between it and the memory */
    const char **path;
    const char **types;              /* the class of what each step leads to; NULL: unknown */
    uint32_t path_count, name_count; /* name_count: how many of them are the name's */
    bool longer;                     /* the same class repeats behind the last: an autograd graph */
    const char *graph; /* the first node of the autograd graph that holds it; NULL: none does */
    uint64_t graphs;   /* how many begin with that node, or hang one behind the other in a chain of
                          such nodes; 0: unknown */
    uint64_t graph_chain; /* nodes of the longest way through it, if it leads back to such a node
                             again and again: a sum, a carried state; 0: it does not */
    bool
        may_be_unused; /* slots of an array hold it, of which is not known whether they are in use */
    enum vt_purpose purpose;
    uint64_t bytes, count;           /* device memory that it owns */
    uint64_t host_bytes, host_count; /* pinned host and managed memory */
    uint64_t unseen_bytes;           /* of both, what its tensors do not see: they are views */
    struct vt_owned_site *sites;     /* all of these, the largest first */
    uint32_t site_count;
    struct vt_owned_site *others; /* what it holds as well, of which another one is the owner */
    uint32_t other_count;
    uint32_t variable;           /* owners with one number have one variable and purpose */
    const char *holder;          /* the container that has many of them, else what the name names:
                            "history" */
    const char *holder_type;     /* "list"; NULL: unknown */
    uint32_t holder_id;          /* owners with one number have one holder */
    uint32_t holder_length;      /* of its name without what it is of: "kept (closure of hook)" */
    const char *holder_local_of; /* as in vt_owner_step */
    uint32_t holder_count;       /* how many steps lead to it; 0: it has no name of its own */
    const struct vt_owner_step *steps; /* those of the name */
    /* Of several holders that are told as one (vt_owners_group): */
    const char *item_type;   /* the class of all of them, in a container: "list"; NULL: unknown */
    uint32_t more_variables; /* there are as many others */
};

static inline void vt_owner_hold_by(struct vt_memory_owner *o, struct vt_owner_step step,
                                    const char *type) {
    o->holder = step.name;
    o->holder_type = type;
    o->holder_id = step.id;
    o->holder_length = step.length;
    o->holder_local_of = step.local_of;
}

/* Snapshots that were due and not taken, for one reason. */
struct vt_missed_snapshots {
    uint32_t why, reason; /* enum vt_snapshot_why, enum vt_missed */
    uint32_t count;
    uint64_t needed_bytes, room_bytes; /* of the last one; VT_UNKNOWN */
};

struct vt_snapshot {
    uint64_t at, duration;
    enum vt_snapshot_why why;
    /* "growth": taken as memory grew, for what is gone at the end. The JSON report does not list
     * it. */
    bool passing;
    const char *phase; /* its name, or what the program called the moment; NULL */
    bool complete;
    uint64_t objects;               /* walked */
    struct vt_memory_owner *owners; /* the largest first */
    uint32_t owner_count;
    uint64_t unowned_bytes, unowned_count;
    uint64_t runtime_bytes, runtime_count; /* of these, what CUDA's libraries keep */
};

/* What owners have of a site or a leak, the largest first. */
struct vt_owned_list {
    struct vt_owned_by *owners;
    uint32_t count;
};
struct vt_owned_by {
    const struct vt_memory_owner *owner;
    const struct vt_snapshot *seen; /* an earlier snapshot, because vt_process_snapshot saw (nearly)
                                       nothing of it; NULL: that one */
    bool still;                     /* some of the site was still live at that one */
    uint64_t bytes, count;
};

/* Owners that are told as one. */
struct vt_owner_group {
    struct vt_memory_owner owner; /* the largest one; but its holder is that of all of them */
    uint32_t holders;             /* how many they have of their own */
    bool of_purpose;              /* all that a variable has for one purpose */
    bool still;                   /* as in vt_owned_by: of any of them */
    const struct vt_snapshot *seen;
    uint64_t bytes, count;
};
#define VT_KEEPERS_SHOWN 3 /* as many of what keeps a leak are named; the others are counted */

struct vt_process;

/* The snapshot that sites and leaks are held against: that of the end, else the last one, as of a process that
 * still runs (a part of it may have ended: a context, an interpreter). NULL:
 * there is none. */
const struct vt_snapshot *vt_process_snapshot(const struct vt_process *process);

/* The snapshot to show as a whole: that one, unless another has more than twice as much of what the leaks
 * held; without leaks, of what was live. NULL: there is none. */
const struct vt_snapshot *vt_process_snapshot_shown(const struct vt_process *process);

/* What was live at a snapshot, without what CUDA's libraries keep. */
uint64_t vt_snapshot_live_bytes(const struct vt_snapshot *snapshot);

/* The snapshot that was taken after one of the process's failed allocations, and before its thread's next one. NULL:
 * none. */
struct vt_oom;
const struct vt_snapshot *vt_process_snapshot_at(const struct vt_process *process,
                                                 const struct vt_oom *oom);

/* Whether an owner is a local variable that the exception keeps which ended the program: to its author,
 * it is the function that held it. */
bool vt_owner_was_ended(const struct vt_process *process, const struct vt_memory_owner *owner);

/* What an owner has on a device; VT_UNKNOWN: on all. */
uint64_t vt_owner_bytes_on(const struct vt_process *process, const struct vt_memory_owner *owner,
                           uint64_t device, uint64_t *count);

/* What a device's memory was for, in bytes: as it ran out, else as vt_process_snapshot has it. NULL:
 * nothing is known. */
struct vt_device;
const struct vt_snapshot *vt_device_purposes(const struct vt_process *process,
                                             const struct vt_device *device,
                                             uint64_t sums[VT_PURPOSES]);

/* The groups of owners, the largest first; `by_purpose`: what is for training is told by its variable.
 * Free them; the owners' names stay. */
struct vt_owner_group *vt_owner_groups(const struct vt_owned_by *owned, uint32_t count,
                                       bool by_purpose, uint32_t *group_count);

/* The same for all owners of a snapshot, by purpose; `device` VT_UNKNOWN: on all devices. */
struct vt_owner_group *vt_owner_groups_seen(const struct vt_process *process,
                                            const struct vt_snapshot *snapshot, uint64_t device,
                                            uint32_t *group_count);

/* Whether what a group is told by has this owner's holder in it. */
bool vt_owner_group_has(const struct vt_owner_group *group, const struct vt_memory_owner *owner);

/* The caller frees what the following functions return. */

/* "parameters 2.00 MiB, activations 31.0 MiB, other 128 KiB". NULL: nothing is known. */
char *vt_purposes_text(const uint64_t sums[VT_PURPOSES]);

/* Where an owner's root is: "__main__, examples/train.py", "main(), train.py:12". NULL: unknown. */
char *vt_owner_place(const struct vt_process *process, const struct vt_memory_owner *owner);

/* An owner with its class and place: "history (list) in __main__, examples/train.py". `count` is
 * added to the class: "(list, 120 blocks)"; 0: it is not. */
char *vt_owner_text(const struct vt_process *process, const struct vt_memory_owner *owner,
                    uint64_t count);

/* When it was taken: "at the end", "as memory ran out", "at 1.200 s". */
char *vt_snapshot_moment(const struct vt_snapshot *snapshot);

/* The way in one line: "history[*] → DeviceNDArray → MemoryPointer". NULL: it is no longer than the
 * name. */
char *vt_owner_chain(const struct vt_memory_owner *owner);

void vt_snapshot_free(struct vt_snapshot *snapshot);

#endif
