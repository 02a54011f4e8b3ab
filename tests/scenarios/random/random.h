/* SPDX-License-Identifier: MIT */
/*
 * What the families of the random corpus share: a generator, lists of blocks, and the loop of
 * operations. A family is a small behaviour of a GPU program, written from what such programs do
 * and not from how a verdict is reached; the seed decides its sizes, its parameters and its luck.
 * Each family allocates in functions of its own, so that each of its call sites is a stack of its
 * own; where the blocks leak, that function's line says LEAK. `families` says what each one is.
 */
#ifndef VT_TESTS_RANDOM_H
#define VT_TESTS_RANDOM_H

#include "../../cuda_case.h"

#include "vramtrace.h"

#include <stdint.h>

#define KIB ((size_t)1024)
#define MIB (KIB * 1024)

/* A function of its own that allocates device memory: `MAKER(activations)`. One to a line. */
#define MAKER(name)                                                                                \
    __attribute__((noinline)) static CUdeviceptr name(size_t bytes) {                              \
        CUdeviceptr made_;                                                                         \
        CHECK(cuMemAlloc_v2(&made_, bytes));                                                       \
        return made_;                                                                              \
    }
typedef CUdeviceptr maker(size_t bytes);

/* What a family does besides: nothing; the same two temporaries in each operation; a changing few. */
enum background { NOTHING, STEADY, MIXED };

struct family {
    const char *name;
    void (*run)(void);
    enum background background;
};

/* Each file's families; a row without a name is the last. */
extern const struct family stores[], flows[], training[], leaks[], few[];

/* The run: its operations, and whether each is marked as a phase. */
extern int ops;

/* One operation after another: `EACH_OP(i) { … }`; FROM_TO is a part of the run. */
#define EACH_OP(i)       FROM_TO(i, 0, ops)
#define FROM_TO(i, a, b) for (int i = (a); i < (b) && begin_op(); end_op(), i++)
int begin_op(void);
void end_op(void);

/* The generator. */
unsigned uniform(unsigned n);   /* 0 … n-1 */
int between(int low, int high); /* low … high */
double unit(void);              /* above 0, at most 1 */
int chance(double probability);
size_t size_between(size_t low, size_t high); /* as many small as large ones, by their logarithm */
size_t size_of(unsigned key, size_t low, size_t high); /* the same for the same key */
int geometric(double mean); /* 1, 2, …; forgets how long it has lasted */
int pareto(double alpha);   /* 1, 2, …; some very long */

/* Blocks that the program holds: found by the exit scan, as a program's own pointers are. */
struct blocks {
    CUdeviceptr *at; /* 0: an empty slot */
    int *due;        /* the operation at which it is freed (keep_until) */
    int count, room;
    void (*free)(CUdeviceptr);
    int leaked; /* never given back, not even by a tidy program's end */
    struct blocks *next;
};

struct blocks *new_blocks(void);     /* lives to the program's end */
struct blocks *new_slots(int count); /* all empty */
struct blocks *new_leaked(void);     /* for forgotten memory that is still pointed to */
void keep(struct blocks *list, CUdeviceptr block);
void keep_until(struct blocks *list, CUdeviceptr block, int op);
void expire(struct blocks *list, int op);                     /* frees memory due by then */
CUdeviceptr take(struct blocks *list, int index);             /* out of the list; the order stays */
void drop(struct blocks *list, int index);                    /* takes and frees */
void put(struct blocks *slots, int index, CUdeviceptr block); /* frees the old block */
void clear(struct blocks *list); /* frees all, and leaves an empty list */
void free_all(void);             /* every list, including the leaked ones */
void free_device(CUdeviceptr block);

/* A store of at most `room` entries or `budget` bytes, by what it throws out (stores.c). */
enum policy { OLDEST, ANY, CLOCK };
struct bounds {
    enum policy policy;
    int room;            /* entries */
    size_t budget;       /* bytes; 0: no such bound */
    int keys;            /* a key is any of so many */
    struct blocks *lost; /* list for discarded blocks; NULL: they are freed */
};
void bounded_store(maker *entry, struct bounds bounds);

#endif
