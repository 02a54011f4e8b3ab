# SPDX-License-Identifier: MIT
"""`pytest --vramtrace`: runs the tests traced and under the leak gate.

A process is traced from its start or not at all, so pytest is restarted under `vramtrace run --check`, with the
same arguments, before it reads a conftest.py. That pytest detects the gate and continues, as do pytest-xdist's
workers. A pytest in a traced run without a gate gets one inside that run. The result of each test is from
vramtrace_pytest, the exit status from `vramtrace run --check`.
"""

import os
import shlex
import sys

import pytest

import vramtrace

STARTED_BY = "VRAMTRACE_PYTEST_STARTED_BY"  # a pid: its child need not ask again
NO_TESTS = ("help", "version", "collectonly", "showfixtures", "show_fixtures_per_test", "markers", "cacheshow", "setupplan")


def pytest_addoption(parser):
    group = parser.getgroup("vramtrace", "leaks of GPU memory")
    group.addoption("--vramtrace", action="store_true", default=False,
                    help="record the GPU memory of the tests, and fail those that leak (vramtrace run --check)")
    group.addoption("--vramtrace-sim", action="store_true", default=False,
                    help="the same on a simulated GPU, for machines without one")
    # Not an optional value of the option above, because pytest would take a following path for it.
    group.addoption("--vramtrace-sim-memory", metavar="SIZE[,N]", default=None,
                    help="the same on N simulated GPUs with so much memory each (24G,1)")
    group.addoption("--vramtrace-fail-on", metavar="LIST", default=None,
                    help="the verdicts that fail, as for vramtrace check --fail-on")
    group.addoption("--vramtrace-report", metavar="FORMAT=FILE", action="append", default=[],
                    help="write the verdict also to a file: text, json, junit, sarif, github; repeats")
    group.addoption("--vramtrace-args", metavar="OPTIONS", default=None,
                    help="other options of vramtrace run --check, in one word: --vramtrace-args='--max-peak 4G'")
    parser.addini("vramtrace_args", "other options of vramtrace run --check, for pytest --vramtrace", default="")


# Outside of all other wrappers, because one of them redirects the output.
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config):
    options = early_config.known_args_namespace
    if options.vramtrace or options.vramtrace_sim or options.vramtrace_sim_memory:
        start_traced(early_config, options)
    yield


def start_traced(config, options):
    if config.pluginmanager.is_blocked("vramtrace") or any(getattr(options, name, None) for name in NO_TESTS):
        return
    traced = vramtrace.active()
    if traced and ("VRAMTRACE_CHECK" in os.environ or STARTED_BY in os.environ):
        return
    if os.environ.get(STARTED_BY) == str(os.getppid()):
        raise pytest.UsageError("--vramtrace: started under `vramtrace run`, but this Python is not traced")
    started, given = own_command(), [str(word) for word in config.invocation_params.args]
    if given and started[-len(given):] != given:  # a notebook, a program: who knows what it did before
        raise pytest.UsageError("--vramtrace: a program called pytest; start it by `vramtrace run --check` instead")
    words = [vramtrace.command(), "run", "--check"]
    if options.vramtrace_sim_memory:
        words.append(f"--sim={options.vramtrace_sim_memory}")
    elif options.vramtrace_sim:
        words.append("--sim")
    if options.vramtrace_fail_on:
        words.append(f"--fail-on={options.vramtrace_fail_on}")
    words += [f"--report={report}" for report in options.vramtrace_report]
    try:
        words += shlex.split(config.getini("vramtrace_args")) + shlex.split(options.vramtrace_args or "")
    except ValueError as fault:
        raise pytest.UsageError(f"--vramtrace-args: {fault}") from None
    os.environ[STARTED_BY] = str(os.getpid())
    if traced:  # the enclosing run keeps its logs where it would have: a gate's own would be temporary
        os.environ.setdefault("VRAMTRACE_OUTPUT", "vramtrace.%h.%p.vtl")
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(words[0], [*words, "--", *started])
    except OSError as fault:
        raise pytest.UsageError(f"--vramtrace: cannot start {words[0]}: {fault.strerror}") from None


def own_command():
    """The command line of this process: `python -m pytest`, the script, `coverage run -m pytest`."""
    with open("/proc/self/cmdline", "rb") as file:
        words = [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
    if sys.executable and os.path.realpath(sys.executable) == os.path.realpath("/proc/self/exe"):
        words[0] = sys.executable  # the shell may have found it in PATH; a virtual environment's is a link
    return words
