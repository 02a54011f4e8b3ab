/* SPDX-License-Identifier: MIT */
/*
 * Makes logs for tests of the analyzer (see log_maker.h). Included by the tests that use it.
 */
#include "log_maker.h"

#include "vramtrace/version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char maker_path[64];

int maker_make_folder(void **state) {
    static char folder[] = "/tmp/vt_test_XXXXXX";
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(maker_path, sizeof maker_path, "%s/log.vtl", folder);
    return 0;
}

int maker_remove_folder(void **state) {
    (void)state;
    unlink(maker_path);
    *strrchr(maker_path, '/') = 0;
    return rmdir(maker_path);
}

static void reach(struct vt_maker *maker, size_t length) {
    if (length > maker->room) {
        size_t room = maker->room ? maker->room : 4 * VT_CHUNK_BYTES;
        while (room < length)
            room *= 2;
        maker->bytes = realloc(maker->bytes, room);
        if (!maker->bytes)
            abort();
        memset(maker->bytes + maker->room, 0, room - maker->room);
        maker->room = room;
    }
    if (length > maker->length)
        maker->length = length;
}

void maker_start(struct vt_maker *maker) {
    static const char command[] = "program\0--flag";
    *maker = (struct vt_maker){0};
    reach(maker, VT_CHUNK_BYTES);
    struct vt_log_header *h = maker_header(maker);
    memcpy(h->magic, VT_LOG_MAGIC, 8);
    h->version = VT_LOG_VERSION;
    h->version_min = VT_LOG_VERSION;
    h->header_bytes = sizeof *h;
    h->chunk_bytes = VT_CHUNK_BYTES;
    h->clock = VT_CLOCK_MONOTONIC;
    h->pid = 4711;
    h->start_realtime_ns = 1763715600ull * 1000000000;
    h->start_monotonic_ns = h->start_ticks = 1000000000;
    h->chunks = h->placed = 1;
    h->exit_kind = VT_EXIT_EXITED;
    h->rank = -1;
    strcpy(h->host, "host");
    strcpy(h->tracer, VT_VERSION);
    strcpy(h->cwd, "/tmp");
    memcpy(h->command, command, sizeof command);
    h->command_bytes = sizeof command;
}

void maker_free(struct vt_maker *maker) {
    free(maker->bytes);
    *maker = (struct vt_maker){0};
}

struct vt_log_header *maker_header(struct vt_maker *maker) {
    return (struct vt_log_header *)maker->bytes;
}

void maker_unended(struct vt_maker *maker) {
    maker_header(maker)->exit_kind = VT_EXIT_NONE;
}

int maker_save(struct vt_maker *maker, const char *path) {
    FILE *out = fopen(path, "w");
    if (!out)
        return -errno;
    size_t written = fwrite(maker->bytes, 1, maker->length, out);
    return fclose(out) || written != maker->length ? -EIO : 0;
}

static void take_chunk(struct vt_maker *maker, unsigned thread) {
    uint32_t number = (uint32_t)maker_header(maker)->chunks++;
    maker_header(maker)->placed++;
    struct vt_chunk_header head = {.magic = VT_CHUNK_MAGIC, .tid = 100 + thread, .number = number};
    reach(maker, (size_t)(number + 1) * VT_CHUNK_BYTES);
    memcpy(maker->bytes + (size_t)number * VT_CHUNK_BYTES, &head, sizeof head);
    maker->threads[thread].chunk = number;
    maker->threads[thread].used = sizeof head;
}

size_t maker_slot(struct vt_maker *maker, unsigned thread) {
    uint64_t number = maker_header(maker)->chunks++;
    size_t at = (size_t)number * VT_CHUNK_BYTES;
    maker_header(maker)->placed++;
    reach(maker, at + VT_CHUNK_BYTES);
    struct vt_log_slots *slots = (struct vt_log_slots *)(maker->bytes + at);
    slots->magic = VT_SLOTS_MAGIC;
    slots->taken = 1;
    slots->number = number;
    slots->before = maker_header(maker)->slots;
    slots->slot[0].tid = 100 + thread;
    maker_header(maker)->slots = number;
    return at + offsetof(struct vt_log_slots, slot);
}

size_t maker_put(struct vt_maker *maker, unsigned thread, const void *record, uint32_t length) {
    if (!maker->threads[thread].chunk || maker->threads[thread].used + length > VT_CHUNK_BYTES)
        take_chunk(maker, thread);
    size_t offset =
        (size_t)maker->threads[thread].chunk * VT_CHUNK_BYTES + maker->threads[thread].used;
    memcpy(maker->bytes + offset, record, length);
    maker->threads[thread].used += length;
    return offset;
}

static uint64_t when(struct vt_maker *maker, unsigned device, uint64_t ticks) {
    maker->ticks = ticks ? ticks : maker->ticks + 1;
    struct vt_log_header *h = maker_header(maker);
    if (h->exit_ticks < maker->ticks)
        h->exit_ticks = maker->ticks;
    return vt_when(device, maker->ticks);
}

void maker_alloc(struct vt_maker *maker, unsigned thread, uint64_t ticks, unsigned kind,
                 unsigned hook, unsigned device, uint32_t stack, uint64_t address, uint64_t size,
                 unsigned context) {
    struct vt_rec_alloc r = {vt_word(VT_REC_ALLOC, kind, hook, stack), when(maker, device, ticks),
                             address, (size & VT_SIZE_MASK) | (uint64_t)context << 48};
    maker_put(maker, thread, &r, sizeof r);
}

void maker_free_at(struct vt_maker *maker, unsigned thread, uint64_t ticks, unsigned kind,
                   uint64_t address) {
    struct vt_rec_free r = {vt_word(VT_REC_FREE, kind, 7, 0), when(maker, 0, ticks), address};
    maker_put(maker, thread, &r, sizeof r);
}

void maker_fail(struct vt_maker *maker, unsigned thread, uint64_t ticks, unsigned device,
                uint32_t stack, uint64_t size, int result) {
    struct vt_rec_fail r = {vt_word(VT_REC_FAIL, VT_KIND_DEVICE, 2, stack),
                            when(maker, device, ticks), size, result, 0};
    maker_put(maker, thread, &r, sizeof r);
}

void maker_bulk(struct vt_maker *maker, unsigned thread, uint64_t ticks, unsigned context,
                bool teardown) {
    struct vt_rec_bulk r = {vt_word(VT_REC_BULK, 0, 35, 0), when(maker, 0, ticks), context,
                            teardown, 0};
    maker_put(maker, thread, &r, sizeof r);
}

void maker_launches(struct vt_maker *maker, unsigned thread, uint64_t launches) {
    struct vt_rec_object r = {.word = vt_word(VT_REC_OBJECT, VT_OBJECT_LAUNCHES, 137, 0),
                              .when = when(maker, VT_DEVICE_UNKNOWN, 0),
                              .handle = launches,
                              .flags = VT_OBJECT_MAPPED};
    maker_put(maker, thread, &r, sizeof r);
}

void maker_meminfo(struct vt_maker *maker, unsigned thread, uint64_t ticks, unsigned device,
                   uint64_t free_bytes, uint64_t total_bytes) {
    struct vt_rec_meminfo r = {vt_word(VT_REC_MEMINFO, 0, 21, 0), when(maker, device, ticks),
                               free_bytes, total_bytes};
    maker_put(maker, thread, &r, sizeof r);
}

/* A record of variable length: its fixed part, then up to two texts. */
static void put_parts(struct vt_maker *maker, unsigned thread, void *fixed, uint32_t fixed_bytes,
                      unsigned type, const void *a, uint32_t a_bytes, const void *b,
                      uint32_t b_bytes) {
    uint8_t record[VT_RECORD_MAX_BYTES] = {0};
    uint32_t length = (fixed_bytes + a_bytes + b_bytes + 7) & ~7u;
    if (length > sizeof record)
        abort();
    uint64_t word = vt_word(type, 0, 0, length);
    memcpy(fixed, &word, sizeof word);
    memcpy(record, fixed, fixed_bytes);
    if (a_bytes)
        memcpy(record + fixed_bytes, a, a_bytes);
    if (b_bytes)
        memcpy(record + fixed_bytes + a_bytes, b, b_bytes);
    maker_put(maker, thread, record, length);
}

void maker_stack(struct vt_maker *maker, unsigned thread, uint32_t number, const uint64_t *frames,
                 uint16_t count) {
    struct vt_rec_stack r = {0, number, count, 0};
    put_parts(maker, thread, &r, sizeof r, VT_REC_STACK, frames, count * 8u, NULL, 0);
}

void maker_module(struct vt_maker *maker, unsigned thread, uint64_t ticks, uint64_t start,
                  uint64_t end, uint64_t bias, const char *build_id, uint32_t build_id_bytes,
                  const char *path) {
    struct vt_rec_module r = {0, ticks, start, end, bias, build_id_bytes, (uint32_t)strlen(path)};
    put_parts(maker, thread, &r, sizeof r, VT_REC_MODULE, build_id, build_id_bytes, path,
              (uint32_t)strlen(path));
}

void maker_code(struct vt_maker *maker, unsigned thread, uint32_t number, uint32_t first_line,
                const char *name, const char *file) {
    struct vt_rec_code r = {0, number, first_line, (uint32_t)strlen(name), (uint32_t)strlen(file)};
    put_parts(maker, thread, &r, sizeof r, VT_REC_CODE, name, (uint32_t)strlen(name), file,
              (uint32_t)strlen(file));
}

void maker_device(struct vt_maker *maker, unsigned thread, uint32_t ordinal, uint64_t total,
                  const char *name) {
    struct vt_rec_device r = {
        .ordinal = ordinal, .flags = VT_DEVICE_HAS_UUID, .total_bytes = total};
    memcpy(r.uuid, "0123456789abcdef", 16);
    snprintf(r.name, sizeof r.name, "%s", name);
    put_parts(maker, thread, &r, sizeof r, VT_REC_DEVICE, NULL, 0, NULL, 0);
}

void maker_name(struct vt_maker *maker, unsigned thread, uint32_t number, const char *text) {
    struct vt_rec_name r = {0, number, (uint32_t)strlen(text)};
    put_parts(maker, thread, &r, sizeof r, VT_REC_NAME, text, (uint32_t)strlen(text), NULL, 0);
}

uint32_t maker_step(struct vt_maker *maker, unsigned thread, struct maker_step step) {
    const char *name = step.name ? step.name : "", *type = step.type ? step.type : "";
    struct vt_rec_step r = {.number = ++maker->steps,
                            .parent = step.parent,
                            .kind = (uint16_t)step.kind,
                            .flags = (uint16_t)step.flags,
                            .line = step.line,
                            .address = step.address,
                            .name_bytes = (uint32_t)strlen(name),
                            .type_bytes = (uint32_t)strlen(type)};
    put_parts(maker, thread, &r, sizeof r, VT_REC_STEP, name, r.name_bytes, type, r.type_bytes);
    return r.number;
}

void maker_owned(struct vt_maker *maker, unsigned thread, uint32_t snapshot, uint64_t address,
                 unsigned space, uint32_t step, unsigned roles) {
    struct vt_rec_owned r = {0, snapshot, 1};
    struct vt_owned entry = {vt_lost_entry(address, (enum vt_space)space), step, (uint16_t)roles,
                             1};
    put_parts(maker, thread, &r, sizeof r, VT_REC_OWNED, &entry, sizeof entry, NULL, 0);
}

void maker_owned_part(struct vt_maker *maker, unsigned thread, uint32_t snapshot, uint64_t address,
                      unsigned space, uint32_t step, uint32_t units) {
    uint64_t at = vt_lost_entry(address, (enum vt_space)space);
    struct vt_rec_owned r = {0, snapshot, 2};
    struct vt_owned entries[] = {{at, step, 0, 1},
                                 {at, 0, (uint16_t)(units >> 16), (uint16_t)units}};
    put_parts(maker, thread, &r, sizeof r, VT_REC_OWNED, entries, sizeof entries, NULL, 0);
}

void maker_snapshot(struct vt_maker *maker, unsigned thread, uint32_t number, unsigned why,
                    uint64_t ticks, unsigned flags) {
    struct vt_rec_snapshot r = {
        .number = number, .why = why, .ticks = ticks, .ns = 5000000, .flags = flags};
    put_parts(maker, thread, &r, sizeof r, VT_REC_SNAPSHOT, NULL, 0, NULL, 0);
}
