/* SPDX-License-Identifier: MIT */
/* Called by exec.c, which wraps exec*; init.c knows whether the log is this process's. */
#ifndef VT_PRELOAD_INIT_H
#define VT_PRELOAD_INIT_H

void vt_init_exec_begins(void); /* writes END */
void vt_init_exec_failed(void); /* removes it */

#endif
