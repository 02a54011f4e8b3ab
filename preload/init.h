/* SPDX-License-Identifier: MIT */
/* Between exec.c, which wraps the family, and init.c, which knows whether the log is this
 * process's. */
#ifndef VT_PRELOAD_INIT_H
#define VT_PRELOAD_INIT_H

void vt_init_exec_begins(void); /* writes END */
void vt_init_exec_failed(void); /* takes it back */

#endif
