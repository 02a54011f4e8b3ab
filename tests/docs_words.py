# SPDX-License-Identifier: MIT
"""Checks names in documents: vramtrace's options, targets of the Makefile, variables that the sources read, existing
files. Called by tests/docs.py and by the cases that check all documents."""

import functools
import os
import pathlib
import re
import shlex
import subprocess

SRC = pathlib.Path(__file__).resolve().parent.parent
COMMANDS = ("run", "report", "check", "diff", "fit", "export", "snapshot", "watch", "dump", "merge", "pack", "compact")
# Options of other programs that documents mention without the program.
FOREIGN = {"--vram-leaks": "the pytest plugin", "--vram-peak": "the pytest plugin", "--vramtrace": "the pytest plugin",
           "--vramtrace-sim": "the pytest plugin", "--vramtrace-sim-memory": "the pytest plugin",
           "--vramtrace-fail-on": "the pytest plugin",
           "--vramtrace-report": "the pytest plugin", "--vramtrace-args": "the pytest plugin",
           "--name": "python -m vramtrace.kernel", "--user": "python -m vramtrace.kernel"}

# Sentences that native readers stumbled over, with replacements: they must not return, in documents or in output.
STUMBLES = {r"\bthe mend\b": "the fix", r"\bLEAK WENT\b(?!`\.)": "LEAK FIXED", r"no named way": "no named path",
            r"\bwent with (its|their) contexts?\b": "was released with its context", r"took (it|them) with (its|their) context": "released ...",
            r"The processes run on\b": "The traced processes keep running", r"\bare no chance\b": "are not chance",
            r"\bneed not be carried together\b": "can stay on their nodes", r"\bOf memory of a\b": "For ... memory",
            r"\bit is init's to bury\b": "init reaps it", r"\bwhat they found that are done\b": "results of finished searches",
            r"\bthis log has none of that name\b": "no phase \"x\" in this log; it has ...", r"\bthen in a process that stays\b": "another process is growing",
            r"\bA limit without a test goes\b": "Remove a limit that no test needs", r"\bis to have the \w+ of each\b": "store the ... of each",
            r"\bOf two nobody knows\b": "either may be the odd one out", r"\bNOBODY DIFFERS\b": "NONE DIFFERS",
            r"\bfigures of the first of them\b": "The figures are those of the first", r"\bways to differ\b": "more that differ",
            r"\bat the moment that each shows\b": "each at its own snapshot", r"\bthe most \S+ (\w+B )?in (rank|process) ": "most in rank 3: 11.0 MiB",
            r"\bare so far apart\b": "their clocks probably differ by that much", r"\bas if it had not\b": "corrected for that",
            r"\bfor want of them\b": "lack too many to be compared", r"\bare by their own clocks\b": "by its own clock",
            r"\bat most so long\b": "at most this long", r"\bis there and is no\b": "not replaced: it exists, and is not a ...",
            r"\bis a log, so it is not\b": "not replaced: it is a log", r"\bneed not be there yet\b": "may not exist yet",
            r"\bbegins? like this\b": "begins with this", r"\bbeside files alone\b": "Where only files are named",
            r"\bwith them: ": "also judged", r"\bfixed\?  ": "maybe fixed", r"\bso (is that|are those) of \S+ more process": "the same in ... more processes",
            r"\bby such calls, more than\b": "from such calls; the baseline accepts ...", r"\bhave no pointer left to them\b": "no pointer to them is left",
            r"\bhold no more \(0\)": "hold at most this", r"\bNot like the others\b": "Unlike the others", r"\bpast GitHub's ten\b": "GitHub shows ten",
            r"\bevery site holds as much\b": "no site holds more or less than before", r"\bnot there ->|-> not there\b": "absent",
            r"\bmay be there unseen\b": "may be there all the same", r"\bhas not come or gone\b": "need not be new or gone",
            r"\brest kept by\b": "still kept by", r"\bholds? it, too\b": "also held by", r"\bheld too by\b": "also held by",
            r"\bowners were (not )?looked for (at the end[;,\"]|yet|in a part)": "no snapshot at the end, yet; cut short",
            r"\b(freed|killed|itself|ends) before owners were\b": "before the final snapshot", r"\bno(body has|body) looked for them\b": "no snapshot of owners",
            r"\bfrom which a named way\b": "no named path to it was found", r"\bas the program's code ended\b": "when the program's code ended",
            r"\blike a process that runs\b|\bone of a process that runs\b": "a running process", r"\btold in short\b": "shown in brief",
            r"\bEvents? that the log lacks\.": "Events that could not be recorded", r"\bdevice memory that is left\b": "Free device memory",
            r"\bturns the order around\b": "reverses the order", r"\bPause, and go on\b": "Pause or resume",
            r"\bthread can be started\b": "cannot start a thread", r"\bof a kind that is known here\b": "a known kind of terminal",
            r"\bwhen the segment around was\b": "when its segment was freed", r"\bThe log is another user's\b": "belongs to another user",
            r"\bsearched for what is lost\b": "searched for pointers, so nothing is called lost", r"\bwhose runs it chooses\b": "a folder to choose a run from",
            r"\bnobody could (have freed|free) (it|them)\b": "nothing can free it any more", r"\b(runs on, traced|is told by its UUID)\b": "keeps running; identified by",
            r"\bis meant from\b": "begins at", r"\bthat you run anyway\b": "your usual command"}

_program = None


class Wrong(Exception):
    """An unknown name."""


def use(program):
    """The vramtrace whose options are used."""
    global _program
    _program = str(program)


def ask(*words):
    """Returns (status, output). Words before --help must not end the program before it is parsed."""
    done = subprocess.run([_program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=600, check=False)
    return done.returncode, done.stdout


def stumbles(text):
    """(found text, replacement) for each sentence of STUMBLES in a text; it may contain line breaks."""
    plain = re.sub(r"\s+", " ", text)
    return [(found.group(), instead) for wrong, instead in STUMBLES.items() for found in re.finditer(wrong, plain, re.I)]


@functools.lru_cache(maxsize=None)
def options_of(command):
    """The options in a command's --help: name to whether it takes a value. None: no such command."""
    status, text = ask(*([command] if command else []), "--help")
    if status:
        return None
    found = {"--help": False, "--version": False} if not command else {}
    for line in text.splitlines():
        if not re.match(r" {2,}-", line):
            continue
        head = re.split(r" {2,}", line.strip())[0]
        for name in re.findall(r"(?<![\w-])--?[a-z][\w-]*", head):
            found[name] = bool(re.search(r"=|[A-Z]{2}|[A-Z]$|FILE", head)) and "[=" not in head
    return found


@functools.lru_cache(maxsize=None)
def all_options():
    return {name for command in COMMANDS for name in options_of(command) or ()} | {"--help", "--version"}


@functools.lru_cache(maxsize=None)
def make_targets():
    text = "\n".join(path.read_text() for path in (SRC / "Makefile", *SRC.glob("*/*.mk"), *SRC.glob("tests/*/*.mk")))
    return {name for line in re.findall(r"^([\w. -]+):(?!=)", text, re.M) for name in line.split()}


@functools.lru_cache(maxsize=None)
def variables():
    found = set()
    for folder in ("preload", "analyzer", "include", "tests/sim", "examples/pytest", "examples/googletest", "packaging/wheel"):
        for path in (SRC / folder).rglob("*"):
            if path.suffix in (".c", ".h", ".def", ".py", ".S"):
                found |= set(re.findall(r"\bVRAMTRACE_[A-Z_0-9]+\b", path.read_text(errors="replace")))
    return found


def check_variables(text):
    for name in re.findall(r"\b(VRAMTRACE_[A-Z_0-9]+)\b", text):
        if name not in variables() and name not in ("VRAMTRACE_", "VRAMTRACE_CASE_LIMIT"):
            raise Wrong(f"no source reads the variable {name}")


# --- commands -------------------------------------------------------------------------------------------------


def own_words(command, words):
    """The words before the traced command."""
    if command != "run":
        return words[:words.index("--")] if "--" in words else words
    known = dict(options_of("check") or {}, **options_of("run"))
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        at += 2 if known.get(words[at]) and "=" not in words[at] else 1
    return words[:at]


def check_vramtrace(words, placeholders):
    """`words` follow the word vramtrace. With placeholders (FILE, ID, ...) only option names are checked."""
    if not words:
        return
    if words[0].startswith("-"):
        if words[0] not in ("--help", "--version"):
            raise Wrong(f"vramtrace has no option {words[0]}")
        return
    known = options_of(words[0])
    if known is None:
        if placeholders and words[0].isupper():
            return
        raise Wrong(f"vramtrace has no command '{words[0]}'")
    own = own_words(words[0], words[1:])
    if placeholders:
        if words[0] == "run":
            known = dict(options_of("check"), **known)
        for word in own:
            name = word.split("=")[0]
            if name.startswith("-") and name not in ("--", "-") and name not in known:
                raise Wrong(f"vramtrace {words[0]} has no option {name}")
        return
    status, output = ask(words[0], *own, "--help")
    if status and "No such file or directory" not in output:  # the files are the reader's
        raise Wrong(f"vramtrace {' '.join([words[0], *own])}: {output.strip().splitlines()[0]}")


def check_make(words):
    for word in words:
        if word.startswith("-"):
            if word in ("-C", "-f"):  # another project's Makefile
                return
        elif "=" not in word and word not in make_targets():
            raise Wrong(f"the Makefile has no target '{word}'")


def simple_commands(line):
    """The words of each command in a line of shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    words = []
    for word in lexer:
        if re.fullmatch(r"[;|&()]+", word):
            yield words
            words = []
        else:
            words.append(word)
    yield words


def check_line(line, placeholders=False):
    check_variables(line)
    try:
        commands = list(simple_commands(line))
    except ValueError:
        raise Wrong(f"the shell cannot read '{line}'") from None
    for words in commands:
        redirected = next((i for i, word in enumerate(words) if re.fullmatch(r"[<>]+", word)), len(words))
        words = [word for word in words[:redirected] if not re.match(r"\w+=", word) or "vramtrace" in words]
        names = [os.path.basename(word) for word in words]
        if "vramtrace" in names:
            check_vramtrace(words[names.index("vramtrace") + 1:], placeholders)
        elif names[:1] == ["make"] or names[:2] == ["sudo", "make"]:
            check_make(words[names.index("make") + 1:])


def check_block(block):
    """The commands of a block that is not run."""
    text = "\n".join(block.lines).replace("\\\n", " ")
    for line in text.splitlines():
        line = line.removeprefix("$ ")
        if re.match(r"\s*(- run: |RUN )?([\w/.]*/)?(vramtrace|make|sudo make|srun|mpirun|torchrun|ray)\b", line):
            check_line(re.sub(r"^\s*(- run: |RUN )?", "", line), bool(re.search(r"\b[A-Z]{3,}\b(?!=)|<", line)))
        else:
            check_variables(line)


# --- prose ----------------------------------------------------------------------------------------------------


def prose(path):
    """(number, line) of the text outside blocks."""
    inside = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if re.match(r"\s*```", line):
            inside = not inside
        elif not inside:
            yield number, line


def check_span(span):
    words = span.split()
    if words[:1] and (words[0] in ("vramtrace", "make") or words[0].endswith("/vramtrace")):
        check_line(span, bool(re.search(r"\b[A-Z]+\b|[…<\[]|\.\.\.", span)))
    elif words[:1] and words[0] in COMMANDS and len(words) > 1 and words[1].startswith("-"):
        check_line(f"vramtrace {span}", bool(re.search(r"\b[A-Z]+\b|[…<\[]|\.\.\.", span)))
    elif span.startswith("--") and re.match(r"--[a-z]", span):
        name = re.split(r"[ =\[]", span)[0]
        if name not in all_options() and name not in FOREIGN:
            raise Wrong(f"no command of vramtrace has the option {name}")
        value = re.fullmatch(r"(--[\w-]+)[ =]([a-z][\w,]*)", span)
        if value and name in all_options():
            takers = [command for command in COMMANDS if name in (options_of(command) or ())]
            if not any(ask(command, value.group(1), value.group(2), "--help")[0] == 0 for command in takers):
                raise Wrong(f"no command of vramtrace takes {span}")
    else:
        check_variables(span)
    first = words[0].rstrip(",:") if words else ""
    if re.fullmatch(r"(include|preload|analyzer|tests|tools|examples|doc|\.ci)/[\w./-]+", first) and not re.search(
            r"NNN|NAME|FOLDER|MODULE|FILE", first) and not (SRC / first).exists():
        raise Wrong(f"there is no {first}")


def check_links(path, line):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
        if not re.match(r"[a-z]+:", target) and not (path.parent / target).exists():
            raise Wrong(f"the link leads nowhere: {target}")


def check_man_line(line):
    for name in re.findall(r"\bFl (-[a-z][\w-]*)", line):
        if "-" + name not in all_options() and "-" + name not in FOREIGN:
            raise Wrong(f"no command of vramtrace has the option -{name}")
    check_variables(line)


def check(paths):
    """Returns the faults in the prose of these documents, as texts."""
    faults = []
    for path in map(pathlib.Path, paths):
        path = path.resolve()
        for number, line in prose(path):
            try:
                if path.suffix[1:].isdigit():
                    check_man_line(line)
                    continue
                for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", line):
                    check_span(span)
                check_links(path, line)
            except Wrong as wrong:
                faults.append(f"{os.path.relpath(path, SRC)}:{number}: {wrong}")
    return faults
