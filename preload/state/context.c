/* SPDX-License-Identifier: MIT */
/*
 * Finds an allocation's context and device without asking the driver. Contexts get a number when the program makes or
 * mentions them. We follow each thread's stack of current contexts through the calls that change it (wrap_context.c).
 * If a context becomes current in another way, we notice it when the program asks for the current one.
 *
 * After a context's end, its number is reused: all its allocations have ended.
 */
#include "state.h"
#include "base/base.h"

#define CONTEXTS_MAX 4096u
#define PRIMARY      0x100u
#define KNOWN        0x200u
#define ENDING       1u /* not a handle: its allocations are still in our tables */

struct context {
    uint64_t handle; /* atomic; 0: free; ENDING */
    uint32_t device; /* atomic; device | PRIMARY | KNOWN; 0: unknown */
    uint32_t owner;  /* atomic; number + 1 of the context that owns its allocations; 0: itself */
};

/* A free slot has neither device nor owner, so a new context never inherits those of the previous one. */
static struct context contexts[CONTEXTS_MAX];
static uint32_t used; /* atomic: slots ever taken */

static unsigned find(uint64_t handle) {
    for (unsigned i = 0, n = vt_see(&used); i < n; i++)
        if (vt_see(&contexts[i].handle) == handle)
            return i;
    return VT_CONTEXT_UNKNOWN;
}

/* The number of a handle; a new one has no known device. Threads that add a handle at the same time try the slots in
 * the same order, so all but one find it there. (They would get two numbers only if a lower slot became free at the
 * same time.) */
static unsigned add(uint64_t handle) {
    if (!handle)
        return VT_CONTEXT_UNKNOWN;
    unsigned n = find(handle);
    if (n != VT_CONTEXT_UNKNOWN)
        return n;
    for (unsigned i = 0; i < CONTEXTS_MAX; i++) {
        for (uint32_t u = vt_get(&used); u < i + 1 && !vt_claim(&used, u, i + 1); u = vt_get(&used))
            ;
        if ((!vt_see(&contexts[i].handle) && vt_claim(&contexts[i].handle, 0, handle)) ||
            vt_see(&contexts[i].handle) == handle)
            return i;
    }
    return VT_CONTEXT_UNKNOWN;
}

static void set_device(unsigned number, uint32_t device) {
    vt_put(&contexts[number].device, device | KNOWN);
}

unsigned vt_context_made(CUcontext handle, unsigned device, bool primary) {
    unsigned n = add((uint64_t)(uintptr_t)handle);
    if (n != VT_CONTEXT_UNKNOWN)
        set_device(n, device | (primary ? PRIMARY : 0));
    return n;
}

unsigned vt_context_number(CUcontext handle) {
    unsigned n = add((uint64_t)(uintptr_t)handle);
    uint32_t owner = n == VT_CONTEXT_UNKNOWN ? 0 : vt_get(&contexts[n].owner);
    return owner ? owner - 1 : n;
}

void vt_context_each(void (*see)(uint64_t handle, void *data), void *data) {
    for (unsigned i = 0, n = vt_see(&used); i < n; i++) {
        uint64_t handle = vt_see(&contexts[i].handle);
        if (handle && handle != ENDING)
            see(handle, data);
    }
}

unsigned vt_context_primary(unsigned device) {
    for (unsigned i = 0, n = vt_see(&used); i < n; i++)
        if (vt_see(&contexts[i].handle) &&
            vt_get(&contexts[i].device) == (device | PRIMARY | KNOWN))
            return i;
    return VT_CONTEXT_UNKNOWN;
}

uint64_t vt_context_ends(unsigned number) {
    uint64_t handle = number < CONTEXTS_MAX ? vt_see(&contexts[number].handle) : 0;
    return handle && vt_claim(&contexts[number].handle, handle, ENDING) ? handle : 0;
}

void vt_context_stays(unsigned number, uint64_t handle) {
    if (handle)
        vt_publish(&contexts[number].handle, handle);
}

void vt_context_gone(unsigned number) {
    if (number >= CONTEXTS_MAX)
        return;
    vt_put(&contexts[number].device, 0);
    vt_put(&contexts[number].owner, 0);
    vt_publish(&contexts[number].handle, 0);
}

unsigned vt_context_device(unsigned number) {
    uint32_t device = number < CONTEXTS_MAX ? vt_get(&contexts[number].device) : 0;
    return device & KNOWN ? device & 0xff : VT_DEVICE_UNKNOWN;
}

void vt_context_set_device(unsigned number, unsigned device) {
    if (number < CONTEXTS_MAX && vt_see(&contexts[number].handle) &&
        vt_context_device(number) == VT_DEVICE_UNKNOWN)
        set_device(number, device);
}

static struct vt_table green_contexts; /* handle -> number of the primary context */

unsigned vt_context_green_made(CUgreenCtx handle, unsigned device) {
    unsigned number = vt_context_primary(device);
    const uint64_t words[VT_TABLE_WORDS] = {number};
    vt_table_replace(&green_contexts, (uint64_t)(uintptr_t)handle, words);
    return number;
}

unsigned vt_context_green(CUgreenCtx handle) {
    uint64_t words[VT_TABLE_WORDS];
    return vt_table_find(&green_contexts, (uint64_t)(uintptr_t)handle, words) ? (unsigned)words[0]
                                                                              : VT_CONTEXT_UNKNOWN;
}

void vt_context_green_gone(CUgreenCtx handle) {
    uint64_t words[VT_TABLE_WORDS];
    vt_table_take(&green_contexts, (uint64_t)(uintptr_t)handle, words);
}

void vt_context_alias(CUcontext handle, unsigned owner) {
    unsigned n = add((uint64_t)(uintptr_t)handle);
    if (n == VT_CONTEXT_UNKNOWN || owner == VT_CONTEXT_UNKNOWN || n == owner)
        return;
    if (vt_context_device(owner) != VT_DEVICE_UNKNOWN)
        set_device(n, vt_context_device(owner));
    vt_put(&contexts[n].owner, owner + 1);
}

void vt_context_push(CUcontext handle) {
    struct vt_tls *t = &vt_tls;
    if (t->context_depth < VT_CONTEXT_DEPTH_MAX)
        t->contexts[t->context_depth] = (uint16_t)vt_context_number(handle);
    t->context_depth++;
}

void vt_context_pop(void) {
    if (vt_tls.context_depth)
        vt_tls.context_depth--;
}

/* cuCtxSetCurrent: replaces the top; NULL pops it. */
void vt_context_replace(CUcontext handle) {
    vt_context_pop();
    if (handle)
        vt_context_push(handle);
}

unsigned vt_context_only_(void) {
    unsigned only = VT_CONTEXT_UNKNOWN;
    for (unsigned i = 0, n = vt_see(&used); i < n; i++) {
        if (vt_see(&contexts[i].handle) <= ENDING)
            continue;
        if (only != VT_CONTEXT_UNKNOWN)
            return VT_CONTEXT_UNKNOWN;
        only = i;
    }
    return only;
}

/* A child cannot use the contexts of a parent that used CUDA. */
void vt_context_forked(void) {
    for (unsigned i = 0, n = vt_see(&used); i < n; i++)
        vt_context_gone(i);
    vt_put(&used, 0);
    vt_table_forget(&green_contexts);
}
