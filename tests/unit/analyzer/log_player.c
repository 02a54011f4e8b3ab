/* SPDX-License-Identifier: MIT */
/*
 * Plays a log (see log_player.h). Included by the tests that use it, after log_maker.c.
 */
#include "log_player.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

uint32_t player_chance(uint32_t *state, uint32_t below) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

static void find_rows(struct player *p, struct player_chunk *c) {
    struct vt_short_records records;
    uint8_t *record = vt_alloc(VT_RECORD_MAX_BYTES, 1);
    uint32_t room = 0;
    vt_short_records_start(&records, c->bytes, VT_CHUNK_BYTES);
    while (vt_short_records_next(&records, record)) {
        uint64_t word[2];
        memcpy(word, record, sizeof word);
        bool event = vt_word_type(word[0]) < 0x80;
        struct vt_rec_snapshot snapshot;
        memcpy(&snapshot, record, sizeof snapshot);
        *VT_ADD(c->rows, c->count, room) =
            (struct player_row){records.offset, event ? vt_when_ticks(word[1]) : 0,
                                vt_word_type(word[0]) == VT_REC_SNAPSHOT ? snapshot.ticks : 0};
        if (event && vt_when_ticks(word[1]) > p->last)
            p->last = vt_when_ticks(word[1]);
    }
    free(record);
}

void player_start(struct player *p, const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && !fstat(fd, &st));
    *p = (struct player){.count = (uint32_t)((size_t)st.st_size / VT_CHUNK_BYTES)};
    p->length = (size_t)p->count * VT_CHUNK_BYTES; /* a part of a chunk is left out */
    p->bytes = vt_alloc(p->length, 1);
    p->now = vt_alloc(p->length, 1);
    assert_int_equal(vt_file_read_at(fd, p->bytes, p->length, 0), p->length);
    close(fd);
    p->chunks = vt_alloc(p->count, sizeof *p->chunks);
    p->places = vt_alloc(p->count, sizeof *p->places);
    p->compacted = vt_alloc(p->length, 1);
    struct vt_log_header *head = (struct vt_log_header *)p->bytes;
    head->chunks = head->placed = p->count;
    VT_SCOPED_MAP tids = {0};
    for (uint32_t i = p->count - 1; i > 0; i--) {
        struct vt_chunk_header *chunk =
            (struct vt_chunk_header *)(p->bytes + (size_t)i * VT_CHUNK_BYTES);
        p->chunks[i].bytes = (uint8_t *)chunk;
        p->chunks[i].tid = chunk->tid;
        if (chunk->magic != VT_CHUNK_MAGIC)
            continue;
        find_rows(p, &p->chunks[i]);
        if (!vt_map_add_key(&tids, chunk->tid)) /* not the thread's last one */
            chunk->finished = 1;
    }
}

/* Writes a chunk up to its last event that is not later than `until`, and all before it. */
static void write_chunk(struct player *p, uint32_t number, uint64_t until) {
    struct player_chunk *c = &p->chunks[number];
    uint8_t *to = p->now + (size_t)number * VT_CHUNK_BYTES;
    for (uint32_t i = c->have; i < c->count; i++)
        if (c->rows[i].ticks && c->rows[i].ticks <= until)
            c->have = i + 1;
    /* and data before the next event, which others may need: once the thread has reached it */
    bool before = false, done = true;
    for (uint32_t i = 1; i < number; i++)
        if (p->chunks[i].rows && p->chunks[i].tid == c->tid) {
            before = true;
            done &= p->chunks[i].have == p->chunks[i].count;
        }
    bool reached = c->have || (before && done);
    while (reached && c->have < c->count && !c->rows[c->have].ticks)
        c->have++;
    c->next = UINT64_MAX;
    for (uint32_t i = c->have; i < c->count; i++) {
        if (c->rows[i].ticks && c->rows[i].ticks < c->next)
            c->next = c->rows[i].ticks;
        if (c->rows[i].snapshot && c->rows[i].snapshot < c->next)
            c->next = c->rows[i].snapshot;
    }
    if (!c->have)
        return;
    memcpy(to, c->bytes, c->rows[c->have - 1].end);
    struct vt_chunk_header *head = (struct vt_chunk_header *)to;
    head->finished &= c->have == c->count;
    head->entered_at = 0;
}

/* This process has written the log. */
static void name_process(struct vt_log_header *head) {
    char state;
    head->pid = (uint32_t)getpid();
    head->process_start = vt_file_process_started(head->pid, &state);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    assert_true(vt_file_read_at(fd, head->boot_id, 36, 0) == 36);
    close(fd);
}

void player_end(struct player *p) {
    struct vt_log_header *head = (struct vt_log_header *)p->now;
    memcpy(p->now, p->bytes, p->length);
    name_process(head);
    if (head->exit_kind == VT_EXIT_NONE)
        head->exit_kind = VT_EXIT_SIGNALED;
    for (uint32_t i = 1; i < p->count; i++)
        p->chunks[i].have = p->chunks[i].count;
}

void player_write_until(struct player *p, uint64_t until, uint32_t *seed) {
    struct vt_log_header *head = (struct vt_log_header *)p->now;
    uint64_t announced = 0;
    memcpy(p->now, p->bytes, VT_CHUNK_BYTES);
    head->exit_kind = VT_EXIT_NONE;
    head->exit_ticks = 0;
    name_process(head);
    if (head->program_end > until)
        head->program_end = VT_PROGRAM_RUNS;
    for (uint32_t i = 1; i < p->count; i++) {
        if (!p->chunks[i].rows) {
            memcpy(p->now + (size_t)i * VT_CHUNK_BYTES, p->chunks[i].bytes, VT_CHUNK_BYTES);
            continue;
        }
        write_chunk(p, i, until + player_chance(seed, 2) * (p->last / 50));
        if (!announced || p->chunks[i].next < announced)
            announced = p->chunks[i].next;
    }
    if (announced == UINT64_MAX || (p->hides && player_chance(seed, 2)))
        announced = 0;
    if (head->slots) {
        struct vt_log_slots *slots =
            (struct vt_log_slots *)(p->now + (size_t)head->slots * VT_CHUNK_BYTES);
        slots->slot[0].entered_at = announced;
    } else {
        for (uint32_t i = 1; i < p->count; i++)
            if (p->chunks[i].have)
                ((struct vt_chunk_header *)(p->now + (size_t)i * VT_CHUNK_BYTES))->entered_at =
                    announced;
    }
}

/* --- compaction --- */

static uint32_t free_place(struct player *p) {
    uint32_t place = 1;
    while (place < p->count && !p->places[place].is_free)
        place++;
    if (place < p->count) {
        p->places[place].is_free = false;
        p->places[place].generation++;
        return place;
    }
    /* the file is extended; permanent contents stay in place */
    for (place = 1; p->places[place].taken || !p->chunks[place].rows; place++)
        assert_true(place + 1 < p->count);
    p->places[place].taken = true;
    return place;
}

void player_compact(struct player *p) {
    struct vt_log_header *head = (struct vt_log_header *)p->compacted;
    memcpy(p->compacted, p->now, VT_CHUNK_BYTES);
    head->version = VT_LOG_VERSION;
    head->summary = p->summary;
    p->compacted_length = VT_CHUNK_BYTES;
    for (uint32_t i = 1; i < p->count; i++) {
        struct player_chunk *c = &p->chunks[i];
        if (c->rows && !c->have)
            continue;
        if (!c->place)
            c->place = c->rows ? free_place(p) : i;
        if (!c->given_back) {
            uint8_t *to = p->compacted + (size_t)c->place * VT_CHUNK_BYTES;
            memcpy(to, p->now + (size_t)i * VT_CHUNK_BYTES, VT_CHUNK_BYTES);
            if (c->rows) {
                struct vt_chunk_header *at = (struct vt_chunk_header *)to;
                at->number = c->place;
                at->generation = p->places[c->place].generation;
                at->taken = i;
                at->finished = at->finished ? at->generation + 1 : 0;
            }
        }
        if (p->compacted_length < (size_t)(c->place + 1) * VT_CHUNK_BYTES)
            p->compacted_length = (size_t)(c->place + 1) * VT_CHUNK_BYTES;
    }
    head->chunks = head->placed = p->compacted_length / VT_CHUNK_BYTES;
}

uint32_t player_give_back(struct player *p, const struct vt_log *log) {
    uint32_t count = 0, generation;
    for (uint32_t i = 1; i < p->count; i++) {
        struct player_chunk *c = &p->chunks[i];
        if (!c->place || c->given_back || c->place >= vt_log_chunks(log) ||
            !vt_log_is_covered(log, c->place, &generation) ||
            generation != p->places[c->place].generation)
            continue;
        c->given_back = true;
        p->places[c->place].is_free = true;
        memset(p->compacted + (size_t)c->place * VT_CHUNK_BYTES + sizeof(struct vt_chunk_header), 0,
               VT_CHUNK_BYTES - sizeof(struct vt_chunk_header));
        count++;
    }
    return count;
}

void player_save(const char *path, const uint8_t *bytes, size_t length) {
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, length, 0), length);
    assert_int_equal(ftruncate(fd, (off_t)length), 0);
    close(fd);
}

void player_free(struct player *p) {
    for (uint32_t i = 0; i < p->count; i++)
        free(p->chunks[i].rows);
    free(p->chunks);
    free(p->places);
    free(p->compacted);
    free(p->bytes);
    free(p->now);
}

void player_expect_same(const char *expected, const char *found, const char *path) {
    const char *a = expected, *b = found;
    while (*a && *a == *b)
        a++, b++;
    if (*a || *b)
        fail_msg("%s: expected, from %zu on: %.300s\nfound: %.300s", path, (size_t)(a - expected),
                 a - (a - expected < 80 ? a - expected : 80),
                 b - (b - found < 80 ? b - found : 80));
}

/* --- a log of our own --- */

static void put_phase(struct vt_maker *m, unsigned thread, unsigned what, uint64_t range,
                      uint32_t name) {
    struct vt_rec_phase r = {.word = vt_word(VT_REC_PHASE, what, 0, 0),
                             .when = vt_when(VT_DEVICE_UNKNOWN, ++m->ticks),
                             .began = m->ticks,
                             .range = range,
                             .name = name};
    maker_put(m, thread, &r, sizeof r);
}

void player_make(const char *path) {
    enum { ROUNDS = 4000, THREADS = 3 };
    struct vt_maker m;
    uint32_t seed = 1, stacks = 0, snapshots = 0;
    uint64_t live[THREADS][8] = {{0}};
    maker_start(&m);
    maker_slot(&m, 0);
    maker_device(&m, 0, 0, (uint64_t)24 << 30, "a device");
    maker_module(&m, 0, 1, 0x1000, 0x900000, 0, "ab", 2, "/opt/program");
    for (uint32_t i = 0; i < ROUNDS; i++) {
        unsigned thread = player_chance(&seed, THREADS);
        if (i == 10)
            maker_name(&m, 0, 1, "epoch");
        if (i % 100 == 20)
            put_phase(&m, 0, VT_PHASE_PUSH, i / 100 + 1, 1);
        uint64_t *slot = &live[thread][player_chance(&seed, 8)];
        if (*slot)
            maker_free_at(&m, thread, 0, VT_KIND_DEVICE, *slot);
        *slot = 0x100000 + (uint64_t)i * 0x1000;
        uint64_t frames[2] = {0x2001 + player_chance(&seed, 20) * 0x100, 0x3001};
        maker_stack(&m, thread, ++stacks, frames, 2);
        maker_alloc(&m, thread, 0, VT_KIND_DEVICE, 2, 0, stacks, *slot,
                    512 * (1 + player_chance(&seed, 9)), 1);
        if (i % 7 == 0) { /* a leak */
            uint64_t frame = 0x7777;
            if (i == 0)
                maker_stack(&m, 0, 100000, &frame, 1);
            maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 0, 100000, 0x80000000ull + i * 0x10000ull,
                        4096, 1);
        }
        if (i % 500 == 499) {
            uint32_t root = maker_step(
                &m, 0, (struct maker_step){0, VT_STEP_MODULE, "__main__", "/p.py", 0, 0, 0});
            uint32_t name =
                maker_step(&m, 0, (struct maker_step){root, VT_STEP_NAME, "kept", "list", 0, 0, 0});
            ++snapshots;
            for (uint32_t k = 0; k <= i; k += 7)
                maker_owned(&m, 0, snapshots, 0x80000000ull + k * 0x10000ull, VT_SPACE_DEVICE, name,
                            0);
            maker_snapshot(&m, 0, snapshots, VT_SNAPSHOT_GROWTH, ++m.ticks, 0);
        }
        if (i % 100 == 99 && i / 100)
            put_phase(&m, 0, VT_PHASE_POP, i / 100 + 1, 1);
    }
    assert_int_equal(maker_save(&m, path), 0);
    maker_free(&m);
}
