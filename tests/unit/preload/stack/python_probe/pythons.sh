# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Every CPython 3.8 or later in the usual places, one path a line, each version once.
pythons() {
    local p real seen=" "
    for p in ${VRAMTRACE_TEST_PYTHONS:-} $(compgen -c python3 | grep -E '^python3(\.[0-9]+t?)?$' | sort -u |
        xargs -r -n1 which 2>/dev/null) /usr/bin/python3* /usr/local/bin/python3* \
        "$HOME"/.pyenv/versions/*/bin/python3.[0-9]* /opt/python/*/bin/python3 \
        "$HOME"/.local/share/uv/python/*/bin/python3 "$HOME"/{mini,ana}conda3/bin/python3 \
        "$HOME"/{mini,ana}conda3/envs/*/bin/python3 /opt/conda/bin/python3; do
        [[ -x $p && ! -d $p ]] || continue
        # A launcher script (pyenv's shims) is not an interpreter: ask it which one it starts.
        real=$("$p" -I -c 'import os, sys, platform
assert sys.version_info >= (3, 8) and platform.python_implementation() == "CPython"
import ctypes
print(os.path.realpath(sys.executable))' 2>/dev/null) || continue
        [[ -n $real && $seen != *" $real "* ]] || continue
        seen+="$real "
        echo "$real"
    done
}
