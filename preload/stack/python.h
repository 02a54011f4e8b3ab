/* SPDX-License-Identifier: MIT */
/*
 * The door of the Python half of a call stack: what stack.c sees of python*.c.
 *
 * The calling thread's own chain of Python frames cannot move while it is inside one of our
 * wrappers. So it is read where it lies: no GIL is taken, no Python object is made, no reference
 * count is touched. Which word lies where differs between CPython's minor versions
 * (python_layout.c).
 *
 * In the order of a life: vt_python_resolve() at arming and after later library loads; then for
 * each event vt_python_capture(); for a stack never seen before vt_python_describe() of each frame
 * (the frames must still be alive: inside the same wrapper call) and vt_python_merge() with the
 * native frames.
 */
#ifndef VT_PRELOAD_PYTHON_H
#define VT_PRELOAD_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One Python frame. Equal (code, tag, lasti): the same place in the same code object, for the life
 * of the process. */
struct vt_pyframe {
    uint64_t code;  /* address of the code object */
    uint64_t tag;   /* which code object that was: an address used again has another */
    uint32_t lasti; /* bytes into its bytecode; VT_PYTHON_NO_LASTI when that could not be told */
    uint32_t group; /* index of the frame's group */
};
#define VT_PYTHON_NO_LASTI 0xffffffffu

/* Python frames that run inside one C call of the interpreter's loop, innermost first. */
struct vt_pygroup {
    uint64_t anchor; /* a stack address inside that C frame; 0: not known (3.8, 3.9), placed by
                        counting */
    uint32_t first;  /* its first frame */
    uint32_t count;  /* never 0 */
};

/* Most Python frames kept of one stack. */
#define VT_PYTHON_FRAMES 128u

/* The Python half of one stack. The caller owns it and keeps one per thread, zeroed at first:
 * capturing into the last capture is how an unchanged stack is noticed. Innermost first. */
struct vt_pystack {
    uint32_t n_frames, n_groups;
    bool truncated; /* there were more, or the chain broke off: the outermost are missing */
    bool same;      /* nothing differs from what stood here before */
    struct vt_pyframe frames[VT_PYTHON_FRAMES];
    struct vt_pygroup groups[VT_PYTHON_FRAMES];
};

/* What a frame's code object says. Text is UTF-8, not terminated; what does not fit is cut between
 * characters. */
struct vt_pycode {
    uint32_t first_line;
    uint32_t line; /* of the frame's lasti; 0: it has none */
    uint32_t name_bytes, file_bytes;
    char name[512];  /* qualified name; before Python 3.11 the bare one */
    char file[1024]; /* as the code object has it: may be relative, "<string>", ... */
};

enum vt_python_state {
    VT_PYTHON_ABSENT = 0, /* no interpreter seen (yet) */
    VT_PYTHON_OFF,        /* switched off by vt_python_switch_off */
    VT_PYTHON_ACTIVE,
    VT_PYTHON_REFUSED, /* one is there, and its frames are not read: `why` says the reason */
};

/* Looks for an interpreter in the process. Takes the loader's lock, so never on the record path;
 * returns at once when one was found, refused or switched off, when no library was loaded since the
 * last call, and after 64 searches. */
void vt_python_resolve(void);

/* Whether the interpreter that was found is up: its objects are there. False also when that is not
 * known. */
bool vt_python_lives(void);

/* Ends all reading of Python frames (VRAMTRACE_PYTHON=off). Call before vt_python_resolve. */
void vt_python_switch_off(void);

/* `why`, if not NULL, gets a sentence for the report, or NULL where there is nothing to say. Static
 * memory. */
enum vt_python_state vt_python_state(const char **why);

/* Reads the calling thread's Python frames into `stack`. Answers their number; 0 when the thread
 * runs no Python. No lock, no allocation, no Python function that does more than read a word. */
uint32_t vt_python_capture(struct vt_pystack *stack);

/* Reads names and line of a frame of the calling thread's stack, while it is alive. False: they
 * could not be read. */
bool vt_python_describe(const struct vt_pyframe *frame, struct vt_pycode *out);

/* Whether a return address lies in the interpreter's own code. */
bool vt_python_owns(uintptr_t return_address);

/* Whether a return address lies in the interpreter's loop; for versions without anchors only, else
 * always false. */
bool vt_python_is_eval(uintptr_t return_address);

/* In a forked child, before anything else here. */
void vt_python_forked(void);

/* --- python_merge.c --- */

/* A word of a merged stack: the address of a native frame, with VT_MERGED_INTERPRETER when it is
 * the interpreter's own; or VT_MERGED_PYTHON and the index of a Python frame. The two bits are
 * those of log_format.h's frame words. */
#define VT_MERGED_PYTHON      (1ull << 63)
#define VT_MERGED_INTERPRETER (1ull << 62)

struct vt_merge {
    const uint64_t *address; /* native frames' return addresses, innermost first */
    const uint64_t
        *sp; /* their stack pointers: frame i lies in [sp[i], sp[i + 1]); NULL: not known */
    size_t n;
    bool cut; /* the outermost native frames are missing */
    const struct vt_pystack *python;
    bool (*owns)(uintptr_t return_address);    /* vt_python_owns */
    bool (*is_eval)(uintptr_t return_address); /* vt_python_is_eval */
};

/* Merges; a pure function. Python frames stand before the native frame of the loop that runs them,
 * innermost first; no native frame is left out. `out` has room for n + n_frames words; answers how
 * many were written. `unordered` is set when the Python frames could not be placed: then they stand
 * first, in one block. */
size_t vt_python_merge(const struct vt_merge *in, uint64_t *out, bool *unordered);

#endif
