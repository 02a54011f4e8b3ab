/* SPDX-License-Identifier: MIT */
/*
 * Public header of native/: the allocations held by C and C++ variables, whose types are unknown.
 *
 *   native.c          the search: words of variables, and the memory to which they lead
 *   blocks.c          the blocks of memory that the search enters
 *   cpp_containers.c  C++ containers that use only a part of their memory
 *   shared.c          std::shared_ptr and std::weak_ptr
 *   stacks.c          stacks that the program made
 *   tls.c             where each thread's thread-local variables are
 *   unwind.c          the frames of a stopped thread
 *
 * Invariants: those of owners/. Uses memory/, scan/ (the memory that CUDA's libraries reach), owners/, pyobjects/,
 * torch/.
 */
#ifndef VT_PRELOAD_NATIVE_H
#define VT_PRELOAD_NATIVE_H

#include "memory/memory.h"
#include "owners/owners.h"

/* --- for snapshot/ --- */

/* native.c. vt_native_open records the threads' positions; call it in the program, before the copy is made, from a
 * function whose frame stays. vt_native_walk searches the variables, in the copy. */
void vt_native_open(struct vt_owners *w);
void vt_native_walk(struct vt_owners *w);

/* unwind.c: fills `frames` from `here` outwards with at most `most` frames, as far as they are certain. Returns their
 * number. */
struct vt_stack_frame {
    uintptr_t start, end, pc; /* its words on the stack; its current or return address */
    const struct vt_module_code *code;
};
uint32_t vt_native_unwind(struct vt_owners *w, const struct vt_scan *scan, struct vt_registers here,
                          struct vt_stack_frame *frames, uint32_t most);

/* --- inside native/ --- */

#define VT_NATIVE_CLASSES 3u
#define VT_NATIVE_TAILS   65536u
#define VT_NATIVE_NODES   65536u /* nodes of a recognized deque: max */
#define VT_NATIVE_APART   4096u
#define VT_NATIVE_FIBERS  1024u
#define VT_NATIVE_OPAQUE  4096u

/* A path without its root. Each distinct tail is stored once; tail 0 is empty. */
struct vt_native_tail {
    /* number of a struct vt_native_shared, all of whose roots lead here; 0: none */
    uint32_t shared;
    uint32_t class_count;
    uintptr_t classes[VT_NATIVE_CLASSES]; /* vtables of the first objects on the path */
};

/* The path to a piece of memory. */
struct vt_native_path {
    uintptr_t root; /* address of the root variable; 0: each word is a root */
    uint32_t tail;
    /* the reference that led to the block (struct vt_reference); 0: the memory is the variable's own */
    uint32_t reference;
    uintptr_t at; /* the word being read; 0: unknown */
    bool theirs;  /* the memory is an object of CUDA's libraries */
};

/* Memory still to be read. There may be millions of these. */
struct vt_native_waiting {
    uintptr_t start, root; /* lowest bit of `start`: as vt_native_path.theirs */
    uint32_t tail, words;  /* words 0: up to the end of the mapping */
    uint32_t reference;
};

/* Opaque memory, and the first path to it. */
struct vt_native_opaque {
    uintptr_t start;
    struct vt_native_path path;
    enum vt_step kind;
};

/* An object to which std::shared_ptr or std::weak_ptr point. The two look the same, so the owners are known only after
 * all pointers were seen. */
#define VT_NATIVE_ROOTS 4u
struct vt_native_shared {
    uintptr_t block, object; /* the control block; the target of the first pair */
    /* the block's counts; `weak` excludes the one that all strong pointers share */
    uint32_t strong, weak;
    uint32_t seen;
    bool done;
    uint8_t root_count;
    struct {
        uintptr_t address;
        enum vt_step kind;
    } roots[VT_NATIVE_ROOTS];
};

struct vt_native {
    struct vt_owners *w;
    struct vt_scan *scan;
    enum vt_step kind;               /* of the roots */
    uintptr_t shift;                 /* difference between a root's address and the one to write */
    struct vt_native_waiting *queue; /* a ring */
    size_t first, last, room;
    bool cut;             /* scan->spans were made */
    struct vt_span *near; /* the last span found; a cache */
    uint32_t sought; /* allocations without an owner; the search ends with the last one, or ... */
    uint64_t most_more_work; /* ... when the total work reaches this, whichever is later */
    /* The addresses to which a word may point: below 4 GiB (a program at a fixed address), and above. */
    struct vt_range lead[2];
    uint32_t *own_steps; /* number of allocations that each variable reaches through the heap */
    struct vt_native_tail *tails;
    struct vt_native_shared *shared;
    uint32_t *shared_slots;
    uint32_t shared_count;
    /* stacks.c: stacks and saved registers inside variables; sorted */
    struct vt_range *apart;
    struct vt_registers *fibers; /* stacks.c: registers of suspended fibers */
    uint32_t apart_count, fiber_count;
    struct vt_native_opaque *opaque;
    uint32_t opaque_count;
    bool opaque_noted; /* all words that point to opaque memory were noted */
    /* if set, gets each possible pointer instead of the search */
    void (*receive)(struct vt_native *n, uintptr_t word, uintptr_t at);
};

static inline bool vt_native_may_lead(const struct vt_native *n, uintptr_t word) {
    return word - n->lead[0].start < n->lead[0].end - n->lead[0].start ||
           word - n->lead[1].start < n->lead[1].end - n->lead[1].start;
}

/* blocks.c */

/* Stores a tail and returns its number; 0: the table is full. */
uint32_t vt_native_tail(struct vt_native *n, const struct vt_native_tail *as);
/* The span that contains an address; NULL: none. */
struct vt_span *vt_native_span_at(struct vt_native *n, uintptr_t address);
/* Finds the block of memory that contains an address. 0: none may be entered; 1: already entered; 2: not yet. */
unsigned vt_native_block(struct vt_native *n, uintptr_t address, const struct vt_native_path *from,
                         struct vt_range *block);
/* Stores the word being read as a reference, and returns its number. */
uint32_t vt_native_reference(struct vt_native *n, const struct vt_native_path *from);
/* Enters a block, and queues only `part` for reading. */
void vt_native_enter(struct vt_native *n, struct vt_range block, struct vt_range part,
                     const struct vt_native_path *from);
/* Whether the search has reached the block that begins at `start`. */
bool vt_native_is_marked(const struct vt_span *s, uintptr_t start);

/* native.c */

void vt_native_follow(struct vt_native *n, uintptr_t word, const struct vt_native_path *from);
void vt_native_drain(struct vt_native *n);
/* The walk's search, made at the first call, with all pieces of memory; NULL: it cannot be made. */
struct vt_native *vt_native_search(struct vt_owners *w);
/* Follows the words in a piece of memory. `steady`: as in struct vt_span. */
void vt_native_scan(struct vt_native *n, uintptr_t start, uintptr_t end, bool steady);
/* The same for memory whose pages are all resident and can be read in place. */
void vt_native_scan_in_place(struct vt_native *n, uintptr_t start, uintptr_t end);

/* cpp_containers.c: the first of the `count` `words` points to the first byte of `block`. If they are a C++ container
 * that uses only a part of its memory, enters that part. Returns how many of the words belong to the container; 0: not
 * such a container. */
static inline bool vt_native_may_be_container(const uint64_t words[3]) {
    return (words[0] <= words[1] && words[1] <= words[2]) || words[1] <= VT_NATIVE_NODES;
}
unsigned vt_native_container(struct vt_native *n, const uint64_t *words, size_t count,
                             struct vt_range block, const struct vt_native_path *from);

/* tls.c: vt_native_thread_locals follows the thread-local variables of the threads with these blocks (0: none).
 * vt_native_thread_local_at returns a variable's offset from the start of its module's storage. */
void vt_native_thread_locals(struct vt_native *n, const uintptr_t *blocks, uint32_t count);
uint32_t vt_native_thread_local_at(const struct vt_native *n, uintptr_t address);

/* stacks.c: finds stacks that the program made, and fills `apart` and `fibers`. */
void vt_native_find_stacks(struct vt_native *n);

/* shared.c: whether the words are a shared_ptr or a weak_ptr; if so, it handles them. */
bool vt_native_is_shared(struct vt_native *n, const uint64_t words[2],
                         const struct vt_native_path *from);
/* Whether a block of memory begins with a control block that has weak_ptrs. A single word that points to it may be left
 * over from a weak_ptr, so it is followed only as part of a complete pointer. */
bool vt_native_has_weak(struct vt_native *n, uintptr_t block);
/* After a search: follows the objects that must have at least one shared_ptr. */
void vt_native_shared_resolve(struct vt_native *n);

#endif
