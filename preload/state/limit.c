/* SPDX-License-Identifier: MIT */
/*
 * VRAMTRACE_LIMIT, VRAMTRACE_INJECT and VRAMTRACE_ALARM: allocations refused before the driver sees them, and a line
 * on stderr when a device's total passes a mark. Called by the driver wrappers (VT_MAY_ALLOC) and by event.c. When
 * none of the three is set, each call costs one branch.
 *
 * There are two sums per device. `taken` counts live allocations and attempts: it grows before an allocation and
 * shrinks after a free, so the limit is never exceeded. `live` counts the allocations in the live table.
 *
 * `taken` grows by compare-and-swap, not by add-then-check: otherwise, while a large request was being refused, a small
 * one that fits could be refused as well.
 *
 * The limit covers device memory of the driver layer. It excludes managed memory (which need not be on the device),
 * pinned host memory, and framework blocks (which lie inside driver blocks). VRAMTRACE_INJECT counts every call that
 * allocates memory of the driver layer. An allocation whose record is lost does not count against the limit, because
 * its free would not be recognized.
 */
#include "state.h"
#include "base/base.h"

#define DEVICES 256u /* one per value of a record's device byte; unknown devices share one */

bool vt_limit_on;

static uint64_t taken[DEVICES], live[DEVICES]; /* atomic */
static uint64_t totals[DEVICES];               /* atomic: from the driver; 0: not asked yet */
static uint64_t tried;                         /* atomic: allocations so far */

void vt_limit_arm(void) {
    vt_limit_on = vt_settings.limit != UINT64_MAX || vt_settings.inject || vt_settings.alarm ||
                  vt_settings.alarm_share;
}

static bool injected(void) {
    if (!vt_settings.inject)
        return false;
    uint64_t number = vt_add(&tried, 1) + 1;
    return vt_settings.inject_on ? number >= vt_settings.inject : number == vt_settings.inject;
}

static bool reserve(unsigned device, uint64_t bytes) {
    uint64_t has;
    do {
        has = vt_get(&taken[device]);
        if (bytes > vt_settings.limit || has > vt_settings.limit - bytes)
            return false;
    } while (!vt_claim(&taken[device], has, has + bytes));
    return true;
}

bool vt_limit_reserve(struct vt_call *call, unsigned kind, unsigned device, uint64_t bytes) {
    device &= 0xff;
    if (injected()) {
        call->refused = VT_FAIL_INJECTED;
    } else if (vt_kind_layer(kind) != VT_LAYER_DRIVER) {
        return true;
    } else if (!reserve(device, bytes)) {
        call->refused = VT_FAIL_LIMIT;
    } else {
        call->reserved = bytes;
        call->reserved_device = (uint8_t)device;
    }
    return !call->refused;
}

static uint64_t alarm_bytes(unsigned device) {
    if (!vt_settings.alarm_share)
        return vt_settings.alarm;
    return (uint64_t)((vt_text_wide)vt_get(&totals[device]) * vt_settings.alarm_share /
                      VT_TEXT_WHOLE);
}

static void print_alarm(unsigned device, uint64_t bytes, uint64_t mark) {
    char line[256], *at = vt_text_put(line, "alarm: ");
    if (device == VT_DEVICE_UNKNOWN) {
        at = vt_text_put(at, "a GPU");
    } else {
        at = vt_text_put(at, "GPU ");
        at = vt_text_put_number(at, device);
    }
    at = vt_text_put(at, " holds ");
    at = vt_text_put_size(at, bytes);
    at = vt_text_put(at, " for this process, above VRAMTRACE_ALARM of ");
    at = vt_text_put_size(at, mark);
    if (vt_settings.alarm_share) {
        at = vt_text_put(at, " (");
        at = vt_text_put(at, vt_settings.alarm_text);
        vt_text_put(at, ")");
    }
    vt_message(line);
}

static void live_grows(unsigned device, uint64_t bytes) {
    uint64_t before = vt_add(&live[device], bytes), mark = alarm_bytes(device);
    if (mark && before < mark && bytes >= mark - before)
        print_alarm(device, before + bytes, mark);
}

void vt_limit_finalize_(const struct vt_call *call, const struct vt_live *now) {
    if (now && vt_kind_layer(now->kind) != VT_LAYER_DRIVER)
        now = NULL;
    /* A single addition if both are on the same device: if reservation and allocation were both counted for a moment,
     * another thread's request that fits could be refused. */
    if (now && call->reserved_device == now->device) {
        vt_add(&taken[now->device], now->size - call->reserved);
    } else {
        if (now)
            vt_add(&taken[now->device], now->size);
        vt_add(&taken[call->reserved_device], 0 - call->reserved);
    }
    if (now)
        live_grows(now->device, now->size);
}

void vt_limit_freed_(const struct vt_live *was) {
    if (vt_kind_layer(was->kind) != VT_LAYER_DRIVER)
        return;
    vt_add(&live[was->device], 0 - was->size);
    vt_add(&taken[was->device], 0 - was->size);
}

uint64_t vt_limit_total(unsigned device, uint64_t total) {
    vt_put(&totals[device & 0xff], total);
    return total < vt_settings.limit ? total : vt_settings.limit;
}

uint64_t vt_limit_free(unsigned device, uint64_t free_bytes) {
    uint64_t has = vt_get(&taken[device & 0xff]);
    uint64_t left = has < vt_settings.limit ? vt_settings.limit - has : 0;
    return free_bytes < left ? free_bytes : left;
}

/* A child has none of its parent's memory, and VRAMTRACE_INJECT counts in each process separately. */
void vt_limit_forked(void) {
    for (unsigned i = 0; i < DEVICES; i++) {
        vt_put(&taken[i], 0);
        vt_put(&live[i], 0);
    }
    vt_put(&tried, 0);
}
