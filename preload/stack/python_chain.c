/* SPDX-License-Identifier: MIT */
/*
 * Distinguishes Python stacks at each event, by comparing the chain of frames with the one at the thread's last event.
 * stack.c calls this; the frames' names are read only when a stack is new (python.c, python_code.c).
 *
 * A frame is the same when its address, the one before it, its code object, its instruction and its owner are the
 * same. We compare all frames, from the innermost on: an unchanged frame proves nothing about its callers, because the
 * same address, code and instruction recur when the caller is at another line. We read changed frames again. Each
 * frame's hash includes its caller's, so the unchanged outer part keeps its hashes.
 *
 * A code object's address does not identify it: another one may be made where one was freed. So we replace the code
 * type's deallocation function by one that counts and then calls the interpreter's. While the count is unchanged, an
 * address means the same code object, which we need not read. When the count changes, or if the function cannot be
 * replaced, we read everything again, and distinguish code objects by their contents (vt_python_tag).
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/uio.h>

#include "base/base.h"
#include "python.h"
#include "python_layout.h"

#define HASH_0 0x9e3779b97f4a7c15u

/* Counting freed code objects. */

static void (**freeing)(void *); /* the code type's slot; NULL: not replaced */
static void (*next_freeing)(void *);
static uint64_t freed; /* atomic */

/* Counts first, before the address can be reused. */
static void count_freed(void *code) {
    vt_add(&freed, 1);
    next_freeing(code);
}

void vt_python_watch_code(void) {
    /* PyTypeObject: name, two sizes, tp_dealloc, ..., tp_members. Free-threaded builds have a larger head. */
    const struct vt_pyimage *image = &vt_pyimage;
    uintptr_t at = image->code_type + image->at.type_members - 192;
    struct {
        uintptr_t name, sizes[2], freeing;
    } type;
    char name[sizeof "code"];
    if (!vt_python_peek(&type, at - 24, sizeof type) ||
        !vt_python_peek(name, type.name, sizeof name) || memcmp(name, "code", sizeof name) != 0 ||
        type.freeing < image->text.start || type.freeing >= image->text.end)
        return;
    /* Tests whether the slot is writable: the kernel writes its present value. */
    struct iovec from = {&type.freeing, sizeof type.freeing},
                 to = {(void *)at, sizeof type.freeing};
    if (VT_SYS6(SYS_process_vm_writev, VT_SYS0(SYS_getpid), &from, 1, &to, 1, 0) !=
        (long)sizeof type.freeing)
        return;
    memcpy(&next_freeing, &type.freeing, sizeof next_freeing);
    vt_publish((void (**)(void *))at, count_freed);
    vt_publish(&freeing, (void (**)(void *))at);
}

/* The count of freed code objects; while it is the same, an address means the same code object. 0: unknown. */
static uint64_t count_now(void) {
    void (**place)(void *) = vt_see(&freeing);
    return place != NULL && vt_get(place) == count_freed ? vt_get(&freed) + 1 : 0;
}

/* Reading a frame. */

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE uint64_t word(uintptr_t at) {
    return *(const uint64_t *)at;
}

ALWAYS_INLINE bool plausible(uintptr_t p) {
    return p >= 0x10000 && p < VT_MACHINE_ADDRESSES && (p & 7) == 0;
}

enum { OWNED_BY_GENERATOR = 1, OWNED_BY_C_FRAME = 3, OWNERS = 8 };

/* `chain` is constant in each of the copies that the compiler makes of this function. */
ALWAYS_INLINE uintptr_t innermost(enum vt_pychain chain, const struct vt_pylayout *at,
                                  uintptr_t thread) {
    if (chain == VT_CHAIN_OBJECTS || at->state_cframe == 0)
        return word(thread + at->state_frame);
    uintptr_t cframe = word(thread + at->state_cframe);
    return plausible(cframe) ? word(cframe + at->cframe_current) : 1;
}

ALWAYS_INLINE void read_step(enum vt_pychain chain, const struct vt_pylayout *at, uintptr_t frame,
                             struct vt_pystep *s, uintptr_t *previous) {
    s->frame = frame;
    s->code = word(frame + at->code);
    s->owner = 0;
    if (chain == VT_CHAIN_OBJECTS) {
        s->instruction = *(const uint32_t *)(frame + at->lasti);
    } else {
        s->instruction = word(frame + at->lasti);
        s->owner = *(const uint8_t *)(frame + at->owner);
    }
    if (chain == VT_CHAIN_ENTRY)
        s->owner |= (uint32_t) * (const uint8_t *)(frame + at->entry) << 8;
    *previous = word(frame + at->previous);
}

static bool is_code(uint64_t word_of_code) {
    uintptr_t code = word_of_code & ~(uintptr_t)7; /* 3.14: low bits are a tag */
    return plausible(code) && word(code + vt_pyimage.at.ob_type) == vt_pyimage.code_type;
}

/* Facts about a code object, cached. */
static const struct vt_pyknown *known_of(struct vt_pylast *last, uintptr_t code) {
    const struct vt_pylayout *at = &vt_pyimage.at;
    struct vt_pyknown *k = &last->known[(code >> 4 ^ code >> 12) % VT_PYTHON_KNOWN];
    if (k->code == code && k->generation == last->generation)
        return k;
    k->code = code;
    k->generation = last->generation;
    k->tag = vt_python_tag(code);
    k->start =
        at->chain == VT_CHAIN_OBJECTS
            ? 0
            : code + at->bytecode + 2 * (uint64_t) * (const uint32_t *)(code + at->first_traceable);
    return k;
}

static uint64_t mix(uint64_t h, uint64_t word_to_mix) {
    h = (h ^ word_to_mix) * 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

/* Whether Python shows the frame: it runs code, and has started. */
static bool is_shown(const struct vt_pystep *s, const struct vt_pyknown *k) {
    return vt_pyimage.at.chain == VT_CHAIN_OBJECTS || (s->owner & 0xff) == OWNED_BY_GENERATOR ||
           (int64_t)(s->instruction - k->start) >= 0;
}

/* Computes a step's hash; `outer` is its caller's. */
static void conclude(struct vt_pylast *last, struct vt_pystep *s, uint64_t outer, uint32_t frames) {
    s->hash = outer;
    s->frames = frames;
    s->is_code = 0;
    if (vt_pyimage.at.chain == VT_CHAIN_SHIM && (s->owner & 0xff) >= OWNED_BY_C_FRAME) {
        s->hash = mix(outer, 1); /* a call of the interpreter's loop ends here */
        return;
    }
    if (!is_code(s->code))
        return;
    s->is_code = 1;
    uintptr_t code = s->code & ~(uintptr_t)7;
    const struct vt_pyknown *k = known_of(last, code);
    if (!is_shown(s, k))
        return;
    s->hash = mix(mix(outer, code ^ k->tag), s->instruction ^ (uint64_t)(s->owner & 0xff00) << 40);
    s->frames = frames + 1;
}

/* Comparing. */

static uint8_t *place_of(struct vt_pylast *last, uintptr_t frame) {
    return &last->where[(frame >> 4 ^ frame >> 12) % sizeof last->where];
}

/* Offsets of a frame's words: vt_pylayout's, in registers. */
struct offsets {
    uintptr_t previous, code, instruction, owner, entry;
};

/* Whether a frame is unchanged; `outer` is its caller's frame. */
ALWAYS_INLINE bool is_unchanged(enum vt_pychain chain, const struct offsets *at,
                                const struct vt_pystep *s, uintptr_t outer) {
    uintptr_t frame = s->frame;
    uint64_t changed = word(frame + at->previous) ^ outer,
             within = word(frame + at->code) ^ s->code;
    if (chain == VT_CHAIN_OBJECTS)
        within |= *(const uint32_t *)(frame + at->instruction) ^ s->instruction;
    else
        within |= word(frame + at->instruction) ^ s->instruction;
    if (chain == VT_CHAIN_ENTRY)
        changed |= (*(const uint8_t *)(frame + at->owner) |
                    (uint32_t) * (const uint8_t *)(frame + at->entry) << 8) ^
                   s->owner;
    if (chain == VT_CHAIN_SHIM)
        changed |= *(const uint8_t *)(frame + at->owner) ^ s->owner;
    if (VT_LIKELY(s->is_code))
        return !(changed | within);
    /* The end of a loop has no code. In any other step, the word may have become the address of a code object. */
    return !changed && ((chain == VT_CHAIN_SHIM && (s->owner & 0xff) >= OWNED_BY_C_FRAME) ||
                        (!within && !is_code(s->code)));
}

/* The innermost changed step, from step `i` outwards, plus 1; 0: none. */
ALWAYS_INLINE uint32_t first_changed(enum vt_pychain chain, const struct vt_pystep *step,
                                     uint32_t i) {
    const struct vt_pylayout *layout = &vt_pyimage.at;
    const struct offsets at = {layout->previous, layout->code, layout->lasti, layout->owner,
                               layout->entry};
    const struct vt_pystep *s = &step[i];
    for (; s > step; s--)
        if (!is_unchanged(chain, &at, s, s[-1].frame))
            return (uint32_t)(s - step) + 1;
    return is_unchanged(chain, &at, s, 0) ? 0 : 1;
}

/* Follows the chain until the rest of it is unchanged; keeps the rest, and appends the changed steps. False: the chain
 * is too long, or not as expected. */
ALWAYS_INLINE bool follow(enum vt_pychain chain, struct vt_pylast *last, uintptr_t frame) {
    const struct vt_pylayout *at = &vt_pyimage.at;
    struct vt_pystep *step = last->step;
    uint32_t free_from = VT_PYTHON_STEPS, kept = 0; /* changed steps are stored from there on */
    while (frame != 0) {
        uint32_t i = *place_of(last, frame);
        if (i < last->n && step[i].frame == frame) {
            uint32_t from = i + 1, changed = first_changed(chain, step, i);
            if (changed == 0) {
                kept = from;
                break;
            }
            /* Step i has changed, so the steps inside it have another caller. */
            i = changed - 1;
            uint32_t moved = from - changed;
            if (free_from < from + moved)
                return false;
            free_from -= moved;
            memmove(&step[free_from], &step[i + 1], moved * sizeof *step);
            last->n = i; /* the inner steps are consumed */
            frame = step[i].frame;
        }
        if (free_from == 0 || !plausible(frame))
            return false;
        if (last->n >= free_from)
            last->n = free_from - 1;
        read_step(chain, at, frame, &step[--free_from], &frame);
        if (chain == VT_CHAIN_SHIM && (step[free_from].owner & 0xff) >= OWNERS)
            return false;
    }
    memmove(&step[kept], &step[free_from], (VT_PYTHON_STEPS - free_from) * sizeof *step);
    last->n = kept + VT_PYTHON_STEPS - free_from;
    for (uint32_t i = kept; i < last->n; i++) {
        conclude(last, &step[i], i ? step[i - 1].hash : HASH_0, i ? step[i - 1].frames : 0);
        *place_of(last, step[i].frame) = (uint8_t)i;
    }
    return last->n == 0 || step[last->n - 1].frames <= VT_PYTHON_FRAMES;
}

/* Reads the innermost frames of a chain that is too long to keep, or may be broken. */
VT_COLD static __attribute__((noinline)) uint64_t read_all(struct vt_pystack *stack) {
    uint64_t h = HASH_0;
    uint32_t n = vt_python_capture(stack);
    for (uint32_t i = 0; i < n; i++)
        h = mix(mix(h, stack->frames[i].code ^ stack->frames[i].tag), stack->frames[i].lasti);
    return n ? h : 0;
}

VT_HOT_AS_IT_IS uint64_t vt_python_identify(struct vt_pylast *last, struct vt_pystack *stack) {
    bool others = false, whole = false;
    if (VT_UNLIKELY(!vt_python_is_trusted()))
        return read_all(stack);
    uintptr_t thread = vt_python_own_state(&others);
    uint64_t count = count_now();
    if (count == 0 || count != last->count) {
        last->n = 0;
        last->count = count;
        last->generation++;
    }
    if (thread == 0)
        return 0;
    const struct vt_pylayout *at = &vt_pyimage.at;
    switch ((enum vt_pychain)at->chain) {
    case VT_CHAIN_OBJECTS:
        whole = follow(VT_CHAIN_OBJECTS, last, innermost(VT_CHAIN_OBJECTS, at, thread));
        break;
    case VT_CHAIN_ENTRY:
        whole = follow(VT_CHAIN_ENTRY, last, innermost(VT_CHAIN_ENTRY, at, thread));
        break;
    case VT_CHAIN_SHIM:
        whole = follow(VT_CHAIN_SHIM, last, innermost(VT_CHAIN_SHIM, at, thread));
        break;
    }
    if (VT_UNLIKELY(!whole || others)) {
        last->n = 0;
        return read_all(stack);
    }
    return last->n && last->step[last->n - 1].frames ? last->step[last->n - 1].hash : 0;
}
