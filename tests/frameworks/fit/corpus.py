#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`vramtrace fit` against PyTorch's own allocator: programs.py on four cards with six settings each, for
tests/frameworks/run_fit. For work on the model, in steps that keep their files in a folder:

    corpus.py [--build DIR] [--python PYTHON] FOLDER [truth] [record] [compare] [PROGRAM...]

`truth` runs all 288 on simulated cards (minutes), `record` each program once with vramtrace, `compare` asks `fit`."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ("lengths", "streams", "graphs", "generation", "growth", "fragmenting", "buckets", "checkpointing", "ema", "mixed",
         "views", "curriculum")
# Name in the table -> setting.
SETTINGS = {
    "default": "",
    "expandable": "expandable_segments:True",
    "max_split": "max_split_size_mb:64",
    "roundup": "roundup_power2_divisions:4",
    "gc": "garbage_collection_threshold:0.8,per_process_memory_fraction:0.9",
    "mixture": "max_split_size_mb:128,roundup_power2_divisions:[1:8,16:4,>:2],garbage_collection_threshold:0.6,"
               "per_process_memory_fraction:0.95",
}
LARGE = 80 << 30
PEAK_PERCENT, PEAKS_RIGHT, OUTCOMES_RIGHT, SCALED_PERCENT = 1.0, 0.95, 0.98, 3.0
# With these the recording must say what the program needs with twice the batch.
SCALES = ("role:activations=2", "role:batch=2")
# How each program is recorded: the setting, and whether on the smallest card that it ran on with that, where requests fail and
# are tried again, or segments are collected.
RECORDINGS = {"default": ("default", False), "expandable": ("expandable", False), "narrow": ("default", True),
              "collecting": ("gc", True)}


class Machine:
    """Where vramtrace, the simulated GPU and a Python with PyTorch are."""

    def __init__(self, build, python):
        self.vramtrace, self.python = f"{build}/vramtrace", python
        sim = pathlib.Path(build) / "sim"
        self.preload = ":".join(map(str, [sim / "libcuda.so.1", sim / "libcudart.so.12", sim / "libcudart.so.13",
                                          *sorted(sim.glob("nvml/*.so.1")), *sorted(sim.glob("numb/*.so*"))]))
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTORCH_", "VRAMTRACE_"))}
        self.env["PYTHONWARNINGS"] = "ignore"

    def truth(self, wishes):
        done = subprocess.run([self.python, str(HERE / "truth.py")], input="".join(json.dumps(wish) + "\n" for wish in wishes),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                              env=dict(self.env, LD_PRELOAD=self.preload))
        if done.returncode:
            sys.exit(f"truth.py failed:\n{done.stderr[-3000:]}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def record(self, name, log, memory, conf):
        log.unlink(missing_ok=True)
        done = subprocess.run([self.vramtrace, "run", f"--sim={memory}", "-o", str(log), "--", self.python,
                               str(HERE / "programs.py"), name], env=dict(self.env, PYTORCH_CUDA_ALLOC_CONF=conf),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if done.returncode:
            sys.exit(f"recording {name} failed:\n{done.stdout[-3000:]}")

    def fit(self, log, *options):
        done = subprocess.run([self.vramtrace, "fit", "--format", "json", *options, str(log)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            sys.exit(f"vramtrace fit {log}: exit status {done.returncode}: {done.stderr[-2000:]}")
        return json.loads(done.stdout)


def wish(program, memory, conf, scale=1):
    return {"program": program, "scale": scale, "memory_bytes": memory, "conf": conf}


def cards(plain):
    """Four cards, from what a program needs on a large one: little more than what lives at the peak, half-way from there to
    what is reserved, little more than that, and three times as much."""
    other = plain["peak_bytes"] - plain["peak_reserved_bytes"]
    live, reserved = plain["peak_allocated_bytes"] + other, plain["peak_bytes"]
    return [int(size) >> 20 << 20 for size in (1.08 * live, (live + reserved) / 2, 1.05 * reserved, 3 * reserved)]


def find_truth(machine, names):
    plain = machine.truth([wish(name, LARGE, "") for name in names])
    wishes = [wish(row["program"], memory, conf) for row in plain for memory in cards(row) for conf in SETTINGS.values()]
    return {"plain": plain, "rows": machine.truth(wishes),
            "doubled": machine.truth([wish(name, LARGE, "", 2) for name in names])}


def record(machine, truth, folder, names):
    for name in names:
        for recording, (setting, narrow) in RECORDINGS.items():
            ran = [row["memory_bytes"] for row in truth["rows"]
                   if row["program"] == name and row["conf"] == SETTINGS[setting] and row["fits"]]
            machine.record(name, folder / f"{name}-{recording}.vtl", min(ran) if narrow else LARGE, SETTINGS[setting])


def compare(machine, truth, folder, names, recording="default"):
    """A row for each run: the truth, what fit says, and whether that is right."""
    rows = []
    for name in names:
        true = [row for row in truth["rows"] if row["program"] == name]
        memory = dict.fromkeys(row["memory_bytes"] for row in true)
        options = [f"--memory={','.join(map(str, memory))}", *(f"--conf={conf}" for conf in SETTINGS.values())]
        said = machine.fit(folder / f"{name}-{recording}.vtl", *options)
        found = {(row["memory_bytes"], row["conf"] or ""): row for row in said["rows"]}
        for row in true:
            answer = found[row["memory_bytes"], row["conf"]]
            off = 100 * (answer["peak_reserved_bytes"] / row["peak_reserved_bytes"] - 1)
            rows.append({"program": name, "card": list(memory).index(row["memory_bytes"]), "true": row, "said": answer,
                         "setting": next(key for key, conf in SETTINGS.items() if conf == row["conf"]),
                         "off": off, "peak_right": abs(off) <= PEAK_PERCENT, "outcome_right": answer["fits"] == row["fits"]})
    return rows


def compare_scaled(machine, truth, folder):
    rows = []
    for true in truth["doubled"]:
        said = machine.fit(folder / f"{true['program']}-default.vtl", f"--memory={LARGE}", "--conf=",
                           *(f"--scale={scale}" for scale in SCALES))
        peak = said["rows"][0]["peak_reserved_bytes"]
        rows.append({"program": true["program"], "true": true, "peak": peak,
                     "off": 100 * (peak / true["peak_reserved_bytes"] - 1)})
    return rows


def mib(size):
    return f"{size / (1 << 20):,.0f}"


def table(rows):
    """Program x setting: what PyTorch reserves on the largest card, in MiB, and on how many of the four the program fits; where
    `fit` is off: by how much at most, and how many outcomes are wrong."""
    lines = ["| program | " + " | ".join(SETTINGS) + " |", "| --- |" + " --- |" * len(SETTINGS)]
    for name in dict.fromkeys(row["program"] for row in rows):
        cells = []
        for setting in SETTINGS:
            mine = [row for row in rows if (row["program"], row["setting"]) == (name, setting)]
            worst = max((row["off"] for row in mine), key=abs)
            wrong = sum(not row["outcome_right"] for row in mine)
            peak = max(mine, key=lambda row: row["card"])["true"]["peak_reserved_bytes"]
            cells.append(f"{mib(peak)}, {sum(row['true']['fits'] for row in mine)} fit" +
                         (f"; {worst:+.1f} %" if abs(worst) >= 0.05 else "") + (f"; {wrong} wrong" if wrong else ""))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def misses(rows):
    lines = []
    for row in rows:
        if row["peak_right"] and row["outcome_right"]:
            continue
        true, said = row["true"], row["said"]
        words = {True: "fits", False: "fails", None: "not known"}
        lines.append(f"| {row['program']} | {mib(true['memory_bytes'])} MiB | {row['setting']} | "
                     f"{words[true['fits']]}, {mib(true['peak_reserved_bytes'])} MiB | "
                     f"{words[said['fits']]}, {mib(said['peak_reserved_bytes'])} MiB |")
    return lines


def totals(rows):
    return sum(row["peak_right"] for row in rows) / len(rows), sum(row["outcome_right"] for row in rows) / len(rows)


def scaled_table(rows):
    return ["| program | `fit` says | PyTorch reserves | off |", "| --- | --- | --- | --- |",
            *(f"| {row['program']} | {mib(row['peak'])} MiB | {mib(row['true']['peak_reserved_bytes'])} MiB | {row['off']:+.1f} % |"
              for row in rows)]


def show(rows, recording):
    peaks, outcomes = totals(rows)
    print(f"recorded: {recording}", *table(rows), *misses(rows),
          f"{len(rows)} runs, {sum(not row['true']['fits'] for row in rows)} of them out of memory: peak within "
          f"{PEAK_PERCENT:.0f} %: {100 * peaks:.1f} %; outcome right: {100 * outcomes:.1f} %", "", sep="\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    names = [word for word in options.words if word in NAMES] or NAMES
    machine, kept = Machine(os.path.abspath(options.build), options.python), options.folder / "truth.json"
    options.folder.mkdir(exist_ok=True)
    if "truth" in options.words:
        kept.write_text(json.dumps(find_truth(machine, names), indent=1))
    truth = json.loads(kept.read_text())
    if "record" in options.words:
        record(machine, truth, options.folder, names)
    if "compare" in options.words:
        for recording in RECORDINGS:
            show(compare(machine, truth, options.folder, names, recording), recording)
        print(*scaled_table(compare_scaled(machine, truth, options.folder)), sep="\n")


if __name__ == "__main__":
    main()
