/* SPDX-License-Identifier: MIT */
/* Memory that is freed before its context ends; or that goes with it. */
#include "scene.h"

static CUdeviceptr *kept;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    kept = new_list(6);
    for (int i = 0; i < 6; i++)
        kept[i] = ALLOC(MIB); /* LEAK */
    for (int i = 0; i < 6 && !leaking; i++)
        FREE(kept[i]);
    CHECK(cuCtxDestroy_v2(context));
    return 0;
}
