/* SPDX-License-Identifier: MIT */
/*
 * Public header of fit/: on which cards would a recorded run fit, with given settings of PyTorch's allocator, and
 * scaled in a given way? The run is replayed in a model of the allocator (replay/cache_model.h), for all rows of the
 * answer in one pass.
 *
 * Invariants: the model is validated first: its result for the recorded run must match PyTorch's record. If the two do
 * not match, or events are missing, the need is a range, and no row has a definite answer. Uses base, logfile, model,
 * replay and, for its document and JSON, report.
 *
 *     fit.c        the validation, the needs, the rows
 *     scale.c      --scale: the factor of each call site
 *     fit_doc.c    the answer as a document
 *     fit_write.c  the answer as JSON
 */
#ifndef VRAMTRACE_ANALYZER_FIT_H
#define VRAMTRACE_ANALYZER_FIT_H

#include "model/model.h"

/* A usual card: its nominal size, and the memory that its driver leaves to programs. */
struct vt_fit_card {
    const char *name;
    uint64_t bytes, usable_bytes;
};
extern const struct vt_fit_card vt_fit_cards[]; /* sorted by size; the last has no name */

enum vt_fit_scope { VT_FIT_ROLE, VT_FIT_OWNER, VT_FIT_SITE }; /* the most specific last */

/* An item of --scale: "role:activations=2". */
struct vt_fit_scale {
    const char *text;
    enum vt_fit_scope scope;
    char *name;
    double factor;
    bool found;     /* the name exists, even if a more specific scale takes precedence */
    uint32_t sites; /* the sites to which it applies; their bytes at the recorded peak */
    uint64_t bytes_at_peak;
};

struct vt_fit_memory {
    uint64_t bytes, usable_bytes;   /* usable: by this process; VT_UNKNOWN: no limit */
    const struct vt_fit_card *card; /* NULL: not a usual card */
    bool here;                      /* the recorded device */
};

struct vt_fit_options {
    struct vt_fit_memory *memory; /* none given: the recorded device, and usual cards */
    const char *const *confs;     /* as in PYTORCH_ALLOC_CONF; none given: as recorded */
    struct vt_fit_scale *scales;
    uint32_t memory_count, conf_count, scale_count;
};

/* A memory size with settings. Unknown members, and members for events that did not happen, are VT_UNKNOWN or NULL. */
struct vt_fit_row {
    struct vt_fit_memory memory;
    char *conf;                               /* as the value of the variable; "": the defaults */
    bool recorded;                            /* `conf` is as in the recorded run */
    bool fits;                                /* valid if vt_fit is `sure` */
    uint64_t peak_reserved_bytes, peak_bytes; /* PyTorch's, and the process's; up to a failure */
    uint64_t failed_at, missing_bytes;
    /* the phase at the failure, and its number among the phases of that name, from 1 */
    const struct vt_phase *phase;
    uint32_t phase_number;
    const struct vt_site *site;
    const struct vt_stack *stack;
};

struct vt_fit {
    const struct vt_process *process;
    const struct vt_device *device;
    uint32_t processes; /* number of the run's processes on GPUs; `process` needs most */
    /* processes on its GPU at the same time, including itself; 1: alone */
    uint32_t sharers;
    uint64_t shared_bytes; /* sum of the others' peaks, an upper bound: subtracted from each card */
    uint32_t caught; /* refused requests after which the program continued; the first one's time */
    uint64_t caught_at;
    bool torch;           /* it uses PyTorch's allocator; if not, rows compare driver memory */
    const char *settings; /* recorded */
    /* the process did not run to its end, or is still running: its later need is unknown */
    bool ended_early;
    const struct vt_oom *oom; /* the failure that ended the run; NULL */

    double deviation; /* (model's - recorded) / recorded peak of reserved memory; NAN: unknown */
    uint64_t recorded_reserved_bytes, model_reserved_bytes;
    bool sure; /* the answers are definite; otherwise `why` says why not, and the need is a range */
    char *why;
    uint64_t from_bytes, to_bytes;

    /* without a limit: in total, in PyTorch's segments, outside them, padding of the driver's pages */
    uint64_t needs_bytes, reserved_bytes, outside_bytes, rounding_bytes;
    uint64_t driver_bytes; /* context and code, as measured; VT_UNKNOWN */
    /* smallest usual card on which the run fits (up to an early end); NULL: none */
    const struct vt_fit_row *smallest;

    const struct vt_fit_scale *scales;
    uint32_t scale_count;
    struct vt_fit_row *rows; /* by memory, then by settings */
    uint32_t row_count, row_room;
};

/* Fills `fit` for a device of a process of the model; free it even after an error. Returns 0, or -errno with
 * `message`: the log cannot be read, or an option has an unknown name. The options must outlive it. */
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
    double *factors;    /* for the sizes of its blocks */
    bool *in_backward;  /* the site allocates in backward passes */
    uint32_t *outlived; /* blocks that outlived a backward pass (vt_rehearsal_watch_backward) */
};

/* Free it with vt_fit_sites_close. */
struct vt_fit_sites vt_fit_sites_open(const struct vt_process *process);
void vt_fit_sites_close(struct vt_fit_sites *sites);

/* Fills the factors after the replay, and counts for each scale the sites to which it applies. Returns 0, or -EINVAL
 * with `message`: a name was not found. */
int vt_fit_sites_scale(const struct vt_process *process, unsigned device,
                       const struct vt_fit_options *options, struct vt_fit_sites *sites,
                       struct vt_string *message);

#endif
