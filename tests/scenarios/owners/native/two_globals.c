/* SPDX-License-Identifier: MIT */
/* OWNER weights in global: 64 KiB */
/* OWNER gradients in global: 128 KiB */
/* Globals side by side. */
#include "scene.h"

CUdeviceptr weights, gradients;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    gradients = ALLOC(128 * KIB);
    weights = ALLOC(64 * KIB);
    KEEP(weights);
    KEEP(gradients);
    return 0;
}
