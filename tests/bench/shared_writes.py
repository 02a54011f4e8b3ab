# SPDX-License-Identifier: MIT
"""Counts the writes of a thread to cache lines that another thread uses as well: what keeps threads from running beside each
other at full speed. Valgrind's lackey prints every access of a program whose two threads do the same, one after the other
(pairs.c). A write counts if its line is used by both at every second pair at least: now and then they meet in a table by
chance, and at the ends of a chunk of the log."""

import subprocess

LINE_BITS = 6
PAIRS, STACKS = 300, 100


def accesses(argv, env):
    """For each thread, by line: how often it read or wrote there, and how often it wrote."""
    program = subprocess.Popen(["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-fd=1", *map(str, argv)], env=env,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace")
    used, written, marker, turn = [{}, {}], [{}, {}], None, 0
    for text in program.stdout:
        if text.startswith("turns 0x"):
            marker = int(text.split()[1], 16)
        if text[0] != " " or marker is None:  # the fetch of an instruction
            continue
        address, writes = int(text[3:text.index(",")], 16), text[1] in "SM"
        if address == marker and writes:
            turn += 1
        elif turn in (1, 3):
            line, thread = address >> LINE_BITS, turn // 2
            used[thread][line] = used[thread].get(line, 0) + 1
            if writes:
                written[thread][line] = written[thread].get(line, 0) + 1
    if program.wait() or turn != 4:
        raise RuntimeError(f"{argv}: exit status {program.returncode}, {turn} of 4 turns were seen")
    return used, written


def per_event(program, env):
    """Of `program` (pairs), with this environment."""
    used, written = accesses([program, "-t", 16, STACKS, PAIRS, 2], env)
    shared = {line for line in used[0] if min(used[0][line], used[1].get(line, 0)) >= PAIRS / 2}
    return sum(n for thread in written for line, n in thread.items() if line in shared) / (2 * 2 * PAIRS)
