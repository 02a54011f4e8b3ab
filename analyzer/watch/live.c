/* SPDX-License-Identifier: MIT */
/*
 * Runs the view. One thread reads keys and draws. A second one builds models, so that a long log does not delay keys. A
 * third one requests snapshots, which may take seconds. Without a terminal, a single thread builds and writes.
 */
#include "watch.h"

#include "logfile/logfile.h"
#include "sample.h"
#include "screen.h"
#include "sources.h"
#include "view.h"
#include "writers.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* After a refresh comes a pause of at least this many times the refresh's processor time, so the view uses at most a
 * tenth of a core. */
enum { REST = 9 };
enum { LINES_OF_METRICS = 20, LINES_PLAIN = 10, ASK_SECONDS = 10 };
#define WAITING_NS 200000000ull /* between searches for a log that does not exist yet */

/* Data shared by the threads. `lock` protects all members that change. */
struct live {
    const struct vt_watch_options *options;
    struct vt_sampler *sampler;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int event; /* wakes the screen's thread */
    bool now;  /* refresh at once */
    uint64_t interval;
    struct vt_watch_frame *made; /* not shown yet */
    struct vt_watch_frame *old;  /* already shown; the building thread frees them */
    char *answer, *fault;        /* answer: to a snapshot request; fault: of the metrics file */
    pthread_mutex_t metrics;     /* held while the metrics file is written */
    bool asking, stop_asking;
    unsigned pid;
    char *log;
};

static void notify_screen(struct live *l) {
    uint64_t one = 1;
    ssize_t written = write(l->event, &one, sizeof one);
    (void)written; /* a failed write means that wake-ups are already queued */
}

/* The pause after a frame. */
static uint64_t pause_after(const struct vt_watch_frame *frame, uint64_t interval) {
    bool waiting = false;
    for (uint32_t i = 0; i < frame->count; i++)
        waiting |= frame->processes[i]->state == VT_WATCH_WAITING;
    if (waiting && interval > WAITING_NS)
        interval = WAITING_NS;
    return frame->cost * REST > interval ? frame->cost * REST : interval;
}

static struct timespec time_after(uint64_t ns) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    ns += (uint64_t)t.tv_nsec;
    t.tv_sec += (time_t)(ns / 1000000000u);
    t.tv_nsec = (long)(ns % 1000000000u);
    return t;
}

static char *write_metrics(const struct vt_watch_options *o, const struct vt_watch_frame *frame) {
    uint32_t top = o->top ? o->top : LINES_OF_METRICS;
    return o->prometheus ? vt_prometheus_write(frame, top, o->prometheus) : NULL;
}

/* --- with a screen --- */

static void *build_frames(void *argument) {
    struct live *l = argument;
    pthread_mutex_lock(&l->lock);
    for (;;) {
        struct vt_watch_frame *old = l->old, *unseen;
        l->old = NULL;
        l->now = false;
        pthread_mutex_unlock(&l->lock);
        while (old) {
            struct vt_watch_frame *next = old->next;
            vt_frame_free(old, l->options->builder);
            old = next;
        }
        struct vt_watch_frame *frame = vt_sample_next(l->sampler);
        pthread_mutex_lock(&l->metrics);
        char *fault = write_metrics(l->options, frame);
        pthread_mutex_unlock(&l->metrics);
        pthread_mutex_lock(&l->lock);
        unseen = l->made;
        l->made = frame;
        free(l->fault);
        l->fault = fault;
        struct timespec until = time_after(pause_after(frame, l->interval));
        pthread_mutex_unlock(&l->lock);
        notify_screen(l);
        vt_frame_free(unseen, l->options->builder);
        pthread_mutex_lock(&l->lock);
        while (!l->now && pthread_cond_timedwait(&l->wake, &l->lock, &until) == 0)
            continue;
    }
    return NULL;
}

static void *ask_for_owners(void *argument) {
    struct live *l = argument;
    VT_SCOPED_STRING message = {0};
    enum vt_answer answer = VT_ANSWER_NONE;
    char *text;
    const struct vt_request request = {.timeout_ms = ASK_SECONDS * 1000, .stop = &l->stop_asking};
    if (vt_request_snapshot(l->pid, l->log, &request, &answer, &message))
        text = vt_strdup(message.text);
    else if (answer == VT_ANSWER_TAKEN)
        text = vt_strdup("owners as of now");
    else if (answer == VT_ANSWER_REFUSED)
        text = vt_strdup("no snapshot: VRAMTRACE_SNAPSHOT=off, or no memory is held");
    else if (answer == VT_ANSWER_ENDED)
        text = vt_strdup("no snapshot: the process has ended");
    else
        text = vt_formatted(answer == VT_ANSWER_LATE
                                ? "no answer within %d s: it still looks for owners"
                                : "idle for %d s: it answers when it next allocates or frees",
                            ASK_SECONDS);
    pthread_mutex_lock(&l->lock);
    free(l->answer);
    l->answer = text;
    free(l->log);
    l->log = NULL;
    l->asking = false;
    l->now = true; /* a refresh shows the snapshot */
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->lock);
    notify_screen(l);
    return NULL;
}

static void begin_asking(struct live *l, struct vt_view *v, const struct vt_watch_process *w,
                         pthread_t *asker, bool *started) {
    v->pane = VT_PANE_OWNERS;
    v->scroll = v->shift = 0;
    if (!w || w->state != VT_WATCH_RUNNING) {
        vt_view_set_status(
            v, vt_strdup("the process is not running: these are the owners in its log"));
        return;
    }
    pthread_mutex_lock(&l->lock);
    bool busy = l->asking;
    pthread_mutex_unlock(&l->lock);
    if (!busy) {
        if (*started)
            pthread_join(*asker, NULL);
        l->pid = w->pid;
        l->log = vt_strdup(w->log);
        l->asking = true;
        int error = pthread_create(asker, NULL, ask_for_owners, l);
        *started = !error;
        if (error) {
            free(l->log);
            l->log = NULL;
            l->asking = false;
            vt_view_set_status(v, vt_formatted("cannot start a thread: %s", strerror(error)));
            return;
        }
    }
    vt_view_set_status(v, vt_formatted("asking process %u for its owners: it answers when it next "
                                       "allocates or frees",
                                       w->pid));
}

/* Takes the newest frame and any new messages. Returns the frame to show. */
static struct vt_watch_frame *next_frame(struct live *l, struct vt_view *v,
                                         struct vt_watch_frame *shown) {
    uint64_t count;
    ssize_t got = read(l->event, &count, sizeof count);
    (void)got;
    pthread_mutex_lock(&l->lock);
    if (l->made && (!v->paused || !shown)) {
        if (shown) {
            shown->next = l->old;
            l->old = shown;
        }
        shown = l->made;
        l->made = NULL;
        vt_view_follow(v, shown);
    }
    if (l->answer)
        vt_view_set_status(v, l->answer);
    l->answer = NULL;
    if (l->fault)
        vt_view_set_status(v, l->fault);
    l->fault = NULL;
    pthread_mutex_unlock(&l->lock);
    return shown;
}

/* Runs until the user quits. */
static void show_frames(struct live *l, struct vt_view *v) {
    struct vt_watch_frame *shown = NULL;
    pthread_t asker;
    bool asked = false, quit = false;
    while (!quit) {
        struct pollfd waits[] = {{.fd = 0, .events = POLLIN}, {.fd = l->event, .events = POLLIN}};
        poll(waits, 2, -1);
        if (waits[0].revents & (POLLHUP | POLLERR | POLLNVAL))
            break; /* the terminal is gone */
        if (waits[1].revents & POLLIN)
            shown = next_frame(l, v, shown);
        struct vt_watch_frame none = {0};
        for (int key; !quit && (key = vt_screen_key()) >= 0;) {
            enum vt_keys_action action = vt_keys_press(v, shown ? shown : &none, key);
            quit = action == VT_KEYS_QUIT;
            if (action == VT_KEYS_ASK && shown)
                begin_asking(l, v, vt_view_process(v, shown), &asker, &asked);
            if (action == VT_KEYS_REFRESH) {
                pthread_mutex_lock(&l->lock);
                l->interval = v->interval;
                l->now = true;
                pthread_cond_signal(&l->wake);
                pthread_mutex_unlock(&l->lock);
            }
        }
        vt_view_draw(v, shown ? shown : &none);
    }
    __atomic_store_n(&l->stop_asking, true, __ATOMIC_RELEASE);
    if (asked)
        pthread_join(asker, NULL);
    vt_frame_free(shown, l->options->builder);
}

static int watch_screen(const struct vt_watch_options *o, struct vt_sampler *sampler) {
    struct live l = {.options = o, .sampler = sampler, .interval = o->interval};
    struct vt_view view = {.interval = o->interval};
    pthread_condattr_t monotonic;
    pthread_t builder;
    if (vt_screen_open(vt_wants_colour(1))) {
        const char *kind = getenv("TERM");
        vt_error("TERM=%s: expected a known kind of terminal; --once prints a frame",
                 kind ? kind : "");
        vt_sample_close(sampler);
        return VT_STATUS_USAGE;
    }
    l.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&l.lock, NULL);
    pthread_mutex_init(&l.metrics, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&l.wake, &monotonic);
    int error = l.event < 0 ? errno : pthread_create(&builder, NULL, build_frames, &l);
    if (error) {
        vt_screen_close();
        vt_error("cannot start a thread: %s", strerror(error));
        return VT_STATUS_INTERNAL;
    }
    show_frames(&l, &view);
    vt_screen_close();
    vt_view_free(&view);
    /* The other thread's unfinished model ends with the process, so that quitting does not wait for a long log. */
    pthread_mutex_lock(&l.metrics);
    _exit(VT_STATUS_OK);
}

/* --- without a screen --- */

static bool has_any(const struct vt_watch_frame *frame) {
    for (uint32_t i = 0; i < frame->count; i++)
        if (frame->processes[i]->process)
            return true;
    return false;
}

/* Writes a frame. Returns 0, or an exit status after printing an error; -EPIPE: the reader is gone. */
static int write_frame(const struct vt_watch_options *o, const struct vt_watch_frame *frame) {
    char *fault = write_metrics(o, frame);
    if (fault) {
        vt_error("%s", fault);
        free(fault);
        return VT_STATUS_INTERNAL;
    }
    if (o->json)
        vt_watch_json_write(frame, o->top, !o->once, stdout);
    else if (o->once)
        vt_plain_write(frame, o->top ? o->top : LINES_PLAIN, stdout);
    if (!fflush(stdout) && !ferror(stdout))
        return 0;
    if (errno == EPIPE)
        return -EPIPE;
    vt_error("standard output: %s", strerror(errno));
    return VT_STATUS_INTERNAL;
}

/* If nothing can be read, --once fails, while a continuous watch goes on. */
static int watch_once(const struct vt_watch_options *o, const struct vt_watch_frame *frame) {
    int status = write_frame(o, frame);
    if (status || has_any(frame))
        return status == -EPIPE ? VT_STATUS_OK : status;
    for (uint32_t i = 0; i < frame->count; i++)
        if (frame->processes[i]->message)
            vt_error("%s", frame->processes[i]->message);
    return VT_STATUS_USAGE;
}

static int write_frames(const struct vt_watch_options *o, struct vt_sampler *sampler) {
    for (;;) {
        struct vt_watch_frame *frame = vt_sample_next(sampler);
        bool over = o->once || vt_sample_is_over(frame);
        int status = o->once ? watch_once(o, frame) : write_frame(o, frame);
        struct timespec until = time_after(pause_after(frame, o->interval));
        vt_frame_free(frame, o->builder);
        if (over || status)
            return status == -EPIPE ? VT_STATUS_OK : status;
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
            continue;
    }
}

/* A process given by number must exist. */
static int check_words(const struct vt_watch_options *o) {
    for (int i = 0; i < o->word_count; i++) {
        struct vt_source source = vt_sources_open(o->words[i]);
        if (source.kind == VT_SOURCE_PID && kill((pid_t)source.pid, 0) && errno == ESRCH) {
            vt_error("process %u: no such process", source.pid);
            return VT_STATUS_INTERNAL;
        }
    }
    return VT_STATUS_OK;
}

int vt_watch_run(const struct vt_watch_options *o) {
    bool screen = !o->once && !o->json;
    int missing = check_words(o);
    if (missing)
        return missing;
    if (screen && !(isatty(0) && isatty(1))) {
        screen = false;
        if (!o->prometheus)
            return vt_usage("watch", "expected a terminal: --once prints one frame, --format json "
                                     "one for each refresh");
    }
    struct vt_model_options model = o->model;
    model.once = o->once;
    struct vt_sampler *sampler = vt_sample_open(o->words, o->word_count, &model, o->builder);
    if (screen)
        return watch_screen(o, sampler);
    int status = write_frames(o, sampler);
    vt_sample_close(sampler);
    return status;
}
