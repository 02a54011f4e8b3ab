/* SPDX-License-Identifier: MIT */
/* Arrays of the simulated driver: array.c creates them, array_map.c maps memory to sparse ones,
 * copy_shape.c copies them, external.c and graphics.c import them. */
#ifndef SIM_ARRAY_H
#define SIM_ARRAY_H

#include "driver.h"

struct sim_tile; /* physical memory behind a piece of a sparse array (array_map.c) */

struct sim_array {
    struct sim_object object;
    struct sim_device *device;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    size_t width, height, depth; /* depth also counts layers and faces; never 0 */
    size_t element;              /* bytes */
    size_t bytes;                /* counted; 0: sparse, deferred, a level or a plane */
    size_t charged;              /* taken off the device */
    unsigned char *data;         /* NULL: nothing lies behind it */
    size_t pitch, span;
    struct sim_mipmap *parent; /* a level belongs to its chain */
    struct sim_array *plane;   /* the second one, once asked for */
    bool is_plane;
    struct sim_tile *tiles;
};

struct sim_mipmap {
    struct sim_object object;
    struct sim_device *device;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    struct sim_array **levels;
    unsigned count;
    size_t bytes;
    struct sim_tile *tiles;
};

CUresult sim_mipmap_new(struct sim_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                        unsigned levels, bool imported, struct sim_mipmap **out);
void sim_array_unmap_all(struct sim_tile *tiles);

#endif /* SIM_ARRAY_H */
