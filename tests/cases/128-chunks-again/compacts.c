/* SPDX-License-Identifier: MIT */
/*
 * compacts LOG STATE [once]: a compactor that knows nothing but what "records" records. It takes in what chunks hold that are full,
 * notes that in STATE, and gives them back, as log_chunk.h says, until it is killed. `once`: takes in the whole log, whose process
 * is gone, and prints what it found.
 *
 * It exits with 1 when a thread's records are not in their order, or something is there twice.
 */
#define _GNU_SOURCE
#include "vramtrace/log_format.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SEE(p)        __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define PUBLISH(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)
#define FAIL(...)     (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

enum { THREADS = 64, CHUNKS = 64, BYTES = VT_CHUNK_BYTES };

/* LOG.summary, as it were. */
static struct state {
    uint64_t generation, allocs, frees;
    uint64_t
        gaps; /* allocations that are not the next ones, and frees that follow no allocation: events were dropped */
    uint64_t given; /* chunks */
    struct thread {
        uint32_t tid;
        uint64_t last; /* size of its last allocation */
        bool freed;    /* ... which was freed */
    } threads[THREADS];
    uint64_t covered[CHUNKS]; /* generation + 1 of what it has of a chunk; 0: nothing */
} state;

/* What is in a chunk. */
struct found {
    uint64_t number, generation;
    uint32_t tid;
    uint64_t first, last, allocs, frees, gaps;
    bool frees_first, frees_last; /* its first record is a free; so is its last */
};

static struct vt_log_header *header;
static const char *state_path;

static void *chunk(uint64_t number) {
    return (char *)header + number * BYTES;
}

static void read_state(void) {
    FILE *file = fopen(state_path, "r");
    if (file && fread(&state, sizeof state, 1, file) != 1)
        FAIL("%s is cut off", state_path);
    if (file)
        fclose(file);
    uint64_t named = SEE(&header->summary);
    if (state.generation != named && state.generation != named + 1)
        FAIL("summary %ju, but the log needs %ju", (uintmax_t)state.generation, (uintmax_t)named);
}

static void write_state(void) {
    char fresh[200];
    snprintf(fresh, sizeof fresh, "%s.tmp", state_path);
    FILE *file = fopen(fresh, "w");
    if (!file || fwrite(&state, sizeof state, 1, file) != 1 || fclose(file) != 0 ||
        rename(fresh, state_path) != 0)
        FAIL("%s cannot be written", state_path);
}

/* Reads a copy of a chunk. */
static void take_records(const uint8_t *bytes, struct found *f) {
    uint64_t word, size = 0;
    uint32_t at = sizeof(struct vt_chunk_header), length;
    for (; at + 8 <= BYTES; at += length) {
        memcpy(&word, bytes + at, sizeof word);
        unsigned type = vt_word_type(word);
        if (type == 0)
            break;
        length = vt_record_length(word);
        if (length < 8 || length % 8 || at + length > BYTES)
            FAIL("chunk %ju, offset %u: word %#jx", (uintmax_t)f->number, at, (uintmax_t)word);
        if (type == VT_REC_THREAD) {
            if (f->tid)
                FAIL("chunk %ju, offset %u: another thread", (uintmax_t)f->number, at);
            memcpy(&f->tid, bytes + at + offsetof(struct vt_rec_thread, tid), sizeof f->tid);
        }
        bool is_short = (type & 0xf0) == VT_REC_SHORT_ALLOC;
        if (type == VT_REC_ALLOC || is_short) {
            memcpy(&word, bytes + at + (is_short ? 8 : offsetof(struct vt_rec_alloc, size_context)),
                   sizeof word);
            size = is_short ? word >> VT_SHORT_ADDRESS : word & VT_SIZE_MASK;
            if (f->allocs && size <= f->last)
                FAIL("chunk %ju, offset %u: %ju after %ju", (uintmax_t)f->number, at,
                     (uintmax_t)size, (uintmax_t)f->last);
            f->gaps += f->allocs && size != f->last + 1;
            if (!f->allocs++)
                f->first = size;
            f->last = size;
            f->frees_last = false;
        } else if (type == VT_REC_FREE || (type & 0xf0) == VT_REC_SHORT_FREE) {
            f->gaps += f->frees_last;
            f->frees_first |= !f->frees && !f->allocs;
            f->frees++;
            f->frees_last = true;
        }
    }
    for (; at < BYTES; at++)
        if (bytes[at] &&
            f->generation + 1 == ((const struct vt_chunk_header *)(const void *)bytes)->finished)
            FAIL("chunk %ju, offset %u: behind the records", (uintmax_t)f->number, at);
}

/* Adds the chunks that are full, or all, and have something that the state has not. */
static size_t look(struct found *list, size_t count, bool all) {
    static uint8_t bytes[BYTES];
    for (uint64_t number = 1; number < SEE(&header->placed); number++) {
        struct vt_chunk_header *c = chunk(number), head = *c;
        if (number >= CHUNKS)
            FAIL("chunk %ju", (uintmax_t)number);
        if (head.magic != VT_CHUNK_MAGIC || state.covered[number] == head.generation + 1 ||
            !(all || vt_chunk_is_finished(&head)))
            continue;
        bool known = false;
        for (size_t i = 0; i < count; i++)
            known |= list[i].number == number && list[i].generation == head.generation;
        if (known)
            continue;
        memcpy(bytes, c, BYTES);
        if (SEE(&c->generation) != head.generation)
            FAIL("chunk %ju was taken again, and not given back", (uintmax_t)number);
        list[count] = (struct found){.number = number, .generation = head.generation};
        take_records(bytes, &list[count]);
        count++;
    }
    return count;
}

static int by_thread(const void *a, const void *b) {
    const struct found *x = a, *y = b;
    uint64_t first[2] = {x->allocs ? x->first : UINT64_MAX, y->allocs ? y->first : UINT64_MAX};
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return first[0] < first[1] ? -1 : first[0] > first[1];
}

static struct thread *thread_of(uint32_t tid) {
    for (size_t i = 0; i < THREADS; i++)
        if (!state.threads[i].tid || state.threads[i].tid == tid) {
            state.threads[i].tid = tid;
            return &state.threads[i];
        }
    FAIL("too many threads");
    return NULL;
}

static void apply(const struct found *f) {
    struct thread *t = thread_of(f->tid);
    if (f->allocs && f->first <= t->last)
        FAIL("thread %u: chunk %ju of generation %ju begins with %ju, after %ju", f->tid,
             (uintmax_t)f->number, (uintmax_t)f->generation, (uintmax_t)f->first,
             (uintmax_t)t->last);
    state.gaps += f->gaps + (f->frees_first && t->freed) + (f->allocs && f->first != t->last + 1);
    if (f->allocs)
        t->last = f->last;
    if (f->allocs || f->frees)
        t->freed = f->frees_last;
    state.allocs += f->allocs;
    state.frees += f->frees;
    state.covered[f->number] = f->generation + 1;
}

/* What a thread wrote before it had filled a chunk was seen in the second look. */
static size_t take_full(bool all) {
    static struct found list[2 * CHUNKS];
    size_t first = look(list, 0, all), count = look(list, first, all), taken = 0;
    uint64_t seen[THREADS] = {0};
    for (size_t i = 0; i < first; i++) {
        uint64_t *last = &seen[thread_of(list[i].tid) - state.threads];
        *last = list[i].first > *last ? list[i].first : *last;
    }
    qsort(list, count, sizeof *list, by_thread);
    for (size_t i = 0; i < count; i++)
        if (list[i].first <= seen[thread_of(list[i].tid) - state.threads]) {
            apply(&list[i]);
            taken++;
        }
    return taken;
}

static bool is_zero(const struct vt_chunk_header *c) {
    const uint64_t *word = (const uint64_t *)(c + 1);
    for (size_t i = 0; i < (BYTES - sizeof *c) / 8; i++)
        if (word[i])
            return false;
    return true;
}

static void give_back(uint64_t number, uint64_t generation) {
    struct vt_chunk_header *c = chunk(number);
    bool zero = is_zero(c); /* before the generation is looked at */
    if (SEE(&c->generation) != generation)
        return;
    if (!zero)
        memset(c + 1, 0, BYTES - sizeof *c);
    for (size_t i = 0; i < VT_FREE_CHUNKS; i++)
        if (!SEE(&header->free_chunks[i])) {
            PUBLISH(&header->free_chunks[i], vt_free_chunk(generation, (uint32_t)number));
            return;
        }
}

/* All that is covered; chunks that are in header.free_chunks already get there once more if `again`. */
static void give_all(bool again) {
    for (uint64_t number = 1; number < CHUNKS; number++) {
        if (!state.covered[number])
            continue;
        bool there = false;
        for (size_t i = 0; i < VT_FREE_CHUNKS; i++)
            there |= SEE(&header->free_chunks[i]) ==
                     vt_free_chunk(state.covered[number] - 1, (uint32_t)number);
        if (again || !there)
            give_back(number, state.covered[number] - 1);
    }
}

int main(int argc, char **argv) {
    struct stat st;
    int fd = argc > 2 ? open(argv[1], O_RDWR) : -1;
    bool once = argc > 3;
    state_path = argc > 2 ? argv[2] : "";
    if (fd < 0 || fstat(fd, &st) != 0)
        FAIL("usage: compacts LOG STATE [once]");
    header = mmap(NULL, (size_t)CHUNKS * BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (header == MAP_FAILED)
        FAIL("the log cannot be mapped");
    read_state();
    if (once) {
        take_full(true);
        printf("%ju %ju %ju %ju\n", (uintmax_t)state.allocs, (uintmax_t)state.frees,
               (uintmax_t)state.given, (uintmax_t)state.gaps);
        return 0;
    }
    PUBLISH(&header->summary, state.generation);
    give_all(true);
    for (;;) {
        size_t taken = take_full(false);
        if (!taken) {
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
            continue;
        }
        state.given += taken;
        state.generation++;
        write_state();
        PUBLISH(&header->summary, state.generation);
        give_all(false);
    }
}
