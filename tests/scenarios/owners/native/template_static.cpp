/* SPDX-License-Identifier: MIT */
/* OWNER Pool<float>::free_list in global: 2 x 64 KiB */
/* OWNER Pool<double>::free_list in global: 128 KiB */
/* Static members of a class template. */
#include "scene.h"

#include <unistd.h>
#include <vector>

template <typename T> struct Pool { static std::vector<CUdeviceptr> free_list; };
template <typename T> std::vector<CUdeviceptr> Pool<T>::free_list;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    Pool<float>::free_list = {ALLOC(64 * KIB), ALLOC(64 * KIB)};
    Pool<double>::free_list = {ALLOC(128 * KIB)};
    _exit(0);
}
