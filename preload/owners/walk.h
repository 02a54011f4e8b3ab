/* SPDX-License-Identifier: MIT */
/* The walk's own data, for this room, for native/ and snapshot/, and for torch/, which adds to targets. */
#ifndef VT_PRELOAD_WALK_H
#define VT_PRELOAD_WALK_H

#include "places.h"
#include "reader.h"

/* A live allocation that is looked for. Sorted by start; they do not overlap. */
struct vt_owners_target {
    uintptr_t start, end;
    uint32_t stack, node;
    uint8_t kind;
    bool live;       /* in the copy, too */
    bool in_unknown; /* another heap than those that are known may hold it */
    /* References to PyTorch's storages in it, tensors of these that were reached, and what they see. */
    uint32_t references, tensors, views; /* views: of these, which keep `base` */
    uintptr_t base;
    uint64_t seen;
};

/* What was reached: a Python object, a C++ object, or a target. In the order in which they were
 * reached, which is the order in which they are read. Node 0 is none. There may be millions: 32 bytes. */
struct vt_node {
    uintptr_t address;
    uint32_t step;   /* by which it was reached first */
    uint32_t parent; /* from which node; 0: a root */
    uint32_t others; /* the last of the other ways to it; 0: none */
    uint32_t beside; /* another node of the same place (places.h); 0: none */
    uint16_t type;   /* VT_NODE_PYTHON: index of its type */
    uint16_t roles;
    uint16_t holders; /* ways to it; saturating */
    uint8_t class_;   /* of class.c; or one of the values below */
    bool part : 1;    /* its step is its parent's: it is a part of it */
    bool weak : 1;    /* reached by a number alone */
    bool waits : 1;   /* put off, and may get a better name until it is read */
};
_Static_assert(sizeof(struct vt_node) == 32, "half a cache line");
#define VT_NODE_PYTHON 0u
#define VT_NODE_TARGET UINT8_MAX

/* What is read after all else of its level, in this order, because what it leads to, or itself, has
 * better names elsewhere: a module or a tensor that was found by a variable may belong to a module;
 * the autograd graph and optimizers refer to parameters; so do the keys of dicts. */
enum vt_later {
    VT_LATER_NAMED, /* was put off, and was found to be a module's own since */
    VT_LATER_MODULE,
    VT_LATER_TENSOR,
    VT_LATER_GRAPH,
    VT_LATER_OPTIMIZER,
    VT_LATER_KEY,
    VT_LATERS
};

/* Beside enum vt_role, for the walk alone: in a PyTorch Module's `_modules`; in an optimizer's `param_groups`,
 * whose `params` are parameters, and all else the optimizer's own. */
#define VT_ROLE_MODULE     (1u << 15)
#define VT_ROLE_GROUPS     (1u << 14)
/* What a module's own attributes are: their names are the author's. */
#define VT_ROLES_OF_MODULE (VT_ROLE_PARAMETER | VT_ROLE_BUFFER | VT_ROLE_MODULE)

/* Another way to a node. */
struct vt_other {
    uint32_t step, from, next;
};

/* A step: see enum vt_step. Step 0 is none. */
struct vt_path_step {
    uint64_t type; /* a Python type's address, or vt_class_key */
    int64_t index;
    uint64_t address;
    uintptr_t word, last;     /* as in struct vt_root; word: VT_WORDS: several */
    uint32_t parent, next;    /* next: with the same hash */
    uint32_t name, root_type; /* offsets in the texts */
    uint32_t line, number;    /* number: in the log, once written */
    uint32_t hop;
    union {
        struct {
            uint32_t row, length; /* CLASS: see vt_step_chain */
        };
        struct {
            uint32_t entries, capacity; /* others: of all objects that said so, */
        };
    };
    uint32_t limited; /* which are so many */
    uint16_t kind, flags, class_;
    uint8_t name_bytes, root_type_bytes;
    bool indexed;
};

#define VT_WORDS 1u

/* A word that led to a block of the heap. */
struct vt_hop {
    uintptr_t at;
    uint32_t parent; /* in which block it lies: the hop that led there; 0: in a variable */
    uint32_t number; /* in the log, once written */
};
#define VT_HOPS        (1u << 20)
#define VT_HOP_UNKNOWN UINT32_MAX
#define VT_HOP_STEPS   8192u /* allocations that have steps of their own, with their hops */

/* Memory that grows at one place: mapped without reserve, as much as it may get at most. */
struct vt_pile {
    uint8_t *at;
    size_t used, room;
};

#define VT_OWNERS_TYPES  16384u
#define VT_OWNERS_RANGES 65536u
#define VT_OWNERS_LAST   16u

/* The readers' functions, as pyobjects.h, class.h, torch.h and native.h declare them. */
struct vt_owners_readers {
    void (*python_type)(struct vt_owners *w, struct vt_owners_type *type);
    void (*python)(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type);
    uint64_t (*python_number)(struct vt_owners *w, uintptr_t object);
    void (*python_roots)(struct vt_owners *w);
    uint32_t (*python_type_name)(struct vt_owners *w, uintptr_t type, char *to, uint32_t room);
    void (*class_type)(struct vt_owners *w, struct vt_owners_type *type);
    void (*class_python)(struct vt_owners *w, uintptr_t object, const struct vt_owners_type *type);
    uint16_t (*class_roles)(const struct vt_owners *w, const struct vt_owners_type *type,
                            struct vt_owners_text attribute);
    void (*class_)(struct vt_owners *w, uintptr_t object, uint16_t class_);
    int (*class_later)(const struct vt_owners_type *type, uint16_t class_, uint16_t roles);
    uint64_t (*class_key)(struct vt_owners *w, uintptr_t object, uint16_t class_);
    uint32_t (*class_name)(struct vt_owners *w, uint64_t key, uint16_t class_, char *to,
                           uint32_t room);
    void (*native)(struct vt_owners *w); /* may be NULL */
};

struct vt_owners {
    const struct vt_owners_readers *readers;

    /* the question */
    struct vt_owners_target *targets;
    uint32_t target_count;
    uintptr_t target_low, target_high;
    uint64_t kept_bytes; /* of memory that is not looked for, because its keeper is known */
    uint64_t most_work;  /* bounds (snapshot/bounds.c): work, processor time, memory */
    uint64_t most_cpu_ns, cpu_began_ns;
    size_t most_bytes, most_piled; /* the second: of all piles together */
    uint64_t most_ns; /* the clock's time from which a child is killed that does not run */
    uint32_t snapshot;
    /* Only what may be gone at the end: not variables of C, libraries' modules and cycles, which take
     * long. */
    bool passing;
    bool shares_descriptors; /* the child has the program's table of them, at first */

    struct vt_taken *taken; /* its memory (memory.h) */

    /* read.c */
    bool copy;   /* in a child, whose memory stands still ... */
    bool shares; /* ... because it is the program's own, which waits */
    uint32_t pid;
    uint8_t *pages; /* not in a child: the last ones that were read, and their addresses */
    uintptr_t *page_addresses;
    struct vt_range *ranges; /* readable memory; sorted */
    uint32_t range_count;
    const struct vt_range *last_ranges[VT_OWNERS_LAST]; /* that were used */

    /* native/ */
    struct vt_scan *native;   /* NULL: it is not searched */
    struct vt_native *search; /* NULL: there was none yet */
    struct vt_registers {
        uintptr_t pc, sp, fp, link; /* link: 0: not known */
        bool fp_known;
    } here;                       /* of the calling thread */
    struct vt_range signal_stack; /* on which it runs; empty: another one */

    /* the walk */
    bool stopped, in_doubt; /* a bound was reached; something could not be read */
    bool roles_only;        /* known edges are gone along again, for roles */
    enum vt_owners_level level;
    uint64_t work;
    uint32_t reached; /* targets, by more than a number */
    struct vt_pile nodes, others, steps, texts;
    size_t piled; /* bytes in all piles */
    uint32_t node_count, other_count, step_count;
    struct vt_hop *hops; /* of native/; NULL: none */
    uint32_t hop_count, hop_steps, around_count;
    struct vt_owners_places places; /* numbers of nodes */
    uint32_t *step_slots;           /* a hash: numbers of steps; 0: none */
    uint32_t step_slot_count;
    uint32_t read;                   /* nodes that were read so far, or put off */
    uint32_t looks;                  /* how often it was asked whether there is time */
    struct vt_pile later[VT_LATERS]; /* nodes that are read when there is nothing else */
    size_t later_read[VT_LATERS];
    uint32_t *again; /* a ring of nodes whose roles became more after that */
    uint32_t again_first, again_last;
    uint64_t *classes; /* owned by class.c */
    struct vt_owners_type *types;
    uint32_t type_count;
    uint32_t *type_slots;
    /* what is being read */
    uint32_t node, step;
    uint16_t roles;
    bool many_keys;

    /* the answer: records, whole ones after each other */
    struct vt_owners_answer {
        uint64_t done;     /* atomic: futex in its lower half */
        uint32_t left;     /* atomic: enum vt_missed, why it left; what is below does not count */
        uint32_t detached; /* atomic, futex: enum vt_detached; 0: not yet */
        uint64_t detached_ns; /* what that took, of the processor */
        uint64_t bytes, objects;
        uint32_t owned, steps, flags, native_roots; /* steps: the last one's number */
    } * answer;
    uint8_t *records;
    size_t record_room;
};

static inline struct vt_node *vt_node_at(const struct vt_owners *w, uint32_t number) {
    return (struct vt_node *)(void *)w->nodes.at + number;
}
static inline struct vt_path_step *vt_step_at(const struct vt_owners *w, uint32_t number) {
    return (struct vt_path_step *)(void *)w->steps.at + number;
}
static inline struct vt_other *vt_other_at(const struct vt_owners *w, uint32_t number) {
    return (struct vt_other *)(void *)w->others.at + number;
}

/* read.c */

void vt_owners_unmap(struct vt_owners *w);
/* Whether a fault came of a read, which returns false then: for the child's handler, with its context. */
bool vt_owners_faulted(void *context);
/* Adds zeroes to a pile. NULL as above. */
void *vt_owners_push(struct vt_owners *w, struct vt_pile *pile, size_t bytes);
/* Once per walk, in the process that walks. */
bool vt_owners_read_open(struct vt_owners *w);

/* walk.c: the whole walk, and the answer. */
void vt_owners_walk(struct vt_owners *w);
/* Whether the walk goes on; looks at the time now and then. */
bool vt_owners_has_time(struct vt_owners *w);
struct vt_owners_target *vt_owners_target_at(const struct vt_owners *w, uintptr_t address);
/* The node of a Python object; 0: it was not reached. */
uint32_t vt_owners_node_at(const struct vt_owners *w, uintptr_t object);
/* A type that was asked for before; NULL: none is there. */
const struct vt_owners_type *vt_owners_type_known(const struct vt_owners *w, uintptr_t type);

/* paths.c */
uint32_t vt_owners_root_step(struct vt_owners *w, const struct vt_root *root);
/* The step from a parent by an edge to an object of this type. 0: no memory. */
uint32_t vt_owners_step(struct vt_owners *w, uint32_t parent, const struct vt_edge *edge,
                        uint64_t type, uint16_t class_);
/* A step as described, but for its texts; with `may_go_around`, perhaps one that the way has gone through. */
uint32_t vt_owners_step_as(struct vt_owners *w, struct vt_path_step as, struct vt_owners_text name,
                           struct vt_owners_text type, bool may_go_around);
/* Room for a record of the answer; NULL: there is none, and the walk stops. */
void *vt_owners_reserve(struct vt_owners *w, size_t bytes);
/* hops.c: writes what stands around the words of a root's way. */
void vt_owners_write_around(struct vt_owners *w, const struct vt_path_step *root, uint32_t step);
/* Writes OWNED records of all targets that were reached, after the steps that they name. */
void vt_owners_write(struct vt_owners *w);

#endif
