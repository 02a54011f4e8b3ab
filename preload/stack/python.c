/* SPDX-License-Identifier: MIT */
/*
 * Reads the calling thread's Python frames in place, without the GIL. stack.c calls this when a stack is new. Related
 * files: python_chain.c (detects new stacks), python_find.c (the interpreter), python_layout.c (its fields' offsets),
 * python_code.c (functions, files and lines), python_merge.c (merges with the native frames).
 *
 * Why this is safe: a thread inside one of our wrappers runs no Python code until the wrapper returns. So its frames,
 * their code objects and the objects' strings neither move nor change; other threads only read them. Only our
 * assumptions about the structures can be wrong. So we check them: the version is known or publishes its own offsets;
 * the code type's member table must agree (python_layout.c); the first walk uses reads that cannot fault; and every
 * frame's code object must have the code type. If any of these fails, Python frames are off for good, and the report
 * gives the reason.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#include "base/base.h"
#include "python.h"
#include "python_layout.h"

#define MOST_SEARCHES     64u
#define MOST_STEPS        65536u /* a longer chain must be a cycle */
#define MOST_STEPS_PAST   1024u  /* frames walked after the last one kept, to find its C frame */
#define MOST_INTERPRETERS 64u
#define MOST_STATES       1024u

static int state = VT_PYTHON_ABSENT; /* enum vt_python_state; published last */
static int searching;                /* set by the searching thread */
static unsigned searches;
static unsigned long long libraries_seen;
static int walked_once; /* a walk with careful reads succeeded */
static char reason[192];

static void append(const char *text) {
    size_t n = strlen(reason), k = strlen(text);
    if (k > sizeof reason - 1 - n)
        k = sizeof reason - 1 - n;
    memcpy(reason + n, text, k);
    reason[n + k] = 0;
}

static void refuse(const char *why) {
    reason[0] = 0;
    append("Python");
    if (vt_pyimage.version[0]) {
        append(" ");
        append(vt_pyimage.version);
    }
    append(": only native frames are recorded: ");
    append(why);
    vt_publish(&state, VT_PYTHON_REFUSED);
}

static int count_libraries(struct dl_phdr_info *info, size_t size, void *arg) {
    (void)size;
    *(unsigned long long *)arg = info->dlpi_adds;
    return 1;
}

void vt_python_resolve(void) {
    if (vt_see(&state) != VT_PYTHON_ABSENT || vt_locks_lost(VT_LOST_LOADER) ||
        !vt_claim(&searching, 0, 1))
        return;
    unsigned long long libraries = 0;
    vt_libc_each_object(count_libraries, &libraries);
    if (vt_see(&state) == VT_PYTHON_ABSENT && searches < MOST_SEARCHES &&
        libraries != libraries_seen) {
        const char *why;
        searches++;
        libraries_seen = libraries;
        if (vt_python_find(&why)) {
            if (why == NULL) {
                vt_python_watch_code();
                vt_publish(&state, VT_PYTHON_ACTIVE);
            } else {
                refuse(why);
            }
        }
        /* The program's next dlerror() must not return the error of our failed look-ups. */
        vt_libc_dlerror_clear();
    }
    vt_publish(&searching, 0);
}

void vt_python_switch_off(void) {
    vt_publish(&state, VT_PYTHON_OFF);
}

VT_HOT enum vt_python_state vt_python_state(const char **why) {
    enum vt_python_state now = (enum vt_python_state)vt_see(&state);
    if (why != NULL)
        *why = now == VT_PYTHON_REFUSED ? reason : NULL;
    return now;
}

static uint32_t lived; /* atomic */

void vt_python_note_lived(void) {
    vt_put(&lived, 1);
}

bool vt_python_lived(void) {
    return vt_get(&lived) || vt_pyimage.is_program;
}

bool vt_python_lives(void) {
    bool lives = vt_pyimage.is_initialized && vt_pyimage.is_finalizing &&
                 vt_pyimage.is_initialized() && !vt_pyimage.is_finalizing();
    if (lives)
        vt_python_note_lived();
    return lives;
}

void vt_python_forked(void) {
    vt_python_end_forked();
    vt_put(&searching, 0);
}

static bool returns_into(const struct vt_range *code, uintptr_t return_address) {
    return vt_see(&state) == VT_PYTHON_ACTIVE && return_address - 1 >= code->start &&
           return_address - 1 < code->end;
}

bool vt_python_owns(uintptr_t return_address) {
    return returns_into(&vt_pyimage.text, return_address);
}

bool vt_python_is_eval(uintptr_t return_address) {
    return returns_into(&vt_pyimage.eval, return_address);
}

/* A walk in progress. `careful` is constant in each of the two copies that the compiler makes of the code below. */
struct walk {
    struct vt_pystack *out;
    uint32_t frames, groups, group_first;
    bool careful, fault;
};

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#define READ(name, type)                                                                           \
    ALWAYS_INLINE type name(struct walk *w, uintptr_t at) {                                        \
        type v = 0;                                                                                \
        if (!w->careful)                                                                           \
            return *(const type *)at;                                                              \
        w->fault |= !vt_python_peek(&v, at, sizeof v);                                             \
        return v;                                                                                  \
    }
READ(word, uint64_t)
READ(half, uint32_t)
READ(byte, uint8_t)

/* Whether this can be an object's address. */
ALWAYS_INLINE bool plausible(uintptr_t p) {
    return p >= 0x10000 && p < VT_MACHINE_ADDRESSES && (p & 7) == 0;
}

/* The end of a string, which distinguishes "churn 17" from "churn 18" at the same address. A short string's word
 * includes its padding, which does not change while the string lives. */
ALWAYS_INLINE uint64_t text_tail(struct walk *w, const struct vt_pylayout *at, uintptr_t text) {
    const uint32_t compact = 1u << 5; /* the characters follow the object; 3.8 to 3.11 */
    if (!plausible(text) || !(half(w, text + at->text_state) & compact))
        return 0;
    uint64_t length = word(w, text + at->text_length);
    return word(w, text + at->text_ascii + (length > 8 ? length - 8 : 0)) ^ length << 48;
}

/* Identifies a code object. From 3.12 on, each of the first 2^32 has its own number. Before 3.12, we combine its name
 * (address and hash; the hash exists because code names are interned), its qualified name and file (address and end),
 * its line table (address, length, start) and its first line. By the address alone, half of all captures showed the
 * wrong function while code objects came and went. Without the file's text, we would mix up two methods with the same
 * name, line and size whose files' names were made at the same address. */
ALWAYS_INLINE uint64_t tag_of(struct walk *w, const struct vt_pylayout *at, uintptr_t code) {
    uint64_t first_line = half(w, code + at->first_line);
    if (at->version) {
        uint64_t version = half(w, code + at->version);
        if (version != 0)
            return first_line << 32 | version;
    }
    uintptr_t name = word(w, code + at->name), table = word(w, code + at->lines_table);
    uintptr_t file = word(w, code + at->file);
    if (!plausible(name) || !plausible(table))
        return first_line;
    uint64_t length = word(w, table + at->bytes_size);
    uint64_t start = length >= 8 ? word(w, table + at->bytes_data) : 0;
    uint64_t h = name * 0x9e3779b97f4a7c15u + word(w, name + at->text_hash) * 0xc2b2ae3d27d4eb4fu;
    h ^= (table + (length << 48)) * 0x165667b19e3779f9u;
    h ^= (file + (first_line << 48)) * 0xff51afd7ed558ccdu + start * 0xd6e8feb86659fd93u;
    h = (h ^ h >> 31) + text_tail(w, at, file) * 0xbf58476d1ce4e5b9u;
    if (at->qualname) {
        uintptr_t qualname = word(w, code + at->qualname);
        h = (h ^ h >> 31) + (qualname ^ text_tail(w, at, qualname)) * 0x94d049bb133111ebu;
    }
    return h ^ h >> 29;
}

/* Adds a frame. False: no space. Skips objects that are not code (None, a trampoline). */
ALWAYS_INLINE bool add(struct walk *w, const struct vt_pylayout *at, uintptr_t code,
                       uint32_t lasti) {
    if (w->frames == VT_PYTHON_FRAMES)
        return false;
    w->out->frames[w->frames++] = (struct vt_pyframe){code, tag_of(w, at, code), lasti, w->groups};
    return true;
}

/* Ends a group, whose C frame contains `anchor`. */
ALWAYS_INLINE void close_group(struct walk *w, uintptr_t anchor) {
    uint32_t count = w->frames - w->group_first;
    if (count == 0)
        return;
    w->out->groups[w->groups++] = (struct vt_pygroup){anchor, w->group_first, count};
    w->group_first = w->frames;
}

ALWAYS_INLINE bool is_code(struct walk *w, const struct vt_pylayout *at, uintptr_t code) {
    return plausible(code) && word(w, code + at->ob_type) == vt_pyimage.code_type;
}

/* 3.8 to 3.10. False: the chain is broken. */
ALWAYS_INLINE bool walk_objects(struct walk *w, const struct vt_pylayout *at, uintptr_t thread) {
    uintptr_t frame = word(w, thread + at->state_frame);
    uintptr_t cframe = at->anchors ? word(w, thread + at->state_cframe) : 0;
    for (unsigned steps = 0; frame != 0 && steps < MOST_STEPS; steps++) {
        if (w->fault || !plausible(frame))
            return false;
        uintptr_t code = word(w, frame + at->code);
        int32_t lasti = (int32_t)half(w, frame + at->lasti);
        if (is_code(w, at, code) &&
            !add(w, at, code, lasti < 0 ? 0 : (uint32_t)lasti * at->lasti_unit))
            return false;
        close_group(w, cframe);
        if (plausible(cframe))
            cframe = word(w, cframe + at->cframe_previous);
        frame = word(w, frame + at->previous);
    }
    return frame == 0 && !w->fault;
}

/* From 3.11 on: the offset of a frame's instruction. -1: the frame has not started, and Python does not show it. */
ALWAYS_INLINE int64_t instruction(struct walk *w, const struct vt_pylayout *at, uintptr_t frame,
                                  uintptr_t code, uint8_t owner) {
    enum { OWNED_BY_GENERATOR = 1 };
    int64_t lasti = (int64_t)(word(w, frame + at->lasti) - (code + at->bytecode));
    if (owner == OWNED_BY_GENERATOR)
        return lasti < 0 ? 0 : lasti;
    return lasti < 2 * (int64_t)(int32_t)half(w, code + at->first_traceable) ? -1 : lasti;
}

ALWAYS_INLINE bool add_frame(struct walk *w, const struct vt_pylayout *at, uintptr_t frame,
                             uint8_t owner) {
    uintptr_t code = word(w, frame + at->code) & ~(uintptr_t)7; /* 3.14: low bits are a tag */
    if (!is_code(w, at, code))
        return true;
    int64_t lasti = instruction(w, at, frame, code, owner);
    if (lasti < 0)
        return true;
    return add(w, at, code, lasti < 1 << 28 ? (uint32_t)lasti : VT_PYTHON_NO_LASTI);
}

/* 3.11. */
ALWAYS_INLINE bool walk_entries(struct walk *w, const struct vt_pylayout *at, uintptr_t thread) {
    uintptr_t cframe = word(w, thread + at->state_cframe);
    if (!plausible(cframe))
        return false;
    uintptr_t frame = word(w, cframe + at->cframe_current);
    for (unsigned steps = 0; frame != 0 && steps < MOST_STEPS; steps++) {
        if (w->fault || !plausible(frame))
            return false;
        bool room = add_frame(w, at, frame, byte(w, frame + at->owner));
        if (!room || byte(w, frame + at->entry)) {
            close_group(w, cframe);
            if (!room)
                return false;
            if (plausible(cframe))
                cframe = word(w, cframe + at->cframe_previous);
        }
        frame = word(w, frame + at->previous);
    }
    close_group(w, 0);
    return frame == 0 && !w->fault;
}

/* 3.12 on. */
ALWAYS_INLINE bool walk_shims(struct walk *w, const struct vt_pylayout *at, uintptr_t thread) {
    enum { OWNED_BY_C_FRAME = 3, OWNERS = 8 };
    uintptr_t frame;
    if (at->state_cframe) {
        uintptr_t cframe = word(w, thread + at->state_cframe);
        if (!plausible(cframe))
            return false;
        frame = word(w, cframe + at->cframe_current);
    } else {
        frame = word(w, thread + at->state_frame);
    }
    unsigned past = 0;
    for (unsigned steps = 0; frame != 0 && steps < MOST_STEPS; steps++) {
        if (w->fault || !plausible(frame))
            break;
        uint8_t owner = byte(w, frame + at->owner);
        if (owner >= OWNERS)
            break;
        if (owner >= OWNED_BY_C_FRAME) {
            close_group(w, frame);
            if (past)
                return false;
        } else if (past || !add_frame(w, at, frame, owner)) {
            if (++past > MOST_STEPS_PAST)
                break;
        }
        frame = word(w, frame + at->previous);
    }
    close_group(w, 0);
    return frame == 0 && past == 0 && !w->fault;
}

/* False: the chain was not read to its end. */
ALWAYS_INLINE bool walk_chain(struct walk *w, uintptr_t thread) {
    const struct vt_pylayout *at = &vt_pyimage.at;
    switch ((enum vt_pychain)at->chain) {
    case VT_CHAIN_OBJECTS:
        return walk_objects(w, at, thread);
    case VT_CHAIN_ENTRY:
        return walk_entries(w, at, thread);
    case VT_CHAIN_SHIM:
        return walk_shims(w, at, thread);
    }
    return false;
}

/* Walks with safe reads, until one walk succeeds. An unexpected structure turns Python frames off. */
static __attribute__((noinline)) bool walk_carefully(struct walk *w, uintptr_t thread) {
    w->careful = true;
    bool whole = walk_chain(w, thread);
    if (w->fault || (!whole && w->frames < VT_PYTHON_FRAMES)) {
        w->frames = w->groups = 0;
        if (vt_see(&state) == VT_PYTHON_ACTIVE)
            refuse("its chain of frames is not as expected");
        return false;
    }
    if (w->frames > 0)
        vt_put(&walked_once, 1);
    return whole;
}

/* 3.8 to 3.11 with sub-interpreters: the interpreter only returns the thread's first state, but the frames may belong
 * to another. We search all states of this thread, newest interpreter first, and take the innermost. Other threads may
 * make and delete their states meanwhile, so every read is careful; this thread's states stay. */
static __attribute__((noinline)) uintptr_t innermost_state(uintptr_t first, uintptr_t interpreter) {
    const struct vt_pylayout *at = &vt_pyimage.at;
    uintptr_t best = first, best_anchor = UINTPTR_MAX;
    for (unsigned i = 0; i < MOST_INTERPRETERS && plausible(interpreter); i++) {
        struct walk w = {.careful = true};
        uintptr_t thread = word(&w, interpreter + at->interpreter_threads);
        for (unsigned t = 0; t < MOST_STATES && plausible(thread) && !w.fault; t++) {
            uintptr_t frame = at->state_frame ? word(&w, thread + at->state_frame) : 0;
            uintptr_t cframe = at->state_cframe ? word(&w, thread + at->state_cframe) : 0;
            if (at->state_frame == 0 && plausible(cframe))
                frame = word(&w, cframe + at->cframe_current);
            bool own = word(&w, thread + at->state_thread) == (uintptr_t)pthread_self();
            if (own && !w.fault && plausible(frame)) {
                if (!at->anchors)
                    return thread;
                if (cframe < best_anchor) {
                    best = thread;
                    best_anchor = cframe;
                }
            }
            thread = word(&w, thread + at->state_next);
        }
        interpreter = word(&w, interpreter); /* `next` is its first member */
    }
    return best;
}

VT_HOT uintptr_t vt_python_own_state(bool *others) {
    const struct vt_pyimage *image = &vt_pyimage;
    if (!image->is_initialized() || image->is_finalizing())
        return 0;
    uintptr_t thread = (uintptr_t)image->this_state();
    /* Finalization frees a daemon thread's state while the thread still refers to it; the memory may then be reused. */
    if (!plausible(thread) ||
        *(const uintptr_t *)(thread + image->at.state_thread) != (uintptr_t)pthread_self())
        return 0;
    if (image->at.one_state && image->newest_interpreter && image->main_interpreter) {
        void *newest = image->newest_interpreter();
        if (newest != image->main_interpreter()) {
            uintptr_t inner = innermost_state(thread, (uintptr_t)newest);
            *others = inner != thread;
            return inner;
        }
    }
    return thread;
}

uint64_t vt_python_tag(uintptr_t code) {
    struct walk w = {.careful = false};
    return tag_of(&w, &vt_pyimage.at, code);
}

VT_HOT bool vt_python_is_trusted(void) {
    return vt_see(&state) == VT_PYTHON_ACTIVE && vt_get(&walked_once);
}

uint32_t vt_python_capture(struct vt_pystack *stack) {
    struct walk w = {.out = stack};
    bool whole = true;
    if (vt_see(&state) == VT_PYTHON_ACTIVE) {
        bool others = false;
        uintptr_t thread = vt_python_own_state(&others);
        if (thread != 0)
            whole = __builtin_expect(vt_get(&walked_once), 1) ? walk_chain(&w, thread)
                                                              : walk_carefully(&w, thread);
        if (others)
            whole = false;
    }
    stack->n_frames = w.frames;
    stack->n_groups = w.groups;
    stack->truncated = !whole;
    return w.frames;
}
