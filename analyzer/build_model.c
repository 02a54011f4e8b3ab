/* SPDX-License-Identifier: MIT */
/*
 * Builds the model of one or several logs. Every command that reports begins here.
 */
#include "build.h"

#include "build_process.h"
#include "job/job.h"

#include <stdlib.h>

struct vt_model_memory {
    struct vt_build_names names;
    bool given_symbols; /* owned by the caller */
    struct vt_stacks **stacks;
    struct vt_owner_names **owners; /* one per process, parallel to `stacks` */
    struct vt_symbols **packed;     /* likewise; NULL if the model's are used */
    /* For a model with `apart`: */
    struct vt_model_logs apart;
    struct vt_model_options options; /* with the model's own symbols */
    const char **logs;
};

/* Returns 0, or -errno with `message` and nothing to free. */
static int open_model(const struct vt_model_options *options, uint32_t room, struct vt_model *model,
                      struct vt_string *message) {
    *model = (struct vt_model){0};
    model->memory = vt_alloc(1, sizeof *model->memory);
    model->memory->given_symbols = options->symbols;
    model->memory->names.symbols = options->symbols ? options->symbols : vt_symbols_open(NULL);
    int error = vt_classes_open(options->classes, &model->memory->names.classes, message);
    if (error) {
        vt_build_free(model);
        return error;
    }
    model->memory->stacks = vt_alloc(room, sizeof *model->memory->stacks);
    model->memory->owners = vt_alloc(room, sizeof *model->memory->owners);
    model->memory->packed = vt_alloc(room, sizeof *model->memory->packed);
    model->processes = vt_alloc(room, sizeof *model->processes);
    return 0;
}

static void keep(struct vt_model *model, const struct vt_built *built) {
    model->processes[model->process_count] = built->process;
    model->memory->stacks[model->process_count] = built->stacks;
    model->memory->owners[model->process_count] = built->owners;
    model->memory->packed[model->process_count] = built->symbols;
    model->process_count++;
}

int vt_build_model(const char *const *logs, uint32_t log_count,
                   const struct vt_model_options *options, struct vt_model *model,
                   struct vt_string *message) {
    int error = open_model(options, log_count, model, message);
    if (error)
        return error;
    for (uint32_t i = 0; i < log_count; i++) {
        struct vt_built built;
        error = vt_build_process(logs[i], options, &model->memory->names, &built, message);
        if (error) {
            vt_build_process_free(&built);
            vt_build_free(model);
            return error;
        }
        keep(model, &built);
    }
    for (uint32_t i = 0; i < model->process_count && model->process_count > 1; i++) {
        if (!model->job)
            model->job = vt_job_open();
        vt_job_add(model->job, &model->processes[i]);
    }
    if (model->job)
        vt_job_finish(model->job);
    model->id_digits = vt_model_id_digits(model);
    return 0;
}

/* --- many logs --- */

/* The real path of each process's log: the path in the job is made valid UTF-8. Processes of merged files have no
 * log. */
struct paths {
    struct vt_map by_id; /* vt_job_process.id -> index in the given logs */
    const char *const *logs;
};

static const char *path_of(const struct paths *paths, const struct vt_job_process *process) {
    uint32_t index = vt_map_get(&paths->by_id, process->id);
    return index == VT_MAP_NONE ? NULL : paths->logs[index];
}

/* Fills model->apart: all logs that were read, in the job's order, NULL for processes of merged files. */
static void set_apart(struct vt_model *model, const struct vt_model_options *options,
                      const struct paths *paths) {
    struct vt_model_memory *m = model->memory;
    m->logs = vt_alloc(model->job->process_count, sizeof *m->logs);
    for (uint32_t i = 0; i < model->job->process_count; i++)
        m->logs[i] = path_of(paths, &model->job->processes[i]);
    m->options = *options;
    m->options.symbols = m->names.symbols;
    m->apart = (struct vt_model_logs){m->logs, model->job->process_count, &m->options, &vt_builder};
    model->apart = &m->apart;
}

/* Rereads the logs that a report shows in full. */
static void read_chosen(struct vt_model *model, uint32_t whole) {
    const struct vt_job *f = model->job;
    for (uint32_t i = 0; i < f->shown_count && i < whole; i++) {
        struct vt_built built;
        VT_SCOPED_STRING why = {0};
        const char *log = model->apart->logs[f->shown[i]];
        if (!log)
            continue;
        if (vt_build_process(log, model->apart->options, &model->memory->names, &built, &why))
            vt_build_process_free(
                &built); /* the log was removed meanwhile: the process is only in the job */
        else
            keep(model, &built);
    }
}

/* The arguments of vt_build_ranks, and the job's logs. */
struct ranks {
    struct vt_model *model;
    const struct vt_model_options *options;
    uint32_t log_count, whole;
    bool (*only)(const struct vt_process *process, const void *what);
    const void *what;
    struct paths paths;
};

/* Adds the processes of a log, or of a merged file. Returns 0, or -errno with `why`. */
static int add_ranks(struct ranks *r, uint32_t index, struct vt_string *why) {
    struct vt_model *model = r->model;
    const char *path = r->paths.logs[index];
    struct vt_built built;
    if (vt_logs_is_merged(path))
        return vt_merged_read(path, model->job, why);
    int error = vt_build_process(path, r->options, &model->memory->names, &built, why);
    if (!error && vt_job_add(model->job, &built.process)) {
        vt_map_put(&r->paths.by_id, model->job->processes[model->job->process_count - 1].id, index);
        if ((r->only || r->log_count <= r->whole) && model->process_count < r->whole &&
            (!r->only || r->only(&built.process, r->what))) {
            keep(model, &built);
            return 0;
        }
    }
    vt_build_process_free(&built);
    return error;
}

int vt_build_ranks(const char *const *logs, uint32_t log_count,
                   const struct vt_model_options *options, uint32_t whole,
                   bool (*only)(const struct vt_process *process, const void *what),
                   const void *what, struct vt_model *model, struct vt_string *message) {
    struct ranks ranks = {model, options, log_count, whole, only, what, {.logs = logs}};
    int error = open_model(options, log_count < whole ? log_count : whole, model, message), bad = 0;
    if (error)
        return error;
    struct vt_job *job = model->job = vt_job_open();
    for (uint32_t i = 0; i < log_count; i++) {
        VT_SCOPED_STRING why = {0};
        vt_progress_of(i + 1, log_count);
        error = add_ranks(&ranks, i, &why);
        if (error) {
            vt_job_add_unread(job, why.text);
            if (!bad) {
                bad = error;
                vt_string_add(message, why.text);
            }
        }
    }
    if (job->process_count) {
        vt_string_free(message);
        vt_job_finish(job);
        if (log_count > whole)
            set_apart(model, options, &ranks.paths);
        if (log_count > whole && !only)
            read_chosen(model, whole);
        model->id_digits = vt_model_id_digits(model);
        bad = 0;
    }
    vt_map_free(&ranks.paths.by_id);
    if (bad)
        vt_build_free(model);
    return bad;
}

void vt_build_free(struct vt_model *model) {
    for (uint32_t i = 0; i < model->process_count; i++) {
        vt_process_free(&model->processes[i]);
        vt_stacks_close(model->memory->stacks[i]);
        vt_owner_names_close(model->memory->owners[i]);
        vt_symbols_close(model->memory->packed[i]);
    }
    if (model->memory) {
        if (!model->memory->given_symbols)
            vt_symbols_close(model->memory->names.symbols);
        vt_classes_close(model->memory->names.classes);
        free(model->memory->stacks);
        free(model->memory->owners);
        free(model->memory->packed);
        free(model->memory->logs);
        free(model->memory);
    }
    vt_job_free(model->job);
    free(model->processes);
    *model = (struct vt_model){0};
}

static int go_on(struct vt_follow *follow, uint64_t until, struct vt_model *model,
                 struct vt_string *message) {
    struct vt_built built;
    int error = open_model(vt_build_options(follow), 1, model, message);
    if (error)
        return error;
    error = vt_build_go_on(follow, until, &model->memory->names, &built, message);
    if (error) {
        vt_build_process_free(&built);
        vt_build_free(model);
        return error;
    }
    keep(model, &built);
    model->id_digits = vt_model_id_digits(model);
    return 0;
}

const struct vt_model_builder vt_builder = {vt_build_model, vt_build_free, vt_build_follow, go_on,
                                            vt_build_unfollow};
