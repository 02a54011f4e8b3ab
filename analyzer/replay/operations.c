/* SPDX-License-Identifier: MIT */
/*
 * Rounds by operations (see operations.h). A stack's operation is its outermost operation frame. That frame and its
 * callers form the stack's key. An engine's thread that works for a thread waiting in an operation counts as the
 * waiting thread.
 */
#include "operations.h"

#include <stdlib.h>
#include <string.h>

static const char *const files[] = {
#define VT_OPERATION(file) file,
#include "operations.def"
#undef VT_OPERATION
};

static bool ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && !strcmp(text + a - b, end);
}

static bool is_operation(struct vt_operations *o, const struct vt_log *log, uint64_t word) {
    if (!(word & VT_FRAME_PYTHON))
        return false;
    uint32_t i = vt_map_get(&log->code_numbers, word >> 32 & 0x3fffffff);
    if (i == VT_MAP_NONE)
        return false;
    if (!o->code_is)
        o->code_is = vt_alloc(log->code_count, sizeof *o->code_is);
    if (!o->code_is[i]) {
        o->code_is[i] = 1;
        for (size_t k = 0; k < sizeof files / sizeof *files; k++)
            if (ends_with(log->codes[i].file, files[k]))
                o->code_is[i] = 2;
    }
    return o->code_is[i] == 2;
}

/* The key of a stack, or of the stack of the thread that waits for it. */
static uint64_t find_key(struct vt_operations *o, const struct vt_log *log,
                         const struct vt_log_stack *stack) {
    for (unsigned i = 0; i < VT_LOG_CALLERS && stack->caller; i++) {
        const struct vt_log_stack *waits = vt_log_stack(log, stack->caller);
        if (!waits)
            return VT_NO_OPERATION;
        stack = waits;
    }
    const uint64_t *words = vt_log_words(log, stack);
    uint32_t at = stack->count;
    while (at > 0 && !is_operation(o, log, words[at - 1]))
        at--;
    if (!at)
        return VT_NO_OPERATION;
    /* Exclude parts that may vary during the call: the operation's own line; the position of the interpreter's loop,
     * which runs several Python frames; native frames, which are cut from stacks that are too deep. */
    uint64_t key = vt_mix(words[at - 1] >> 32);
    for (uint32_t i = at; i < stack->count; i++)
        if (words[i] & VT_FRAME_PYTHON)
            key = vt_mix(key ^ words[i]);
    return key > VT_NO_OPERATION ? key : VT_NO_OPERATION + 1;
}

static uint64_t key_of(struct vt_operations *o, const struct vt_log *log, uint32_t stack) {
    if (!o->keys)
        o->keys = vt_alloc(log->stack_count, sizeof *o->keys);
    if (!o->keys[stack])
        o->keys[stack] = find_key(o, log, &log->stacks[stack]);
    return o->keys[stack];
}

void vt_operations_reach(struct vt_operations *o, uint32_t thread) {
    while (o->thread_count <= thread) {
        *VT_ADD(o->threads, o->thread_count, o->thread_room) = (struct vt_operations_thread){0};
    }
}

bool vt_operations_single(struct vt_operations *o, const struct vt_log *log, uint32_t stack) {
    return stack < log->stack_count && !log->stacks[stack].caller &&
           key_of(o, log, stack) == VT_NO_OPERATION;
}

uint64_t vt_operations_round(struct vt_operations *o, const struct vt_log *log, uint32_t stack,
                             uint32_t thread) {
    uint64_t key = VT_NO_OPERATION;
    if (stack < log->stack_count) {
        key = key_of(o, log, stack);
        if (log->stacks[stack].caller)
            thread = o->waiting;
        else
            o->waiting = thread;
    }
    vt_operations_reach(o, thread);
    struct vt_operations_thread *t = &o->threads[thread];
    if (key == VT_NO_OPERATION || key != t->key)
        *t = (struct vt_operations_thread){key, ++o->rounds};
    return t->round;
}

void vt_operations_forget(struct vt_operations *o) {
    free(o->keys);
    free(o->code_is);
    o->keys = NULL;
    o->code_is = NULL;
}

void vt_operations_close(struct vt_operations *o) {
    vt_operations_forget(o);
    free(o->threads);
    *o = (struct vt_operations){0};
}

void vt_operations_state(struct vt_operations *o, struct vt_state *s) {
    VT_STATE_SECTION(s, "operations", struct vt_operations_thread);
    VT_STATE_ARRAY(s, o->threads, o->thread_count, o->thread_room);
    VT_STATE(s, o->waiting);
    VT_STATE(s, o->rounds);
    vt_state_expect(s, o->waiting < o->thread_count || !o->waiting, "a thread");
}
