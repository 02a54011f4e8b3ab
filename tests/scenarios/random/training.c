/* SPDX-License-Identifier: MIT */
/*
 * Families of training and inference: set-up, epochs, checkpoints, buffers that grow with the
 * batch, growth that ends. None leaks.
 */
#include "random.h"

MAKER(next_batch)

/* The next batch is made before the last is given back. */
static void double_buffer(void) {
    struct blocks *buffers = new_blocks();
    EACH_OP(i) {
        keep(buffers, next_batch(size_between(MIB, 4 * MIB)));
        if (buffers->count > 2)
            drop(buffers, 0);
    }
}

MAKER(sequence)

/* One buffer, made anew for each sequence, as long as that is. */
static void any_length(void) {
    struct blocks *buffer = new_slots(1);
    EACH_OP(i) {
        put(buffer, 0, sequence(size_between(64 * KIB, 8 * MIB)));
    }
}

MAKER(sorted_sequence)

/* The same with the sequences sorted by length. */
static void by_length(void) {
    struct blocks *buffer = new_slots(1);
    size_t bytes = 64 * KIB;
    EACH_OP(i) {
        put(buffer, 0, sorted_sequence(bytes += size_between(512, 16 * KIB)));
    }
}

/* A loader that is three of them ahead. */
static void by_length_ahead(void) {
    struct blocks *ready = new_blocks();
    EACH_OP(i) {
        keep(ready, sorted_sequence((size_t)(16 + i) * 4 * KIB));
        if (ready->count > 3)
            drop(ready, 0);
    }
}

MAKER(workspace)

/* A workspace as large as the largest batch so far. */
static void workspace_grows(void) {
    struct blocks *buffer = new_slots(1);
    size_t largest = 0;
    EACH_OP(i) {
        size_t needed = size_between(256 * KIB, 32 * MIB);
        if (needed > largest)
            put(buffer, 0, workspace(largest = needed));
    }
}

MAKER(lazy_buffer)

/* Twenty modules, each of which makes its buffers when it is first run, some later than others. */
static void lazy_buffers(void) {
    struct blocks *buffers = new_slots(20);
    EACH_OP(i) {
        for (int called = between(1, 3); called > 0; called--) {
            unsigned module = uniform(20);
            if (!buffers->at[module])
                buffers->at[module] = lazy_buffer(size_of(module, 64 * KIB, 4 * MIB));
        }
    }
}

MAKER(weights)
MAKER(staging)
MAKER(optimizer_state)

static void load_layer(struct blocks *model, unsigned layer) {
    size_t bytes = size_of(layer, 256 * KIB, 8 * MIB);
    CUdeviceptr copy = staging(bytes);
    keep(model, weights(bytes));
    free_device(copy);
}

/* A model is loaded layer by layer, then used. */
static void load_then_infer(void) {
    struct blocks *model = new_blocks();
    for (unsigned layers = (unsigned)between(12, 48), k = 0; k < layers; k++)
        load_layer(model, k);
    EACH_OP(i) {}
}

/* The whole run is loading, and all is freed at its end. */
static void load_only(void) {
    struct blocks *model = new_blocks();
    EACH_OP(i) {
        load_layer(model, (unsigned)i % 16);
    }
    free_all();
}

/* Loading is half of the run. */
static void load_half(void) {
    struct blocks *model = new_blocks();
    FROM_TO(i, 0, ops / 2) {
        load_layer(model, (unsigned)i % 16);
    }
    FROM_TO(i, ops / 2, ops) {
        free_device(workspace(MIB));
    }
}

/* A new model is loaded before the old one is let go, eight times in the run. */
static void reload(void) {
    struct blocks *models[2] = {new_blocks(), new_blocks()};
    int every = ops / 8 > 0 ? ops / 8 : 1;
    EACH_OP(i) {
        if (i % every == 0) {
            int turn = i / every % 2;
            for (unsigned k = 0; k < 10; k++)
                load_layer(models[turn], k);
            if (models[!turn]->count)
                clear(models[!turn]);
        }
    }
}

/* Layers are unfrozen at a third and at two thirds: each then gets an optimizer state. */
static void unfreeze(void) {
    struct blocks *model = new_blocks(), *states = new_blocks();
    for (unsigned k = 0; k < 24; k++)
        load_layer(model, k);
    EACH_OP(i) {
        if (i == 1 || i == ops / 3 || i == ops * 2 / 3)
            for (unsigned k = 0; k < 8; k++)
                keep(states, optimizer_state(2 * size_of(k, 256 * KIB, 8 * MIB)));
    }
}

MAKER(averaged)

/* A moving average of the model begins late. */
static void late_average(void) {
    struct blocks *copy = new_blocks();
    EACH_OP(i) {
        if (i == ops * 4 / 5)
            for (unsigned k = 0; k < 12; k++)
                keep(copy, averaged(size_of(k, 256 * KIB, 8 * MIB)));
    }
}

MAKER(resized)

/* Progressive resizing: the four buffers are made larger at each quarter of the run. */
static void progressive(void) {
    struct blocks *buffers = new_slots(4);
    size_t bytes = 512 * KIB;
    int quarter = ops / 4 > 0 ? ops / 4 : 1;
    EACH_OP(i) {
        if (i % quarter == 0 && i / quarter < 4) {
            for (int k = 0; k < 4; k++)
                put(buffers, k, resized(bytes));
            bytes *= 2;
        }
    }
}

MAKER(snapshot)

/* A checkpoint of three tensors is held until the next one. */
static void checkpoints(void) {
    struct blocks *held = new_slots(3);
    int every = between(6, 14);
    EACH_OP(i) {
        if (i % every == every - 1)
            for (int k = 0; k < 3; k++)
                put(held, k, snapshot(size_of((unsigned)k, MIB, 4 * MIB)));
    }
}

MAKER(gradient)

/* Gradients of some batches are gathered, then applied and freed. */
static void accumulation(void) {
    struct blocks *gradients = new_blocks();
    int every = between(3, 8);
    EACH_OP(i) {
        keep(gradients, gradient(size_of(0, MIB, 4 * MIB)));
        if (gradients->count == every)
            clear(gradients);
    }
}

MAKER(forward)
MAKER(prediction)

/* Epochs of 20 steps; then five batches of validation, whose predictions are kept for the metric. */
static void validation(void) {
    struct blocks *predictions = new_blocks();
    EACH_OP(i) {
        free_device(forward(4 * MIB));
        if (i % 20 == 19) {
            for (int batch = 0; batch < 5; batch++) {
                CUdeviceptr activation = forward(2 * MIB);
                keep(predictions, prediction(128 * KIB));
                free_device(activation);
            }
            clear(predictions);
        }
    }
}

/* Four epochs in the run; each gathers a result per step and drops them all when it ends. */
static void epoch_results(void) {
    struct blocks *results = new_blocks();
    int epoch = (ops + 3) / 4;
    EACH_OP(i) {
        keep(results, prediction(size_between(16 * KIB, 256 * KIB)));
        if (i % epoch == epoch - 1 || i == ops - 1)
            clear(results);
    }
}

MAKER(once_each)

/* Grows by a block an operation, up to a part of the run. */
static void grow_until(double part, double often) {
    struct blocks *kept = new_blocks();
    EACH_OP(i) {
        if (i < ops * part && chance(often))
            keep(kept, once_each(size_between(64 * KIB, 512 * KIB)));
    }
}

static void stops_at_50(void) {
    grow_until(0.5, 1);
}

static void stops_at_70(void) {
    grow_until(0.7, 1);
}

static void stops_at_85(void) {
    grow_until(0.85, 1);
}

static void stops_at_70_random(void) {
    grow_until(0.7, 0.5);
}

MAKER(sampled)

/* Neighbour sampling on a graph: sizes without a rhythm, all of it gone after the step. */
static void graph_samples(void) {
    EACH_OP(i) {
        CUdeviceptr hops[6];
        int count = between(1, 6);
        for (int k = 0; k < count; k++)
            hops[k] = sampled(size_between(4 * KIB, 4 * MIB));
        while (count-- > 0)
            free_device(hops[count]);
    }
}

const struct family training[] = {
    {"double_buffer", double_buffer, STEADY},
    {"any_length", any_length, NOTHING},
    {"by_length", by_length, STEADY},
    {"by_length_ahead", by_length_ahead, MIXED},
    {"workspace_grows", workspace_grows, MIXED},
    {"lazy_buffers", lazy_buffers, STEADY},
    {"load_then_infer", load_then_infer, MIXED},
    {"load_only", load_only, NOTHING},
    {"load_half", load_half, STEADY},
    {"reload", reload, STEADY},
    {"unfreeze", unfreeze, STEADY},
    {"late_average", late_average, STEADY},
    {"progressive", progressive, STEADY},
    {"checkpoints", checkpoints, STEADY},
    {"accumulation", accumulation, MIXED},
    {"validation", validation, NOTHING},
    {"epoch_results", epoch_results, STEADY},
    {"stops_at_50", stops_at_50, STEADY},
    {"stops_at_70", stops_at_70, MIXED},
    {"stops_at_85", stops_at_85, STEADY},
    {"stops_at_70_random", stops_at_70_random, MIXED},
    {"graph_samples", graph_samples, NOTHING},
    {0},
};
