/* SPDX-License-Identifier: MIT */
/*
 * Where each CPython keeps the references that its objects hold, one row per minor version.
 *
 * Source of the numbers: offsetof, compiled with each version's own headers (Include/ and
 * Include/internal/), 64-bit builds. From 3.13 on the interpreter publishes where its list of threads
 * and modules is, so that is taken from there.
 * tests/cases/640-owners-python-objects compares what is read with what Python itself says, on every
 * interpreter at hand. Called by roots.c.
 */
#include "layout.h"

#include "base/base.h"
#include "stack/stack.h"

#include <string.h>

/* 3.8 and 3.9 */
#define FUNCTION_38                                                                                \
    .function_code = 16, .defaults = 32, .keyword_defaults = 40, .closure = 48, .function_dict = 72
/* 3.10 on */
#define FUNCTION_310                                                                               \
    .function_code = 48, .defaults = 56, .keyword_defaults = 64, .closure = 72, .function_dict = 88
#define CODE_38                                                                                    \
    .arguments = 16, .keyword_arguments = 24, .code_flags = 36, .locals = 28, .variables = 72,     \
    .frees = 80, .cells = 88
#define CODE_312                                                                                   \
    .arguments = 52, .keyword_arguments = 60, .code_flags = 48, .slots = 72, .slot_names = 96,     \
    .slot_kinds = 104
#define EXCEPTION_38  .traceback = 32, .context = 40, .cause = 48
#define EXCEPTION_311 .notes = 32, .traceback = 40, .context = 48, .cause = 56
#define FRAME_38                                                                                   \
    .frame_objects = true, .frame_locals = 56, .frame_stack = 64, .exception_value = 8,            \
    .exception_previous = 24, .generator_frame = 16
#define FRAME_312                                                                                  \
    .frame_function = 16, .frame_locals = 40, .frame_top = 64, .frame_of_object = 24,              \
    .exception_value = 0, .exception_previous = 8, .generator_frame = 72, .generator_state = 67,   \
    .generator_exception = 40

static const struct vt_owners_pylayout rows[] = {
    {
        .minor = 8,
        .keys = VT_PYKEYS_SIZE,
        .tuple_items = 24,
        .cached_keys = 872,
        FUNCTION_38,
        CODE_38,
        EXCEPTION_38,
        FRAME_38,
        .frame_slots = 360,
        .frame_top = 72,
        .generator_exception = 64,
        .future_result = 56,
        .task_coroutine = 112,
        .local_dicts = 48,
        .thread_exceptions = 144,
        .thread_raised = 96,
        .thread_dict = 152,
        .interpreters = 32,
        .interpreter_next = 0,
        .interpreter_threads = 8,
        .interpreter_modules = 56,
        .interpreter_generations = 368, /* of _PyRuntime */
        .interpreter_sys = 72,
    },
    {
        .minor = 9,
        .keys = VT_PYKEYS_SIZE,
        .tuple_items = 24,
        .cached_keys = 864,
        FUNCTION_38,
        CODE_38,
        EXCEPTION_38,
        FRAME_38,
        .frame_slots = 360,
        .frame_top = 72,
        .generator_exception = 64,
        .future_result = 56,
        .task_coroutine = 152,
        .local_dicts = 48,
        .thread_exceptions = 144,
        .thread_raised = 96,
        .thread_dict = 152,
        .interpreters = 32,
        .interpreter_next = 0,
        .interpreter_threads = 8,
        .interpreter_modules = 856,
        .interpreter_generations = 640,
        .interpreter_sys = 872,
    },
    {
        .minor = 10,
        .keys = VT_PYKEYS_SIZE,
        .tuple_items = 24,
        .cached_keys = 872,
        FUNCTION_310,
        CODE_38,
        EXCEPTION_38,
        FRAME_38,
        .frame_slots = 352,
        .frame_top = 80,
        .generator_exception = 56,
        .future_result = 64,
        .task_coroutine = 160,
        .local_dicts = 48,
        .thread_exceptions = 144,
        .thread_raised = 96,
        .thread_dict = 152,
        .interpreters = 32,
        .interpreter_next = 0,
        .interpreter_threads = 8,
        .interpreter_modules = 856,
        .interpreter_generations = 640,
        .interpreter_sys = 872,
    },
    {
        .minor = 11,
        .keys = VT_PYKEYS_LOG2,
        .managed = VT_PYMANAGED_TWO,
        .tuple_items = 24,
        .cached_keys = 872,
        FUNCTION_310,
        .arguments = 56,
        .keyword_arguments = 64,
        .code_flags = 48,
        .slots = 76,
        .slot_names = 96,
        .slot_kinds = 104,
        EXCEPTION_311,
        .frame_function = 0,
        .frame_locals = 24,
        .frame_top = 64,
        .frame_slots = 72,
        .frame_of_object = 24,
        .exception_value = 0,
        .exception_previous = 8,
        .generator_frame = 80,
        .generator_state = 75,
        .generator_exception = 48,
        .generator_created = -2,
        .future_result = 64,
        .task_coroutine = 136,
        .local_dicts = 48,
        .thread_exceptions = 120,
        .thread_raised = 104,
        .thread_dict = 128,
        .interpreters = 40,
        .interpreter_next = 0,
        .interpreter_threads = 16,
        .interpreter_modules = 888,
        .interpreter_generations = 672,
        .interpreter_sys = 904,
    },
    {
        .minor = 12,
        .keys = VT_PYKEYS_LOG2,
        .managed = VT_PYMANAGED_TAGGED,
        .tuple_items = 24,
        .long_tag = true,
        .cached_keys = 880,
        FUNCTION_310,
        CODE_312,
        EXCEPTION_311,
        FRAME_312,
        .frame_slots = 72,
        .generator_created = -2,
        .future_result = 64,
        .task_coroutine = 136,
        .local_dicts = 48,
        .thread_exceptions = 104,
        .thread_raised = 96,
        .thread_dict = 112,
        .interpreters = 40,
        .interpreter_next = 0,
        .interpreter_threads = 72,
        .interpreter_modules = 944,
        .interpreter_generations = 136,
        .interpreter_sys = 352,
    },
    {
        .minor = 13,
        .keys = VT_PYKEYS_LOG2,
        .managed = VT_PYMANAGED_INLINE,
        .values = 8,
        .long_tag = true,
        .cached_keys = 880,
        FUNCTION_310,
        CODE_312,
        EXCEPTION_311,
        FRAME_312,
        .frame_slots = 72,
        .generator_created = -3,
        .future_result = 64,
        .task_coroutine = 120,
        .local_dicts = 40,
        .thread_exceptions = 120,
        .thread_raised = 112,
        .thread_dict = 128,
    },
    {
        .minor = 14,
        .keys = VT_PYKEYS_LOG2,
        .managed = VT_PYMANAGED_INLINE,
        .values = 8,
        .long_tag = true,
        .tagged = true,
        .cached_keys = 880,
        FUNCTION_310,
        CODE_312,
        EXCEPTION_311,
        FRAME_312,
        .frame_slots = 80,
        .generator_created = -3,
        .future_result = 64,
        .task_coroutine = 128,
        .local_dicts = 40,
        .thread_exceptions = 120,
        .thread_raised = 112,
        .thread_dict = 128,
    },
};

/* Where _Py_DebugOffsets, at the start of _PyRuntime, has what the rows leave out. */
static const struct {
    uint8_t minor;
    uint16_t interpreters, next, threads, collector, modules, sys, tuple_items;
} published[] = {
    {13, 40, 64, 72, 80, 88, 96, 408},
    {14, 40, 64, 72, 88, 96, 104, 456},
};

#define COOKIE          "xdebugpy"
#define PUBLISHED_BYTES 512u
#define MOST_OFFSET     (1u << 20)
#define FREE_THREADED   16u
/* Where the collector's state has its lists. To 3.14.4 there are one young and two old ones, from
 * 3.14.5 on three generations as before. */
#define GENERATIONS     24u

static bool take(uint32_t *to, const unsigned char *from, size_t offset) {
    uint64_t v;
    memcpy(&v, from + offset, sizeof v);
    *to = (uint32_t)v;
    return v < MOST_OFFSET;
}

static bool take_published(struct vt_owners_pylayout *at) {
    unsigned char o[PUBLISHED_BYTES];
    if (!vt_pyimage.runtime || !vt_python_peek(o, vt_pyimage.runtime, sizeof o) ||
        memcmp(o, COOKIE, 8) != 0 || o[FREE_THREADED])
        return false;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        if (published[i].minor != at->minor)
            continue;
        uint32_t items = 0;
        bool ok = take(&at->interpreters, o, published[i].interpreters) &&
                  take(&at->interpreter_next, o, published[i].next) &&
                  take(&at->interpreter_threads, o, published[i].threads) &&
                  take(&at->interpreter_modules, o, published[i].modules) &&
                  take(&at->interpreter_sys, o, published[i].sys) &&
                  take(&items, o, published[i].tuple_items);
        at->tuple_items = (uint8_t)items;
        if (take(&at->interpreter_generations, o, published[i].collector))
            at->interpreter_generations += GENERATIONS;
        return ok && items >= 24 && items < 64;
    }
    return false;
}

const struct vt_owners_pylayout *vt_owners_python_layout(void) {
    static struct vt_owners_pylayout found;
    if (vt_python_state(NULL) != VT_PYTHON_ACTIVE || !vt_pyimage.runtime)
        return NULL;
    if (found.minor)
        return &found;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].minor != vt_pyimage.at.minor)
            continue;
        struct vt_owners_pylayout at = rows[i];
        if (at.minor >= published[0].minor && !take_published(&at))
            return NULL;
        found = at;
        return &found;
    }
    return NULL;
}
