/* SPDX-License-Identifier: MIT */
/*
 * The program of the random corpus: `random FAMILY OPS SEED`, or `random --list`. The same three
 * words are the same allocations in the same order, always. FAMILY_marked is FAMILY with each
 * operation inside a phase. An even seed leaves what the program still uses to the process's end,
 * an odd one frees it first, as programs of both kinds are common. Called by `run`.
 */
#include "random.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

int ops;
static int marked;
static enum background background;
static uint64_t state, run_seed;
static struct blocks *lists;

static uint64_t mix(uint64_t x) { /* splitmix64's finish */
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t next_word(void) {
    return mix(state += 0x9e3779b97f4a7c15u);
}

unsigned uniform(unsigned n) {
    return (unsigned)((next_word() >> 32) * n >> 32);
}

int between(int low, int high) {
    return low + (int)uniform((unsigned)(high - low + 1));
}

double unit(void) {
    return (double)((next_word() >> 11) + 1) / 9007199254740992.0;
}

int chance(double probability) {
    return unit() <= probability;
}

static size_t size_at(double where, size_t low, size_t high) {
    double bytes = (double)low * pow((double)high / (double)low, where);
    return ((size_t)bytes + 511) / 512 * 512;
}

size_t size_between(size_t low, size_t high) {
    return size_at(unit(), low, high);
}

size_t size_of(unsigned key, size_t low, size_t high) {
    uint64_t word = mix(run_seed + 0x9e3779b97f4a7c15u * (key + 1));
    return size_at((double)(word >> 11) / 9007199254740992.0, low, high);
}

int geometric(double mean) {
    return mean <= 1 ? 1 : 1 + (int)(log(unit()) / log(1 - 1 / mean));
}

int pareto(double alpha) {
    double length = pow(unit(), -1 / alpha);
    return length < 1e8 ? (int)length : 100000000;
}

static void *checked(void *memory) {
    if (!memory) {
        fprintf(stderr, "random: no memory left\n");
        _Exit(97);
    }
    return memory;
}

void free_device(CUdeviceptr block) {
    CHECK(cuMemFree_v2(block));
}

struct blocks *new_blocks(void) {
    struct blocks *list = checked(calloc(1, sizeof *list));
    list->free = free_device;
    list->next = lists;
    return lists = list;
}

struct blocks *new_leaked(void) {
    struct blocks *list = new_blocks();
    list->leaked = 1;
    return list;
}

void keep_until(struct blocks *list, CUdeviceptr block, int op) {
    if (list->count == list->room) {
        list->room = list->room ? list->room * 2 : 64;
        list->at = checked(realloc(list->at, sizeof *list->at * (size_t)list->room));
        list->due = checked(realloc(list->due, sizeof *list->due * (size_t)list->room));
    }
    list->at[list->count] = block;
    list->due[list->count++] = op;
}

void keep(struct blocks *list, CUdeviceptr block) {
    keep_until(list, block, 0);
}

struct blocks *new_slots(int count) {
    struct blocks *list = new_blocks();
    while (list->count < count)
        keep(list, 0);
    return list;
}

CUdeviceptr take(struct blocks *list, int index) {
    CUdeviceptr block = list->at[index];
    size_t after = (size_t)(--list->count - index);
    memmove(list->at + index, list->at + index + 1, after * sizeof *list->at);
    memmove(list->due + index, list->due + index + 1, after * sizeof *list->due);
    list->at[list->count] = 0;
    return block;
}

void drop(struct blocks *list, int index) {
    list->free(take(list, index));
}

void expire(struct blocks *list, int op) {
    for (int i = 0; i < list->count;)
        if (list->due[i] <= op)
            drop(list, i);
        else
            i++;
}

void put(struct blocks *slots, int index, CUdeviceptr block) {
    if (slots->at[index])
        slots->free(slots->at[index]);
    slots->at[index] = block;
}

void clear(struct blocks *list) {
    for (int i = 0; i < list->count; i++)
        if (list->at[i])
            list->free(list->at[i]);
    memset(list->at, 0, sizeof *list->at * (size_t)list->room);
    list->count = 0;
}

static void free_lists(int leaked_too) {
    for (struct blocks *list = lists; list; list = list->next)
        if (list->count && (leaked_too || !list->leaked))
            clear(list);
}

void free_all(void) {
    free_lists(1);
}

/* Temporary work: made when an operation begins, freed when it ends. */
MAKER(input_batch)
MAKER(activations)
MAKER(scratch)

static CUdeviceptr temporaries[4];
static int temporary_count;

int begin_op(void) {
    if (marked)
        vramtrace_push("step");
    temporary_count = 0;
    if (background == STEADY) {
        temporaries[temporary_count++] = input_batch(2 * MIB);
        temporaries[temporary_count++] = activations(size_of(1, MIB, 4 * MIB));
    }
    for (int left = background == MIXED ? between(1, 3) : 0; left > 0; left--) {
        size_t bytes = size_between(64 * KIB, 8 * MIB);
        unsigned kind = uniform(3);
        temporaries[temporary_count++] = kind == 0   ? input_batch(bytes)
                                         : kind == 1 ? activations(bytes)
                                                     : scratch(bytes);
    }
    return 1;
}

void end_op(void) {
    while (temporary_count) {
        unsigned which = background == MIXED ? uniform((unsigned)temporary_count) : 0;
        free_device(temporaries[which]);
        temporaries[which] = temporaries[--temporary_count];
    }
    if (marked)
        vramtrace_pop();
}

static const struct family *const files[] = {stores, flows, training, leaks, few};
#define FILES (sizeof files / sizeof *files)

static const struct family *family_named(const char *name, size_t length) {
    for (size_t file = 0; file < FILES; file++)
        for (const struct family *family = files[file]; family->name; family++)
            if (strlen(family->name) == length && !memcmp(family->name, name, length))
                return family;
    return NULL;
}

static int list_families(void) {
    for (size_t file = 0; file < FILES; file++)
        for (const struct family *family = files[file]; family->name; family++)
            puts(family->name);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "--list"))
        return list_families();
    if (argc != 4) {
        fprintf(stderr, "usage: random FAMILY OPS SEED, or random --list\n");
        return 2;
    }
    static const char suffix[] = "_marked";
    size_t length = strlen(argv[1]), tail = strlen(suffix);
    if (length > tail && !strcmp(argv[1] + length - tail, suffix)) {
        marked = 1;
        length -= tail;
    }
    const struct family *family = family_named(argv[1], length);
    ops = atoi(argv[2]);
    int seed = atoi(argv[3]);
    if (!family || ops < 1) {
        fprintf(stderr, "random: %s: %s\n", family ? argv[2] : argv[1],
                family ? "expected a number of operations, 1 or more" : "no such family (--list)");
        return 2;
    }
    for (size_t i = 0; i < length; i++)
        run_seed = mix(run_seed + (unsigned char)argv[1][i]);
    run_seed = state = mix(run_seed + (uint64_t)seed * 0x9e3779b97f4a7c15u);
    background = family->background;
    start_cuda();
    family->run();
    if (seed % 2)
        free_lists(0);
    return 0;
}
