/* SPDX-License-Identifier: MIT */
/* Families whose blocks come and go: queues, lifetimes, bursts, collections. None leaks. */
#include "random.h"

#include <math.h>

MAKER(list_entry)

static void cleared_at_random(void) {
    struct blocks *list = new_blocks();
    EACH_OP(i) {
        keep(list, list_entry(size_between(64 * KIB, MIB)));
        if (chance(1.0 / 12))
            clear(list);
    }
}

static void cleared_every(void) {
    struct blocks *list = new_blocks();
    int every = between(8, 15);
    EACH_OP(i) {
        keep(list, list_entry(512 * KIB));
        if (i % every == every - 1)
            clear(list);
    }
}

MAKER(queued)

/* One comes or one goes, evenly. `most`: the producer waits then. */
static void walk(int most) {
    struct blocks *queue = new_blocks();
    EACH_OP(i) {
        if (chance(0.5)) {
            if (queue->count < most)
                keep(queue, queued(256 * KIB));
        } else if (queue->count) {
            drop(queue, 0);
        }
    }
}

static void queue_walks(void) {
    walk(1 << 20);
}

static void queue_bounded(void) {
    walk(between(10, 30));
}

MAKER(prefetched)

/* Loader and trainer, each now and then ahead of the other; at most eight batches between them. */
static void prefetch(void) {
    struct blocks *ready = new_blocks();
    int depth = between(3, 8);
    EACH_OP(i) {
        for (int made = between(0, 3); made > 0 && ready->count < depth; made--)
            keep(ready, prefetched(2 * MIB));
        if (ready->count)
            drop(ready, 0);
    }
}

MAKER(mortal)

static void pool_of(double mean) {
    struct blocks *pool = new_blocks();
    EACH_OP(i) {
        expire(pool, i);
        keep_until(pool, mortal(size_between(64 * KIB, 512 * KIB)), i + geometric(mean));
    }
}

static void pool_fills(void) {
    pool_of(30);
}

static void pool_fills_slowly(void) {
    pool_of(150);
}

MAKER(object)

static void lives_geometric(void) {
    struct blocks *objects = new_blocks();
    EACH_OP(i) {
        expire(objects, i);
        for (int made = between(0, 3); made > 0; made--)
            keep_until(objects, object(size_between(16 * KIB, 2 * MIB)), i + geometric(8));
    }
}

static void lives_pareto(void) {
    struct blocks *objects = new_blocks();
    EACH_OP(i) {
        expire(objects, i);
        keep_until(objects, object(size_between(16 * KIB, MIB)), i + pareto(1.5));
    }
}

MAKER(shot)

/* Now and then a batch of blocks, all freed some operations later. */
static void bursts(void) {
    struct blocks *batch = new_blocks();
    EACH_OP(i) {
        expire(batch, i);
        if (chance(1.0 / 15)) {
            int end = i + between(3, 10);
            for (int made = between(5, 20); made > 0; made--)
                keep_until(batch, shot(size_between(64 * KIB, MIB)), end);
        }
    }
}

MAKER(session_state)
MAKER(session_cache)

/* Sessions come more often and less often, in waves of 40 operations. */
static void waves(void) {
    struct blocks *sessions = new_blocks();
    EACH_OP(i) {
        expire(sessions, i);
        if (chance(0.5 + 0.45 * sin(i * 2 * 3.14159265358979 / 40))) {
            int end = i + geometric(10);
            keep_until(sessions, session_state(128 * KIB), end);
            keep_until(sessions, session_cache(size_between(256 * KIB, 2 * MIB)), end);
        }
    }
}

MAKER(kv_page)

/* A language model serves up to eight requests: each takes a page every four tokens. */
static void kv_pages(void) {
    struct blocks *pages[8];
    int left[8] = {0}, tokens[8] = {0};
    for (int r = 0; r < 8; r++)
        pages[r] = new_blocks();
    EACH_OP(i) {
        for (int r = 0; r < 8; r++) {
            if (left[r] && --left[r] == 0)
                clear(pages[r]);
            if (!left[r] && chance(0.1)) {
                left[r] = geometric(40);
                tokens[r] = 0;
            }
            if (left[r] && tokens[r]++ % 4 == 0)
                keep(pages[r], kv_page(256 * KIB));
        }
    }
}

MAKER(young)

/* A collector with generations: most die young, a few at the next full collection. */
static void generations(void) {
    struct blocks *nursery = new_blocks(), *old = new_blocks();
    EACH_OP(i) {
        keep(nursery, young(size_between(32 * KIB, 512 * KIB)));
        if (i % 8 == 7)
            while (nursery->count) {
                CUdeviceptr block = take(nursery, nursery->count - 1);
                if (chance(0.15))
                    keep(old, block);
                else
                    free_device(block);
            }
        if (i % 56 == 55)
            for (int k = old->count - 1; k >= 0; k--)
                if (chance(0.9))
                    drop(old, k);
    }
}

MAKER(in_cycle)

/* Garbage in cycles, collected at intervals that grow by a quarter each time. */
static void collections(void) {
    struct blocks *garbage = new_blocks();
    double interval = between(6, 10), next = interval;
    EACH_OP(i) {
        if (chance(0.6))
            keep(garbage, in_cycle(size_between(64 * KIB, MIB)));
        if (i >= next) {
            clear(garbage);
            next += interval *= 1.25;
        }
    }
}

MAKER(stack_frame)

/* A search goes down and up a tree: last made, first freed. */
static void recursion(void) {
    struct blocks *path = new_blocks();
    int deepest = between(12, 25);
    EACH_OP(i) {
        for (int moves = between(1, 3); moves > 0; moves--)
            if (chance(0.5) && path->count < deepest)
                keep(path, stack_frame(size_of((unsigned)path->count, 64 * KIB, MIB)));
            else if (path->count)
                drop(path, path->count - 1);
    }
}

MAKER(beam)

/* Beam search: each step's beams replace the last one's, and their number wanders. */
static void beams(void) {
    struct blocks *now = new_blocks();
    int width = 4;
    EACH_OP(i) {
        int before = now->count;
        width += between(-1, 1);
        width = width < 1 ? 1 : width > 10 ? 10 : width;
        for (int k = 0; k < width; k++)
            keep(now, beam(512 * KIB));
        while (before-- > 0)
            drop(now, 0);
    }
}

static CUmemoryPool default_pool(void) {
    CUmemoryPool pool;
    CHECK(cuDeviceGetDefaultMemPool(&pool, 0));
    return pool;
}

__attribute__((noinline)) static CUdeviceptr from_pool(CUmemoryPool pool, size_t bytes) {
    CUdeviceptr made;
    CHECK(cuMemAllocFromPoolAsync(&made, bytes, pool, NULL));
    return made;
}

static void free_async(CUdeviceptr block) {
    CHECK(cuMemFreeAsync(block, NULL));
}

/* Stream-ordered blocks, freed some operations later. */
static void stream_ordered(void) {
    CUmemoryPool pool = default_pool();
    struct blocks *blocks = new_blocks();
    blocks->free = free_async;
    EACH_OP(i) {
        expire(blocks, i);
        for (int made = between(1, 3); made > 0; made--)
            keep_until(blocks, from_pool(pool, size_between(64 * KIB, MIB)), i + geometric(5));
    }
}

MAKER(of_context)

/* A context for each job of twelve operations; destroying it gives its blocks back. */
static void contexts(void) {
    CUcontext job = NULL;
    EACH_OP(i) {
        if (i % 12 == 0)
            CHECK(cuCtxCreate_v2(&job, 0, 0));
        of_context(size_between(64 * KIB, MIB));
        if (i % 12 == 11 || i == ops - 1) {
            CHECK(cuCtxDestroy_v2(job));
            job = NULL;
        }
    }
}

const struct family flows[] = {
    {"cleared_at_random", cleared_at_random, STEADY},
    {"cleared_every", cleared_every, MIXED},
    {"queue_walks", queue_walks, STEADY},
    {"queue_bounded", queue_bounded, NOTHING},
    {"prefetch", prefetch, STEADY},
    {"pool_fills", pool_fills, STEADY},
    {"pool_fills_slowly", pool_fills_slowly, MIXED},
    {"lives_geometric", lives_geometric, NOTHING},
    {"lives_pareto", lives_pareto, STEADY},
    {"bursts", bursts, STEADY},
    {"waves", waves, MIXED},
    {"kv_pages", kv_pages, NOTHING},
    {"generations", generations, STEADY},
    {"collections", collections, MIXED},
    {"recursion", recursion, NOTHING},
    {"beams", beams, NOTHING},
    {"stream_ordered", stream_ordered, MIXED},
    {"contexts", contexts, NOTHING},
    {0},
};
