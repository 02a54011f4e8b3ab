/* SPDX-License-Identifier: MIT */
/*
 * Owners of memory: the snapshots that a report shows. model.h includes it.
 *
 * The owner of a block is the shortest named path to it from a root: a variable and the objects in between. An owner in
 * a snapshot stands for all paths with one name: all items of a list, or everything that one variable's autograd graph
 * holds.
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

/* Purposes of memory in training. symbols/roles.def assigns them. */
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

/* Where a path begins. */
struct vt_root {
    enum vt_root_kind kind;
    const char *module;   /* Python: its __name__; native: the library or program; NULL */
    const char *function; /* of a frame; else NULL */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
    /* the class of the exception or of an object in the cycle, or the interpreter's part; NULL */
    const char *what;
    bool hidden; /* a native variable that is static */
};

/* Phrase for an owner that `may_be_unused`. */
#define VT_MAY_BE_UNUSED "in slots that may no longer be in use"

/* Memory of one site that an owner holds. */
struct vt_owned_site {
    uint32_t site; /* index in vt_process.sites */
    uint64_t bytes, count;
    uint64_t shared_count; /* further blocks that it also holds, but that have another owner */
};

/* A step of an owner's name, and the name up to this step. */
struct vt_owner_step {
    uint32_t id;      /* owners with this number at the same position share the name up to here */
    const char *name; /* "kept['a'] (closure of hook)" */
    uint32_t length;  /* of the name without its container */
    const char *local_of; /* "f()", if it is a local variable of this function; else NULL */
};

struct vt_memory_owner {
    uint64_t id;      /* stays the same from run to run */
    char key[17];     /* the id in hex */
    const char *name; /* "history[*]" */
    uint32_t name_id; /* as vt_owner_names_of */
    uint64_t entries; /* number of entries of a bounded container; 0: unbounded */
    /* a local variable of another frame than the root's, to which the root leads: a generator's */
    bool is_local_of_another;
    struct vt_root root;
    /* the steps of the name, then the classes down to the memory */
    const char **path;
    const char **types;              /* the class that each step leads to; NULL: unknown */
    uint32_t path_count, name_count; /* name_count: the steps of the name */
    bool longer;                     /* the last class repeats: an autograd graph */
    const char *graph; /* the first node of the autograd graph that holds it; NULL: none */
    /* number of graphs that begin with `graph`, or of such nodes in one chain; 0: unknown */
    uint64_t graphs;
    /* nodes on the longest path through the graph, if such nodes recur (a sum, a carried state); else 0 */
    uint64_t graph_chain;
    bool may_be_unused; /* held by array slots that may be unused */
    enum vt_purpose purpose;
    uint64_t bytes, count;           /* device memory it owns */
    uint64_t host_bytes, host_count; /* pinned host and managed memory */
    uint64_t unseen_bytes;           /* the part of both that its tensors (views) do not cover */
    struct vt_owned_site *sites;     /* the sites of this memory, the largest first */
    uint32_t site_count;
    struct vt_owned_site *others; /* memory that it also holds, but that has another owner */
    uint32_t other_count;
    uint32_t variable;          /* owners with the same number have the same variable and purpose */
    const char *container;      /* the container with many such, else the named object: "history" */
    const char *container_type; /* "list"; NULL: unknown */
    uint32_t container_id;      /* owners with the same number have the same container */
    uint32_t container_length;  /* of its name without its container: "kept (closure of hook)" */
    const char *container_local_of;    /* as in vt_owner_step */
    uint32_t container_steps;          /* number of steps to it; 0: it has no name of its own */
    const struct vt_owner_step *steps; /* those of the name */
    /* For several containers shown as one (vt_owner_groups): */
    const char
        *item_type; /* the common class of the containers in a container: "list"; NULL: unknown */
    uint32_t more_variables; /* number of further variables */
};

static inline void vt_owner_set_container(struct vt_memory_owner *o, struct vt_owner_step step,
                                          const char *type) {
    o->container = step.name;
    o->container_type = type;
    o->container_id = step.id;
    o->container_length = step.length;
    o->container_local_of = step.local_of;
}

/* Snapshots that were due but not taken, for one reason. */
struct vt_missed_snapshots {
    uint32_t why, reason; /* enum vt_snapshot_why, enum vt_missed */
    uint32_t count;
    uint64_t needed_bytes, room_bytes; /* of the last one; VT_UNKNOWN */
};

struct vt_snapshot {
    uint64_t at, duration;
    enum vt_snapshot_why why;
    /* "growth": taken as memory grew, to record owners that are gone at the end. Not listed in the JSON report. */
    bool passing;
    const char *phase; /* its name, or the program's name for the moment; NULL */
    bool complete;
    uint64_t objects;               /* walked */
    struct vt_memory_owner *owners; /* the largest first */
    uint32_t owner_count;
    uint64_t unowned_bytes, unowned_count;
    uint64_t runtime_bytes, runtime_count; /* the unowned part that CUDA's libraries keep */
};

/* Owners of a site's or leak's memory, the largest first. */
struct vt_owned_list {
    struct vt_owned_by *owners;
    uint32_t count;
};
struct vt_owned_by {
    const struct vt_memory_owner *owner;
    /* an earlier snapshot, if vt_process_snapshot shows (nearly) none of it; else NULL */
    const struct vt_snapshot *seen;
    bool still; /* some of the site was still live at vt_process_snapshot */
    uint64_t bytes, count;
};

/* Owners shown as one group. */
struct vt_owner_group {
    struct vt_memory_owner owner; /* the largest one, with the container common to all */
    uint32_t containers;          /* number of distinct containers */
    bool of_purpose;              /* all memory of a variable for one purpose */
    bool still;                   /* as in vt_owned_by, for any of them */
    const struct vt_snapshot *seen;
    uint64_t bytes, count;
};
#define VT_OWNERS_SHOWN 3 /* how many of a leak's owners are named; the others are counted */

struct vt_process;

/* The snapshot that applies to sites and leaks: the one at the end, else the last one. There is none at the end if the
 * process is still running, or if a context or the interpreter ended earlier. NULL: none. */
const struct vt_snapshot *vt_process_snapshot(const struct vt_process *process);

/* The snapshot to show as a whole: vt_process_snapshot, unless another one shows more than twice as much of the leaks'
 * memory (without leaks: of live memory). NULL: none. */
const struct vt_snapshot *vt_process_snapshot_shown(const struct vt_process *process);

/* Live bytes at a snapshot, without memory that CUDA's libraries keep. */
uint64_t vt_snapshot_live_bytes(const struct vt_snapshot *snapshot);

/* The snapshot taken after a failed allocation, and before the next failure in its thread. NULL: none. */
struct vt_oom;
const struct vt_snapshot *vt_process_snapshot_at(const struct vt_process *process,
                                                 const struct vt_oom *oom);

/* Whether an owner is a local variable kept by the exception that ended the program. Reports show it as held by its
 * function. */
bool vt_owner_was_ended(const struct vt_process *process, const struct vt_memory_owner *owner);

/* An owner's memory on a device; VT_UNKNOWN: on all. */
uint64_t vt_owner_bytes_on(const struct vt_process *process, const struct vt_memory_owner *owner,
                           uint64_t device, uint64_t *count);

/* The purposes of a device's memory, in bytes: when memory ran out, else at vt_process_snapshot. NULL: unknown. */
struct vt_device;
const struct vt_snapshot *vt_device_purposes(const struct vt_process *process,
                                             const struct vt_device *device,
                                             uint64_t sums[VT_PURPOSES]);

/* The groups of owners, the largest first. `by_purpose`: training memory is grouped by variable. Free the result; it
 * does not own the names. */
struct vt_owner_group *vt_owner_groups(const struct vt_owned_by *owned, uint32_t count,
                                       bool by_purpose, uint32_t *group_count);

/* The same for all owners of a snapshot, by purpose; `device` VT_UNKNOWN: on all devices. */
struct vt_owner_group *vt_owner_groups_seen(const struct vt_process *process,
                                            const struct vt_snapshot *snapshot, uint64_t device,
                                            uint32_t *group_count);

/* Whether the container of a group contains this owner. */
bool vt_owner_group_has(const struct vt_owner_group *group, const struct vt_memory_owner *owner);

/* The caller frees the results of the following functions. */

/* "parameters 2.00 MiB, activations 31.0 MiB, other 128 KiB". NULL: unknown. */
char *vt_purposes_text(const uint64_t sums[VT_PURPOSES]);

/* Where an owner's root is: "__main__, examples/train.py", "main(), train.py:12". NULL: unknown. */
char *vt_owner_place(const struct vt_process *process, const struct vt_memory_owner *owner);

/* An owner with its class and place: "history (list) in __main__, examples/train.py". `count`, if not 0, is added to
 * the class: "(list, 120 blocks)". */
char *vt_owner_text(const struct vt_process *process, const struct vt_memory_owner *owner,
                    uint64_t count);

/* The same with its role, if that is known: "model (Net) in __main__, examples/train.py: parameters". */
char *vt_owner_role_text(const struct vt_process *process, const struct vt_memory_owner *owner);

/* When it was taken: "at the end", "as memory ran out", "at 1.200 s". */
char *vt_snapshot_moment(const struct vt_snapshot *snapshot);

/* The path on one line: "history[*] → DeviceNDArray → MemoryPointer". NULL: it is the name alone. */
char *vt_owner_chain(const struct vt_memory_owner *owner);

void vt_snapshot_free(struct vt_snapshot *snapshot);

#endif
