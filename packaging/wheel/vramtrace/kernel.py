# SPDX-License-Identifier: MIT
"""Adds a Jupyter kernel whose notebooks are traced, for servers started by others (JupyterHub, VS Code).

    python -m vramtrace.kernel                the kernel "Python 3 (ipykernel) (vramtrace)" of this Python's environment
    python -m vramtrace.kernel --sim          other options are those of `vramtrace run`
    jupyter kernelspec remove vramtrace       removes it
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

from vramtrace import command


def main() -> int:
    # Without abbreviations: other options belong to `vramtrace run`.
    parser = argparse.ArgumentParser(prog="python -m vramtrace.kernel", description="Adds a Jupyter kernel whose notebooks are traced.",
                                     allow_abbrev=False,
                                     epilog="All other options are those of `vramtrace run`: --sim, -o FOLDER, ...")
    parser.add_argument("--name", default="vramtrace", help="the kernel's name (vramtrace)")
    parser.add_argument("--user", action="store_true", help="for all of this user's Pythons, not for this environment alone")
    options, words = parser.parse_known_args()
    said = subprocess.run([command(), "run", "-q", *words, "--", "true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    if said.returncode == 2:  # an option that `vramtrace run` refuses
        parser.error(said.stderr.strip())
    if not re.fullmatch(r"[\w.-]+", options.name, re.ASCII):
        parser.error(f"--name: expected letters, digits, '.', '_' and '-', found {options.name!r}")
    try:
        from ipykernel.kernelspec import get_kernel_dict
        from jupyter_client.kernelspec import KernelSpecManager
    except ImportError as fault:
        print(f"vramtrace: a kernel needs ipykernel ({fault}): {sys.executable} -m pip install ipykernel", file=sys.stderr)
        return 1
    spec = get_kernel_dict()
    spec["argv"] = [os.path.abspath(command()), "run", "-q", *words, "--", *spec["argv"]]
    spec["display_name"] += " (vramtrace)"
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "kernel.json"), "w", encoding="utf-8") as file:
            json.dump(spec, file, indent=1)
        where = {"user": True} if options.user else {"prefix": sys.prefix}
        try:
            added = KernelSpecManager().install_kernel_spec(folder, options.name, **where)
        except OSError as fault:  # the system's Python, as a user
            hint = "" if options.user else ": --user adds it for this user alone"
            print(f"vramtrace: could not add the kernel ({fault}){hint}", file=sys.stderr)
            return 1
    print(f"{spec['display_name']}: {added}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
