/* SPDX-License-Identifier: MIT */
/*
 * What programs can read of a process (see keys.h): report_keys.c and report_keys_owners.c have the tables of its lists.
 */
#include "json_parts.h"
#include "keys.h"

static void make_exit(struct vt_key_writer *w, const char *key, const void *of) {
    (void)key;
    vt_json_part_ending(w->json, ((const struct vt_process *)of)->ending);
}

/* clang-format off */
#define OF struct vt_process
static const struct vt_key window_keys[] = {
    VT_NUMBER_KEY("since_ns", window_since, "ns_or_null", "its start; null: the run's"),
    VT_NUMBER_KEY("until_ns", window_until, "ns_or_null", "its end; null: the run's"),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

static void make_window(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_process *p = of;
    bool there = p->window_since != VT_UNKNOWN || p->window_until != VT_UNKNOWN;
    vt_keys_object(w, key, window_keys, there ? p : NULL, 0);
}

static void make_environment(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_process *p = of;
    vt_json_open(w->json, key, '{');
    for (uint32_t i = 0; i < p->variable_count; i++)
        vt_json_string(w->json, p->variables[i].name, p->variables[i].value);
    vt_json_close(w->json, '}');
}

static void make_inconclusive(struct vt_key_writer *w, const char *key, const void *of) {
    (void)key;
    vt_json_part_inconclusive(w->json, vt_process_inconclusive(of));
}

/* Those that are wanted, the first `top` of them. */
static void make_sites(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_process *p = of;
    uint32_t written = 0, top = w->excerpt ? 0 : w->options->top;
    vt_json_open(w->json, key, '[');
    for (uint32_t i = 0; i < p->site_count && (!top || written < top); i++)
        if (w->excerpt ? vt_keys_site(w, i) != NULL
                       : vt_site_wanted(&p->sites[i], w->options->site))
            vt_keys_object(w, NULL, vt_site_keys, &p->sites[i], written++);
    vt_json_close(w->json, ']');
}

/* The last ones, if not all are listed. */
static uint32_t first_oom(const struct vt_key_writer *w, const struct vt_process *p) {
    return p->oom_count - (uint32_t)vt_keys_count(w, p->oom_count);
}

static void make_ooms(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_process *p = of;
    uint32_t first = first_oom(w, p);
    vt_keys_list(w, key, vt_oom_more_keys, p->ooms + first, p->oom_count - first, sizeof *p->ooms);
}

static void make_ooms_left_out(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_process *p = of;
    vt_json_number(w->json, key, p->ooms_left_out + first_oom(w, p));
}

static void make_snapshots(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_process *p = of;
    bool is_last = !p->quality.complete && !vt_process_snapshot(p);
    const struct vt_snapshot *shown = is_last ? vt_process_snapshot_shown(p) : NULL;
    for (uint32_t i = 0; vt_json_items(w->json, key, i, p->snapshot_count); i++)
        if (w->excerpt || !p->snapshots[i].passing || &p->snapshots[i] == shown)
            vt_keys_object(w, NULL, vt_snapshot_keys, &p->snapshots[i], 0);
}

static void make_phases(struct vt_key_writer *w, const char *key, const void *of) {
    const struct vt_process *p = of;
    uint32_t count = w->excerpt ? w->excerpt->phase_count : p->phase_count;
    for (uint32_t i = 0; vt_json_items(w->json, key, i, count); i++)
        vt_keys_object(w, NULL, vt_phase_more_keys,
                       w->excerpt ? w->excerpt->phases[i] : &p->phases[i], i);
}

/* clang-format off */
#define OF struct vt_process
const struct vt_key vt_process_keys[] = {
    VT_TEXT_KEY("log", log, "text", "the log's path"),
    VT_TEXT_KEY("run_id", run_id, "text_or_null", "what the logs of one run have in common"),
    VT_NUMBER_KEY("pid", pid, "count", "the process's number in its own namespace"),
    VT_TEXT_KEY("host", host, "text_or_null", "the host's name"),
    VT_RANK_KEY("rank", rank, "of a job of many processes; null: it has none"),
    VT_RANK_KEY("local_rank", local_rank, "the rank on this host"),
    VT_POSITIVE_KEY("world_size", world_size, "the number of ranks"),
    VT_NUMBER_KEY("restart", restart, "count", "how often the launcher had started this rank before"),
    VT_TEXT_KEY("job", job, "text_or_null", "the scheduler's id of the job"),
    VT_TEXTS_KEY("command", command, command_count, "text", "the command line"),
    VT_TEXT_KEY("task", task, "text_or_null", "the function that a child of Python's multiprocessing runs"),
    VT_TIME_KEY("started_at", started_at, "when the process began, UTC"),
    VT_NUMBER_KEY("duration_ns", duration, "ns_or_null", "from the first record to the end"),
    VT_FLAG_KEY("simulated", simulated, "it ran on the simulated GPU: kernels did not run"),
    VT_TEXT_KEY("version", version, "text", "the version of vramtrace that wrote the log"),
    VT_MADE_KEY("exit", make_exit, "exit", "how the process ended"),
    VT_FLAG_KEY("complete", quality.complete, "nothing is missing in the log"),
    VT_NUMBER_KEY("events", events, "count", "records of allocations, frees and the like"),
    VT_NUMBER_KEY("dropped_events", quality.missing, "count", "events that could not be recorded"),
    VT_NUMBER_KEY("events_until_ns", quality.details_until, "ns_or_null", "until then single events were recorded, by VRAMTRACE_MAX_LOG; null: to the end"),
    VT_NUMBER_KEY("compacted_until_ns", quality.details_from, "ns", "single events start here; the log's summary has the earlier ones; 0: all are there"),
    VT_TEXTS_KEY("notes", notes, note_count, "text", "what else a reader should know, in sentences"),
    VT_MADE_OBJECT_KEY("window", make_window, window_keys, "the part of the run that is reported (--since, --until); null: all of it"),
    VT_LIST_KEY("devices", devices, device_count, vt_device_more_keys, "the GPUs that the process used"),
    VT_MADE_KEY("environment", make_environment, "{\"type\": \"object\", \"additionalProperties\": {\"type\": \"string\"}}", "variables that steer CUDA, frameworks and vramtrace, as the process had them"),
    VT_OBJECT_KEY("pinned_host", pinned, vt_apart_keys, "pinned host memory"),
    VT_OBJECT_KEY("managed", managed, vt_apart_keys, "managed memory"),
    VT_MADE_KEY("unjudged", make_inconclusive, "unjudged", "what may leak, but is not judged; why says the reason"),
    VT_LIST_KEY("leaks", leaks, found_count, vt_leak_keys, "call sites that fail, those of one leak together: lost and growing first, then unfreed ones, then suspects, each by size"),
    VT_MADE_LIST_KEY("sites", make_sites, vt_site_keys, "call sites: the largest at the end first"),
    VT_MADE_LIST_KEY("ooms", make_ooms, vt_oom_more_keys, "requests that failed for lack of memory"),
    VT_MADE_KEY("ooms_left_out", make_ooms_left_out, "count", "requests that failed and are not listed"),
    VT_LIST_KEY("failed_allocations", failed, failed_count, vt_failed_keys, "allocations that failed with another error than out of memory, by place and error, the first one first; at most 1,000 of these"),
    VT_NUMBER_KEY("failed_allocation_count", failed_in_all, "count", "how many allocations failed so, also those at places that are not listed"),
    VT_MADE_LIST_KEY("snapshots", make_snapshots, vt_snapshot_keys, "snapshots of owners, without those taken as memory grew"),
    VT_LIST_KEY("snapshots_missed", missed, missed_count, vt_missed_keys, "snapshots that were due and not taken"),
    VT_LIST_KEY("objects", objects, object_count, vt_object_keys, "contexts, modules, graphs and the like"),
    VT_LIST_KEY("modules", modules, module_count, vt_module_keys, "the files of code that stacks name"),
    VT_MADE_LIST_KEY("phases", make_phases, vt_phase_more_keys, "named parts of the run: NVTX ranges, vramtrace.h, pytest"),
    VT_LIST_KEY("evicted_phases", phase_sums, phase_sum_count, vt_phase_sum_keys, "sums of the phases that a summary discarded: the last ones and the extreme ones of each name are in phases"),
    VT_NUMBER_KEY("evicted_sites", evicted_sites, "count", "call sites without live memory that a summary discarded: their totals are those of the sites without a stack"),
    VT_INLINE_KEY(vt_stack_table_keys),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */
