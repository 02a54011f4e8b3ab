/* SPDX-License-Identifier: MIT */
/*
 * Owners that are autograd graphs: how many of them, or how long a chain, as reports say it.
 */
#include "owners_log.h"

/* total_loss += loss: a chain of graphs, with what each saved. */
static void graphs(void **state) {
    (void)state;
    start();
    uint32_t at = step(module(), VT_STEP_NAME, "total_loss", "torch.Tensor");
    at = graph_step(at, "AddBackward0", 1, 1200, 1203);
    uint32_t saved = graph_step(at, "MseLossBackward0", 0, 1, 1202);
    for (int i = 0; i < 1200; i++)
        own(block(100), saved, VT_ROLE_SAVED);
    snapshot();
    const struct vt_snapshot *s = &finish()->snapshots[0];
    assert_int_equal(s->owner_count, 1);
    assert_string_equal(s->owners[0].name, "total_loss");
    assert_string_equal(s->owners[0].graph, "AddBackward0");
    assert_int_equal(s->owners[0].purpose, VT_PURPOSE_ACTIVATIONS);
    assert_chain(&s->owners[0], "total_loss → AddBackward0 → … (1,200 graphs)");
    end();
}

/* Builds with what a variable holds by one first node, of a graph. */
static const struct vt_memory_owner *graph_at(uint32_t holder, const char *class, uint32_t starts,
                                              uint32_t row, uint32_t length) {
    uint32_t first = graph_step(holder, class, starts, row, length);
    return owner_at(step(first, VT_STEP_CLASS, NULL, "Tensor"), VT_ROLE_SAVED);
}

/* Losses in a list, each with a graph; some graphs begin with a sum. */
static void many_graphs(void **state) {
    (void)state;
    start();
    uint32_t losses = step(module(), VT_STEP_NAME, "losses", "list");
    const struct vt_memory_owner *o =
        graph_at(many(losses, VT_STEP_INDEX, "torch.Tensor"), "AddBackward0", 120, 3, 9);
    assert_chain(o, "losses[*] → AddBackward0 → … (120 graphs)");
    assert_text(o, 360, "losses (list, 360 blocks) in __main__, train.py");
    end();
}

/* A state that is handed on: not a row of one class, so graphs cannot be counted. */
static void carried_graph(void **state) {
    (void)state;
    start();
    uint32_t h = step(module(), VT_STEP_NAME, "h", "torch.Tensor");
    assert_chain(graph_at(h, "TanhBackward0", 1, 1, 361),
                 "h → TanhBackward0 → … (a chain of 361 nodes)");
    end();
}

/* The graph of one loss; and one from a log that has no counts. */
static void one_graph(void **state) {
    (void)state;
    start();
    uint32_t loss = step(module(), VT_STEP_NAME, "loss", "torch.Tensor");
    assert_chain(graph_at(loss, "FnBackward", 1, 1, 9), "loss → FnBackward → …");
    end();
    start();
    loss = step(module(), VT_STEP_NAME, "loss", "torch.Tensor");
    assert_chain(graph_at(loss, "MseLossBackward0", 0, 0, 0), "loss → MseLossBackward0 → …");
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs),
        cmocka_unit_test(many_graphs),
        cmocka_unit_test(carried_graph),
        cmocka_unit_test(one_graph),
    };
    return cmocka_run_group_tests_name("owners_graph", tests, maker_make_folder,
                                       maker_remove_folder);
}
