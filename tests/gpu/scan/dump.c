/* SPDX-License-Identifier: MIT */
/*
 * Writes what the exit scan is about to read to the file SCAN_DUMP: a library for diagnosis, in which this file is linked
 * around vt_scan_flood (--wrap). Memory goes in small pieces first, until the file has SCAN_DUMP_MOST MiB (400).
 */
#define _GNU_SOURCE
#include "dump.h"
#include "state/state.h"
#include "scan/flood.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE        ((uintptr_t)4096)
#define LARGE       ((uintptr_t)4 << 20)
#define ABSENT(pte) (!((pte) >> 62)) /* neither present nor swapped */

bool __real_vt_scan_flood(struct vt_scan *scan, const uintptr_t *registers, uint32_t count);
bool __wrap_vt_scan_flood(struct vt_scan *scan, const uintptr_t *registers, uint32_t count);

static int fd, pagemap;
static uint64_t written, most = (uint64_t)400 << 20;
static uint8_t waiting[1 << 20];
static size_t waiting_bytes;

static void write_waiting(void) {
    for (size_t at = 0; at < waiting_bytes;) {
        ssize_t n = write(fd, waiting + at, waiting_bytes - at);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    written += waiting_bytes;
    waiting_bytes = 0;
}

static void put(const void *bytes, size_t count) {
    for (size_t some; count; bytes = (const char *)bytes + some, count -= some) {
        some = sizeof waiting - waiting_bytes < count ? sizeof waiting - waiting_bytes : count;
        memcpy(waiting + waiting_bytes, bytes, some);
        waiting_bytes += some;
        if (waiting_bytes == sizeof waiting)
            write_waiting();
    }
}

static void put_part(enum dump_what what, uint64_t a, uint64_t b, const void *bytes, size_t count) {
    put(&(struct dump_part){what, a, b, count}, sizeof(struct dump_part));
    put(bytes, count);
}

static void put_context(uint64_t handle, void *data) {
    (void)data;
    put_part(DUMP_CONTEXT, handle, 0, NULL, 0);
}

static void put_stream(uint64_t handle, void *data) {
    (void)data;
    put_part(DUMP_STREAM, handle, 0, NULL, 0);
}

static void put_live(const struct vt_live *what, void *data) {
    (void)data;
    put_part(DUMP_LIVE, what->address, what->size, NULL, 0);
}

static int put_tls(struct dl_phdr_info *module, size_t size, void *data) {
    (void)size;
    (void)data;
    for (int i = 0; i < module->dlpi_phnum; i++)
        if (module->dlpi_phdr[i].p_type == PT_TLS && module->dlpi_tls_data)
            put_part(DUMP_TLS, (uintptr_t)module->dlpi_tls_data, module->dlpi_phdr[i].p_memsz,
                     module->dlpi_name, strlen(module->dlpi_name));
    return 0;
}

static void put_maps(void) {
    static char text[65536];
    int in = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    for (ssize_t n; (n = read(in, text, sizeof text)) > 0;)
        put_part(DUMP_MAPS, 0, 0, text, (size_t)n);
    close(in);
}

static void put_bits(const struct vt_scan *scan) {
    for (uint32_t i = 0; i < scan->span_count; i++) {
        const struct vt_span *s = &scan->spans[i];
        if (s->kind != VT_SPAN_CELLS)
            continue;
        size_t first = (s->start - s->base) / 1024, words = (s->end - s->base) / 1024 + 1 - first;
        put(&(struct dump_part){DUMP_BITS, i, first, 16 * words}, sizeof(struct dump_part));
        put(s->bits[VT_BITS_START] + first, 8 * words);
        put(s->bits[VT_BITS_DEAD] + first, 8 * words);
    }
}

static bool is_zero(const uint64_t *words, size_t count) {
    while (count && !words[count - 1])
        count--;
    return !count;
}

static void put_memory(struct vt_scan *scan, uintptr_t start, uintptr_t end) {
    static uint64_t page[4096 / 8], entries[512];
    uintptr_t known = 0; /* where `entries` begin */
    for (uintptr_t at = start, next; at < end && written < most; at = next) {
        next = (at & ~(PAGE - 1)) + PAGE;
        next = next < end ? next : end;
        if (!known || at / PAGE - known / PAGE >= 512) {
            known = at;
            if (pread(pagemap, entries, sizeof entries, (off_t)(at / PAGE * 8)) <= 0)
                memset(entries, 0xff, sizeof entries);
        }
        if (ABSENT(entries[at / PAGE - known / PAGE]) || !vt_scan_read(scan, page, at, next - at))
            continue;
        bool zero = is_zero(page, (next - at) / 8);
        put_part(DUMP_MEMORY, at, next - at, page, zero ? 0 : next - at);
    }
}

static void dump(struct vt_scan *scan, const uintptr_t *registers, uint32_t count) {
    const char *limit = getenv("SCAN_DUMP_MOST");
    if (limit)
        most = strtoull(limit, NULL, 10) << 20;
    put_part(DUMP_SCAN, 0, 0, scan, sizeof *scan);
    put_part(DUMP_REGISTERS, 0, 0, registers, count * sizeof *registers);
    put_part(DUMP_TARGETS, 0, 0, scan->targets, scan->target_count * sizeof *scan->targets);
    put_part(DUMP_SPANS, 0, 0, scan->spans, scan->span_count * sizeof *scan->spans);
    vt_context_each(put_context, NULL);
    vt_pool_streams_each(put_stream, NULL);
    vt_live_each(put_live, NULL);
    put_maps();
    dl_iterate_phdr(put_tls, NULL);
    put_bits(scan);
    pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    for (int large = 0; large < 2; large++)
        for (uint32_t i = 0; i < scan->span_count; i++) {
            const struct vt_span *s = &scan->spans[i];
            if ((s->kind == VT_SPAN_PLAIN && s->end - s->start > LARGE) == large)
                put_memory(scan, s->start, s->end);
        }
    close(pagemap);
    put_part(DUMP_END, 0, 0, NULL, 0);
    write_waiting();
}

bool __wrap_vt_scan_flood(struct vt_scan *scan, const uintptr_t *registers, uint32_t count) {
    const char *path = getenv("SCAN_DUMP");
    fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return __real_vt_scan_flood(scan, registers, count);
    dump(scan, registers, count);
    close(fd);
    bool done = __real_vt_scan_flood(scan, registers, count);
    uint32_t reached = 0;
    for (uint32_t i = 0; i < scan->target_count; i++)
        reached += scan->targets[i].reached;
    fprintf(stderr, "scan: %u of %u reached, %u threads, %s; %llu bytes dumped%s\n", reached,
            scan->target_count, scan->thread_count, scan->stop ? scan->stop : "whole",
            (unsigned long long)written, written < most ? "" : ", cut");
    return done;
}
