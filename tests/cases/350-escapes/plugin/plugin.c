/* SPDX-License-Identifier: MIT */
/* Linked with the driver itself, and opened RTLD_DEEPBIND: its calls bind past every preload. */
#include "../../../cuda_case.h"

int escape(size_t bytes);
int escape(size_t bytes) {
    CUdeviceptr p;
    return (int)cuMemAlloc_v2(&p, bytes);
}
