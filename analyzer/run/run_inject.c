/* SPDX-License-Identifier: MIT */
/*
 * --inject each (see run_inject.h).
 *
 * VRAMTRACE_INJECT counts calls, so a site is selected by the ordinal of its first call in the first run. With threads
 * the order can differ in the next run. So each run's log is checked for the site that was really hit, and sites not
 * hit are tried again at their other ordinals.
 */
#define _GNU_SOURCE
#include "run_inject.h"

#include "base/base.h"
#include "logfile/logfile.h"
#include "model/model.h"
#include "replay/replay.h"
#include "run_check.h"
#include "run_list.h"
#include "run_logs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ORDINALS 4 /* tried for each site */

/* A site: a stack and the function called, on any device. */
struct target {
    uint64_t id;
    uint64_t ordinals[ORDINALS];
    uint32_t count; /* number of `ordinals` */
    bool hit;
};

struct sweep {
    struct vt_run_plan *plan;
    struct vt_check *check; /* the plan's */
    const char *folder;     /* for the logs and outputs */
    struct target *targets;
    uint32_t count, room;
    struct vt_map by_id;
    struct vt_baseline before; /* the leaks of the first run */
    uint32_t runs, crashes, hangs, leaks;
    uint32_t survived, failed_well;
};

/* --- reading a log --- */

typedef void visit(struct sweep *sweep, uint64_t id, uint64_t ordinal, bool injected);

/* Calls `each` for every call that VRAMTRACE_INJECT counts, in order. */
static int visit_calls(struct sweep *sweep, const char *path, visit *each) {
    struct vt_log log;
    VT_SCOPED_STRING message = {0};
    struct vt_batch batch;
    uint64_t ordinal = 0;
    if (vt_error_status(vt_log_open(path, &log, &message), &message))
        return VT_STATUS_CANNOT_TRACE;
    if (log.summary) {
        vt_error("%s: the log was compacted: its single calls are not there any more", path);
        vt_log_close(&log);
        return VT_STATUS_CANNOT_TRACE;
    }
    struct vt_sites *sites = vt_sites_open(&log);
    struct vt_merge *merge = vt_merge_open(&log);
    vt_merge_go_on(merge, VT_TICKS_MASK);
    while (vt_merge_next(merge, &batch))
        for (uint32_t i = 0; i < batch.count; i++) {
            uint64_t word = batch.events[i].word;
            bool injected = false;
            unsigned type = vt_word_type(word), kind = vt_word_kind(word);
            if (type == VT_REC_FAIL) {
                struct vt_rec_fail fail;
                memcpy(&fail, batch.chunk + batch.events[i].key, sizeof fail);
                injected = fail.flags & VT_FAIL_INJECTED;
            } else if (type != VT_REC_ALLOC) {
                continue;
            }
            if (kind == VT_KIND_BLOCK || kind == VT_KIND_GRAPH)
                continue; /* not a counted call */
            uint32_t stack = vt_map_get(&log.stack_numbers, vt_word_high(word));
            each(sweep,
                 vt_sites_id(sites, stack == VT_MAP_NONE ? VT_NO_STACK : stack, vt_word_hook(word),
                             0, 0),
                 ++ordinal, injected);
        }
    int error = vt_error_status(vt_merge_failed(merge, &message), &message);
    vt_merge_close(merge);
    vt_sites_close(sites);
    vt_log_close(&log);
    return error ? VT_STATUS_CANNOT_TRACE : 0;
}
static_assert(VT_NO_STACK == VT_MAP_NONE, "a stack that is not in the log");

static void note_site(struct sweep *s, uint64_t id, uint64_t ordinal, bool injected) {
    uint32_t at = vt_map_get(&s->by_id, id);
    (void)injected;
    if (at == VT_MAP_NONE) {
        at = s->count;
        VT_GROW(s->targets, s->count, s->room);
        s->targets[s->count++] = (struct target){.id = id};
        vt_map_put(&s->by_id, id, at);
    }
    if (s->targets[at].count < ORDINALS)
        s->targets[at].ordinals[s->targets[at].count++] = ordinal;
}

static void note_hit(struct sweep *s, uint64_t id, uint64_t ordinal, bool injected) {
    uint32_t at = injected ? vt_map_get(&s->by_id, id) : VT_MAP_NONE;
    (void)ordinal;
    if (at != VT_MAP_NONE)
        s->targets[at].hit = true;
}

/* --- one run --- */

struct outcome {
    struct vt_run_child child;
    struct vt_run_logs logs;
    uint64_t took_ms;
    char *output; /* the file with its output; NULL: not redirected */
    struct vt_new_file file;
};

/* Redirects stdout and stderr to the outcome's file; `saved` is for restore. */
static void redirect(struct outcome *o, int saved[2]) {
    fflush(NULL);
    saved[0] = fcntl(1, F_DUPFD_CLOEXEC, 3);
    saved[1] = fcntl(2, F_DUPFD_CLOEXEC, 3);
    if (!vt_new_file_open(&o->file, o->output, 0, 0600)) {
        dup2(fileno(o->file.out), 1);
        dup2(fileno(o->file.out), 2);
    }
}

static void restore(const int saved[2]) {
    fflush(NULL);
    for (int i = 0; i < 2; i++)
        if (saved[i] >= 0) {
            dup2(saved[i], i + 1);
            close(saved[i]);
        }
}

/* `ordinal` 0: without a failure. Returns 0, or an exit status if the command could not be started. */
static int run_once(struct sweep *s, uint64_t ordinal, uint32_t timeout_ms, struct outcome *o) {
    VT_SCOPED_STRING message = {0};
    int saved[2];
    *o = (struct outcome){.file = {.folder = -1, .at = -1}};
    VT_SCOPED char *list = vt_run_list_make();
    if (!list) {
        vt_error("cannot make a temporary file: %s", strerror(errno));
        return VT_STATUS_CANNOT_TRACE;
    }
    VT_SCOPED char *number = vt_formatted("%llu", (unsigned long long)ordinal);
    VT_SCOPED char *folder = vt_formatted("%s/%s/", s->folder, number);
    setenv("VRAMTRACE_OUTPUT", folder, 1);
    setenv("VRAMTRACE_RUN_LIST", list, 1);
    uint64_t start = vt_now_ns();
    if (ordinal) {
        setenv("VRAMTRACE_INJECT", number, 1);
        o->output = vt_formatted("%s/%s.txt", s->folder, number);
        redirect(o, saved);
    } else {
        unsetenv("VRAMTRACE_INJECT");
    }
    o->child.timeout_ms = timeout_ms;
    int status = vt_run_child_run(s->plan, &o->child, &message);
    if (ordinal)
        restore(saved);
    o->took_ms = (vt_now_ns() - start) / 1000000;
    vt_run_logs_read(list, &o->logs);
    vt_run_logs_mark_end(&o->logs, &o->child);
    vt_run_list_remove(list);
    if (status)
        vt_error("%s", message.text);
    return status;
}

static void outcome_free(struct outcome *o) {
    vt_run_logs_free(&o->logs);
    vt_string_free(&o->child.untraced);
    vt_string_free(&o->child.refused);
    vt_new_file_close(&o->file, -ECANCELED); /* outputs of good runs */
    free(o->output);
}

/* --- the outcome --- */

/* Adds " at a.c:41 in new_buffer, called by a.c:60 in scale", since sites often share their innermost
 * frame. */
static void add_callers(const struct vt_process *p, const struct vt_stack *stack,
                        struct vt_string *text) {
    uint32_t shown = 0;
    if (!stack->count)
        vt_string_add(text, " at an unknown call site");
    for (uint32_t i = 0; i < stack->count && shown < 2; i++) {
        if (!vt_stack_frame(stack, i)->user_code && (shown || i != vt_stack_main(stack)))
            continue;
        VT_SCOPED char *frame_text = vt_frame_text(p, vt_stack_frame(stack, i), 60);
        vt_string_format(text, "%s%s", shown++ ? ", called by " : " at ", frame_text);
    }
}

static char *hit_text(const struct vt_model *model) {
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct vt_process *p = &model->processes[i];
        for (uint32_t j = 0; j < p->oom_count; j++) {
            const struct vt_oom *oom = &p->ooms[j];
            if (oom->cause != VT_CAUSE_INJECTED)
                continue;
            struct vt_string text = {0};
            vt_string_add(&text, oom->api ? oom->api : "an allocation");
            add_callers(p, oom->stack, &text);
            return text.text;
        }
    }
    return NULL;
}

/* Finds leaks that the first run did not have. A command that reports the error and exits leaves its memory to the
 * system; this is no leak, except with --strict. */
static uint32_t find_leaks(struct sweep *s, const struct vt_model *model, bool ended_badly,
                           struct vt_string *text) {
    struct vt_gate gate;
    struct vt_gate_options options = s->check->gate;
    options.baseline = &s->before;
    options.max_peak = VT_UNKNOWN;
    if (ended_badly && !options.chosen) {
        options.chosen = true;
        options.fails[VT_VERDICT_LOST] = options.fails[VT_VERDICT_GROWING] = true;
    }
    vt_gate_judge(model, &options, &gate);
    const uint32_t leaks = gate.failures;
    for (uint32_t i = 0; i < leaks; i++) {
        const struct vt_gate_finding *f = &gate.findings[i];
        VT_SCOPED char *frame_text =
            vt_frame_text(&model->processes[f->process], vt_stack_main_frame(f->site->stack), 50);
        vt_string_format(text, "\n         %s (%s) allocated at %s", VT_BYTES(f->amount.bytes),
                         vt_gate_kind(f), frame_text);
    }
    vt_gate_free(&gate);
    return leaks;
}

static void print_run(struct sweep *s, uint64_t ordinal, struct outcome *o) {
    struct vt_model_options options = {.device = -1, .user_code = s->check->user_code.items};
    struct vt_model model = {0};
    VT_SCOPED_STRING message = {0}, leaks = {0};
    const char *word = "ok";
    char how[64];
    bool built = o->logs.count &&
                 !s->check->builder->build((const char *const *)o->logs.paths,
                                           (uint32_t)o->logs.count, &options, &model, &message);
    VT_SCOPED char *where = built ? hit_text(&model) : NULL;
    if (o->child.timed_out) {
        word = "HANG";
        s->hangs++;
        snprintf(how, sizeof how, "did not end");
    } else if (o->child.signal) {
        word = "CRASH";
        s->crashes++;
        snprintf(how, sizeof how, "signal %d (%s)", o->child.signal, strsignal(o->child.signal));
    } else {
        snprintf(how, sizeof how, "exit status %d", o->child.status);
        if (built && find_leaks(s, &model, o->child.status != 0, &leaks)) {
            word = "LEAK";
            s->leaks++;
        } else {
            *(o->child.status ? &s->failed_well : &s->survived) += 1;
        }
    }
    bool bad = strcmp(word, "ok") != 0;
    if (bad || !s->plan->quiet)
        vt_print(stderr, "%-6s %s (allocation %llu): %s%s\n", word,
                 where ? where : "a site that was not reached in this run",
                 (unsigned long long)ordinal, how, leaks.length ? leaks.text : "");
    if (bad && !vt_new_file_close(&o->file, 0))
        vt_print(stderr, "         its output: %s\n", o->output);
    if (built)
        s->check->builder->free(&model);
}

/* --- the sweep --- */

/* The run without a failure must succeed. */
static int first_run(struct sweep *s, uint32_t *timeout_ms) {
    struct vt_model_options options = {.device = -1, .user_code = s->check->user_code.items};
    struct outcome o;
    struct vt_model model;
    struct vt_gate gate;
    VT_SCOPED_STRING message = {0};
    const uint32_t given_ms = s->plan->options.timeout_s * 1000;
    int status = run_once(s, 0, given_ms, &o);
    const struct vt_string *why = o.child.untraced.length ? &o.child.untraced : &o.child.refused;
    if (!status && why->length && (why == &o.child.untraced || !o.logs.count)) {
        vt_error("%s", why->text);
        status = VT_STATUS_CANNOT_TRACE;
    } else if (!status && (o.child.signal || (o.child.status && !s->check->ignore_status))) {
        vt_error("--inject each: the command fails with status %d even when no allocation fails; "
                 "expected a command that succeeds",
                 o.child.status);
        status = o.child.status;
    } else if (!status && (!o.logs.count || o.logs.failed)) {
        vt_error("--inject each: %s",
                 o.logs.failed ? "a process could not write its log" : "no CUDA call succeeded");
        status = VT_STATUS_CANNOT_TRACE;
    }
    for (size_t i = 0; !status && i < o.logs.count; i++)
        status = visit_calls(s, o.logs.paths[i], note_site);
    if (!status && s->check->builder->build((const char *const *)o.logs.paths,
                                            (uint32_t)o.logs.count, &options, &model, &message)) {
        vt_error("%s", message.text);
        status = VT_STATUS_CANNOT_TRACE;
    } else if (!status) {
        vt_gate_judge(&model, &s->check->gate, &gate);
        vt_gate_baseline(&gate, &s->before);
        vt_gate_free(&gate);
        s->check->builder->free(&model);
    }
    *timeout_ms = given_ms ? given_ms : o.took_ms < 6000 ? 60000 : (uint32_t)o.took_ms * 10;
    outcome_free(&o);
    return status;
}

/* --max-runs */
static bool is_enough(const struct sweep *s) {
    return s->plan->options.max_runs && s->runs == s->plan->options.max_runs;
}

/* Tries a site until it was hit. */
static int try_site(struct sweep *s, uint32_t index, uint32_t timeout_ms) {
    for (uint32_t i = 0; i < s->targets[index].count && !s->targets[index].hit; i++) {
        struct outcome o;
        if (is_enough(s))
            return 0;
        s->runs++;
        uint64_t ordinal = s->targets[index].ordinals[i];
        int status = run_once(s, ordinal, timeout_ms, &o);
        for (size_t j = 0; !status && j < o.logs.count; j++)
            status = visit_calls(s, o.logs.paths[j], note_hit);
        if (!status)
            print_run(s, ordinal, &o);
        outcome_free(&o);
        if (status)
            return status;
    }
    return 0;
}

int vt_run_inject_each(struct vt_run_plan *plan, const char *folder) {
    struct sweep s = {.plan = plan, .check = &plan->options.check, .folder = folder};
    uint32_t timeout_ms, missed = 0;
    int status = first_run(&s, &timeout_ms);
    if (!status && !plan->quiet)
        fprintf(stderr, "inject: %u site%s allocate%s; refusing each in turn\n", s.count,
                vt_plural(s.count), s.count == 1 ? "s" : "");
    for (uint32_t i = 0; !status && i < s.count; i++)
        if (!s.targets[i].hit)
            status = try_site(&s, i, timeout_ms);
    for (uint32_t i = 0; i < s.count; i++)
        missed += !s.targets[i].hit;
    if (!status) {
        fprintf(stderr,
                "inject: %u run%s: %u crash%s, %u hang%s, %u with leaks; %u failed cleanly, %u "
                "recovered\n",
                s.runs, vt_plural(s.runs), s.crashes, s.crashes == 1 ? "" : "es", s.hangs,
                vt_plural(s.hangs), s.leaks, s.failed_well, s.survived);
        if (missed)
            fprintf(stderr, "inject: %u site%s not tried or not reached%s\n", missed,
                    missed == 1 ? " was" : "s were", is_enough(&s) ? " (--max-runs)" : "");
        status = s.crashes || s.hangs || s.leaks ? VT_STATUS_GATE : VT_STATUS_OK;
    }
    vt_baseline_free(&s.before);
    vt_map_free(&s.by_id);
    free(s.targets);
    return status;
}
