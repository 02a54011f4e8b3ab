#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `make check`: lints the man pages ($@) with mandoc where it is installed, else with man's own warnings.
[ $# -gt 0 ] || { echo "check-man: no man pages named" >&2; exit 1; }
if command -v mandoc >/dev/null 2>&1; then
    exec mandoc -T lint -W warning "$@"
fi
if ! command -v man >/dev/null 2>&1 || ! command -v groff >/dev/null 2>&1; then
    echo "check-man: neither mandoc nor man here: man pages not checked"
    exit 0
fi
bad=0
for page in "$@"; do
    said=$(MANROFFSEQ= MANWIDTH=80 man --warnings=w -l -E UTF-8 -T utf8 -Z "$page" 2>&1 >/dev/null)
    [ -z "$said" ] || { echo "$page: $said" >&2; bad=1; }
done
exit $bad
