#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `make demo`: traces examples/train.py, which leaks, and prints its report. It uses the NVIDIA GPU if one works,
# otherwise the simulated one. $1 is the build folder; earlier contents of $1/demo are replaced. If Chromium is
# installed, it also takes the picture of the HTML report shown in README.
set -eu
build=$1
python=$(tests/setup.sh --python)

if examples/run --gpu; then sim=; else sim=--sim; fi

show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

rm -rf "$build/demo"
mkdir -p "$build/demo"
show "$build/vramtrace" run $sim -o "$build/demo" -- "$python" examples/train.py
show "$build/vramtrace" report "$build/demo"

page=$build/demo/report.html
"$build/vramtrace" report --format html -o "$page" "$build/demo" 2>/dev/null || exit 0 # a build without d3
printf '\n%s: the same as a page for a browser\n' "$page"
command -v chromium >/dev/null 2>&1 || exit 0
timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$build/demo/profile" --window-size=1000,892 \
    --run-all-compositor-stages-before-draw --virtual-time-budget=3000 --screenshot="$build/demo/report.png" \
    "file://$(realpath "$page")" >/dev/null 2>&1 </dev/null || true
rm -rf "$build/demo/profile"
