# SPDX-License-Identifier: MIT
"""Runs an example as described in its README, for the examples' cases, in a folder that looks like a built checkout.

    process = example.leaking("cpp-exception")[0]      its only command; the JSON report on each process
    example.fixed("cpp-exception")                     with --fixed: the gate passes

The outputs in the READMEs are compared by tests/docs.py, or by expect_shown() without PyTorch."""

import json
import os
import pathlib

import docs
import lib

OUT = "build/examples"


def set_up():
    if os.path.exists("build"):
        return
    os.mkdir("build")
    os.symlink(lib.VRAMTRACE, "build/vramtrace")
    os.symlink(f"{lib.SRC}/examples", "examples")


def run(name, *options, status=0, **env):
    """Returns the output."""
    set_up()
    done = lib.run(["examples/run", name, *options], status=status, **env)
    return done.stdout + done.stderr


def processes(name):
    return lib.report(f"{OUT}/{name}")["processes"]


def leaking(name, **options):
    run(name, **options)
    return processes(name)


def leaking_as_shown(name, **options):
    expect_shown(name, run(name, **options))
    return processes(name)


def fixed(name, **options):
    text = run(name, "--fixed", **options)
    lib.check("leak check passed: no leak" in text, f"{name} --fixed: {text}")
    found = processes(name)
    lib.eq(f"{name} --fixed: leaks", [], [leak for process in found for leak in process["leaks"]])
    return found


def source_line(name, file, mark):
    """The number of the only line in an example's file with this text."""
    with open(f"{lib.SRC}/examples/{name}/{file}", encoding="utf-8") as source:
        found = [number for number, line in enumerate(source, 1) if mark in line]
    lib.eq(f"lines of {file} with {mark!r}", 1, len(found))
    return found[0]


def expect_leak(name, process, file, mark, verdict, size, count, layer="driver", index=0):
    """Checks one leak of a process; returns it."""
    lib.check(len(process["leaks"]) > index, f"{name}: expected {index + 1} leaks, found {json.dumps(process['leaks'])[:300]}")
    leak = process["leaks"][index]
    sites = {site["site"]: site for site in process["sites"]}
    first = sites[leak["sites"][0]]
    own = leak["own_frame"]
    lib.eq(f"{name}: verdict, place", (verdict, f"examples/{name}/{file}", source_line(name, file, mark)),
           (leak["verdict"], os.path.relpath(own["file"]), own["line"]))
    lib.eq(f"{name}: layer", layer, first["layer"])
    held = [sites[site] for site in leak["sites"]]
    found = [(sum(s[f"{when}_bytes"] for s in held), sum(s[f"{when}_count"] for s in held)) for when in ("live", "held")]
    lib.eq(f"{name}: bytes and blocks", (size, count), found[0] if found[0][1] else found[1])  # held: freed only at exit
    return leak


def expect_shown(name, text):
    """Compares output with the first block of the example's README."""
    block = docs.read_blocks(pathlib.Path(lib.SRC) / "examples" / name / "README.md")[0]
    (_, command, shown), = docs.read_commands(block)
    lib.eq("the README's command", f"examples/run {name}", command)
    printed = text.rstrip().splitlines()
    lib.check(docs.same(shown, printed), f"{name}: the README shows something else:\n{docs.difference(shown, printed)}")
