# SPDX-License-Identifier: MIT
"""Reads a Perfetto trace with Perfetto's own definitions (PyPI's `perfetto`), and prints it as JSON: processes, tracks, counters,
slices as a reader builds them, instants. What these definitions do not know, or would not nest, is an error."""

import json
import sys

from google.protobuf import unknown_fields
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

trace = pb.Trace()
with open(sys.argv[1], "rb") as file:
    trace.ParseFromString(file.read())


def check(condition, message):
    if not condition:
        sys.exit(message)


def known(message):
    check(not len(unknown_fields.UnknownFieldSet(message)), f"fields that Perfetto does not know: {message}")
    for field, value in message.ListFields():
        if field.message_type:
            for one in value if field.is_repeated else [value]:
                known(one)


known(trace)
first = trace.packet[0]
check(first.sequence_flags & pb.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED, "the sequence does not begin")
check(first.clock_snapshot.primary_trace_clock == pb.BUILTIN_CLOCK_REALTIME and
      [clock.clock_id for clock in first.clock_snapshot.clocks] == [pb.BUILTIN_CLOCK_REALTIME], "the trace's clock")
tracks, events = {}, []
for packet in trace.packet:
    check(packet.trusted_packet_sequence_id == first.trusted_packet_sequence_id != 0, "a packet of another sequence")
    if packet.HasField("track_descriptor"):
        track = packet.track_descriptor
        check(track.uuid and track.uuid not in tracks, f"a track's id is not its own: {track}")
        check(not track.parent_uuid or track.parent_uuid in tracks, f"a track without its parent: {track}")
        tracks[track.uuid] = track
    if packet.HasField("track_event"):
        check(packet.timestamp_clock_id == pb.BUILTIN_CLOCK_REALTIME, "an event of another clock")
        check(packet.track_event.track_uuid in tracks, f"an event without its track: {packet.track_event}")
        events.append((packet.timestamp, packet.track_event))
events.sort(key=lambda event: event[0])  # as trace_processor does: by time, then as they stand


def path(uuid):
    names = []
    while uuid:
        track = tracks[uuid]
        names.insert(0, track.name or (f"process {track.process.pid}" if track.HasField("process") else f"thread {track.thread.tid}"))
        uuid = track.parent_uuid
    return names


def notes(event):
    return {note.name: getattr(note, note.WhichOneof("value")) for note in event.debug_annotations}


counters, slices, instants, open_slices = {}, [], [], {}
for at, event in events:
    key = event.track_uuid
    is_counter = tracks[key].HasField("counter")
    check(is_counter == (event.type == pb.TrackEvent.TYPE_COUNTER), "a counter's value on another track, or the reverse")
    if is_counter:
        check(tracks[key].counter.unit == pb.CounterDescriptor.UNIT_SIZE_BYTES, "a counter of no bytes")
        counters.setdefault(key, []).append((at, event.counter_value))
    elif event.type == pb.TrackEvent.TYPE_SLICE_BEGIN:
        open_slices.setdefault(key, []).append([event.name, at, None, path(key)[-1], notes(event), list(event.categories)])
    elif event.type == pb.TrackEvent.TYPE_SLICE_END:
        check(open_slices.get(key), f"an end without a beginning on {path(key)} at {at}")
        slices.append(open_slices[key].pop())
        slices[-1][2] = at
    else:
        check(event.type == pb.TrackEvent.TYPE_INSTANT, f"an event: {event}")
        instants.append((event.name, at, path(key)[-1], notes(event), list(event.categories)))
slices += [one for stack in open_slices.values() for one in stack]
processes = [[t.process.pid, t.process.process_name, list(t.process.cmdline), t.process.start_timestamp_ns,
              list(t.process.process_labels)] for t in tracks.values() if t.HasField("process")]
check(len({p[0] for p in processes}) == len(processes), f"two processes with one number: {processes}")
threads = [t.thread.tid for t in tracks.values() if t.HasField("thread")]
check(len(set(threads)) == len(threads), f"two threads with one number: {threads}")
json.dump({"packets": len(trace.packet), "processes": processes, "slices": slices, "instants": instants,
           "counters": [[path(key), tracks[key].description, values] for key, values in counters.items()]}, sys.stdout)
