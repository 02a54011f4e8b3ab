#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the commands in the documentation, and compares the shown output with the real one.

    tests/docs.py FILE...            check these documents (Markdown, or the EXAMPLES of a man page)
    tests/docs.py --update FILE...   replace the outputs in their blocks by the current ones
    tests/docs.py --words FILE...    check only the names of options, targets, variables and paths
    tests/docs.py --times FILE...    also print the time of each command

Every block of a document is run, or has a reason why not. Each document has its own folder that looks like a fresh
clone, already built; its blocks run there in order. `vramtrace run` uses the simulated GPU if there is no other.
Blocks marked `sh` are commands; in `console`, lines with `$ ` are commands and the others their output. A line
`...` in an output matches any lines. Pids, hosts, times and addresses may differ.

Comments before a block that readers do not see state its requirements (in a man page: .\\" test: ...):

    <!-- test: setup COMMAND -->      run this first
    <!-- test: exits 23 -->           the block's last command ends with this status, not with 0
    <!-- test: prints REGEX -->       some line of the output of its commands matches this
    <!-- test: output of COMMAND -->  the block is the output of this command
    <!-- test: file NAME -->          the block is this file: write it
    <!-- test: from FILE -->          the block's lines are in this file of the project, in order ('...': a gap)
    <!-- test: needs PROGRAM -->      run it only if this program is installed; `needs torch`: if PyTorch with CUDA is,
                                      with python3 as its Python
    <!-- test: not run: REASON -->    check only its options
"""

import argparse
import difflib
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import docs_words
import nvidia_driver

SRC = pathlib.Path(__file__).resolve().parent.parent
DIRECTIVES = ("setup", "exits", "prints", "output of", "file", "from", "needs", "not run:")
LIMIT = 900  # seconds for a command: it only catches a hang


class Fault(Exception):
    """A fault of a document, and its place."""


class Block:
    """A fenced block or an example of a man page: `first` is the number of its first line, from 0."""

    def __init__(self, file, first, language, lines, notes):
        self.file, self.first, self.language, self.lines, self.notes = file, first, language, lines, notes

    def note(self, kind):
        return next((text for name, text in self.notes if name == kind), None)

    def fault(self, message, line=0):
        return Fault(f"{self.file}:{self.first + 1 + line}: {message}")


# --- documents ------------------------------------------------------------------------------------------------


def read_notes(file, number, comment):
    kind = next((name for name in DIRECTIVES if comment.startswith(name)), None)
    if not kind:
        raise Fault(f"{file}:{number + 1}: test: expected one of {', '.join(DIRECTIVES)}, found '{comment}'")
    return kind, comment[len(kind):].strip()


def markdown_blocks(file, lines):
    blocks, notes, number = [], [], 0
    while number < len(lines):
        line = lines[number]
        comment = re.match(r"\s*<!-- test: (.*?) -->$", line)
        fence = re.match(r"(\s*)```(\w*)$", line)
        if comment:
            notes.append(read_notes(file, number, comment.group(1)))
        elif fence:
            end = next((i for i in range(number + 1, len(lines)) if lines[i].strip() == "```"), None)
            if end is None:
                raise Fault(f"{file}:{number + 1}: this block does not end")
            indent = len(fence.group(1))
            blocks.append(Block(file, number + 1, fence.group(2), [text[indent:] for text in lines[number + 1:end]], notes))
            notes, number = [], end
        elif line.strip() and notes:
            raise Fault(f"{file}:{number + 1}: expected the block that the comment above is for")
        number += 1
    return blocks


def unescape(text):
    return text.replace("\\e", "\\").replace("\\-", "-").replace("\\&", "").replace("\\(aq", "'")


def man_blocks(file, lines):
    """Examples: literal displays, and consecutive lines of .Dl."""
    blocks, notes, section, number = [], [], "", 0
    while number < len(lines):
        line = lines[number]
        if line.startswith(".Sh "):
            section = line[4:]
        elif section == "EXAMPLES" and line.startswith('.\\" test: '):
            notes.append(read_notes(file, number, line[10:]))
        elif section == "EXAMPLES" and line.startswith((".Bd -literal", ".Dl ")):
            end = number
            if line.startswith(".Dl "):
                while end + 1 < len(lines) and lines[end + 1].startswith(".Dl "):
                    end += 1
                text = [unescape(display[4:]) for display in lines[number:end + 1]]
                first = number
            else:
                end = lines.index(".Ed", number)
                text = [unescape(display) for display in lines[number + 1:end]]
                first = number + 1
            language = "console" if any(display.startswith("$ ") for display in text) else "sh"
            blocks.append(Block(file, first, language, text, notes))
            notes, number = [], end
        number += 1
    return blocks


def read_blocks(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    file = os.path.relpath(path, SRC)
    return man_blocks(file, lines) if path.suffix[1:].isdigit() else markdown_blocks(file, lines)


def read_script(block):
    """The commands of a block without outputs, one per line, except where the shell would read on."""
    commands, command, start = [], "", 0
    for number, line in enumerate(block.lines):
        if not command:
            start = number
        command += line + "\n"
        if not re.sub(r"(?m)^\s*#.*$", "", command).strip():
            command = ""
        elif not line.endswith("\\") and not subprocess.run(["bash", "-n", "-c", command], stderr=subprocess.PIPE,
                                                             check=False).stderr:
            commands.append((start, command.rstrip("\n"), None))
            command = ""
    if command.strip():
        raise block.fault("the shell cannot read this block", start)
    return commands


def read_commands(block):
    """(line, command, the output shown or None) of each command."""
    if block.language == "sh":
        return read_script(block)
    commands, number = [], 0
    while number < len(block.lines):
        if not block.lines[number].startswith("$ "):
            raise block.fault("expected a command, '$ ...'", number)
        start, command = number, block.lines[number][2:]
        while command.endswith("\\") and number + 1 < len(block.lines):
            number += 1
            command += "\n" + block.lines[number]
        number += 1
        shown = []
        while number < len(block.lines) and not block.lines[number].startswith("$ "):
            shown.append(block.lines[number])
            number += 1
        commands.append((start, command, shown or None))
    return commands


# --- variable parts -------------------------------------------------------------------------------------------

HOST = os.uname().nodename
MAY_DIFFER = (
    (r"\S*/?python3(\.\d+)?(?= )", "PYTHON"),
    (r"vramtrace\.[\w.-]+\.\d+\.vtl", "vramtrace.HOST.PID.vtl"),  # a rank's, too: any may be the newest
    (r"[\w.-]+ +pid \d+ +\d{4}-\d\d-\d\d \d\d:\d\d", "HOST pid PID DATE"),
    (r"\bpid \d+", "pid PID"),
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?", "DATE"),
    (r"\b\d+:\d\d:\d\d\b", "TIME"),
    (r"\b\d+(\.\d+)? (s|ms|seconds?)\b", "TIME"),
    (r"\b0x[0-9a-f]+\b", "ADDRESS"),
    (r"\b[0-9a-f]{4}\.\.[0-9a-f]{4}\b", "UUID"),
    (r"[▁▂▃▄▅▆▇█]+( +[▁▂▃▄▅▆▇█]+)*", "CHART"),
    (r"\^ +(peak [\d.]+ \w+)", r"\1 ^"),
    (r"\b[\d,]+ events\b", "N events"),
    (r"^( +kept by .*\(\w.*, )[\d,]+ blocks\)", r"\1N blocks)"),  # as many as there were when somebody looked
    (r"--site [0-9a-f]{4,16}\b", "--site ID"),
    (r"(?<=\s)(?=[0-9a-f]*\d)[0-9a-f]{4,16}$|(?<=\s\s)[0-9a-f]{4,16}$", "ID"),
    (r"\S*/vramtrace-check\.\w+", "/tmp/FOLDER"),
    (r"[ \t]+", " "),
)


def normal(line):
    """The line without parts that differ from run to run."""
    line = line.rstrip()
    for pattern, word in MAY_DIFFER:
        line = re.sub(pattern, word, line)
    return line.strip()


def same(shown, printed):
    """Whether the shown lines match the printed ones; '...' matches any number of lines."""
    shown, printed = [normal(line) for line in shown], [normal(line) for line in printed]
    while shown and not shown[-1]:
        shown.pop()
    while printed and not printed[-1]:
        printed.pop()
    parts, part = [], []
    for line in shown:
        if line == "...":
            parts.append(part)
            part = []
        else:
            part.append(line)
    parts.append(part)
    if len(parts) == 1:
        return shown == printed
    at = len(parts[0])
    if printed[:at] != parts[0]:
        return False
    for middle in parts[1:-1]:
        found = next((i for i in range(at, len(printed) - len(middle) + 1) if printed[i:i + len(middle)] == middle), None)
        if found is None:
            return False
        at = found + len(middle)
    return len(printed) - len(parts[-1]) >= at and printed[len(printed) - len(parts[-1]):] == parts[-1]


def difference(shown, printed):
    """The lines that differ, unmodified."""
    compared = difflib.SequenceMatcher(None, [normal(line) for line in shown], [normal(line) for line in printed], autojunk=False)
    lines = []
    for what, a, b, c, d in compared.get_opcodes():
        if what != "equal" and shown[a:b] != ["..."]:
            lines += [f"  shown    {line}" for line in shown[a:b]] + [f"  printed  {line}" for line in printed[c:d]]
    return "\n".join(lines)


# --- running --------------------------------------------------------------------------------------------------


def write_program(path, text):
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


class Sandbox:
    """A folder that looks like a fresh clone, already built, and the programs that a document may use."""

    # Documents write here; everything else is a link.
    COPIED = ("examples", "doc", "README.md")

    def __init__(self, top, build):
        self.top, self.folder, self.state = top, top / "vramtrace", top / "state"
        self.folder.mkdir()
        for entry in SRC.iterdir():
            if entry.name in ("build", ".git"):
                continue
            if entry.name in self.COPIED:
                (shutil.copytree if entry.is_dir() else shutil.copy)(entry, self.folder / entry.name)
            else:
                (self.folder / entry.name).symlink_to(entry)
        (self.folder / "build").mkdir()
        for entry in build.iterdir():
            if entry.name not in ("demo", "examples"):
                (self.folder / "build" / entry.name).symlink_to(entry)
        for name in ("bin", "home", "tmp"):
            (top / name).mkdir()
        self.cwd = self.folder
        self.env = {name: text for name, text in os.environ.items()
                    if not name.startswith(("VRAMTRACE", "LD_", "MAKE", "MFLAGS", "PYTHONPATH", "CUDA_", "NUMBA_"))}
        self.env.update(PATH=f"{top}/bin:{self.env['PATH']}", HOME=str(top / "home"), TMPDIR=str(top / "tmp"),
                        LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1", SRC=str(SRC), BUILT=str(build),
                        # PyTorch before 2.15 allocates 8 MiB for each thread that multiplies, unrelated to our
                        # figures.
                        CUBLAS_WORKSPACE_CONFIG=":0:0", CUBLASLT_WORKSPACE_SIZE="0")
        for name in ("BUILD", "CASE", "SIM", "TRACER", "PYTHON", "CC"):  # the test's own, which make would take for its own
            self.env.pop(name, None)
        self.programs(build)

    def programs(self, build):
        vramtrace, found = build / "vramtrace", self.python("--python")
        simulate = "" if nvidia_driver.has_driver() else 'case " $*" in *" --sim"*) ;; *) set -- --sim "$@" ;; esac'
        write_program(self.top / "bin/vramtrace",
                      f'[ "$1" = run ] || exec {vramtrace} "$@"\nshift\n{simulate}\nexec {vramtrace} run "$@"\n')
        # Everything is built: make must not build again, or change files that other tests use. No browser, because it
        # is slow.
        (self.top / "bin/make").write_text(f'#!/bin/bash\n[ "$PWD" != {self.folder} ] || set -- -o all "$@"\n'
                                           'exec -a make /usr/bin/make "$@"\n')
        (self.top / "bin/make").chmod(0o755)
        write_program(self.top / "bin/chromium", "exit 1\n")
        # `import vramtrace` works as if installed.
        self.module = f"export PYTHONPATH={build}/site-packages${{PYTHONPATH:+:$PYTHONPATH}}\n"
        write_program(self.top / "bin/python3", f'{self.module}exec {found or sys.executable} "$@"\n')
        pytest = next((python for python in (f"{self.python('--checkers')}/bin/python", found) if python and os.path.exists(python)
                       and not subprocess.run([python, "-c", "import pytest, numba"], stderr=subprocess.DEVNULL,
                                              check=False).returncode), None)
        if pytest:
            write_program(self.top / "bin/pytest", f'exec {pytest} -m pytest -p no:cacheprovider "$@"\n')
        elif shutil.which("pytest", path=self.env["PATH"]):
            write_program(self.top / "bin/pytest", "echo 'this pytest has no Numba' >&2; exit 99\n")

    def python(self, which):
        return subprocess.run([SRC / "tests/setup.sh", which], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False).stdout.strip()

    def has(self, program):
        if program == "torch":
            found = self.python("--torch")
            if found:
                write_program(self.top / "bin/python3", f'{self.module}exec {found} "$@"\n')
            return bool(found)
        return program != "pytest" and shutil.which(program, path=self.env["PATH"]) or (self.top / "bin" / program).exists() \
            and "exit 99" not in (self.top / "bin" / program).read_text()

    def run(self, command):
        """Runs it in bash, in the current folder of the previous command. Returns (status, output)."""
        script = f"{command}\n_status=$?\npwd >{shlex.quote(str(self.state))}\nexit $_status\n"
        process = subprocess.Popen(["bash", "-c", script], cwd=self.cwd, env=dict(self.env, PWD=str(self.cwd)),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            output, status = process.communicate(timeout=LIMIT)[0], process.returncode
        except subprocess.TimeoutExpired:
            output, status = f"(stopped after {LIMIT} s)".encode(), 124
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # what it left in the background
            except (ProcessLookupError, PermissionError):
                pass
            process.wait()
        if self.state.exists():
            self.cwd = pathlib.Path(self.state.read_text().strip())
        return status, output.decode("utf-8", "replace").replace(f"{self.folder}/", "").replace(f"{self.top}/bin/", "")


class Document:
    def __init__(self, path, sandbox, update):
        self.path, self.sandbox, self.update = path, sandbox, update
        self.ran = self.compared = 0
        self.excused, self.faults, self.edits, self.times = [], [], [], []

    def command(self, block, line, command, want=0):
        start = time.monotonic()
        status, output = self.sandbox.run(command)
        self.times.append((time.monotonic() - start, command))
        self.ran += 1
        if status != want:
            raise block.fault(f"$ {command}\nexpected exit status {want}, found {status}:\n{output.rstrip()}", line)
        return output

    def compare(self, block, line, command, shown, output, first):
        """`first`: index of the first shown line in the block."""
        printed = output.rstrip().splitlines()
        self.compared += 1
        if same(shown, printed):
            return
        if self.update and "..." not in [text.strip() for text in shown]:
            self.edits.append((block.first + first, len(shown), printed))
            return
        raise block.fault(f"$ {command}\nprints something else:\n{difference(shown, printed)}", line)

    def run_block(self, block):
        want, expected = int(block.note("exits") or 0), [text for kind, text in block.notes if kind == "prints"]
        commands, outputs = read_commands(block), []
        for number, (line, command, shown) in enumerate(commands):
            output = self.command(block, line, command, want if number == len(commands) - 1 else 0)
            outputs.append(output)
            if shown:
                first = line + command.count("\n") + 1
                self.compare(block, line, command, shown, output, first)
        for pattern in expected:
            if not any(re.search(pattern, text) for text in "".join(outputs).splitlines()):
                raise block.fault(f"no line of what it prints matches '{pattern}':\n{''.join(outputs).rstrip()}")

    def check_from(self, block):
        path = SRC / block.note("from")
        if not path.exists():
            raise block.fault(f"from {block.note('from')}: there is no such file")
        lines, at = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()], 0
        for number, text in enumerate(block.lines):
            text = text.strip()
            if not text or text == "...":
                continue
            after_gap = number == 0 or block.lines[number - 1].strip() in ("", "...")
            if text in lines[at:] and (after_gap or lines[at:][:1] == [text]):
                at = lines.index(text, at) + 1
            else:
                raise block.fault(f"'{text}' is not {'in' if after_gap else 'the next line of'} {block.note('from')}", number)

    def block(self, block):
        for kind, text in block.notes:
            if kind == "setup":
                self.command(block, 0, text)
        if block.note("not run:") is not None:
            if not block.note("not run:"):
                raise block.fault("'not run:' without a reason")
            docs_words.check_block(block)
            self.excused.append(f"{block.file}:{block.first + 1}: options only: {block.note('not run:')}")
        elif block.note("needs") and not self.sandbox.has(block.note("needs")):
            docs_words.check_block(block)
            self.excused.append(f"{block.file}:{block.first + 1}: options only: {block.note('needs')} is not installed")
        elif block.note("output of"):
            command, want = block.note("output of"), int(block.note("exits") or 0)
            self.compare(block, 0, command, block.lines, self.command(block, 0, command, want), 0)
        elif block.note("file"):
            path = self.sandbox.cwd / block.note("file")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(block.lines) + "\n", encoding="utf-8")
            self.ran += 1
        elif block.note("from"):
            self.check_from(block)
            self.compared += 1
        elif block.language in ("sh", "console"):
            self.run_block(block)
        else:
            raise block.fault("this block is neither run nor excused: mark it `sh` or `console`, or say in front of it "
                              "what it is (see tests/docs.py)")

    def check(self):
        try:
            blocks = read_blocks(self.path)
        except Fault as fault:
            self.faults.append(str(fault))
            return
        for block in blocks:
            try:
                self.block(block)
            except Fault as fault:
                self.faults.append(str(fault))
            except docs_words.Wrong as wrong:
                self.faults.append(str(block.fault(str(wrong))))
        if self.edits:
            lines = self.path.read_text(encoding="utf-8").splitlines()
            for first, count, printed in sorted(self.edits, reverse=True):
                lines[first:first + count] = printed
            self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def check(paths, build, update=False, times=False, out=sys.stdout):
    """Checks documents, each in its own folder. Returns the faults as texts."""
    faults = []
    for path in map(pathlib.Path, paths):
        with tempfile.TemporaryDirectory(prefix="vramtrace-docs-") as top:
            document = Document(path.resolve(), Sandbox(pathlib.Path(top), build), update)
            document.check()
        for line in document.excused:
            print(line, file=out)
        for seconds, command in document.times if times else ():
            print(f"{seconds:6.1f} s  {command}", file=out)
        print(f"{os.path.relpath(path, SRC)}: {document.ran} commands ran, {document.compared} texts compared, "
              f"{len(document.excused)} blocks excused, {len(document.faults)} faults"
              + (f", {len(document.edits)} texts written anew" if document.edits else ""), file=out)
        faults += document.faults
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.environ.get("BUILD", str(SRC / "build")), help="the build folder (build)")
    parser.add_argument("--update", action="store_true", help="write what the commands print into the documents")
    parser.add_argument("--words", action="store_true", help="check only the words of the documents")
    parser.add_argument("--times", action="store_true", help="say how long each command took")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    docs_words.use(build / "vramtrace")
    faults = docs_words.check(options.files)
    if not options.words:
        faults += check(options.files, build, options.update, options.times)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
