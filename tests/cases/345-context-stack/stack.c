/* SPDX-License-Identifier: MIT */
/*
 * Contexts that come and go above one that stays: destroying the current one takes it off the
 * thread's stack, and what is allocated next is the other's. Prints the other's live bytes.
 */
#include "../../cuda_case.h"

int main(void) {
    CUcontext stays = start_cuda(), current;
    CUdeviceptr block;
    for (int i = 0; i < 40; i++) {
        CUcontext goes;
        CHECK(cuCtxCreate_v2(&goes, 0, 0));
        CHECK(cuMemAlloc_v2(&block, 1000)); /* goes with its context */
        CHECK(cuCtxDestroy_v2(goes));
        CHECK(cuCtxGetCurrent(&current));
        EXPECT(current == stays);
        CHECK(cuMemAlloc_v2(&block, 10));
        /* one that is not current is destroyed: the stack stays as it is */
        CHECK(cuCtxCreate_v2(&goes, 0, 0));
        CHECK(cuCtxPopCurrent_v2(&current));
        CHECK(cuCtxDestroy_v2(goes));
        CHECK(cuMemAlloc_v2(&block, 1));
    }
    printf("%d\n", 40 * 11);
    return 0;
}
