/* SPDX-License-Identifier: MIT */
/*
 * NVML (see nvml.h). This file declares the part of the interface that it uses, because most machines have no header to
 * build against.
 */
#define _GNU_SOURCE
#include "nvml.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct device *device_t;

struct memory {
    unsigned long long total, free, used;
};
struct memory_v2 {
    unsigned version; /* size of the struct, and version number */
    unsigned long long total, reserved, free, used;
};
struct process_v2 { /* also v3 */
    unsigned pid;
    unsigned long long bytes; /* UINT64_MAX: not available */
    unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(struct process_v2) == 24, "as NVML has it");
static_assert(sizeof(struct memory_v2) == 40, "as NVML has it");

enum { SUCCESS = 0, INSUFFICIENT_SIZE = 7, MIG_ON = 1 };

typedef int processes_fn(device_t, unsigned *, struct process_v2 *);

struct vt_nvml_library {
    void *handle;
    int (*shut_down)(void);
    int (*memory)(device_t, struct memory *);
    int (*memory_v2)(device_t, struct memory_v2 *);
    processes_fn *lists[3]; /* compute, graphics, multi-process service */
    device_t devices[VT_NVML_GPUS];
};

/* The function `name`, else `older`; NULL: the library has neither. */
static void *find_function(void *handle, const char *name, const char *older) {
    void *function = dlsym(handle, name);
    return function || !older ? function : dlsym(handle, older);
}

/* POSIX, not ISO C, allows a function's address in a data pointer. */
#define FIND(target, ...) ((target) = __extension__(__typeof__(target)) find_function(__VA_ARGS__))

bool vt_nvml_parse_uuid(const char *text, uint8_t uuid[16]) {
    size_t n = 0;
    if (strncasecmp(text, "GPU-", 4))
        return false;
    for (text += 4; *text; text++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = strchr(digits, *text | 0x20);
        if (*text == '-')
            continue;
        if (!digit || n == 32)
            return false;
        uint8_t value = (uint8_t)(digit - digits);
        uuid[n / 2] = n % 2 ? (uint8_t)(uuid[n / 2] << 4 | value) : value;
        n++;
    }
    return n == 32;
}

/* Fills in the fixed fields. False: do not sample this GPU. */
static bool describe(void *handle, device_t device, struct vt_nvml_gpu *gpu) {
    int (*uuid)(device_t, char *, unsigned), (*name)(device_t, char *, unsigned);
    int (*mig)(device_t, unsigned *, unsigned *);
    char text[96] = "";
    unsigned current = 0, pending = 0;
    FIND(uuid, handle, "nvmlDeviceGetUUID", NULL);
    FIND(name, handle, "nvmlDeviceGetName", NULL);
    FIND(mig, handle, "nvmlDeviceGetMigMode", NULL);
    if (mig && mig(device, &current, &pending) == SUCCESS && current == MIG_ON)
        return false;
    if (uuid && uuid(device, gpu->uuid_text, sizeof gpu->uuid_text) == SUCCESS)
        gpu->has_uuid = vt_nvml_parse_uuid(gpu->uuid_text, gpu->uuid);
    if (name && name(device, text, sizeof text) == SUCCESS)
        memcpy(gpu->name, text, sizeof gpu->name - 1);
    return true;
}

static bool read_memory(struct vt_nvml *nvml, uint32_t i) {
    const struct vt_nvml_library *l = nvml->library;
    struct vt_nvml_gpu *gpu = &nvml->gpus[i];
    struct memory_v2 v2 = {.version = sizeof v2 | 2u << 24};
    struct memory v1;
    /* version 2 does not count the driver's own reserve as used */
    if (l->memory_v2 && l->memory_v2(l->devices[i], &v2) == SUCCESS) {
        gpu->total_bytes = v2.total;
        gpu->used_bytes = v2.used;
        gpu->free_bytes = v2.free;
        return true;
    }
    if (!l->memory || l->memory(l->devices[i], &v1) != SUCCESS)
        return false;
    gpu->total_bytes = v1.total;
    gpu->used_bytes = v1.used;
    gpu->free_bytes = v1.free;
    return true;
}

/* A process can be in several lists, with the same figure. */
static void add_process(struct vt_nvml_gpu *gpu, pid_t pid, uint64_t bytes) {
    struct vt_nvml_process *p = gpu->processes;
    size_t i = 0;
    while (i < gpu->process_count && p[i].pid != pid)
        i++;
    if (i == gpu->process_count) {
        VT_GROW(gpu->processes, gpu->process_count, gpu->process_room);
        gpu->processes[gpu->process_count++] = (struct vt_nvml_process){pid, bytes};
    } else if (p[i].bytes == UINT64_MAX || (bytes != UINT64_MAX && bytes > p[i].bytes)) {
        p[i].bytes = bytes;
    }
}

static bool read_list(processes_fn *list, device_t device, struct vt_nvml_gpu *gpu) {
    unsigned room = 64;
    VT_SCOPED struct process_v2 *entries = NULL;
    int result = INSUFFICIENT_SIZE;
    /* the list can grow between two calls */
    for (int tries = 0; tries < 5 && result == INSUFFICIENT_SIZE; tries++) {
        unsigned count = room;
        entries = vt_realloc(entries, room, sizeof *entries);
        result = list(device, &count, entries);
        if (result == SUCCESS)
            room = count < room ? count : room;
        else if (result == INSUFFICIENT_SIZE)
            room = (count > room && count < 100000 ? count : room) + 64;
    }
    for (unsigned i = 0; result == SUCCESS && i < room; i++)
        add_process(gpu, (pid_t)entries[i].pid, entries[i].bytes);
    return result == SUCCESS;
}

bool vt_nvml_read(struct vt_nvml *nvml, uint32_t i) {
    const struct vt_nvml_library *l = nvml->library;
    struct vt_nvml_gpu *gpu = &nvml->gpus[i];
    gpu->process_count = 0;
    gpu->listed = l->lists[0] && read_list(l->lists[0], l->devices[i], gpu);
    for (int k = 1; k < 3 && gpu->listed; k++)
        if (l->lists[k])
            read_list(l->lists[k], l->devices[i], gpu);
    return read_memory(nvml, i);
}

bool vt_nvml_open(const char *path, struct vt_nvml *nvml) {
    int (*start)(void), (*get_count)(unsigned *), (*get_device)(unsigned, device_t *);
    unsigned count = 0;
    *nvml = (struct vt_nvml){0};
    void *handle = dlopen(path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return false;
    FIND(start, handle, "nvmlInit_v2", NULL);
    FIND(get_count, handle, "nvmlDeviceGetCount_v2", NULL);
    FIND(get_device, handle, "nvmlDeviceGetHandleByIndex_v2", NULL);
    if (!start || !get_count || !get_device || start() != SUCCESS) {
        dlclose(handle);
        return false;
    }
    struct vt_nvml_library *l = nvml->library = vt_alloc(1, sizeof *l);
    l->handle = handle;
    FIND(l->shut_down, handle, "nvmlShutdown", NULL);
    FIND(l->memory, handle, "nvmlDeviceGetMemoryInfo", NULL);
    FIND(l->memory_v2, handle, "nvmlDeviceGetMemoryInfo_v2", NULL);
    FIND(l->lists[0], handle, "nvmlDeviceGetComputeRunningProcesses_v3",
         "nvmlDeviceGetComputeRunningProcesses_v2");
    FIND(l->lists[1], handle, "nvmlDeviceGetGraphicsRunningProcesses_v3",
         "nvmlDeviceGetGraphicsRunningProcesses_v2");
    FIND(l->lists[2], handle, "nvmlDeviceGetMPSComputeRunningProcesses_v3",
         "nvmlDeviceGetMPSComputeRunningProcesses_v2");
    if (get_count(&count) != SUCCESS)
        count = 0;
    for (unsigned i = 0; i < count && nvml->count < VT_NVML_GPUS; i++) {
        struct vt_nvml_gpu *gpu = &nvml->gpus[nvml->count];
        *gpu = (struct vt_nvml_gpu){.number = i};
        if (get_device(i, &l->devices[nvml->count]) == SUCCESS &&
            describe(handle, l->devices[nvml->count], gpu) && read_memory(nvml, nvml->count))
            nvml->count++;
    }
    if (nvml->count)
        return true;
    vt_nvml_close(nvml);
    return false;
}

void vt_nvml_close(struct vt_nvml *nvml) {
    for (uint32_t i = 0; i < nvml->count; i++)
        free(nvml->gpus[i].processes);
    if (nvml->library) {
        if (nvml->library->shut_down)
            nvml->library->shut_down();
        dlclose(nvml->library->handle);
        free(nvml->library);
    }
    *nvml = (struct vt_nvml){0};
}

/* --- ordinals --- */

/* The GPU that a UUID's prefix such as "GPU-7673" names, if it fits only one. */
static uint32_t gpu_named(const struct vt_nvml *nvml, const char *word, size_t length) {
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < nvml->count; i++) {
        const struct vt_nvml_gpu *gpu = &nvml->gpus[i];
        if (!gpu->has_uuid || strncasecmp(gpu->uuid_text, word, length) != 0)
            continue;
        if (found != UINT32_MAX)
            return UINT32_MAX;
        found = i;
    }
    return found;
}

static bool are_alike(const struct vt_nvml *nvml) {
    for (uint32_t i = 1; i < nvml->count; i++)
        if (strcmp(nvml->gpus[i].name, nvml->gpus[0].name))
            return false;
    return true;
}

static void forget_ordinals(uint32_t ordinals[VT_NVML_GPUS]) {
    for (uint32_t i = 0; i < VT_NVML_GPUS; i++)
        ordinals[i] = UINT32_MAX;
}

void vt_nvml_ordinals(const struct vt_nvml *nvml, const char *environment, size_t length,
                      uint32_t ordinals[VT_NVML_GPUS]) {
    const char *list = vt_file_variable(environment, length, "CUDA_VISIBLE_DEVICES");
    const char *order = vt_file_variable(environment, length, "CUDA_DEVICE_ORDER");
    /* By default CUDA puts the fastest GPU first; GPUs of one model are in bus order. Numbers include GPUs that are
     * left out (MIG). */
    bool by_number = (order && !strcmp(order, "PCI_BUS_ID")) || are_alike(nvml);
    uint32_t next = 0, last = nvml->count ? nvml->gpus[nvml->count - 1].number : 0;
    forget_ordinals(ordinals);
    for (uint32_t i = 0; !list && by_number && i < nvml->count; i++)
        ordinals[i] = nvml->gpus[i].number;
    while (list && *list) {
        char *end;
        list += strspn(list, " \t");
        size_t word = strcspn(list, ",");
        uint32_t found = UINT32_MAX;
        if (!strncasecmp(list, "GPU-", 4)) {
            found = gpu_named(nvml, list, word);
            if (found == UINT32_MAX)
                return;
        } else {
            long number = strtol(list, &end, 10);
            if (end == list || end > list + word || number < 0 || number > (long)last)
                return; /* the driver also stops here */
            for (uint32_t i = 0; by_number && i < nvml->count; i++)
                if (nvml->gpus[i].number == (uint32_t)number)
                    found = i;
        }
        if (found != UINT32_MAX && ordinals[found] != UINT32_MAX) {
            /* if there is a duplicate, the process sees no GPU */
            forget_ordinals(ordinals);
            return;
        }
        if (found != UINT32_MAX)
            ordinals[found] = next;
        next++;
        list += word + (list[word] == ',');
    }
}
