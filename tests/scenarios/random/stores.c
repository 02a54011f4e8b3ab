/* SPDX-License-Identifier: MIT */
/* Families that hold on to a bounded set of things: caches, rings, pools, buffers. None leaks. */
#include "random.h"

#include <math.h>

MAKER(cached_result)

static void cache(unsigned keys) {
    struct blocks *results = new_slots((int)keys);
    EACH_OP(i) {
        unsigned key = uniform(keys);
        if (!results->at[key])
            results->at[key] = cached_result(size_of(key, 16 * KIB, MIB));
    }
}

static void cache_40(void) {
    cache(40);
}

static void cache_200(void) {
    cache(200);
}

static void cache_1000(void) {
    cache(1000);
}

MAKER(embedding_row)

/* Keys as words come: the k-th most frequent is seen 1/k^1.1 as often. */
static void cache_zipf(void) {
    enum { WORDS = 500 };
    double sum = 0, upto[WORDS];
    for (int k = 0; k < WORDS; k++)
        upto[k] = sum += pow(k + 1, -1.1);
    struct blocks *rows = new_slots(WORDS);
    EACH_OP(i) {
        for (int lookups = between(1, 3); lookups > 0; lookups--) {
            double where = unit() * sum;
            int key = 0;
            while (key < WORDS - 1 && upto[key] < where)
                key++;
            if (!rows->at[key])
                rows->at[key] = embedding_row(64 * KIB);
        }
    }
}

void bounded_store(maker *entry, struct bounds bounds) {
    struct blocks *entries = new_blocks();
    int keys[256] = {0}, seen[256] = {0}, hand = 0;
    size_t sizes[256] = {0}, held = 0;
    EACH_OP(i) {
        int key = (int)uniform((unsigned)bounds.keys), at = 0;
        while (at < entries->count && keys[at] != key)
            at++;
        if (at < entries->count) {
            seen[at] = bounds.policy == CLOCK ? 1 : i;
            continue;
        }
        size_t bytes = size_of((unsigned)key, 64 * KIB, 2 * MIB);
        while (entries->count &&
               (entries->count >= bounds.room || (bounds.budget && held + bytes > bounds.budget))) {
            int out = 0;
            if (bounds.policy == ANY)
                out = (int)uniform((unsigned)entries->count);
            for (int j = 1; bounds.policy == OLDEST && j < entries->count; j++)
                out = seen[j] < seen[out] ? j : out;
            if (bounds.policy == CLOCK) {
                for (hand %= entries->count; seen[hand]; hand = (hand + 1) % entries->count)
                    seen[hand] = 0;
                out = hand;
            }
            held -= sizes[out];
            if (bounds.lost)
                keep(bounds.lost, take(entries, out));
            else
                drop(entries, out);
            for (int j = out; j < entries->count; j++) {
                keys[j] = keys[j + 1];
                seen[j] = seen[j + 1];
                sizes[j] = sizes[j + 1];
            }
        }
        at = entries->count;
        keys[at] = key;
        seen[at] = bounds.policy == CLOCK ? 0 : i;
        held += sizes[at] = bytes;
        keep(entries, entry(bytes));
    }
}

MAKER(tile)

static void lru_by_count(void) {
    bounded_store(tile, (struct bounds){.policy = OLDEST, .room = between(12, 24), .keys = 60});
}

static void lru_by_bytes(void) {
    bounded_store(tile,
                  (struct bounds){.policy = OLDEST, .room = 200, .budget = 12 * MIB, .keys = 80});
}

static void random_replacement(void) {
    bounded_store(tile, (struct bounds){.policy = ANY, .room = between(30, 50), .keys = 150});
}

static void clock_cache(void) {
    bounded_store(tile, (struct bounds){.policy = CLOCK, .room = between(20, 30), .keys = 90});
}

MAKER(frame_surface)

static void ring(void) {
    int slots = between(8, 20);
    struct blocks *surfaces = new_slots(slots);
    EACH_OP(i) {
        put(surfaces, i % slots, frame_surface(size_between(256 * KIB, 2 * MIB)));
    }
}

MAKER(transition)

/* Reinforcement learning: the last 200 transitions, the oldest replaced. */
static void replay_buffer(void) {
    struct blocks *last = new_slots(200);
    EACH_OP(i) {
        put(last, i % 200, transition(256 * KIB));
    }
}

MAKER(best_model)

/* The five best of many: one comes, the worst goes. */
static void best_five(void) {
    struct blocks *models = new_slots(5);
    double scores[5] = {0};
    EACH_OP(i) {
        double score = unit();
        int worst = 0;
        for (int k = 1; k < 5; k++)
            worst = scores[k] < scores[worst] ? k : worst;
        if (score > scores[worst]) {
            scores[worst] = score;
            put(models, worst, best_model(3 * MIB));
        }
    }
}

MAKER(idle_block)

/* An allocator that keeps what is given back, and trims when too much of it is idle. */
static void trimmed_pool(void) {
    struct blocks *idle = new_blocks(), *used = new_blocks();
    int demand = 6;
    EACH_OP(i) {
        demand += between(-2, 2);
        demand = demand < 1 ? 1 : demand > 24 ? 24 : demand;
        while (used->count > demand)
            keep(idle, take(used, used->count - 1));
        while (used->count < demand)
            keep(used, idle->count ? take(idle, idle->count - 1) : idle_block(MIB));
        if (idle->count > 12)
            while (idle->count > 4)
                drop(idle, 0);
    }
}

MAKER(left_turn)
MAKER(right_turn)

/* Twelve places; each operation renews one of them, from this site or from that. */
static void two_turns(void) {
    struct blocks *places = new_slots(12);
    EACH_OP(i) {
        size_t bytes = size_between(128 * KIB, MIB);
        put(places, (int)uniform(12), chance(0.5) ? left_turn(bytes) : right_turn(bytes));
    }
}

MAKER(table_slots)

/* A device hash table of a stream's distinct keys, of which there are 300: doubled when 3/4 full. */
static void hash_table(void) {
    static unsigned char known[300];
    struct blocks *table = new_slots(1);
    int entries = 0, room = 16;
    put(table, 0, table_slots((size_t)room * 4 * KIB));
    EACH_OP(i) {
        unsigned key = uniform(300);
        entries += !known[key];
        known[key] = 1;
        if (entries * 4 > room * 3) {
            room *= 2;
            put(table, 0, table_slots((size_t)room * 4 * KIB));
        }
    }
}

MAKER(append)

/* A language model's cache: a token more each operation, all of it freed as a generation ends. */
static void generation_cache(void) {
    struct blocks *cache = new_slots(1);
    int tokens = 0, last = between(20, 50);
    EACH_OP(i) {
        put(cache, 0, append((size_t)++tokens * 64 * KIB));
        if (tokens == last) {
            clear(cache);
            cache->count = 1;
            tokens = 0;
            last = between(20, 50);
        }
    }
}

/* A bank of features that is appended to until it has 40. */
static void feature_bank(void) {
    struct blocks *bank = new_slots(1);
    EACH_OP(i) {
        if (i < 40)
            put(bank, 0, append((size_t)(i + 1) * 64 * KIB));
    }
}

MAKER(plan)
MAKER(plan_workspace)

/* A library's plans, one for each shape that comes; a workspace at each use. */
static void plans_by_shape(void) {
    unsigned shapes = (unsigned)between(4, 8);
    struct blocks *plans = new_slots((int)shapes);
    EACH_OP(i) {
        unsigned shape = uniform(shapes);
        if (!plans->at[shape])
            plans->at[shape] = plan(size_of(shape, 32 * KIB, 512 * KIB));
        free_device(plan_workspace(size_of(shape, MIB, 16 * MIB)));
    }
}

MAKER(pinned_upload_target)

__attribute__((noinline)) static CUdeviceptr pinned_batch(size_t bytes) {
    void *made;
    CHECK(cuMemHostAlloc(&made, bytes, 0));
    return (CUdeviceptr)(uintptr_t)made;
}

static void free_pinned(CUdeviceptr block) {
    CHECK(cuMemFreeHost((void *)(uintptr_t)block));
}

/* A loader's eight pinned batches, made anew when a batch does not fit; each is sent to the device. */
static void pinned_loader(void) {
    struct blocks *batches = new_slots(8);
    size_t sizes[8] = {0};
    batches->free = free_pinned;
    EACH_OP(i) {
        size_t bytes = size_between(16 * KIB, 128 * KIB);
        if (bytes > sizes[i % 8])
            put(batches, i % 8, pinned_batch(sizes[i % 8] = bytes));
        free_device(pinned_upload_target(bytes));
    }
}

const struct family stores[] = {
    {"cache_40", cache_40, STEADY},
    {"cache_200", cache_200, STEADY},
    {"cache_1000", cache_1000, MIXED},
    {"cache_zipf", cache_zipf, STEADY},
    {"lru_by_count", lru_by_count, STEADY},
    {"lru_by_bytes", lru_by_bytes, MIXED},
    {"random_replacement", random_replacement, NOTHING},
    {"clock_cache", clock_cache, STEADY},
    {"ring", ring, STEADY},
    {"replay_buffer", replay_buffer, MIXED},
    {"best_five", best_five, STEADY},
    {"trimmed_pool", trimmed_pool, NOTHING},
    {"two_turns", two_turns, NOTHING},
    {"hash_table", hash_table, STEADY},
    {"generation_cache", generation_cache, STEADY},
    {"feature_bank", feature_bank, STEADY},
    {"plans_by_shape", plans_by_shape, NOTHING},
    {"pinned_loader", pinned_loader, NOTHING},
    {0},
};
