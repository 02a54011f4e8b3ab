/* SPDX-License-Identifier: MIT */
/*
 * Fragmentation: of the memory that is reserved and not in use, how much is there, and how large is
 * its largest piece? At the end of the run.
 *
 * Where a caching allocator's blocks are in the log, the driver allocations that held blocks are
 * its reserve, and the gaps between the blocks are free. Where none are, what the driver handed out
 * is in use as far as anyone can see; but if a caching allocator is known to be at work, or memory
 * came from a pool whose reserve the driver keeps to itself, then the answer is unknown.
 */
#include "diagnose.h"

#include <stdlib.h>
#include <string.h>

/* Libraries whose presence means that driver allocations are an allocator's segments. */
static const char *const caching[] = {"libc10_cuda", "libtorch_cuda", "libtensorflow",
                                      "xla_cuda",    "libjax",        "librmm"};

static bool has_caching_allocator(const struct vt_log *log) {
    for (size_t i = 0; i < log->module_count; i++)
        for (size_t j = 0; j < sizeof caching / sizeof *caching; j++)
            if (strstr(vt_basename(log->modules[i].path), caching[j]))
                return true;
    return false;
}

static const struct vt_fragmentation unknown = {VT_UNKNOWN, VT_UNKNOWN, VT_UNKNOWN, VT_UNKNOWN, -1};

struct span {
    uint64_t start, size;
};

static int compare_spans(const void *a, const void *b) {
    const struct span *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* The live things of a device in one address space, by address. */
static struct span *collect(const struct vt_replay *r, unsigned space, unsigned device,
                            size_t *count) {
    struct span *spans = vt_alloc(r->live.used, sizeof *spans);
    *count = 0;
    for (size_t i = 0; i <= r->live.mask; i++) {
        const struct vt_live_entry *entry = &r->live.slots[i];
        if (entry->key && vt_kind_space(entry->kind) == space &&
            r->sites[entry->site].device == device)
            spans[(*count)++] =
                (struct span){vt_live_address(entry), entry->size_context & VT_SIZE_MASK};
    }
    if (*count)
        qsort(spans, *count, sizeof *spans, compare_spans);
    return spans;
}

/* The reserve is every driver allocation in which a block lies; its gaps are free. */
static void measure_blocks(const struct vt_replay *r, struct vt_device *device) {
    struct vt_fragmentation *f = &device->fragmentation;
    size_t segments, blocks, b = 0, placed = 0;
    struct span *segment = collect(r, VT_SPACE_DEVICE, device->ordinal, &segments);
    struct span *block = collect(r, VT_SPACE_BLOCK, device->ordinal, &blocks);
    *f = (struct vt_fragmentation){0};
    for (size_t s = 0; s < segments; s++) {
        uint64_t at = segment[s].start, end = at + segment[s].size, largest = 0, used = 0;
        while (b < blocks && block[b].start < at)
            b++;
        size_t first = b;
        for (; b < blocks && block[b].start < end; b++) {
            uint64_t block_end = block[b].start + block[b].size;
            if (block_end > end)
                block_end = end;
            if (block[b].start > at && block[b].start - at > largest)
                largest = block[b].start - at;
            if (block_end > at) {
                used += block_end - (block[b].start > at ? block[b].start : at);
                at = block_end;
            }
        }
        placed += b - first;
        if (b == first)
            continue;
        if (end - at > largest)
            largest = end - at;
        f->reserved_bytes += segment[s].size;
        f->in_use_bytes += used;
        if (largest > f->largest_free_bytes)
            f->largest_free_bytes = largest;
    }
    if (placed < blocks) {
        /* blocks in memory that is mapped piece by piece: the pieces' addresses are not in the log
         */
        *f = unknown;
        free(segment);
        free(block);
        return;
    }
    f->free_bytes = f->reserved_bytes - f->in_use_bytes;
    f->ratio = f->free_bytes ? 1 - (double)f->largest_free_bytes / (double)f->free_bytes : 0;
    free(segment);
    free(block);
}

void vt_fragmentation_measure(const struct vt_log *log, const struct vt_replay *replay,
                              struct vt_device *device) {
    const struct vt_replay_device *books = &replay->devices[device->ordinal & 0xff];
    bool pooled = false;
    if (books->framework.used) {
        measure_blocks(replay, device);
        return;
    }
    for (size_t i = 0; i < replay->site_count; i++)
        pooled |= replay->sites[i].pooled && replay->sites[i].device == device->ordinal;
    if (pooled || has_caching_allocator(log)) {
        device->fragmentation = unknown;
        return;
    }
    device->fragmentation =
        (struct vt_fragmentation){device->live_bytes, device->live_bytes, 0, 0, 0};
}
