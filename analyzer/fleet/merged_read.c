/* SPDX-License-Identifier: MIT */
/*
 * Reads a merged file (see merged.h), trusting nothing in it: each row is parsed by merged_parse.c, and
 * checked here before it is added.
 */
#include "fleet.h"
#include "merged.h"
#include "merged_parse.h"
#include "tables.h"

#include "base/base.h"
#include "vramtrace/log_format.h"
#include "vramtrace/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct vt_merged_parser *parser;
    struct vt_fleet *fleet;
    const struct vt_merged_row *row;
    struct vt_map processes; /* id -> index in the fleet, or SKIPPED */
    struct vt_map devices;   /* device_key -> index in the fleet */
    uint32_t process;        /* of the row */
    uint32_t line;           /* the line that was read last, VT_FLEET_NONE before */
};

#define SKIPPED (VT_FLEET_NONE - 1) /* the fleet has that process already */

#define EXPECT(reader, condition, ...)                                                             \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return vt_merged_parser_fail((reader)->parser, __VA_ARGS__);                           \
    } while (0)

/* The index in `names` of the word that the row has for `what`. Where that may be null (`or_null`), null is
 * UINT32_MAX. */
static int take_word(struct reader *r, const char *what, const char *word, const char *const *names,
                     uint32_t count, bool or_null, uint32_t *index) {
    *index = vt_kind_find(word, names, count);
    EXPECT(r, *index != UINT32_MAX || (or_null && !word), "expected %s, found %s", what,
           word ? word : "null");
    return 0;
}

static unsigned device_of(const struct vt_merged_row *row) {
    uint32_t layer = vt_kind_find(row->layer, vt_layer_names, VT_LAYERS);
    bool host = layer == VT_LAYER_HOST || layer == VT_LAYER_MANAGED;
    return row->device != VT_UNKNOWN ? (unsigned)row->device
           : host                    ? VT_DEVICE_HOST
                                     : VT_DEVICE_UNKNOWN;
}

static uint64_t device_key(uint32_t process, unsigned ordinal) {
    return vt_mix(process * 256ull + ordinal);
}

/* --- rows --- */

static int take_schema(struct reader *r) {
    const char *schema = r->row->schema;
    size_t length = strlen(VT_MERGED_SCHEMA);
    unsigned long version;
    char *end;
    EXPECT(r, schema && !strncmp(schema, VT_MERGED_SCHEMA, length),
           "expected the schema " VT_MERGED_SCHEMA "%d, found %s", VT_MERGED_VERSION,
           schema ? schema : "none: this is no merged file");
    version = strtoul(schema + length, &end, 10);
    EXPECT(r, version >= 1 && !*end, "expected a number after " VT_MERGED_SCHEMA ", found %s",
           schema);
    EXPECT(r, version <= VT_MERGED_VERSION,
           "it is of schema %s, and this vramtrace %s reads up to " VT_MERGED_SCHEMA
           "%d: read it with the newer vramtrace that wrote it",
           schema, VT_VERSION, VT_MERGED_VERSION);
    vt_map_free(&r->processes); /* files that were put one behind the other */
    return 0;
}

static int take_process(struct reader *r) {
    const struct vt_merged_row *row = r->row;
    uint32_t end;
    EXPECT(r, row->log && row->command, "expected a log and a command, found null");
    int error = take_word(r, "an exit_kind", row->exit_kind, vt_end_names, VT_ENDS, false, &end);
    if (error)
        return error;
    EXPECT(r, row->rank == VT_UNKNOWN || row->rank <= INT32_MAX, "expected a rank, found %llu",
           (unsigned long long)row->rank);
    EXPECT(r, row->exit_status == VT_UNKNOWN || row->exit_status <= INT32_MAX,
           "expected an exit_status, found %llu", (unsigned long long)row->exit_status);
    EXPECT(r, vt_map_get(&r->processes, row->process) == VT_MAP_NONE,
           "expected another process, found a second row of %016llx",
           (unsigned long long)row->process);
    struct vt_fleet_process process = {
        .id = row->process,
        .log = row->log,
        .host = vt_fleet_add_host(r->fleet, row->host, row->boot_id),
        .rank = row->rank == VT_UNKNOWN ? -1 : (int)row->rank,
        .world_size = row->world_size == VT_UNKNOWN ? 0 : (uint32_t)row->world_size,
        .pid_namespace = row->pid_namespace == VT_UNKNOWN ? 0 : row->pid_namespace,
        .process_start = row->process_start == VT_UNKNOWN ? 0 : row->process_start,
        .started_realtime = row->log_started_ns,
        .started_monotonic = row->log_monotonic_ns,
        .duration = row->duration_ns,
        .ending = {(enum vt_end)end,
                   row->exit_status == VT_UNKNOWN ? VT_NO_STATUS : (int)row->exit_status},
    };
    VT_MERGED_COPY(PROCESS, &process, row);
    bool added = vt_fleet_add_process(r->fleet, process);
    vt_map_put(&r->processes, row->process, added ? r->fleet->process_count - 1 : SKIPPED);
    return 0;
}

/* What the row says of its process; `process` is to be SKIPPED where the fleet has it already. */
static int find_process(struct reader *r) {
    r->process = vt_map_get(&r->processes, r->row->process);
    EXPECT(r, r->process != VT_MAP_NONE, "expected a process of a row before, found %016llx",
           (unsigned long long)r->row->process);
    EXPECT(r, r->row->device == VT_UNKNOWN || r->row->device < VT_DEVICE_HOST,
           "expected a device below 254, found %llu", (unsigned long long)r->row->device);
    return 0;
}

static int take_device(struct reader *r) {
    const struct vt_merged_row *row = r->row;
    if (r->process == SKIPPED)
        return 0;
    vt_map_put(&r->devices, device_key(r->process, device_of(row)),
               (uint32_t)r->fleet->device_count);
    struct vt_fleet_device *d = vt_fleet_add_device(r->fleet);
    d->process = r->process;
    d->ordinal = device_of(row);
    d->uuid = vt_fleet_text(r->fleet, row->uuid);
    d->name = vt_fleet_text(r->fleet, row->name);
    VT_MERGED_COPY(DEVICE, d, row);
    d->peak_at = row->peak_at_ns;
    return 0;
}

/* Series follow their devices. */
static int take_series(struct reader *r) {
    const struct vt_merged_row *row = r->row;
    unsigned ordinal = device_of(row);
    uint32_t count = row->levels.count;
    EXPECT(r, count && row->peak_part < count && row->from_ns <= row->to_ns,
           "expected levels from an earlier to a later time, with the peak among them, found %u",
           count);
    if (r->process == SKIPPED)
        return 0;
    uint32_t at = vt_map_get(&r->devices, device_key(r->process, ordinal));
    EXPECT(r, at != VT_MAP_NONE && !r->fleet->devices[at].levels.count,
           "expected the series of a device of a row before, each once, found that of %u", ordinal);
    struct vt_levels *levels = &r->fleet->devices[at].levels;
    *levels = (struct vt_levels){.from = row->from_ns,
                                 .to = row->to_ns,
                                 .bytes = vt_alloc(count, sizeof *levels->bytes),
                                 .count = count,
                                 .peak = (uint32_t)row->peak_part};
    memcpy(levels->bytes, row->levels.items, count * sizeof *levels->bytes);
    return 0;
}

/* Whether the row is of the line that was read last: rows of one line stand together. */
static bool same_line(const struct vt_fleet_line *line, const struct vt_merged_row *row) {
    return line->line == (row->line == VT_UNKNOWN ? 0 : row->line) &&
           line->segments == row->segments && line->recycled == row->recycled &&
           line->rest == row->rest && vt_same_text(line->text, row->text) &&
           vt_same_text(line->function, row->function) && vt_same_text(line->file, row->file) &&
           vt_same_text(line->module, row->module) &&
           vt_same_text(vt_layer_names[line->layer], row->layer) &&
           vt_same_text(line->api, row->api);
}

static int take_line(struct reader *r) {
    const struct vt_merged_row *row = r->row;
    uint32_t layer;
    if (r->line != VT_FLEET_NONE && same_line(&r->fleet->lines[r->line], row))
        return 0;
    EXPECT(r, row->text, "expected a line's text, found null");
    int error = take_word(r, "a layer", row->layer, vt_layer_names, VT_LAYERS, false, &layer);
    if (error)
        return error;
    EXPECT(r, row->line == VT_UNKNOWN || row->line < UINT32_MAX,
           "expected a line number, found %llu", (unsigned long long)row->line);
    struct vt_fleet_line line = {.line = row->line == VT_UNKNOWN ? 0 : (uint32_t)row->line,
                                 .layer = layer};
    VT_MERGED_COPY(LINE, &line, row);
    r->line = vt_fleet_add_line(r->fleet, line);
    return 0;
}

/* Takes the line of a row that has a verdict on it. */
static int take_judged_line(struct reader *r, uint32_t *verdict) {
    int error = take_line(r);
    return error ? error
                 : take_word(r, "a verdict", r->row->verdict, vt_verdict_names, VT_VERDICTS, false,
                             verdict);
}

static int take_cell(struct reader *r) {
    const struct vt_merged_row *row = r->row;
    uint32_t verdict;
    int error = take_judged_line(r, &verdict);
    if (error || r->process == SKIPPED)
        return error;
    struct vt_fleet_cell *c = vt_fleet_add_cell(r->fleet);
    c->process = r->process;
    c->line = r->line;
    c->device = device_of(row);
    c->verdict = (enum vt_verdict)verdict;
    VT_MERGED_COPY(CELL, c, row);
    c->at_peak_bytes = row->bytes_at_peak;
    c->caller = vt_fleet_text(r->fleet, row->caller);
    return 0;
}

static int take_owned(struct reader *r) {
    const struct vt_merged_row *row = r->row;
    uint32_t root, purpose, why;
    bool anonymous = row->rest || row->nobody;
    EXPECT(r, row->text, "expected an owner's text, found null");
    int error = take_word(r, "a root", row->root, vt_root_names, VT_ROOTS, anonymous, &root);
    if (!error)
        error =
            take_word(r, "a role", row->role, vt_purpose_names, VT_PURPOSES, anonymous, &purpose);
    if (!error)
        error = take_word(r, "a snapshot's reason", row->snapshot, vt_snapshot_why_names,
                          VT_SNAPSHOT_WHYS, true, &why);
    if (error)
        return error;
    EXPECT(r, row->line == VT_UNKNOWN || row->line < UINT32_MAX,
           "expected a line number, found %llu", (unsigned long long)row->line);
    if (r->process == SKIPPED)
        return 0;
    struct vt_fleet_owner owner = {.line = row->line == VT_UNKNOWN ? 0 : (uint32_t)row->line,
                                   .purpose = row->role};
    VT_MERGED_COPY(OWNER, &owner, row);
    struct vt_fleet_owned *o = vt_fleet_add_owned(r->fleet);
    o->process = r->process;
    o->owner = vt_fleet_add_owner(r->fleet, owner);
    o->bytes = row->bytes;
    o->count = row->count;
    o->at = row->at_ns;
    o->why = row->snapshot ? (enum vt_snapshot_why)why : 0;
    return 0;
}

static int take_leak(struct reader *r) {
    const struct vt_merged_row *row = r->row;
    uint32_t verdict;
    int error = take_judged_line(r, &verdict);
    if (error || r->process == SKIPPED)
        return error;
    struct vt_fleet_leak *l = vt_fleet_add_leak(r->fleet);
    l->process = r->process;
    l->line = r->line;
    l->verdict = (enum vt_verdict)verdict;
    VT_MERGED_COPY(LEAK, l, row);
    l->per = vt_fleet_text(r->fleet, row->per);
    l->since = row->since_ns;
    l->full_in = row->full_in_ns;
    l->kept_by = vt_fleet_text(r->fleet, row->kept_by);
    l->why = vt_fleet_text(r->fleet, row->why);
    l->caller = vt_fleet_text(r->fleet, row->caller);
    return 0;
}

static int take_oom(struct reader *r) {
    const struct vt_merged_row *row = r->row;
    uint32_t outcome, cause;
    int error = row->text ? take_line(r) : 0;
    if (!error)
        error = take_word(r, "an outcome", row->outcome, vt_oom_outcome_names, VT_OOM_OUTCOMES,
                          false, &outcome);
    if (!error)
        error = take_word(r, "a cause", row->cause, vt_oom_cause_names, VT_CAUSES, true, &cause);
    if (error || r->process == SKIPPED)
        return error;
    struct vt_fleet_oom *o = vt_fleet_add_oom(r->fleet);
    o->process = r->process;
    o->line = row->text ? r->line : VT_FLEET_NONE;
    o->device = device_of(row);
    o->at = row->at_ns;
    VT_MERGED_COPY(OOM, o, row);
    o->outcome = (enum vt_oom_outcome)outcome;
    o->cause = row->cause ? (enum vt_oom_cause)cause : VT_CAUSE_UNKNOWN;
    o->why = vt_fleet_text(r->fleet, row->why);
    o->caller = vt_fleet_text(r->fleet, row->caller);
    return 0;
}

/* --- the file --- */

static int take_row(struct reader *r, unsigned kind) {
    if (kind == VT_MERGED_PROCESS)
        return take_process(r);
    int error = find_process(r);
    if (error)
        return error;
    switch (kind) {
    case VT_MERGED_DEVICE:
        return take_device(r);
    case VT_MERGED_SERIES:
        return take_series(r);
    case VT_MERGED_LINE:
        return take_cell(r);
    case VT_MERGED_OWNER:
        return take_owned(r);
    case VT_MERGED_LEAK:
        return take_leak(r);
    default:
        return take_oom(r);
    }
}

int vt_merged_read(const char *path, struct vt_fleet *fleet, struct vt_string *message) {
    struct reader r = {.fleet = fleet, .line = VT_FLEET_NONE};
    uint32_t before = fleet->process_count;
    unsigned kind;
    int error = vt_merged_parser_open(path, &r.parser, message);
    if (error)
        return error;
    r.row = vt_merged_parser_row(r.parser);
    while ((error = vt_merged_parser_next(r.parser, &kind)) > 0) {
        error = kind == VT_MERGED_SCHEMA_ROW ? take_schema(&r) : take_row(&r, kind);
        if (error)
            break;
    }
    vt_merged_parser_close(r.parser);
    vt_map_free(&r.processes);
    vt_map_free(&r.devices);
    if (error)
        vt_fleet_take_back(fleet, before);
    return error;
}
