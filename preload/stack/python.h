/* SPDX-License-Identifier: MIT */
/*
 * The Python half of a call stack: the interface of python*.c for stack.c.
 *
 * The calling thread's chain of Python frames does not change while the thread is inside one of our wrappers. So we
 * read it in place: without the GIL, without making a Python object, without changing a reference count. The fields'
 * offsets differ between CPython's minor versions (python_layout.c).
 *
 * Order of calls: vt_python_resolve() at arming and after later library loads; vt_python_identify() at each event; for
 * a new stack, vt_python_capture(), vt_python_describe() for each frame, and vt_python_merge() with the native frames,
 * all within the same wrapper call, while the frames are alive.
 */
#ifndef VT_PRELOAD_PYTHON_H
#define VT_PRELOAD_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One Python frame. Frames with equal (code, tag, lasti) are at the same position in the same code object, for the life
 * of the process. */
struct vt_pyframe {
    uint64_t code;  /* address of the code object */
    uint64_t tag;   /* identifies the code object, because its address may be reused */
    uint32_t lasti; /* byte offset into its bytecode; VT_PYTHON_NO_LASTI if unknown */
    uint32_t group; /* index of the frame's group */
};
#define VT_PYTHON_NO_LASTI 0xffffffffu

/* Python frames that run inside one C call of the interpreter's loop, innermost first. */
struct vt_pygroup {
    uint64_t anchor; /* a stack address in that C frame; 0: unknown (3.8, 3.9) */
    uint32_t first;  /* its first frame */
    uint32_t count;  /* never 0 */
};

/* The maximum number of Python frames kept per stack. */
#define VT_PYTHON_FRAMES 128u

/* The Python half of one stack, innermost first. */
struct vt_pystack {
    uint32_t n_frames, n_groups;
    bool truncated; /* the outermost frames are missing: too many, or the chain broke off */
    struct vt_pyframe frames[VT_PYTHON_FRAMES];
    struct vt_pygroup groups[VT_PYTHON_FRAMES];
};

/* One element of the frame chain at its last reading: a frame, or the end of a call of the interpreter's loop. */
struct vt_pystep {
    uint64_t frame, code, instruction; /* the frame's address, and words in it */
    uint64_t hash;                     /* of this frame and the outer ones */
    uint32_t owner;                    /* the kind of frame; 3.11: whether its loop ends there */
    uint16_t frames;                   /* number of shown frames from here outwards */
    bool is_code;                      /* `code` is a code object */
};

/* Facts about a code object, valid until any code object is freed. */
struct vt_pyknown {
    uint64_t code, tag, start, generation;
};
#define VT_PYTHON_STEPS 192u
#define VT_PYTHON_KNOWN 128u

/* The calling thread's chain at its last event (python_chain.c). The caller owns it, keeps one per
 * thread and zeroes it at first. */
struct vt_pylast {
    uint64_t count, generation; /* freed code objects; changes when an address may be reused */
    uint32_t n;
    uint8_t where[256];                       /* step by frame, only a hint */
    struct vt_pyknown known[VT_PYTHON_KNOWN]; /* by code */
    struct vt_pystep step[VT_PYTHON_STEPS];   /* outermost first */
};

/* Contents of a frame's code object. Text is UTF-8, not terminated; text that does not fit is cut between
 * characters. */
struct vt_pycode {
    uint32_t first_line;
    uint32_t line; /* the line at the frame's lasti; 0: none */
    uint32_t name_bytes, file_bytes;
    char name[512];  /* qualified name; before Python 3.11 the plain name */
    char file[1024]; /* as in the code object: may be relative, "<string>", ... */
};

enum vt_python_state {
    VT_PYTHON_ABSENT = 0, /* no interpreter seen (yet) */
    VT_PYTHON_OFF,        /* switched off by vt_python_switch_off */
    VT_PYTHON_ACTIVE,
    VT_PYTHON_REFUSED, /* found, but we cannot read its frames: `why` is the reason */
};

/* Looks for an interpreter in the process. Takes the loader's lock, so never call it on the record path. Returns at
 * once if one was found or refused, if Python is switched off, if no library was loaded since the last call, and after
 * 64 searches. */
void vt_python_resolve(void);

/* Whether the interpreter is running, so that its objects exist. False if unknown. */
bool vt_python_lives(void);
/* Whether the interpreter was ever running at an event or a check. If so, its end may have dropped objects that owned
 * memory. */
bool vt_python_lived(void);
void vt_python_note_lived(void);

/* Registers functions (python_end.c). `call` is called when the interpreter ends, before it drops its objects, and
 * `soon` as soon as possible, both with the GIL held; `all` is called when all of Python has ended. `is_end` returns
 * whether the native stack shows the interpreter's end. Call this function repeatedly: other handlers may have been
 * added, and a program may clear its registrations. Works on any thread; waits only for the lock of CPython's list of
 * pending calls. Needs a running interpreter. */
void vt_python_watch_end(void (*call)(void), void (*soon)(void), void (*all)(void),
                         bool (*is_end)(void));
/* Whether `call` was called; false again if the program continues. */
bool vt_python_is_ending(void);
/* Whether all of Python has ended: the embedding program is running, or the process is ending. */
bool vt_python_has_ended(void);

/* Ends all reading of Python frames (VRAMTRACE_PYTHON=off). Call before vt_python_resolve. */
void vt_python_switch_off(void);

/* `why`, if not NULL, receives a sentence for the report, or NULL if there is none. Static memory. */
enum vt_python_state vt_python_state(const char **why);

/* A number for the calling thread's Python stack: equal stacks have equal numbers on all threads. 0: no frames. `stack`
 * is working memory. Takes no lock, allocates nothing, and calls no Python function that does more than read a word. */
uint64_t vt_python_identify(struct vt_pylast *last, struct vt_pystack *stack);

/* Reads the calling thread's Python frames into `stack`. Returns their number; 0 if the thread runs no Python. Takes no
 * lock, allocates nothing, and calls no Python function that does more than read a word. */
uint32_t vt_python_capture(struct vt_pystack *stack);

/* Reads the names and line of a frame on the calling thread's stack, while it is alive. False: they
 * could not be read. */
bool vt_python_describe(const struct vt_pyframe *frame, struct vt_pycode *out);

/* Whether a code object's source is not in a file, but may be in Python's `linecache`. */
bool vt_python_is_no_file(const struct vt_pycode *code);
/* Requests a record of the code's source line; `number` is the code's number in the log. False: too many requests are
 * waiting. */
bool vt_python_want_line(uint32_t number, const struct vt_pycode *code);
bool vt_python_wants_lines(void);
/* With the GIL held, within a recording: writes the requested lines. */
struct vt_thread;
void vt_python_write_lines(struct vt_thread *thread);
void vt_python_lines_forked(void);

/* The line of a byte offset into a code object's bytecode, from a copy of its line table. 0: none. */
uint32_t vt_python_line(const uint8_t *table, size_t bytes, uint32_t first, uint32_t lasti);

/* Whether a return address is in the interpreter's own code. */
bool vt_python_owns(uintptr_t return_address);

/* Whether a return address is in the interpreter's loop. Only for versions without anchors; always
 * false for others. */
bool vt_python_is_eval(uintptr_t return_address);

/* In a forked child, call this before any other function in this header. */
void vt_python_forked(void);

/* A word of a merged stack is either a native frame's address, with VT_MERGED_INTERPRETER if it is in the interpreter;
 * or VT_MERGED_PYTHON and the index of a Python frame. The frame words in log_format.h have the same two bits. */
#define VT_MERGED_PYTHON      (1ull << 63)
#define VT_MERGED_INTERPRETER (1ull << 62)

struct vt_merge {
    const uint64_t *address; /* return addresses of the native frames, innermost first */
    const uint64_t *sp;      /* stack pointers: frame i is in [sp[i], sp[i + 1]); NULL: unknown */
    size_t n;
    bool cut; /* the outermost native frames are missing */
    const struct vt_pystack *python;
    bool (*owns)(uintptr_t return_address);    /* vt_python_owns */
    bool (*is_eval)(uintptr_t return_address); /* vt_python_is_eval */
};

/* Merges native and Python frames; a pure function. Python frames come before the native frame of the loop that runs
 * them, innermost first; every native frame is kept. `out` needs space for n + n_frames words. Returns the number of
 * words. `unordered` is set if the Python frames' positions are unknown: then they come first, in one block. */
size_t vt_python_merge(const struct vt_merge *in, uint64_t *out, bool *unordered);

#endif
