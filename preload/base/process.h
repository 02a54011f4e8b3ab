/* SPDX-License-Identifier: MIT */
/*
 * What every room asks about the process that we are in: is it armed, is it a forked child, is it
 * inside exit(). The answers need all rooms (what a child drops, what arming opens); so process.c
 * calls up, through one table that init.c fills. This is the only place where the order of the rooms
 * is turned round.
 */
#ifndef VT_PRELOAD_PROCESS_H
#define VT_PRELOAD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/* The table. It stands in a section of its own, which the linker gives a begin and an end: so it is
 * there before any constructor has run, since another library's may call CUDA before ours. A unit
 * test without init.c has none, and arms nothing. */
struct vt_process_steps {
    void (*armed)(void);  /* once, by one thread while others wait: takes no lock */
    void (*open)(void);   /* then, by each thread that arms: may take the loader's lock */
    void (*forked)(void); /* drops what a child has inherited */
};
#define VT_PROCESS_STEPS __attribute__((section("vt_process_steps"), used))

/* Arms the library at the program's first reach for CUDA: options, unwinder, Python. Cheap when
 * armed. */
void vt_process_arm(void);

/* Whether vt_process_arm() was called: the program has reached for CUDA. */
bool vt_process_is_armed(void);

/* Makes a forked child a process of its own. Call first at every event. */
void vt_process_check_fork(void);

/* False before the first event, and in a forked child that had none yet. */
bool vt_process_is_ours(void);

/* Whether the calling code runs inside exit(), by its return addresses innermost first. */
bool vt_process_in_exit(void *const *frames, size_t count);

#endif
