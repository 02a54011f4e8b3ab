# SPDX-License-Identifier: MIT
#
# Builds, tests and installs vramtrace. Sources are found by their folders: a new file or module in preload/,
# analyzer/ or tests/unit/ needs no edit here. tests/sim/sim.mk builds the simulated GPU (target `sim`),
# packaging/packaging.mk installs and packs everything. `make` builds and uses no network; `make demo`, `test`,
# `check` and `bench` first install what they need.

# SANITIZE=address,undefined or SANITIZE=thread builds with these, in a separate folder.
SANITIZE ?=
comma    := ,
BUILD  ?= build$(if $(SANITIZE),/sanitize-$(subst $(comma),-,$(SANITIZE)))
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
ifeq ($(origin CC),default)
CC := gcc
endif

CFLAGS   ?= -O2 -g
LDFLAGS  ?=
# gcc before 11 treats {.a = 1, .b = {2, 3}} as an initializer with missing fields.
WARNINGS := -Wall -Wextra -Wpedantic -Werror \
    $(if $(filter 8 9 10,$(firstword $(subst ., ,$(shell $(CC) -dumpversion 2>/dev/null)))),-Wno-missing-field-initializers)
ifneq ($(SANITIZE),)
# ThreadSanitizer does not support fences; gcc warns about each.
override CFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer $(if $(filter thread,$(SANITIZE)),-Wno-tsan)
endif
# No file contains the checkout's path: the same sources make the same packages anywhere.
VT_CFLAGS := -std=gnu17 $(WARNINGS) -MMD -MP -Iinclude '-ffile-prefix-map=$(CURDIR)=.'

# libunwind and Python walk frames through us: keep the frame pointer. TLS must not call the allocator on first use:
# initial-exec. Only names in exports.map are visible.
PRELOAD_CFLAGS := $(VT_CFLAGS) -Ipreload -fPIC -fvisibility=hidden -ftls-model=initial-exec \
    -fno-omit-frame-pointer -fcf-protection=none
EXPORTS_MAP    ?= preload/exports.map
# Only libc: libdl and libpthread are parts of it; since glibc 2.34, --as-needed drops them.
PRELOAD_LIBS   ?= -ldl -lpthread

ANALYZER_CFLAGS := $(VT_CFLAGS) -Ianalyzer -I$(BUILD)/proto
# libiberty has the demanglers.
ANALYZER_LIBS   ?= -liberty -ldw -lelf -lprotobuf-c -lz -lzstd -lncursesw -ltinfo -lm -ldl -lpthread

TEST_CFLAGS := $(VT_CFLAGS) -I. -DVT_BUILD_DIR='"$(abspath $(BUILD))"'
TEST_LIBS   ?= -lcmocka

.DEFAULT_GOAL := all
.PHONY: all lib analyzer sim python schema demo test test-build test-unit test-arm64 test-frameworks test-gpu test-genuine test-model \
    scan-dump test-cpython check check-setup check-format check-warnings check-modules modules-picture plain-words check-man \
    compile_commands.json bench budget clean help deps force
.DELETE_ON_ERROR:

all: lib analyzer sim python completions ## build everything into build/ (the default; no network)

# The flags of the whole build. The file changes with a flag, and then everything is rebuilt.
FLAGS_FILE := $(BUILD)/.flags
$(FLAGS_FILE): export VT_FLAGS = $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(D3_JS)
$(FLAGS_FILE): force
	@mkdir -p $(@D); echo "$$VT_FLAGS" | cmp -s - $@ || echo "$$VT_FLAGS" >$@

# --- libvramtrace.so ------------------------------------------------------------------------------------------

# Runtime wrappers are compiled once per CUDA runtime, with its symbol versions.
RUNTIMES        := 12 13
PRELOAD_OBJ     := $(BUILD)/obj/preload
RUNTIME_SOURCES := $(wildcard preload/*/*_runtime*.c)
PRELOAD_SOURCES := $(filter-out $(RUNTIME_SOURCES),$(wildcard preload/*.c preload/*/*.c))
PRELOAD_OBJECTS := $(PRELOAD_SOURCES:preload/%.c=$(PRELOAD_OBJ)/%.o) \
    $(patsubst preload/%.S,$(PRELOAD_OBJ)/%.S.o,$(wildcard preload/*/*.S)) \
    $(foreach v,$(RUNTIMES),$(RUNTIME_SOURCES:preload/%.c=$(PRELOAD_OBJ)/%.$(v).o))

lib: $(BUILD)/libvramtrace.so

$(BUILD)/libvramtrace.so: $(PRELOAD_OBJECTS) $(EXPORTS_MAP)
$(BUILD)/libvramtrace.so $(BUILD)/scan/libvramtrace.so:
	$(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,-soname,libvramtrace.so -Wl,--build-id \
	    -Wl,--version-script=$(EXPORTS_MAP) -Wl,-Bsymbolic -Wl,-z,now,-z,relro,-z,nodelete -Wl,--no-undefined \
	    -Wl,--as-needed $(VT_WRAPPED) -o $@ $(filter %.o,$^) $(PRELOAD_LIBS)

$(PRELOAD_OBJ)/%.o: preload/%.c $(FLAGS_FILE) | deps
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(PRELOAD_CFLAGS) -c -o $@ $<

$(PRELOAD_OBJ)/%.S.o: preload/%.S $(FLAGS_FILE) | deps
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(PRELOAD_CFLAGS) -c -o $@ $<

# The compiler would replace them by calls of themselves.
$(PRELOAD_OBJ)/base/string.o: override PRELOAD_CFLAGS += -fno-builtin
# They run while the memory of the stack protector's reference value disappears.
$(PRELOAD_OBJ)/snapshot/watch.o $(PRELOAD_OBJ)/memory/maps.o: override PRELOAD_CFLAGS += -fno-stack-protector

define runtime_rule
$(PRELOAD_OBJ)/%.$(1).o: preload/%.c $(FLAGS_FILE) | deps
	@mkdir -p $$(@D)
	$$(CC) $$(CPPFLAGS) $$(CFLAGS) $$(PRELOAD_CFLAGS) -DVT_CUDART=$(1) -c -o $$@ $$<
endef
$(foreach v,$(RUNTIMES),$(eval $(call runtime_rule,$(v))))

# --- vramtrace ------------------------------------------------------------------------------------------------

ANALYZER_OBJ     := $(BUILD)/obj/analyzer
ANALYZER_SOURCES := $(wildcard analyzer/*.c analyzer/*/*.c analyzer/*/*/*.c)
ANALYZER_OBJECTS := $(ANALYZER_SOURCES:analyzer/%.c=$(ANALYZER_OBJ)/%.o) $(ANALYZER_OBJ)/report/html/embed.S.o
PROTO_SOURCES    := $(patsubst analyzer/export/%.proto,$(BUILD)/proto/%.pb-c.c,$(wildcard analyzer/export/*.proto))
PROTO_OBJECTS    := $(PROTO_SOURCES:.c=.o)

analyzer: $(BUILD)/vramtrace

$(BUILD)/vramtrace: $(ANALYZER_OBJECTS) $(PROTO_OBJECTS)
	$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $^ $(ANALYZER_LIBS)

$(ANALYZER_OBJ)/%.o: analyzer/%.c $(FLAGS_FILE) | deps
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(ANALYZER_CFLAGS) -c -o $@ $<

# The page of `report --format html` is in the program: its style, its joined scripts (data.js and areas.js first,
# page.js starts them), and d3 for drawing. D3_JS= leaves d3 out, and so the format.
D3_JS        ?= $(firstword $(wildcard /usr/share/nodejs/d3/dist/d3.min.js node_modules/d3/dist/d3.min.js))
PAGE_SCRIPTS := $(patsubst %,analyzer/report/html/%.js,data areas) \
    $(filter-out %/data.js %/areas.js %/page.js,$(sort $(wildcard analyzer/report/html/*.js))) analyzer/report/html/page.js
PAGE_FLAGS   := -DVT_PAGE_JS='"$(ANALYZER_OBJ)/report/html/page.js"' $(if $(D3_JS),-DVT_D3_JS='"$(D3_JS)"')

$(ANALYZER_OBJ)/report/html/page.js: $(PAGE_SCRIPTS)
	@mkdir -p $(@D)
	cat $(PAGE_SCRIPTS) >$@

$(ANALYZER_OBJ)/report/html/embed.S.o: analyzer/report/html/embed.S analyzer/report/html/style.css \
    $(ANALYZER_OBJ)/report/html/page.js $(D3_JS) $(FLAGS_FILE) | deps
	@$(if $(D3_JS),,echo 'd3.min.js is not here (node-d3): building without report --format html' >&2)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(ANALYZER_CFLAGS) $(PAGE_FLAGS) -c -o $@ $<

# Messages of other tools' formats, as C.
$(filter $(ANALYZER_OBJ)/export/%.o,$(ANALYZER_OBJECTS)): | $(PROTO_SOURCES)
$(BUILD)/proto/%.pb-c.c: analyzer/export/%.proto | deps
	@mkdir -p $(@D)
	protoc-c --c_out=$(@D) -Ianalyzer/export $<

$(BUILD)/proto/%.h: $(BUILD)/proto/%.c ;

$(BUILD)/proto/%.o: $(BUILD)/proto/%.c $(FLAGS_FILE)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(ANALYZER_CFLAGS) -c -o $@ $<

# --- the pytest plugin, where `vramtrace run --check` finds it; `import vramtrace` with PYTHONPATH=build/site-packages ---

PYTHON_SOURCES := $(wildcard packaging/wheel/vramtrace/*.py packaging/wheel/vramtrace/py.typed)

python: $(BUILD)/python/vramtrace_pytest.py $(PYTHON_SOURCES:packaging/wheel/%=$(BUILD)/site-packages/%)

$(BUILD)/site-packages/vramtrace/%: packaging/wheel/vramtrace/% include/vramtrace/version.h
	@mkdir -p $(@D)/bin $(@D)/lib
	@ln -sfn ../../../vramtrace $(@D)/bin/vramtrace; ln -sfn ../../../libvramtrace.so $(@D)/lib/libvramtrace.so
	sed "s/@VERSION@/$$(packaging/version)/" $< >$@

$(BUILD)/python/%.py: examples/pytest/%.py
	@mkdir -p $(@D)
	cp $< $@

# --- the simulated GPU ----------------------------------------------------------------------------------------

-include tests/sim/sim.mk
-include tests/fuzz/fuzz.mk

# --- completions, installing, packages ------------------------------------------------------------------------

include packaging/packaging.mk

# --- unit tests -----------------------------------------------------------------------------------------------

# Each tests/unit/FOLDER/MODULE/NAME_test.c is one program. It is linked with an archive of all of that folder's
# modules, so it may call any function there, or include a .c file to reach its static functions: its own definitions
# take precedence. Those of tests/unit/sim/ are built by sim.mk.
UNIT_SOURCES := $(wildcard tests/unit/*/*_test.c tests/unit/*/*/*_test.c)
UNIT_TESTS   := $(UNIT_SOURCES:tests/unit/%.c=$(BUILD)/tests/unit/%)

test-build: $(UNIT_TESTS) $(BUILD)/schema-keys python $(BUILD)/bench/pairs $(BUILD)/bench/ranks $(BUILD)/bench/steps \
    $(if $(SANITIZE),,$(BUILD)/scan/libvramtrace.so $(BUILD)/scan/replay)

$(BUILD)/obj/analyzer.a: $(filter-out %/main.o,$(ANALYZER_OBJECTS)) $(PROTO_OBJECTS)
$(BUILD)/obj/preload.a: $(PRELOAD_OBJECTS)
$(BUILD)/obj/analyzer.a $(BUILD)/obj/preload.a:
	@mkdir -p $(@D) && rm -f $@
	$(AR) rcs $@ $^

define unit_rule
$(BUILD)/tests/unit/$(1)/%: tests/unit/$(1)/%.c $(BUILD)/obj/$(1).a
	@mkdir -p $$(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(TEST_CFLAGS) -I$(1) $(LDFLAGS) -MF $$@.d -o $$@ $$< $(BUILD)/obj/$(1).a \
	    $(TEST_LIBS) $(2)
endef
# A sanitizer's start must not meet our dlsym, _exit ...: the archive's symbols stay inside the program. They replace
# functions of old glibc's libdl, which the program still needs: --no-as-needed.
$(eval $(call unit_rule,preload,-Wl$(comma)--no-as-needed $(PRELOAD_LIBS) $(if $(SANITIZE),-Wl$(comma)--exclude-libs$(comma)preload.a)))
$(eval $(call unit_rule,analyzer,$(ANALYZER_LIBS)))

# --- the schemas ----------------------------------------------------------------------------------------------

$(BUILD)/schema-keys: tools/schema-keys.c $(BUILD)/obj/analyzer.a
	$(CC) $(CPPFLAGS) $(CFLAGS) -Iinclude -Ianalyzer $(LDFLAGS) -o $@ $< $(BUILD)/obj/analyzer.a $(ANALYZER_LIBS)

schema: $(BUILD)/schema-keys ## write the keys of analyzer/report/report_keys.c into doc/schema
	tools/make-schema $< doc/schema

# --- the benchmark's program, and the driver below it --------------------------------------------------------

$(BUILD)/bench/pairs: tests/bench/pairs.c $(FLAGS_FILE) $(BUILD)/bench/libcuda.so.1
	$(CC) $(CPPFLAGS) $(CFLAGS) $(VT_CFLAGS) $(LDFLAGS) -o $@ $< -ldl -lpthread

$(BUILD)/bench/steps: tests/bench/steps.c $(FLAGS_FILE) $(BUILD)/bench/libcuda.so.1
	$(CC) $(CPPFLAGS) $(CFLAGS) $(VT_CFLAGS) $(LDFLAGS) -o $@ $< -L$(BUILD)/bench -l:libcuda.so.1

$(BUILD)/bench/ranks: tests/bench/ranks.c $(FLAGS_FILE) $(BUILD)/bench/libcuda.so.1
	$(CC) $(CPPFLAGS) $(CFLAGS) $(VT_CFLAGS) $(LDFLAGS) -o $@ $< -ldl -lpthread

$(BUILD)/bench/size: tests/cases/612-scan-size/size.c $(FLAGS_FILE) $(BUILD)/sim/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(VT_CFLAGS) -Itests/cases -o $@ $< $(BUILD)/sim/libcuda.so.1 -lpthread

$(BUILD)/bench/libcuda.so.1: tests/bench/stub_cuda.c $(FLAGS_FILE)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(VT_CFLAGS) -fPIC -shared $(LDFLAGS) -o $@ $<

# --- what the exit scan reads, written down and scanned again (tests/gpu/scan) ---------------------------------

$(BUILD)/scan/libvramtrace.so: VT_WRAPPED := -Wl,--wrap=vt_scan_flood
$(BUILD)/scan/libvramtrace.so: $(PRELOAD_OBJECTS) $(BUILD)/scan/dump.o $(EXPORTS_MAP)

$(BUILD)/scan/dump.o: tests/gpu/scan/dump.c $(FLAGS_FILE)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(PRELOAD_CFLAGS) -c -o $@ $<

$(BUILD)/scan/replay: tests/gpu/scan/replay.c $(BUILD)/obj/preload.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(VT_CFLAGS) -Ipreload $(LDFLAGS) -MF $@.d -o $@ $< $(BUILD)/obj/preload.a \
	    -Wl,--no-as-needed $(PRELOAD_LIBS)

# --- what people call -----------------------------------------------------------------------------------------

# Checked once per build folder: are the build dependencies installed?
deps: $(BUILD)/.deps
$(BUILD)/.deps: $(FLAGS_FILE)
	@CC='$(CC)' tests/setup.sh --check build
	@mkdir -p $(@D) && touch $@

demo: ## trace a Python training script that leaks, print its report
	@tests/setup.sh demo
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	@tools/demo.sh $(BUILD)

test: ## build and run every test (T=pattern: only those whose name has it)
	@tests/setup.sh test
	@$(MAKE) --no-print-directory -s -j$(JOBS) all test-build
	@tests/run --build $(BUILD) $(T)

test-arm64: ## cross-compile for arm64, run every test there, emulated, in a root of Debian in build/arm64 (T=pattern; MACHINE=system)
	@tests/setup.sh arm64
	@JOBS=$(JOBS) MACHINE=$(MACHINE) tests/arm64/run $(T) || [ $$? = 77 ]

test-frameworks: all ## hold the tracer against real frameworks, put into build/frameworks (PYTHON=one that has them)
	@PYTHON=$$(tests/setup.sh --install-torch || echo python3) tests/frameworks/run-all --build $(BUILD) $(T)

test-gpu: all ## what only a real GPU shows (PYTHON=one that has PyTorch; OUT=DIR keeps logs and reports)
	@tests/gpu/run --build $(BUILD) $(if $(PYTHON),--python $(PYTHON)) $(if $(OUT),--out $(OUT)) $(T) || [ $$? = 77 ]

test-genuine: all ## NVIDIA's own libraries without a GPU, fetched into build/genuine: routes, bindings, words (doc/GPU.md)
	@tests/genuine/run --build $(BUILD) $(T) || [ $$? = 77 ]

scan-dump: $(BUILD)/scan/libvramtrace.so $(BUILD)/scan/replay ## a library that dumps what the exit scan reads (tests/gpu/scan)

test-cpython: all ## an hour: CPython's own tests, and ends of threaded programs, traced and not (PYTHON=one that has its tests)
	@tests/cpython/run --build $(BUILD) $(if $(PYTHON),--python $(PYTHON)) $(T)
	@tests/cpython/run-ends --build $(BUILD) $(if $(PYTHON),--python $(PYTHON))

test-weeks: all ## half an hour: logs of long runs, compacted and whole (WEEKS_EVENTS=N, WEEKS_SEEDS=N, WEEKS_FIRST=N, WEEKS_BOUNDS=SIZE,...)
	@tests/weeks/run --build $(BUILD) $(if $(WEEKS_EVENTS),--events $(WEEKS_EVENTS)) $(if $(WEEKS_SEEDS),--seeds $(WEEKS_SEEDS)) \
	    $(if $(WEEKS_FIRST),--first-seed $(WEEKS_FIRST)) $(if $(WEEKS_BOUNDS),--bounds $(WEEKS_BOUNDS))

test-model: ## explore models of the log's memory order with spin, whole and without each barrier (tests/model)
	@tests/setup.sh model
	@tests/model/run --jobs $(JOBS) $(T)

test-unit: ## build and run the unit tests alone; with SANITIZE=address,undefined or SANITIZE=thread under these
	@tests/setup.sh unit
	@$(MAKE) --no-print-directory -s -j$(JOBS) BUILD=$(BUILD) test-build
	@tests/run --build $(BUILD) unit/$(T)

# `make test` has all of these as separate tests. Format, modules and man pages take seconds.
check: check-format check-man check-warnings ## formatting, modules, man pages, warnings of gcc and clang
	@tools/check-modules $(BUILD)
	@echo "check: passed"

check-setup:
	@tests/setup.sh check

check-format: check-setup ## every C and C++ source is as the one pinned clang-format writes it
	@tools/check-format || [ $$? = 77 ]

# gcc's warnings need a complete build, many of them its optimizer; only changed files are rebuilt. clang's need none
# (case 722).
check-warnings: check-setup
	@$(MAKE) --no-print-directory -s -j$(JOBS) all test-build
	@$(MAKE) --no-print-directory -nB CC=clang all test-build | tools/compile-commands --warnings

check-modules: lib analyzer ## print the order of the modules, proved from the object files, and their sizes (SINCE=COMMIT: also before)
	@tools/check-modules $(BUILD)
	@tools/module-sizes $(if $(SINCE),--since $(SINCE))

plain-words: ## count again the sentences that are hard to read (tests/plain_words.list)
	@tests/plain_words.py --write

modules-picture: lib analyzer ## redraw doc/modules.svg from the object files
	@tools/check-modules --report $(BUILD) >$(BUILD)/modules
	@tools/draw-modules doc/INTERNALS.md <$(BUILD)/modules >doc/modules.svg

check-man:
	@tools/json-man doc/schema/*.json >$(BUILD)/vramtrace-json.5
	@tools/check-man.sh $(wildcard doc/man/*.[1-8]) $(BUILD)/vramtrace-json.5

compile_commands.json: ## what editors and clangd read: how each source is compiled
	@$(MAKE) --no-print-directory -nB all test-build | tools/compile-commands >$@

bench: ## measure what everything costs, beside heaptrack and PyTorch; targets met and not (T=TOPIC: one alone; JSON=FILE)
	@tests/setup.sh bench
	@$(MAKE) --no-print-directory -s -j$(JOBS) all $(BUILD)/bench/pairs $(BUILD)/bench/ranks $(BUILD)/bench/steps $(BUILD)/bench/size
	@tests/bench/run $(if $(T),--only $(T)) $(if $(JSON),--json $(JSON)) $(BUILD)

budget: ## measure the instructions of an event and write them as the budget for `make test`
	@tests/setup.sh bench
	@$(MAKE) --no-print-directory -s -j$(JOBS) all $(BUILD)/bench/pairs
	@tests/bench/instructions --renew $(BUILD)

clean: ## remove everything built
	rm -rf $(BUILD)

help: ## this list
	@awk -F ':.*## ' '/^[a-z_.-]+:.*## / { printf "make %-21s %s\n", $$1, $$2 }' Makefile packaging/packaging.mk

-include $(wildcard $(BUILD)/obj/*/*.d $(BUILD)/obj/*/*/*.d $(BUILD)/obj/*/*/*/*.d $(BUILD)/tests/unit/*/*.d $(BUILD)/tests/unit/*/*/*.d $(BUILD)/scan/*.d)
