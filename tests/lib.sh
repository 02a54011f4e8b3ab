# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Functions for most cases written in bash; `. "$SRC/tests/lib.sh"` at their top. See tests/run for the variables.
# Every expect_* prints what it examined, the expected and the actual value, then fails the case.
set -u

fail() {
    echo "FAIL: $*"
    exit 1
}

# The reason must be the last line: the harness prints it.
skip() {
    echo "$*"
    exit 77
}

# Sanitizers of older compilers fail with some address layouts, if the kernel randomizes more than 28 bits: the case
# restarts without randomization.
calm_addresses() {
    local bits
    bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null) || bits=32
    [ "$bits" -gt 28 ] && [ -z "${CALM:-}" ] && setarch "$(uname -m)" -R true 2>/dev/null || return 0
    CALM=yes exec setarch "$(uname -m)" -R "$0"
}

# Libraries to preload for the simulated GPU; tests that load libraries RTLD_LOCAL set their own.
SIM_PRELOAD=$SIM/libcuda.so.1:$SIM/libcudart.so.12:$SIM/libcudart.so.13

# Runs a command on the simulated GPU, untraced.
simulated() {
    LD_PRELOAD=$SIM_PRELOAD "$@"
}

# Runs a command on the simulated GPU, traced; its log is ./log.vtl (or .2, .3 … after the first) unless
# VRAMTRACE_OUTPUT is set.
traced() {
    VRAMTRACE_OUTPUT=${VRAMTRACE_OUTPUT:-log.vtl} LD_PRELOAD=$TRACER:$SIM_PRELOAD "$@"
}

# report_json LOG…: writes the JSON report to stdout; fails the case if there is none.
report_json() {
    local text status
    text=$("$VRAMTRACE" report --format json "$@" && echo .)
    status=$?
    [ "$status" = 0 ] || fail "vramtrace report --format json $*: exit status $status"
    printf '%s' "${text%.}" | "${TESTS_PYTHON:-python3}" "$SRC/tests/schemas.py" /dev/stdin >&2 || fail "vramtrace report --format json $*: not as in doc/schema (above)"
    printf '%s' "${text%.}"
}

# json FILE EXPRESSION: evaluates a Python expression over the report: `r` is the whole, `p` its first process, `live`
# the sites that still hold memory.
json() {
    "${TESTS_PYTHON:-python3}" - "$1" "$2" <<'PY' || fail "$1: cannot evaluate: $2"
import json, sys
r = json.load(open(sys.argv[1]))
p = r["processes"][0] if r["processes"] else None
live = [s for s in p["sites"] if s["live_count"]] if p else []
print(eval(sys.argv[2]))
PY
}

# expect_eq WHAT EXPECTED FOUND
expect_eq() {
    [ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"
}

# expect_status N COMMAND…: its output goes to ./out, its errors to ./err.
expect_status() {
    local want=$1 got=0
    shift
    "$@" >out 2>err || got=$?
    [ "$got" = "$want" ] || {
        cat out err
        fail "$*: expected exit status $want, found $got (its output is above)"
    }
}

# expect_match WHAT REGEX FILE: some line of FILE matches the extended regular expression.
expect_match() {
    grep -Eq -- "$2" "$3" || {
        sed 's/^/  > /' "$3"
        fail "$1: no line of $3 matches '$2'"
    }
}

# expect_no_match WHAT REGEX FILE
expect_no_match() {
    ! grep -Eq -- "$2" "$3" || fail "$1: expected no line of $3 to match '$2', found: $(grep -E -m1 -- "$2" "$3")"
}
