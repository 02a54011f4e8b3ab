#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh SRC FOLDER: builds FOLDER/owners_probe.so from the sources in SRC.
set -eu
src=$1 out=$2
flags="-std=gnu17 -O2 -g -Wall -Wextra -Wpedantic -Werror -fPIC -fvisibility=hidden -fno-omit-frame-pointer"
gcc $flags -I"$src/preload" -I"$src/include" -shared -Wl,-z,defs -o "$out/owners_probe.so" \
    "$src/tests/unit/preload/pyobjects/probe/probe.c" "$src"/preload/pyobjects/*.c \
    "$src/preload/owners/address_table.c" "$src"/preload/stack/python*.c "$src/preload/base/elf.c" -ldl -lpthread
