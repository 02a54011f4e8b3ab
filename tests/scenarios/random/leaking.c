/* SPDX-License-Identifier: MIT */
/*
 * Families that leak: their memory would go on rising if the program ran on. What leaks is still
 * pointed to, so that only its growth tells it from memory in use; nothing gives it back. (The
 * two families of freed_at_end do, and so are clean: see `families`.)
 */
#include "random.h"

MAKER(output) /* LEAK */

static void each_op(void) {
    struct blocks *kept = new_leaked();
    EACH_OP(i) {
        keep(kept, output(256 * KIB));
    }
}

static void each_op_sizes(void) {
    struct blocks *kept = new_leaked();
    EACH_OP(i) {
        keep(kept, output(size_between(4 * KIB, 4 * MIB)));
    }
}

static void three_per_op(void) {
    struct blocks *kept = new_leaked();
    EACH_OP(i) {
        for (int k = 0; k < 3; k++)
            keep(kept, output(size_of((unsigned)k, 16 * KIB, MIB)));
    }
}

static void some_per_op(void) {
    struct blocks *kept = new_leaked();
    EACH_OP(i) {
        for (int k = between(0, 4); k > 0; k--)
            keep(kept, output(size_between(16 * KIB, MIB)));
    }
}

static void every(int n) {
    struct blocks *kept = new_leaked();
    EACH_OP(i) {
        if (i % n == n - 1)
            keep(kept, output(512 * KIB));
    }
}

static void every_3rd(void) {
    every(3);
}

static void every_10th(void) {
    every(10);
}

/* The error path forgets what it made. */
static void on_errors(double often) {
    struct blocks *kept = new_leaked();
    EACH_OP(i) {
        if (chance(often))
            keep(kept, output(size_between(256 * KIB, MIB)));
    }
}

static void random_10(void) {
    on_errors(0.10);
}

static void random_3(void) {
    on_errors(0.03);
}

static void freed_at_end(void) {
    each_op();
    free_all();
}

static void random_freed_at_end(void) {
    on_errors(0.25);
    free_all();
}

static void second_half(void) {
    struct blocks *kept = new_leaked();
    EACH_OP(i) {
        if (i >= ops / 2)
            keep(kept, output(256 * KIB));
    }
}

static void after_20(void) {
    struct blocks *kept = new_leaked();
    EACH_OP(i) {
        if (i >= ops / 5 && chance(0.7))
            keep(kept, output(256 * KIB));
    }
}

/* The last twentieth of the run is an evaluation, which leaks nothing. */
static void then_evaluation(void) {
    struct blocks *kept = new_leaked();
    int trained = ops - (ops + 19) / 20;
    FROM_TO(i, 0, trained) {
        keep(kept, output(256 * KIB));
    }
    FROM_TO(i, trained, ops) {}
}

MAKER(churned) /* LEAK */

/* Three blocks an operation from one site; one in ten is forgotten, the others freed at once. */
static void churn_10(void) {
    struct blocks *kept = new_leaked();
    EACH_OP(i) {
        for (int k = 0; k < 3; k++) {
            CUdeviceptr block = churned(size_between(64 * KIB, MIB));
            if (chance(0.10))
                keep(kept, block);
            else
                free_device(block);
        }
    }
}

/* The same with the others freed after a random while. */
static void churn_10_lives(void) {
    struct blocks *kept = new_leaked(), *living = new_blocks();
    EACH_OP(i) {
        expire(living, i);
        for (int k = between(1, 3); k > 0; k--) {
            CUdeviceptr block = churned(256 * KIB);
            if (chance(0.10))
                keep(kept, block);
            else
                keep_until(living, block, i + geometric(6));
        }
    }
}

/* A pool that fills while one in twenty of its blocks never comes back. */
static void pool_5(void) {
    struct blocks *kept = new_leaked(), *living = new_blocks();
    EACH_OP(i) {
        expire(living, i);
        CUdeviceptr block = churned(256 * KIB);
        if (chance(0.05))
            keep(kept, block);
        else
            keep_until(living, block, i + geometric(30));
    }
}

MAKER(evicted) /* LEAK */

static void lru_forgets(void) {
    bounded_store(evicted,
                  (struct bounds){
                      .policy = OLDEST, .room = between(12, 24), .keys = 60, .lost = new_leaked()});
}

MAKER(list_item) /* LEAK */

/* A list that is cleared at random, all but its first entry. */
static void one_escapes(void) {
    struct blocks *kept = new_leaked(), *list = new_blocks();
    EACH_OP(i) {
        keep(list, list_item(256 * KIB));
        if (chance(1.0 / 8)) {
            keep(kept, take(list, 0));
            if (list->count)
                clear(list);
        }
    }
}

MAKER(collectable) /* LEAK */

/* Garbage is collected every 15 operations; one in ten cannot be. */
static void uncollectable(void) {
    struct blocks *kept = new_leaked(), *garbage = new_blocks();
    EACH_OP(i) {
        keep(garbage, collectable(size_between(64 * KIB, 512 * KIB)));
        if (i % 15 == 14)
            while (garbage->count) {
                CUdeviceptr block = take(garbage, 0);
                if (chance(0.1))
                    keep(kept, block);
                else
                    free_device(block);
            }
    }
}

MAKER(request_page) /* LEAK */

/* Four requests at a time take pages; one request in six is cancelled and gives none back. */
static void cancelled_requests(void) {
    struct blocks *kept = new_leaked(), *pages[4];
    int left[4] = {0};
    for (int r = 0; r < 4; r++)
        pages[r] = new_blocks();
    EACH_OP(i) {
        for (int r = 0; r < 4; r++) {
            if (left[r] && --left[r] == 0) {
                if (chance(1.0 / 6))
                    while (pages[r]->count)
                        keep(kept, take(pages[r], 0));
                else if (pages[r]->count)
                    clear(pages[r]);
            }
            if (!left[r] && chance(0.3))
                left[r] = geometric(12);
            if (left[r] && left[r] % 3 == 0)
                keep(pages[r], request_page(256 * KIB));
        }
    }
}

MAKER(backlog) /* LEAK */

/* A queue whose consumer is a little too slow. */
static void slow_consumer(void) {
    struct blocks *queue = new_leaked();
    EACH_OP(i) {
        if (chance(0.6))
            keep(queue, backlog(size_between(64 * KIB, 512 * KIB)));
        else if (queue->count)
            drop(queue, 0);
    }
}

MAKER(epoch_forward)
MAKER(epoch_losses) /* LEAK */

/* Epochs of ten steps; each leaves its losses behind. */
static void per_epoch(void) {
    struct blocks *kept = new_leaked();
    EACH_OP(i) {
        free_device(epoch_forward(4 * MIB));
        if (i % 10 == 9)
            keep(kept, epoch_losses(MIB));
    }
}

MAKER(append) /* LEAK */

/* x = concat(x, more): one block, always a larger one. */
static void concatenate(size_t low, size_t high) {
    struct blocks *whole = new_leaked();
    size_t bytes = 0;
    EACH_OP(i) {
        bytes += size_between(low, high);
        keep(whole, append(bytes));
        if (whole->count > 1)
            drop(whole, 0);
    }
}

static void concat(void) {
    concatenate(64 * KIB, 64 * KIB);
}

static void concat_random(void) {
    concatenate(1 * KIB, 256 * KIB);
}

MAKER(push_back) /* LEAK */

/* A vector of one more element each operation, whose room is doubled as it fills. */
static void vector(void) {
    struct blocks *elements = new_leaked();
    EACH_OP(i) {
        if (i & (i - 1)) /* neither 0 nor a power of two: there is room */
            continue;
        keep(elements, push_back((size_t)(i ? 2 * i : 1) * 8 * KIB));
        if (elements->count > 1)
            drop(elements, 0);
    }
}

MAKER(loss)   /* LEAK */
MAKER(logits) /* LEAK */

static void two_lines(void) {
    struct blocks *kept = new_leaked();
    EACH_OP(i) {
        keep(kept, loss(4 * KIB));
        keep(kept, logits(512 * KIB));
    }
}

MAKER(innocent_result)

static void beside_cache(void) {
    struct blocks *kept = new_leaked(), *results = new_slots(200);
    EACH_OP(i) {
        unsigned key = uniform(200);
        if (!results->at[key])
            results->at[key] = innocent_result(size_of(key, 16 * KIB, MIB));
        if (chance(0.5))
            keep(kept, output(64 * KIB));
    }
}

MAKER(huge)

/* 4 KiB an operation beside gigabytes that come and go. */
static void beside_huge(void) {
    struct blocks *kept = new_leaked();
    EACH_OP(i) {
        CUdeviceptr layers[6];
        for (int k = 0; k < 6; k++)
            layers[k] = huge(size_between(16 * MIB, 1024 * MIB));
        keep(kept, output(4 * KIB));
        for (int k = 5; k >= 0; k--)
            free_device(layers[k]);
    }
}

MAKER(wandering)

/* A leak now and then beside a queue that wanders. */
static void beside_queue(void) {
    struct blocks *kept = new_leaked(), *queue = new_blocks();
    EACH_OP(i) {
        if (chance(0.5) && queue->count < 20)
            keep(queue, wandering(MIB));
        else if (queue->count)
            drop(queue, 0);
        if (chance(0.3))
            keep(kept, output(128 * KIB));
    }
}

MAKER(burst_item) /* LEAK */

static void burst_leaks(void) {
    struct blocks *kept = new_leaked();
    EACH_OP(i) {
        if (chance(1.0 / 12))
            for (int k = between(2, 8); k > 0; k--)
                keep(kept, burst_item(size_between(64 * KIB, 512 * KIB)));
    }
}

__attribute__((noinline)) static CUdeviceptr pinned(size_t bytes) {
    void *made;
    CHECK(cuMemAllocHost_v2(&made, bytes)); /* LEAK */
    return (CUdeviceptr)(uintptr_t)made;
}

static void pinned_each(void) {
    struct blocks *kept = new_leaked();
    EACH_OP(i) {
        keep(kept, pinned(8 * KIB));
    }
}

__attribute__((noinline)) static CUdeviceptr managed(size_t bytes) {
    CUdeviceptr made;
    CHECK(cuMemAllocManaged(&made, bytes, CU_MEM_ATTACH_GLOBAL)); /* LEAK */
    return made;
}

static void managed_random(void) {
    struct blocks *kept = new_leaked();
    EACH_OP(i) {
        CUdeviceptr block = managed(size_between(16 * KIB, 256 * KIB));
        if (chance(0.3))
            keep(kept, block);
        else
            free_device(block);
    }
}

__attribute__((noinline)) static CUdeviceptr stream_block(size_t bytes) {
    CUdeviceptr made;
    CHECK(cuMemAllocAsync(&made, bytes, NULL)); /* LEAK */
    return made;
}

static void async_every_2nd(void) {
    struct blocks *kept = new_leaked();
    EACH_OP(i) {
        CUdeviceptr one = stream_block(256 * KIB), two = stream_block(MIB);
        CHECK(cuMemFreeAsync(two, NULL));
        if (i % 2)
            keep(kept, one);
        else
            CHECK(cuMemFreeAsync(one, NULL));
    }
}

const struct family leaks[] = {
    {"each_op", each_op, STEADY},
    {"each_op_sizes", each_op_sizes, NOTHING},
    {"three_per_op", three_per_op, MIXED},
    {"some_per_op", some_per_op, MIXED},
    {"every_3rd", every_3rd, STEADY},
    {"every_10th", every_10th, STEADY},
    {"random_10", random_10, STEADY},
    {"random_3", random_3, MIXED},
    {"freed_at_end", freed_at_end, STEADY},
    {"random_freed_at_end", random_freed_at_end, MIXED},
    {"second_half", second_half, STEADY},
    {"after_20", after_20, MIXED},
    {"then_evaluation", then_evaluation, STEADY},
    {"churn_10", churn_10, STEADY},
    {"churn_10_lives", churn_10_lives, NOTHING},
    {"pool_5", pool_5, STEADY},
    {"lru_forgets", lru_forgets, STEADY},
    {"one_escapes", one_escapes, STEADY},
    {"uncollectable", uncollectable, MIXED},
    {"cancelled_requests", cancelled_requests, NOTHING},
    {"slow_consumer", slow_consumer, STEADY},
    {"per_epoch", per_epoch, NOTHING},
    {"concat", concat, STEADY},
    {"concat_random", concat_random, MIXED},
    {"vector", vector, STEADY},
    {"two_lines", two_lines, STEADY},
    {"beside_cache", beside_cache, STEADY},
    {"beside_huge", beside_huge, NOTHING},
    {"beside_queue", beside_queue, MIXED},
    {"burst_leaks", burst_leaks, STEADY},
    {"pinned_each", pinned_each, MIXED},
    {"managed_random", managed_random, STEADY},
    {"async_every_2nd", async_every_2nd, NOTHING},
    {0},
};
