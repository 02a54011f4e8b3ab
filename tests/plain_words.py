#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Finds grammar that native readers stumble over, in documents and in the sources' comments and sentences.
tests/plain_words.list counts the places left in each file; no count may rise.

    tests/plain_words.py [--write | FILE...]

Without arguments it prints the places that the list does not cover, and fails if there are any. With files it
prints every place in them. --write rewrites the list after sentences were rewritten. tests/cases/884-docs-words
calls it.
"""

import collections
import io
import pathlib
import re
import sys
import tokenize

SRC = pathlib.Path(__file__).resolve().parent.parent
LIST = SRC / "tests/plain_words.list"
SOURCES = ("preload", "analyzer", "include", "tools", "packaging")
DOCUMENTS = ("*.md", "doc/*.md", "doc/guides/*.md", "doc/man/*.[1-9]", "examples/**/*.md", "tests/**/*.md")
NEGATION = r"(?:not|no|never|none|nothing|nobody|cannot|\w+n't)"

# A pattern, and its remedy.
PATTERNS = {
    r"\bof which\b": "name the thing again, or begin a new sentence",
    r"\b(?:let|lets|letting) go\b": "evict, discard, release",
    r"\banew\b": "again",
    r"\bnobody\b": "name who does not, or use the passive",
    r"\bwhat (?:is|was|are|were|be|has|had|holds?|held|have|comes|came|remains|follows|stands|belongs|goes|went)\b(?![^.;]*\?)":
        "use a noun: 'live blocks' instead of 'what is live'",
    r"\btoo(?=[.,;:)\]]|$)": "also, before the verb",
    # "Of the earlier starts, 2 exited": a part of a number, which comes before it in good English.
    r"(?:^|[.;:(] )[Oo]f (?!course|the earlier starts)\w[^.;:,]*, ": "begin with the subject",
    rf"\b{NEGATION}\b(?:(?!\b(?:and|or|but|nor|if|when|because|while)\b)[^.;:,()|])*\b(?:{NEGATION}|without)\b": "say it with one negation or none",
}


def c_texts(source):
    """(line, text) of each comment and each string of C, C++ or JavaScript; adjacent ones are joined."""
    token = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`""", re.S)
    found, end, kind = [], 0, None
    for match in token.finditer(source):
        raw = match.group()
        this = "comment" if raw[:2] in ("//", "/*") else "text"
        text = raw[2:] if raw[:2] == "//" else raw[2:-2] if raw[:2] == "/*" else raw[1:-1]
        gap = re.sub(r"\b(?:PRI[duxX]\w*|VT_\w+)\b", "", source[end:match.start()])
        joined = " " if this == "comment" else ""
        if found and kind == this and not gap.strip() and (this == "text" or raw[:2] == "//" and gap.count("\n") == 1):
            found[-1] = (found[-1][0], found[-1][1] + joined + text)
        elif this == "comment" or len(text) > 3:
            found.append((source.count("\n", 0, match.start()) + 1, text))
        else:
            this = None
        end, kind = match.end(), this
    return [(line, re.sub(r"\n\s*\*", "\n", text)) for line, text in found]


def hash_comments(source):
    """(line, text) of the comments of shell, adjacent lines joined."""
    found, last = [], 0
    for number, line in enumerate(source.splitlines(), 1):
        comment = re.match(r"(?:.*\s)?#\s(.*)", line)
        if found and comment and last == number - 1 and re.match(r"\s*#", line):
            found[-1] = (found[-1][0], found[-1][1] + " " + comment.group(1))
        elif comment:
            found.append((number, comment.group(1)))
        last = number if comment else last
    return found


def python_texts(source):
    found = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            found.append((token.start[0], token.string.lstrip("#").strip("\"'")))
    return found


def document_texts(source):
    """(line, paragraph) of Markdown or mdoc, without blocks of code and spans."""
    source = re.sub(r"^\s*```.*?^\s*```", lambda block: "\n" * block.group().count("\n"), source, flags=re.M | re.S)
    source = re.sub(r"<!--.*?-->", lambda block: "\n" * block.group().count("\n"), source, flags=re.S)
    source = re.sub(r"^\.Bd -literal.*?^\.Ed", lambda block: "\n" * block.group().count("\n"), source, flags=re.M | re.S)
    found, start, lines = [], 1, []
    for number, line in enumerate(source.splitlines() + [""], 1):
        if not line.strip() or re.match(r"\.(?:Pp|It|Sh|Ss|Bl|El)\b|\s*[-|#]|\s*\d+\. ", line):
            found.append((start, " ".join(lines)))
            start, lines = number, []
        if line.startswith("#"):  # a heading may be a question
            continue
        if re.match(r"\.[A-Z]", line):
            words = line.split()
            line = " ".join(words[1:]) if words[0] in (".Em", ".Sy", ".Nm") else "`" + (" " + words[-1] if words[-1] in ".,;:)" else "")
        lines.append(line)
    return [(line, re.sub(r"`[^`]*`", "`", text)) for line, text in found if text]


def texts(path):
    source = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".md" or path.suffix[1:].isdigit():
        return document_texts(source)
    if path.suffix in (".c", ".h", ".def", ".js", ".S", ".proto", ".css"):
        return c_texts(source)
    if path.suffix == ".py" or source.startswith("#!/usr/bin/env python3"):
        return python_texts(source)
    return hash_comments(source)


def places(path):
    """(line, found text, remedy) of each match in a file."""
    found = []
    for line, text in texts(path):
        plain = re.sub(r"\s+", " ", text).strip()
        for pattern, remedy in PATTERNS.items():
            found += [(line, match.group().strip(), remedy) for match in re.finditer(pattern, plain, re.I)]
    return sorted(found)


def files():
    sources = [path for folder in SOURCES for path in (SRC / folder).rglob("*")
               if path.is_file() and path.suffix not in (".png", ".pyc", ".json", ".svg", ".map", ".txt", ".excused")]
    return sorted(set(sources) | {path for glob in DOCUMENTS for path in SRC.glob(glob)} - {SRC / "NEWS.md"})


def listed():
    return {name: int(count) for count, name in (line.split() for line in LIST.read_text().splitlines())}


def folder(name):
    return "/".join(name.split("/")[:-1])


def faults():
    """A text for each place in a file that has more of them than the list allows, if its folder also has more,
    because a
    comment may move."""
    allowed = collections.Counter(listed())
    found = {str(path.relative_to(SRC)): places(path) for path in files()}
    surplus = collections.Counter()
    for name in set(found) | set(allowed):
        surplus[folder(name)] += len(found.get(name, ())) - allowed[name]
    return [f"{name}:{line}: '{words}': {remedy} (plain_words.list allows {allowed[name]} in this file)"
            for name, stumbles in found.items() if len(stumbles) > allowed[name] and surplus[folder(name)] > 0
            for line, words, remedy in stumbles]


def main(arguments):
    if arguments == ["--write"]:
        counts = [(len(places(path)), path.relative_to(SRC)) for path in files()]
        LIST.write_text("".join(f"{count} {name}\n" for count, name in counts if count))
        print(f"{LIST.relative_to(SRC)}: {sum(count for count, _ in counts)} places in {sum(count > 0 for count, _ in counts)} files")
        return 0
    for name in arguments:
        for line, words, remedy in places(pathlib.Path(name)):
            print(f"{name}:{line}: '{words}': {remedy}")
    wrong = [] if arguments else faults()
    print("\n".join(wrong), end="\n" if wrong else "")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
