/* SPDX-License-Identifier: MIT */
/*
 * The simulated NVML, libnvidia-ml.so.1, for `vramtrace run --sim`: vramtrace's own sampler asks it,
 * and so do traced programs (PyTorch, pynvml), into which it is preloaded. It describes the GPUs that
 * the simulated driver's variables request, and sums up what their processes report
 * (tests/sim/share.h). It has what those programs call.
 *
 * VRAMTRACE_SIM_NVML=foreign: processes have other pids, as seen from inside a container.
 * VRAMTRACE_SIM_NVML=hung: the query for a GPU's processes never returns.
 */
#include "tests/sim/share.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
};
enum { FOREIGN = 1 << 22 };

struct memory {
    unsigned long long total, free, used;
};
struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
struct process {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpu_instance, compute_instance;
};
struct process_v1 {
    unsigned pid;
    unsigned long long bytes;
};
struct pci {
    char legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char text[32];
};
struct utilization {
    unsigned gpu, memory;
};

/* A device's handle points to its place here. */
static char handles[SIM_SHARE_GPUS];
static unsigned device_count;
static unsigned long long device_bytes;
static const struct sim_share *share;

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, char **device);
int nvmlDeviceGetUUID(const char *device, char *text, unsigned length);
int nvmlDeviceGetName(const char *device, char *text, unsigned length);
int nvmlDeviceGetMemoryInfo(const char *device, struct memory *memory);
int nvmlDeviceGetMemoryInfo_v2(const char *device, struct memory_v2 *memory);
int nvmlDeviceGetComputeRunningProcesses_v3(const char *device, unsigned *count,
                                            struct process *processes);
const char *nvmlErrorString(int result);
int nvmlInit(void);
int nvmlInitWithFlags(unsigned flags);
int nvmlDeviceGetCount(unsigned *count);
int nvmlDeviceGetHandleByIndex(unsigned index, char **device);
int nvmlDeviceGetHandleByUUID(const char *text, char **device);
int nvmlDeviceGetHandleByPciBusId(const char *text, char **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *text, char **device);
int nvmlDeviceGetIndex(const char *device, unsigned *index);
int nvmlDeviceGetMinorNumber(const char *device, unsigned *number);
int nvmlDeviceGetPciInfo_v3(const char *device, struct pci *pci);
int nvmlDeviceGetCudaComputeCapability(const char *device, int *major, int *minor);
int nvmlDeviceGetUtilizationRates(const char *device, struct utilization *rates);
int nvmlDeviceGetTemperature(const char *device, int sensor, unsigned *degrees);
int nvmlDeviceGetPowerUsage(const char *device, unsigned *milliwatts);
int nvmlDeviceGetClockInfo(const char *device, int which, unsigned *megahertz);
int nvmlDeviceGetComputeRunningProcesses(const char *device, unsigned *count,
                                         struct process_v1 *processes);
int nvmlDeviceGetComputeRunningProcesses_v2(const char *device, unsigned *count,
                                            struct process *processes);
int nvmlDeviceGetP2PStatus(const char *device, const char *other, int which, int *status);
int nvmlDeviceGetNvLinkState(const char *device, unsigned link, int *on);
int nvmlDeviceGetNvLinkRemoteDeviceType(const char *device, unsigned link, int *type);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(const char *device, unsigned link, struct pci *pci);
int nvmlDeviceGetGpuFabricInfoV(const char *device, void *info);
int nvmlSystemGetCudaDriverVersion(int *version);
int nvmlSystemGetCudaDriverVersion_v2(int *version);
int nvmlSystemGetDriverVersion(char *text, unsigned length);
int nvmlSystemGetNVMLVersion(char *text, unsigned length);

/* "24G": as the driver reads it, who complains where it is wrong. */
static unsigned long long size_of(const char *text, unsigned long long fallback) {
    char *end;
    double value = text != NULL ? strtod(text, &end) : 0;
    const char *units = "KMGT", *unit;
    if (!(value > 0))
        return fallback;
    unit = *end != '\0' ? strchr(units, *end & ~0x20) : NULL;
    for (long i = unit != NULL ? unit - units : -1; i >= 0; i--)
        value *= 1024;
    return (unsigned long long)value;
}

static void open_share(void) {
    const char *path = getenv("VRAMTRACE_SIM_SHARE");
    struct stat st;
    int fd = path != NULL && *path != '\0' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    /* it is empty until the first process comes */
    if (fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof *share) {
        void *map = mmap(NULL, sizeof *share, PROT_READ, MAP_SHARED, fd, 0);
        share = map == MAP_FAILED ? NULL : map;
    }
    close(fd);
}

int nvmlInit_v2(void) {
    const char *devices = getenv("VRAMTRACE_SIM_DEVICES");
    char *end;
    long count = devices != NULL && *devices != '\0' ? strtol(devices, &end, 10) : 1;
    device_count = count >= 0 && count <= SIM_SHARE_GPUS ? (unsigned)count : 1;
    device_bytes = size_of(getenv("VRAMTRACE_SIM_MEMORY"), 24ull << 30);
    return SUCCESS;
}

int nvmlShutdown(void) {
    return SUCCESS;
}

const char *nvmlErrorString(int result) {
    return result == SUCCESS ? "Success" : "simulated error";
}

int nvmlDeviceGetCount_v2(unsigned *count) {
    *count = device_count;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, char **device) {
    if (index >= device_count)
        return INVALID_ARGUMENT;
    *device = &handles[index];
    return SUCCESS;
}

static unsigned number_of(const char *device) {
    return (unsigned)(device - handles);
}

int nvmlDeviceGetUUID(const char *device, char *text, unsigned length) {
    char uuid[64];
    snprintf(uuid, sizeof uuid, "GPU-7673696d-0000-4000-8000-%012x", number_of(device) + 1);
    if (length <= strlen(uuid))
        return INSUFFICIENT_SIZE;
    strcpy(text, uuid);
    return SUCCESS;
}

int nvmlDeviceGetName(const char *device, char *text, unsigned length) {
    const char *name = getenv("VRAMTRACE_SIM_NAME");
    (void)device;
    snprintf(text, length, "%s", name != NULL && *name != '\0' ? name : "vramtrace simulated GPU");
    return SUCCESS;
}

/* The memory of the slot's process; false: none, or on another GPU. */
static int is_on(const struct sim_share_slot *slot, unsigned gpu, struct process *process) {
    int32_t pid = __atomic_load_n(&slot->pid, __ATOMIC_ACQUIRE);
    const char *how = getenv("VRAMTRACE_SIM_NVML");
    unsigned shift = how != NULL && strcmp(how, "foreign") == 0 ? FOREIGN : 0;
    if (pid == 0 || (__atomic_load_n(&slot->context, __ATOMIC_ACQUIRE) >> gpu & 1) == 0 ||
        (kill(pid, 0) != 0 && errno == ESRCH))
        return 0;
    *process = (struct process){.pid = (unsigned)pid + shift,
                                .bytes = __atomic_load_n(&slot->used[gpu], __ATOMIC_RELAXED)};
    return 1;
}

static struct memory memory_of(const char *device) {
    unsigned gpu = number_of(device);
    struct process process;
    struct memory memory = {.total = device_bytes};
    if (share == NULL)
        open_share();
    if (share != NULL && share->total[gpu] != 0)
        memory.total = share->total[gpu];
    for (int i = 0; share != NULL && i < SIM_SHARE_SLOTS; i++)
        if (is_on(&share->slots[i], gpu, &process))
            memory.used += process.bytes;
    /* simulated processes do not share a device's room */
    if (memory.used > memory.total)
        memory.used = memory.total;
    memory.free = memory.total - memory.used;
    return memory;
}

int nvmlDeviceGetMemoryInfo(const char *device, struct memory *memory) {
    *memory = memory_of(device);
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo_v2(const char *device, struct memory_v2 *memory) {
    struct memory m = memory_of(device);
    if (memory->version != (sizeof *memory | 2u << 24))
        return INVALID_ARGUMENT;
    memory->total = m.total;
    memory->reserved = 0;
    memory->free = m.free;
    memory->used = m.used;
    return SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v3(const char *device, unsigned *count,
                                            struct process *processes) {
    unsigned room = *count, found = 0;
    struct process process;
    const char *how = getenv("VRAMTRACE_SIM_NVML");
    while (how != NULL && strcmp(how, "hung") == 0)
        pause();
    if (share == NULL)
        open_share();
    for (int i = 0; share != NULL && i < SIM_SHARE_SLOTS; i++) {
        if (!is_on(&share->slots[i], number_of(device), &process))
            continue;
        if (found < room)
            processes[found] = process;
        found++;
    }
    *count = found;
    return found > room ? INSUFFICIENT_SIZE : SUCCESS;
}

/* ---- what other programs ask for ---- */

int nvmlInit(void) {
    return nvmlInit_v2();
}

int nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    return nvmlInit_v2();
}

int nvmlDeviceGetCount(unsigned *count) {
    return nvmlDeviceGetCount_v2(count);
}

int nvmlDeviceGetHandleByIndex(unsigned index, char **device) {
    return nvmlDeviceGetHandleByIndex_v2(index, device);
}

int nvmlDeviceGetHandleByUUID(const char *text, char **device) {
    char uuid[64];
    for (unsigned i = 0; i < device_count; i++)
        if (nvmlDeviceGetUUID(&handles[i], uuid, sizeof uuid) == SUCCESS && strcmp(text, uuid) == 0)
            return nvmlDeviceGetHandleByIndex_v2(i, device);
    return NOT_FOUND;
}

/* The driver's buses: 1 for GPU 0, and so on, in domain 0. */
int nvmlDeviceGetHandleByPciBusId_v2(const char *text, char **device) {
    unsigned domain, bus, place;
    if (sscanf(text, "%x:%x:%x", &domain, &bus, &place) != 3 || domain != 0 || place != 0 ||
        bus == 0 || bus > device_count)
        return NOT_FOUND;
    return nvmlDeviceGetHandleByIndex_v2(bus - 1, device);
}

int nvmlDeviceGetHandleByPciBusId(const char *text, char **device) {
    return nvmlDeviceGetHandleByPciBusId_v2(text, device);
}

int nvmlDeviceGetIndex(const char *device, unsigned *index) {
    *index = number_of(device);
    return SUCCESS;
}

int nvmlDeviceGetMinorNumber(const char *device, unsigned *number) {
    return nvmlDeviceGetIndex(device, number);
}

int nvmlDeviceGetPciInfo_v3(const char *device, struct pci *pci) {
    *pci = (struct pci){.bus = number_of(device) + 1};
    snprintf(pci->legacy, sizeof pci->legacy, "0000:%02X:00.0", pci->bus);
    snprintf(pci->text, sizeof pci->text, "00000000:%02X:00.0", pci->bus);
    return SUCCESS;
}

int nvmlDeviceGetCudaComputeCapability(const char *device, int *major, int *minor) {
    (void)device;
    *major = 8;
    *minor = 0;
    return SUCCESS;
}

int nvmlDeviceGetUtilizationRates(const char *device, struct utilization *rates) {
    (void)device;
    *rates = (struct utilization){0};
    return SUCCESS;
}

int nvmlDeviceGetTemperature(const char *device, int sensor, unsigned *degrees) {
    (void)device, (void)sensor;
    *degrees = 30;
    return SUCCESS;
}

int nvmlDeviceGetPowerUsage(const char *device, unsigned *milliwatts) {
    (void)device;
    *milliwatts = 50000;
    return SUCCESS;
}

int nvmlDeviceGetClockInfo(const char *device, int which, unsigned *megahertz) {
    (void)device, (void)which;
    *megahertz = 1000;
    return SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v2(const char *device, unsigned *count,
                                            struct process *processes) {
    return nvmlDeviceGetComputeRunningProcesses_v3(device, count, processes);
}

int nvmlDeviceGetComputeRunningProcesses(const char *device, unsigned *count,
                                         struct process_v1 *processes) {
    struct process found[SIM_SHARE_SLOTS];
    unsigned room = *count, all = SIM_SHARE_SLOTS;
    nvmlDeviceGetComputeRunningProcesses_v3(device, &all, found);
    for (unsigned i = 0; i < all && i < room; i++)
        processes[i] = (struct process_v1){found[i].pid, found[i].bytes};
    *count = all;
    return all > room ? INSUFFICIENT_SIZE : SUCCESS;
}

/* All reach each other over the bus, none over NVLink, and there is no fabric. */
int nvmlDeviceGetP2PStatus(const char *device, const char *other, int which, int *status) {
    (void)device, (void)other, (void)which;
    *status = 0;
    return SUCCESS;
}

int nvmlDeviceGetNvLinkState(const char *device, unsigned link, int *on) {
    (void)device, (void)link;
    *on = 0;
    return SUCCESS;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(const char *device, unsigned link, int *type) {
    (void)device, (void)link, (void)type;
    return NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(const char *device, unsigned link, struct pci *pci) {
    (void)device, (void)link, (void)pci;
    return NOT_SUPPORTED;
}

int nvmlDeviceGetGpuFabricInfoV(const char *device, void *info) {
    (void)device, (void)info;
    return NOT_SUPPORTED;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version) {
    *version = 13000;
    return SUCCESS;
}

int nvmlSystemGetCudaDriverVersion(int *version) {
    return nvmlSystemGetCudaDriverVersion_v2(version);
}

static int answer(char *text, unsigned length, const char *value) {
    if (length <= strlen(value))
        return INSUFFICIENT_SIZE;
    strcpy(text, value);
    return SUCCESS;
}

int nvmlSystemGetDriverVersion(char *text, unsigned length) {
    return answer(text, length, "580.0.0");
}

int nvmlSystemGetNVMLVersion(char *text, unsigned length) {
    return answer(text, length, "13.580.0");
}
