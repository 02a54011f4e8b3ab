/* SPDX-License-Identifier: MIT */
/*
 * The simulated driver's state: its lock, cuInit, the devices that the environment requests, the
 * rule for forks, and the functions of sim.h. Every exported function calls sim_enter.
 */
#include "driver.h"
#include "journal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct sim_state sim;
const int vramtrace_sim_driver = 1;

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static FILE *log_file;

/* ---- log ---- */

void sim_log(const char *format, ...) {
    static bool opened;
    pthread_mutex_lock(&lock);
    if (!opened) {
        const char *path = getenv("VRAMTRACE_SIM_LOG");
        opened = true;
        if (path != NULL && *path != '\0') {
            log_file = strcmp(path, "stderr") == 0 ? stderr : fopen(path, "ae");
            if (log_file == NULL)
                fprintf(stderr, "vramtrace sim: VRAMTRACE_SIM_LOG=%s: cannot write there\n", path);
        }
    }
    if (log_file != NULL) {
        va_list args;
        va_start(args, format);
        vfprintf(log_file, format, args);
        va_end(args);
        fflush(log_file);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- environment ---- */

/* Bytes, or a number with K, M, G or T (also KiB, …), all 1024-based; 0 and *ok false otherwise. */
size_t sim_parse_size(const char *text, size_t fallback, bool *ok) {
    char *end;
    double value = strtod(text, &end);
    *ok = false;
    if (end == text || !(value > 0))
        return fallback;
    const char *units = "KMGT", *unit = *end != '\0' ? strchr(units, *end & ~0x20) : NULL;
    if (unit != NULL) {
        for (int i = 0; i <= unit - units; i++)
            value *= 1024;
        end++;
        if (strcasecmp(end, "ib") == 0)
            end += 2;
    }
    if (*end != '\0' && strcasecmp(end, "b") != 0)
        return fallback;
    if (value >= 0x1p46)
        return fallback;
    *ok = true;
    return (size_t)value;
}

static size_t size_variable(const char *name, size_t fallback, const char *shown) {
    const char *text = getenv(name);
    bool ok;
    if (text == NULL || *text == '\0')
        return fallback;
    size_t size = sim_parse_size(text, fallback, &ok);
    if (!ok)
        fprintf(
            stderr,
            "vramtrace sim: %s=%s: expected a size below 64T (bytes, or 512M, 1.5G); using %s\n",
            name, text, shown);
    return size;
}

static int count_variable(const char *name, int fallback, int most) {
    const char *text = getenv(name);
    if (text == NULL || *text == '\0')
        return fallback;
    char *end;
    long value = strtol(text, &end, 10);
    if (*end != '\0' || value < 0 || value > most) {
        fprintf(stderr, "vramtrace sim: %s=%s: expected a number from 0 to %d; using %d\n", name,
                text, most, fallback);
        return fallback;
    }
    return (int)value;
}

/* The name by which CUDA_VISIBLE_DEVICES may call a device: its UUID as nvidia-smi shows it. */
static void uuid_text(int physical, char text[64]) {
    snprintf(text, 64, "GPU-7673696d-0000-4000-8000-%012x", physical + 1);
}

static int physical_named(const char *word, size_t length, int count) {
    char *end;
    if (length > 4 && strncasecmp(word, "GPU-", 4) == 0) {
        int found = -1;
        for (int i = 0; i < count; i++) {
            char text[64];
            uuid_text(i, text);
            if (length <= strlen(text) && strncasecmp(text, word, length) == 0) {
                if (found >= 0)
                    return -1; /* the shortened name fits several */
                found = i;
            }
        }
        return found;
    }
    long value = strtol(word, &end, 10);
    return end != word && (size_t)(end - word) <= length && value >= 0 && value < count ? (int)value
                                                                                        : -1;
}

/* Which physical devices the program may see, in its order: as the real driver, a word that names
 * none ends the list. */
static int visible_devices(int count, int *physical) {
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    int visible = 0;
    if (list == NULL) {
        for (int i = 0; i < count; i++)
            physical[i] = i;
        return count;
    }
    while (*list != '\0' && visible < SIM_MAX_DEVICES) {
        list += strspn(list, " \t");
        size_t length = strcspn(list, ",");
        int found = physical_named(list, length, count);
        if (found < 0)
            break;
        for (int i = 0; i < visible; i++) {
            if (physical[i] == found)
                return 0; /* named twice: the real driver then shows none */
        }
        physical[visible++] = found;
        list += length + (list[length] == ',');
    }
    return visible;
}

/* ---- start and fork ---- */

static void after_fork_in_child(void) {
    sim.forked = sim.initialised;
    pthread_mutex_t fresh = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    lock = fresh; /* whoever held it is not in this process */
}

CUresult cuInit(unsigned int flags) {
    CUresult result = CUDA_SUCCESS;
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    if (sim.forked) {
        result = CUDA_ERROR_NOT_INITIALIZED;
    } else if (!sim.initialised) {
        int physical[SIM_MAX_DEVICES];
        const char *name = getenv("VRAMTRACE_SIM_NAME");
        size_t total = size_variable("VRAMTRACE_SIM_MEMORY", (size_t)24 << 30, "24G");
        size_t other = size_variable("VRAMTRACE_SIM_OTHER", 0, "0");
        int count = count_variable("VRAMTRACE_SIM_DEVICES", 1, SIM_MAX_DEVICES);
        count = visible_devices(count, physical);
        sim.steps = count_variable("VRAMTRACE_SIM_STEPS", 256, 1 << 30);
        sim.context_bytes = size_variable("VRAMTRACE_SIM_CONTEXT", 0, "0");
        snprintf(sim.name, sizeof sim.name, "%s",
                 name != NULL && *name != '\0' ? name : "vramtrace simulated GPU");
        if (count == 0)
            result = CUDA_ERROR_NO_DEVICE;
        for (int i = 0; i < count; i++) {
            struct sim_device *device = &sim.devices[i];
            device->ordinal = i;
            device->physical = physical[i];
            device->total = total;
            device->used = other < total ? other : total;
        }
        if (result == CUDA_SUCCESS) {
            sim.device_count = count;
            sim.initialised = true;
            sim_share_open();
            pthread_atfork(NULL, NULL, after_fork_in_child);
        }
    }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult sim_enter(void) {
    if (!sim.initialised || sim.forked)
        return CUDA_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    return CUDA_SUCCESS;
}

CUresult sim_enter_context(struct sim_context **context) {
    CUresult result = sim_enter();
    if (result != CUDA_SUCCESS)
        return result;
    *context = sim_context_current();
    if (*context == NULL)
        result = CUDA_ERROR_INVALID_CONTEXT;
    else if (!(*context)->live)
        result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (result != CUDA_SUCCESS)
        pthread_mutex_unlock(&lock);
    return result;
}

void sim_leave(const CUresult *entered) {
    if (*entered == CUDA_SUCCESS)
        pthread_mutex_unlock(&lock);
}

void sim_unlock_for_callback(void) {
    pthread_mutex_unlock(&lock);
}

void sim_relock(void) {
    pthread_mutex_lock(&lock);
}

struct sim_device *sim_device_get(CUdevice device) {
    return device >= 0 && device < sim.device_count ? &sim.devices[device] : NULL;
}

/* ---- memory in use ---- */

bool sim_charge(struct sim_device *device, size_t bytes) {
    if (bytes > device->total - device->used)
        return false;
    device->used += bytes;
    sim_share_tell(device);
    return true;
}

void sim_refund(struct sim_device *device, size_t bytes) {
    device->used -= bytes;
    sim_share_tell(device);
}

void sim_count(struct sim_device *device, enum vramtrace_sim_kind kind, int64_t bytes, int count) {
    device->kind_bytes[kind] += (uint64_t)bytes;
    device->kind_count[kind] += (uint64_t)(int64_t)count;
    sim_journal((int)(device - sim.devices), (int)kind, bytes, count);
}

static uint64_t truth(int device, int first, int last, bool count) {
    uint64_t sum = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < sim.device_count; i++) {
        if (device != i && device != -1)
            continue;
        for (int kind = first; kind <= last; kind++)
            sum += count ? sim.devices[i].kind_count[kind] : sim.devices[i].kind_bytes[kind];
    }
    pthread_mutex_unlock(&lock);
    return sum;
}

uint64_t vramtrace_sim_live_bytes(int device) {
    return truth(device, VRAMTRACE_SIM_LINEAR, VRAMTRACE_SIM_GRAPH, false);
}

uint64_t vramtrace_sim_live_count(int device) {
    return truth(device, VRAMTRACE_SIM_LINEAR, VRAMTRACE_SIM_GRAPH, true);
}

uint64_t vramtrace_sim_kind_bytes(int device, enum vramtrace_sim_kind kind) {
    return truth(device, (int)kind, (int)kind, false);
}

uint64_t vramtrace_sim_kind_count(int device, enum vramtrace_sim_kind kind) {
    return truth(device, (int)kind, (int)kind, true);
}
