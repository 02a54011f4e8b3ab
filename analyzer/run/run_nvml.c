/* SPDX-License-Identifier: MIT */
/*
 * The sampler (see run_nvml.h). For each log the sampler writes LOG.nvml (see log_format.h), from the moment the log
 * appears until its process ends. It only reads the logs. It appends complete records, so LOG.nvml can be read even if
 * the sampler is killed. If a record does not fit (a full disk, a file size limit), it stops writing that file.
 */
#define _GNU_SOURCE
#include "run_nvml.h"

#include "logfile/logfile.h"
#include "vramtrace/ticks.h"
#include "nvml.h"
#include "run_places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_LOGS = 400, /* at the same time: each takes two descriptors */
    MOST_GPUS = 16,  /* sampled for a process that NVML does not list, since it may use any GPU */
    SAME_INTERVAL = 128, /* samples until the interval doubles */
    LONGEST_DOUBLED = 8, /* times, up to 256 s */
};
static const unsigned first_ms[] = {50, 50, 150, 250, 500}; /* between samples */
#define FIRST (sizeof first_ms / sizeof *first_ms)

/* A log, and its LOG.nvml. */
struct target {
    int log, fd;
    struct vt_nvml_header header;
    uint32_t bytes; /* written */
    uint32_t ordinals[VT_NVML_GPUS];
    uint64_t next_ns; /* when to sample next */
    unsigned count;
};

struct sampler {
    const char *library; /* of NVML; NULL: the system's */
    bool simulated;
    struct target *targets;
    size_t count, room;
    bool opened;
    struct vt_nvml nvml;
};

struct moment {
    uint64_t tsc, ns;
};

static struct moment now(void) {
    struct moment m = {.ns = vt_now_ns()};
    m.tsc = vt_ticks();
    return m;
}

/* --- the files --- */

/* Appends to the file. False: it is full. */
static bool write_part(struct target *t, const void *bytes, uint32_t size) {
    if (size > VT_NVML_MOST_BYTES - t->bytes || write(t->fd, bytes, size) != (ssize_t)size)
        return false;
    t->bytes += size;
    return true;
}

static bool is_over(const struct target *t) {
    struct vt_log_header header;
    VT_SCOPED_STRING message = {0};
    uint64_t bytes;
    return vt_log_read_header(t->log, "", &header, &bytes, &message) || !vt_log_is_running(&header);
}

static void close_target(struct target *t) {
    vt_file_close_scoped(&t->fd);
    vt_file_close_scoped(&t->log);
}

/* Whether a file has samples: then it belongs to an older, deleted log of the same name. */
static bool is_left_behind(const char *path) {
    char magic[8];
    VT_SCOPED_FD fd = vt_file_open_as(path, O_NOFOLLOW, NULL);
    return fd >= 0 && read(fd, magic, sizeof magic) == (ssize_t)sizeof magic &&
           !memcmp(magic, VT_NVML_MAGIC, sizeof magic);
}

static int open_log(const char *path) {
    VT_SCOPED_RIGHTS rights = vt_rights_lower(path);
    return rights < 0 ? -1 : vt_file_open_as(path, O_NOFOLLOW, NULL);
}

/* Creates the LOG.nvml of a log. -1: failed, or another file has the name. */
static int make_file(const char *log_path) {
    enum { FLAGS = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC };
    VT_SCOPED_RIGHTS rights = vt_rights_lower(log_path);
    if (rights < 0)
        return -1;
    VT_SCOPED char *path = vt_nvml_file_path(log_path);
    int fd = open(path, FLAGS, 0600);
    if (fd < 0 && errno == EEXIST && is_left_behind(path) && !unlink(path))
        fd = open(path, FLAGS, 0600);
    return fd;
}

/* --- the logs --- */

/* Writes a record for every GPU, so that the analyzer can identify it even if the program did not query UUIDs. */
static bool describe(const struct sampler *s, struct target *t) {
    VT_SCOPED_STRING environment; /* as of the process's start */
    vt_file_read_process(t->header.pid, "environ", &environment);
    vt_nvml_ordinals(&s->nvml, environment.text, environment.length, t->ordinals);
    for (uint32_t i = 0; i < s->nvml.count; i++) {
        const struct vt_nvml_gpu *gpu = &s->nvml.gpus[i];
        struct vt_rec_gpu r = {
            .word = vt_word(VT_REC_GPU, 0, 0, sizeof r),
            .number = gpu->number,
            .flags = gpu->has_uuid ? VT_GPU_HAS_UUID : 0,
            .ordinal = t->ordinals[i] < VT_DEVICE_HOST ? t->ordinals[i] : VT_DEVICE_UNKNOWN,
            .total_bytes = gpu->total_bytes,
        };
        memcpy(r.uuid, gpu->uuid, sizeof r.uuid);
        memcpy(r.name, gpu->name, sizeof r.name);
        if (!write_part(t, &r, sizeof r))
            return false;
    }
    return true;
}

/* Makes LOG.nvml for a log, and writes its beginning. False: do not sample the log. */
static bool begin_file(struct sampler *s, const char *path, struct target *t) {
    struct vt_log_header header;
    VT_SCOPED_STRING message = {0};
    uint64_t bytes;
    if (t->log < 0 || s->count == MOST_LOGS ||
        vt_log_read_header(t->log, path, &header, &bytes, &message) ||
        !(header.flags & VT_FLAG_SIMULATED) == s->simulated || !vt_log_is_running(&header))
        return false;
    /* only here, so that a run without CUDA never opens NVML */
    if (!s->opened && !vt_nvml_open(s->library, &s->nvml))
        _exit(0);
    s->opened = true;
    t->fd = make_file(path);
    t->header = vt_nvml_file_header(&header);
    t->next_ns = now().ns + first_ms[0] * 1000000ull;
    return t->fd >= 0 && write_part(t, &t->header, sizeof t->header) && describe(s, t);
}

static void add_log(void *of, const char *path) {
    struct sampler *s = of;
    struct target t = {.log = open_log(path), .fd = -1};
    if (!begin_file(s, path, &t)) {
        close_target(&t);
        return;
    }
    VT_GROW(s->targets, s->count, s->room);
    s->targets[s->count++] = t;
}

/* --- sampling --- */

static uint64_t ticks_of(const struct target *t, struct moment m) {
    uint64_t ticks = t->header.clock == VT_CLOCK_TSC ? m.tsc : m.ns;
    return (ticks > t->header.start_ticks ? ticks - t->header.start_ticks : 1) & VT_TICKS_MASK;
}

/* The process's own bytes on a GPU (VT_SAMPLE_UNKNOWN: not listed), and those of other processes. */
static uint64_t own_bytes(const struct vt_nvml_gpu *gpu, uint32_t pid, uint64_t *others,
                          uint32_t *count) {
    uint64_t own = VT_SAMPLE_UNKNOWN;
    *others = 0;
    *count = 0;
    for (size_t i = 0; i < gpu->process_count; i++) {
        const struct vt_nvml_process *p = &gpu->processes[i];
        if ((uint32_t)p->pid == pid) {
            own = p->bytes;
            continue;
        }
        ++*count;
        *others = *others == VT_SAMPLE_UNKNOWN || p->bytes == UINT64_MAX ? VT_SAMPLE_UNKNOWN
                                                                         : *others + p->bytes;
    }
    /* an unlisted process may be listed under its pid on the host (container) */
    if (own == VT_SAMPLE_UNKNOWN)
        *others = VT_SAMPLE_UNKNOWN;
    return own;
}

static bool is_listed(const struct vt_nvml *nvml, uint32_t pid) {
    uint64_t others;
    uint32_t count;
    for (uint32_t i = 0; i < nvml->count; i++)
        if (own_bytes(&nvml->gpus[i], pid, &others, &count) != VT_SAMPLE_UNKNOWN)
            return true;
    return false;
}

/* NVML's answers of one round. */
struct round {
    bool answered[VT_NVML_GPUS];
    struct moment began[VT_NVML_GPUS], ended[VT_NVML_GPUS];
};

static bool write_samples(const struct sampler *s, struct target *t, const struct round *round) {
    bool listed = is_listed(&s->nvml, t->header.pid);
    for (uint32_t i = 0, written = 0; i < s->nvml.count && written < MOST_GPUS; i++) {
        const struct vt_nvml_gpu *gpu = &s->nvml.gpus[i];
        uint64_t others;
        uint32_t count;
        uint64_t own = own_bytes(gpu, t->header.pid, &others, &count);
        if (!round->answered[i] ||
            (listed ? own == VT_SAMPLE_UNKNOWN : t->ordinals[i] == UINT32_MAX))
            continue;
        struct vt_rec_sample r = {
            .word = vt_word(VT_REC_SAMPLE, 0, 0, 0),
            .when = vt_when(VT_DEVICE_UNKNOWN, ticks_of(t, round->ended[i])),
            .began = ticks_of(t, round->began[i]),
            .used_bytes = gpu->used_bytes,
            .free_bytes = gpu->free_bytes,
            .own_bytes = own,
            .others_bytes = others,
            .gpu = gpu->number,
            .others = count,
        };
        if (!write_part(t, &r, sizeof r))
            return false;
        written++;
    }
    return true;
}

static uint64_t interval_ns(unsigned count) {
    if (count < FIRST)
        return first_ms[count] * 1000000ull;
    unsigned doubled = count / SAME_INTERVAL;
    return 1000000000ull << (doubled < LONGEST_DOUBLED ? doubled : LONGEST_DOUBLED);
}

/* Takes one round of samples, for every log that is due within 0.1 s. */
static void sample(struct sampler *s) {
    static struct round round;
    uint64_t due = now().ns + 100000000u;
    for (uint32_t i = 0; i < s->nvml.count; i++) {
        round.began[i] = now();
        round.answered[i] = vt_nvml_read(&s->nvml, i);
        round.ended[i] = now();
    }
    for (size_t i = 0; i < s->count;) {
        struct target *t = &s->targets[i];
        bool kept = true;
        if (is_over(t)) {
            kept = false;
        } else if (t->next_ns <= due) {
            kept = write_samples(s, t, &round);
            t->next_ns = now().ns + interval_ns(++t->count);
        }
        if (!kept) {
            close_target(t);
            *t = s->targets[--s->count];
            continue;
        }
        i++;
    }
}

static uint64_t work(void *of, uint64_t at) {
    struct sampler *s = of;
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < s->count; i++)
        if (s->targets[i].next_ns < next)
            next = s->targets[i].next_ns;
    if (next <= at)
        sample(s);
    return next;
}

/* --- the process --- */

void vt_run_nvml_start(struct vt_run_beside *nvml, const char *list, const char *sim_folder) {
    const char *given = getenv("VRAMTRACE_TEST_NVML");
    VT_SCOPED_STRING library = {0};
    *nvml = (struct vt_run_beside){0};
    if (given && *given)
        vt_string_add(&library, given);
    else if (sim_folder)
        vt_string_format(&library, "%s/nvml/libnvidia-ml.so.1", sim_folder);
    if (library.text && access(library.text, R_OK))
        return;
    struct sampler sampler = {
        .library = library.text,
        .simulated = sim_folder != NULL,
    };
    static const struct vt_run_care care = {.name = "vramtrace-nvml", .add = add_log, .work = work};
    vt_run_beside_start(nvml, &care, &sampler, list);
}

char *vt_run_nvml_share(void) {
    const char *outer = getenv("VRAMTRACE_SIM_SHARE");
    if (outer && *outer)
        return NULL;
    VT_SCOPED_FD fd = -1;
    char *path = vt_run_places_temporary("vramtrace-sim", "/dev/shm", 01733, "share", &fd);
    if (path)
        setenv("VRAMTRACE_SIM_SHARE", path, 1);
    return path;
}
