/* SPDX-License-Identifier: MIT */
/*
 * What the gate's formats share: where a finding is shown, and how it is said. None of it decides.
 */
#ifndef VRAMTRACE_ANALYZER_GATE_WORDS_H
#define VRAMTRACE_ANALYZER_GATE_WORDS_H

#include "gate.h"

/* Where a code host shows a finding: a file below the source root. Everything NULL or 0 where no
 * frame has one. Free `file`. */
struct vt_gate_location {
    char *file;    /* relative to the source root; absolute where it lies elsewhere */
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

/* "cudaMalloc on GPU 0"; of several GPUs, none is named. Free it. */
char *vt_gate_call_text(const struct vt_gate *gate, const struct vt_gate_line *line);

/* What the reader of a judgement must know of a process, whatever came out: that memory went with a
 * context which the program never freed, and so was not judged. A sentence, with the process's name
 * where there are several. Free it. NULL: nothing. */
char *vt_gate_note(const struct vt_gate *gate, const struct vt_process *process, bool stable);

/* How many events the logs lost: figures are then lower bounds. */
uint64_t vt_gate_dropped(const struct vt_gate *gate);

/* "passed: nothing leaked", "FAILED: 2 leaks, 13.0 MiB": the judgement in a line. Free it. */
char *vt_gate_headline(const struct vt_gate *gate);

#endif
