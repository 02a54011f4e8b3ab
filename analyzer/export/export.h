/* SPDX-License-Identifier: MIT */
/*
 * Public header of export/: converts a finished model to the file formats of other tools.
 *
 * Invariants: a format reads only the model; its figures are those of the JSON report. Names in a log are untrusted: a
 * format writes them as text, whatever they contain. All formats that show call stacks get them from samples.h, so that
 * they agree. Uses base, model, the JSON's keys from report, and the sizes of PyTorch's segments from replay.
 *
 *     formats below   the list; one file fmt_NAME.c each
 *     samples.h       the memory of a model as samples, each with its call stack
 *     profile.h       a pprof profile under construction
 *     perfetto.h      a writer of Perfetto traces
 *     pytorch.h       a device's memory in the form of PyTorch's snapshots
 *     pickle.h        a writer of Python pickles
 */
#ifndef VRAMTRACE_ANALYZER_EXPORT_H
#define VRAMTRACE_ANALYZER_EXPORT_H

#include "model/model.h"

/* The bytes that an output shows. */
enum vt_export_value {
    VT_EXPORT_LIVE,      /* at the end */
    VT_EXPORT_PEAK,      /* at each device's peak */
    VT_EXPORT_ALLOCATED, /* sum of all allocations */
    VT_EXPORT_LEAKED,    /* in leaks, as a report counts them */
    VT_EXPORT_VALUES     /* the number of values; as an option: not given */
};
extern const char *const vt_export_value_names[VT_EXPORT_VALUES]; /* "live", ... */

/* The user's choices. */
struct vt_export_options {
    enum vt_export_value value;
    bool native; /* show frames inside the Python interpreter */
};

struct vt_export_format {
    const char *name, *help;
    bool to_file; /* the output must not go to a terminal */
    bool valued;  /* shows only the value given by the user */
    /* enum vt_timeline_part: the parts of a timeline that the format needs */
    unsigned timeline;
    /* Writes the whole file. Returns 0 or -errno; the caller checks ferror(out). */
    int (*write)(const struct vt_model *model, const struct vt_export_options *options, FILE *out);
};

/* The last row's name is NULL. */
extern const struct vt_export_format vt_export_formats[];

/* Whether any site has memory of this value. */
bool vt_export_has(const struct vt_model *model, enum vt_export_value value);

/* The default value: leaked memory, if there is any, else the peak. (At the end, a program with a caching allocator has
 * only an empty cache.) */
enum vt_export_value vt_export_default(const struct vt_model *model);

int vt_export_pprof_write(const struct vt_model *, const struct vt_export_options *, FILE *);
int vt_export_folded_write(const struct vt_model *, const struct vt_export_options *, FILE *);
int vt_export_csv_write(const struct vt_model *, const struct vt_export_options *, FILE *);
int vt_export_perfetto_write(const struct vt_model *, const struct vt_export_options *, FILE *);
int vt_export_pytorch_write(const struct vt_model *, const struct vt_export_options *, FILE *);

#endif
