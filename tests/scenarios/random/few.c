/* SPDX-License-Identifier: MIT */
/*
 * Families in which there is little to tell by: one buffer that is appended to in few steps, or was
 * emptied; one line that is reached by many stacks; levels that wander or fill for long.
 */
#include "random.h"

MAKER(concatenate)

/* Makes a buffer anew, with room for `items` more of 16 KiB. */
static void longer(struct blocks *buffer, maker *make, int *items, int more) {
    *items += more;
    put(buffer, 0, make((size_t)*items * 16 * KIB));
}

/* The features of an evaluation, joined after each of its 8 to 19 batches; the last is the run's end. */
static void few_batches(void) {
    struct blocks *features = new_slots(1);
    int batches = between(8, 19), done = 0;
    EACH_OP(i) {
        if ((i + 1) * batches / ops > done)
            longer(features, concatenate, &done, 1);
    }
}

MAKER(push_back)

/* A data set of 1,024 or 2,048 samples that is read into a vector, whose room is doubled. */
static void vector_of_a_data_set(void) {
    struct blocks *elements = new_slots(1);
    int samples = 1 << between(10, 11), room = 0;
    EACH_OP(i) {
        int read = (int)((double)samples * (i + 1) / ops);
        while (read > room)
            longer(elements, push_back, &room, room ? room : 1);
    }
}

MAKER(cat) /* LEAK */

/* A bank is tried with a seventh to a quarter of what then goes into it. */
static void bank_after_a_trial(void) {
    struct blocks *bank = new_leaked();
    int trial = ops / between(4, 7), items = 0;
    keep(bank, 0);
    EACH_OP(i) {
        if (i == trial) {
            put(bank, 0, 0);
            items = 0;
        }
        longer(bank, cat, &items, 1);
    }
}

MAKER(node) /* LEAK */
MAKER(value)

/* A visitor of a tree allocates at any depth, so each of its stacks is seen a few times only. */
__attribute__((noinline)) static void visit(int depth, maker *make, struct blocks *list) {
    if (depth > 0)
        visit(depth - 1, make, list);
    else
        keep(list, make(256 * KIB));
    __asm__ volatile("");
}

static void visitor_keeps(void) {
    struct blocks *nodes = new_leaked();
    EACH_OP(i)
    visit(between(1, 40), node, nodes);
}

static void visitor_keeps_some(void) {
    struct blocks *nodes = new_leaked(), *given_back = new_blocks();
    EACH_OP(i) {
        clear(given_back);
        visit(between(1, 40), node, chance(0.3) ? nodes : given_back);
    }
}

static void visitor_gives_back(void) {
    struct blocks *values = new_blocks();
    EACH_OP(i) {
        visit(between(1, 40), value, values);
        if (chance(0.1))
            clear(values);
    }
}

MAKER(level)

/* A search goes one level deeper or comes back, and nothing bounds it. */
static void depth_first(void) {
    struct blocks *path = new_blocks();
    EACH_OP(i) {
        if (chance(0.5))
            keep(path, level(256 * KIB));
        else if (path->count)
            drop(path, path->count - 1);
    }
}

MAKER(session)

/* One session an operation; each of them may end in any operation, so that it fills for long. */
static void sessions(void) {
    struct blocks *open = new_blocks();
    EACH_OP(i) {
        keep(open, session(256 * KIB));
        for (int at = open->count; at-- > 0;)
            if (chance(0.02))
                drop(open, at);
    }
}

MAKER(captured_output) /* LEAK */
MAKER(workspace_of_a_size)

static CUgraphExec captured(void) {
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

/* Steps that a graph does, which allocates and frees nothing; the output of every third is kept. */
static void graph_outputs(void) {
    struct blocks *outputs = new_leaked();
    CUgraphExec step = captured();
    EACH_OP(i) {
        if (i % 3 == 0)
            keep(outputs, captured_output(256 * KIB));
        CHECK(cuGraphLaunch(step, NULL));
    }
}

/* A graph for each size, tried once; then they serve. */
static void graphs_tried(void) {
    struct blocks *workspaces = new_blocks();
    CUgraphExec step = captured();
    EACH_OP(i) {
        if (i < ops / 2)
            keep(workspaces, workspace_of_a_size(256 * KIB));
        CHECK(cuGraphLaunch(step, NULL));
    }
}

const struct family few[] = {
    {"few_batches", few_batches, STEADY},
    {"vector_of_a_data_set", vector_of_a_data_set, STEADY},
    {"bank_after_a_trial", bank_after_a_trial, STEADY},
    {"visitor_keeps", visitor_keeps, STEADY},
    {"visitor_keeps_some", visitor_keeps_some, STEADY},
    {"visitor_gives_back", visitor_gives_back, STEADY},
    {"depth_first", depth_first, STEADY},
    {"graph_outputs", graph_outputs, NOTHING},
    {"graphs_tried", graphs_tried, NOTHING},
    {"sessions", sessions, STEADY},
    {0},
};
