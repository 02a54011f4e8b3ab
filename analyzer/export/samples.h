/* SPDX-License-Identifier: MIT */
/*
 * The memory of a model as samples: the bytes of each value for each call stack. For the formats that show call
 * stacks.
 *
 * Blocks of a caching allocator lie in driver memory, so adding both would count bytes twice. The samples are the
 * blocks, driver memory without blocks, and one sample for the allocator's unused memory. So on each device the samples
 * of "live" and "peak" add up to the device's figures. Pinned and managed memory belongs to no device; it has an
 * outermost frame of its own.
 */
#ifndef VRAMTRACE_ANALYZER_SAMPLES_H
#define VRAMTRACE_ANALYZER_SAMPLES_H

#include "export.h"

struct vt_sample {
    const struct vt_process *process;
    const struct vt_site *site; /* NULL: unused memory of a caching allocator */
    const char *allocator;      /* for the sample without a site: "PyTorch" */
    unsigned device;            /* as in vt_site */
    unsigned layer;
    uint64_t bytes[VT_EXPORT_VALUES];
    uint64_t counts[VT_EXPORT_VALUES]; /* blocks */
};

struct vt_samples {
    struct vt_sample *items; /* by process, then in the model's order of sites */
    uint32_t count, room;
    bool many; /* several processes */
};

void vt_samples_make(const struct vt_model *model, struct vt_samples *samples);
void vt_samples_free(struct vt_samples *samples);

/* A site's bytes for each value; `leak`: its leak, or NULL. */
void vt_samples_of_site(const struct vt_site *site, const struct vt_leak *leak,
                        uint64_t bytes[VT_EXPORT_VALUES], uint64_t counts[VT_EXPORT_VALUES]);

/* A frame of a sample. */
struct vt_sample_frame {
    char *name; /* "step", "libx.so+0x1f30"; "[...]" for an entry that is not a frame */
    const struct vt_frame *frame; /* NULL: there is none */
};

/* A sample's frames, outermost first: the process if there are several, the kind of memory if it belongs to no
 * device, then the calls. Initialize as {0}; each call replaces the contents. */
struct vt_sample_stack {
    struct vt_sample_frame *frames;
    uint32_t count, room;
};
void vt_samples_stack(const struct vt_samples *samples, const struct vt_sample *sample, bool native,
                      struct vt_sample_stack *stack);
void vt_samples_stack_free(struct vt_sample_stack *stack);

/* A frame on one line: "step (train.py:41)", "f (libx.so)", escaped as below. Free it. */
char *vt_samples_line(const struct vt_sample_frame *frame, bool semicolons);

/* Adds a text as valid UTF-8; backslashes, control characters and, if requested, semicolons are escaped as in C. */
void vt_samples_escape(struct vt_string *out, const char *text, bool semicolons);

#endif
