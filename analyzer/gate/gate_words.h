/* SPDX-License-Identifier: MIT */
/*
 * For the gate's formats: where to show a finding, and its sentences.
 */
#ifndef VRAMTRACE_ANALYZER_GATE_WORDS_H
#define VRAMTRACE_ANALYZER_GATE_WORDS_H

#include "gate.h"

/* The source line at which a code host shows a finding. Everything is NULL or 0 if no frame has
 * one. The caller frees `file`. `_find` chooses a frame of the stack, if possible one below the
 * source root; `_of` is for a given frame. */
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

/* "12.0 MiB in 6 blocks allocated at leak.c:41 in new_buffer (cudaMalloc on GPU 0). unfreed: ..."
 * Free it. */
char *vt_gate_sentence(const struct vt_gate *gate, const struct vt_gate_line *line, bool stable);

/* "leak.c:41 in new_buffer"; "an unknown line" if the log has no stack. Free it. */
char *vt_gate_frame_text(const struct vt_process *process, const struct vt_site *site);

/* "cudaMalloc on GPU 0"; without the GPU if there are several. Free it. */
char *vt_gate_call_text(const struct vt_gate *gate, const struct vt_gate_line *line);

/* A sentence about memory that went with its context and so was not judged, with the process's name
 * if there are several. NULL: there is none. Free it. */
char *vt_gate_note(const struct vt_gate *gate, const struct vt_process *process, bool stable);

/* How many events the logs lost: if any, all figures are lower bounds. */
uint64_t vt_gate_dropped(const struct vt_gate *gate);

/* "passed", "failed", or "open": what the log lacks leaves it open. */
const char *vt_gate_verdict(bool failed, bool open);

/* Why nothing can be said: "12 events lost", "the log is cut off or damaged". */
const char *vt_gate_open_text(uint64_t open_events, uint32_t processes);

/* The result in a line: "passed: nothing leaked", "FAILED: 2 leaks, 13.0 MiB". Free it. */
char *vt_gate_headline(const struct vt_gate *gate);

#endif
