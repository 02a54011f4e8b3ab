/* SPDX-License-Identifier: MIT */
/*
 * Rounds by operations: layers of one call of a module are one round; another call is another one if
 * anything was allocated in between, or if it was called from another line. A thread that works for
 * one that waits counts as that one.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/analyzer/log_maker.c"
#include "replay/operations.h"

enum { MAIN = 1, MODULE, FORWARD, BACKWARD };
#define NATIVE      0x7f0000001000ull
#define INTERPRETER (VT_FRAME_INTERPRETER | 0x7f0000002000ull)

static struct vt_log make_log(void) {
    const uint64_t line_5 = vt_frame_python(MAIN, 5), line_6 = vt_frame_python(MAIN, 6),
                   call = vt_frame_python(MODULE, 10), inner = vt_frame_python(MODULE, 11);
    const uint64_t stacks[][4] = {
        {line_5},                                             /* 1: the program itself */
        {vt_frame_python(FORWARD, 20), call, line_6, NATIVE}, /* 2: a layer */
        {vt_frame_python(FORWARD, 21), inner, line_6},        /* 3: another; cut natively */
        {call, line_5},                                       /* 4: called from elsewhere */
        {vt_frame_python(BACKWARD, 30), line_6},              /* 5: waits in a backward pass */
        {NATIVE, vt_frame_caller(5)},                         /* 6: the engine, for that */
        {NATIVE + 8, vt_frame_caller(5)},                     /* 7 */
        {call, INTERPRETER, line_6},                          /* 8 */
        {NATIVE, vt_frame_caller(10)},                        /* 9 and 10: a circle */
        {NATIVE, vt_frame_caller(9)},
    };
    char path[] = "operations.XXXXXX";
    struct vt_maker m;
    struct vt_log log;
    struct vt_string message = {0};
    close(mkstemp(path));
    maker_start(&m);
    maker_code(&m, 0, MAIN, 1, "<module>", "/home/train.py");
    maker_code(&m, 0, MODULE, 1, "Module._call_impl", "/lib/torch/nn/modules/module.py");
    maker_code(&m, 0, FORWARD, 1, "Linear.forward", "/lib/torch/nn/modules/linear.py");
    maker_code(&m, 0, BACKWARD, 1, "Tensor.backward", "/lib/torch/_tensor.py");
    for (uint32_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        uint16_t n = 0;
        while (n < 4 && stacks[i][n])
            n++;
        maker_stack(&m, 0, i + 1, stacks[i], n);
    }
    assert_int_equal(maker_save(&m, path), 0);
    assert_int_equal(vt_log_open(path, &log, &message), 0);
    unlink(path);
    maker_free(&m);
    return log;
}

static void rounds(void **state) {
    static const struct {
        uint32_t thread, stack, round;
    } rows[] = {
        {0, 1, 1},   {0, 1, 2},             /* each of the program's own is one */
        {0, 2, 3},   {0, 3, 3},  {0, 2, 3}, /* the layers of a call */
        {0, 8, 3},                          /* wherever the interpreter is */
        {0, 1, 4},   {0, 2, 5},             /* the next call */
        {0, 4, 6},   {0, 2, 7},             /* called from another line */
        {1, 2, 8},   {0, 2, 7},  {1, 2, 8}, /* each thread has its own */
        {0, 1, 9},   {2, 6, 10}, {2, 7, 10}, {0, 2, 11}, {2, 6, 12}, /* an engine's thread */
        {2, 9, 13},  {2, 9, 14},                                     /* unknown */
        {3, 99, 15},
    };
    struct vt_log log = make_log();
    struct vt_operations o = {0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct vt_log_stack *stack = vt_log_stack(&log, rows[i].stack);
        uint64_t round = vt_operations_round(
            &o, &log, stack ? (uint32_t)(stack - log.stacks) : VT_NO_STACK, rows[i].thread);
        if (round != rows[i].round)
            fail_msg("row %zu: round %llu, expected %u", i, (unsigned long long)round,
                     rows[i].round);
    }
    vt_operations_close(&o);
    vt_log_close(&log);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
