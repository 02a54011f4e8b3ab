/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's backward passes: finds the thread for which an autograd thread works. loss.backward() hands the graph to
 * the autograd engine, whose threads (one per GPU) run the graph's nodes while the caller waits. An allocation in a
 * node has the engine thread's stack, without a Python frame or a line of user code.
 *
 * So we interpose two exported functions of libtorch_cpu.so, as torch.c does for libc10.so:
 *   - Engine::execute_with_graph_task, in which the caller waits. We capture its stack and keep the stack's number
 *     under the address of the pass (the GraphTask) until the function returns.
 *   - Engine::evaluate_function, which runs one node on any thread. We look up its pass. Until the thread runs another
 *     node, its stacks continue with the stack of the waiting thread (vt_tls.caller_stack, VT_FRAME_CALLER in the log).
 *     That includes the engine's work at the end of the pass, such as DDP's last copies.
 * Both are called through the procedure linkage table or through a vtable, with every argument and the address of the
 * result in a register (machine.h); the first parameters are the same in all versions.
 *
 * A waiting caller also runs nodes itself: the CPU's, and in a reentrant backward (as checkpoints make) its own
 * device's. Its stack already shows the user's call.
 *
 * Not covered: passes that began before the first CUDA call, passes of torch.distributed's engine, and reentrant passes
 * nested 60 deep, whose caller returns before it waits. A node of such a pass has no caller.
 *
 * No lock; the record path reads one thread-local word.
 */
#include "instrument.h"
#include "event.h"
#include "torch_hooks.h"
#include "stack/stack.h"
#include "base/base.h"

#include <errno.h>

/* A call of backward() in progress, on the stack of the waiting thread. */
struct vt_backward {
    struct vt_backward *outer; /* the call around this one, on the same thread */
    uint64_t pass;             /* address of the GraphTask */
    uint32_t caller_before;    /* the thread's caller_stack when the call began */
};

/* Pass -> address of the vt_backward, address of its thread's vt_tls, number of its stack. */
static struct vt_table waiting;

static void leave(const struct vt_backward *b) {
    vt_table_take_own(&waiting, b->pass, (uint64_t)(uintptr_t)b);
    vt_tls.backward = b->outer;
    vt_tls.caller_stack = b->caller_before;
}

static bool enter(struct vt_backward *b, uint64_t pass, const struct vt_caller *caller) {
    if (!vt_log_is_open() || !vt_settings.framework)
        return false;
    vt_process_check_fork();
    if (!vt_log_is_open()) /* a forked child opens its log at its first event */
        return false;
    struct vt_recording rec = vt_event_open();
    if (!rec.thread)
        return false;
    uint32_t stack = vt_stack_capture(rec.thread, caller);
    vt_event_close(&rec);
    *b = (struct vt_backward){vt_tls.backward, pass, vt_tls.caller_stack};
    vt_tls.backward = b;
    const uint64_t words[] = {(uint64_t)(uintptr_t)b, (uint64_t)(uintptr_t)&vt_tls, stack};
    if (stack)
        vt_table_replace(&waiting, pass, words);
    return true;
}

/* In torch_backward_entry.S: calls `function`. If an exception or the end of the thread unwinds the call, the unwinder
 * calls vt_torch_unwound. */
void *vt_torch_call(void *function, void *result, void *engine, void *pass, void *root,
                    void *inputs);

/* A personality routine as the C++ ABI defines it. It catches nothing. */
int vt_torch_unwound(int version, int actions, uint64_t kind, void *exception, void *context) {
    enum { CLEANUP_PHASE = 2, CONTINUE_UNWIND = 8 };
    (void)version, (void)kind, (void)exception, (void)context;
    if ((actions & CLEANUP_PHASE) && vt_tls.backward)
        leave(vt_tls.backward);
    return CONTINUE_UNWIND;
}

static void *execute(void *next, void *result, void *engine, void *const *pass, void *root,
                     void *inputs, const struct vt_caller *caller) {
    struct vt_backward b;
    if (!enter(&b, (uint64_t)(uintptr_t)*pass, caller))
        return vt_machine_call_for_result(next, result, engine, pass, root, inputs);
    void *returned = vt_torch_call(next, result, engine, (void *)(uintptr_t)pass, root, inputs);
    if (vt_tls.backward == &b) /* false in a forked child, which has forgotten the call */
        leave(&b);
    return returned;
}

void vt_torch_jumped(uintptr_t target) {
    while (vt_tls.backward && vt_event_is_jumped_over((uintptr_t)vt_tls.backward, target))
        leave(vt_tls.backward);
}

/* The exported functions, one per mangled name. */

#define EXECUTE(name)                                                                              \
    VT_RESULT_ENTRY(name) {                                                                        \
        static void *known; /* atomic */                                                           \
        return execute(vt_torch_next(&known, #name), result, engine, pass, root, inputs,           \
                       &VT_CALLER);                                                                \
    }

/* clang-format off: long names */
/* 1.6 to 1.7 */
EXECUTE(
    _ZN5torch8autograd6Engine23execute_with_graph_taskERKSt10shared_ptrINS0_9GraphTaskEES2_INS0_4NodeEE)
/* since 1.8 */
EXECUTE(
    _ZN5torch8autograd6Engine23execute_with_graph_taskERKSt10shared_ptrINS0_9GraphTaskEES2_INS0_4NodeEEONS0_11InputBufferE)
/* in 2.15 */
EXECUTE(
    _ZN5torch8autograd6Engine23execute_with_graph_taskERKSt10shared_ptrINS0_9GraphTaskEEN3c1013intrusive_ptrINS0_4NodeENS7_6detail34intrusive_target_default_null_typeIS9_EEEEONS0_11InputBufferE)

static const char evaluate_function[] =
    "_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_"
    "11InputBufferERKS2_INS0_10ReadyQueueEE";
/* clang-format on */

/* The exported function itself is in torch_backward_entry.S. It jumps to the address that vt_torch_evaluates returns,
 * so that no frame of ours stays on the engine's stacks. */
VT_HOT void *vt_torch_evaluates(void *engine, void *const *pass) {
    static void *known; /* atomic */
    uint64_t words[VT_TABLE_WORDS];
    (void)engine;
    if (vt_log_is_open()) {
        int saved_errno = errno;
        vt_process_check_fork();
        if (!vt_table_find(&waiting, (uint64_t)(uintptr_t)*pass, words))
            vt_tls.caller_stack = 0;
        else if (words[1] == (uint64_t)(uintptr_t)&vt_tls)
            vt_tls.caller_stack = ((const struct vt_backward *)(uintptr_t)words[0])->caller_before;
        else
            vt_tls.caller_stack = (uint32_t)words[2];
        errno = saved_errno;
    }
    return vt_torch_next(&known, evaluate_function);
}

/* A forked child has only the forking thread, and starts its own log. */
void vt_torch_backward_forked(void) {
    vt_table_forget(&waiting);
}
