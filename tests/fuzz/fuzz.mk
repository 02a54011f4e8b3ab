# SPDX-License-Identifier: MIT
#
# Builds the fuzz targets into $(BUILD)/fuzz, and runs them. Part of the top Makefile. Each tests/fuzz/NAME_fuzz.c is
# a target; the product's sources are built for them once more, with what guides the fuzzer and finds faults. They
# need clang with its libFuzzer (Debian: libclang-rt-14-dev or later).

FUZZ_OUT     := $(BUILD)/fuzz
FUZZ_CC      ?= clang
FUZZ_SECONDS ?= 10
FUZZ_SANITIZERS := address,undefined
FUZZ_CFLAGS := -O1 -g -fno-omit-frame-pointer -fsanitize=$(FUZZ_SANITIZERS) -fno-sanitize-recover=all
# Warnings are for the other builds.
FUZZ_COMPILE = $(FUZZ_CC) $(CPPFLAGS) $(FUZZ_CFLAGS) $(VT_CFLAGS) -w
# What files.c answers to the product. The linker's --wrap would also catch libFuzzer.
FUZZ_REDEFINED := open fopen stat lstat access opendir mkostemp

FUZZ_RENAME = $(foreach name,$(FUZZ_REDEFINED),--redefine-sym $(name)=vt_fuzz_$(name))

FUZZ_ANALYZER := $(patsubst analyzer/%.c,$(FUZZ_OUT)/obj/analyzer/%.o,$(filter-out analyzer/main.c,\
    $(ANALYZER_SOURCES))) $(ANALYZER_OBJ)/report/html/embed.S.o
FUZZ_PRELOAD  := $(patsubst preload/%.c,$(FUZZ_OUT)/obj/preload/%.o,$(wildcard preload/base/*.c))
FUZZ_TARGETS  := $(patsubst tests/fuzz/%_fuzz.c,$(FUZZ_OUT)/%,$(wildcard tests/fuzz/*_fuzz.c))

.PHONY: fuzz fuzz-build
fuzz-build: $(FUZZ_TARGETS)

fuzz: ## run every fuzz target for FUZZ_SECONDS (10) seconds (T=pattern: only those)
	@$(MAKE) --no-print-directory -s -j$(JOBS) fuzz-build
	@tests/fuzz/run --seconds $(FUZZ_SECONDS) $(FUZZ_OUT) $(T)

# Of the targets themselves, nothing guides the fuzzer: the product is to be explored.
$(FUZZ_OUT)/obj/tests/%.o: tests/fuzz/%.c
	@mkdir -p $(@D)
	$(FUZZ_COMPILE) -I. -Ianalyzer -c -o $@ $<

$(FUZZ_OUT)/obj/tests/log_maker.o: tests/unit/analyzer/log_maker.c
	@mkdir -p $(@D)
	$(FUZZ_COMPILE) -I. -c -o $@ $<

$(FUZZ_OUT)/obj/tests/preload_fuzz.o: tests/fuzz/preload_fuzz.c
	@mkdir -p $(@D)
	$(FUZZ_COMPILE) -fsanitize=fuzzer-no-link -I. -Ipreload -c -o $@ $<

$(FUZZ_OUT)/obj/analyzer/%.o: analyzer/%.c | $(PROTO_SOURCES)
	@mkdir -p $(@D)
	$(FUZZ_COMPILE) -fsanitize=fuzzer-no-link -Ianalyzer -I$(BUILD)/proto -c -o $@ $<

$(FUZZ_OUT)/obj/preload.a: $(FUZZ_PRELOAD)
	@rm -f $@
	$(AR) rcs $@ $^

$(FUZZ_OUT)/obj/preload/%.o: preload/%.c
	@mkdir -p $(@D)
	$(FUZZ_COMPILE) -fsanitize=fuzzer-no-link -Ipreload -c -o $@ $<

$(FUZZ_OUT)/obj/analyzer.a: $(FUZZ_ANALYZER) $(PROTO_OBJECTS)
	@rm -f $@
	$(AR) rcs $@ $^
	objcopy $(FUZZ_RENAME) --weaken-symbol=vt_new_file_open --weaken-symbol=vt_new_file_find $@

# With pack.c in it.
$(FUZZ_OUT)/obj/tests/pack_fuzz.o: tests/fuzz/pack_fuzz.c
	@mkdir -p $(@D)
	$(FUZZ_COMPILE) -fsanitize=fuzzer-no-link -I. -Ianalyzer -c -o $@ $<
	objcopy $(FUZZ_RENAME) $@

$(FUZZ_OUT)/obj/tests/logs.o: $(wildcard tests/fuzz/seeds/log/*)
	@mkdir -p $(@D)
	cd tests/fuzz/seeds/log && $(LD) -r -z noexecstack -b binary -o $(abspath $@) driver owners phases torch

$(FUZZ_OUT)/log: $(FUZZ_OUT)/obj/tests/log_mutate.o
$(FUZZ_OUT)/pack $(FUZZ_OUT)/summary: $(FUZZ_OUT)/obj/tests/logs.o
$(FUZZ_OUT)/options: $(FUZZ_OUT)/obj/tests/log_maker.o

$(filter-out %/preload,$(FUZZ_TARGETS)): $(FUZZ_OUT)/%: $(FUZZ_OUT)/obj/tests/%_fuzz.o \
    $(FUZZ_OUT)/obj/tests/files.o $(FUZZ_OUT)/obj/analyzer.a
	$(FUZZ_CC) -g -fsanitize=fuzzer,$(FUZZ_SANITIZERS) -o $@ \
	    $(filter %.o,$^) $(FUZZ_OUT)/obj/analyzer.a $(ANALYZER_LIBS)

$(FUZZ_OUT)/preload: $(FUZZ_OUT)/obj/tests/preload_fuzz.o $(FUZZ_OUT)/obj/preload.a
	$(FUZZ_CC) -g -fsanitize=fuzzer,$(FUZZ_SANITIZERS) -o $@ $^

-include $(wildcard $(FUZZ_OUT)/obj/*/*.d $(FUZZ_OUT)/obj/*/*/*.d $(FUZZ_OUT)/obj/*/*/*/*.d)
