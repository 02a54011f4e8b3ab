# SPDX-License-Identifier: MIT
"""A pytest plugin: which tests leak GPU memory, and at which line.

Copy this file beside your conftest.py, put `pytest_plugins = ["vramtrace_pytest"]` into it, and run the suite traced:

    vramtrace run --check --uncached -- pytest tests/

(--uncached: frameworks free at once what they would keep for later, so that a limit is about the test alone.) Two markers set limits, as pytest-memray names them:

    @pytest.mark.limit_vram("512 MB")                    the most device memory that the test may add at any moment
    @pytest.mark.limit_vram_leaks("0 B", warmups=1)      what may be left of it when the test is over; `warmups` runs
                                                         come first, so that what is made once does not count

`pytest --vram-leaks SIZE` is a limit_vram_leaks for every test that has none. A test that leaves memory behind and has no
limit gets a section in the report and passes. Sizes are 1024-based.

What is left is measured after the test's teardown and a garbage collection, and after frameworks that cache device memory
(PyTorch, CuPy, Numba) were asked to give back what they do not use. A test that failed anyway is not judged. Each test is a
phase in the trace, so `vramtrace report --since`, and its timeline, can tell them apart.

Where the process is not traced, the markers do nothing, and the header says so. No dependency but pytest.
"""

import ctypes
import gc
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from _pytest.runner import runtestprotocol

MAGIC = b"vramtrc\x01"  # what a log begins with
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def parse_size(text):
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", str(text), re.IGNORECASE)
    if not found:
        raise pytest.UsageError(f"expected a size such as '512 MB' or '1.5 GiB', found {text!r}")
    return int(float(found[1]) * UNITS[found[2].upper()])


def format_size(size):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1023.5 or unit == "GiB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.3g} {unit}"
        size /= 1024
    return ""


class Tracer:
    """libvramtrace.so as it is in this process: its exported functions, its log, the command that reads it."""

    def __init__(self):
        library = ctypes.CDLL(None)
        self.active = False
        try:
            self.push, self.pop = library.vramtrace_v1_push, library.vramtrace_v1_pop
            self.live_bytes = library.vramtrace_v1_live_bytes
            self.active = bool(library.vramtrace_v1_active())
        except AttributeError:
            return
        self.push.argtypes, self.push.restype = [ctypes.c_char_p], None
        self.pop.argtypes, self.pop.restype = [], None
        self.live_bytes.argtypes, self.live_bytes.restype = [ctypes.c_int], ctypes.c_int64
        self.command = self.find_command()

    @staticmethod
    def find_command():
        found = os.environ.get("VRAMTRACE_COMMAND") or shutil.which("vramtrace")
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            library = next((line.split(None, 5)[5].strip() for line in maps if "/libvramtrace.so" in line), None)
        if not found and library:
            folder = os.path.dirname(library)
            beside = (os.path.join(folder, "vramtrace"), os.path.join(folder, "..", "bin", "vramtrace"))
            found = next((path for path in beside if os.access(path, os.X_OK)), None)
        return found

    @staticmethod
    def log():
        """The path of this process's log; None before its first CUDA call."""
        for fd in os.listdir("/proc/self/fd"):
            try:
                path = os.readlink(f"/proc/self/fd/{fd}")
                if not os.path.isfile(path):
                    continue
                with open(path, "rb") as file:
                    if file.read(8) == MAGIC:
                        return path
            except OSError:
                continue
        return None

    def report(self, *options):
        """The JSON report on what this process has done so far; None where there is none."""
        log = self.log()
        if not log or not self.command:
            return None
        env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" and not k.startswith("VRAMTRACE_")}
        done = subprocess.run([self.command, "report", "--format", "json", *options, log], env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, errors="replace")
        if done.returncode != 0:
            raise RuntimeError(f"{self.command} report: {done.stderr.strip()}")
        return json.loads(done.stdout)["processes"][0]

    def phase(self, name):
        """The last phase of that name in the log; None where it is not there."""
        phases = (self.report() or {}).get("phases") or []
        return next((phase for phase in reversed(phases) if phase["name"] == name), None)


class Watch:
    """One test, from the start of its call to the end of its teardown."""

    def __init__(self, tracer, item):
        self.tracer, self.item = tracer, item
        self.started = False

    def begin(self):
        settle()
        self.name = self.item.nodeid.encode("utf-8", "replace")[-190:].decode("utf-8", "ignore")
        self.held = held(self.tracer)
        self.tracer.push(self.name.encode("utf-8"))
        self.started = True

    def call_is_over(self):
        self.tracer.pop()

    def left(self):
        settle()
        return held(self.tracer) - self.held

    def peak(self):
        """The most that the test added to what was there before it."""
        phase = self.tracer.phase(self.name)
        return max(0, phase["peak_bytes"] - phase["live_at_start"]) if phase else 0

    def places(self):
        """Where what is left was allocated: lines like "test_a.py:12: in f: 4 MiB in 1 block (cuMemAlloc)"."""
        phase = self.tracer.phase(self.name)
        found = self.tracer.report("--since", f"{phase['start_ns']}ns") if phase else None
        sites = [s for s in (found or {}).get("sites", ()) if s["live_bytes"] and not s["before_window"]]
        blocks = [s for s in sites if s["layer"] == "framework"]
        sites = [s for s in sites if s["layer"] == "driver" and not (blocks and s["verdict"] == "cache")] + blocks
        lines = {}
        for site in sites:
            own = next((f for f in site["stack"] if f["own"]), None) or next(iter(site["stack"]), None)
            where = "unknown place" if own is None else own["function"] or "?"
            if own and own["file"]:
                file = os.path.relpath(own["file"]) if os.path.exists(own["file"]) else own["file"]
                where = f"{file}:{own['line']}: in {own['function']}"
            line = lines.setdefault((where, site["api"]), [0, 0])
            line[0] += site["live_bytes"]
            line[1] += site["live_count"]
        for (where, api), (held, blocks) in sorted(lines.items(), key=lambda line: -line[1][0]):
            yield (f"{where}: {format_size(held)} in {blocks} block{'' if blocks == 1 else 's'} "
                   f"({api}) allocated here and never freed")


def settle():
    """Leaves nothing on the device that is only waiting to be freed."""
    gc.collect()
    torch, cupy, numba = (sys.modules.get(name) for name in ("torch", "cupy", "numba.cuda"))
    try:
        if torch and torch.cuda.is_initialized():
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
        if cupy:
            cupy.get_default_memory_pool().free_all_blocks()
        if numba and numba.cudadrv.driver.driver.is_initialized:
            numba.current_context().memory_manager.deallocations.clear()
    except Exception as fault:  # a framework's trouble is not the test's
        print(f"vramtrace: cannot empty a cache: {fault!r}", file=sys.stderr)


def held(tracer):
    """Device memory in use by this process. PyTorch's segments count as the blocks that are in use inside them."""
    total = tracer.live_bytes(-1)
    torch = sys.modules.get("torch")
    if torch and torch.cuda.is_initialized():
        for device in range(torch.cuda.device_count()):
            total += torch.cuda.memory_allocated(device) - torch.cuda.memory_reserved(device)
    return total


class Plugin:
    def __init__(self, config):
        self.tracer = Tracer()
        self.watch = None
        self.noted = []
        limit = config.getoption("--vram-leaks")
        self.leak_limit = None if limit is None else parse_size(limit)

    def pytest_report_header(self):
        if self.tracer.active and not self.tracer.command:
            return "vramtrace: traced, but no 'vramtrace' command found: leaks are named without their lines"
        if self.tracer.active:
            return "vramtrace: the GPU memory of each test is watched"
        return "vramtrace: not traced, so limit_vram and limit_vram_leaks check nothing (vramtrace run -- pytest ...)"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        if not self.tracer.active:
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        self.watch = Watch(self.tracer, item)
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        self.judge(item, reports)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        watch = self.watch
        if watch and watch.item is pyfuncitem:
            marker = pyfuncitem.get_closest_marker("limit_vram_leaks")
            arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
            for _ in range(marker.kwargs.get("warmups", 0) if marker else 0):
                pyfuncitem.obj(**arguments)
            watch.begin()
        yield
        if watch and watch.started:
            watch.call_is_over()

    def limits(self, item):
        """(the most that the test may add, the most that it may leave); None: no limit."""
        peak, leaks = item.get_closest_marker("limit_vram"), item.get_closest_marker("limit_vram_leaks")
        return (parse_size(peak.args[0]) if peak else None, parse_size(leaks.args[0]) if leaks else self.leak_limit)

    def judge(self, item, reports):
        call = next((report for report in reports if report.when == "call"), None)
        if not call or not self.watch.started:
            return
        peak_limit, leak_limit = self.limits(item)
        faults, notes = [], []
        left = self.watch.left()
        if left > (leak_limit or 0):
            lines = [*self.watch.places(), f"{format_size(left)} of GPU memory left by this test"]
            if leak_limit is not None:
                lines[-1] += f"; limit_vram_leaks allows {format_size(leak_limit)}"
            (notes if leak_limit is None else faults).extend(lines)
        if peak_limit is not None:
            peak = self.watch.peak()
            if peak > peak_limit:
                faults.append(f"{format_size(peak)} of GPU memory used at once; limit_vram allows "
                              f"{format_size(peak_limit)}")
        if faults and call.outcome == "passed" and not hasattr(call, "wasxfail"):
            call.outcome, call.longrepr = "failed", "\n".join(faults)
        elif notes or faults:
            call.sections.append(("GPU memory", "\n".join(faults + notes)))
            self.noted.append((item.nodeid, faults + notes))

    def pytest_terminal_summary(self, terminalreporter):
        """Tests that left memory behind and have no limit passed; pytest shows no sections of those."""
        if self.noted:
            terminalreporter.section("GPU memory left by tests", sep="-")
        for nodeid, lines in self.noted:
            terminalreporter.line(nodeid)
            for line in lines:
                terminalreporter.line(f"  {line}")


def pytest_addoption(parser):
    parser.addoption("--vram-leaks", metavar="SIZE", default=None,
                     help="fail a test that leaves more GPU memory than this (needs: vramtrace run -- pytest ...)")


def pytest_configure(config):
    config.addinivalue_line("markers", "limit_vram(size): the most GPU memory that the test may add at any moment")
    config.addinivalue_line("markers", "limit_vram_leaks(size, warmups=0): GPU memory that the test may leave behind")
    config.pluginmanager.register(Plugin(config), "vramtrace")
