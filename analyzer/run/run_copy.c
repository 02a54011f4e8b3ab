/* SPDX-License-Identifier: MIT */
/*
 * Copies what changed in a log (see run_copy.h), while its process writes to it.
 *
 * A reader of the copy takes the time of its slots for the one up to which the log has all: log_reader.c. So they are copied
 * first, and one of them gets the time before.
 */
#define _GNU_SOURCE
#include "run_copy.h"

#include "log/log.h"
#include "vramtrace/ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_exactly(int fd, void *to, size_t size, uint64_t offset) {
    ssize_t got = vt_file_read_at(fd, to, size, offset);
    return got < 0 ? (int)got : got < (ssize_t)size ? -EIO : 0;
}

/* Adds the rest of a file from `offset` on; one that is not there has nothing. */
static int read_rest(const char *path, uint64_t offset, struct vt_string *to) {
    char block[16384];
    VT_SCOPED_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    ssize_t got;
    while ((got = vt_file_read_at(fd, block, sizeof block, offset + to->length)) > 0)
        vt_string_add_bytes(to, block, (size_t)got);
    return (int)got;
}

/* Again, if a thread took the chunk meanwhile. */
static int read_chunk(int fd, uint32_t number, uint8_t *bytes) {
    const uint64_t at = (uint64_t)number * VT_CHUNK_BYTES;
    struct vt_chunk_header before, after;
    VT_SCOPED_STRING why = {0};
    uint32_t got;
    int error;
    do {
        error = vt_log_copy_chunk(fd, "", number, bytes, &got, &why);
        if (!error)
            error = got < VT_CHUNK_BYTES ? -EIO : read_exactly(fd, &after, sizeof after, at);
        memcpy(&before, bytes, sizeof before);
    } while (!error && before.generation != after.generation);
    return error;
}

static uint64_t hash_of(const uint8_t *chunk) {
    return vt_hash_bytes(0, chunk, VT_CHUNK_BYTES) | 1;
}

static struct vt_run_piece *add_piece(struct vt_run_take *take, uint32_t number, uint8_t *bytes) {
    struct vt_run_piece *piece = VT_ADD(take->pieces, take->count, take->room);
    *piece = (struct vt_run_piece){.number = number, .bytes = bytes};
    return piece;
}

/* From the newest chunk of slots back. */
static int take_slots(int fd, struct vt_run_take *take, uint64_t number) {
    int error = 0;
    while (!error && number && number < take->bytes / VT_CHUNK_BYTES) {
        struct vt_log_slots *slots = vt_alloc(1, sizeof *slots);
        add_piece(take, (uint32_t)number, (uint8_t *)slots);
        error = read_exactly(fd, slots, sizeof *slots, number * VT_CHUNK_BYTES);
        number = slots->before < number ? slots->before : 0;
    }
    take->slots = take->count;
    return error;
}

static uint64_t ticks_now(const struct vt_log_header *h) {
    uint64_t now = h->clock == VT_CLOCK_TSC ? vt_ticks() : vt_now_ns();
    return now > h->start_ticks ? (now - h->start_ticks) & VT_TICKS_MASK : 1;
}

/* Says that the copy has nothing from then on for sure. */
static void announce(struct vt_run_take *take, uint64_t ticks) {
    struct vt_log_slots *slots = take->slots ? (void *)take->pieces[0].bytes : NULL;
    struct vt_log_slot *slot = slots ? &slots->slot[VT_SLOTS - 1] : NULL;
    if (slot && (!slot->entered_at || slot->entered_at > ticks))
        slot->entered_at = ticks;
}

/* A chunk that has not even a number is left out where the disk has nothing of it. */
static int take_chunk(int fd, struct vt_run_take *take, uint32_t number) {
    struct {
        struct vt_chunk_header head;
        uint64_t first;
    } begin;
    struct vt_run_copy *copy = take->of;
    while (copy->count <= number)
        *VT_ADD(copy->chunks, copy->count, copy->room) = (struct vt_run_copied){0};
    struct vt_run_copied had = take->anew ? (struct vt_run_copied){0} : copy->chunks[number];
    int error = read_exactly(fd, &begin, sizeof begin, (uint64_t)number * VT_CHUNK_BYTES);
    if (error || begin.head.magic == VT_SLOTS_MAGIC ||
        (!begin.first && !begin.head.number && !had.hash) ||
        (had.finished && vt_chunk_is_finished(&begin.head) && begin.head.finished == had.finished))
        return error;
    uint8_t *bytes = vt_alloc(1, VT_CHUNK_BYTES);
    error = read_chunk(fd, number, bytes);
    memcpy(&begin.head, bytes, sizeof begin.head);
    struct vt_run_copied now = {.hash = hash_of(bytes),
                                .finished =
                                    vt_chunk_is_finished(&begin.head) ? begin.head.finished : 0};
    if (!error && now.hash != had.hash)
        add_piece(take, number, bytes)->copied = now;
    else
        free(bytes);
    return error;
}

static int take_log(int fd, struct vt_run_take *take) {
    struct stat st;
    struct vt_log_header *h = (void *)take->header;
    uint64_t generation = 0, ticks = 0;
    int error = read_exactly(fd, h, VT_CHUNK_BYTES, 0);
    if (!error && !take->last) {
        ticks = ticks_now(h);
        vt_log_await_stores();
        error = read_exactly(fd, h, VT_CHUNK_BYTES, 0);
    }
    if (!error && (memcmp(h->magic, VT_LOG_MAGIC, sizeof h->magic) || fstat(fd, &st)))
        error = -EINVAL;
    if (error)
        return error;
    VT_SCOPED char *summary = vt_log_file_path(take->of->log, VT_PACK_SUMMARY);
    take->bytes = (uint64_t)st.st_size / VT_CHUNK_BYTES * VT_CHUNK_BYTES;
    take->generation = h->summary;
    take->anew = take->generation != take->of->summary;
    error = take_slots(fd, take, h->slots);
    if (ticks)
        announce(take, ticks);
    if (!error && take->anew)
        error = read_rest(summary, 0, &take->summary);
    for (uint32_t i = 1; !error && i < take->bytes / VT_CHUNK_BYTES; i++)
        error = take_chunk(fd, take, i);
    if (!error)
        error = read_exactly(fd, &generation, sizeof generation,
                             offsetof(struct vt_log_header, summary));
    return error || generation == take->generation ? error : -EAGAIN;
}

int vt_run_take_make(struct vt_run_copy *copy, bool last, struct vt_run_take *take) {
    *take = (struct vt_run_take){.of = copy, .last = last, .header = vt_alloc(1, VT_CHUNK_BYTES)};
    VT_SCOPED_FD fd = open(copy->log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    VT_SCOPED char *samples = vt_log_file_path(copy->log, VT_PACK_NVML);
    int error = fd < 0 ? -errno : take_log(fd, take);
    if (!error)
        error = read_rest(samples, copy->samples, &take->samples);
    take->idle = !last && !take->anew && take->count == take->slots && !take->samples.length &&
                 copy->header == hash_of(take->header);
    return error;
}

void vt_run_take_done(const struct vt_run_take *take, bool written) {
    struct vt_run_copy *copy = take->of;
    if (take->anew || !written)
        memset(copy->chunks, 0, copy->count * sizeof *copy->chunks);
    copy->samples = written ? copy->samples + take->samples.length : 0;
    copy->header = written ? hash_of(take->header) : 0;
    copy->summary = written ? take->generation : copy->summary;
    for (size_t i = take->slots; written && i < take->count; i++)
        copy->chunks[take->pieces[i].number] = take->pieces[i].copied;
}

void vt_run_take_free(struct vt_run_take *take) {
    for (size_t i = 0; i < take->count; i++)
        free(take->pieces[i].bytes);
    free(take->pieces);
    free(take->header);
    vt_string_free(&take->summary);
    vt_string_free(&take->samples);
}
