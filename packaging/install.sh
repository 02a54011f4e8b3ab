#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `make install` and `make uninstall`: install.sh install|uninstall, with the folders in the environment (see the
# Makefile). `rows` prints the only list of installed files and their places; both read it.
set -eu
umask 022
here=$(cd "$(dirname "$0")/.." && pwd)
PYTHONDIR=${PYTHONDIR:-}
cd "$here"

# One row per file: its mode (l: a symbolic link), its source (for a link: its target), its place.
rows() {
    row 755 "$BUILD/vramtrace" "$BINDIR/vramtrace"
    row 644 "$BUILD/libvramtrace.so" "$LIBDIR/libvramtrace.so"
    for library in "$BUILD"/sim/lib*.so* "$BUILD"/sim/*/lib*.so*; do
        to=$LIBDIR/vramtrace/sim/${library#"$BUILD"/sim/}
        if [ -L "$library" ]; then row l "$(readlink "$library")" "$to"; else row 644 "$library" "$to"; fi
    done
    row 644 "$BUILD/python/vramtrace_pytest.py" "$LIBDIR/vramtrace/python/vramtrace_pytest.py"
    row 644 include/vramtrace.h "$INCLUDEDIR/vramtrace.h"
    row 644 "$scratch/vramtrace.pc" "$PKGCONFIGDIR/vramtrace.pc"
    row 644 "$BUILD/completions/vramtrace.bash" "$BASHDIR/vramtrace"
    row 644 "$BUILD/completions/vramtrace.zsh" "$ZSHDIR/_vramtrace"
    tools/json-man doc/schema/*.json >"$scratch/vramtrace-json.5"
    for page in doc/man/*.[1-8] "$scratch/vramtrace-json.5"; do
        sed "s/^\.Os\$/.Os vramtrace $version/" "$page" >"$scratch/man.${page##*/}"
        row 644 "$scratch/man.${page##*/}" "$MANDIR/man${page##*.}/${page##*/}"
    done
    for text in LICENSE NEWS.md README.md SECURITY.md doc/*.md doc/*.png doc/*.svg doc/guides/*.* doc/schema/*.json; do
        row 644 "$text" "$DOCDIR/$text"
    done
    find examples -name __pycache__ -prune -o -type f ! -name '*.vtl*' -print | sort | while read -r example; do
        if [ -x "$example" ]; then row 755 "$example" "$DOCDIR/$example"; else row 644 "$example" "$DOCDIR/$example"; fi
    done
    [ -z "$PYTHONDIR" ] || python_rows
    # For a library folder that `vramtrace run` does not search: a link in one that it does.
    found=
    for folder in $(sed -n 's/^FOLDER("\(.*\)")$/\1/p' analyzer/run/library_folders.def); do
        last=$(realpath -m "$BINDIR/$folder")
        [ "$(realpath -m "$LIBDIR")" != "$last" ] || found=1
    done
    [ "$found" ] || row l "$(realpath -m --relative-to "$last" "$LIBDIR/libvramtrace.so")" "$last/libvramtrace.so"
}

# The wheel's Python package, with links to the installed files; pip knows it, and pytest finds the plugin.
python_rows() {
    package=$PYTHONDIR/vramtrace
    for file in packaging/wheel/vramtrace/*.py packaging/wheel/vramtrace/py.typed; do
        sed "s/@VERSION@/$version/" "$file" >"$scratch/${file##*/}"
        row 644 "$scratch/${file##*/}" "$package/${file##*/}"
    done
    printf 'Metadata-Version: 2.1\nName: vramtrace\nVersion: %s\n' "$version" >"$scratch/METADATA"
    row 644 "$scratch/METADATA" "$PYTHONDIR/vramtrace-$version.dist-info/METADATA"
    row 644 packaging/wheel/entry_points.txt "$PYTHONDIR/vramtrace-$version.dist-info/entry_points.txt"
    row l "$(realpath -m --relative-to "$package/bin" "$BINDIR/vramtrace")" "$package/bin/vramtrace"
    row l "$(realpath -m --relative-to "$package/lib" "$LIBDIR/libvramtrace.so")" "$package/lib/libvramtrace.so"
    row l "$(realpath -m --relative-to "$PYTHONDIR" "$LIBDIR/vramtrace/python/vramtrace_pytest.py")" "$PYTHONDIR/vramtrace_pytest.py"
}
row() { printf '%s\t%s\t%s\n' "$1" "$2" "$DESTDIR$3"; }

for name in PREFIX BINDIR LIBDIR INCLUDEDIR PKGCONFIGDIR MANDIR DOCDIR BASHDIR ZSHDIR PYTHONDIR; do
    eval "folder=\$$name"
    case $name$folder in
    "$name"/* | PYTHONDIR) ;; # this one may be empty
    *)
        echo "install: $name must be an absolute path: $folder" >&2
        exit 1
        ;;
    esac
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
version=$(packaging/version)
# Folders below PREFIX are written relative to it, so that the tree can be moved.
below() { case $1 in "$PREFIX"/*) printf '${prefix}%s' "${1#"$PREFIX"}" ;; *) printf %s "$1" ;; esac; }
for_sed() { printf %s "$1" | sed 's/[\\&|]/\\&/g'; }
sed -e "s|@PREFIX@|$(for_sed "$PREFIX")|; s|@LIBDIR@|$(for_sed "$(below "$LIBDIR")")|" \
    -e "s|@INCLUDEDIR@|$(for_sed "$(below "$INCLUDEDIR")")|; s|@VERSION@|$version|" \
    packaging/vramtrace.pc.in >"$scratch/vramtrace.pc"
tab=$(printf '\t')
rows >"$scratch/rows"

case ${1:-} in
install)
    while IFS=$tab read -r mode from to; do
        mkdir -p "${to%/*}"
        if [ "$mode" = l ]; then
            ln -sfn "$from" "$to"
        else
            # not in place: processes traced now have the library mapped
            rm -f "$to"
            install -m "$mode" "$from" "$to"
        fi
    done <"$scratch/rows"
    ;;
uninstall)
    while IFS=$tab read -r mode from to; do
        rm -f "$to"
        # and folders that only we used
        folder=${to%/*}
        while case $folder in */vramtrace | */vramtrace/* | */vramtrace-*.dist-info) true ;; *) false ;; esac && rmdir "$folder" 2>/dev/null; do
            folder=${folder%/*}
        done
    done <"$scratch/rows"
    ;;
*)
    echo "usage: packaging/install.sh install|uninstall" >&2
    exit 2
    ;;
esac
