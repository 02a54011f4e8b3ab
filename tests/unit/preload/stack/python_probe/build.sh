#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh SRC FOLDER: builds FOLDER/probe.so, and FOLDER/embed, from the sources in SRC.
set -eu
src=$1 out=$2
here=$src/tests/unit/preload/stack/python_probe
flags="-std=gnu17 -O2 -g -Wall -Wextra -Wpedantic -Werror -fPIC -fvisibility=hidden -fno-omit-frame-pointer"
gcc $flags -I"$src/preload" -I"$src/include" -shared -Wl,-z,defs -o "$out/probe.so" \
    "$here/probe.c" "$src"/preload/stack/python*.c "$src/preload/base/elf.c" -ldl -lpthread
gcc $flags -o "$out/embed" "$here/embed.c" -ldl -lpthread
