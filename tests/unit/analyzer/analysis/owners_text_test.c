/* SPDX-License-Identifier: MIT */
/*
 * What the report says of owners, from logs made for the test: whole pages, memory without an owner,
 * leaks that are lost in part.
 */
#include "owners_log.h"

/* A loop whose list keeps a block of each round, and whose loss keeps its graph. */
static void make_training(void) {
    uint64_t frames[] = {vt_frame_python(1, 9)}, loss[] = {vt_frame_python(1, 11)};
    uint64_t batch[] = {vt_frame_python(1, 5)};
    start();
    maker_stack(&m, 0, 2, frames, 1);
    maker_stack(&m, 0, 3, loss, 1);
    maker_stack(&m, 0, 4, batch, 1);
    uint32_t main_module = module();
    uint32_t history = step(main_module, VT_STEP_NAME, "history", "list");
    uint32_t item = many(history, VT_STEP_INDEX, "numba.cuda.cudadrv.devicearray.DeviceNDArray");
    uint32_t pointer =
        step(item, VT_STEP_ATTRIBUTE, "gpu_data", "numba.cuda.cudadrv.driver.MemoryPointer");
    uint32_t net = step(main_module, VT_STEP_NAME, "model", "__main__.Net");
    uint32_t parameters = step(net, VT_STEP_ATTRIBUTE, "_parameters", "dict");
    uint32_t weight = step(parameters, VT_STEP_KEY, "'weight'", "torch.nn.parameter.Parameter");
    uint32_t bias = step(parameters, VT_STEP_KEY, "'bias'", "torch.nn.parameter.Parameter");
    uint32_t frame =
        maker_step(&m, 0,
                   (struct maker_step){
                       .kind = VT_STEP_FRAME, .name = "main", .type = "/tmp/train.py", .line = 12});
    uint32_t total = step(frame, VT_STEP_NAME, "total_loss", "torch.Tensor");
    total = graph_step(total, "AddBackward0", 1, 300, 304);
    own(block(1 << 20), weight, VT_ROLE_PARAMETER);
    own(block(1 << 12), bias, VT_ROLE_PARAMETER);
    block(7 << 10);
    for (int i = 0; i < 300; i++) {
        uint64_t temporary = next_address, graph = temporary + (1 << 20);
        next_address += 3 << 20;
        maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 1000, 0, 4, temporary, 1 << 16, 0);
        maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 1000, 0, 2, graph + (1 << 20), 1 << 14, 0);
        maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 1000, 0, 3, graph, 1 << 12, 0);
        maker_free_at(&m, 0, 0, VT_KIND_DEVICE, temporary);
        own(graph, total, VT_ROLE_SAVED);
        own(graph + (1 << 20), pointer, 0);
        own(graph + (1 << 20), frame, 0);
    }
    snapshot();
}

static void text(void **state) {
    (void)state;
    make_training();
    const struct vt_process *p = finish();
    assert_int_equal(p->leak_count, 1); /* both rise together */
    char *shown = report(VT_BY_LINE, NULL);
    assert_lines(shown,
                 "  kept by        4.69 MiB  history (list, 300 blocks) in __main__, train.py\n"
                 "                history[*] → DeviceNDArray → MemoryPointer\n");
    assert_lines(shown,
                 "  try           keep .copy_to_host() of each in `history`, or drop old ones\n");
    assert_lines(shown,
                 "                 1.17 MiB  total_loss (torch.Tensor, 300 blocks) in main(),\n"
                 "                           train.py:12\n"
                 "                total_loss → AddBackward0 → … (300 graphs)\n");
    assert_lines(shown, "                also held by 1 other: --site ");
    assert_null(strstr(shown, "likely"));
    assert_lines(shown, "  L  growing       5.86 MiB    1 %   the leak above, 2 call sites\n"
                        "                 activations 1.17 MiB, other 4.69 MiB\n");
    assert_lines(shown,
                 "  U  unfreed       1.01 MiB   <1 %   1 call site that holds memory at the end\n"
                 "                 parameters 1.01 MiB\n"
                 "  #  in use        64.0 KiB   <1 %   1 call site, freed later\n"
                 "  .  the rest");
    assert_lines(shown,
                 "  used for       parameters 1.00 MiB, activations 1.17 MiB, other 4.69 MiB; at\n"
                 "                 the end\n");
    free(shown);
    shown = report(VT_BY_OWNER, NULL);
    assert_lines(shown, "OWNERS   6.87 MiB in 603 blocks when the program's code ended\n"
                        "      held  blocks  kept by\n"
                        "  4.69 MiB     300  history (list) in __main__, train.py\n"
                        "  1.17 MiB     300  total_loss (torch.Tensor) in main(), train.py:12:\n"
                        "                    activations\n"
                        "  1.00 MiB       2  model (Net) in __main__, train.py: parameters\n");
    free(shown);
    shown = report(VT_BY_LINE, p->sites[p->leaks[0].sites[0]].name);
    assert_lines(shown, "  kept by           4.69 MiB  history (list) in __main__, train.py\n");
    assert_lines(shown, "  also held by      4.69 MiB  (unnamed) in main(), train.py:12\n");
    free(shown);
    end();
}

/* A leak without an owner: none was found, or it was gone before the first snapshot. */
static void unknown(void **state) {
    (void)state;
    for (int gone = 0; gone < 2; gone++) {
        uint64_t frames[] = {vt_frame_python(1, 9)}, at = 0x1000000;
        start();
        maker_stack(&m, 0, 2, frames, 1);
        for (int i = 0; i < 300; i++) {
            block(1 << 16);
            maker_free_at(&m, 0, 0, VT_KIND_DEVICE, next_address - (1 << 16));
            maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 1000, 0, 2, at + ((uint64_t)i << 30), 4096, 0);
        }
        for (int i = 0; gone && i < 300; i++)
            maker_free_at(&m, 0, 0, VT_KIND_DEVICE, at + ((uint64_t)i << 30));
        snapshot();
        assert_null(finish()->leaks[0].kept);
        char *shown = report(VT_BY_LINE, NULL);
        assert_lines(shown, gone ? "  kept by       unknown: it was freed before a snapshot saw it;"
                                 : "  kept by       unknown: no named path to it was found");
        free(shown);
        for (uint32_t i = 0; i < model.processes[0].site_count; i++)
            model.processes[0].sites[i].reachable =
                VT_REACHABLE_YES; /* the exit scan met a pointer */
        shown = report(VT_BY_LINE, NULL);
        assert_lines(
            shown, gone ? "unknown: it was freed before a snapshot saw it"
                        : "  kept by       unknown: no named path to it was found, but a pointer");
        free(shown);
        end();
    }
}

/* A loop that keeps a block of each round: the first of 300, a page each. */
static uint64_t make_leak(void) {
    uint64_t frames[] = {vt_frame_python(1, 9)}, at = 0x1000000;
    start();
    maker_stack(&m, 0, 2, frames, 1);
    for (uint64_t i = 0; i < 300; i++) {
        block(1 << 16);
        maker_free_at(&m, 0, 0, VT_KIND_DEVICE, next_address - (1 << 16));
        maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 1000, 0, 2, at + (i << 30), 4096, 0);
    }
    return at;
}

/* A process that ended before any snapshot: no claim is made about live memory. */
static void nobody_looked(void **state) {
    (void)state;
    static const struct {
        unsigned kind;
        const char *expected;
    } ends[] = {
        {VT_EXIT_SIGNALED, "  kept by       unknown: the process was killed before the final"},
        {VT_EXIT_EXEC, "  kept by       unknown: the process replaced itself before"},
        {VT_EXIT_NONE, "  kept by       unknown: the log ends before the final snapshot"}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (int seen = 0; seen < 2; seen++) {
            uint64_t at = make_leak();
            uint32_t kept = step(module(), VT_STEP_NAME, "kept", "list");
            uint32_t item = many(kept, VT_STEP_INDEX, "Buffer");
            for (uint64_t k = 0; seen && k < 300; k++)
                own(at + (k << 30), item, 0);
            if (seen)
                maker_snapshot(&m, 0, 1, VT_SNAPSHOT_GROWTH, m.ticks, 0);
            maker_header(&m)->exit_kind = ends[i].kind;
            finish();
            char *shown = report(VT_BY_LINE, NULL);
            assert_lines(shown,
                         seen ? "  kept by       kept (list, 300 blocks) in" : ends[i].expected);
            assert_null(strstr(shown, "; freed later"));
            free(shown);
            end();
        }
}

/* If a leak is partly lost, the rest has an owner; memory that had an owner before it was lost has none. */
static void lost_in_part(void **state) {
    (void)state;
    for (int before = 0; before < 2; before++) {
        uint64_t listed[100], at = make_leak();
        uint32_t item = many(step(module(), VT_STEP_NAME, "kept", "list"), VT_STEP_INDEX, "Buffer");
        for (uint64_t i = 0; i < 300; i++) {
            if (i < 200)
                own(at + (i << 30), item, 0);
            else
                listed[i - 200] = vt_lost_entry(at + (i << 30), VT_SPACE_DEVICE);
        }
        maker_snapshot(&m, 0, 1, before ? VT_SNAPSHOT_PHASE : END, m.ticks, 0);
        if (before)
            maker_snapshot(&m, 0, 2, END, m.ticks, 0);
        struct vt_rec_lost l = {.count = 100};
        put_parts(&m, 0, &l, sizeof l, VT_REC_LOST, listed, sizeof listed, NULL, 0);
        struct vt_rec_scan scan = {
            .looked_for = 300, .lost = 100, .threads = 1, .at = vt_scan_at(VT_TICKS_MASK)};
        put_parts(&m, 0, &scan, sizeof scan, VT_REC_SCAN, NULL, 0, NULL, 0);
        const struct vt_leak *leak = &finish()->leaks[0];
        char *shown = report(VT_BY_LINE, NULL);
        assert_int_equal(leak->verdict, VT_VERDICT_LOST);
        if (before)
            assert_null(leak->kept);
        else
            assert_lines(shown, "  still kept by kept (list, 200 blocks) in __main__, train.py\n");
        free(shown);
        end();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(text), cmocka_unit_test(unknown),
                                       cmocka_unit_test(nobody_looked),
                                       cmocka_unit_test(lost_in_part)};
    return cmocka_run_group_tests_name("owners_text", tests, maker_make_folder,
                                       maker_remove_folder);
}
