# SPDX-License-Identifier: MIT
"""vramtrace.report(): runs the command on this process's own log, which can be read while it is written."""

from __future__ import annotations

import html
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys

import vramtrace

MAGIC = b"vramlog\n"  # what a log begins with
PID = slice(28, 32)  # where its header has the process's number (include/vramtrace/log_header.def)
NOT_TRACED = """\
vramtrace: this process is not traced, so there is no report. A process is traced from its start:
    {command}
Without a GPU: vramtrace run --sim ..."""
NO_LOG = """\
vramtrace: traced, but this process has no log: no CUDA call has succeeded yet, or the log was removed or closed. There is nothing to
report."""
# An iframe, because the page has its own styles and scripts; sandboxed, because it needs nothing from the notebook.
# Viewers that remove frames (GitHub, an untrusted notebook) show the text.
FRAME = """\
<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" style="width: 100%; height: {height}px; border: 1px solid #8884"></iframe>"""
AS_TEXT = """
<details><summary>the report as text</summary><pre>{text}</pre></details>"""


class Report:
    """A report of this process. str() is the report itself; a notebook shows it as a page, if it has one."""

    def __init__(self, text: str, page: str | None = None, markdown: bool = False, height: int = 0, is_report: bool = True) -> None:
        self._text, self._page, self._markdown, self._height, self._is_report = text, page, markdown, height, is_report

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text.rstrip("\n")

    def __bool__(self) -> bool:
        return self._is_report

    def _repr_html_(self) -> str | None:
        if self._page is None:
            return None
        frame = FRAME.format(page=html.escape(self._page), height=self._height)
        return frame if self._text == self._page else frame + AS_TEXT.format(text=html.escape(self._text))

    def _repr_markdown_(self) -> str | None:
        return self._text if self._markdown else None

    def save(self, path) -> None:
        """Writes the report to a file: the page, if it has one."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._page or self._text)


def make(format, snapshot, height, options) -> Report:
    shell = notebook()
    if not vramtrace.active():
        return Report(NOT_TRACED.format(command=start_command(shell)), is_report=False)
    if snapshot and vramtrace.snapshot("report"):
        vramtrace.mark("report")  # a log that is being written is read up to its last event
    log = own_log()
    if not log:
        return Report(NO_LOG, is_report=False)
    words = [word for name, value in options.items() for word in words_of(name, value)]
    text, page = ask("text" if format is None else format, words, log), None
    if shell and format is None:
        page = ask("html", words, log)
    if shell and format != "json":
        text, page = number_cells(text, shell), page and number_cells(page, shell)
    if format == "html":
        page = text
    return Report(text, page, format == "markdown", height)


def notebook():
    """IPython's shell, if this process is a notebook's kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell if getattr(shell, "kernel", None) else None


def start_command(shell) -> str:
    if shell:
        return "vramtrace run -- jupyter lab      (or nbconvert; `python -m vramtrace.kernel` adds a kernel that is traced)"
    words = sys.argv if os.path.exists(sys.argv[0]) else ["train.py"]
    return "vramtrace run -- " + " ".join(map(shlex.quote, [os.path.basename(sys.executable or "python3"), *words]))


def own_log() -> str | None:
    """The path of this process's log; None before its first CUDA call. Other logs may also be open: a fork's
    parent's, or old ones.

    Looks without opening files: closing any descriptor of a file loses all of the process's POSIX locks on it."""
    for fd in sorted(map(int, os.listdir("/proc/self/fd")), reverse=True):
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                continue
            header = os.pread(fd, PID.stop, 0)
            if header.startswith(MAGIC) and int.from_bytes(header[PID], "little") == os.getpid():
                path = os.readlink(f"/proc/self/fd/{fd}")
                if os.path.isfile(path):  # not one that was removed
                    return path
        except OSError:
            continue
    return None


def words_of(name, value) -> list[str]:
    """top=20: --top=20; native=True: --native; own=["a", "b"]: --own=a --own=b"""
    option = "--" + name.replace("_", "-")
    if value is True or value is False or value is None:
        return [option] if value else []
    return [f"{option}={one}" for one in (value if isinstance(value, (list, tuple)) else [value])]


def find_command() -> str:
    """The one beside this package; in a clone that is not installed, the one that traces this process, or PATH's."""
    for path in (vramtrace.command(), os.environ.get("VRAMTRACE_COMMAND"), shutil.which("vramtrace")):
        if path and os.access(path, os.X_OK):
            return path
    return "vramtrace"


def ask(format, words, log) -> str:
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD" and not name.startswith("VRAMTRACE_")}
    done = subprocess.run([find_command(), "report", f"--format={format}", *words, log], env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace", check=False)
    if done.returncode or not done.stdout:  # no status is known where the program ignores SIGCHLD
        raise ValueError(re.sub("^vramtrace: ", "", done.stderr.strip()) or f"vramtrace report: exit status {done.returncode}")
    return done.stdout


def number_cells(text, shell) -> str:
    """"IPython cell 4012786785:2": "In [3]:2", as in the prompt. Later columns of a text row stay aligned."""
    runs = getattr(shell.compile, "_filename_map", None) or {}  # of the last run of each cell's code
    for path, number in runs.items():
        found, short = "IPython cell " + os.path.splitext(os.path.basename(path))[0], f"In [{number}]"
        row = re.compile(rf"^(.{{0,100}}){re.escape(found)}(?!\d)(.{{0,100}}?)(?=   )", re.MULTILINE)
        text = row.sub(lambda match: match[1] + short + match[2] + " " * (len(found) - len(short)), text)
        text = re.sub(rf"{re.escape(found)}(?!\d)", short, text)
    return text
