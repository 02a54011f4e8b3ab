# SPDX-License-Identifier: MIT
#
# Part of the top Makefile: completions, installing, the Debian package, the wheel, and the check in fresh Debian
# roots. Folders are the usual ones; LIBDIR=/usr/lib64 or a multiarch folder if the distribution uses that. `vramtrace
# run` finds the library relative to itself.

PREFIX       ?= /usr/local
DESTDIR      ?=
BINDIR       ?= $(PREFIX)/bin
LIBDIR       ?= $(PREFIX)/lib
INCLUDEDIR   ?= $(PREFIX)/include
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
DATADIR      ?= $(PREFIX)/share
MANDIR       ?= $(DATADIR)/man
DOCDIR       ?= $(DATADIR)/doc/vramtrace
BASHDIR      ?= $(DATADIR)/bash-completion/completions
ZSHDIR       ?= $(DATADIR)/zsh/site-functions
# The folder of a Python's packages; not set: no package, as with pip's wheel.
PYTHONDIR    ?=

.PHONY: completions install uninstall deb wheel wheel-of-build wheel-release test-roots release-files

completions: $(BUILD)/completions/vramtrace.bash

$(BUILD)/completions/vramtrace.bash: $(BUILD)/vramtrace $(wildcard packaging/completions/*)
	packaging/completions/generate $(BUILD)/vramtrace $(@D)

INSTALL_FOLDERS = BUILD='$(BUILD)' DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' BINDIR='$(BINDIR)' LIBDIR='$(LIBDIR)' \
    INCLUDEDIR='$(INCLUDEDIR)' PKGCONFIGDIR='$(PKGCONFIGDIR)' MANDIR='$(MANDIR)' DOCDIR='$(DOCDIR)' \
    BASHDIR='$(BASHDIR)' ZSHDIR='$(ZSHDIR)' PYTHONDIR='$(PYTHONDIR)'

install: all ## install under PREFIX (/usr/local; LIBDIR and others can be set), DESTDIR in front
	@$(INSTALL_FOLDERS) packaging/install.sh install

uninstall: ## remove what `make install` put there, with the same PREFIX, DESTDIR and so on
	@$(INSTALL_FOLDERS) packaging/install.sh uninstall

deb: ## a Debian package for the release that this runs on: build/deb/vramtrace_VERSION_ARCHITECTURE.deb
	@tests/setup.sh build deb
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=$(BUILD) all
	@CC='$(CC)' BUILD='$(BUILD)' INSTALL='$(MAKE) --no-print-directory -s -o all install BUILD=$(BUILD)' packaging/deb.sh $(BUILD)/deb
	@ls $(BUILD)/deb/*.deb

# An installed tree is the wheel's package (packaging/wheel/pack). A wheel cannot contain links, and a copy of the
# simulated driver would be a second driver, so libcuda.so is a library that only depends on it.
UNWIND ?= $(shell $(CC) -print-file-name=libunwind.so.8)
UTHASH := $(firstword $(wildcard /usr/include/uthash.h /usr/local/include/uthash.h))
LIBIBERTY := $(shell $(CC) -print-file-name=libiberty.a)
STAGE  ?= $(abspath $(BUILD))/wheel
DIST   ?= $(BUILD)/dist

wheel: ## build/dist/vramtrace-...whl for pip: works with the glibc of this machine and all later ones
	@tests/setup.sh build wheel
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	@$(MAKE) --no-print-directory -s wheel-of-build

wheel-of-build:
	@rm -rf $(STAGE)
	@$(MAKE) --no-print-directory -s -o all install DESTDIR=$(STAGE) PREFIX=/vramtrace
	@rm $(STAGE)/vramtrace/lib/vramtrace/sim/libcuda.so
	@cd $(STAGE)/vramtrace/lib/vramtrace/sim && $(CC) $(LDFLAGS) -shared -nostdlib -o libcuda.so \
	    -Wl,-soname,libcuda.so,--no-as-needed '-Wl,-rpath,$$ORIGIN' libcuda.so.1
	@packaging/wheel/pack --stage $(STAGE) --out $(DIST) --strip "$$($(CC) -print-prog-name=strip)" --unwind $(UNWIND) --with $(UTHASH) $(LIBIBERTY) $(D3_JS)

wheel-release: ## as root: the wheel for glibc 2.27 and later, made in a fresh root of Debian 11
	@tests/setup.sh roots
	@BUILD='$(abspath $(BUILD))' tests/roots/run --wheel $(DIST)

test-roots: ## as root: the packages, made and installed in fresh roots of Debian 11, 12 and 13 (T=RELEASE: one alone)
	@tests/setup.sh roots
	@BUILD='$(abspath $(BUILD))' tests/roots/run $(T) || [ $$? = 77 ]

release-files: ## as root: all that a release gives away for this machine, made and tried by test-roots: build/release
	@rm -rf $(BUILD)/release
	@$(MAKE) --no-print-directory test-roots T=
	@packaging/release collect $(BUILD)/roots $(BUILD)/release
