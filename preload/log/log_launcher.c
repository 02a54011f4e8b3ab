/* SPDX-License-Identifier: MIT */
/*
 * Reads the process's rank and launch from the launcher's environment variables. Called by log_name.c and log_header.c
 * at the first record, and by log_chunks.c at the end, because some launchers set the rank within the process
 * (torch.multiprocessing, Ray Train).
 */
#define _GNU_SOURCE
#include "log_file.h"
#include "base/base.h"

#include <string.h>
#include <sys/utsname.h>

/* Slurm numbers its own steps (the shell of salloc, the batch script, ...) downwards from the largest number. They are
 * not ranks, although SLURM_PROCID is 0 in them. */
#define SLURM_OWN_STEPS 4294967280u

static bool is_in_step(void);
static bool is_on_first_node(void);

/* The variables of each launcher, the innermost launcher first: torchrun may be started by mpirun, which may be started
 * by srun. `counts`: whether the variable is a rank; NULL: it always is. */
static const struct {
    const char *rank, *local, *size;
    bool (*counts)(void);
} launchers[] = {
    {"RANK", "LOCAL_RANK", "WORLD_SIZE", NULL}, /* torchrun, accelerate, DeepSpeed, Ray Train */
    {"LOCAL_RANK", "LOCAL_RANK", "WORLD_SIZE", is_on_first_node}, /* Lightning's own launcher */
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", NULL},
    {"HOROVOD_RANK", "HOROVOD_LOCAL_RANK", "HOROVOD_SIZE", NULL},
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_SIZE",
     NULL}, /* LSF's jsrun */
    {"PMIX_RANK", NULL, NULL, NULL},
    {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", NULL}, /* MPICH, Intel MPI */
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE", NULL},
    {"PALS_RANKID", "PALS_LOCAL_RANKID", NULL, NULL},
    {"FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID", "FLUX_JOB_SIZE", NULL},
    {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS", is_in_step},
};
#define LAUNCHERS (sizeof launchers / sizeof launchers[0])
#define TORCH     2 /* number of launchers that are for torch.distributed */

/* Digits only. -1: not set, or not such a number. */
static int64_t number(const char *name) {
    const char *s = name ? vt_settings_env(name) : NULL;
    int64_t n = 0;
    if (!s || !*s)
        return -1;
    for (; *s; s++)
        if (*s < '0' || *s > '9' || (n = n * 10 + (*s - '0')) > UINT32_MAX)
            return -1;
    return n;
}

static int32_t small(int64_t n) {
    return n > INT32_MAX ? -1 : (int32_t)n;
}

static bool is_in_step(void) {
    int64_t step = number("SLURM_STEP_ID");
    return step >= 0 && step < SLURM_OWN_STEPS;
}

/* Lightning sets no global rank. On the first node, the local rank is the global one; on later nodes, the number of
 * ranks before them is unknown. */
static bool is_on_first_node(void) {
    return number("NODE_RANK") == 0;
}

/* The index of the launcher that sets a rank, or LAUNCHERS. */
static size_t find_launcher(void) {
    size_t i = 0;
    while (i < LAUNCHERS && (small(number(launchers[i].rank)) < 0 ||
                             (launchers[i].counts && !launchers[i].counts())))
        i++;
    return i;
}

int32_t vt_log_launcher_rank(void) {
    size_t i = find_launcher();
    return i < LAUNCHERS ? small(number(launchers[i].rank)) : -1;
}

static const char *first_set(const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *v = vt_settings_env(names[i]);
        if (v && *v && strcmp(v, "none") != 0) /* torchrun's id if the user gives none */
            return v;
    }
    return NULL;
}

const char *vt_log_launcher_job(void) {
    static const char *const names[] = {"SLURM_JOB_ID", "TORCHELASTIC_RUN_ID", "PBS_JOBID",
                                        "LSB_JOBID",    "FLUX_JOB_ID",         "JOB_ID"};
    return first_set(names, sizeof names / sizeof names[0]);
}

/* `mark` separates the existing text from `more`. */
static void add(char *text, size_t size, const char *mark, const char *more) {
    size_t used = strlen(text), n = more ? strnlen(more, size) : 0;
    size_t marked = used ? strlen(mark) : 0;
    if (!n || used + marked + n >= size)
        return;
    memcpy(text + used, mark, marked);
    memcpy(text + used + marked, more, n);
    text[used + marked + n] = 0;
}

/* For torchrun without an id: all its ranks have the same master address. */
static void add_meeting(char *text, size_t size) {
    const char *address = vt_settings_env("MASTER_ADDR");
    struct utsname host;
    if (!address || !*address)
        return;
    add(text, size, "@", address);
    add(text, size, ":", vt_settings_env("MASTER_PORT"));
    if ((!strncmp(address, "127.", 4) || !strcmp(address, "localhost") ||
         !strcmp(address, "::1")) &&
        VT_SYS1(SYS_uname, &host) == 0)
        add(text, size, "/", host.nodename);
}

/* "991204.0": the same in all processes launched together, even on other machines. Only earlier or later processes of
 * the same job can share it. Parts that do not fit are omitted: they only add detail. */
static void put_launch(char *text, size_t size, size_t launcher) {
    static const char *const torch[] = {"TORCHELASTIC_RUN_ID"};
    static const char *const mpi[] = {"PMIX_NAMESPACE", "PALS_APID", "I_MPI_HYDRA_UUID"};
    const char *job = vt_log_launcher_job(), *id = NULL;
    text[0] = 0;
    add(text, size, "", job);
    add(text, size, "/", vt_settings_env("SLURM_RESTART_COUNT")); /* the job was requeued */
    if (launcher < TORCH) {
        id = first_set(torch, 1);
        if (!id)
            add_meeting(text, size);
    } else {
        id = first_set(mpi, sizeof mpi / sizeof mpi[0]);
        if (!id && is_in_step())
            id = vt_settings_env("SLURM_STEP_ID");
    }
    if (id != job)
        add(text, size, ".", id);
}

void vt_log_launcher_fill(struct vt_log_header *h) {
    size_t i = find_launcher();
    int64_t local = -1, size = -1;
    h->rank = vt_log_launcher_rank();
    if (i == LAUNCHERS)
        return;
    for (size_t k = i; k < LAUNCHERS; k++) {
        local = local < 0 ? number(launchers[k].local) : local;
        size = size < 0 ? number(launchers[k].size) : size;
    }
    h->local_rank = small(local) + 1;
    h->world_size = size > 0 ? (uint32_t)size : 0;
    int64_t restart = i == 0 ? number("TORCHELASTIC_RESTART_COUNT") : -1;
    h->restart = restart > 0 ? (uint32_t)restart : 0;
    put_launch(h->launch, sizeof h->launch, i);
}
