#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `make check`: the rules of the house that no compiler knows. Looks at a finished build (folder $1): what each
# object really included, and what the library really needs.
set -u
build=$1
bad=0
say() {
    echo "check-layers: $*" >&2
    bad=1
}

# Objects list what they included in their .d files; included headers and the wildcards of both rooms.
for room in preload analyzer; do
    other=$([ $room = preload ] && echo analyzer || echo preload)
    for deps in $(find "$build/obj/$room" -name "*.d"); do
        [ -e "$deps" ] || { say "no $room objects in $build: build first"; break; }
        if tr ' \\' '\n\n' <"$deps" | grep -q "\(^\|/\)$other/"; then
            say "$(basename "$deps" .d): $room/ includes a file of $other/; they may share include/ only"
        fi
    done
done
grep -ns '#include "\(\.\./\)*\(preload\|analyzer\|tests\)/' include/*.h include/vramtrace/* >&2 &&
    say "include/ includes a room: it must stand alone"

# A preload that needs more than libc drags its dependencies into every process.
needed=$(readelf -d "$build/libvramtrace.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for lib in $needed; do
    case $lib in
    libc.so.6 | ld-linux*.so.* | libdl.so.2 | libpthread.so.0) ;;
    *) say "libvramtrace.so needs $lib: only libc is allowed" ;;
    esac
done
[ -n "$needed" ] || say "libvramtrace.so: no NEEDED entries read from $build/libvramtrace.so"

# One file, one room: a hint, not a failure.
for file in include/*.h include/vramtrace/* preload/* preload/*/* analyzer/* analyzer/*/* tests/*/*.c tests/*/*.h tests/run; do
    [ -f "$file" ] || continue
    lines=$(wc -l <"$file")
    [ "$lines" -le 600 ] || echo "check-layers: note: $file has $lines lines (over 600: still one room?)" >&2
done
exit $bad
