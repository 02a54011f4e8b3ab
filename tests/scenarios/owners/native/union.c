/* SPDX-License-Identifier: MIT */
/* OWNER values in global: 2 x 64 KiB */
/* SLOT values: 2 x 64 KiB */
/* Unions, of which some are numbers. */
#include "scene.h"

static struct value {
    enum { NUMBER, BUFFER } kind;
    union {
        double number;
        CUdeviceptr buffer;
    };
} values[4] = {{NUMBER, {3.5}}, {NUMBER, {0}}, {NUMBER, {1e100}}, {NUMBER, {0}}};

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 1; i < 4; i += 2) {
        values[i].kind = BUFFER;
        values[i].buffer = ALLOC(64 * KIB);
    }
    KEEP(values);
    return 0;
}
