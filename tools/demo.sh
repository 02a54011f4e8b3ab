#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `make demo`: traces examples/train.py, which leaks, and prints its report. On the NVIDIA GPU where there is one
# that works, else on the simulated one. $1 is the build folder; whatever came before in $1/demo is replaced.
set -eu
build=$1
python=$(tests/setup.sh --python)

# The kernel driver's control device and the user-space driver: a GPU is there when both are.
has_gpu() {
    { [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; } && { PATH=$PATH:/sbin:/usr/sbin ldconfig -p |
        grep -q 'libcuda\.so\.1'; }
}

if has_gpu; then
    model=$(sed -n 's/^Model:[[:space:]]*//p' /proc/driver/nvidia/gpus/*/information 2>/dev/null | head -n 1)
    echo "NVIDIA GPU found: ${model:-model unknown}"
    sim=
else
    echo "no NVIDIA GPU here: using the simulated GPU"
    sim=--sim
fi

show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

rm -rf "$build/demo"
mkdir -p "$build/demo"
show "$build/vramtrace" run $sim -o "$build/demo" -- "$python" examples/train.py
show "$build/vramtrace" report "$build/demo"
