/* SPDX-License-Identifier: MIT */
/*
 * The reader (see log_reader.h). A chunk is copied with pread, the copy is checked, and only the
 * copy is used. Mapping the file would be hardly faster, and truncating a mapped file kills its
 * reader.
 *
 * A log that is still being written is read up to a point in time, the frontier. A thread may have
 * taken the time of a record that it has not published yet, and that record may be older than some
 * that are visible. So the first scan finds the newest time in the file. Then each thread's
 * `entered_at` is read, and after it the records: nothing that is still to come is older. Up to the
 * smaller of the two times nothing is missing; later events are ignored. (Of a log that is written in
 * blocks this is not known: VT_FLAG_BUFFERED.)
 */
#include "log_reader.h"

#include "log_tables.h"
#include "nvml_file.h"
#include "records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- header --- */

static int refuse_log(struct vt_string *message, const char *path, unsigned offset,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));
static int refuse_log(struct vt_string *message, const char *path, unsigned offset,
                      const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    vt_string_format(message, "%s: offset %u: %s", path, offset, text);
    return -EINVAL;
}

static int check_magic(const struct vt_log_header *h, size_t got, const char *path,
                       struct vt_string *message) {
    static const char magic[8] = VT_LOG_MAGIC;
    char reversed[8], hex[32] = "";
    for (int i = 0; i < 8; i++)
        reversed[i] = magic[7 - i];
    if (got >= 8 && !memcmp(h->magic, magic, 8))
        return 0;
    if (got >= 8 && !memcmp(h->magic, reversed, 8))
        return refuse_log(message, path, 0,
                          "not a log of this machine: expected \"vramtrc\", found it reversed, as "
                          "the other byte order has it");
    if (got >= 8 && !memcmp(h->magic, VT_NVML_MAGIC, 8))
        return refuse_log(message, path, 0,
                          "found the samples that belong to a log: name the log, which is the file "
                          "without " VT_NVML_SUFFIX);
    size_t shown = got < 8 ? got : 8;
    bool zeros = true;
    for (size_t i = 0; i < shown; i++) {
        snprintf(hex + 3 * i, 4, " %02x", (unsigned char)h->magic[i]);
        zeros &= h->magic[i] == 0;
    }
    if (zeros && shown == 8)
        return refuse_log(
            message, path, 0,
            "not a vramtrace log, or not written yet: expected \"vramtrc\", found zeros");
    return refuse_log(message, path, 0, "not a vramtrace log: expected \"vramtrc\", found%s", hex);
}

bool vt_log_is_log(const char *path) {
    static const char magic[8] = VT_LOG_MAGIC;
    char found[sizeof magic];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is = fd >= 0 && pread(fd, found, sizeof found, 0) == sizeof found &&
              !memcmp(found, magic, sizeof magic);
    if (fd >= 0)
        close(fd);
    return is || vt_pack_is_pack(path);
}

/* Also one that another tool wrote anew, with other spaces, its columns in another order, or without its first row:
 * whoever reads it then says that it may not be rewritten. */
bool vt_log_is_merged(int fd) {
    char text[8192];
    size_t length = vt_gzip_peek(fd, text, sizeof text), at = strspn(text, " \t\r\n");
    if (at == length || (text[at] != '{' && text[at] != '['))
        return false;
    return strstr(text, "\"vramtrace-merged") ||
           (strstr(text, "\"row\"") && strstr(text, "\"process\"") &&
            strstr(text, "\"started_at\""));
}

#define END_TEXT(field) ((field)[sizeof(field) - 1] = 0)

int vt_log_read_header(int fd, const char *path, struct vt_log_header *h, uint64_t *file_bytes,
                       struct vt_string *message) {
    struct stat st;
    VT_SCOPED_STRING why = {0};
    if (fstat(fd, &st)) {
        int error = errno;
        vt_string_format(message, "%s: %s", path, strerror(error));
        return -error;
    }
    if (!S_ISREG(st.st_mode)) {
        vt_string_format(message, "%s: expected a log file, found %s", path,
                         S_ISDIR(st.st_mode) ? "a folder" : "something else");
        return -EINVAL;
    }
    *file_bytes = (uint64_t)st.st_size;
    memset(h, 0, sizeof *h);
    uint32_t got;
    int error = vt_log_read_at(fd, path, h, sizeof *h, 0, &got, message);
    if (error)
        return error;
    if (got == 0)
        return refuse_log(message, path, 0,
                          "expected a log's header of %zu bytes, found an empty file", sizeof *h);
    error = check_magic(h, got, path, &why);
    if (error && vt_log_is_merged(fd))
        vt_string_format(message,
                         "%s: expected a log, found a merged file: it has no events, so only "
                         "'vramtrace report' and 'merge' read it; name the logs it was made of",
                         path);
    else if (error)
        vt_string_add(message, why.text);
    if (error)
        return error;
    if (got < sizeof *h)
        return refuse_log(message, path, got,
                          "expected a header of %zu bytes, found the end of the file: cut off",
                          sizeof *h);
    if (h->version_min > VT_LOG_VERSION)
        return refuse_log(
            message, path, 12,
            "the log has format version %u and needs a reader of version %u; this vramtrace "
            "reads versions %u to %u: use the vramtrace that wrote it, or a newer one",
            h->version, h->version_min, VT_LOG_VERSION_MIN, VT_LOG_VERSION);
    if (h->version < VT_LOG_VERSION_MIN)
        return refuse_log(message, path, 8, "expected format version %u to %u, found %u",
                          VT_LOG_VERSION_MIN, VT_LOG_VERSION, h->version);
    if (h->header_bytes < sizeof *h || h->header_bytes > VT_CHUNK_BYTES)
        return refuse_log(message, path, 16, "expected a header of %zu bytes, found %u", sizeof *h,
                          h->header_bytes);
    if (h->chunk_bytes != VT_CHUNK_BYTES)
        return refuse_log(message, path, 20, "expected chunks of %u bytes, found %u",
                          VT_CHUNK_BYTES, h->chunk_bytes);
    END_TEXT(h->run_id);
    END_TEXT(h->boot_id);
    END_TEXT(h->host);
    END_TEXT(h->tracer);
    END_TEXT(h->job);
    END_TEXT(h->launch);
    END_TEXT(h->exe);
    END_TEXT(h->cwd);
    if (h->command_bytes > sizeof h->command)
        h->command_bytes = sizeof h->command;
    return 0;
}

bool vt_log_is_of_boot(const struct vt_log_header *header) {
    char text[64];
    VT_SCOPED_FD fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : vt_file_read_at(fd, text, sizeof text, 0);
    size_t length = strlen(header->boot_id);
    return length && got >= (ssize_t)length && !memcmp(text, header->boot_id, length);
}

bool vt_log_is_running(const struct vt_log_header *header) {
    if (header->exit_kind != VT_EXIT_NONE || !vt_log_is_of_boot(header))
        return false;
    char state = 0;
    uint64_t started = vt_file_process_started(header->pid, &state);
    return started && started == header->process_start && state != 'Z' && state != 'X';
}

/* --- records --- */

static void note_damage(struct vt_log *log, uint64_t offset, const char *what, uint64_t found) {
    *VT_ADD(log->damage, log->damage_count, log->damage_room) =
        (struct vt_log_damage){offset, what, found};
}

/* A thread, over all of its chunks. If it published something newer than its entered_at, that may have
 * been the event that it entered for. */
struct writer {
    uint64_t entered, newest;
    uint64_t waiting; /* the last stack whose event did not come in the stack's chunk, + 1; 0: none.
                         Its `ticks` is the one before it, alike. */
};

/* A processor may still keep the store of an `entered_at` to itself after the thread has read the time: x86 orders
 * no store before a later reading of its counter but by a fence that would cost each event more than the rest of it.
 * It gives up its stores in order, at most about a hundred, each as soon as it has got the cache line, which takes
 * less than a microsecond even from another socket; an interrupt and a switch of threads wait for them. This
 * is ten times as long. So the reader waits for so long between the newest time and the first `entered_at`. */
#define STORES_SEEN_NS 1000000

static void await_stores(void) {
    struct timespec left = {.tv_nsec = STORES_SEEN_NS};
    while (nanosleep(&left, &left))
        continue; /* a signal came */
}

#define SLOTS_CHUNKS_MOST                                                                          \
    5000u /* 4 million threads at once, the most that Linux allows, and a few */

/* What a scan carries from chunk to chunk. */
struct scan {
    bool times_only; /* scan one of a running log */
    uint8_t *record; /* room for one */
    uint64_t newest;
    uint64_t oldest_entered; /* smallest entered_at; a record of that time may come */
    bool in_flight;          /* ... and has not come from a thread that was killed */
    struct writer *writers;
    size_t writer_count, writer_room;
    struct vt_map by_tid; /* tid -> index into writers */
};

/* The writer's place in scan->writers, which may move. */
static uint32_t writer_of(struct scan *scan, uint32_t tid) {
    uint32_t index = vt_map_add(&scan->by_tid, tid, (uint32_t)scan->writer_count);
    if (index == scan->writer_count)
        *VT_ADD(scan->writers, scan->writer_count, scan->writer_room) = (struct writer){0};
    return index;
}

static void announced(struct scan *scan, uint32_t tid, uint64_t entered_at) {
    if (!entered_at)
        return;
    uint32_t index = writer_of(scan, tid);
    struct writer *writer = &scan->writers[index];
    if (entered_at > writer->entered)
        writer->entered = entered_at;
    if (entered_at < scan->oldest_entered)
        scan->oldest_entered = entered_at;
}

/* From the newest chunk of slots back. What lies in a circle, or is no chunk of slots, is no log of ours. */
static int scan_slots(const struct vt_log *log, struct scan *scan, struct vt_string *message) {
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
            if (slots->slot[i].tid != VT_SLOT_OF_SNAPSHOT)
                announced(scan, slots->slot[i].tid, slots->slot[i].entered_at);
        number = slots->before;
    }
    return error;
}

static uint32_t thread_of(const uint8_t *record) {
    struct vt_rec_thread r;
    memcpy(&r, record, sizeof r);
    return r.tid;
}

/* A chunk being scanned. */
struct passage {
    struct vt_log *log;
    struct scan *scan;
    struct vt_short_span span; /* of its events so far */
    size_t waiting;            /* the chunk's first stack whose event has not come yet */
    uint32_t tid, writer;      /* of the thread that writes; the writer's place in scan->writers */
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
    date_waiting(p->log, &p->scan->writers[p->writer], ticks);
    for (; p->waiting < p->log->stack_count; p->waiting++)
        p->log->stacks[p->waiting].ticks = ticks;
}

/* The chunk had no room left for the event: it is the first of the thread's next chunk. */
static void leave_waiting(struct passage *p) {
    struct writer *writer = &p->scan->writers[p->writer];
    for (; p->waiting < p->log->stack_count; p->waiting++) {
        p->log->stacks[p->waiting].ticks = writer->waiting;
        writer->waiting = p->waiting + 1;
    }
}

/* A thread that ends leaves its chunk to another. */
static void set_thread(struct passage *p, uint32_t tid) {
    leave_waiting(p);
    p->tid = tid;
    p->writer = writer_of(p->scan, tid);
}

static void scan_record(struct passage *p, const uint8_t *record, uint32_t length) {
    uint64_t word[2];
    memcpy(word, record, sizeof word);
    if (vt_word_type(word[0]) >= 0x80) {
        if (!p->scan->times_only)
            vt_log_take(p->log, record, length);
        if (vt_word_type(word[0]) == VT_REC_THREAD && vt_record_is_whole(record, length))
            set_thread(p, thread_of(record));
        return;
    }
    if (vt_word_type(word[0]) == VT_REC_PHASE && !p->scan->times_only)
        vt_log_take_phase(p->log, record, p->tid);
    if (vt_word_type(word[0]) == VT_REC_SAMPLE && !p->scan->times_only)
        vt_log_take_sample(p->log, record);
    vt_short_span_add(&p->span, vt_log_key(word[0], word[1]));
    date_stacks(p, vt_when_ticks(word[1]));
}

static void scan_records(struct passage *p, struct vt_short_records *records, uint8_t *record) {
    uint32_t length;
    do {
        uint64_t first = vt_short_records_pass(records, &p->span);
        if (first != UINT64_MAX)
            date_stacks(p, first);
        length = vt_short_records_next(records, record);
        if (length)
            scan_record(p, record, length);
    } while (length);
    leave_waiting(p);
}

/* A chunk's records end at a word of zeros, and behind it is nothing but what a thread had begun to
 * write. */
static bool goes_on_after(const uint8_t *chunk, uint32_t end, uint32_t have) {
    for (uint32_t i = end + VT_RECORD_MAX_BYTES; i < have; i++)
        if (chunk[i])
            return true;
    return false;
}

static void scan_chunk(struct vt_log *log, struct scan *scan, uint64_t number, const uint8_t *file,
                       uint32_t have) {
    struct vt_chunk_header head;
    if (have < sizeof head)
        return;
    memcpy(&head, file, sizeof head);
    if (head.magic == 0 || head.magic == VT_SLOTS_MAGIC)
        return;
    if (head.magic != VT_CHUNK_MAGIC) {
        if (!scan->times_only)
            note_damage(log, number * VT_CHUNK_BYTES, "a chunk's magic", head.magic);
        return;
    }
    uint32_t index = writer_of(scan, head.tid);
    announced(scan, head.tid, head.entered_at);
    struct passage p = {.log = log,
                        .scan = scan,
                        .span = {.sorted = true, .first_ticks = UINT64_MAX},
                        .waiting = log->stack_count,
                        .tid = head.tid,
                        .writer = index};
    struct vt_short_records records;
    vt_short_records_start(&records, file, have);
    scan_records(&p, &records, scan->record);
    struct writer *writer = &scan->writers[index];
    if (p.span.count && p.span.last_ticks > scan->newest)
        scan->newest = p.span.last_ticks;
    if (p.span.count && p.span.last_ticks > writer->newest)
        writer->newest = p.span.last_ticks;
    if (scan->times_only)
        return;
    if (!records.what && !log->running && goes_on_after(file, records.offset, have))
        records.what = "the first word of a record";
    if (records.what) {
        uint64_t found;
        memcpy(&found, file + records.offset, sizeof found);
        note_damage(log, number * VT_CHUNK_BYTES + records.offset, records.what, found);
    }
    log->events += p.span.count;
    *VT_ADD(log->chunks, log->chunk_count, log->chunk_room) =
        (struct vt_log_chunk){.number = (uint32_t)number,
                              .end = records.offset,
                              .events = p.span.count,
                              .tid = head.tid,
                              .first_ticks = p.span.first_ticks,
                              .last_ticks = p.span.last_ticks,
                              .sorted = p.span.sorted};
}

static int scan_all(struct vt_log *log, struct scan *scan, struct vt_string *message) {
    enum { BLOCK = 16 }; /* chunks in one read */
    struct stat st;
    int error = scan->times_only ? 0 : scan_slots(log, scan, message);
    if (!error && fstat(log->fd, &st)) {
        error = -errno;
        vt_string_format(message, "%s: %s", log->path, strerror(-error));
    }
    log->file_bytes = error ? 0 : (uint64_t)st.st_size;
    uint8_t *bytes = vt_alloc(BLOCK, VT_CHUNK_BYTES);
    scan->record = vt_alloc(VT_RECORD_MAX_BYTES, 1);
    for (uint64_t at = VT_CHUNK_BYTES; at < log->file_bytes;
         at += (uint64_t)BLOCK * VT_CHUNK_BYTES) {
        uint32_t got;
        vt_progress_at("opening", log->path, at, log->file_bytes);
        error =
            vt_log_read_at(log->fd, log->path, bytes, BLOCK * VT_CHUNK_BYTES, at, &got, message);
        if (error)
            break;
        for (uint64_t done = 0; done < got; done += VT_CHUNK_BYTES) {
            uint64_t left = got - done;
            uint32_t have = left < VT_CHUNK_BYTES ? (uint32_t)left : VT_CHUNK_BYTES;
            scan_chunk(log, scan, (at + done) / VT_CHUNK_BYTES, bytes + done, have);
        }
        if (got < (uint64_t)BLOCK * VT_CHUNK_BYTES)
            break;
    }
    free(bytes);
    free(scan->record);
    for (size_t i = 0; i < scan->writer_count; i++) {
        struct writer *w = &scan->writers[i];
        scan->in_flight |= w->entered && w->entered >= w->newest;
        date_waiting(log, w, w->entered > w->newest ? w->entered : w->newest);
    }
    free(scan->writers);
    vt_map_free(&scan->by_tid);
    return error;
}

/* The live list behind the header. One that is not all of it, or misses what the tracer's own table
 * had no room for, is left out. */
static int read_live_list(struct vt_log *log, struct vt_string *message) {
    const struct vt_log_header *h = &log->header;
    uint32_t got;
    if (!(h->flags & VT_FLAG_LIVE_LISTED) || h->live_listed != h->live_total ||
        h->live_listed > VT_LIVE_LISTED_MOST || h->dropped[VT_DROP_LIVE] ||
        (h->exit_kind != VT_EXIT_EXITED && h->exit_kind != VT_EXIT_EXEC))
        return 0;
    uint32_t bytes = (uint32_t)(h->live_listed * sizeof *log->live);
    log->live = vt_alloc((size_t)h->live_listed, sizeof *log->live);
    int error = vt_log_read_at(log->fd, log->path, log->live, bytes, sizeof *h, &got, message);
    log->live_listed = !error && got == bytes;
    log->live_count = log->live_listed ? (size_t)h->live_listed : 0;
    return error;
}

int vt_log_open(const char *path, struct vt_log *log, struct vt_string *message) {
    *log = (struct vt_log){.fd = -1, .frontier = VT_TICKS_MASK};
    struct vt_log_origin origin;
    struct stat st;
    int fd = vt_log_file_open(path, VT_PACK_LOG, UINT64_MAX, &origin, message);
    if (fd < 0)
        return fd;
    int error = vt_log_read_header(fd, path, &log->header, &log->file_bytes, message);
    if (error) {
        close(fd);
        return error;
    }
    log->fd = fd;
    log->path = vt_strdup(path);
    log->answers = origin.answers;
    log->foreign = origin.packed ? origin.foreign : fstat(fd, &st) || st.st_uid != geteuid();
    struct scan scan = {.oldest_entered = UINT64_MAX};
    log->running = origin.packed ? origin.running : vt_log_is_running(&log->header);
    uint64_t sampled = vt_nvml_file_take(log); /* before the scans, so that no sample is newer than
                                                  the events that they see */
    if (log->running) {
        scan.times_only = true;
        error = scan_all(log, &scan, message);
        log->frontier = scan.newest > sampled ? scan.newest : sampled;
        await_stores();
    }
    scan = (struct scan){.oldest_entered = UINT64_MAX};
    if (!error)
        error = scan_all(log, &scan, message);
    if (!error)
        error = read_live_list(log, message);
    if (error) {
        vt_log_close(log);
        return error;
    }
    log->in_flight = scan.in_flight;
    log->last_ticks = log->running && sampled > scan.newest ? sampled : scan.newest;
    if (log->running && scan.oldest_entered - 1 < log->frontier)
        log->frontier = scan.oldest_entered - 1;
    if (log->running && log->last_ticks > log->frontier)
        log->last_ticks = log->frontier;
    /* On a full disk the tracer hands out chunks that are never written, and counts their events as
     * dropped. */
    uint64_t placed = log->header.placed < UINT32_MAX ? log->header.placed : 0;
    log->cut = log->file_bytes % VT_CHUNK_BYTES || (log->file_bytes < placed * VT_CHUNK_BYTES &&
                                                    !log->header.dropped[VT_DROP_LOG_FULL]);
    vt_log_sort_modules(log);
    vt_log_sort_samples(log);
    vt_log_pair_phases(log);
    vt_log_link_owners(log);
    return 0;
}

void vt_log_close(struct vt_log *log) {
    vt_log_free_tables(log);
    free(log->chunks);
    free(log->damage);
    free(log->live);
    free(log->path);
    if (log->fd >= 0)
        close(log->fd);
    *log = (struct vt_log){.fd = -1};
}

int vt_log_read_at(int fd, const char *path, void *bytes, uint32_t size, uint64_t offset,
                   uint32_t *got, struct vt_string *message) {
    ssize_t n = vt_file_read_at(fd, bytes, size, offset);
    *got = n < 0 ? 0 : (uint32_t)n;
    if (n >= 0)
        return 0;
    vt_string_format(message, "%s: offset %llu: cannot be read: %s", path,
                     (unsigned long long)offset, strerror((int)-n));
    return (int)n;
}

int vt_log_read_chunk(const struct vt_log *log, const struct vt_log_chunk *chunk, void *bytes,
                      uint32_t *got, struct vt_string *message) {
    return vt_log_read_at(log->fd, log->path, bytes, chunk->end,
                          (uint64_t)chunk->number * VT_CHUNK_BYTES, got, message);
}
