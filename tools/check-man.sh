#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `make check`: lints the man pages ($@) with mandoc where it is installed, else with groff's own warnings.
[ $# -gt 0 ] || { echo "check-man: no man pages named" >&2; exit 1; }
if command -v mandoc >/dev/null 2>&1; then
    exec mandoc -T lint -W warning "$@"
fi
if ! command -v groff >/dev/null 2>&1; then
    echo "check-man: neither mandoc nor groff here: man pages not checked"
    exit 0
fi
bad=0
for page in "$@"; do
    said=$(groff -mandoc -ww -z "$page" 2>&1)
    [ -z "$said" ] || { echo "$page: $said" >&2; bad=1; }
done
exit $bad
