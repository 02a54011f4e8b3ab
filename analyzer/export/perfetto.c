/* SPDX-License-Identifier: MIT */
/*
 * The writer of Perfetto traces (see perfetto.h).
 *
 * A trace is a message whose field 1 repeats: a sequence of packets, each with the field's tag and its length. So no
 * part of a trace is kept in memory. Times are in CLOCK_REALTIME, as the log's start time is. This clock is declared
 * the trace's clock, so that readers do not expect a relation to CLOCK_BOOTTIME, the default.
 */
#include "perfetto.h"

#include "perfetto.pb-c.h"

#include <stdlib.h>

/* Perfetto's numbers. */
enum {
    PACKET = 1 << 3 | 2, /* the tag: field 1, length-delimited */
    CLOCK_REALTIME_ID = 1,
    SEQUENCE = 1,
    STATE_CLEARED = 1,
    TYPE_COUNTER = 4,
    UNIT_SIZE_BYTES = 3,
    ORDER_EXPLICIT = 3
};

static void write_packet(struct vt_perfetto *w, Vtp__TracePacket *packet) {
    packet->has_trusted_packet_sequence_id = true;
    packet->trusted_packet_sequence_id = SEQUENCE;
    packet->has_sequence_flags = !w->begun;
    packet->sequence_flags = STATE_CLEARED;
    w->begun = true;
    size_t length = vtp__trace_packet__get_packed_size(packet);
    if (length > w->room) {
        w->room = length * 2;
        w->bytes = vt_realloc(w->bytes, w->room, 1);
    }
    vtp__trace_packet__pack(packet, w->bytes);
    putc(PACKET, w->out);
    for (size_t left = length;; left >>= 7) {
        putc((int)(left & 0x7f) | (left > 0x7f ? 0x80 : 0), w->out);
        if (left <= 0x7f)
            break;
    }
    fwrite(w->bytes, 1, length, w->out);
}

static char *clean(const char *text) {
    struct vt_string s = {0};
    if (!text)
        return NULL;
    vt_string_add_utf8(&s, text);
    return s.text ? s.text : vt_strdup("");
}

void vt_perfetto_open(struct vt_perfetto *w, FILE *out, uint64_t seed) {
    *w = (struct vt_perfetto){.out = out, .seed = vt_mix(seed)};
    Vtp__TracePacket packet = VTP__TRACE_PACKET__INIT;
    Vtp__ClockSnapshot snapshot = VTP__CLOCK_SNAPSHOT__INIT;
    Vtp__Clock clock = VTP__CLOCK__INIT, *clocks[] = {&clock};
    clock.has_clock_id = clock.has_timestamp = true;
    clock.clock_id = CLOCK_REALTIME_ID;
    clock.timestamp = seed;
    snapshot.n_clocks = 1;
    snapshot.clocks = clocks;
    snapshot.has_primary_trace_clock = true;
    snapshot.primary_trace_clock = CLOCK_REALTIME_ID;
    packet.clock_snapshot = &snapshot;
    write_packet(w, &packet);
}

void vt_perfetto_close(struct vt_perfetto *w) {
    free(w->bytes);
}

/* --- tracks --- */

/* Sets the track's id, and writes the track. */
static uint64_t add_track(struct vt_perfetto *w, Vtp__TrackDescriptor *track, uint64_t parent) {
    Vtp__TracePacket packet = VTP__TRACE_PACKET__INIT;
    track->has_uuid = true;
    track->uuid = vt_mix(w->seed + ++w->tracks);
    track->has_parent_uuid = parent != 0;
    track->parent_uuid = parent;
    packet.track_descriptor = track;
    write_packet(w, &packet);
    return track->uuid;
}

uint64_t vt_perfetto_process(struct vt_perfetto *w, const struct vt_perfetto_process *p) {
    Vtp__TrackDescriptor track = VTP__TRACK_DESCRIPTOR__INIT;
    Vtp__ProcessDescriptor process = VTP__PROCESS_DESCRIPTOR__INIT;
    char *label = clean(p->label), **command = vt_alloc(p->command_count, sizeof *command);
    for (uint32_t i = 0; i < p->command_count; i++)
        command[i] = clean(p->command[i]);
    process.has_pid = process.has_start_timestamp_ns = true;
    process.pid = (int32_t)p->pid;
    process.process_name = clean(p->name);
    process.n_cmdline = p->command_count;
    process.cmdline = command;
    process.start_timestamp_ns = (int64_t)p->started_at;
    process.n_process_labels = label != NULL;
    process.process_labels = &label;
    track.process = &process;
    track.has_child_ordering = true;
    track.child_ordering = ORDER_EXPLICIT;
    uint64_t id = add_track(w, &track, 0);
    for (uint32_t i = 0; i < p->command_count; i++)
        free(command[i]);
    free(command);
    free(process.process_name);
    free(label);
    return id;
}

uint64_t vt_perfetto_thread(struct vt_perfetto *w, uint64_t parent, uint32_t pid, uint32_t tid) {
    Vtp__TrackDescriptor track = VTP__TRACK_DESCRIPTOR__INIT;
    Vtp__ThreadDescriptor thread = VTP__THREAD_DESCRIPTOR__INIT;
    thread.has_pid = thread.has_tid = true;
    thread.pid = (int32_t)pid;
    thread.tid = (int32_t)tid;
    track.thread = &thread;
    return add_track(w, &track, parent);
}

uint64_t vt_perfetto_track(struct vt_perfetto *w, uint64_t parent, const char *name,
                           uint32_t rank) {
    Vtp__TrackDescriptor track = VTP__TRACK_DESCRIPTOR__INIT;
    track.name = clean(name);
    track.has_child_ordering = track.has_sibling_order_rank = true;
    track.child_ordering = ORDER_EXPLICIT;
    track.sibling_order_rank = (int32_t)rank;
    uint64_t id = add_track(w, &track, parent);
    free(track.name);
    return id;
}

uint64_t vt_perfetto_counter(struct vt_perfetto *w, uint64_t parent, const char *name,
                             const char *description, uint32_t rank) {
    Vtp__TrackDescriptor track = VTP__TRACK_DESCRIPTOR__INIT;
    Vtp__CounterDescriptor counter = VTP__COUNTER_DESCRIPTOR__INIT;
    track.name = clean(name);
    track.description = clean(description);
    track.has_sibling_order_rank = counter.has_unit = true;
    track.sibling_order_rank = (int32_t)rank;
    counter.unit = UNIT_SIZE_BYTES;
    counter.y_axis_share_key = (char[]){"bytes"};
    track.counter = &counter;
    uint64_t id = add_track(w, &track, parent);
    free(track.name);
    free(track.description);
    return id;
}

/* --- events --- */

static void write_event(struct vt_perfetto *w, Vtp__TrackEvent *event, uint64_t track,
                        uint64_t at) {
    Vtp__TracePacket packet = VTP__TRACE_PACKET__INIT;
    event->has_type = event->has_track_uuid = true;
    event->track_uuid = track;
    packet.has_timestamp = packet.has_timestamp_clock_id = true;
    packet.timestamp = at;
    packet.timestamp_clock_id = CLOCK_REALTIME_ID;
    packet.track_event = event;
    write_packet(w, &packet);
}

void vt_perfetto_count(struct vt_perfetto *w, uint64_t track, uint64_t at, uint64_t bytes) {
    Vtp__TrackEvent event = VTP__TRACK_EVENT__INIT;
    event.type = TYPE_COUNTER;
    event.has_counter_value = true;
    event.counter_value = (int64_t)bytes;
    write_event(w, &event, track, at);
}

void vt_perfetto_event(struct vt_perfetto *w, enum vt_perfetto_type type, uint64_t track,
                       uint64_t at, const char *category, const char *name,
                       const struct vt_perfetto_note *notes, uint32_t note_count) {
    Vtp__TrackEvent event = VTP__TRACK_EVENT__INIT;
    Vtp__DebugAnnotation *rows = vt_alloc(note_count, sizeof *rows);
    VT_SCOPED Vtp__DebugAnnotation **pointers =
        vt_alloc(note_count, sizeof(Vtp__DebugAnnotation *));
    char *categories[] = {clean(category)};
    for (uint32_t i = 0; i < note_count; i++) {
        Vtp__DebugAnnotation *row = &rows[event.n_debug_annotations];
        if (!notes[i].text && notes[i].number == VT_UNKNOWN)
            continue;
        vtp__debug_annotation__init(row);
        row->name = clean(notes[i].name);
        row->string_value = clean(notes[i].text);
        row->has_uint_value = !notes[i].text;
        row->uint_value = notes[i].number;
        pointers[event.n_debug_annotations++] = row;
    }
    event.type = (int32_t)type;
    event.debug_annotations = pointers;
    event.n_categories = category != NULL;
    event.categories = categories;
    event.name = clean(name);
    write_event(w, &event, track, at);
    for (size_t i = 0; i < event.n_debug_annotations; i++) {
        free(rows[i].name);
        free(rows[i].string_value);
    }
    free(rows);
    free(categories[0]);
    free(event.name);
}
