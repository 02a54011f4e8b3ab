# SPDX-License-Identifier: MIT
"""What the benchmarks of this folder share: their options, their one table of rows, and how programs are started."""

import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

QUARTILES_FROM = 11  # of so many values the quartiles are shown; of fewer, the least and the most


def fail(message):
    print(f"bench: {message}", file=sys.stderr)
    sys.exit(1)


def options(doc, rounds, add=()):
    """The command line that all have; `add`: rows (name, default, help) more, of numbers. build is made a path."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=rounds, help=f"rounds; medians are shown ({rounds})")
    parser.add_argument("--json", help="write every row there as well")
    for name, default, text in add:
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{text} ({default})")
    parser.add_argument("build", nargs="?", default="build", help="the build folder (build)")
    found = parser.parse_args()
    found.build = pathlib.Path(found.build).resolve()
    found.json = found.json and os.path.abspath(found.json)
    return found


def environment(**more):
    """The caller's environment without what changes how we trace."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("VRAMTRACE_", "LD_", "NVTX_"))}
    return dict(env, VRAMTRACE_QUIET="1", **more)


def output(argv, env):
    done = subprocess.run([str(word) for word in argv], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        fail(f"{' '.join(map(str, argv))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def cost(argv, source=None, to=os.devnull):
    """Seconds of the processor, seconds by the clock, and the largest size in bytes, of one command."""
    with open(source or os.devnull, "rb") as stdin, open(to, "wb") as stdout:
        start = time.perf_counter()
        process = subprocess.Popen([str(word) for word in argv], stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        clock = time.perf_counter() - start
    if process.returncode:
        fail(f"{argv[0]}: exit status {process.returncode}")
    return used.ru_utime + used.ru_stime, clock, used.ru_maxrss << 10


class Folder:
    """A temporary folder in the build folder, which lies on a disk where /tmp may not."""

    def __init__(self, build):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="vramtrace-bench-", dir=build))

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def spread(values):
    """The two values that stand in brackets behind a median."""
    if len(values) < QUARTILES_FROM:
        return min(values), max(values)
    quarters = statistics.quantiles(values, n=4)
    return quarters[0], quarters[2]


class Table:
    """Rows of figures, printed as they come, with what else they are held against."""

    def __init__(self, topic, title):
        self.topic, self.title, self.rows = topic, title.split(";")[0], []
        print(f"\n{title}\n{'':48} {'ours':>24} {'beside':>24} {'ratio':>7} {'target':>8}", flush=True)

    @staticmethod
    def figure(values, unit, digits):
        low, high = spread(values)
        text = f"{statistics.median(values):.{digits}f}"
        if len(values) > 1:
            text += f" [{low:.{digits}f}..{high:.{digits}f}]"
        return f"{text} {unit}".strip()

    def row(self, name, values, unit="", target=None, peer=None, at_least=False, digits=0):
        """`values`: ours, one a round; `peer`: another's, of the same rounds. A target is at most, or at least, that."""
        ratio = None
        if peer and len(peer) == len(values) and min(peer) > 0:
            ratio = statistics.median(one / other for one, other in zip(values, peer))
        elif peer and statistics.median(peer) > 0:
            ratio = statistics.median(values) / statistics.median(peer)
        value = statistics.median(values)
        met = None if target is None else value >= target if at_least else value <= target
        print(f"  {name:46} {self.figure(values, unit, digits):>24} {self.figure(peer, '', digits) if peer else '':>24} "
              f"{'' if ratio is None else f'{ratio:.2f}':>7} "
              f"{'' if target is None else f'''{'>=' if at_least else '<='} {target:g}''':>8}"
              f"{'' if met is None else '  met' if met else '  NOT MET'}", flush=True)
        self.rows.append({"topic": self.topic, "table": self.title, "row": name, "unit": unit, "values": values,
                          "median": value, "peer": peer, "ratio": ratio, "target": target, "at_least": at_least, "met": met})

    def missing(self, name, reason, target=None):
        """A row that cannot be had here."""
        print(f"  {name:46} not measured: {reason}", flush=True)
        self.rows.append({"topic": self.topic, "table": self.title, "row": name, "missing": reason, "target": target, "met": None})


def save(path, tables):
    if path:
        rows = [row for table in tables for row in table.rows]
        pathlib.Path(path).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def machine(build):
    """What the figures depend on, in words that name no one's machine."""
    def first(path, key):
        with open(path, encoding="utf-8", errors="replace") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith(key)), "?")

    disk = subprocess.run(["stat", "-f", "-c", "%T", build], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    disk = disk.replace("ext2/ext3", "ext4")
    memory = int(first("/proc/meminfo", "MemTotal").split()[0]) / (1 << 20)
    with open("/etc/os-release", encoding="utf-8") as file:
        name = next((line.split("=", 1)[1].strip().strip('"') for line in file if line.startswith("PRETTY_NAME=")), "?")
    return (f"{os.cpu_count()} x {first('/proc/cpuinfo', 'model name')}, {memory:.0f} GiB, {name}, "
            f"kernel {platform.release().split('-')[0]}, logs on {disk}, load {os.getloadavg()[0]:.1f}")
