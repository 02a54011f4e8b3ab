/* SPDX-License-Identifier: MIT */
/*
 * libcusparseLt: its version (see numb.h). Its handles are the program's own memory.
 */
#include "numb.h"

NUMB_API int cusparseLtGetVersion(void *handle, int *version);

int cusparseLtGetVersion(void *handle, int *version) {
    (void)handle;
    *version = 801;
    return 0;
}
