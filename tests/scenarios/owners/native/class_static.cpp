/* SPDX-License-Identifier: MIT */
/* OWNER Model::weights in global: 64 KiB */
/* OWNER Model::layers in global: 2 x 16 KiB */
/* Static members of a class. */
#include "scene.h"

#include <unistd.h>
#include <vector>

struct Model {
    static CUdeviceptr weights;
    static std::vector<CUdeviceptr> layers;
};
CUdeviceptr Model::weights;
std::vector<CUdeviceptr> Model::layers;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    Model::weights = ALLOC(64 * KIB);
    Model::layers = {ALLOC(16 * KIB), ALLOC(16 * KIB)};
    KEEP(Model::weights);
    _exit(0);
}
