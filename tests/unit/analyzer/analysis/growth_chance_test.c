/* SPDX-License-Identifier: MIT */
/* Growth of sites that allocate and free by chance: how many of 20 seeds are called growing. */
#include "growth_story.h"

/* The same numbers in every run: xorshift64*. */
static double chance(uint64_t *seed) {
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return (double)(*seed * 0x2545f4914f6cdd1dull >> 11) / 9007199254740992.0;
}

enum { ROOM = 4096 };

/* What a program does at a site, by chance. `step`: 0 to `steps` - 1. */
struct heap {
    struct story *story;
    uint64_t seed, blocks[ROOM];
    uint32_t count; /* number of blocks, if they are a list */
};

static void drop(struct heap *h, uint32_t i) {
    give(h->story, h->blocks[i]);
    memmove(&h->blocks[i], &h->blocks[i + 1], (--h->count - i) * sizeof *h->blocks);
}

static void cache_fills(struct heap *h) {
    uint64_t *entry = &h->blocks[(uint32_t)(chance(&h->seed) * 40)];
    if (!*entry)
        *entry = take(h->story, 1, 1000);
}

static void cache_replaces(struct heap *h) {
    uint64_t *entry = &h->blocks[(uint32_t)(chance(&h->seed) * 30)];
    if (*entry)
        give(h->story, *entry);
    *entry = take(h->story, 1, 1000 + (uint64_t)(chance(&h->seed) * 1000));
}

static void cleared_by_chance(struct heap *h) {
    h->blocks[h->count++] = take(h->story, 1, 1000);
    if (chance(&h->seed) < 0.08)
        while (h->count)
            drop(h, h->count - 1);
}

static void queue_wanders(struct heap *h) {
    if (chance(&h->seed) < 0.5)
        h->blocks[h->count++] = take(h->story, 1, 1000);
    else if (h->count)
        drop(h, 0);
}

static void stack_wanders(struct heap *h) {
    if (chance(&h->seed) < 0.5)
        h->blocks[h->count++] = take(h->story, 1, 1000);
    else if (h->count)
        drop(h, h->count - 1);
}

static void lives_by_chance(struct heap *h) {
    h->blocks[h->count++] = take(h->story, 1, 1000);
    for (uint32_t i = h->count; i-- > 0;)
        if (chance(&h->seed) < 0.02)
            drop(h, i);
}

static void leaks_by_chance(struct heap *h) {
    if (chance(&h->seed) < 0.2)
        take(h->story, 1, 1000);
}

static void leaks_among_others(struct heap *h) {
    uint64_t block = take(h->story, 1, 1000);
    if (chance(&h->seed) < 0.1)
        return;
    h->blocks[h->count++] = block;
    if (h->count > 5)
        drop(h, (uint32_t)(chance(&h->seed) * h->count));
}

static void leaks_each_time(struct heap *h) {
    take(h->story, 1, 1000 + (uint64_t)(chance(&h->seed) * 9000));
}

/* How many of 20 seeds are called growing. */
static int growing(void (*step)(struct heap *), int steps) {
    int found = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct story s;
        struct heap *h = vt_alloc(1, sizeof *h);
        begin(&s);
        *h = (struct heap){.story = &s, .seed = seed * 0x9e3779b97f4a7c15ull};
        for (int i = 0; i < steps; i++) {
            step(h);
            work(&s);
        }
        found += grows(&s);
        free(h);
    }
    return found;
}

/* Random programs, in runs of different lengths: programs without a leak raise no alarm (short runs of a filling
 * cache: at most 1 of 20); leaks are found once they are large enough. */
static void by_chance(void **state) {
    static const struct {
        const char *name;
        void (*step)(struct heap *);
        int steps, least, most;
    } rows[] = {
        {"cache fills", cache_fills, 60, 0, 1},
        {"cache fills", cache_fills, 200, 0, 0},
        {"cache fills", cache_fills, 1000, 0, 0},
        {"cache replaces", cache_replaces, 60, 0, 1},
        {"cache replaces", cache_replaces, 1000, 0, 0},
        {"cleared by chance", cleared_by_chance, 60, 0, 1},
        {"cleared by chance", cleared_by_chance, 200, 0, 0},
        {"cleared by chance", cleared_by_chance, 1000, 0, 0},
        {"queue wanders", queue_wanders, 200, 0, 0},
        {"queue wanders", queue_wanders, 1000, 0, 0},
        {"stack wanders", stack_wanders, 200, 0, 1},
        {"stack wanders", stack_wanders, 1000, 0, 1},
        {"lives by chance", lives_by_chance, 60, 0, 1},
        {"lives by chance", lives_by_chance, 200, 0, 0},
        {"lives by chance", lives_by_chance, 1000, 0, 0},
        {"leaks each time", leaks_each_time, 30, 20, 20},
        {"leaks each time", leaks_each_time, 1000, 20, 20},
        {"leaks by chance", leaks_by_chance, 1000, 18, 20},
        {"leaks among others", leaks_among_others, 1000, 15, 20},
        {"leaks among others", leaks_among_others, 3000, 18, 20},
    };
    bool wrong = false;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int found = growing(rows[i].step, rows[i].steps);
        if (found < rows[i].least || found > rows[i].most) {
            print_error("%s, %d steps: %d of 20 are called growing, expected %d to %d\n",
                        rows[i].name, rows[i].steps, found, rows[i].least, rows[i].most);
            wrong = true;
        }
    }
    assert_false(wrong);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_chance)};
    return cmocka_run_group_tests(tests, maker_make_folder, maker_remove_folder);
}
