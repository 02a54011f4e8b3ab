/* SPDX-License-Identifier: MIT */
/*
 * Public header of fit/: would a recorded run fit, on which card, with which settings of PyTorch's allocator,
 * with what scaled? The run is replayed once more in a model of the allocator (replay/cache_model.h), all
 * rows of an answer in one pass.
 *
 * Invariants: the model is proved first: the run as it was recorded must come out as PyTorch recorded it. Where
 * it does not, or where events are missing, there is a range, and a yes or a no only where that decides. Uses base, log,
 * model, replay and, for text, report.
 *
 *     fit.c        the proof, the needs, the rows
 *     scale.c      what --scale scales: the factor of each call site
 *     fit_write.c  the answer as text and as JSON
 */
#ifndef VRAMTRACE_ANALYZER_FIT_H
#define VRAMTRACE_ANALYZER_FIT_H

#include "model/model.h"

/* A usual card, by the size in its name, and what its driver has for programs: less than that. */
struct vt_fit_card {
    const char *name;
    uint64_t bytes, usable_bytes;
};
extern const struct vt_fit_card vt_fit_cards[]; /* by size; the last has no name */

enum vt_fit_scope { VT_FIT_ROLE, VT_FIT_OWNER, VT_FIT_SITE }; /* the more specific later */

/* What --scale asks for: "role:activations=2". */
struct vt_fit_scale {
    const char *text;
    enum vt_fit_scope scope;
    char *name;
    double factor;
    bool found;     /* something has this name, though a more specific one may decide about it */
    uint32_t sites; /* that it decides about; what they held at the recorded peak */
    uint64_t bytes_at_peak;
};

struct vt_fit_memory {
    uint64_t bytes, usable_bytes;   /* as named; of these, for this process. VT_UNKNOWN: no limit */
    const struct vt_fit_card *card; /* NULL: no usual one */
    bool here;                      /* the recorded device */
};

struct vt_fit_options {
    struct vt_fit_memory *memory; /* none: the recorded device, and usual cards */
    const char *const *confs;     /* as PYTORCH_ALLOC_CONF has them; none: as recorded */
    struct vt_fit_scale *scales;
    uint32_t memory_count, conf_count, scale_count;
};

/* A memory with settings. What is not known, or did not happen, is VT_UNKNOWN or NULL. */
struct vt_fit_row {
    struct vt_fit_memory memory;
    char *conf;                               /* as a variable would have it; "": the defaults */
    bool recorded;                            /* the settings are the run's */
    bool fits;                                /* if vt_fit is sure */
    uint64_t peak_reserved_bytes, peak_bytes; /* of PyTorch, of the process; up to the failure */
    uint64_t failed_at, missing_bytes;
    const struct vt_phase *phase; /* then, and which of its name, from 1 */
    uint32_t phase_number;
    const struct vt_site *site;
    const struct vt_stack *stack;
};

struct vt_fit {
    const struct vt_process *process;
    const struct vt_device *device;
    uint32_t processes;    /* of the run on GPUs, of which this one needs most */
    uint32_t sharers;      /* of these on its GPU at the same time, itself too; 1: alone */
    uint64_t shared_bytes; /* the others' peaks, an upper bound: taken on each card */
    uint32_t caught; /* requests that were refused, after which the program went on; since when */
    uint64_t caught_at;
    bool torch;           /* it has PyTorch's allocator; else rows are by driver memory */
    const char *settings; /* recorded */
    bool ended_early;     /* it would have gone on, or goes on: what it needs then is not known */
    const struct vt_oom *oom; /* at which the run ended; NULL */

    double
        deviation; /* (model's - recorded) / recorded of the most that was reserved; NAN: not known */
    uint64_t recorded_reserved_bytes, model_reserved_bytes;
    bool sure; /* yes and no are given; else `why` not, and between what the needs lie */
    char *why;
    uint64_t from_bytes, to_bytes;

    /* without a limit: in all, PyTorch's, beside it, to fill the driver's pages */
    uint64_t needs_bytes, reserved_bytes, outside_bytes, rounding_bytes;
    uint64_t driver_bytes;             /* context and code, as measured; VT_UNKNOWN */
    const struct vt_fit_row *smallest; /* usual card that fits, up to an early end; NULL */

    const struct vt_fit_scale *scales;
    uint32_t scale_count;
    struct vt_fit_row *rows; /* by memory, then by settings */
    uint32_t row_count, row_room;
};

/* Fills `fit` for a device of a process, one of the model's; free it even after an error. Returns 0, or
 * -errno with `message`: the log cannot be read, or an option has a name that is not known. The options must
 * outlive it. */
int vt_fit_make(const struct vt_model *model, const struct vt_process *process,
                const struct vt_device *device, const struct vt_fit_options *options,
                struct vt_fit *fit, struct vt_string *message);
void vt_fit_free(struct vt_fit *fit);

/* fit_doc.c, fit_write.c: as a document, and as JSON. */
struct vt_doc;
void vt_fit_document(const struct vt_fit *fit, struct vt_doc *doc);
void vt_fit_json(const struct vt_fit *fit, FILE *out);

/* --- scale.c, for fit.c --- */

/* The call sites by their numbers in a replay (vt_site.number). */
struct vt_fit_sites {
    uint32_t count;
    double *factors; /* how many times as large their blocks are to be */
    bool
        *in_backward; /* they allocate in backward passes; how many of their blocks outlived one: */
    uint32_t *outlived; /* vt_rehearsal_watch_backward */
};

/* Free it with vt_fit_sites_close. */
struct vt_fit_sites vt_fit_sites_open(const struct vt_process *process);
void vt_fit_sites_close(struct vt_fit_sites *sites);

/* Fills the factors, once the run was replayed; counts in the scales what each decides about. Returns 0, or -EINVAL
 * with `message`: nothing has such a name. */
int vt_fit_sites_scale(const struct vt_process *process, unsigned device,
                       const struct vt_fit_options *options, struct vt_fit_sites *sites,
                       struct vt_string *message);

#endif
