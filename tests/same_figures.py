# SPDX-License-Identifier: MIT
"""Is a figure the same in all outputs that show it? `import same_figures` in a case, then differences(log).

Each place is one output of one command with named figures, such as ("GPU 0", "peak_bytes"). A figure must be equal
in all places that have it. Places for people show sizes as text, so the others' bytes are formatted in the same
way. `spoil(place, output)` may change an output before it is read, to test this test."""

import csv
import gzip
import io
import json
import os
import re
import subprocess
import tempfile

VRAMTRACE = os.environ.get("VRAMTRACE", "vramtrace")
SITE = ("live_bytes", "live_count", "peak_bytes", "bytes_at_peak", "allocated_bytes", "alloc_count", "free_count")
DEVICE = ("live_bytes", "live_count", "peak_bytes", "alloc_count", "free_count", "failed_count")


class Text(str):
    """A size in readable form."""


def size_text(count):
    """A size as in include/vramtrace/text.h: three digits, rounded to the nearest, ties to even."""
    unit = next((u for u in range(6) if count * 2 < 2047 << 10 * u), 6)
    one = 1 << 10 * unit
    decimals = 0 if not unit or count * 100 >= one * 9995 else 1 if count * 1000 >= one * 9995 else 2
    shown, rest = divmod(count * 10 ** decimals, one)
    shown += rest * 2 > one or (rest * 2 == one and shown & 1)
    digits = f"{shown:0{decimals + 1}}"
    return (f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits) + " " + ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")[unit]


def call(*argv):
    done = subprocess.run([VRAMTRACE, *map(str, argv)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", check=False)
    if done.returncode not in ((0, 2, 23) if argv[0] == "check" else (0,)):
        raise SystemExit(f"FAIL: vramtrace {' '.join(map(str, argv))}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def written(*argv):
    """The contents of the file that a command writes."""
    with tempfile.TemporaryDirectory() as folder:
        call(*argv, f"{folder}/out")
        with open(f"{folder}/out", "rb") as file:
            data = file.read()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8", "replace")


def gpu(device):
    return f"GPU {device if device is not None else '?'}"


def of_json(output):
    p = json.loads(output)["processes"][0]
    yield ("log", "events"), p["events"]
    yield ("log", "dropped_events"), p["dropped_events"]
    for d in p["devices"]:
        for name in (*DEVICE, "allocated_bytes"):
            yield (gpu(d["device"]), name), d[name]
    for apart in ("pinned_host", "managed"):
        yield (apart, "live_bytes"), p[apart]["live_bytes"]
        yield (apart, "peak_bytes"), p[apart]["peak_bytes"]
    for s in p["sites"]:
        for name in SITE:
            yield (s["site"], name), s[name]
        yield (s["site"], "verdict"), s["verdict"]
    yield ("leaks", "count"), sum(leak["grade"] == "leak" for leak in p["leaks"])
    blocks = [s for s in p["sites"] if s["layer"] != "driver" or s["class"] != "cache"]
    for name in ("alloc_count", "allocated_bytes"):
        yield ("all sites", name), sum(s[name] for s in p["sites"])
    yield ("no segments", "allocated_bytes"), sum(s["allocated_bytes"] for s in blocks)
    yield ("failures", "count"), len(p["ooms"]) + p.get("ooms_left_out", 0)


def of_csv(output):
    rows = list(csv.DictReader(io.StringIO(output)))
    for row in rows:
        for name in SITE:
            yield (row["site"], name), int(row[name])
        yield (row["site"], "verdict"), row["verdict"]
    for name in ("alloc_count", "allocated_bytes"):
        yield ("all sites", name), sum(int(row[name]) for row in rows)
    yield ("leaks", "bytes"), sum(int(row["leaked_bytes"]) for row in rows)


def of_page(output):
    """The JSON report, and the sums of what the page leaves out."""
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', output, re.S)[1]
    page = json.loads(text)["processes"][0]["page"]
    of_all = {("all sites", name): sum(left[name] for left in page["sites_left_out"]) for name in ("alloc_count", "allocated_bytes")}
    for figure, value in of_json(text):
        if figure not in (("leaks", "count"), ("no segments", "allocated_bytes")):
            yield figure, value + of_all[figure] if figure in of_all else value
    yield ("leaks", "count"), page["leak_count"]
    yield ("leaks", "bytes"), page["leaked_bytes"]


def of_people(output):
    """Text report and Markdown have the same sentences."""
    plain = output.replace("**", "")
    log = re.search(r"log (?:complete|INCOMPLETE|WITH GAPS), ([\d,]+) events, ([\d,]+) dropped", plain)
    yield ("log", "events"), int(log[1].replace(",", ""))
    yield ("log", "dropped_events"), int(log[2].replace(",", ""))
    more = re.search(r"^(?:## )?(\d+) MORE LEAKS?\b", plain, re.M)
    yield ("leaks", "count"), len(re.findall(r"^(?:## )?LEAK[: ]", plain, re.M)) + int(more[1] if more else 0)
    for section in re.split(r"^(?:## )?(?=GPU [\d?]+[: ])", plain, flags=re.M)[1:]:
        name = re.match(r"GPU [\d?]+", section)[0]
        total = re.search(r"^(?:- )? *total +([\d,]+) allocations?, ([^;]+); ([\d,]+) freed(?:; ([\d,]+) refused)?", section, re.M)
        if total:
            yield (name, "alloc_count"), int(total[1].replace(",", ""))
            yield (name, "allocated_bytes"), Text(total[2])
            yield (name, "free_count"), int(total[3].replace(",", ""))
            yield (name, "failed_count"), int((total[4] or "0").replace(",", ""))
        peak = re.search(r"^(?:- )? *peak +(\d[\d.]* \w+)", section, re.M)
        if peak:
            yield (name, "peak_bytes"), Text(peak[1])


def of_merged(output):
    rows = [json.loads(line) for line in output.splitlines()]
    process = next(row for row in rows if row["row"] == "process")
    yield ("log", "events"), process["events"]
    yield ("log", "dropped_events"), process["dropped_events"]
    yield ("leaks", "count"), process["leak_count"]
    yield ("leaks", "bytes"), process["leaked_bytes"]
    yield ("leaks", "bytes"), sum(row["bytes"] for row in rows if row["row"] == "leak")
    yield ("process", "peak_bytes"), process["peak_bytes"]
    yield ("process", "live_bytes"), process["live_bytes"]
    for row in rows:
        if row["row"] == "device" and row["layer"] == "driver":
            yield (gpu(row["device"]), "live_bytes"), row["live_bytes"]
            yield (gpu(row["device"]), "peak_bytes"), row["peak_bytes"]
    for name in ("alloc_count", "allocated_bytes"):
        yield ("all sites", name), sum(row[name] for row in rows if row["row"] == "line")


def of_ranks(output):
    ranks = json.loads(output)["ranks"]
    yield ("process", "peak_bytes"), ranks["peak_bytes"]
    yield ("process", "live_bytes"), ranks["live_bytes"]
    yield ("leaks", "bytes"), ranks["leaked_bytes"]
    yield ("leaks", "count"), ranks["rows"][0]["leaks"]
    for d in ranks["rows"][0]["devices"]:
        if not d["host_memory"]:
            yield (gpu(d["device"]), "live_bytes"), d["live_bytes"]
            yield (gpu(d["device"]), "peak_bytes"), d["peak_bytes"]


def of_watch(output):
    p = json.loads(output)["processes"][0]
    yield ("log", "events"), p["events"]
    yield ("log", "dropped_events"), p["dropped_events"]
    for d in p["devices"]:
        for name in DEVICE:
            yield (gpu(d["device"]), name), d[name]
    for apart in ("pinned_host", "managed"):
        yield (apart, "live_bytes"), p[apart]["live_bytes"]


def of_prometheus(output):
    names = {f"device_{name.replace('_count', '_total') if name in ('alloc_count', 'free_count', 'failed_count') else name}": name
             for name in DEVICE}
    for line in output.splitlines():
        found = re.match(r'vramtrace_(\w+)\{.*?(?:device="([\d?]*)".*)?\} (\d+)$', line)
        if found and found[1] in names:
            device = re.search(r'device="([^"]*)"', line)[1]
            yield (gpu(device), names[found[1]]), int(found[3])
        elif found and found[1] in ("process_events_total", "process_dropped_events_total"):
            yield ("log", found[1][8:-6]), int(found[3])
        elif found and found[1] in ("pinned_host_live_bytes", "managed_live_bytes"):
            yield (found[1][:-11], "live_bytes"), int(found[3])


def of_check(output):
    found = json.loads(output)
    p = next(p for p in found["processes"] if p["log"] not in found["added"])  # other processes of its run come along
    yield ("log", "dropped_events"), p["dropped_events"]
    yield ("leaks", "bytes"), p["leaked_bytes"]
    for d in p["devices"]:
        yield (gpu(d["device"]), "live_bytes"), d["live_bytes"]
        yield (gpu(d["device"]), "peak_bytes"), d["peak_bytes"]


def of_diff(output):
    found = json.loads(output)
    for run in ("before", "after"):
        yield ("process", "live_bytes"), found[run]["live_bytes"]
        yield ("leaks", "bytes"), found[run]["leaked_bytes"]
        yield ("failures", "count"), found[run]["ooms"]
    # a row is all sites of a line
    yield ("all sites", "alloc_count"), sum(row["after"]["alloc_count"] for row in found["sites"])
    yield ("all sites", "allocated_bytes"), sum(row["after"]["allocated_bytes"] for row in found["sites"])


def of_folded(key):
    return lambda output: [(key, sum(int(line.rsplit(" ", 1)[1]) for line in output.splitlines()))]


def of_dump(output):
    lines = output.splitlines()
    types = [line.split()[1] for line in lines if len(line.split()) > 1]
    allocations = [line for line, kind in zip(lines, types) if kind == "ALLOC"]
    yield ("all sites", "alloc_count"), len(allocations)
    yield ("all sites", "allocated_bytes"), sum(int(re.search(r" size=(\d+)", line)[1]) for line in allocations)


PLACES = {
    "report --format json": (lambda log: call("report", "--format", "json", log), of_json),
    "report": (lambda log: call("report", "--top", 100000, log), of_people),
    "report --format markdown": (lambda log: call("report", "--format", "markdown", log), of_people),
    "report --format html": (lambda log: written("report", "--format", "html", log, "-o"), of_page),
    "export --format csv": (lambda log: call("export", "--format", "csv", log), of_csv),
    "merge": (lambda log: written("merge", log, "-o"), of_merged),
    "report of the merged file": (None, of_ranks),
    "watch --once": (lambda log: call("watch", "--once", "--format", "json", log), of_watch),
    "watch --prometheus": (lambda log: written("watch", "--once", log, "--prometheus"), of_prometheus),
    "check": (lambda log: call("check", "--format", "json", log), of_check),
    "diff": (lambda log: call("diff", "--format", "json", log, log), of_diff),
    "dump": (lambda log: call("dump", log), of_dump),
}
for _value, _key in (("allocated", ("no segments", "allocated_bytes")), ("leaked", ("leaks", "bytes")), ("live", ("export", "live_bytes")),
                     ("peak", ("export", "bytes_at_peak"))):
    PLACES[f"export --format folded --value {_value}"] = (
        lambda log, value=_value: call("export", "--format", "folded", "--value", value, log), of_folded(_key))


def merged_report(log):
    with tempfile.TemporaryDirectory() as folder:
        call("merge", log, "-o", f"{folder}/one.jsonl.gz")
        return call("report", "--format", "json", f"{folder}/one.jsonl.gz")


def gather(log, spoil=None):
    """{figure: {place: value}}."""
    figures = {}
    for place, (make, read) in PLACES.items():
        output = make(log) if make else merged_report(log)
        for key, value in read(spoil(place, output) if spoil else output):
            figures.setdefault(key, {}).setdefault(place, []).append(value)
    return figures


def disagreeing(log, figures):
    found = []
    for key, places in figures.items():
        values = {value for of in places.values() for value in of}
        exact = {value for value in values if not isinstance(value, Text)}
        shown = {value for value in values if isinstance(value, Text)}
        if len(exact) > 1 or (exact and shown and shown != {size_text(next(iter(exact)))}) or len(shown) > 1:
            found.append(f"{log}: {key[0]}, {key[1]}: {places}")
    return found


def differences(log, spoil=None):
    return disagreeing(log, gather(log, spoil))
