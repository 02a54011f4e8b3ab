/* SPDX-License-Identifier: MIT */
/* Memory that is freed by the end of its context; or the context is never ended. */
#include "scene.h"

static CUdeviceptr *kept;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    kept = new_list(6);
    for (int i = 0; i < 6; i++)
        kept[i] = ALLOC(MIB); /* LEAK */
    if (!leaking)
        CHECK(cuCtxDestroy_v2(context));
    return 0;
}
