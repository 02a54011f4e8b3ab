/* SPDX-License-Identifier: MIT */
/*
 * The door of fit/: would a recorded run fit, on which card, with which settings of PyTorch's allocator,
 * with what scaled? The run is replayed once more in a model of the allocator (replay/cache_model.h), all
 * rows of an answer in one pass.
 *
 * Law: the model is proved first: the run as it was recorded must come out as PyTorch recorded it. Where
 * it does not, or where events are missing, there is a range, and neither a yes nor a no. Uses base, log,
 * model, replay and, for text, report.
 *
 *     fit.c         the proof, the needs, the rows
 *     cards.def     usual cards
 *     scale.c       what --scale scales: the factor of each call site
 *     fit_text.c, fit_json.c  the answer, written
 */
#ifndef VRAMTRACE_ANALYZER_FIT_H
#define VRAMTRACE_ANALYZER_FIT_H

#include "model/model.h"

/* A usual card, by the size in its name, and what its driver has for programs: less than that. */
struct vt_fit_card {
    const char *name;
    uint64_t bytes, usable_bytes;
};
/* By size; the last has no name. */
extern const struct vt_fit_card vt_fit_cards[];

enum vt_fit_scope { VT_FIT_ROLE, VT_FIT_OWNER, VT_FIT_SITE }; /* the more specific later */

/* What --scale asks for. */
struct vt_fit_scale {
    const char *text; /* "role:activations=2" */
    enum vt_fit_scope scope;
    char *name;
    double factor;
    uint32_t sites;         /* that it decides about */
    uint64_t bytes_at_peak; /* of these, as recorded */
};

struct vt_fit_memory {
    uint64_t bytes;                 /* as named: of a usual card what its name says */
    uint64_t usable_bytes;          /* of these, for this process; VT_UNKNOWN: no limit */
    const struct vt_fit_card *card; /* NULL: none, or the recorded device */
    bool here;                      /* the recorded device */
};

struct vt_fit_wishes {
    const struct vt_fit_memory *memory; /* NULL: the recorded device, and usual cards */
    uint32_t memory_count;
    const char *const *confs; /* as PYTORCH_ALLOC_CONF; NULL: as recorded */
    uint32_t conf_count;
    struct vt_fit_scale *scales;
    uint32_t scale_count;
};

enum vt_fit_answer { VT_FIT_NO, VT_FIT_YES, VT_FIT_UNKNOWN };

struct vt_fit_row {
    struct vt_fit_memory memory;
    char *conf;    /* as a variable would say it; "": the defaults */
    bool recorded; /* the settings are the run's */
    enum vt_fit_answer fits;
    uint64_t peak_reserved_bytes; /* PyTorch's; VT_UNKNOWN: not known */
    uint64_t peak_bytes;          /* of all that the process takes; up to the failure */
    uint64_t failed_at, missing_bytes,
        requested_bytes;          /* VT_UNKNOWN: it did not fail, or not known */
    const struct vt_phase *phase; /* then; NULL: none was open */
    uint32_t phase_number;        /* among those of its name, from 1 */
    const struct vt_site *site;   /* NULL: not known */
    const struct vt_stack *stack; /* its, or the failed request's; NULL */
};

struct vt_fit {
    const struct vt_process *process;
    const struct vt_device *device;
    uint32_t processes;   /* of the run: this one needs most */
    bool torch;           /* the rows are the model's; else by what was allocated from the driver */
    const char *settings; /* recorded; "": the defaults */
    const struct vt_oom *oom; /* at which the run ended; NULL */

    uint64_t recorded_reserved_bytes, model_reserved_bytes; /* the proof; VT_UNKNOWN */
    bool sure;                                              /* yes and no are given */
    char *why;                                              /* why not; NULL */
    uint64_t from_bytes, to_bytes; /* not `sure`: what it needs lies between; VT_UNKNOWN */

    /* needs, as recorded or as scaled, without a limit: their sum is needs_bytes */
    uint64_t needs_bytes, reserved_bytes, outside_bytes, rounding_bytes;
    uint64_t driver_bytes; /* context and code; VT_UNKNOWN: not known, and 0 in the sum */
    uint64_t others_bytes; /* of other processes on the recorded device, as it was then */
    const struct vt_fit_card *smallest; /* usual card that fits; NULL: none, or not known */

    const struct vt_fit_scale *scales;
    uint32_t scale_count;
    struct vt_fit_row *rows; /* by memory, then by settings */
    uint32_t row_count, row_room;
};

/* Reads a scale: "role:NAME=FACTOR", "owner:NAME=FACTOR", "site:ID=FACTOR". False: it is none. Free `name`. */
bool vt_fit_scale_read(const char *text, struct vt_fit_scale *scale);

/* Fills `fit` for a device of a process; free it even after an error. Returns 0, or -errno with `message`:
 * the log cannot be read, or a wish has a name that is not known. The wishes must outlive it. */
int vt_fit_make(const struct vt_process *process, const struct vt_device *device,
                const struct vt_fit_wishes *wishes, struct vt_fit *fit, struct vt_string *message);
void vt_fit_free(struct vt_fit *fit);

/* (Model's - recorded) / recorded. False: not known. */
bool vt_fit_deviation(const struct vt_fit *fit, double *deviation);

/* The bytes of the row's device that are left at the peak; VT_UNKNOWN: not known, or no limit. */
uint64_t vt_fit_spare(const struct vt_fit_row *row);

/* Writes it. `colour`: for a terminal. */
void vt_fit_text(const struct vt_fit *fit, bool colour, FILE *out);
void vt_fit_json(const struct vt_fit *fit, FILE *out);

/* --- scale.c, for fit.c --- */

/* The factor of each call site of the replay, by vt_site.number. Counts in the scales what each decides
 * about. Returns 0, or -EINVAL with `message`: nothing has such a name. Free *factors. */
int vt_fit_factors(const struct vt_process *process, unsigned device, struct vt_fit_scale *scales,
                   uint32_t scale_count, double **factors, uint32_t *count,
                   struct vt_string *message);

#endif
