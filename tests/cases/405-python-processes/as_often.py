# SPDX-License-Identifier: MIT
"""as_often.py PYTHON [PAIRS]: allocate.py's daemon threads, untraced and traced in turns; fails when the interpreter crashes
more often traced, by Fisher's exact test. Without the exit line: it wakes whoever reads it, and on a busy machine that one
and others run before the process can end, which gives the threads their time."""
import math
import os
import sys

import lib

python, pairs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
argv = [python, f"{lib.CASE}/allocate.py", "daemons"]
crashes = [0, 0]
for i in range(pairs):
    for traced in (i % 2, 1 - i % 2):
        done = lib.run(argv, [lib.TRACER] * traced + lib.SIM_LIBRARIES, status=None, VRAMTRACE_OUTPUT="often.vtl",
                       VRAMTRACE_QUIET=1)
        crashes[traced] += done.returncode == -11
        lib.check(done.returncode in (0, -11), f"{' '.join(argv)}: status {done.returncode}: {done.stderr!r}")
        if os.path.exists("often.vtl"):
            os.unlink("often.vtl")
both = sum(crashes)
chance = sum(math.comb(pairs, n) * math.comb(pairs, both - n) for n in range(crashes[1], min(both, pairs) + 1)
             if both - n <= pairs) / math.comb(2 * pairs, both)
print(f"{python}: crashed in {crashes[0]} of {pairs} runs untraced, {crashes[1]} traced: by chance {chance:.4f}")
lib.check(chance >= 0.01, "crashes more often when traced")
