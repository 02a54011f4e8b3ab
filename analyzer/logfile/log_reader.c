/* SPDX-License-Identifier: MIT */
/*
 * The reader (see log_reader.h). A chunk is copied with pread, the copy is checked, and only the
 * copy is used. Mapping the file would be hardly faster, and truncating a mapped file kills its
 * reader.
 *
 * A log that is still being written is read up to a point in time, the frontier. A thread may have taken the time of a
 * record that it has not published yet, and that record may be older than some that are visible. So the first pass
 * finds the newest time in the file. Then each thread's `entered_at` is read, and then the records: no unpublished
 * record is older than the smaller of the two times. Up to that time nothing is missing; later events are ignored. (For
 * a log that is written in blocks this is unknown: VT_FLAG_BUFFERED.)
 */
#include "log_reader.h"

#include "log_tables.h"
#include "nvml_file.h"
#include "summary.h"

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
                          "not a log of this machine: expected \"vramlog\", found it reversed, as "
                          "the other byte order has it");
    if (got >= 8 && !memcmp(h->magic, VT_LOG_DEVELOPMENT, 8))
        return refuse_log(
            message, path, 0,
            "expected a log of format version %u, found one of a development version, "
            "format %u, before the first release: record it again",
            VT_LOG_VERSION, h->version);
    if (got >= 8 && !memcmp(h->magic, VT_NVML_MAGIC, 8))
        return refuse_log(message, path, 0,
                          "found the samples that belong to a log: name the log, which is the file "
                          "without " VT_NVML_SUFFIX);
    if (got >= 8 && !memcmp(h->magic, "vramtrac", 8))
        return refuse_log(message, path, 0,
                          "found the summary that belongs to a log: name the log, which is the "
                          "file without " VT_SUMMARY_SUFFIX);
    size_t shown = got < 8 ? got : 8;
    bool zeros = true;
    for (size_t i = 0; i < shown; i++) {
        snprintf(hex + 3 * i, 4, " %02x", (unsigned char)h->magic[i]);
        zeros &= h->magic[i] == 0;
    }
    if (zeros && shown == 8)
        return refuse_log(
            message, path, 0,
            "not a vramtrace log, or not written yet: expected \"vramlog\", found zeros");
    return refuse_log(message, path, 0, "not a vramtrace log: expected \"vramlog\", found%s", hex);
}

bool vt_log_is_log(const char *path) {
    static const char magic[8] = VT_LOG_MAGIC;
    char found[sizeof magic];
    VT_SCOPED_FD fd = vt_rights_open(path, path, NULL);
    bool is = fd >= 0 && pread(fd, found, sizeof found, 0) == sizeof found &&
              !memcmp(found, magic, sizeof magic);
    return is || vt_pack_is_pack(path);
}

/* Also recognizes a merged file that another tool rewrote, with other spaces, reordered columns, or without its
 * first row: the reader of merged files then reports that they must not be rewritten. */
bool vt_log_is_merged(int fd) {
    char text[8192];
    size_t length = vt_gzip_peek(fd, text, sizeof text), at = strspn(text, " \t\r\n");
    if (at == length || (text[at] != '{' && text[at] != '['))
        return false;
    return strstr(text, "\"vramtrace-merged") ||
           (strstr(text, "\"row\"") && strstr(text, "\"process\"") &&
            strstr(text, "\"started_at\""));
}

/* Reads the header; fields that belong together are from one moment. The words of one copy are read in any order, so
 * it is copied twice: words equal in both copies had these values between the two. Pairs with vt_log_calibrate and
 * vt_log_end in the tracer. */
static int read_header(int fd, const char *path, struct vt_log_header *h, uint32_t *got,
                       struct vt_string *message) {
    struct vt_log_header before;
    unsigned tries = 100; /* its process may have been killed while writing */
    int error = vt_log_read_at(fd, path, h, sizeof *h, 0, got, message);
    do {
        before = *h;
        if (!error)
            error = vt_log_read_at(fd, path, h, sizeof *h, 0, got, message);
    } while (!error && tries-- && /* model: HEADER_TWICE */
             (h->calibration_ticks != before.calibration_ticks ||
              (!h->calibration_ticks && h->calibration_monotonic_ns) ||
              h->exit_kind != before.exit_kind ||
              h->calibration_monotonic_ns != before.calibration_monotonic_ns));
    return error;
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
    *file_bytes = (uint64_t)st.st_size;
    memset(h, 0, sizeof *h);
    uint32_t got;
    int error = read_header(fd, path, h, &got, message);
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
    if (h->version_min > VT_LOG_VERSION || !h->version)
        return refuse_log(
            message, path, 12,
            "the log has format version %u and needs a reader of version %u; this vramtrace "
            "reads version %u: use the vramtrace that wrote it, or a newer one",
            h->version, h->version_min, VT_LOG_VERSION);
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

/* --- the whole log --- */

/* A store to `entered_at` may still be in the processor's store buffer after the thread has read the time. Without a
 * fence, which would cost more than the rest of an event, neither x86 nor arm64 orders a store before a later read
 * of the counter. The buffer drains, at most about a hundred stores, each once the processor has the cache line, in
 * less than a microsecond even from another socket; interrupts and thread switches wait for it. This is ten times as
 * long. So the reader waits this long between reading the newest time and the first `entered_at`. Pairs with
 * vt_log_enter_now in log_chunks.c; model: AWAIT_STORES. */
#define STORES_SEEN_NS 1000000

void vt_log_await_stores(void) {
    struct timespec left = {.tv_nsec = STORES_SEEN_NS};
    while (nanosleep(&left, &left))
        continue; /* interrupted by a signal */
}

/* Reads the entries for which the header has no room, from the list's last chunk back. An invalid chunk ends the
 * list. */
static int read_live_chunks(struct vt_log *log, size_t *listed, struct vt_string *message) {
    VT_SCOPED struct vt_log_live_chunk *chunk = vt_alloc(1, sizeof *chunk);
    uint64_t number = log->header.live_last;
    size_t left = (size_t)log->header.live_listed;
    int error = 0;
    while (!error && left > VT_LIVE_LISTED_MOST && number && number <= UINT32_MAX) {
        uint32_t got;
        size_t count = (left - VT_LIVE_LISTED_MOST - 1) % VT_LIVE_IN_CHUNK + 1;
        error = vt_log_read_at(log->fd, log->path, chunk, sizeof *chunk, number * VT_CHUNK_BYTES,
                               &got, message);
        if (error || got < offsetof(struct vt_log_live_chunk, entries[count]) || chunk->none ||
            chunk->number != number)
            return error;
        left -= count;
        *listed += count;
        memcpy(log->live + left, chunk->entries, count * sizeof *log->live);
        number = chunk->before;
    }
    return error;
}

/* Reads the live list. It is ignored if it is incomplete, even if only because the tracer's own table was full. */
static int read_live_list(struct vt_log *log, struct vt_string *message) {
    const struct vt_log_header *h = &log->header;
    uint32_t got;
    if (!vt_dropped_events(h) || !(h->flags & VT_FLAG_LIVE_LISTED) ||
        h->live_listed != h->live_total || h->live_listed > log->file_bytes / sizeof *log->live ||
        h->dropped[VT_DROP_LIVE] ||
        (h->exit_kind != VT_EXIT_EXITED && h->exit_kind != VT_EXIT_EXEC))
        return 0;
    size_t count = (size_t)h->live_listed,
           first = count < VT_LIVE_LISTED_MOST ? count : VT_LIVE_LISTED_MOST, listed = 0;
    uint32_t bytes = (uint32_t)(first * sizeof *log->live);
    free(log->live);
    log->live = vt_alloc(count, sizeof *log->live);
    int error = vt_log_read_at(log->fd, log->path, log->live, bytes, sizeof *h, &got, message);
    if (!error && got == bytes)
        listed = first;
    if (!error)
        error = read_live_chunks(log, &listed, message);
    for (size_t i = 0; i < listed; i++)
        listed = log->live[i].word ? listed : 0; /* an entry that the disk lost */
    log->live_listed = !error && listed == count;
    log->live_count = log->live_listed ? count : 0;
    return error;
}

/* Derives the state from all records read so far. */
static void settle(struct vt_log *log, uint64_t sampled) {
    struct vt_log_passed passed = vt_log_passed(log);
    log->in_flight = passed.in_flight;
    log->last_ticks = log->running && sampled > passed.newest ? sampled : passed.newest;
    if (log->running && passed.oldest_entered - 1 < log->frontier)
        log->frontier = passed.oldest_entered - 1;
    if (log->header.dropped[VT_DROP_BOUND])
        log->bound_at = log->header.bound_at;
    if (log->bound_at && !log->live_listed && log->bound_at <= log->frontier)
        log->frontier = log->bound_at - 1;
    if (log->last_ticks > log->frontier)
        log->last_ticks = log->frontier;
    /* When the disk is full, the tracer hands out chunks that are never written, and counts their events as dropped. */
    uint64_t placed = log->header.placed < UINT32_MAX ? log->header.placed : 0;
    log->cut = log->file_bytes % VT_CHUNK_BYTES || (log->file_bytes < placed * VT_CHUNK_BYTES &&
                                                    !log->header.dropped[VT_DROP_LOG_FULL]);
    vt_log_sort_modules(log);
    vt_log_sort_samples(log);
    vt_log_pair_phases(log);
    vt_log_link_owners(log);
}

static int read_on(struct vt_log *log, struct vt_string *message) {
    int error = 0;
    if (!log->packed)
        log->running = vt_log_is_running(&log->header);
    log->frontier = VT_TICKS_MASK;
    uint64_t sampled = vt_nvml_file_add(
        log); /* before the passes, so that no sample is newer than the events read */
    if (log->running) {
        error = vt_log_pass(log, message);
        uint64_t newest = error ? 0 : vt_log_passed(log).newest; /* model: NEWEST_FIRST */
        log->frontier = newest > sampled ? newest : sampled;
        vt_log_await_stores();
    }
    if (!error)
        error = vt_log_pass(log, message);
    if (!error)
        error = read_live_list(log, message);
    if (!error)
        settle(log, sampled);
    return error;
}

/* Opens a log, and reads all present records. After an error the log may be open. */
static int open_now(const char *path, struct vt_log *log, bool follows, struct vt_string *message) {
    *log = (struct vt_log){.fd = -1, .awaits_snapshots = follows};
    struct vt_log_origin origin;
    struct stat st;
    int fd = vt_log_file_open(path, VT_PACK_LOG, UINT64_MAX, &origin, message);
    if (fd < 0)
        return fd;
    log->fd = fd;
    log->path = vt_strdup(path);
    int error = vt_log_read_header(fd, path, &log->header, &log->file_bytes, message);
    if (error)
        return error;
    log->answers = origin.answers;
    log->foreign = origin.packed ? origin.foreign : fstat(fd, &st) || st.st_uid != geteuid();
    log->packed = origin.packed;
    log->running = origin.running;
    if (log->header.summary)
        error = vt_summary_read(log, message);
    return error ? error : read_on(log, message);
}

/* A new summary comes seconds after the previous one, and reading starts from the newest, so a second try is rare. */
#define TRIES 20

static int open_log(const char *path, struct vt_log *log, bool follows, struct vt_string *message) {
    for (unsigned left = TRIES;; left--) {
        VT_SCOPED_STRING why = {0};
        int error = open_now(path, log, follows, &why);
        bool again = (!error || log->summary) && vt_summary_is_newer(log);
        if (!error && again && left == 1) {
            vt_string_format(&why, "%s: expected a summary that stays, found a newer one each time",
                             path);
            error = -EBUSY;
        }
        if (!error && !again)
            return 0;
        vt_log_close(log);
        if (!again || left == 1) {
            vt_string_add(message, why.text);
            return error;
        }
    }
}

int vt_log_open(const char *path, struct vt_log *log, struct vt_string *message) {
    return open_log(path, log, false, message);
}

int vt_log_open_to_follow(const char *path, struct vt_log *log, struct vt_string *message) {
    return open_log(path, log, true, message);
}

int vt_log_resume(struct vt_log *log, struct vt_string *message) {
    int error = vt_log_read_header(log->fd, log->path, &log->header, &log->file_bytes, message);
    return error ? error : read_on(log, message);
}

void vt_log_close(struct vt_log *log) {
    vt_log_free_tables(log);
    vt_log_end_passes(log);
    vt_summary_free(log->rest);
    free(log->chunks);
    for (size_t i = 0; i < log->damage_count; i++)
        free(log->damage[i].what);
    free(log->damage);
    free(log->live);
    free(log->path);
    if (log->fd >= 0)
        close(log->fd);
    *log = (struct vt_log){.fd = -1};
}

int vt_log_read_chunk(const struct vt_log *log, const struct vt_log_chunk *chunk, void *bytes,
                      uint32_t *got, struct vt_string *message) {
    return vt_log_read_at(log->fd, log->path, bytes, chunk->end,
                          (uint64_t)chunk->number * VT_CHUNK_BYTES, got, message);
}
