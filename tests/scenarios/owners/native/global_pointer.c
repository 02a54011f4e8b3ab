/* SPDX-License-Identifier: MIT */
/* OWNER model in global: 64 KiB, 3 x 32 KiB */
/* SLOT model: 3 x 32 KiB */
/* A global pointer to a structure with an array behind it. */
#include "scene.h"

struct model {
    char name[40];
    CUdeviceptr weights, *layers;
};
struct model *model;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    model = calloc(1, sizeof *model);
    strcpy(model->name, "small");
    model->weights = ALLOC(64 * KIB);
    model->layers = new_list(3);
    for (int i = 0; i < 3; i++)
        model->layers[i] = ALLOC(32 * KIB);
    return 0;
}
