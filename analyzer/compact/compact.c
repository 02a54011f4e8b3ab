/* SPDX-License-Identifier: MIT */
/*
 * Decides when a log is compacted, and in which order (see compact.h).
 *
 * The log is reopened each time, so its state is the last summary and the records since, and resuming after a killed
 * compactor is no special case.
 */
#define _GNU_SOURCE
#include "compact.h"

#include "give_back.h"
#include "logfile/logfile.h"
#include "model/timeline.h"
#include "replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The summary's share of the bytes of log and summary. Briefly, two summaries exist. */
#define SUMMARY_SHARE  8u
/* A log is compacted each time that this share of its own bytes was written. A smaller share would write the summary
 * needlessly often; a larger one would leave too little space meanwhile. */
#define WRITTEN_SHARE  8u
#define WRITTEN_LEAST  16u            /* chunks */
#define NO_BOUND       (256ull << 20) /* assumed for a log without a bound */
#define LOOK_MS        1000u          /* between checks whether the process lives */
/* Between summaries when the process has no space left. Doubled after each summary that released nothing, since the
 * process may be idle. */
#define SHORT_LEAST_MS 200u
#define SHORT_MOST_MS  60000u
#define FULL_MS        1000u /* between tries when the disk is full */
#define WAIT_LEAST_MS  50u
#define WAIT_MOST_MS   500u

struct vt_compactor {
    char *path;
    int fd;
    struct vt_log_header *header; /* mapped */
    struct vt_free_offer *offer;  /* NULL: no process takes chunks */
    /* header.chunks and vt_free_offer_taken at the last compaction */
    uint64_t chunks, recycled_count;
    uint64_t looked_ns, compacted_ns;
    unsigned short_ms;
    uint64_t full_until_ns; /* the next try when the disk is full; 0: it is not full */
    bool ended;
    struct vt_compacted done;
};

static uint64_t bound_of(const struct vt_log_header *header) {
    return header->bound ? header->bound : NO_BOUND;
}

bool vt_compact_wanted(const struct vt_log_header *header) {
    return header->bound && !(header->flags & VT_FLAG_BUFFERED);
}

/* --- one log --- */

static int refuse(const struct vt_compactor *c, struct vt_string *message) {
    if (!(c->header->flags & VT_FLAG_BUFFERED))
        return 0;
    vt_string_format(message,
                     "%s: cannot be compacted: it is written in blocks, as its file "
                     "system guarantees no space",
                     c->path);
    return -EOPNOTSUPP;
}

static int open_log(struct vt_compactor *c, struct vt_string *message) {
    struct vt_log_header header;
    uint64_t bytes;
    const char *why;
    c->fd = vt_file_open_as(c->path, O_RDWR | O_NOFOLLOW, &why);
    if (c->fd < 0) {
        vt_string_format(message, "%s: cannot be compacted: %s", c->path, why);
        return c->fd;
    }
    int error = vt_log_read_header(c->fd, c->path, &header, &bytes, message);
    if (error)
        return error;
    if (flock(c->fd, LOCK_EX | LOCK_NB)) {
        vt_string_format(message, "%s: another process compacts it", c->path);
        return -EBUSY;
    }
    c->header = mmap(NULL, sizeof *c->header, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
    if (c->header == MAP_FAILED) {
        error = errno;
        c->header = NULL;
        vt_string_format(message, "%s: cannot be mapped: %s", c->path, strerror(error));
        return -error;
    }
    error = refuse(c, message);
    if (!error && vt_log_is_running(c->header))
        c->offer = vt_free_offer_start(c->header->free_chunks);
    return error;
}

int vt_compactor_open(const char *log, struct vt_compactor **compactor, struct vt_string *message) {
    struct vt_compactor *c = vt_alloc(1, sizeof *c);
    c->fd = -1;
    c->short_ms = SHORT_LEAST_MS;
    c->path = vt_strdup(log);
    int error = open_log(c, message);
    if (error) {
        vt_compactor_close(c);
        c = NULL;
    }
    *compactor = c;
    return error;
}

void vt_compactor_close(struct vt_compactor *c) {
    if (!c)
        return;
    vt_free_offer_stop(c->offer);
    if (c->header)
        munmap(c->header, sizeof *c->header);
    vt_file_close_scoped(&c->fd);
    free(c->path);
    free(c);
}

struct vt_compacted vt_compactor_done(const struct vt_compactor *c) {
    struct vt_compacted done = c->done;
    struct stat st;
    done.log_bytes = fstat(c->fd, &st) ? 0 : (uint64_t)st.st_blocks * 512;
    return done;
}

/* --- a summary --- */

int vt_compact_summarize(struct vt_log *log, uint64_t most, struct vt_string *message) {
    struct vt_replay replay = {0};
    struct vt_history history;
    struct vt_pictures pictures;
    struct vt_window all = {0, VT_TICKS_MASK};
    vt_history_open(&history, log->header.program_end);
    vt_pictures_open(&pictures, VT_TIMELINE_ALL, -1);
    struct vt_walk *walk = vt_replay_open(
        log, all, (struct vt_replay_options){.history = &history, .pictures = &pictures}, &replay);
    int error = vt_replay_load(walk, message);
    if (!error)
        error = vt_replay_resume(walk, VT_TICKS_MASK, message);
    if (!error)
        error = vt_replay_save(walk, log, log->summary + 1, most, message);
    vt_replay_close(walk);
    vt_pictures_close(&pictures);
    vt_history_close(&history);
    vt_replay_free(&replay);
    return error;
}

/* From now on the log needs this summary; model: NAME_FIRST. */
static int name_summary(struct vt_compactor *c, uint64_t generation, struct vt_string *message) {
    __atomic_store_n(&c->header->summary, generation, __ATOMIC_RELEASE);
    /* Before the chunks' zeroes: pairs with vt_summary_is_newer; model: NAME_FENCE. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    if (!msync(c->header, sizeof *c->header, MS_SYNC))
        return 0;
    int error = errno;
    vt_string_format(message, "%s: cannot be written: %s", c->path, strerror(error));
    return -error;
}

static int give_back(struct vt_compactor *c, const struct vt_log *log, struct vt_string *message) {
    struct vt_free_chunks found = {0};
    int error = vt_free_chunks_empty(log, c->fd, !log->running, &found, message);
    c->done.chunks += found.emptied;
    c->short_ms = found.emptied                     ? SHORT_LEAST_MS
                  : c->short_ms > SHORT_MOST_MS / 2 ? SHORT_MOST_MS
                                                    : 2 * c->short_ms;
    if (c->offer && !error)
        vt_free_offer_put(c->offer, &found);
    else
        free(found.words);
    return error;
}

static uint64_t recycled_count(const struct vt_compactor *c) {
    return c->offer ? vt_free_offer_taken(c->offer) : 0;
}

int vt_compactor_compact(struct vt_compactor *c, struct vt_string *message) {
    struct vt_log log;
    c->chunks = __atomic_load_n(&c->header->chunks, __ATOMIC_RELAXED);
    c->recycled_count = recycled_count(c);
    int error = vt_log_open_to_follow(c->path, &log, message);
    if (error)
        return error;
    /* The last compactor may have died before the header on the disk named its summary. The header may be one
     * summary behind, not two. */
    bool anew = log.summary && !c->done.until_ns;
    if (anew)
        error = vt_summary_sync(&log, message);
    if (anew && !error)
        error = name_summary(c, log.summary, message);
    if (!error)
        error = vt_compact_summarize(&log, bound_of(c->header) / SUMMARY_SHARE, message);
    if (!error)
        error = name_summary(c, log.summary, message);
    if (!error)
        error = give_back(c, &log, message);
    c->compacted_ns = vt_now_ns();
    if (!error)
        c->done.until_ns = vt_clock_ns(vt_clock_of(&log), log.until);
    c->done.summary_bytes = log.summary_bytes;
    vt_log_close(&log);
    return error;
}

/* --- while the process runs --- */

/* The number of chunks written since the last compaction. */
static uint64_t written(const struct vt_compactor *c) {
    return __atomic_load_n(&c->header->chunks, __ATOMIC_RELAXED) - c->chunks + recycled_count(c) -
           c->recycled_count;
}

/* Whether the process may have no chunk left for events, because the last summary covered little, held up by a
 * snapshot or a slow thread. */
static bool is_short(const struct vt_compactor *c, uint64_t now) {
    uint64_t most = bound_of(c->header) / VT_CHUNK_BYTES;
    return __atomic_load_n(&c->header->chunks, __ATOMIC_RELAXED) >= most - most * 3 / 8 &&
           now - c->compacted_ns >= c->short_ms * 1000000ull &&
           vt_free_offer_left(c->offer) <= VT_FREE_KEPT_MOST;
}

/* A summary needs disk space before it can release any. Other programs may free some, so report a full disk once,
 * and retry. */
static int wait_for_room(struct vt_compactor *c, int error, struct vt_string *message) {
    if (error != -ENOSPC && error != -EDQUOT) {
        c->full_until_ns = 0;
        return error;
    }
    if (!c->full_until_ns)
        vt_error("%s; it is compacted when there is room", message->text);
    vt_string_free(message);
    c->full_until_ns = vt_now_ns() + FULL_MS * 1000000ull;
    return 0;
}

/* The number of new chunks that are due for compaction. */
static uint64_t share_of(const struct vt_compactor *c) {
    uint64_t share = bound_of(c->header) / VT_CHUNK_BYTES / WRITTEN_SHARE;
    return share < WRITTEN_LEAST ? WRITTEN_LEAST : share;
}

static bool is_due(const struct vt_compactor *c, uint64_t now) {
    return c->full_until_ns || written(c) >= share_of(c) || is_short(c, now);
}

/* A program writes at most 100 MB, 1,600 chunks, per second. */
unsigned vt_compactor_wait_ms(const struct vt_compactor *c) {
    uint64_t ms = share_of(c) * 1000 / 1600 / 4;
    return ms < WAIT_LEAST_MS ? WAIT_LEAST_MS : ms > WAIT_MOST_MS ? WAIT_MOST_MS : (unsigned)ms;
}

int vt_compactor_go_on(struct vt_compactor *c, bool *ended, struct vt_string *message) {
    uint64_t now = vt_now_ns();
    if (now - c->looked_ns >= LOOK_MS * 1000000ull || c->header->exit_kind != VT_EXIT_NONE) {
        c->looked_ns = now;
        c->ended = !vt_log_is_running(c->header);
    }
    *ended = c->ended;
    if (c->ended)
        return 0;
    if (now < c->full_until_ns || !is_due(c, now))
        return 0;
    return wait_for_room(c, vt_compactor_compact(c, message), message);
}
