/* SPDX-License-Identifier: MIT */
/*
 * Reports this process's memory to the simulated NVML (see tests/sim/share.h), if
 * VRAMTRACE_SIM_SHARE is set. Called with the driver's lock held, by cuInit and when a device's
 * bytes change. Also tells `vramtrace run` which library needs a real driver: its path stands in a
 * file beside that one, VRAMTRACE_SIM_SHARE.refused.
 */
#include "tests/sim/share.h"
#include "driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct sim_share_slot *slot;

/* A slot for this process: its own from before an exec, a free one, a dead one's. */
static struct sim_share_slot *claim(struct sim_share *share) {
    int32_t own = (int32_t)getpid();
    for (int i = 0; i < SIM_SHARE_SLOTS; i++)
        if (__atomic_load_n(&share->slots[i].pid, __ATOMIC_RELAXED) == own)
            return &share->slots[i];
    for (int i = 0; i < SIM_SHARE_SLOTS; i++) {
        int32_t pid = __atomic_load_n(&share->slots[i].pid, __ATOMIC_RELAXED);
        bool idle = pid == 0 || (kill(pid, 0) != 0 && errno == ESRCH);
        if (idle && __atomic_compare_exchange_n(&share->slots[i].pid, &pid, own, false,
                                                __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return &share->slots[i];
    }
    return NULL;
}

bool sim_file_grow(int fd, uint64_t bytes) {
    struct rlimit limit;
    return (getrlimit(RLIMIT_FSIZE, &limit) != 0 || bytes <= limit.rlim_cur) &&
           ftruncate(fd, (off_t)bytes) == 0;
}

void sim_share_open(void) {
    const char *path = getenv("VRAMTRACE_SIM_SHARE");
    struct stat st;
    if (path == NULL || *path == '\0')
        return;
    int saved = errno, fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    struct sim_share *share = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 &&
        (st.st_size >= (off_t)sizeof *share || sim_file_grow(fd, sizeof *share)))
        share = mmap(NULL, sizeof *share, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (share != MAP_FAILED)
        slot = claim(share);
    for (int i = 0; slot != NULL && i < SIM_SHARE_GPUS; i++)
        __atomic_store_n(&slot->used[i], 0, __ATOMIC_RELAXED);
    if (slot != NULL)
        __atomic_store_n(&slot->context, 0, __ATOMIC_RELAXED);
    for (int i = 0; slot != NULL && i < sim.device_count; i++)
        __atomic_store_n(&share->total[sim.devices[i].physical], sim.devices[i].total,
                         __ATOMIC_RELAXED);
    errno = saved;
}

void sim_share_tell(const struct sim_device *device) {
    if (slot == NULL)
        return;
    __atomic_store_n(&slot->used[device->physical], device->used, __ATOMIC_RELAXED);
    __atomic_fetch_or(&slot->context, 1ull << device->physical, __ATOMIC_RELEASE);
}

/* The first library of the run that asked, whichever process it is in. */
void sim_share_refuse(const void *caller) {
    const char *path = getenv("VRAMTRACE_SIM_SHARE");
    char file[PATH_MAX];
    Dl_info info;
    if (path == NULL || *path == '\0' || dladdr(caller, &info) == 0 || info.dli_fname == NULL ||
        snprintf(file, sizeof file, "%s.refused", path) >= (int)sizeof file)
        return;
    int saved = errno, fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) {
        ssize_t written = write(fd, info.dli_fname, strlen(info.dli_fname));
        (void)written;
        close(fd);
    }
    errno = saved;
}
