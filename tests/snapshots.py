# SPDX-License-Identifier: MIT
"""PyTorch's memory snapshots, read as strictly as by their readers."""

import pickle
import pickletools

import lib

# The opcodes that unpickleData in PyTorch's torch/utils/viz/MemoryViz.js supports. It passes the items of APPENDS as
# arguments, and browsers limit their number.
OPCODES = {"PROTO", "EMPTY_DICT", "EMPTY_LIST", "MARK", "SETITEMS", "APPENDS", "BININT", "BININT1", "BININT2", "LONG1",
           "BINUNICODE", "NEWTRUE", "NEWFALSE", "NONE", "TUPLE2", "BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET", "STOP"}
ACTIVE = "active_allocated"


def load(path, strict=True):
    data = open(path, "rb").read()
    if not strict:
        return pickle.loads(data)
    used, depth, items = set(), [], []
    for code, _, _ in pickletools.genops(data):
        used.add(code.name)
        if code.name == "MARK":
            depth.append(0)
        elif code.name in ("SETITEMS", "APPENDS"):
            items.append(depth.pop())
        elif code.name == "EMPTY_DICT" and depth:
            depth[-1] += 1
    lib.check(used <= OPCODES, f"{path}: MemoryViz.js does not know {used - OPCODES}")
    lib.check(max(items) <= 1000, f"{path}: {max(items)} items in one APPENDS")
    return pickle.loads(data)


def consistent(snapshot):
    """Goes back from the end like "Allocator State History": freed memory must be absent, allocated memory present,
    and each
    block in a segment. Returns for each device the least memory live before: (segments, blocks)."""
    first = []
    for device, trace in enumerate(snapshot["device_traces"]):
        segments, blocks = {}, {}
        for segment in snapshot["segments"]:
            if segment["device"] == device:
                segments[segment["address"]] = segment["total_size"]
                at = segment["address"]
                for block in segment["blocks"]:
                    lib.eq("a block's address", at, block["address"])
                    at += block["size"]
                    if block["state"] == ACTIVE:
                        blocks[block["address"]] = block["size"]
                lib.eq("blocks tile a segment", segment["address"] + segment["total_size"], at)
        for event in reversed(trace):
            action, at, size = event["action"], event.get("addr"), event["size"]
            if action == "alloc":
                lib.check(blocks.pop(at, None) == size, f"an allocation of what is not there: {event}")
            elif action == "free_completed":
                lib.check(at not in blocks, f"a free of what is still there: {event}")
                lib.check(segments.get(at, 0) >= size or any(s <= at and at + size <= s + n for s, n in segments.items()),
                          f"a block in no segment: {event}")
                blocks[at] = size
            elif action == "segment_alloc":
                lib.check(segments.pop(at, None) == size, f"a segment that is not there: {event}")
            elif action == "segment_free":
                lib.check(at not in segments, f"a free of a segment that is still there: {event}")
                segments[at] = size
            elif action == "segment_map":
                start = next((s for s, n in segments.items() if s <= at and at + size <= s + n), None)
                lib.check(start is not None, f"a mapping that is not there: {event}")
                end = start + segments.pop(start)
                if start < at:
                    segments[start] = at - start
                if at + size < end:
                    segments[at + size] = end - at - size
            elif action == "segment_unmap":
                end = at + size
                before = next((s for s, n in segments.items() if s + n == at), at)
                segments[before] = end - before + segments.pop(end, 0)
            else:
                lib.check(action in ("oom", "free_requested"), f"an action: {event}")
        first.append((segments, blocks))
    return first


def fields(snapshot):
    """The data that MemoryViz.js and _memory_viz.py read must exist, with the right types."""
    for frame in [f for e in every_event(snapshot) for f in e["frames"]] + [f for s in snapshot["segments"] for b in s["blocks"]
                                                                            for f in b["frames"]]:
        lib.check(isinstance(frame["name"], str) and isinstance(frame["filename"], str) and isinstance(frame["line"], int),
                  f"a frame: {frame}")
    for event in every_event(snapshot):
        lib.check({"action", "size", "stream", "time_us", "frames", "user_metadata", "compile_context", "pool_id"} <= set(event)
                  and ("device_free" if event["action"] == "oom" else "addr") in event, f"an event: {event}")
    for segment in snapshot["segments"]:
        lib.check({"device", "address", "total_size", "allocated_size", "active_size", "requested_size", "stream", "segment_type",
                   "segment_pool_id", "is_expandable", "frames", "blocks"} <= set(segment), f"a segment: {segment.keys()}")
        lib.eq("allocated", segment["allocated_size"], sum(b["size"] for b in segment["blocks"] if b["state"] == ACTIVE))
        for block in segment["blocks"]:
            lib.check({"address", "size", "requested_size", "state", "frames"} <= set(block), f"a block: {block}")


def every_event(snapshot):
    return [event for trace in snapshot["device_traces"] for event in trace]
