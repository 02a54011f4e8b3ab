/* SPDX-License-Identifier: MIT */
/*
 * What the text report says of a device at its peak, of what its caches pinned, and of phases.
 */
#include "text_made.h"

/* The ratio at the end may be above that of the moment when most was pinned: neither is "the worst". */
static void most_pinned(void **state) {
    struct made *m = make();
    struct vt_fragmentation *f = &m->device.fragmentation;
    (void)state;
    add(m, VT_VERDICT_FREED, 0, 20, 20, "a.py:9");
    f->ratio = 0.74;
    f->last = (struct vt_moment){.at = 902000000,
                                 .reserved_bytes = 2000 * (uint64_t)MIB,
                                 .in_use_bytes = 1000 * (uint64_t)MIB,
                                 .largest_free_bytes = 260 * (uint64_t)MIB};
    f->worst = (struct vt_moment){.at = 704000000,
                                  .reserved_bytes = 2000 * (uint64_t)MIB,
                                  .in_use_bytes = 1100 * (uint64_t)MIB,
                                  .pinned_bytes = 880 * (uint64_t)MIB,
                                  .largest_free_bytes = 297 * (uint64_t)MIB};
    says(m, "fragmentation  0.74 at 0.902 s: 1000 MiB of 1.95 GiB idle; largest 260 MiB\n",
         "most pinned    880 MiB of 900 MiB idle, at 0.704 s; 0.67, largest 297 MiB;", "above 0.30",
         NULL);
    done(m);
}

/* What a list of the peak leaves out is below it, so that it adds up. */
static void peak_adds_up(void **state) {
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_FREED, 0, 60, 60, "train.py:1");
    struct vt_site *cache = add(m, VT_VERDICT_CACHE, 0, 30, 30, "train.py:2");
    cache->class = VT_CLASS_CACHE;
    cache->class_name = "PyTorch";
    struct vt_site *runtime = add(m, VT_VERDICT_RUNTIME, 10, 10, 10, "train.py:3");
    runtime->class = VT_CLASS_RUNTIME;
    runtime->class_name = "cuBLAS";
    says(m, "peak           100 MiB\n", "60.0 MiB   60 %  train.py:1",
         "  30.0 MiB   30 %  PyTorch, reserved and not in use\n",
         "  10.0 MiB   10 %  cuBLAS, kept by CUDA's libraries\n  total", NULL);
    done(m);
}

/* Phases whose names differ in numbers, or in what emit_nvtx() adds, are one row; those in which
 * memory did not change come last. */
static void phases(void **state) {
    static const char *const names[] = {
        "epoch 1",
        "aten::conv2d, seq = 7, op_id = 8, sizes = [[1, 2]]",
        "aten::conv2d, seq = 9, op_id = 10",
        "aten::conv1d, op_id = 11",
        "layer1",
        "idle 1",
        "epoch 2",
        "idle 2",
        "fp16_cast",
        "\x1b[31mred\xff and a name that goes on and on, to its end"};
    enum { COUNT = sizeof names / sizeof *names };
    struct vt_phase list[COUNT];
    struct made *m = make();
    (void)state;
    add(m, VT_VERDICT_FREED, 0, 60, 60, "train.py:1");
    for (unsigned i = 0; i < COUNT; i++) {
        bool idle = names[i][0] == 'i';
        list[i] = (struct vt_phase){.name = names[i],
                                    .start = i,
                                    .end = i + 1,
                                    .live_at_start = i * MIB,
                                    .live_at_end = (i + !idle) * MIB,
                                    .peak_bytes = (i + !idle) * MIB};
    }
    m->process.phases = list;
    m->process.phase_count = COUNT;
    says(m, "PHASES",
         "  epoch *                             2       0 B  7.00 MiB  7.00 MiB  +2.00 MiB\n"
         "  aten::conv2d                        2  1.00 MiB  3.00 MiB  3.00 MiB  +2.00 MiB\n"
         "  aten::conv1d                        1  3.00 MiB  4.00 MiB  4.00 MiB  +1.00 MiB\n"
         "  layer1                              1  4.00 MiB  5.00 MiB  5.00 MiB  +1.00 MiB\n"
         "  idle *                              2  5.00 MiB  7.00 MiB  7.00 MiB        0 B\n"
         "  fp16_cast                           1  8.00 MiB  9.00 MiB  9.00 MiB  +1.00 MiB\n"
         "  ?[31mred? and a name that ...       1  9.00 MiB  10.0 MiB  10.0 MiB  +1.00 MiB\n",
         NULL);
    list[9].name = "z";
    top = 5;
    says(m, "PHASES", "  epoch *  ", "  fp16_cast  ",
         "\n  and 2 more names (--top 7 shows them); in 1 of them memory did not change\n", NULL);
    top = 0;
    done(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peak_adds_up),
        cmocka_unit_test(phases),
        cmocka_unit_test(most_pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
