# SPDX-License-Identifier: MIT
#
# Builds the simulated GPU into $(BUILD)/sim: a CUDA driver, two CUDA runtimes, and numb libraries of our own. Part of the
# top Makefile, and usable alone from the repository's root: make -f tests/sim/sim.mk sim

BUILD    ?= build
CFLAGS   ?= -O2 -g
WARNINGS ?= -Wall -Wextra -Wpedantic -Werror
comma    := ,

SIM_OUT := $(BUILD)/sim
SIM_OBJ := $(BUILD)/obj/sim

# The answers that a program compares by address (which variant did I get?) must stay distinct functions: no
# folding of identical ones (clang does none, and does not know the option). -Bsymbolic: what the driver tells of
# itself is its own, whatever is preloaded.
SIM_CFLAGS  := -std=gnu17 -D_GNU_SOURCE $(WARNINGS) -MMD -MP -I. -Iinclude '-ffile-prefix-map=$(CURDIR)=.' -fPIC \
    $(if $(findstring clang,$(CC)),,-fno-ipa-icf)
SIM_LDFLAGS := -Wl,-Bsymbolic -Wl,--build-id -Wl,--no-undefined -Wl,-z,now,-z,relro

SIM_DRIVER_SOURCES := $(wildcard tests/sim/driver/*.c)
SIM_DRIVER_OBJECTS := $(SIM_DRIVER_SOURCES:tests/sim/driver/%.c=$(SIM_OBJ)/driver/%.o)

SIM_CUDARTS         := 12 13
SIM_RUNTIME_SOURCES := $(wildcard tests/sim/runtime/*.c)

SIM_LIBS := $(SIM_OUT)/libcuda.so.1 $(SIM_OUT)/libcuda.so $(SIM_CUDARTS:%=$(SIM_OUT)/libcudart.so.%) \
    $(SIM_OUT)/nvml/libnvidia-ml.so.1

# The numb libraries (tests/sim/numb/numb.h): list, file name, CUDA's major version, and whether the names have
# a version, as the real ones have.
SIM_NUMB := \
    cublas:libcublas.so.12:12:V cublas:libcublas.so.13:13:V \
    cublaslt:libcublasLt.so.12:12:V cublaslt:libcublasLt.so.13:13:V \
    cufft:libcufft.so.11:12:V cufft:libcufft.so.12:13:V \
    cusolver:libcusolver.so.11:12:V cusolver:libcusolver.so.12:13:V \
    cusparse:libcusparse.so.12:13:V curand:libcurand.so.10:13:V cudnn:libcudnn.so.9:13:V \
    cupti:libcupti.so.12:12:V cupti:libcupti.so.13:13:V \
    nccl:libnccl.so.2:13: cusparselt:libcusparseLt.so.0:13:
SIM_LIBS += $(foreach n,$(SIM_NUMB),$(SIM_OUT)/numb/$(word 2,$(subst :, ,$(n)))) $(SIM_OUT)/numb/libsimload.so

.PHONY: sim
sim: $(SIM_LIBS)

$(SIM_OUT)/libcuda.so.1: $(SIM_DRIVER_OBJECTS) tests/sim/driver.map
	@mkdir -p $(@D)
	$(CC) -shared $(CFLAGS) $(LDFLAGS) $(SIM_LDFLAGS) -Wl,-soname,libcuda.so.1 \
	    -Wl,--version-script=tests/sim/driver.map -o $@ $(SIM_DRIVER_OBJECTS) -ldl -lpthread

$(SIM_OUT)/libcuda.so: $(SIM_OUT)/libcuda.so.1
	ln -sf libcuda.so.1 $@

$(SIM_OUT)/nvml/libnvidia-ml.so.1: tests/sim/nvml/nvml.c tests/sim/share.h $(FLAGS_FILE)
	@mkdir -p $(@D)
	$(CC) -shared $(CPPFLAGS) $(CFLAGS) $(filter-out -MMD -MP,$(SIM_CFLAGS)) $(LDFLAGS) $(SIM_LDFLAGS) \
	    -Wl,-soname,libnvidia-ml.so.1 -o $@ $<

$(SIM_OBJ)/driver/%.o: tests/sim/driver/%.c $(FLAGS_FILE)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(SIM_CFLAGS) -c -o $@ $<

define sim_runtime_rules
$(SIM_OUT)/libcudart.so.$(1): $(SIM_RUNTIME_SOURCES:tests/sim/runtime/%.c=$(SIM_OBJ)/runtime$(1)/%.o) \
    tests/sim/runtime$(1).map
	@mkdir -p $$(@D)
	$$(CC) -shared $$(CFLAGS) $$(LDFLAGS) $(SIM_LDFLAGS) -Wl,-soname,libcudart.so.$(1) \
	    -Wl,--version-script=tests/sim/runtime$(1).map -o $$@ $$(filter %.o,$$^) -ldl -lpthread

$(SIM_OBJ)/runtime$(1)/%.o: tests/sim/runtime/%.c $(FLAGS_FILE)
	@mkdir -p $$(@D)
	$$(CC) $$(CPPFLAGS) $$(CFLAGS) $(SIM_CFLAGS) -DSIM_CUDART=$(1) -c -o $$@ $$<
endef
$(foreach v,$(SIM_CUDARTS),$(eval $(call sim_runtime_rules,$(v))))

# $(1): list, $(2): file name, $(3): major version, $(4): versioned?
define sim_numb_rules
$(SIM_OUT)/numb/$(2): $(patsubst tests/sim/numb/%.c,$(SIM_OBJ)/numb$(3)/%.o,$(wildcard tests/sim/numb/$(1).c \
    tests/sim/numb/$(1)_*.c) tests/sim/numb/numb.c) $(SIM_OBJ)/numb$(3)/stubs_$(1).o
	@mkdir -p $$(@D)
	$(if $(4),@echo '$(2) { global: *; };' >$(SIM_OBJ)/numb$(3)/$(1).map)
	$$(CC) -shared $$(CFLAGS) $$(LDFLAGS) $(SIM_LDFLAGS) -Wl,-soname,$(2) \
	    $(if $(4),-Wl$(comma)--version-script=$(SIM_OBJ)/numb$(3)/$(1).map) -o $$@ $$(filter %.o,$$^) -ldl -lpthread

$(SIM_OBJ)/numb$(3)/stubs_$(1).o: tests/sim/numb/stubs.c $(FLAGS_FILE)
	@mkdir -p $$(@D)
	$$(CC) $$(CPPFLAGS) $$(CFLAGS) $(SIM_CFLAGS) -fvisibility=hidden \
	    -DNUMB_NAMES='"tests/sim/numb/names/$(1).def"' -c -o $$@ $$<
endef
$(foreach n,$(SIM_NUMB),$(eval $(call sim_numb_rules,$(word 1,$(subst :, ,$(n))),$(word 2,$(subst :, \
    ,$(n))),$(word 3,$(subst :, ,$(n))),$(word 4,$(subst :, ,$(n))))))

define sim_numb_objects
$(SIM_OBJ)/numb$(1)/%.o: tests/sim/numb/%.c $(FLAGS_FILE)
	@mkdir -p $$(@D)
	$$(CC) $$(CPPFLAGS) $$(CFLAGS) $(SIM_CFLAGS) -fvisibility=hidden -DNUMB_MAJOR=$(1) -c -o $$@ $$<
endef
$(foreach v,$(SIM_CUDARTS),$(eval $(call sim_numb_objects,$(v))))

$(SIM_OUT)/numb/libsimload.so: tests/sim/numb/load.c $(FLAGS_FILE)
	@mkdir -p $(@D)
	$(CC) -shared $(CPPFLAGS) $(CFLAGS) $(filter-out -MMD -MP,$(SIM_CFLAGS)) -O2 -fvisibility=hidden $(LDFLAGS) \
	    $(filter-out -Wl$(comma)-Bsymbolic,$(SIM_LDFLAGS)) -Wl,-soname,libsimload.so -o $@ $< -ldl

-include $(wildcard $(SIM_OBJ)/*/*.d)

# The tests of the simulated GPU are its clients: linked with the driver, and with nothing of the tracer.
$(BUILD)/tests/unit/sim/%: tests/unit/sim/%.c tests/unit/sim/sim_test.h $(SIM_LIBS)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -std=gnu17 -D_GNU_SOURCE $(WARNINGS) -I. -Iinclude \
	    -DVT_BUILD_DIR='"$(abspath $(BUILD))"' $(LDFLAGS) -o $@ $< -L$(SIM_OUT) -l:libcuda.so.1 \
	    -Wl,-rpath,$(abspath $(SIM_OUT)) -lcmocka -ldl -lpthread
