/* SPDX-License-Identifier: MIT */
/* OWNER main in native_stack: 64 KiB, 128 KiB */
/* An object on the heap that only main's frame knows. */
#include "scene.h"

struct session {
    CUdeviceptr input, output;
};

int main(int argc, char **argv) {
    SCENE(argc, argv);
    struct session *volatile session = malloc(sizeof *session);
    session->input = ALLOC(64 * KIB);
    session->output = ALLOC(128 * KIB);
    exit(0);
}
