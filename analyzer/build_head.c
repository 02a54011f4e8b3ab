/* SPDX-License-Identifier: MIT */
/*
 * The head of a process: its identity, its end, and the gaps of its log, each with a note. Called by
 * build.c.
 */
#include "build_process.h"

#include "logfile/logfile.h"

#include <stdlib.h>
#include <string.h>

static char *text_or_null(const char *text) {
    return text[0] ? vt_strdup(text) : NULL;
}

static void set_command(const struct vt_log_header *h, struct vt_process *p) {
    uint32_t at = 0, room = 0;
    while (at < h->command_bytes) {
        size_t length = strnlen(h->command + at, h->command_bytes - at);
        *VT_ADD(p->command, p->command_count, room) = vt_strndup(h->command + at, length);
        at += (uint32_t)length + 1;
    }
    /* a process that overwrites its arguments with a title ("ray::train") leaves the rest empty */
    uint32_t empty = 0;
    while (empty + 1 < p->command_count && !p->command[p->command_count - 1 - empty][0])
        empty++;
    while (empty > 1 && !p->command[p->command_count - 1][0] && p->command_count > 1)
        free(p->command[--p->command_count]);
}

static void set_end(const struct vt_log *log, struct vt_clock clock, struct vt_process *p) {
    const struct vt_log_header *h = &log->header;
    uint64_t end = log->last_ticks;
    switch (h->exit_kind) {
    case VT_EXIT_EXITED:
        p->ending = (struct vt_ending){VT_END_EXITED, h->exit_status};
        break;
    case VT_EXIT_SIGNALED:
        p->ending = (struct vt_ending){VT_END_SIGNALED, h->exit_status};
        break;
    case VT_EXIT_EXEC:
        p->ending = (struct vt_ending){VT_END_EXEC, VT_NO_STATUS};
        break;
    default:
        p->ending =
            (struct vt_ending){log->running ? VT_END_RUNNING : VT_END_UNKNOWN, VT_NO_STATUS};
    }
    if (h->exit_kind != VT_EXIT_NONE && h->exit_ticks > end && h->exit_ticks < VT_TICKS_MASK)
        end = h->exit_ticks;
    p->duration = vt_clock_ns(clock, end);
}

/* Sets whether the log is complete; if not, adds notes with the reasons. */
static void note_gaps(const struct vt_log *log, struct vt_process *p) {
    const struct vt_log_header *h = &log->header;
    bool ended = h->exit_kind == VT_EXIT_EXITED || h->exit_kind == VT_EXIT_EXEC ||
                 h->exit_kind == VT_EXIT_SIGNALED;
    p->bare_end = ended && (h->flags & VT_FLAG_BARE_END);
    bool sudden = p->bare_end || h->exit_kind == VT_EXIT_SIGNALED;
    p->quality.complete = ended && !log->cut && !log->damage_count &&
                          !(sudden && (log->in_flight || (h->flags & VT_FLAG_BUFFERED)));
    if (log->running)
        vt_model_note(p, "The process is still running: this report covers its log so far.");
    else if (!ended)
        vt_model_note(
            p, "The log has no end: the process was killed, ended by a bare system call (as Go's "
               "runtime does), or the machine went down. Read up to the last whole record of each "
               "thread.");
    else if (p->bare_end)
        vt_model_note(p,
                      "The process ended by a bare system call, as Go's runtime and sanitizers "
                      "do: its memory was not searched for pointers, so nothing is called lost.");
    if (log->cut)
        vt_model_note(
            p,
            "The log is cut off after %s bytes: read up to the last whole record of each thread.",
            VT_NUMBER(log->file_bytes));
    p->quality.gaps = !log->running && (log->cut || log->damage_count);
    p->quality.damaged =
        log->damage_count * (VT_CHUNK_BYTES / sizeof(uint64_t)); /* the shortest record */
    if (log->damage_count) {
        const struct vt_log_damage *d = &log->damage[0];
        vt_model_note(
            p,
            "The log is damaged at offset %llu (%s: found 0x%llx)%s; the rest of each such chunk "
            "was left out.",
            (unsigned long long)d->offset, d->what, (unsigned long long)d->found,
            log->damage_count > 1 ? " and elsewhere" : "");
    }
    if (sudden && log->in_flight)
        vt_model_note(p,
                      "A thread was about to record an event when the process %s: at most one "
                      "event per thread is missing.",
                      p->bare_end ? "ended" : "was killed");
}

/* Adds a note with the reason why events are missing. Takes over the text. */
static void note_missing(struct vt_process *p, char *text) {
    vt_model_note(p, "%s", text);
    free(text);
    if (!p->quality.missing_why)
        p->quality.missing_why = p->notes[p->note_count - 1];
}

/* Notes that the log reached its size limit, up to its end or until space was released. */
static void note_bound(const struct vt_log *log, struct vt_clock clock, struct vt_process *p) {
    uint64_t count = log->header.dropped[VT_DROP_BOUND], first = log->header.first_drop;
    vt_log_misses(&p->quality, count, log->live_listed, true);
    p->quality.details_until = log->bound_at ? vt_clock_ns(clock, log->bound_at) : VT_UNKNOWN;
    if (log->bound_at)
        note_missing(
            p, vt_formatted(
                   "Event details end at %s (VRAMTRACE_MAX_LOG): %s %s%s not recorded; %s.",
                   VT_DURATION(p->quality.details_until), VT_NUMBER(count),
                   first < log->bound_at ? "event" : "later one", count == 1 ? " was" : "s were",
                   log->live_listed ? "live memory at the end is exact"
                   : log->running   ? "the report goes up to there"
                                    : "the process left no list of its live memory, so the report "
                                      "goes up to there"));
    else if (count)
        note_missing(p, vt_formatted("%s event%s not recorded while the log had no space "
                                     "(VRAMTRACE_MAX_LOG); all before %s were recorded; %s.",
                                     VT_NUMBER(count), vt_plural(count),
                                     VT_DURATION(vt_clock_ns(clock, first)),
                                     log->live_listed
                                         ? "live memory at the end is exact"
                                         : "memory freed meanwhile may be shown as live"));
}

static void set_summary(const struct vt_log *log, struct vt_clock clock, struct vt_process *p) {
    p->quality.details_from = log->summary ? vt_clock_ns(clock, log->until) : 0;
    if (log->summary)
        vt_model_note(p, "Event details start at %s%s.", VT_DURATION(p->quality.details_from),
                      p->quality.missing ? "" : ": figures are exact for the whole run");
}

/* Counts events that the tracer could not record, with a note for each reason. */
static void note_drops(const struct vt_log *log, struct vt_clock clock, struct vt_process *p) {
    static const struct {
        enum vt_drop reason;
        bool event, ended; /* ended: nothing was recorded after it */
        const char *text;
    } reasons[] = {
        {VT_DROP_LOG_FULL, true, true, "no space for the log, or its file could not grow"},
        {VT_DROP_NESTED, true, false,
         "a signal handler allocated while its thread was being recorded"},
        {VT_DROP_NO_MEMORY, true, false, "no memory for the tracer's own tables"},
        {VT_DROP_LOG_LOST, true, true,
         "the program closed or replaced the log's file descriptor, or left none for it"},
        {VT_DROP_STACKS, false, false,
         "call stacks, names in them, or names of phases were not recorded: no space"},
        {VT_DROP_LIVE, false, false, "allocations did not fit the tracer's live table"},
        {VT_DROP_UNKNOWN, false, false,
         "CUDA calls failed because the real function was not found"},
    };
    const struct vt_log_header *h = &log->header;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        uint64_t count = h->dropped[reasons[i].reason];
        if (!count)
            continue;
        const char *number = VT_NUMBER(count);
        if (reasons[i].event) {
            vt_log_misses(&p->quality, count, log->live_listed, reasons[i].ended);
            note_missing(p, vt_formatted("%s event%s dropped: %s.", number, vt_plural(count),
                                         reasons[i].text));
        } else {
            vt_model_note(p, "%s %s.", number, reasons[i].text);
        }
    }
    note_bound(log, clock, p);
}

/* Adds other notes. */
static void note_conditions(const struct vt_log *log, struct vt_clock clock, struct vt_process *p) {
    const struct vt_log_header *h = &log->header;
    if (clock.guessed)
        vt_model_note(p, "The log lacks the rate of its clock: times are estimates.");
    if (h->flags & VT_FLAG_BUFFERED)
        vt_model_note(p, "The log was not memory-mapped: if the process is killed, its last second "
                         "may be missing.");
    if (h->flags & VT_FLAG_NO_UNWINDER)
        vt_model_note(p, "libunwind could not be opened: there are no native stacks.");
    if (h->flags & VT_FLAG_SHADOW_GAP)
        vt_model_note(
            p, "The program runs under AddressSanitizer, which protects addresses that CUDA needs: "
               "on a real GPU its calls fail, unless ASAN_OPTIONS has protect_shadow_gap=0.");
    for (size_t i = 0; i < log->note_count; i++)
        vt_model_note(p, "%s", log->notes[i]);
}

void vt_build_head(const struct vt_log *log, struct vt_clock clock, const char *path,
                   struct vt_process *p) {
    const struct vt_log_header *h = &log->header;
    p->log = vt_strdup(path);
    p->run_id = text_or_null(h->run_id);
    p->host = text_or_null(h->host);
    p->job = text_or_null(h->job);
    p->version = text_or_null(h->tracer);
    p->cwd = text_or_null(h->cwd);
    p->exe = text_or_null(h->exe);
    p->boot = text_or_null(h->boot_id);
    p->launch = text_or_null(h->launch);
    p->pid_namespace = h->pid_namespace;
    p->process_start = h->process_start;
    p->started_monotonic = h->start_monotonic_ns;
    p->pid = h->pid;
    p->ppid = h->ppid;
    p->rank = h->rank < 0 ? -1 : h->rank;
    p->local_rank = h->local_rank > INT32_MAX ? -1 : (int)h->local_rank - 1;
    p->world_size = h->world_size;
    p->restart = h->restart;
    set_command(h, p);
    p->started_at = h->start_realtime_ns;
    p->simulated = h->flags & VT_FLAG_SIMULATED;
    p->python = log->code_count > 0;
    for (size_t i = 0; i < log->module_count && !p->python; i++)
        p->python = vt_library_is_python(log->modules[i].path);
    set_end(log, clock, p);
    note_gaps(log, p);
    note_drops(log, clock, p);
    set_summary(log, clock, p);
    note_conditions(log, clock, p);
}
