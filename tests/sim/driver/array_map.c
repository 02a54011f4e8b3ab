/* SPDX-License-Identifier: MIT */
/* Memory behind the tiles of sparse and deferred arrays: a mapped tile keeps its physical memory
 * alive. Copies treat such arrays as unmapped. */
#include "array.h"
#include "graph.h"
#include "vmm.h"

#include <stdlib.h>
#include <string.h>

struct sim_tile {
    struct sim_tile *next;
    CUarrayMapInfo where; /* what an unmap must name */
    struct sim_physical *physical;
};

void sim_array_unmap_all(struct sim_tile *tiles) {
    while (tiles != NULL) {
        struct sim_tile *tile = tiles;
        tiles = tile->next;
        tile->physical->uses--;
        sim_physical_settle(tile->physical);
        free(tile);
    }
}

static bool same_place(const CUarrayMapInfo *a, const CUarrayMapInfo *b) {
    return a->subresourceType == b->subresourceType &&
           memcmp(&a->subresource, &b->subresource, sizeof a->subresource) == 0;
}

static CUresult apply(const CUarrayMapInfo *info) {
    struct sim_tile **list = NULL;
    if (info->resourceType == CU_RESOURCE_TYPE_ARRAY) {
        struct sim_array *array = sim_object_get(info->resource.array, SIM_OBJECT_ARRAY);
        list = array != NULL && array->charged == 0 ? &array->tiles : NULL;
    } else if (info->resourceType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
        struct sim_mipmap *chain = sim_object_get(info->resource.mipmap, SIM_OBJECT_MIPMAP);
        list = chain != NULL && chain->bytes == 0 ? &chain->tiles : NULL;
    }
    if (list == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    /* A new mapping takes the place of the old one. */
    for (struct sim_tile **it = list; *it != NULL; it = &(*it)->next) {
        if (same_place(&(*it)->where, info)) {
            struct sim_tile *gone = *it;
            *it = gone->next;
            gone->next = NULL;
            sim_array_unmap_all(gone);
            break;
        }
    }
    if (info->memOperationType == CU_MEM_OPERATION_TYPE_UNMAP)
        return CUDA_SUCCESS;
    struct sim_physical *physical = sim_physical_get(info->memHandle.memHandle);
    struct sim_tile *tile = physical != NULL ? calloc(1, sizeof *tile) : NULL;
    if (tile == NULL)
        return physical == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
    tile->where = *info;
    tile->physical = physical;
    tile->next = *list;
    *list = tile;
    physical->uses++;
    return CUDA_SUCCESS;
}

static CUresult cuMemMapArrayAsync_on(CUarrayMapInfo *list, unsigned int count, CUstream handle) {
    SIM_ENTER_CONTEXT(context);
    if (sim_stream_get(handle, context) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (list == NULL || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        CUresult result = apply(&list[i]);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

SIM_TWINS(cuMemMapArrayAsync, _ptsz, (CUarrayMapInfo * list, unsigned int count, CUstream s),
          (list, count, s), (list, count, SIM_PT(s)))
