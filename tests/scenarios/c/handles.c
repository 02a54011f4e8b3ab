/* SPDX-License-Identifier: MIT */
/* A library's handle, made once for the life of the process; or in each iteration. */
#include "scene.h"

int cublasCreate_v2(CUdeviceptr *handle);
int cublasDestroy_v2(CUdeviceptr handle);

static CUdeviceptr *handles;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    handles = new_list(60);
    for (int i = 0; i < 60; i++) {
        if (leaking || i == 0)
            CHECK(cublasCreate_v2(&handles[i])); /* LEAK */
        WORK();
    }
    return 0;
}
