/* SPDX-License-Identifier: MIT */
/*
 * Public header of native/: what variables of C and C++ hold, whose types are not known.
 *
 *   native.c          the search: words of variables, and what they lead to
 *   blocks.c          the blocks of memory that it enters
 *   cpp_containers.c  containers that have memory in use only in part
 *   shared.c          std::shared_ptr and std::weak_ptr
 *   stacks.c          stacks that the program made
 *   tls.c             where each thread has its thread-local variables
 *   unwind.c          the frames of a thread that stands still
 *
 * Invariants: that of owners/. Uses memory/, scan/ (what CUDA's libraries reach), owners/, pyobjects/, torch/.
 */
#ifndef VT_PRELOAD_NATIVE_H
#define VT_PRELOAD_NATIVE_H

#include "memory/memory.h"
#include "owners/owners.h"

/* --- for snapshot/ --- */

/* native.c. The first before there is a copy, in a function whose frame stays; the second in
 * the copy. */
void vt_native_open(struct vt_owners *w);
void vt_native_walk(struct vt_owners *w);

/* unwind.c: the frames from here outwards, as far as they are known for certain. */
struct vt_stack_frame {
    uintptr_t start, end, pc; /* its words; where it is, or returns to */
    const struct vt_module_code *code;
};
uint32_t vt_native_unwind(struct vt_owners *w, const struct vt_scan *scan, struct vt_registers here,
                          struct vt_stack_frame *frames, uint32_t most);

/* --- for each other --- */

#define VT_NATIVE_CLASSES 3u
#define VT_NATIVE_TAILS   65536u
#define VT_NATIVE_NODES   65536u /* most of a deque that is known as one */
#define VT_NATIVE_APART   4096u
#define VT_NATIVE_FIBERS  1024u
#define VT_NATIVE_UNKNOWN 4096u

/* How a way goes on behind its root. Each is kept once; number 0 is the empty one. */
struct vt_native_tail {
    uint32_t shared; /* the number of a struct vt_native_shared, whose roots lead here; 0: none */
    uint32_t class_count;
    uintptr_t classes[VT_NATIVE_CLASSES]; /* vtables of the first objects on the way */
};

/* The way to memory. */
struct vt_native_way {
    uintptr_t root; /* 0: each word is a root of its own */
    uint32_t tail;
    uint32_t hop; /* that led to the block (struct vt_hop); 0: none, it is the variable's memory */
    uintptr_t at; /* the word that is looked at; 0: not known */
    bool theirs;  /* it is an object of CUDA's libraries */
};

/* Memory that is still to be read. There may be millions. */
struct vt_native_waiting {
    uintptr_t start, root; /* the lowest bit of start: theirs */
    uint32_t tail, words;  /* words: 0: up to the end of what has pages of its own */
    uint32_t hop;
};

/* Memory of which nothing is known, and the first way to it. */
struct vt_native_unknown {
    uintptr_t start;
    struct vt_native_way way;
    enum vt_step kind;
};

/* An object that std::shared_ptr or std::weak_ptr point to. These look the same, so who holds it is
 * not known before all of them were seen. */
#define VT_NATIVE_ROOTS 4u
struct vt_native_shared {
    uintptr_t block, object; /* the control block; where the first pair points to */
    uint32_t strong, weak;   /* as counted there; without the one for all strong ones */
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
    uintptr_t shift;                 /* from a root's word to the address that is written */
    struct vt_native_waiting *queue; /* a ring */
    size_t first, last, room;
    bool cut;             /* scan->spans were made */
    struct vt_span *near; /* the last one that was looked for */
    uint32_t sought; /* allocations without an owner: the search ends with the last one, or ... */
    uint64_t most_more_work; /* ... with so much work in all, if this is more */
    /* Where a word may lead to: below 4 GiB, as in a program at a fixed address, and above. */
    struct vt_range lead[2];
    uint32_t *own_steps; /* how many allocations each variable leads to through the heap */
    struct vt_native_tail *tails;
    struct vt_native_shared *shared;
    uint32_t *shared_slots;
    uint32_t shared_count;
    struct vt_range *apart;      /* stacks.c: stacks and saved registers in variables; sorted */
    struct vt_registers *fibers; /* likewise */
    uint32_t apart_count, fiber_count;
    struct vt_native_unknown *unknown;
    uint32_t unknown_count;
    bool unknown_noted; /* all words that lead to such memory */
    /* takes each word that may lead somewhere; NULL: ways are followed */
    void (*take)(struct vt_native *n, uintptr_t word, uintptr_t at);
};

static inline bool vt_native_may_lead(const struct vt_native *n, uintptr_t word) {
    return word - n->lead[0].start < n->lead[0].end - n->lead[0].start ||
           word - n->lead[1].start < n->lead[1].end - n->lead[1].start;
}

/* blocks.c */

/* The number of a tail; 0: there is no room. */
uint32_t vt_native_tail(struct vt_native *n, const struct vt_native_tail *as);
/* The span around an address; NULL: none. */
struct vt_span *vt_native_span_at(struct vt_native *n, uintptr_t address);
/* The block of memory around an address: 0: none that may be entered; 1: it was entered before; 2: it
 * was not. */
unsigned vt_native_block(struct vt_native *n, uintptr_t address, const struct vt_native_way *from,
                         struct vt_range *block);
/* The hop by the word that is looked at. */
uint32_t vt_native_hop(struct vt_native *n, const struct vt_native_way *from);
/* Enters a block, of which only this part is looked at. */
void vt_native_enter(struct vt_native *n, struct vt_range block, struct vt_range part,
                     const struct vt_native_way *from);
/* Whether the search has come to the block that starts there. */
bool vt_native_is_marked(const struct vt_span *s, uintptr_t start);

/* native.c */

/* Follows a word: to an allocation, and into memory. */
void vt_native_follow(struct vt_native *n, uintptr_t word, const struct vt_native_way *from);
void vt_native_drain(struct vt_native *n);
/* The search of a walk, with all pieces of memory; NULL: it cannot be made. */
struct vt_native *vt_native_of(struct vt_owners *w);
/* Looks at the words in a piece of memory. `steady`: as in struct vt_span. */
void vt_native_look_through(struct vt_native *n, uintptr_t start, uintptr_t end, bool steady);
/* The same where all pages are present, and can be read in place. */
void vt_native_look(struct vt_native *n, uintptr_t start, uintptr_t end);

/* cpp_containers.c: `words`, `count` of them, begin with a pointer to the first byte of `block`. When
 * they are an object of the C++ library whose memory is in use only in part, enters that part. Returns
 * how many of the words are done with; 0: it is no such object. */
static inline bool vt_native_may_be_shape(const uint64_t words[3]) {
    return (words[0] <= words[1] && words[1] <= words[2]) || words[1] <= VT_NATIVE_NODES;
}
unsigned vt_native_shape(struct vt_native *n, const uint64_t *words, size_t count,
                         struct vt_range block, const struct vt_native_way *from);

/* tls.c: looks at the thread-local variables of threads, by their blocks; 0: none. The second: how
 * far from the start of its module's storage a variable is. */
void vt_native_thread_locals(struct vt_native *n, const uintptr_t *blocks, uint32_t count);
uint32_t vt_native_thread_local_at(const struct vt_native *n, uintptr_t address);

/* stacks.c: finds stacks that the program made; what is in `apart` is not the variables'. */
void vt_native_find_stacks(struct vt_native *n);

/* shared.c: whether the words are a shared_ptr or a weak_ptr, which it takes care of. */
bool vt_native_is_shared(struct vt_native *n, const uint64_t words[2],
                         const struct vt_native_way *from);
/* Whether a block of memory begins with a control block that weak_ptrs know, too: a lone word may be
 * what is left of one of them, so only both words of a pointer lead there. */
bool vt_native_is_watched(struct vt_native *n, uintptr_t block);
/* Follows those of which it is known that one of them holds the object. */
void vt_native_shared_settle(struct vt_native *n);

#endif
