/* SPDX-License-Identifier: MIT */
/*
 * Texts that several of the gate's formats share, and the location to show for a finding.
 */
#ifndef VRAMTRACE_ANALYZER_GATE_WORDS_H
#define VRAMTRACE_ANALYZER_GATE_WORDS_H

#include "gate.h"

#include "content/content.h"

/* The source line at which a code host shows a finding. All members are NULL or 0 if no frame has a source line. The
 * caller frees `file`. `_find` chooses a frame of the stack, if possible one whose file is below the source root; `_of`
 * takes the given frame. */
struct vt_gate_location {
    char *file;    /* relative to the source root, or absolute if outside */
    bool inside;   /* below the source root */
    uint32_t line; /* 0: unknown */
    const struct vt_frame *frame;
};
void vt_gate_location_find(const struct vt_process *process, const struct vt_stack *stack,
                           const char *source_root, struct vt_gate_location *location);
void vt_gate_location_of(const struct vt_process *process, const struct vt_frame *frame,
                         const char *source_root, struct vt_gate_location *location);

/* The texts for a line. */
struct vt_gate_message {
    const struct vt_gate_line *line;
    const struct vt_gate_finding *worst; /* of the line */
    const struct vt_process *process;    /* of `worst` */
    char *why;                           /* vt_gate_why */
    /* "12.0 MiB in 6 blocks allocated at leak.c:41 in new_buffer (cudaMalloc on GPU 0). unfreed:
     * ..." */
    char *sentence;
};

/* A result, prepared for the formats. */
struct vt_gate_page {
    const struct vt_gate *gate;
    const struct vt_gate_format_options *how;
    FILE *out;
    char *headline;               /* "passed: nothing leaked", "FAILED: 2 leaks, 13.0 MiB" */
    struct vt_gate_message *said; /* parallel to the gate's lines */
    char **names;                 /* vt_gate_process_name of the model's processes */
    char **notes;                 /* at most one per process, in the gate's order; NULL: none */
    uint32_t note_count;
    char *figures[VT_GATE_MEASURES]; /* comparisons with earlier runs; NULL: there are none */
    char *not_compared;              /* vt_earlier_left_out */
};
void vt_gate_page_open(struct vt_gate_page *page, const struct vt_gate *gate,
                       const struct vt_gate_format_options *how, FILE *out);
void vt_gate_page_close(struct vt_gate_page *page);

/* gate_doc.c: adds everything but the headline. */
void vt_gate_document(const struct vt_gate_page *page, struct vt_doc *doc);

/* The message for a line that is not among the gate's lines. Free both texts. */
struct vt_gate_message vt_gate_message_of(const struct vt_gate_page *page,
                                          const struct vt_gate_line *line);

/* The place of a line's worst site. The caller frees `file`. */
struct vt_gate_location vt_gate_message_location(const struct vt_gate_page *page,
                                                 const struct vt_gate_message *said);

/* "leak.c:41 in new_buffer"; "an unknown line" if the log has no stack. Free it. */
char *vt_gate_frame_text(const struct vt_gate_message *said);

/* "cudaMalloc on GPU 0"; without the GPU if the line is on several. Free it. */
char *vt_gate_call_text(const struct vt_gate_message *said);

/* "peak", "held". */
extern const char *const vt_gate_measure_names[VT_GATE_MEASURES];

/* The number of events that the logs lost. If it is not 0, all figures are lower bounds. */
uint64_t vt_gate_dropped(const struct vt_gate *gate);

/* "passed", "failed", or "open": data missing in the log leaves it open. */
const char *vt_gate_verdict(bool failed, bool open);

/* Why the result is open: "12 events lost", "the log is cut off or damaged". */
const char *vt_gate_open_text(const struct vt_gate *gate, uint64_t open_events, uint32_t processes);

#endif
