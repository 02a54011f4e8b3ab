/* SPDX-License-Identifier: MIT */
/*
 * Passes over a log's chunks (see log_tables.h): everything except the events goes into the log's tables; for events
 * only the location is noted, in a vt_log_chunk. Over a running log there are many passes, and each reads the new
 * records.
 */
#include "log_tables.h"

#include "chunk_damage.h"
#include "records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A thread, over all of its chunks. If it published something newer than its entered_at, that may be the announced
 * event. */
struct writer {
    uint64_t entered, newest;
    /* 1 + the last stack whose event was not in the stack's chunk; 0: none. Its `ticks` links to the previous one. */
    uint64_t waiting;
};

/* The state of a chunk that was read. */
struct chunk_read {
    uint32_t generation; /* how often it had been recycled */
    uint32_t end;        /* of the part read so far; 0: none */
    uint32_t state;
};
enum {
    CHUNK_OPEN,     /* more may be written to it */
    CHUNK_FINISHED, /* nothing more */
    CHUNK_COVERED,  /* likewise, and its data is in a summary: its bytes are gone, or will be */
    CHUNK_OTHER,    /* damaged, or no chunk of records */
    CHUNK_UNSEEN    /* not yet taken by a thread, or empty */
};

/* State kept from pass to pass. */
struct vt_log_passes {
    struct writer *writers;
    size_t writer_count, writer_room;
    struct vt_map by_tid;      /* tid -> index into writers */
    struct chunk_read *chunks; /* by number; chunks beyond these did not exist yet */
    size_t chunk_count, chunk_room;
    uint32_t *open; /* numbers of the chunks that the next pass reads again */
    size_t open_count, open_room;
    uint64_t newest;
    /* smallest entered_at of this pass; a record of that time may still follow */
    uint64_t oldest_entered;
    uint64_t snapshot, waits_since; /* the announced snapshot, and when it was first seen; ns */
    size_t announced;               /* slots that announced an event, in the last pass */
    bool in_flight;                 /* ... and is not from a thread that was killed */
};

static void note_damage(struct vt_log *log, uint64_t offset, const char *what, uint64_t found) {
    *VT_ADD(log->damage, log->damage_count, log->damage_room) =
        (struct vt_log_damage){offset, vt_strdup(what), found};
}

/* --- writers, and announced events --- */

/* The writer's index in passes->writers, which may move. */
static uint32_t writer_of(struct vt_log_passes *passes, uint32_t tid) {
    uint32_t index = vt_map_add(&passes->by_tid, tid, (uint32_t)passes->writer_count);
    if (index == passes->writer_count)
        *VT_ADD(passes->writers, passes->writer_count, passes->writer_room) = (struct writer){0};
    return index;
}

static void note_announced(struct vt_log_passes *passes, uint32_t tid, uint64_t entered_at) {
    if (!entered_at)
        return;
    uint32_t index = writer_of(passes, tid);
    struct writer *writer = &passes->writers[index];
    if (entered_at > writer->entered)
        writer->entered = entered_at;
    if (entered_at < passes->oldest_entered)
        passes->oldest_entered = entered_at;
}

/* An unfinished snapshot describes the memory at its begin, so later events wait for it, but no longer than this: an
 * idle program writes the results only at its end. */
#define AWAITED_NS 3000000000ull

static void read_slot(const struct vt_log *log, const struct vt_log_slot *slot) {
    struct vt_log_passes *passes = log->passes;
    if (slot->tid != VT_SLOT_OF_SNAPSHOT) {
        passes->announced += slot->entered_at != 0;
        note_announced(passes, slot->tid, slot->entered_at);
        return;
    }
    if (slot->entered_at != passes->snapshot)
        passes->waits_since = vt_now_ns();
    passes->snapshot = slot->entered_at;
    if (log->awaits_snapshots && slot->entered_at && slot->entered_at < passes->oldest_entered &&
        vt_now_ns() - passes->waits_since < AWAITED_NS)
        passes->oldest_entered = slot->entered_at;
}

/* for slightly more than Linux's limit of 4 million threads */
enum { SLOTS_CHUNKS_MOST = 5000 };

/* From the newest chunk of slots back. A cycle, or a chunk without slots, means that this is not our log. */
static int read_slots(const struct vt_log *log, struct vt_string *message) {
    VT_SCOPED struct vt_log_slots *slots = vt_alloc(1, sizeof *slots);
    uint64_t number;
    uint32_t got, most = SLOTS_CHUNKS_MOST;
    int error = vt_log_read_at(log->fd, log->path, &number, sizeof number,
                               offsetof(struct vt_log_header, slots), &got, message);
    while (!error && number && number <= UINT32_MAX && most--) {
        error = vt_log_read_at(log->fd, log->path, slots, sizeof *slots, number * VT_CHUNK_BYTES,
                               &got, message);
        if (error || got < sizeof *slots || slots->magic != VT_SLOTS_MAGIC)
            break;
        for (uint32_t i = 0; i < VT_SLOTS; i++)
            read_slot(log, &slots->slot[i]);
        number = slots->before;
    }
    return error;
}

/* --- a chunk's records --- */

/* A chunk during a pass. */
struct passage {
    struct vt_log *log;
    struct vt_short_records records;
    struct vt_short_span span; /* its events so far */
    size_t waiting;            /* the chunk's first stack whose event has not appeared yet */
    uint32_t tid, writer;      /* of the writing thread; its index in writers */
};

static void date_waiting(struct vt_log *log, struct writer *writer, uint64_t ticks) {
    while (writer->waiting) {
        struct vt_log_stack *stack = &log->stacks[writer->waiting - 1];
        writer->waiting = stack->ticks;
        stack->ticks = ticks;
    }
}

/* Stacks come before the first event that names them. */
static void date_stacks(struct passage *p, uint64_t ticks) {
    date_waiting(p->log, &p->log->passes->writers[p->writer], ticks);
    for (; p->waiting < p->log->stack_count; p->waiting++)
        p->log->stacks[p->waiting].ticks = ticks;
}

/* The chunk had no space left for the event, or it will follow: it is the thread's next one. */
static void leave_waiting(struct passage *p) {
    struct writer *writer = &p->log->passes->writers[p->writer];
    for (; p->waiting < p->log->stack_count; p->waiting++) {
        p->log->stacks[p->waiting].ticks = writer->waiting;
        writer->waiting = p->waiting + 1;
    }
}

void vt_log_move_waiting(struct vt_log *log, const uint32_t *now) {
    for (size_t i = 0; i < log->passes->writer_count; i++)
        for (uint64_t *at = &log->passes->writers[i].waiting; *at;) {
            uint32_t stack = now[*at - 1];
            *at = stack == VT_NO_STACK ? 0 : stack + 1;
            if (*at)
                at = &log->stacks[stack].ticks;
        }
}

/* An ending thread leaves its chunk to another. */
static void note_thread(struct passage *p, const uint8_t *record, uint32_t length) {
    struct vt_rec_thread r;
    if (!vt_record_is_whole(record, length))
        return;
    memcpy(&r, record, sizeof r);
    leave_waiting(p);
    p->tid = r.tid;
    p->writer = writer_of(p->log->passes, p->tid);
}

static void read_record(struct passage *p, const uint8_t *record, uint32_t length) {
    uint64_t word[2];
    memcpy(word, record, sizeof word);
    if (vt_word_type(word[0]) >= 0x80) {
        vt_log_add_record(p->log, record, length);
        if (vt_word_type(word[0]) == VT_REC_THREAD)
            note_thread(p, record, length);
        return;
    }
    if (vt_word_type(word[0]) == VT_REC_PHASE)
        vt_log_add_phase(p->log, record, p->tid);
    if (vt_word_type(word[0]) == VT_REC_SAMPLE)
        vt_log_add_sample(p->log, record);
    vt_short_span_add(&p->span, vt_log_key(word[0], word[1]));
    date_stacks(p, vt_when_ticks(word[1]));
}

static void read_records(struct passage *p, uint8_t *record) {
    uint32_t length;
    do {
        uint64_t first = vt_short_records_pass(&p->records, &p->span);
        if (first != UINT64_MAX)
            date_stacks(p, first);
        length = vt_short_records_next(&p->records, record);
        if (length)
            read_record(p, record, length);
    } while (length);
    leave_waiting(p);
}

static void skip_records(struct passage *p, uint8_t *record) {
    struct vt_short_span span = {0};
    uint32_t length;
    uint64_t word;
    do {
        vt_short_records_pass(&p->records, &span);
        length = vt_short_records_next(&p->records, record);
        memcpy(&word, record, sizeof word);
        if (length && vt_word_type(word) == VT_REC_THREAD)
            note_thread(p, record, length);
    } while (length);
}

/* Reads the new records of a chunk with `have` bytes. Returns its state. */
static uint32_t read_chunk(struct vt_log *log, uint32_t number, const uint8_t *file, uint32_t have,
                           uint8_t *record) {
    struct vt_log_passes *passes = log->passes;
    struct chunk_read *chunk = &passes->chunks[number];
    struct vt_chunk_header head = {0};
    uint64_t at = (uint64_t)number * VT_CHUNK_BYTES;
    memcpy(&head, file, have < sizeof head ? 0 : sizeof head);
    if (!head.magic && !(chunk->end && vt_chunk_has_ended(log)) &&
        !vt_chunk_lost_header(log, &head, number, file, have))
        return head.number && vt_chunk_has_ended(log) ? CHUNK_OTHER : CHUNK_OPEN;
    if (head.magic != VT_CHUNK_MAGIC) {
        if (head.magic != VT_SLOTS_MAGIC)
            note_damage(log, at, "a chunk's magic", head.magic);
        return CHUNK_OTHER;
    }
    if (head.number != number && !log->running) {
        note_damage(log, at, "a chunk's number", head.number);
        return CHUNK_OTHER;
    }
    note_announced(passes, head.tid, head.entered_at);
    struct passage p = {.log = log,
                        .span = {.sorted = true, .first_ticks = UINT64_MAX},
                        .waiting = log->stack_count,
                        .tid = head.tid,
                        .writer = writer_of(passes, head.tid)};
    vt_short_records_start(&p.records, file, chunk->end ? chunk->end : have);
    if (chunk->end) {
        skip_records(&p, record);
        p.records.end = have;
    }
    read_records(&p, record);
    struct writer *writer = &passes->writers[writer_of(passes, head.tid)];
    if (p.span.count && p.span.last_ticks > passes->newest)
        passes->newest = p.span.last_ticks;
    if (p.span.count && p.span.last_ticks > writer->newest)
        writer->newest = p.span.last_ticks;
    if (!p.records.what && !log->running &&
        vt_chunk_ends_early(log, &head, passes->announced, file, p.records.offset, have))
        p.records.what = "the first word of a record";
    if (p.records.what) {
        uint64_t found;
        memcpy(&found, file + p.records.offset, sizeof found);
        note_damage(log, at + p.records.offset, p.records.what, found);
    }
    log->events += p.span.count;
    if (p.records.offset > chunk->end)
        *VT_ADD(log->chunks, log->chunk_count, log->chunk_room) =
            (struct vt_log_chunk){.number = number,
                                  .begin = chunk->end,
                                  .end = p.records.offset,
                                  .events = p.span.count,
                                  .tid = head.tid,
                                  .first_ticks = p.span.first_ticks,
                                  .last_ticks = p.span.last_ticks,
                                  .sorted = p.span.sorted};
    chunk->end = p.records.offset;
    if (p.records.what)
        return CHUNK_OTHER;
    return vt_chunk_is_finished(&head) ? CHUNK_FINISHED : CHUNK_OPEN;
}

/* --- a pass --- */

static void open_chunk(struct vt_log_passes *passes, uint32_t number) {
    *VT_ADD(passes->open, passes->open_count, passes->open_room) = number;
}

/* --- recycled chunks: log_chunk.h --- */

/* A chunk that was reused since the last pass. */
struct taken {
    uint64_t ticks;
    uint32_t number;
};

static int compare_taken(const void *a, const void *b) {
    const struct taken *x = a, *y = b;
    return VT_ORDER({x->ticks, y->ticks}, {x->number, y->number});
}

/* Whether a chunk has records that no pass has seen, or must have had, and its header. Before its first record is
 * there, a thread may be about to take it: then its header may be of the time before. Pairs with claim() in the
 * tracer's log_free.c; model: GENERATION_HIGHER, SEEN_AGAIN. */
static int look_at_chunk(const struct vt_log *log, uint32_t number, struct vt_chunk_header *head,
                         bool *anew, struct vt_string *message) {
    const struct chunk_read *chunk = &log->passes->chunks[number];
    const uint64_t at = (uint64_t)number * VT_CHUNK_BYTES;
    uint64_t word = 0;
    uint32_t got;
    *anew = false;
    int error = vt_log_read_at(log->fd, log->path, head, sizeof *head, at, &got, message);
    if (error || got < sizeof *head || !head->magic)
        return error;
    if (chunk->state == CHUNK_COVERED && head->generation <= chunk->generation)
        return 0;
    error =
        vt_log_read_at(log->fd, log->path, &word, sizeof word, at + sizeof *head, &got, message);
    *anew = word || head->magic != VT_CHUNK_MAGIC || vt_chunk_is_finished(head);
    if (*anew && !error)
        error = vt_log_read_at(log->fd, log->path, head, sizeof *head, at, &got, message);
    return error;
}

/* Opens the chunks that were not there before, and the covered ones that have a new generation. Their order in the
 * file is arbitrary; they are passed in the order of reuse, because a thread's records refer to its earlier ones. */
static int open_taken(struct vt_log *log, struct vt_string *message) {
    struct vt_log_passes *passes = log->passes;
    struct vt_chunk_header head;
    VT_SCOPED struct taken *taken = NULL;
    size_t count = 0, room = 0;
    uint64_t chunks = log->file_bytes / VT_CHUNK_BYTES;
    for (uint32_t i = 1; i < chunks; i++) {
        bool anew;
        if (i == passes->chunk_count)
            *VT_ADD(passes->chunks, passes->chunk_count, passes->chunk_room) =
                (struct chunk_read){.state = CHUNK_UNSEEN};
        if (passes->chunks[i].state != CHUNK_COVERED && passes->chunks[i].state != CHUNK_UNSEEN)
            continue;
        int error = look_at_chunk(log, i, &head, &anew, message);
        if (error)
            return error;
        if (!anew)
            continue;
        passes->chunks[i] = (struct chunk_read){.generation = (uint32_t)head.generation};
        *VT_ADD(taken, count, room) = (struct taken){head.taken, i};
    }
    vt_sort(taken, count, sizeof *taken, compare_taken);
    for (size_t i = 0; i < count; i++)
        open_chunk(passes, taken[i].number);
    return 0;
}

/* --- all other chunks --- */

/* Reads the new records of known chunks. */
static int read_open(struct vt_log *log, uint8_t *bytes, uint8_t *record,
                     struct vt_string *message) {
    struct vt_log_passes *passes = log->passes;
    size_t kept = 0;
    int error = 0;
    for (size_t i = 0; i < passes->open_count; i++) {
        uint32_t number = passes->open[i], got = 0;
        struct chunk_read *chunk = &passes->chunks[number];
        if (!error)
            error = vt_log_copy_chunk(log->fd, log->path, number, bytes, &got, message);
        if (!error && got >= chunk->end)
            chunk->state = read_chunk(log, number, bytes, got, record);
        if (error || (chunk->state == CHUNK_OPEN && log->running))
            passes->open[kept++] = number;
    }
    passes->open_count = kept;
    return error;
}

/* Reads chunks that did not exist before. */
static int read_new(struct vt_log *log, uint8_t *bytes, uint8_t *record,
                    struct vt_string *message) {
    struct vt_log_passes *passes = log->passes;
    uint32_t number = (uint32_t)passes->chunk_count, got = VT_CHUNK_BYTES;
    for (uint64_t at;
         (at = (uint64_t)number * VT_CHUNK_BYTES) < log->file_bytes && got == VT_CHUNK_BYTES;
         number++) {
        vt_progress_at("opening", log->path, at, log->file_bytes);
        int error = vt_log_copy_chunk(log->fd, log->path, number, bytes, &got, message);
        if (error || !got)
            return error;
        struct chunk_read *chunk = VT_ADD(passes->chunks, passes->chunk_count, passes->chunk_room);
        *chunk = (struct chunk_read){0};
        chunk->state = read_chunk(log, number, bytes, got, record);
        if (chunk->state == CHUNK_OPEN && log->running)
            open_chunk(passes, number);
    }
    return 0;
}

/* Chunks that have space, but not even a number. A thread may have died between the two; then it has announced an
 * event. */
static void find_lost_chunks(struct vt_log *log) {
    struct vt_log_passes *passes = log->passes;
    size_t count = vt_chunk_placed(log), blank = 0;
    for (size_t i = count < passes->chunk_count ? count : passes->chunk_count; i-- > 1;) {
        struct chunk_read *chunk = &passes->chunks[i];
        if (chunk->state != CHUNK_OPEN || chunk->end || ++blank <= passes->announced)
            continue;
        note_damage(log, i * VT_CHUNK_BYTES, "a chunk's magic", 0);
        chunk->state = CHUNK_OTHER;
    }
}

int vt_log_pass(struct vt_log *log, struct vt_string *message) {
    struct stat st;
    if (!log->passes) {
        log->passes = vt_alloc(1, sizeof *log->passes);
        *VT_ADD(log->passes->chunks, log->passes->chunk_count, log->passes->chunk_room) =
            (struct chunk_read){.state = CHUNK_OTHER}; /* the header */
    }
    struct vt_log_passes *passes = log->passes;
    passes->oldest_entered =
        UINT64_MAX; /* read the slots first; pairs with vt_log_leave; model: SLOTS_FIRST */
    for (size_t i = 0; i < passes->writer_count; i++)
        passes->writers[i].entered = 0;
    passes->announced = 0;
    int error = read_slots(log, message);
    if (!error && fstat(log->fd, &st)) {
        error = -errno;
        vt_string_format(message, "%s: %s", log->path, strerror(-error));
    }
    if (error)
        return error;
    log->file_bytes = (uint64_t)st.st_size;
    VT_SCOPED uint8_t *bytes = vt_alloc(VT_CHUNK_BYTES, 1);
    VT_SCOPED uint8_t *record = vt_alloc(VT_RECORD_MAX_BYTES, 1);
    if (log->summary)
        error = open_taken(log, message);
    if (!error)
        error = read_open(log, bytes, record, message);
    if (!error)
        error = read_new(log, bytes, record, message);
    if (!error)
        find_lost_chunks(log);
    passes->in_flight = false;
    for (size_t i = 0; i < passes->writer_count; i++) {
        struct writer *w = &passes->writers[i];
        passes->in_flight |= w->entered && w->entered >= w->newest;
        if (!log->running)
            date_waiting(log, w, w->entered > w->newest ? w->entered : w->newest);
    }
    return error;
}

struct vt_log_passed vt_log_passed(const struct vt_log *log) {
    const struct vt_log_passes *p = log->passes;
    return (struct vt_log_passed){p->newest, p->oldest_entered, p->in_flight};
}

/* --- saving and loading --- */

/* Selects the state of the chunks to save. Pieces with events after `until` stay; a finished chunk without such a
 * piece is covered. */
static void leave_chunks(const struct vt_log *log, uint64_t until, struct chunk_read *chunks,
                         struct vt_log_chunk **later, size_t *later_count, size_t *later_room) {
    const struct vt_log_passes *passes = log->passes;
    for (size_t i = 0; i < passes->chunk_count; i++) {
        chunks[i] = passes->chunks[i];
        if (chunks[i].state == CHUNK_FINISHED)
            chunks[i].state = CHUNK_COVERED;
    }
    for (size_t i = 0; i < log->chunk_count; i++) {
        struct vt_log_chunk piece = log->chunks[i];
        if (!piece.events || piece.last_ticks <= until)
            continue;
        piece.after = until;
        if (piece.first_ticks <= until)
            piece.first_ticks = until + 1;
        *VT_ADD(*later, *later_count, *later_room) = piece;
        if (chunks[piece.number].state == CHUNK_COVERED)
            chunks[piece.number].state = CHUNK_FINISHED;
    }
}

void vt_log_leave_covered(struct vt_log *log, uint64_t until) {
    struct vt_log_chunk *later = NULL;
    size_t count = 0, room = 0;
    leave_chunks(log, until, log->passes->chunks, &later, &count, &room);
    free(later);
}

static void check_chunks(const struct vt_log *log, struct vt_state *s) {
    const struct vt_log_passes *passes = log->passes;
    const uint32_t first = sizeof(struct vt_chunk_header);
    vt_state_within(s, passes->chunk_count, UINT32_MAX, "chunks");
    if (!passes->chunk_count)
        vt_state_refuse(s, "expected chunks, found none");
    for (size_t i = 0; i < passes->chunk_count; i++) {
        const struct chunk_read *chunk = &passes->chunks[i];
        if (chunk->state > CHUNK_UNSEEN || chunk->end > VT_CHUNK_BYTES ||
            (chunk->end && chunk->end < first))
            vt_state_refuse(s, "expected a chunk's end, found %u", chunk->end);
    }
    for (size_t i = 0; i < log->chunk_count; i++) {
        const struct vt_log_chunk *piece = &log->chunks[i];
        vt_state_within(s, piece->number, passes->chunk_count, "chunks");
        if (piece->begin > piece->end || piece->end > VT_CHUNK_BYTES || piece->end < first ||
            (piece->begin && piece->begin < first))
            vt_state_refuse(s, "expected a part of a chunk, found %u to %u", piece->begin,
                            piece->end);
    }
    for (size_t i = 0; i < passes->open_count; i++)
        vt_state_within(s, passes->open[i], passes->chunk_count, "chunks");
}

/* Reopens chunks that were closed because the process seemed to have ended. It may still be alive, for instance in
 * another container, and have written more. */
static void open_all(struct vt_log_passes *passes) {
    VT_SCOPED bool *open = vt_alloc(passes->chunk_count, sizeof *open);
    for (size_t i = 0; i < passes->open_count; i++)
        open[passes->open[i]] = true;
    for (uint32_t i = 0; i < passes->chunk_count; i++)
        if (!open[i] && passes->chunks[i].state == CHUNK_OPEN)
            open_chunk(passes, i);
}

static void chunks_state(struct vt_log *log, uint64_t until, struct vt_state *s) {
    struct vt_log_passes *passes = log->passes;
    size_t count = passes->chunk_count, room = count, later_count = 0, later_room = 0;
    struct vt_log_chunk *later = NULL;
    struct chunk_read *chunks = s->loading ? NULL : vt_alloc(count, sizeof *chunks);
    if (!s->loading)
        leave_chunks(log, until, chunks, &later, &later_count, &later_room);
    VT_STATE_ARRAY(s, chunks, count, room);
    VT_STATE_ARRAY(s, later, later_count, later_room);
    VT_STATE_BOOLS(s, later, later_count, sorted);
    VT_STATE_ARRAY(s, passes->open, passes->open_count, passes->open_room);
    if (!s->loading) {
        free(chunks);
        free(later);
        return;
    }
    passes->chunks = chunks;
    passes->chunk_count = count;
    passes->chunk_room = room;
    log->chunks = later;
    log->chunk_count = later_count;
    log->chunk_room = later_room;
    check_chunks(log, s);
    if (!s->bad)
        open_all(passes);
}

/* Stacks that wait for their events form a chain per thread, and no stack is in two, nor twice in one. */
static void check_waiting(const struct vt_log *log, struct vt_state *s) {
    VT_SCOPED bool *seen = vt_alloc(log->stack_count, sizeof *seen);
    for (size_t i = 0; i < log->passes->writer_count && !s->bad; i++) {
        uint64_t at = log->passes->writers[i].waiting;
        while (at && at <= log->stack_count && !seen[at - 1]) {
            seen[at - 1] = true;
            at = log->stacks[at - 1].ticks;
        }
        if (at)
            vt_state_refuse(s, "expected a stack that waits, found %llu of %zu",
                            (unsigned long long)at, log->stack_count);
    }
}

void vt_log_passes_state(struct vt_log *log, uint64_t until, struct vt_state *s) {
    if (!log->passes)
        log->passes = vt_alloc(1, sizeof *log->passes);
    struct vt_log_passes *passes = log->passes;
    VT_STATE_SECTION(s, "chunks", *passes);
    VT_STATE_ARRAY(s, passes->writers, passes->writer_count, passes->writer_room);
    vt_state_map(s, &passes->by_tid, passes->writer_count);
    VT_STATE(s, passes->newest);
    chunks_state(log, until, s);
    if (s->loading)
        check_waiting(log, s);
}

bool vt_log_is_covered(const struct vt_log *log, uint32_t number, uint32_t *generation) {
    *generation = log->passes->chunks[number].generation;
    return log->passes->chunks[number].state == CHUNK_COVERED;
}

uint32_t vt_log_chunks(const struct vt_log *log) {
    return (uint32_t)log->passes->chunk_count;
}

void vt_log_end_passes(struct vt_log *log) {
    if (!log->passes)
        return;
    free(log->passes->writers);
    free(log->passes->chunks);
    free(log->passes->open);
    vt_map_free(&log->passes->by_tid);
    free(log->passes);
    log->passes = NULL;
}
