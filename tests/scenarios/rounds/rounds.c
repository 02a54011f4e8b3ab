/* SPDX-License-Identifier: MIT */
/*
 * Native programs that load once and stand still: rounds FAMILY ROUNDS PACE, the pause between two loads
 * in milliseconds; ROUNDS is for rounds.py. None is ever growing. What is still held at the end is `unfreed`, as in any native
 * program.
 */
#include "../scene.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static CUdeviceptr weights[1000];
static int count;
static long pace; /* microseconds */

static void pause_between(void) {
    struct timespec between = {pace / 1000000, pace % 1000000 * 1000};
    if (pace)
        nanosleep(&between, NULL); /* the pace of loading is what is tried here */
}

static void load(size_t bytes) {
    pause_between();
    weights[count++] = ALLOC(bytes);
}

static void free_all(void) {
    while (count)
        FREE(weights[--count]);
}

static void steps(int n) {
    for (int i = 0; i < n; i++)
        WORK();
}

static void alike(int n) {
    for (int i = 0; i < n; i++)
        load(256 * KIB);
}

static void mixed(int n) {
    for (int i = 0; i < n; i++)
        load((size_t)(1 + i * 7 % 13) * 64 * KIB);
}

static void staged(int n) {
    for (int i = 0; i < n; i++) {
        CUdeviceptr staging = ALLOC(64 * KIB);
        load(512 * KIB);
        FREE(staging);
    }
}

static void load_alike(void) {
    alike(600);
}

static void load_alike_freed(void) {
    alike(600);
    free_all();
}

static void load_mixed(void) {
    mixed(600);
}

static void load_mixed_freed(void) {
    mixed(300);
    free_all();
}

static void load_then_steps(void) {
    alike(300);
    steps(200);
}

static void load_then_few_steps(void) {
    alike(300);
    steps(12);
}

static void load_mixed_then_steps(void) {
    mixed(200);
    steps(400);
}

static void load_staged(void) {
    staged(200);
    free_all();
}

static void load_staged_then_steps(void) {
    staged(200);
    steps(250);
}

static void load_staged_then_steps_freed(void) {
    staged(120);
    steps(150);
    free_all();
}

static void load_after_steps(void) {
    steps(100);
    alike(300);
    steps(100);
}

static void load_shards(void) {
    for (int shard = 0; shard < 8; shard++) {
        CUdeviceptr file = ALLOC(8 * MIB);
        alike(40);
        FREE(file);
    }
    steps(400);
}

static void load_tables(void) {
    for (int n = 1; n <= 256; n++)
        load((size_t)n * 4 * KIB);
    steps(300);
}

static void load_reloaded(void) {
    alike(200);
    steps(50);
    free_all();
    alike(200);
    steps(50);
}

/* A short use, by lines of its own. */
static void use(int n) {
    for (int i = 0; i < n; i++) {
        CUdeviceptr activation = ALLOC(MIB);
        FREE(activation);
    }
}

/* Weights in a vector, which has no bound. */
static CUdeviceptr *vector;

static void load_vector(int n) {
    for (int i = 0; i < n; i++) {
        CUdeviceptr staging = ALLOC(256 * KIB);
        pause_between();
        vector = realloc(vector, sizeof *vector * (size_t)(i + 1));
        vector[i] = ALLOC(256 * KIB);
        FREE(staging);
    }
}

static void used_vector(void) {
    load_vector(64);
    use(6);
}

static void used_large(void) {
    load_vector(200);
    use(20);
}

static const struct {
    const char *name, *set; /* as in rounds.py */
    void (*run)(void);
} families[] = {
#define FAMILY(name, set)                                                                          \
    { #name, set, name }
    FAMILY(load_alike, "tune"),
    FAMILY(load_alike_freed, "held"),
    FAMILY(load_mixed, "held"),
    FAMILY(load_mixed_freed, "tune"),
    FAMILY(load_then_steps, "tune"),
    FAMILY(load_then_few_steps, "held"),
    FAMILY(load_mixed_then_steps, "held"),
    FAMILY(load_staged, "tune"),
    FAMILY(load_staged_then_steps, "held"),
    FAMILY(load_staged_then_steps_freed, "held"),
    FAMILY(load_after_steps, "held"),
    FAMILY(load_shards, "tune"),
    FAMILY(load_tables, "held"),
    FAMILY(load_reloaded, "held"),
    FAMILY(used_vector, "tune"),
    FAMILY(used_large, "held"),
};

int main(int argc, char **argv) {
    if (argc < 2 || !strcmp(argv[1], "--list")) {
        for (size_t i = 0; i < sizeof families / sizeof *families; i++)
            printf("%s loads %s\n", families[i].name, families[i].set);
        return 0;
    }
    SCENE(argc, argv);
    pace = argc > 3 ? (long)(atof(argv[3]) * 1000) : 0;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (!strcmp(families[i].name, argv[1]))
            families[i].run();
    return 0;
}
