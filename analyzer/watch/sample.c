/* SPDX-License-Identifier: MIT */
/*
 * Produces frames (see sample.h). Each refresh continues reading each log where the last one ended. Rates compare the
 * memory of lines now and a minute ago.
 */
#include "sample.h"

#include "sources.h"

#include "logfile/logfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SECOND      1000000000ull
/* The memory of lines is stored every two seconds, for a little over a minute. */
#define PAST_EVERY  (2 * SECOND)
#define PASTS       34
#define LOOK_EVERY  SECOND /* between searches for new logs */
#define COURSE_MOST 8192u
/* slots of the model are used up to this width; wider ones are coarser than the view's own samples */
#define COURSE_FINE (2 * SECOND)
#define RATE_LEAST  (SECOND / 5) /* shorter times give no rate */

/* A process's memory at one time. */
struct held {
    uint64_t key, bytes;
};
struct past {
    uint64_t at;
    struct held *held; /* by key */
    size_t count;
};

struct course {
    unsigned ordinal;
    struct vt_watch_point *points;
    uint32_t count, room;
    uint64_t seen; /* time of the first refresh: earlier data comes from the log */
};

/* A log being followed. */
struct follow {
    char *source, *log;
    unsigned pid;
    struct past pasts[PASTS]; /* the oldest first */
    uint32_t past_count;
    struct course *courses;
    uint32_t course_count, course_room;
    struct vt_follow *followed;    /* NULL: it cannot be read yet */
    struct vt_watch_process *last; /* NULL: nothing was read yet */
    struct stat read;              /* the log's status before the last reading */
};

struct vt_sampler {
    const struct vt_model_builder *builder;
    struct vt_model_options options;
    struct vt_source *sources;
    uint32_t source_count;
    struct follow *follows;
    uint32_t count, room;
    struct vt_map known; /* followed logs, by path */
    uint64_t looked;
};

static uint64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* --- followed logs --- */

static bool follow_log(void *to, const char *log, unsigned pid, const char *source) {
    struct vt_sampler *s = to;
    uint64_t path = vt_hash_bytes(0, log, strlen(log));
    if (vt_map_get(&s->known, path) != VT_MAP_NONE)
        return false;
    vt_map_put(&s->known, path, s->count);
    VT_GROW(s->follows, s->count, s->room);
    s->follows[s->count++] =
        (struct follow){.source = vt_strdup(source), .log = vt_strdup(log), .pid = pid};
    return true;
}

struct vt_sampler *vt_sample_open(char *const *words, int count,
                                  const struct vt_model_options *options,
                                  const struct vt_model_builder *builder) {
    struct vt_sampler *s = vt_alloc(1, sizeof *s);
    s->builder = builder;
    s->options = *options;
    s->options.timeline = VT_TIMELINE_COURSES;
    s->source_count = count ? (uint32_t)count : 1;
    s->sources = vt_alloc(s->source_count, sizeof *s->sources);
    for (uint32_t i = 0; i < s->source_count; i++)
        s->sources[i] = vt_sources_open(count ? words[i] : ".");
    return s;
}

static void forget_past(struct past *past) {
    free(past->held);
    *past = (struct past){0};
}

void vt_sample_close(struct vt_sampler *s) {
    for (uint32_t i = 0; i < s->source_count; i++)
        vt_sources_close(&s->sources[i]);
    for (uint32_t i = 0; i < s->count; i++) {
        struct follow *f = &s->follows[i];
        for (uint32_t j = 0; j < f->past_count; j++)
            forget_past(&f->pasts[j]);
        for (uint32_t j = 0; j < f->course_count; j++)
            free(f->courses[j].points);
        vt_frame_release(f->last, s->builder);
        s->builder->unfollow(f->followed);
        free(f->courses);
        free(f->source);
        free(f->log);
    }
    vt_map_free(&s->known);
    free(s->sources);
    free(s->follows);
    free(s);
}

/* Time since the log began, as long as the process runs. */
static uint64_t time_of(const struct vt_process *p) {
    uint64_t now = clock_ns(CLOCK_REALTIME);
    bool running = p->ending.how == VT_END_RUNNING;
    uint64_t age = p->started_at && now > p->started_at ? now - p->started_at : 0;
    return running && age > p->duration ? age : p->duration;
}

/* --- rates --- */

static uint64_t device_key(unsigned ordinal) {
    return vt_mix(0x6465766963650000u + ordinal);
}

static int by_key(const void *a, const void *b) {
    const struct held *x = a, *y = b;
    return VT_ORDER({x->key, y->key});
}

static void remember_held(struct follow *f, uint64_t at, const struct vt_watch_process *w) {
    if (f->past_count == PASTS) {
        forget_past(&f->pasts[0]);
        memmove(f->pasts, f->pasts + 1, --f->past_count * sizeof *f->pasts);
    }
    struct past *past = &f->pasts[f->past_count++];
    *past = (struct past){.at = at};
    if (!w)
        return;
    past->held = vt_alloc(w->line_count + w->process->device_count, sizeof *past->held);
    for (uint32_t i = 0; i < w->line_count; i++)
        past->held[past->count++] = (struct held){w->lines[i].key, w->lines[i].bytes};
    for (uint32_t i = 0; i < w->process->device_count; i++)
        past->held[past->count++] = (struct held){device_key(w->process->devices[i].ordinal),
                                                  w->process->devices[i].live_bytes};
    vt_sort(past->held, past->count, sizeof *past->held, by_key);
}

/* Reads the log up to the moment a minute ago, for the first rates. Returns 0, or -errno with `message`. */
static int remember_minute(struct vt_sampler *s, struct follow *f, struct vt_string *message) {
    struct vt_model model;
    uint64_t then = 0;
    for (int look = 0; look < 2;
         look++) { /* first at the log's beginning, to get its age; then a minute ago */
        int error = s->builder->go_on(f->followed, then, &model, message);
        if (error)
            return error;
        struct vt_watch_process *w = vt_frame_process(&model);
        uint64_t now = time_of(w->process);
        uint64_t known = w->process->quality.details_from; /* earlier times are unknown */
        if (look || now <= VT_WATCH_MINUTE)
            remember_held(f, known > then ? known : then, w);
        bool is_old = now > VT_WATCH_MINUTE && w->state == VT_WATCH_RUNNING;
        vt_frame_release(w, s->builder);
        if (!is_old)
            break;
        then = now - VT_WATCH_MINUTE;
    }
    return 0;
}

static double rate_since(const struct past *past, uint64_t key, uint64_t bytes, uint64_t now) {
    const struct held *found = past->count ? bsearch(&(struct held){.key = key}, past->held,
                                                     past->count, sizeof *past->held, by_key)
                                           : NULL;
    return ((double)bytes - (found ? (double)found->bytes : 0)) * 1e9 / (double)(now - past->at);
}

/* Sets the rates since the oldest remembered time within the last minute. */
static void set_rates(const struct follow *f, struct vt_watch_process *w) {
    const struct past *past = NULL;
    for (uint32_t i = 0; i < f->past_count && !past; i++)
        if (f->pasts[i].at + VT_WATCH_MINUTE + PAST_EVERY >= w->now)
            past = &f->pasts[i];
    if (!past && f->past_count)
        past = &f->pasts[f->past_count - 1];
    if (!past || past->at + RATE_LEAST > w->now)
        return;
    for (uint32_t i = 0; i < w->line_count; i++)
        w->lines[i].rate = rate_since(past, w->lines[i].key, w->lines[i].bytes, w->now);
    for (uint32_t i = 0; i < w->process->device_count; i++)
        w->devices[i].rate = rate_since(past, device_key(w->process->devices[i].ordinal),
                                        w->process->devices[i].live_bytes, w->now);
}

/* --- courses --- */

static void add_point(struct course *c, uint64_t at, uint64_t live, uint64_t in_use) {
    if (c->count && c->points[c->count - 1].at > at)
        return;
    if (c->count == COURSE_MOST) {
        c->count /= 2;
        memmove(c->points, c->points + c->count, c->count * sizeof *c->points);
    }
    VT_GROW(c->points, c->count, c->room);
    c->points[c->count++] = (struct vt_watch_point){at, live, in_use};
}

/* Replaces the course by the model's, where the model's is finer or earlier. */
static void replace_course(struct course *c, const struct vt_course *from) {
    uint64_t slot = from->slot_count ? (from->end - from->begin) / from->slot_count : 0;
    uint64_t until = slot <= COURSE_FINE ? UINT64_MAX : c->seen;
    uint32_t kept = 0;
    while (kept < c->count && c->points[kept].at < until)
        kept++;
    struct course old = *c;
    *c = (struct course){.ordinal = old.ordinal, .seen = old.seen};
    add_point(c, 0, 0, 0);
    for (uint32_t i = 0; i < from->slot_count && from->at[i] < until; i++) {
        uint64_t idle = 0;
        for (uint32_t k = 0; k < from->band_count; k++)
            if (from->bands[k].kind == VT_BAND_IDLE)
                idle += from->bands[k].bytes[i];
        add_point(c, from->at[i], from->live_bytes[i],
                  idle < from->live_bytes[i] ? from->live_bytes[i] - idle : 0);
    }
    for (uint32_t i = kept; i < old.count; i++)
        add_point(c, old.points[i].at, old.points[i].live, old.points[i].in_use);
    free(old.points);
}

static struct course *course_of(struct follow *f, unsigned ordinal, uint64_t now) {
    for (uint32_t i = 0; i < f->course_count; i++)
        if (f->courses[i].ordinal == ordinal)
            return &f->courses[i];
    VT_GROW(f->courses, f->course_count, f->course_room);
    struct course *c = &f->courses[f->course_count++];
    *c = (struct course){.ordinal = ordinal, .seen = now};
    add_point(c, 0, 0, 0);
    return c;
}

/* Appends the current live memory, and before it the peak, if it came after the course's last point. */
static void extend_course(struct follow *f, struct vt_watch_process *w, uint32_t index) {
    const struct vt_device *d = &w->process->devices[index];
    const struct vt_timeline *timeline = w->process->timeline;
    struct course *c = course_of(f, d->ordinal, w->now);
    for (uint32_t i = 0; i < timeline->course_count; i++)
        if (timeline->courses[i].device == d->ordinal)
            replace_course(c, &timeline->courses[i]);
    if (d->peak_at_ns != VT_UNKNOWN && d->peak_at_ns < w->now &&
        c->points[c->count - 1].at < d->peak_at_ns)
        add_point(c, d->peak_at_ns, d->peak_bytes, d->has_blocks ? VT_UNKNOWN : d->peak_bytes);
    add_point(c, w->now, d->live_bytes, w->devices[index].in_use);
    w->devices[index].course = vt_alloc(c->count, sizeof *c->points);
    w->devices[index].course_count = c->count;
    memcpy(w->devices[index].course, c->points, c->count * sizeof *c->points);
}

/* --- a refresh --- */

/* Whether an ended process's log is the same as at the last reading. It changes if the process in fact runs on another
 * machine. */
static bool is_unchanged(const struct follow *f, const struct stat *st) {
    return f->last && f->last->state == VT_WATCH_ENDED && f->read.st_size == st->st_size &&
           f->read.st_mtim.tv_sec == st->st_mtim.tv_sec &&
           f->read.st_mtim.tv_nsec == st->st_mtim.tv_nsec && f->read.st_ino == st->st_ino;
}

static struct vt_watch_process *process_without_model(struct follow *f, int error,
                                                      const struct stat *st, const char *why) {
    bool missing = error == -ENOENT || (st && st->st_size == 0);
    VT_SCOPED char *message = !missing  ? NULL
                              : f->last ? vt_formatted("%s: the log is gone", f->log)
                                        : vt_formatted("%s: no log yet", f->log);
    struct vt_watch_process *w = vt_frame_nothing(!missing  ? VT_WATCH_UNREADABLE
                                                  : f->last ? VT_WATCH_ENDED
                                                            : VT_WATCH_WAITING,
                                                  message ? message : why);
    w->source = vt_strdup(f->source);
    w->log = vt_strdup(f->log);
    w->pid = f->pid;
    return w;
}

/* Continues reading the log, or starts again if the file was replaced. */
static int read_on(struct vt_sampler *s, struct follow *f, const struct stat *st,
                   struct vt_model *model, struct vt_string *message) {
    int error = 0;
    if (f->followed && (f->read.st_ino != st->st_ino || f->read.st_dev != st->st_dev)) {
        s->builder->unfollow(f->followed);
        f->followed = NULL;
    }
    if (!f->followed) {
        error = s->builder->follow(f->log, &s->options, &f->followed, message);
        if (!error && !f->past_count)
            error = remember_minute(s, f, message);
    }
    f->read = *st;
    if (!error)
        error = s->builder->go_on(f->followed, UINT64_MAX, model, message);
    if (error) {
        s->builder->unfollow(f->followed);
        f->followed = NULL;
    }
    return error;
}

/* Data of a process that was read to its end stays, even if the file disappears. */
static struct vt_watch_process *refresh_process(struct vt_sampler *s, struct follow *f) {
    struct vt_model model;
    VT_SCOPED_STRING message = {0};
    struct stat st;
    int error = vt_log_file_stat(f->log, &st) ? -errno : 0;
    if (!error && is_unchanged(f, &st))
        return vt_frame_share(f->last);
    bool there = !error;
    if (there)
        error = read_on(s, f, &st, &model, &message);
    if (error) {
        if (f->last && f->last->state == VT_WATCH_ENDED)
            return vt_frame_share(f->last);
        return process_without_model(f, error, there ? &st : NULL,
                                     message.length ? message.text : strerror(-error));
    }
    struct vt_watch_process *w = vt_frame_process(&model);
    w->source = vt_strdup(f->source);
    w->log = vt_strdup(f->log);
    w->pid = f->pid ? f->pid : w->pid;
    w->now = time_of(w->process);
    if (w->state == VT_WATCH_RUNNING) {
        set_rates(f, w);
        if (f->pasts[f->past_count - 1].at + PAST_EVERY <= w->now)
            remember_held(f, w->now, w);
    }
    for (uint32_t i = 0; i < w->process->device_count; i++)
        extend_course(f, w, i);
    vt_frame_release(f->last, s->builder);
    f->last = vt_frame_share(w);
    if (w->state == VT_WATCH_ENDED) {
        s->builder->unfollow(f->followed);
        f->followed = NULL;
    }
    return w;
}

struct vt_watch_frame *vt_sample_next(struct vt_sampler *s) {
    struct vt_watch_frame *frame = vt_alloc(1, sizeof *frame);
    uint64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID), now = vt_now_ns();
    if (!s->looked || now - s->looked >= LOOK_EVERY) {
        s->looked = now;
        for (uint32_t i = 0; i < s->source_count; i++)
            vt_sources_look(&s->sources[i], follow_log, s);
    }
    frame->processes = vt_alloc(s->count + s->source_count, sizeof *frame->processes);
    for (uint32_t i = 0; i < s->count; i++)
        frame->processes[frame->count++] = refresh_process(s, &s->follows[i]);
    for (uint32_t i = 0; i < s->source_count; i++)
        if (s->sources[i].message) {
            struct vt_watch_process *w = vt_frame_nothing(
                s->sources[i].gone ? VT_WATCH_ENDED : VT_WATCH_WAITING, s->sources[i].message);
            w->source = vt_strdup(s->sources[i].text);
            frame->processes[frame->count++] = w;
        }
    frame->at = clock_ns(CLOCK_REALTIME);
    frame->cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
    return frame;
}

bool vt_sample_is_over(const struct vt_watch_frame *frame) {
    for (uint32_t i = 0; i < frame->count; i++)
        if (frame->processes[i]->state != VT_WATCH_ENDED)
            return false;
    return frame->count > 0;
}
