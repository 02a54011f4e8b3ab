/* SPDX-License-Identifier: MIT */
/* The walk's own data, used by this module, native/, snapshot/, and torch/ (which adds to targets). */
#ifndef VT_PRELOAD_NODES_H
#define VT_PRELOAD_NODES_H

#include "address_table.h"
#include "reader.h"

/* A live allocation to search for. Sorted by start, disjoint. */
struct vt_owners_target {
    uintptr_t start, end;
    uint32_t stack, node;
    uint8_t kind;
    bool live;      /* also live in the copy */
    bool in_opaque; /* an opaque heap may hold it */
    /* Numbers of references to PyTorch's storages in the allocation, and of reached tensors with such a storage;
     * `seen`: bytes that these tensors cover. */
    uint32_t references, tensors, views; /* views: how many of the tensors keep `base` */
    uintptr_t base;
    uint64_t seen;
};

/* A reached object: a Python object, a C++ object, or a target. Nodes are stored in the order in which they were
 * reached, and are read in that order. Node 0 is none. There may be millions, so each has 32 bytes. */
struct vt_node {
    uintptr_t address;
    uint32_t step;   /* of the first path to it */
    uint32_t parent; /* the node before it; 0: a root */
    uint32_t others; /* the last of the other paths to it; 0: none */
    uint32_t beside; /* another node in the same entry (address_table.h); 0: none */
    uint16_t type;   /* VT_NODE_PYTHON: index of its type */
    uint16_t roles;
    uint16_t paths; /* number of paths to it; saturating */
    uint8_t class_; /* enum vt_class, or one of the values below */
    bool part : 1;  /* a part of its parent, with the same step */
    bool weak : 1;  /* reached only by an integer */
    bool waits : 1; /* deferred: it may get a better name before it is read */
};
_Static_assert(sizeof(struct vt_node) == 32, "half a cache line");
#define VT_NODE_PYTHON 0u
#define VT_NODE_TARGET UINT8_MAX

/* Deferred nodes, read after all others of their level, in this order, because they or their targets may have better
 * names elsewhere. A module or a tensor that a variable led to may belong to a module. The autograd graph, optimizers
 * and dict keys refer to parameters. */
enum vt_later {
    VT_LATER_NAMED, /* was deferred, and then turned out to be a module's own */
    VT_LATER_MODULE,
    VT_LATER_TENSOR,
    VT_LATER_GRAPH,
    VT_LATER_OPTIMIZER,
    VT_LATER_KEY,
    VT_LATERS
};

/* Roles beside enum vt_role, only for the walk. MODULE: in a PyTorch Module's `_modules`. GROUPS: in an optimizer's
 * `param_groups`, whose `params` are parameters; the rest is the optimizer's own. */
#define VT_ROLE_MODULE     (1u << 15)
#define VT_ROLE_GROUPS     (1u << 14)
/* Roles of a module's own attributes, whose names the author chose. */
#define VT_ROLES_OF_MODULE (VT_ROLE_PARAMETER | VT_ROLE_BUFFER | VT_ROLE_MODULE)

struct vt_other {
    uint32_t step, from, next;
};

/* A step of a path: see enum vt_step. Step 0 is none. */
struct vt_path_step {
    uint64_t type; /* a Python type's address, or vt_class_key */
    int64_t index;
    uint64_t address;
    uintptr_t word, last;     /* as in struct vt_root; VT_WORDS: several words */
    uint32_t parent, next;    /* next: the next step with the same hash */
    uint32_t name, root_type; /* offsets in `texts` */
    uint32_t line, number;    /* number: in the log; 0: not written yet */
    uint32_t reference;
    union {
        struct {
            uint32_t row, length; /* CLASS: see vt_step_chain */
        };
        struct {
            uint32_t entries, capacity; /* others: sums over all objects with a limit, ... */
        };
    };
    uint32_t limited; /* ... and the number of those objects */
    uint16_t kind, flags, class_;
    uint8_t name_bytes, root_type_bytes;
    bool indexed;
};

#define VT_WORDS 1u

/* A word that points to a block of the heap. */
struct vt_reference {
    uintptr_t at;
    /* the reference that led to the word's own block; 0: the word is in a variable */
    uint32_t parent;
    uint32_t number; /* in the log; 0: not written yet */
};
#define VT_REFERENCES        (1u << 20)
#define VT_REFERENCE_UNKNOWN UINT32_MAX
/* allocations that get steps of their own, with references: max */
#define VT_REFERENCE_STEPS   8192u

/* An array that grows in place: mapped at its largest size, without reserve. */
struct vt_pile {
    uint8_t *at;
    size_t used, room;
};

#define VT_OWNERS_TYPES  16384u
#define VT_OWNERS_RANGES 65536u
#define VT_OWNERS_LAST   16u

/* The readers' functions, declared in pyobjects.h, class.h, torch.h and native.h. */
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

    /* the task */
    struct vt_owners_target *targets;
    uint32_t target_count;
    uintptr_t target_low, target_high;
    uint64_t kept_bytes; /* in allocations that are skipped because their owner is known */
    uint64_t most_work;  /* most_*: limits (snapshot/bounds.c) of work, processor time, memory */
    uint64_t most_cpu_ns, cpu_began_ns;
    size_t most_bytes, most_piled; /* most_piled: all piles together */
    uint64_t most_ns; /* clock time after which a child that is not running is killed */
    uint32_t snapshot;
    /* Searches only for owners that may be gone at the end. Skips C variables, libraries' modules and cycles, which
     * take long. */
    bool passing;
    bool shares_descriptors; /* the child starts with the program's table of descriptors */

    struct vt_memory_list *memory; /* memory mapped for the walk (memory.h) */

    /* read.c */
    bool copy;   /* runs in a child, whose memory does not change ... */
    bool shares; /* ... because it is the memory of the program, which waits */
    uint32_t pid;
    uint8_t *pages; /* not in a child: the last pages that were read, and their addresses */
    uintptr_t *page_addresses;
    struct vt_range *ranges; /* readable memory; sorted */
    uint32_t range_count;
    const struct vt_range *last_ranges[VT_OWNERS_LAST]; /* the last used ones */

    /* native/ */
    struct vt_scan *native;   /* NULL: variables are not searched */
    struct vt_native *search; /* NULL: not made yet */
    struct vt_registers {
        uintptr_t pc, sp, fp, link; /* link 0: unknown */
        bool fp_known;
    } here; /* of the calling thread */
    /* the signal stack on which the thread runs; empty: it runs on another stack */
    struct vt_range signal_stack;

    /* the walk */
    bool stopped, in_doubt; /* a limit was reached; something could not be read */
    bool roles_only;        /* known edges are followed again, only for roles */
    enum vt_owners_level level;
    uint64_t work;
    uint32_t reached; /* targets with an owner that is not an integer */
    struct vt_pile nodes, others, steps, texts;
    size_t piled; /* bytes in all piles */
    uint32_t node_count, other_count, step_count;
    struct vt_reference *references; /* made by native/; NULL: none */
    uint32_t reference_count, reference_steps, around_count;
    struct vt_address_table addresses; /* numbers of nodes */
    uint32_t *step_slots;              /* a hash table of step numbers; 0: free */
    uint32_t step_slot_count;
    uint32_t read;                   /* nodes that were read or deferred so far */
    uint32_t looks;                  /* how often the time was checked */
    struct vt_pile later[VT_LATERS]; /* deferred nodes, by enum vt_later */
    size_t later_read[VT_LATERS];
    uint32_t *again; /* a ring of nodes that got more roles after they were read */
    uint32_t again_first, again_last;
    uint64_t *classes; /* used by class.c */
    struct vt_owners_type *types;
    uint32_t type_count;
    uint32_t *type_slots;
    /* the node being read */
    uint32_t node, step;
    uint16_t roles;
    bool many_keys;

    /* the answer: complete records, one after the other */
    struct vt_owners_answer {
        uint64_t done; /* atomic; the lower half is a futex */
        /* atomic: why the child left (enum vt_missed); the members below are then invalid */
        uint32_t left;
        uint32_t detached;    /* atomic, futex: enum vt_detached; 0: not yet */
        uint64_t detached_ns; /* the processor time that detaching took */
        uint64_t bytes, objects;
        uint32_t owned, steps, flags, native_roots; /* steps: number of the last one */
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
/* For the child's fault handler, with its context: whether a read caused the fault. Makes that read return false. */
bool vt_owners_faulted(void *context);
/* Extends a pile by zeroed bytes, and returns them. NULL: the pile is full; the walk stops. */
void *vt_owners_push(struct vt_owners *w, struct vt_pile *pile, size_t bytes);
/* Call once per walk, in the process that walks. */
bool vt_owners_read_open(struct vt_owners *w);

/* walk.c: runs the walk and writes the answer. */
void vt_owners_walk(struct vt_owners *w);
/* Whether the walk may continue; checks the time now and then. */
bool vt_owners_has_time(struct vt_owners *w);
struct vt_owners_target *vt_owners_target_at(const struct vt_owners *w, uintptr_t address);
/* The node of a Python object; 0: not reached. */
uint32_t vt_owners_node_at(const struct vt_owners *w, uintptr_t object);
/* A type that was looked up before; NULL: none. */
const struct vt_owners_type *vt_owners_type_known(const struct vt_owners *w, uintptr_t type);

/* paths.c */
uint32_t vt_owners_root_step(struct vt_owners *w, const struct vt_root *root);
/* The step from `parent` by an edge to an object of this type. 0: out of memory. */
uint32_t vt_owners_step(struct vt_owners *w, uint32_t parent, const struct vt_edge *edge,
                        uint64_t type, uint16_t class_);
/* The step described by `as`, with these texts. With `may_go_around` it may be an earlier step of a cyclic path. */
uint32_t vt_owners_step_as(struct vt_owners *w, struct vt_path_step as, struct vt_owners_text name,
                           struct vt_owners_text type, bool may_go_around);
/* Zeroed space for a record of the answer. NULL: the answer is full; the walk stops. */
void *vt_owners_reserve(struct vt_owners *w, size_t bytes);
/* references.c: writes the bytes around the words of a root's path. */
void vt_owners_write_around(struct vt_owners *w, const struct vt_path_step *root, uint32_t step);
/* Writes OWNED records of all reached targets, after the steps to which they refer. */
void vt_owners_write(struct vt_owners *w);

#endif
