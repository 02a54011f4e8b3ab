/* SPDX-License-Identifier: MIT */
/*
 * Public header of export/: a finished model -> the file format of another tool.
 *
 * Invariants: a format reads only the model; its figures are those of the JSON report. Names in a log are
 * hostile: a format writes them as text, whatever they contain. Formats that show call stacks get them
 * from samples.h, so that they agree. Uses base, model, and of replay the sizes of PyTorch's segments.
 *
 *     formats below   the list; one file fmt_NAME.c each
 *     samples.h       the memory of a model as samples, each with its call stack
 *     profile.h       a pprof profile under construction
 *     perfetto.h      a writer of Perfetto traces
 *     pytorch.h       a device's memory as PyTorch's snapshots have it
 *     pickle.h        a writer of Python pickles
 */
#ifndef VRAMTRACE_ANALYZER_EXPORT_H
#define VRAMTRACE_ANALYZER_EXPORT_H

#include "model/model.h"

/* The bytes that a picture shows. */
enum vt_export_value {
    VT_EXPORT_LIVE,      /* at the end */
    VT_EXPORT_PEAK,      /* as each device was at its peak */
    VT_EXPORT_ALLOCATED, /* all that was ever allocated */
    VT_EXPORT_LEAKED,    /* by the leaks, as a report counts them */
    VT_EXPORT_VALUES     /* their count; as a user's choice: none */
};
extern const char *const vt_export_value_names[VT_EXPORT_VALUES]; /* "live", ... */

/* The user's choices. */
struct vt_export_options {
    enum vt_export_value value;
    bool native; /* show frames inside the Python interpreter */
};

struct vt_export_format {
    const char *name, *help;
    bool to_file;      /* nothing for a terminal */
    bool valued;       /* shows only the value that the user chose */
    unsigned timeline; /* enum vt_timeline_part: needed parts of the model beyond the figures */
    /* Writes the whole file. Returns 0 or -errno; the caller checks ferror(out). */
    int (*write)(const struct vt_model *model, const struct vt_export_options *options, FILE *out);
};

/* Ends with a row whose name is NULL. */
extern const struct vt_export_format vt_export_formats[];

/* Whether there is anything of this value to show. */
bool vt_export_has(const struct vt_model *model, enum vt_export_value value);

/* The default value: the leaks' memory, or else the peak. A program with a caching allocator ends with an empty
 * cache. */
enum vt_export_value vt_export_default(const struct vt_model *model);

int vt_export_pprof_write(const struct vt_model *, const struct vt_export_options *, FILE *);
int vt_export_folded_write(const struct vt_model *, const struct vt_export_options *, FILE *);
int vt_export_csv_write(const struct vt_model *, const struct vt_export_options *, FILE *);
int vt_export_perfetto_write(const struct vt_model *, const struct vt_export_options *, FILE *);
int vt_export_pytorch_write(const struct vt_model *, const struct vt_export_options *, FILE *);

#endif
