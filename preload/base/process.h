/* SPDX-License-Identifier: MIT */
/*
 * The state of our process for every module: is it armed, is it a forked child, is it inside exit()? Arming and forks
 * concern every module, so process.c calls the modules through one table, which load.c fills. This is the only place
 * where the order of the modules is reversed.
 */
#ifndef VT_PRELOAD_PROCESS_H
#define VT_PRELOAD_PROCESS_H

#include "atomic.h"
#include "locks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The table lies in a section of its own, whose start and end the linker defines. So the table exists before any
 * constructor runs; another library's constructor may call CUDA before ours runs. A unit test without load.c has no
 * table, and arming does nothing. */
struct vt_process_steps {
    void (*begins)(void); /* called first, by each thread that arms */
    void (*armed)(void);  /* called once, by one thread while others wait: must take no lock */
    void (*open)(void);   /* called next, by each thread that arms: may take the loader's lock */
    void (*forked)(void); /* drops the state that a child inherited */
    void (*due)(void);    /* called at the end of an event that found something due (vt_tls.due) */
};
#define VT_PROCESS_STEPS __attribute__((section("vt_process_steps"), used))

/* The program's file: the text in `buffer`, or the name it was started by if /proc is absent, as in some chroots. "":
 * unknown. */
const char *vt_process_program(char *buffer, size_t size);

/* The command line in the kernel's layout, arguments separated by NUL; load.c sets it. NULL: unknown. */
extern const char *vt_process_command;
extern size_t vt_process_command_bytes;

/* Finds out whether system calls are allowed and which locks are lost. Call it before any look-up. */
void vt_process_begin(void);

/* Arms the library when the program first uses CUDA: options, unwinder, Python. Cheap
 * when armed. */
void vt_process_arm(void);

/* Whether vt_process_arm() was called, which means that the program has used CUDA. */
bool vt_process_is_armed(void);

/* Turns a forked child into a process of its own. Call it first in every event. */
void vt_process_check_fork_(void);
static inline void vt_process_check_fork(void) {
    if (__builtin_expect(!vt_get(vt_see(&vt_process_settled)), 0)) /* the options are read */
        vt_process_check_fork_();
}

/* Does the work that is due at the end of an event (vt_tls.due). */
void vt_process_due(void);

/* Whether this is a forked child that has not become a process of its own yet. */
bool vt_process_is_fresh_child_(void);
static inline bool vt_process_is_fresh_child(void) {
    return __builtin_expect(!vt_get(vt_get(&vt_process_settled)), 0) &&
           vt_process_is_fresh_child_();
}

/* False before the first event, and in a forked child that has had no event yet. */
bool vt_process_is_ours(void);

/* Whether the calling code runs inside exit(). `frames` holds its return addresses,
 * innermost first. */
bool vt_process_in_exit(void *const *frames, size_t count);

#endif
