# SPDX-License-Identifier: MIT
"""Functions for most cases written in Python; `import lib` (tests/run puts this folder on PYTHONPATH).

Every check prints what it examined, the expected and the actual value, then fails the case.
"""

import json
import os
import subprocess
import sys

import schemas

SRC, CASE, BUILD, SIM = (os.environ[name] for name in ("SRC", "CASE", "BUILD", "SIM"))
TRACER, VRAMTRACE, PYTHON = (os.environ[name] for name in ("TRACER", "VRAMTRACE", "PYTHON"))
SIM_LIBRARIES = [f"{SIM}/libcuda.so.1", f"{SIM}/libcudart.so.12", f"{SIM}/libcudart.so.13"]

# Only for this process: a traced Python must have its user's module path.
os.environ.pop("PYTHONPATH", None)


def fail(message):
    print(f"FAIL: {message}")
    sys.exit(1)


def skip(reason):
    print(reason)
    sys.exit(77)


def check(condition, message):
    if not condition:
        fail(message)


def eq(what, expected, found):
    if expected != found:
        fail(f"{what}: expected {expected!r}, found {found!r}")


def run(argv, preload=(), status=0, **env):
    """Runs a command with libraries preloaded; checks its exit status (None: any); returns the process, with its
    output as text in .stdout and .stderr."""
    full = dict(os.environ, **{name: str(value) for name, value in env.items()})
    if preload:
        full["LD_PRELOAD"] = ":".join(preload)
    done = subprocess.run([str(word) for word in argv], env=full, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    if status is not None and done.returncode != status:
        print(done.stdout, done.stderr, sep="")
        fail(f"{' '.join(map(str, argv))}: expected exit status {status}, found {done.returncode} (output above)")
    fault = schemas.fault(done.stdout) if str(argv[0]) == VRAMTRACE else None
    if fault:
        fail(f"{' '.join(map(str, argv))}: {fault}")
    return done


def simulated(argv, **options):
    """Runs a command on the simulated GPU, untraced."""
    return run(argv, SIM_LIBRARIES, **options)


def traced(argv, log="log.vtl", **options):
    """Runs a command on the simulated GPU, traced into `log`."""
    return run(argv, [TRACER, *SIM_LIBRARIES], VRAMTRACE_OUTPUT=log, **options)


def report(*logs, options=()):
    """The JSON report on the logs, as a dict."""
    done = run([VRAMTRACE, "report", "--format", "json", *options, *logs])
    try:
        found = json.loads(done.stdout)
    except ValueError as fault:
        fail(f"vramtrace report --format json {logs}: not JSON: {fault}: {done.stdout[:200]!r}")
    eq("the report's schema", "vramtrace-report/1", found.get("schema"))
    return found


def process(*logs):
    """The only process of the report on the logs."""
    processes = report(*logs)["processes"]
    eq(f"processes in {logs}", 1, len(processes))
    return processes[0]


def live_sites(found, layer="driver"):
    """The sites of a process that still hold memory, biggest first."""
    sites = [site for site in found["sites"] if site["layer"] == layer and site["live_count"]]
    return sorted(sites, key=lambda site: -site["live_bytes"])


def functions(site):
    """The names on a site's stack, innermost first."""
    return [frame["function"] for frame in site["stack"]]
