/* SPDX-License-Identifier: MIT */
/*
 * Chunks -> one stream of events by time (see merge.h).
 *
 * Inside a chunk the order is nearly right: a free has the time before its call but is written after it, so an
 * allocation can come in between. So each chunk is sorted when it is read, and a heap merges the chunks. A chunk is in
 * memory only from its first event to its last, so no more chunks are in memory than threads wrote at the same time.
 */
#include "merge.h"

#include "records.h"

#include <stdlib.h>
#include <string.h>

enum {
    RUN_THREADS = 8,
    /* max events in a chunk: none is shorter than 8 bytes (a short free) */
    RUN_EVENTS = (VT_CHUNK_BYTES - sizeof(struct vt_chunk_header)) / 8,
};

/* One chunk being read. */
struct run {
    uint8_t *chunk; /* its bytes in the file */
    struct vt_event *events;
    uint32_t count, at;
    uint8_t *by; /* with several threads: index in `tid` of each event's writer */
    uint32_t tid
        [RUN_THREADS]; /* writers; each begins at its event `from`; further ones count as the last */
    uint32_t from[RUN_THREADS];
    uint32_t thread_count;
    struct run *next_free;
};

struct vt_merge {
    const struct vt_log *log;
    uint64_t last_key;  /* later events wait */
    uint64_t given_key; /* events before this key were delivered */
    uint64_t late;
    uint32_t *waiting; /* indices of chunks, in the order of their first events */
    size_t waiting_count, waiting_at;
    size_t known;      /* number of chunks taken from the log */
    struct run **heap; /* the run with the smallest key first */
    size_t heap_count, heap_room;
    uint32_t taken; /* events of heap[0] in the batch that the caller has */
    struct run *spare;
    uint8_t *record; /* a buffer for one */
    int error;       /* a chunk could not be read: there are no further events */
    struct vt_string message;
};

/* The thread of an event: a chunk can pass from one thread to another. */
static uint32_t tid_at(const struct run *run, uint32_t i) {
    return run->tid[run->thread_count > 1 ? run->by[i] : 0];
}

static void note_thread(struct run *run, const uint8_t *record, uint32_t length) {
    struct vt_rec_thread r;
    if (!vt_record_is_whole(record, length) || run->thread_count == RUN_THREADS)
        return;
    memcpy(&r, record, sizeof r);
    if (run->tid[run->thread_count - 1] == r.tid)
        return;
    /* The chunk's header names only the last writer, so this record names the writer of the first events. */
    if (run->thread_count == 1 && !run->count)
        run->thread_count = 0;
    run->from[run->thread_count] = run->count;
    run->tid[run->thread_count++] = r.tid;
}

static void note_writers(struct run *run) {
    for (uint32_t t = 1; t < run->thread_count; t++) {
        uint32_t end = t + 1 < run->thread_count ? run->from[t + 1] : run->count;
        memset(run->by + run->from[t], (int)t, end - run->from[t]);
    }
    memset(run->by, 0, run->thread_count > 1 ? run->from[1] : 0);
}

static uint64_t key_at(const struct run *run, uint32_t i) {
    return vt_log_key(run->events[i].word, run->events[i].when);
}

static uint64_t key_of(const struct run *run) {
    return key_at(run, run->at);
}

static uint64_t waiting_key(const struct vt_merge *merge) {
    return merge->waiting_at < merge->waiting_count
               ? merge->log->chunks[merge->waiting[merge->waiting_at]].first_ticks << 1
               : UINT64_MAX;
}

/* --- sorting a chunk --- */

struct sort_row {
    uint64_t key;
    struct vt_event event;
    uint32_t number;
    uint8_t by;
};

static int compare_rows(const void *a, const void *b) {
    const struct sort_row *x = a, *y = b;
    return VT_ORDER({x->key, y->key}, {x->number, y->number});
}

/* For a damaged chunk, whose times are in no order: insertion sort would take too long. */
static void sort_anyhow(struct run *run) {
    VT_SCOPED struct sort_row *rows = vt_alloc(run->count, sizeof *rows);
    for (uint32_t i = 0; i < run->count; i++)
        rows[i] = (struct sort_row){key_at(run, i), run->events[i], i, run->by[i]};
    qsort(rows, run->count, sizeof *rows, compare_rows);
    for (uint32_t i = 0; i < run->count; i++) {
        run->events[i] = rows[i].event;
        run->by[i] = rows[i].by;
    }
}

static void sort_run(struct run *run) {
    uint32_t moves = 0;
    for (uint32_t i = 1; i < run->count; i++) {
        uint64_t key = key_at(run, i);
        struct vt_event event = run->events[i];
        uint8_t by = run->by[i];
        uint32_t j = i;
        for (; j > 0 && key_at(run, j - 1) > key; j--) {
            run->events[j] = run->events[j - 1];
            run->by[j] = run->by[j - 1];
        }
        run->events[j] = event;
        run->by[j] = by;
        moves += i - j;
        if (moves > 16u * RUN_EVENTS) {
            sort_anyhow(run);
            return;
        }
    }
}

/* --- the heap --- */

static void sift_down(struct vt_merge *merge, size_t i) {
    struct run **heap = merge->heap, *run = heap[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= merge->heap_count)
            break;
        if (child + 1 < merge->heap_count && key_of(heap[child + 1]) < key_of(heap[child]))
            child++;
        if (key_of(heap[child]) >= key_of(run))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = run;
}

static void push_run(struct vt_merge *merge, struct run *run) {
    VT_GROW(merge->heap, merge->heap_count, merge->heap_room);
    size_t i = merge->heap_count++;
    while (i > 0 && key_of(merge->heap[(i - 1) / 2]) > key_of(run)) {
        merge->heap[i] = merge->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    merge->heap[i] = run;
}

static struct run *new_run(struct vt_merge *merge) {
    struct run *run = merge->spare;
    if (run) {
        merge->spare = run->next_free;
        return run;
    }
    run = vt_alloc(1, sizeof *run);
    run->chunk = vt_alloc(VT_CHUNK_BYTES + VT_BATCH_READABLE, 1);
    run->events = vt_alloc(RUN_EVENTS, sizeof *run->events);
    run->by = vt_alloc(RUN_EVENTS, sizeof *run->by);
    return run;
}

static void free_runs(struct run *run) {
    while (run) {
        struct run *next = run->next_free;
        free(run->chunk);
        free(run->events);
        free(run->by);
        free(run);
        run = next;
    }
}

static void read_event(const struct vt_short_records *records, const uint8_t *record,
                       uint32_t length, struct vt_event *event) {
    struct vt_rec_alloc r = {0};
    memcpy(&r, record, length < sizeof r ? length : sizeof r);
    unsigned type = vt_word_type(r.word), space = vt_kind_space(vt_word_kind(r.word));
    *event = (struct vt_event){.word = r.word, .when = r.when};
    if (type == VT_REC_ALLOC || type == VT_REC_FREE)
        event->key = vt_address_key(r.address, space);
    else
        event->key = records->offset - length;
    if (type == VT_REC_ALLOC)
        event->size_context = r.size_context;
}

static void read_events(struct vt_merge *merge, struct vt_short_records *records, struct run *run) {
    for (;;) {
        struct vt_event *next = vt_short_records_events(records, run->events + run->count);
        run->count = (uint32_t)(next - run->events);
        uint32_t length = vt_short_records_next(records, merge->record);
        if (!length)
            return;
        uint64_t word;
        memcpy(&word, merge->record, sizeof word);
        if (vt_word_type(word) == VT_REC_THREAD)
            note_thread(run, merge->record, length);
        if (vt_word_type(word) < 0x80)
            read_event(records, merge->record, length, &run->events[run->count++]);
    }
}

/* Skips events that were delivered before the log was saved. */
static void leave_out_given(struct run *run, uint64_t after) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < run->count; i++) {
        if (vt_when_ticks(run->events[i].when) <= after)
            continue;
        run->by[kept] = run->by[i];
        run->events[kept++] = run->events[i];
    }
    run->count = kept;
}

static void load(struct vt_merge *merge) {
    const struct vt_log_chunk *chunk = &merge->log->chunks[merge->waiting[merge->waiting_at++]];
    struct run *run = new_run(merge);
    struct vt_short_records records;
    uint32_t end;
    vt_progress_at("reading", merge->log->path, merge->waiting_at, merge->waiting_count);
    merge->error = vt_log_read_chunk(merge->log, chunk, run->chunk, &end, &merge->message);
    if (end < sizeof(struct vt_chunk_header)) /* the file was truncated since */
        end = sizeof(struct vt_chunk_header);
    run->count = run->at = 0;
    run->thread_count = 1;
    run->tid[0] = chunk->tid;
    vt_short_records_start(&records, run->chunk, chunk->begin < end ? chunk->begin : end);
    if (chunk->begin)
        read_events(merge, &records, run);
    run->count = 0; /* all were delivered before */
    run->tid[0] = run->tid[run->thread_count - 1];
    run->from[0] = 0;
    run->thread_count = 1;
    records.end = end;
    read_events(merge, &records, run);
    note_writers(run);
    if (chunk->after)
        leave_out_given(run, chunk->after);
    /* a chunk may have been recycled, with other events, since `sorted` was determined */
    if (!chunk->sorted || merge->log->running || merge->log->summary)
        sort_run(run);
    if (run->count) {
        push_run(merge, run);
    } else {
        run->next_free = merge->spare;
        merge->spare = run;
    }
}

/* --- the stream --- */

struct waiting {
    uint64_t first_ticks;
    uint32_t index;
};

static int compare_waiting(const void *a, const void *b) {
    const struct waiting *x = a, *y = b;
    return VT_ORDER({x->first_ticks, y->first_ticks}, {x->index, y->index});
}

/* Queues the chunks that were read since the last call. */
static void add_chunks(struct vt_merge *merge) {
    const struct vt_log *log = merge->log;
    size_t left = merge->waiting_count - merge->waiting_at, count = 0;
    size_t room = left + log->chunk_count - merge->known;
    VT_SCOPED struct waiting *rows = vt_alloc(room, sizeof *rows);
    for (; count < left; count++)
        rows[count].index = merge->waiting[merge->waiting_at + count];
    for (; merge->known < log->chunk_count; merge->known++)
        if (log->chunks[merge->known].events)
            rows[count++].index = (uint32_t)merge->known;
    for (size_t i = 0; i < count; i++)
        rows[i].first_ticks = log->chunks[rows[i].index].first_ticks;
    vt_sort(rows, count, sizeof *rows, compare_waiting);
    merge->waiting = vt_realloc(merge->waiting, count, sizeof *merge->waiting);
    for (size_t i = 0; i < count; i++)
        merge->waiting[i] = rows[i].index;
    merge->waiting_count = count;
    merge->waiting_at = 0;
}

struct vt_merge *vt_merge_open(const struct vt_log *log) {
    struct vt_merge *merge = vt_alloc(1, sizeof *merge);
    merge->log = log;
    merge->record = vt_alloc(VT_RECORD_MAX_BYTES, 1);
    return merge;
}

void vt_merge_go_on(struct vt_merge *merge, uint64_t until) {
    if (until > merge->log->frontier)
        until = merge->log->frontier;
    if (merge->log->bound_at && until >= merge->log->bound_at)
        until = merge->log->bound_at - 1;
    if (merge->last_key < (until << 1 | 1)) /* all events up to there were delivered */
        merge->last_key = until << 1 | 1;
    if (merge->known < merge->log->chunk_count)
        add_chunks(merge);
}

/* Late events get the time of the last event delivered before them. */
static void give_late(struct vt_merge *merge, const struct vt_batch *batch) {
    for (uint32_t i = 0; i < batch->count; i++) {
        struct vt_event *e = &batch->events[i];
        if (vt_log_key(e->word, e->when) >= merge->given_key)
            continue;
        merge->late++;
        e->when = vt_when(vt_when_device(e->when), merge->given_key >> 1);
    }
}

bool vt_merge_next(struct vt_merge *merge, struct vt_batch *batch) {
    if (merge->taken) {
        struct run *run = merge->heap[0];
        run->at += merge->taken;
        merge->taken = 0;
        if (run->at == run->count) {
            run->next_free = merge->spare;
            merge->spare = run;
            merge->heap[0] = merge->heap[--merge->heap_count];
        }
        if (merge->heap_count)
            sift_down(merge, 0);
    }
    while (!merge->error && merge->waiting_at < merge->waiting_count &&
           (!merge->heap_count || waiting_key(merge) <= key_of(merge->heap[0])))
        load(merge);
    if (merge->error || !merge->heap_count)
        return false;
    struct run *run = merge->heap[0];
    if (key_of(run) > merge->last_key)
        return false;
    /* the batch ends at another run's next event, the next chunk's first, or last_key */
    uint64_t limit = merge->last_key;
    for (size_t i = 1; i < 3 && i < merge->heap_count; i++)
        if (key_of(merge->heap[i]) < limit)
            limit = key_of(merge->heap[i]);
    if (waiting_key(merge) < limit)
        limit = waiting_key(merge);
    uint32_t end = run->at + 1;
    uint32_t tid = tid_at(run, run->at);
    if (run->thread_count == 1 && key_at(run, run->count - 1) <= limit)
        end = run->count;
    while (end < run->count && key_at(run, end) <= limit &&
           (run->thread_count == 1 || tid_at(run, end) == tid))
        end++;
    *batch =
        (struct vt_batch){run->events + run->at, run->chunk, end - run->at, run->count - end, tid};
    merge->taken = end - run->at;
    if (key_of(run) < merge->given_key)
        give_late(merge, batch);
    uint64_t given = key_at(run, end - 1);
    if (given > merge->given_key)
        merge->given_key = given;
    return true;
}

uint64_t vt_merge_late(const struct vt_merge *merge) {
    return merge->late;
}

uint64_t vt_merge_left(const struct vt_merge *merge) {
    uint64_t left = 0;
    for (size_t i = 0; i < merge->heap_count; i++)
        left += merge->heap[i]->count - merge->heap[i]->at;
    for (size_t i = merge->waiting_at; i < merge->waiting_count; i++)
        left += merge->log->chunks[merge->waiting[i]].events;
    return left;
}

uint64_t vt_merge_until(const struct vt_merge *merge) {
    return merge->last_key >> 1;
}

void vt_merge_state(struct vt_merge *merge, struct vt_state *s) {
    VT_STATE_SECTION(s, "merge", *merge);
    VT_STATE(s, merge->last_key);
    VT_STATE(s, merge->given_key);
    VT_STATE(s, merge->late);
}

int vt_merge_failed(const struct vt_merge *merge, struct vt_string *message) {
    if (merge->error)
        vt_string_add(message, merge->message.text);
    return merge->error;
}

void vt_merge_close(struct vt_merge *merge) {
    vt_string_free(&merge->message);
    for (size_t i = 0; i < merge->heap_count; i++) {
        merge->heap[i]->next_free = merge->spare;
        merge->spare = merge->heap[i];
    }
    free_runs(merge->spare);
    free(merge->heap);
    free(merge->waiting);
    free(merge->record);
    free(merge);
}
