/* SPDX-License-Identifier: MIT */
/*
 * A Python source file as its statements, for containers.c: what it looks for must not be found in a
 * comment or in a string, and must be found where it is written over several lines.
 */
#ifndef VRAMTRACE_ANALYZER_PYSOURCE_H
#define VRAMTRACE_ANALYZER_PYSOURCE_H

#include "model/model.h"

#define VT_NO_STATEMENT UINT32_MAX

/* A simple statement, the head of a compound one ("for x in y:"), or a decorator. */
struct vt_statement {
    uint32_t first, last; /* lines */
    unsigned indent;
    char *text; /* without comments; strings emptied (but "cpu"); of blanks one, only where it parts
                   a word from what stands before: "x=f(a) if b else[c]" */
};

struct vt_pysource {
    const char *file; /* the caller's */
    struct vt_statement *statements;
    size_t count, room;
};

/* Reads a file of the process. NULL: it is not there, newer than the run, or too long. */
struct vt_pysource *vt_pysource_read(const struct vt_process *process, const char *file);
void vt_pysource_free(struct vt_pysource *source);

/* The files of one process, each read once. Start it as {.process = p}. */
struct vt_pyfiles {
    const struct vt_process *process;
    struct {
        const char *file;
        struct vt_pysource *source;
    } read[16];
    unsigned count;
};
/* NULL: as above, or there are too many. It stays the files'. */
const struct vt_pysource *vt_pyfiles_get(struct vt_pyfiles *files, const char *file);
void vt_pyfiles_free(struct vt_pyfiles *files);

/* The statement on a line; VT_NO_STATEMENT where there is none, or several side by side. */
uint32_t vt_pysource_at(const struct vt_pysource *source, uint32_t line);

/* The head of the function or class that statement i lies in, VT_NO_STATEMENT: in none. Then the
 * statement behind the last one that a head holds. */
uint32_t vt_pysource_scope(const struct vt_pysource *source, uint32_t i);
uint32_t vt_pysource_end(const struct vt_pysource *source, uint32_t head);

/* The next statement of the same scope: what functions and classes hold is skipped. */
uint32_t vt_pysource_next(const struct vt_pysource *source, uint32_t i);

/* The head that statement i lies directly in: a loop, a condition, a function. */
uint32_t vt_pysource_above(const struct vt_pysource *source, uint32_t i);

/* The statement that a Python frame stands at; VT_NO_STATEMENT where the source is not there, or is
 * seen to be another than the one that ran: the function there has another name. */
uint32_t vt_pysource_frame(const struct vt_pysource *source, const struct vt_frame *frame);

/* The `def` of a Python frame's function, if the frame's line is where that begins (there, or at a
 * decorator): so are all lines of the code that torch.compile makes of a function. */
uint32_t vt_pysource_compiled(const struct vt_pysource *source, const struct vt_frame *frame);

/* The last part of a Python function's qualified name. "" where it is unknown. */
const char *vt_pysource_name(const struct vt_frame *frame);

/* Whether a text begins with a keyword. */
bool vt_pysource_begins(const char *text, const char *keyword);
bool vt_pysource_is_scope(const char *text); /* def, async def, class */
bool vt_pysource_is_loop(const char *text);  /* for, async for, while */

static inline bool vt_pysource_is_word(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80;
}

#endif
