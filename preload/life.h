/* SPDX-License-Identifier: MIT */
/* A process's life: load.c, fork.c, exec.c and exit.c use each other through this header. */
#ifndef VT_PRELOAD_LIFE_H
#define VT_PRELOAD_LIFE_H

/* exit.c: the handlers that load.c registers for exit and quick_exit. */
void vt_exit_handler(int status, void *unused);
/* ... and at arming: from then on, exit runs our handler first. */
void vt_exit_watch(void);
void vt_exit_quick_handler(void *unused);
void vt_exit_exec_begins(void); /* writes END */
void vt_exit_exec_failed(void); /* removes that mark */
void vt_exit_forked(void);

/* fork.c: called at load, and at a child's first event. */
void vt_fork_load(void);
void vt_fork_happened(void);

#endif
