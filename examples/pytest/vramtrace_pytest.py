# SPDX-License-Identifier: MIT
"""A pytest plugin: which tests leak GPU memory, and at which line.

    vramtrace run --check -- pytest tests/
    pytest --vramtrace tests/                   the same, where vramtrace was installed by pip

load it by themselves, and its verdict is the gate's: a test that keeps more GPU memory with each of 8 or more rounds fails,
and so does the command, with exit status 23. What a test leaves in fewer rounds is not judged, and said. What a fixture of
class scope or wider holds (a model, its gradients) is no test's, and said to be that.

Without --check, or to choose another version, copy this file beside your conftest.py, put
`pytest_plugins = ["vramtrace_pytest"]` into it, and run the suite traced (`vramtrace run -- pytest tests/`). `-p no:vramtrace`
turns it off. Two markers set limits, as pytest-memray names them:

    @pytest.mark.limit_vram("512 MB")                    the most device memory that the test may add at any moment
    @pytest.mark.limit_vram_leaks("0 B", warmups=1)      what may be left of it when the test is over; `warmups` runs
                                                         come first, so that what is made once does not count

`pytest --vram-leaks SIZE` is a limit_vram_leaks for every test that has none. Without a limit and without --check, a test that leaves
memory behind gets a section in the report and passes. Sizes are 1024-based. (`vramtrace run --uncached`: limit_vram is about the test alone.)

What is left is measured after the test's teardown and a garbage collection, and after frameworks that cache device memory
(PyTorch, CuPy, Numba) were asked to give back what they do not use. A test that failed anyway is judged only for the gate
(`--check --ignore-status`, as on the simulated GPU, where results are wrong). Each test is a phase in the trace, so `vramtrace report --since`, and its timeline, can tell them apart; what the report needs to know of
tests and fixtures is in the trace as marks, so that `vramtrace report` and `check` say the same later.

Where the process is not traced, the markers do nothing, and the header says so. No dependency but pytest.
"""

import contextlib
import ctypes
import gc
import json
import os
import re
import shutil
import subprocess
import sys
import types

import pytest
from _pytest.runner import runtestprotocol

MAGIC = b"vramlog\n"  # what a log begins with
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
ROUNDS = 8  # fewer are too few to tell what is kept with each round from what is made once
LEAK_STATUS = 23  # the gate's
NAME_BYTES = 200  # of a mark: the tracer keeps no more
NOT_TRACED = "vramtrace: not traced, so limit_vram and limit_vram_leaks check nothing (vramtrace run -- pytest ...)"
WIDE = ("class", "module", "package", "session")  # scopes of fixtures that outlive a test


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
        self.folder = os.getcwd()
        try:
            self.push, self.pop = library.vramtrace_v1_push, library.vramtrace_v1_pop
            self.live_bytes, self.mark_bytes = library.vramtrace_v1_live_bytes, library.vramtrace_v1_mark
            self.active = bool(library.vramtrace_v1_active())
        except AttributeError:
            return
        self.push.argtypes, self.push.restype = [ctypes.c_char_p], None
        self.mark_bytes.argtypes, self.mark_bytes.restype = [ctypes.c_char_p], None
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
            found = next((path for path in beside if os.path.isfile(path) and os.access(path, os.X_OK)), None)
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

    def mark(self, words, rest=""):
        """Tells the trace something, for the report; `rest` loses its begin where there is no room."""
        room = NAME_BYTES - len("vramtrace:") - len(words.encode("utf-8", "replace"))
        rest = rest.encode("utf-8", "replace")[-room:].decode("utf-8", "ignore") if room > 0 else ""
        self.mark_bytes(f"vramtrace:{words}{rest}".encode("utf-8", "replace"))

    def ask(self, *words, allowed=(0,)):
        """What a command says of this process so far, as JSON; None where there is no log or no command."""
        log = self.log()
        if not log or not self.command:
            return None
        env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" and not k.startswith("VRAMTRACE_")}
        done = subprocess.run([self.command, *words, "--format=json", log], env=env, text=True, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, errors="replace")
        if done.returncode not in allowed:
            raise RuntimeError(f"{self.command} {words[0]}: {done.stderr.strip()}")
        return json.loads(done.stdout)["processes"][0] if done.returncode != 2 else None

    def since(self, phase):
        """The report on what was allocated since a phase, "NAME#3", began; None where the log does not have it."""
        return self.ask("report", "--since", phase, allowed=(0, 2))

    def phase(self, name):
        """The last phase of that name in the log; None where it is not there."""
        phases = (self.ask("report") or {}).get("phases") or []
        return next((phase for phase in reversed(phases) if phase["name"] == name), None)


# --- who holds what ---


def torch_address(value):
    """Where a tensor's memory is; None: it is not on a GPU, or has none."""
    try:
        return (value.untyped_storage().data_ptr() if value.is_cuda else 0) or None
    except (RuntimeError, NotImplementedError):  # sparse, meta, functional
        return None


def address_of(value):
    """The GPU memory of an object itself, not of those that it refers to; None where it has none."""
    torch = sys.modules.get("torch")
    if torch and issubclass(type(value), torch.Tensor):
        return torch_address(value)
    try:
        found = getattr(type(value), "__cuda_array_interface__", None) and value.__cuda_array_interface__
        return found["data"][0] or None if found else None
    except Exception:  # whatever a foreign property raises
        return None


PASSED_BY = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.FrameType, type, str, bytes, int)


def reach(roots, most=200000):
    """The addresses of the GPU memory that is held by these objects, directly or not. Modules, classes and functions are
    not followed: everything is reached through them."""
    torch = sys.modules.get("torch")
    seen, waiting, found = set(), list(roots), set()
    while waiting and len(seen) < most:
        value = waiting.pop()
        if id(value) in seen or issubclass(type(value), PASSED_BY):
            continue
        seen.add(id(value))
        address = address_of(value)
        if address:
            found.add(address)
        if torch and issubclass(type(value), torch.Tensor) and value.is_leaf and value.grad is not None:
            waiting.append(value.grad)
        waiting.extend(gc.get_referents(value))
    return found


def models():
    """PyTorch's models and optimizers that no other model holds: each is one thing, however many tensors it has."""
    torch = sys.modules.get("torch")
    if not torch:
        return []
    kinds = (torch.nn.Module, torch.optim.Optimizer)
    found = [value for value in gc.get_objects() if issubclass(type(value), kinds)]  # isinstance would ask deprecated names
    inner = {id(child) for value in found if issubclass(type(value), torch.nn.Module) for child in value.children()}
    return [value for value in found if id(value) not in inner]


class Fixtures:
    """Those of class scope or wider that are set up, and what they hold."""

    def __init__(self, tracer):
        self.tracer = tracer
        self.active = {}  # fixture definition: its name and scope, as the trace has them
        self.torn_down = False  # one was, since the test's call
        self.names = {}  # how many phases of a test's name there are

    @contextlib.contextmanager
    def set_up(self, fixturedef, request):
        scope = str(getattr(fixturedef, "scope", "function"))
        if scope not in WIDE:
            yield
            return
        name = re.sub(r"\s", "_", fixturedef.argname)[:80] or "?"
        self.tracer.mark("setup")
        try:
            yield
        finally:
            settle()
            self.tracer.mark(f"made {scope} {name}")
            self.active[fixturedef] = (scope, name)
            fixturedef.addfinalizer(lambda: self.tear_down(fixturedef))

    def tear_down(self, fixturedef):
        """Runs before the fixture's own teardown, for it is registered after it."""
        holder = self.active.get(fixturedef)
        if holder:
            self.torn_down = True
            self.tell(holder, self.held_by(fixturedef))
            del self.active[fixturedef]

    @staticmethod
    def held_by(fixturedef):
        result = getattr(fixturedef, "cached_result", None)
        return reach([result[0]]) if result and result[2] is None else set()

    def tell(self, holder, addresses):
        words, line = f"held {holder[0]} {holder[1]} ", ""
        for address in sorted(addresses):
            part = f"{address:x}"
            if line and len("vramtrace:") + len(words.encode()) + len(line) + 1 + len(part) > NAME_BYTES:
                self.tracer.mark(words, line)
                line = ""
            line += ("," if line else "") + part
        if line:
            self.tracer.mark(words, line)

    def tell_all(self):
        """What fixtures hold, then what other models hold: one model is one thing, not a round for each tensor."""
        known = set()
        for fixturedef, holder in list(self.active.items()):
            held = self.held_by(fixturedef)
            known |= held
            self.tell(holder, held)
        for number, model in enumerate(models()):
            self.tell(("model", f"{type(model).__name__}#{number}"), reach([model]) - known)


# --- a test ---


class Line:
    """What a test left of a source line: its call sites there."""

    def __init__(self, site):
        own = next((f for f in site["stack"] if f["own"]), None) or next(iter(site["stack"]), None)
        self.where = "unknown place" if own is None else own["function"] or "?"
        if own and own["file"]:
            file = os.path.relpath(own["file"]) if os.path.exists(own["file"]) else own["file"]
            self.where = f"{file}:{own['line']}: in {own['function']}"
        self.api = site["api"]
        self.sites, self.bytes, self.blocks, self.rounds, self.note = [], 0, 0, 0, ""
        self.per = ""  # "test" or "param": each of many left some

    def add(self, site, size, blocks, rounds):
        self.sites.append((site["site"], size, blocks, rounds))
        self.bytes += size
        self.blocks += blocks
        self.rounds += rounds

    def __str__(self):
        return (f"{self.where}: {format_size(self.bytes)} in {self.blocks} block{'' if self.blocks == 1 else 's'} "
                f"({self.api}) allocated here and never freed{self.note}")


class Watch:
    """One test, from the start of its call to the end of its teardown."""

    def __init__(self, tracer, fixtures, item):
        self.tracer, self.fixtures, self.item = tracer, fixtures, item
        self.started = False
        self.call = None  # its report, where another plugin runs the test
        self.fixture_bytes, self.fixture_names, self.library_bytes = 0, set(), 0

    def begin(self):
        settle()
        self.name = self.item.nodeid.encode("utf-8", "replace")[-190:].decode("utf-8", "ignore")
        names = self.fixtures.names  # a test may run again, under the same name
        names[self.name] = names.get(self.name, 0) + 1
        self.fixtures.torn_down = False
        self.held = held(self.tracer)
        self.tracer.push(self.name.encode("utf-8"))
        self.started = True

    def call_is_over(self):
        self.tracer.pop()

    def peak(self):
        """The most that the test added to what was there before it."""
        phase = self.tracer.phase(self.name)
        return max(0, phase["peak_bytes"] - phase["live_at_start"]) if phase else 0

    def left(self):
        """Bytes that are left, without what fixtures of a wider scope hold, and the lines that allocated them."""
        settle()
        left = held(self.tracer) - self.held
        if left <= 0 and not self.fixtures.torn_down:
            return 0, []
        self.fixtures.tell_all()
        lines = self.lines()
        if self.fixtures.torn_down:  # what a fixture gave back with this test's teardown hides what the test left
            left = sum(line.bytes for line in lines)
        else:
            left -= self.fixture_bytes + self.library_bytes
        return max(0, left), lines

    def lines(self):
        found = self.tracer.since(f"{self.name}#{self.fixtures.names[self.name]}")
        sites = [s for s in (found or {}).get("sites", ()) if s["live_bytes"] and not s["before_window"]]
        blocks = [s for s in sites if s["layer"] == "framework"]
        sites = [s for s in sites if s["layer"] == "driver" and not (blocks and s["verdict"] == "cache")] + blocks
        lines = {}
        for site in sites:
            by = site.get("tested") or {}
            size, count = site["live_bytes"] - by.get("fixture_bytes", 0), site["live_count"] - by.get("fixture_count", 0)
            self.fixture_bytes += by.get("fixture_bytes", 0)
            if by.get("fixture"):
                self.fixture_names.add(f"`{by['fixture']}` ({by['scope']} scope)")
            if site["verdict"] == "runtime":  # a CUDA library keeps it for the life of the process, whoever called it first
                self.library_bytes += max(0, size)
                continue
            if count <= 0:
                continue
            line = Line(site)
            rounds = count - by.get("models_count", 0) + by.get("models", 0)
            if site["verdict"] == "cache":
                rounds = 1
            lines.setdefault((line.where, line.api), line).add(site, size, count, rounds)
        return sorted(lines.values(), key=lambda line: -line.bytes)

    def tell(self, lines, fails):
        for line in lines:
            name = self.function() if line.per == "param" else self.item.nodeid
            for site, size, blocks, _ in line.sites:
                kind = line.per or ("fails" if fails else "short")
                self.tracer.mark(f"left {kind} {max(1, line.rounds)} {size} {blocks} {site} ", name)

    def function(self):
        """The test's name without its parameters."""
        return self.item.nodeid[:-len(self.item.name)] + (getattr(self.item, "originalname", None) or self.item.name)


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
        print("vramtrace: cannot empty a cache:", " ".join(repr(fault).replace("\\n", " ").split())[:200], file=sys.stderr)


def forget_failure():
    """A test that failed leaves its frames, with all that they hold, to a debugger; pytest forgets them with the next."""
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        if hasattr(sys, name):
            delattr(sys, name)


def held(tracer):
    """Device memory in use by this process. PyTorch's segments count as the blocks that are in use inside them."""
    total = tracer.live_bytes(-1)
    torch = sys.modules.get("torch")
    if torch and torch.cuda.is_initialized():
        for device in range(torch.cuda.device_count()):
            total += torch.cuda.memory_allocated(device) - torch.cuda.memory_reserved(device)
    return total


# --- the plugin ---


def runs_otherwise(item):
    """Whether another plugin runs the test in a way of its own: it keeps it, and a leak is then said with the teardown."""
    config = item.config
    if item.get_closest_marker("flaky") or any(config.getoption(name, None) for name in ("reruns", "retries", "forked")):
        return True
    return any(config.pluginmanager.hasplugin(name) for name in ("flaky", "flaky.flaky_pytest_plugin"))


class Plugin:
    def __init__(self, config):
        self.tracer = Tracer()
        self.fixtures = Fixtures(self.tracer)
        self.watch = None
        self.noted = []
        self.across = {}  # call site: how many tests left some of it, its bytes and blocks, their functions
        self.leaks = self.failures = 0
        self.installed = any(plugin is sys.modules[__name__] for plugin, _ in config.pluginmanager.list_plugin_distinfo())
        limit = config.getoption("--vram-leaks")
        self.leak_limit = None if limit is None else parse_size(limit)
        options = os.environ.get("VRAMTRACE_CHECK")  # set by `vramtrace run --check`
        self.gate = None if options is None or not self.tracer.active else options.split("\n") if options else []
        self.accepts = self.gate is not None and any(word.startswith("--write-baseline") for word in self.gate)

    def pytest_report_header(self):
        if self.tracer.active and not self.tracer.command:
            return "vramtrace: traced, but no 'vramtrace' command found: leaks are named without their lines"
        if self.tracer.active:
            return "vramtrace: the GPU memory of each test is watched"
        return None if self.installed else NOT_TRACED

    def pytest_report_collectionfinish(self, items):
        """Where every run loads this plugin, because it is installed, only those that ask something of it are told."""
        marked = self.leak_limit is not None or any(
            item.get_closest_marker(name) for item in items for name in ("limit_vram", "limit_vram_leaks"))
        return NOT_TRACED if self.installed and marked and not self.tracer.active else None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        if not self.tracer.active:
            yield
            return
        with self.fixtures.set_up(fixturedef, request):
            yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        self.watch = None
        if not self.tracer.active:
            return None
        self.watch = Watch(self.tracer, self.fixtures, item)
        if runs_otherwise(item):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        call = next((report for report in reports if report.when == "call"), None)
        watch, self.watch = self.watch, None
        if call:
            self.judge(watch, call, call)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report, watch = outcome.get_result(), self.watch
        if not watch or watch.item is not item or not runs_otherwise(item):
            return
        if report.when == "call":
            watch.call = report
        elif report.when == "teardown" and watch.call:
            self.judge(watch, watch.call, report)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item):
        """Around tests of all kinds: functions, unittest's, doctests."""
        watch = self.watch if self.watch and self.watch.item is item else None
        if watch:
            watch.begin()
        yield
        if watch:
            watch.call_is_over()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        watch = self.watch
        marker = pyfuncitem.get_closest_marker("limit_vram_leaks")
        warmups = marker.kwargs.get("warmups", 0) if marker else 0
        if warmups and watch and watch.item is pyfuncitem:
            watch.call_is_over()
            arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
            for _ in range(warmups):
                pyfuncitem.obj(**arguments)
            watch.begin()
        yield

    def limits(self, item):
        """(the most that the test may add, the most that it may leave); None: no limit."""
        peak, leaks = item.get_closest_marker("limit_vram"), item.get_closest_marker("limit_vram_leaks")
        return (parse_size(peak.args[0]) if peak else None, parse_size(leaks.args[0]) if leaks else self.leak_limit)

    def is_kept_by_many(self, line, test):
        """Whether many tests left some here, one a round, and all of it is still there. Counts this one."""
        for number, (site, size, blocks, _) in enumerate(line.sites):
            known = self.across.setdefault(site, [0, 0, 0, set()])
            known[:] = [known[0] + 1, known[1] + size, known[2] + blocks, known[3] | {test}]
            if known[0] < ROUNDS:
                continue
            found = next((s for s in (self.tracer.ask("report") or {}).get("sites", ()) if s["site"] == site), None)
            by = (found or {}).get("tested") or {}
            if found and found["live_count"] - by.get("fixture_count", 0) >= known[2]:
                line.sites[number] = (site, known[1], known[2], known[0])
                line.rounds = known[0]
                line.per = "param" if len(known[3]) == 1 else "test"
                line.note = (f"; {known[0]} {'parameters of this test' if line.per == 'param' else 'tests'} left "
                             f"{format_size(known[1])} here")
        return bool(line.note)

    def is_leak(self, lines):
        """Whether the gate, with its suppressions and its baseline, fails for one of these lines. They were told."""
        if not lines or self.accepts:
            return False
        found = self.tracer.ask("check", "--only", *self.gate, allowed=(0, LEAK_STATUS))
        sites = {site for line in lines for site, *_ in line.sites}
        return any(f["outcome"] == "failed" and f.get("site") in sites for f in (found or {}).get("findings", ()))

    def judge(self, watch, call, report):
        """Judges what a test left, by its call's outcome; a leak fails `report`, the call's or the teardown's."""
        if not watch.started or hasattr(call, "wasxfail") or call.outcome == "skipped":
            return
        failed = call.outcome == "failed"
        if failed and self.gate is None:
            return
        if failed:
            forget_failure()
        peak_limit, leak_limit = self.limits(watch.item)
        faults, notes = [], []
        left, lines = watch.left()
        if left > (leak_limit or 0):
            total = f"{format_size(left)} of GPU memory left by this test"
            many = [line for line in lines if line.rounds >= ROUNDS]
            if leak_limit is not None:
                watch.tell(lines, True)
                faults += [*map(str, lines), f"{total}; limit_vram_leaks allows {format_size(leak_limit)}"]
            elif self.gate is not None:
                many += [line for line in lines if line not in many and self.is_kept_by_many(line, watch.function())]
                few = [line for line in lines if line not in many]
                watch.tell(many, True)
                watch.tell(few, False)
                (faults if self.is_leak(many) else notes).extend([*map(str, many), total] if many else [])
                notes += [f"{line}; not judged: too few iterations" for line in few]
            else:
                notes += [*map(str, lines), total]
        if watch.fixture_bytes and (faults or notes):
            notes.append(f"{format_size(watch.fixture_bytes)} more is held by fixture "
                         f"{', '.join(sorted(watch.fixture_names))}: no leak of this test")
        if peak_limit is not None:
            peak = watch.peak()
            if peak > peak_limit:
                faults.append(f"{format_size(peak)} of GPU memory used at once; limit_vram allows "
                              f"{format_size(peak_limit)}")
        if faults and not failed:
            report.outcome, report.longrepr = "failed", "\n".join(faults + notes)
            report.vramtrace_leak = left > (leak_limit or 0)
        elif notes or faults:
            report.sections.append(("GPU memory", "\n".join(faults + notes)))
            report.vramtrace_notes = faults + notes

    def pytest_runtest_logreport(self, report):
        """Also in the process that collects what pytest-xdist's workers report."""
        self.failures += report.failed
        self.leaks += report.failed and bool(getattr(report, "vramtrace_leak", False))
        notes = getattr(report, "vramtrace_notes", None)
        if notes:
            self.noted.append((report.nodeid, notes))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        """Where leaks alone failed tests, the exit status is the gate's."""
        if self.tracer.active:
            self.tracer.mark("tests")
        if "VRAMTRACE_CHECK" in os.environ and self.leaks and self.leaks == self.failures and int(exitstatus) == 1:
            session.exitstatus = LEAK_STATUS

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
