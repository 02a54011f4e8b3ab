/* SPDX-License-Identifier: MIT */
/*
 * Arrays and mipmapped arrays of the simulated driver. The count has the elements, tightly packed;
 * the device loses what a driver takes, with padding of rows and of the whole array. Sparse and
 * deferred arrays have no memory until it is mapped to them (array_map.c).
 */
#include "array.h"

#include <stdlib.h>
#include <string.h>

#define ROW_ALIGNMENT   512
#define ARRAY_ALIGNMENT 65536

/* ---- sizes ---- */

/* Bytes of one element of one channel; 0: not a format that is carried here. */
static size_t channel_bytes(CUarray_format format) {
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_NV12:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

static size_t round_up(size_t value, size_t step) {
    return (value + step - 1) / step * step;
}

/* Rows of an array in all: NV12 has half as many again for its second plane. */
static size_t rows_of(const struct sim_array *array) {
    size_t rows = array->height * array->depth;
    return array->descriptor.Format == CU_AD_FORMAT_NV12 ? rows + rows / 2 : rows;
}

static bool measure(struct sim_array *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
    size_t bytes = channel_bytes(descriptor->Format);
    unsigned channels = descriptor->NumChannels;
    array->descriptor = *descriptor;
    array->width = descriptor->Width;
    array->height = descriptor->Height != 0 ? descriptor->Height : 1;
    array->depth = descriptor->Depth != 0 ? descriptor->Depth : 1;
    if (descriptor->Format == CU_AD_FORMAT_NV12)
        channels = 1; /* of its first plane */
    array->element = bytes * channels;
    if (bytes == 0 || (channels != 1 && channels != 2 && channels != 4) || array->width == 0 ||
        array->width > 1U << 20 || array->height > 1U << 20 || array->depth > 1U << 20)
        return false;
    array->pitch = round_up(array->width * array->element, ROW_ALIGNMENT);
    return true;
}

static size_t tight_bytes(const struct sim_array *array) {
    return array->width * array->element * rows_of(array);
}

static size_t driver_bytes(const struct sim_array *array) {
    return round_up(array->pitch * rows_of(array), ARRAY_ALIGNMENT);
}

/* ---- make and destroy ---- */

static bool has_no_memory(unsigned flags) {
    return (flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) != 0;
}

/* Memory for copies to move bytes in. Its addresses are in no one's books: arrays have none. */
static bool give_memory(struct sim_array *array) {
    size_t bytes = driver_bytes(array);
    if (!sim_charge(array->device, bytes) &&
        (!sim_pool_give_back(array->device, bytes) || !sim_charge(array->device, bytes)))
        return false;
    array->data = (unsigned char *)sim_memory_space(array->device, bytes, &array->span);
    if (array->data == NULL) {
        sim_refund(array->device, bytes);
        return false;
    }
    array->charged = bytes;
    return true;
}

static void take_memory(struct sim_array *array) {
    if (array->charged == 0)
        return;
    sim_arena_give(&array->device->arena, (uintptr_t)array->data, array->span, true);
    sim_refund(array->device, array->charged);
}

static void drop_array(struct sim_object *object) {
    struct sim_array *array = (struct sim_array *)object;
    if (array->plane != NULL)
        sim_object_drop(array->plane);
    sim_array_unmap_all(array->tiles);
    take_memory(array);
    if (array->bytes != 0)
        sim_count(array->device, VRAMTRACE_SIM_ARRAY, -(int64_t)array->bytes, -1);
    sim_object_free(object);
}

static CUresult create(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
    SIM_ENTER_CONTEXT(context);
    if (out == NULL || descriptor == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_array *array = sim_object_new(sizeof *array, SIM_OBJECT_ARRAY, context, drop_array);
    if (array == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    array->device = context->device;
    if (!measure(array, descriptor)) {
        sim_object_drop(array);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!has_no_memory(descriptor->Flags)) {
        if (!give_memory(array)) {
            sim_object_drop(array);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        array->bytes = tight_bytes(array);
        sim_count(array->device, VRAMTRACE_SIM_ARRAY, (int64_t)array->bytes, 1);
    }
    *out = (CUarray)(void *)array;
    return CUDA_SUCCESS;
}

CUresult cuArray3DCreate_v2(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
    return create(out, descriptor);
}

/* The other three are written out into the widest description. */
#define WIDEN(d, depth, flags)                                                                     \
    (CUDA_ARRAY3D_DESCRIPTOR) {                                                                    \
        .Width = (d)->Width, .Height = (d)->Height, .Depth = (depth), .Format = (d)->Format,       \
        .NumChannels = (d)->NumChannels, .Flags = (flags)                                          \
    }

CUresult cuArrayCreate_v2(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *descriptor) {
    if (descriptor == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR wide = WIDEN(descriptor, 0, 0);
    return create(out, &wide);
}

CUresult cuArrayCreate(CUarray *out, const CUDA_ARRAY_DESCRIPTOR_v1 *descriptor) {
    if (descriptor == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR wide = WIDEN(descriptor, 0, 0);
    return create(out, &wide);
}

CUresult cuArray3DCreate(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR_v1 *descriptor) {
    if (descriptor == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR wide = WIDEN(descriptor, descriptor->Depth, descriptor->Flags);
    return create(out, &wide);
}

CUresult cuArrayDestroy(CUarray handle) {
    SIM_ENTER();
    struct sim_array *array = sim_object_get(handle, SIM_OBJECT_ARRAY);
    if (array == NULL || array->parent != NULL || array->is_plane)
        return CUDA_ERROR_INVALID_HANDLE; /* levels and planes go with their whole */
    sim_object_drop(array);
    return CUDA_SUCCESS;
}

/* ---- ask ---- */

static CUresult descriptor_of(CUarray handle, CUDA_ARRAY3D_DESCRIPTOR *out) {
    SIM_ENTER();
    struct sim_array *array = sim_object_get(handle, SIM_OBJECT_ARRAY);
    if (array == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    *out = array->descriptor;
    return CUDA_SUCCESS;
}

#define GET_DESCRIPTOR(name, type, ...)                                                            \
    CUresult name(type *out, CUarray array) {                                                      \
        CUDA_ARRAY3D_DESCRIPTOR d;                                                                 \
        CUresult result = out != NULL ? descriptor_of(array, &d) : CUDA_ERROR_INVALID_VALUE;       \
        if (result == CUDA_SUCCESS)                                                                \
            *out = (type){__VA_ARGS__};                                                            \
        return result;                                                                             \
    }

GET_DESCRIPTOR(cuArray3DGetDescriptor_v2, CUDA_ARRAY3D_DESCRIPTOR, d.Width, d.Height, d.Depth,
               d.Format, d.NumChannels, d.Flags)
GET_DESCRIPTOR(cuArrayGetDescriptor_v2, CUDA_ARRAY_DESCRIPTOR, d.Width, d.Height, d.Format,
               d.NumChannels)
GET_DESCRIPTOR(cuArray3DGetDescriptor, CUDA_ARRAY3D_DESCRIPTOR_v1, (unsigned)d.Width,
               (unsigned)d.Height, (unsigned)d.Depth, d.Format, d.NumChannels, d.Flags)
GET_DESCRIPTOR(cuArrayGetDescriptor, CUDA_ARRAY_DESCRIPTOR_v1, (unsigned)d.Width,
               (unsigned)d.Height, d.Format, d.NumChannels)

/* Answered for deferred arrays only, as the real driver does. */
CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out, CUarray handle,
                                      CUdevice device) {
    SIM_ENTER();
    struct sim_array *array = sim_object_get(handle, SIM_OBJECT_ARRAY);
    if (out == NULL || array == NULL || sim_device_get(device) == NULL ||
        (array->descriptor.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) == 0)
        return CUDA_ERROR_INVALID_VALUE;
    *out =
        (CUDA_ARRAY_MEMORY_REQUIREMENTS){.size = driver_bytes(array), .alignment = ARRAY_ALIGNMENT};
    return CUDA_SUCCESS;
}

static CUresult sparse(CUDA_ARRAY_SPARSE_PROPERTIES *out,
                       const CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
    if (out == NULL || descriptor == NULL || (descriptor->Flags & CUDA_ARRAY3D_SPARSE) == 0)
        return CUDA_ERROR_INVALID_VALUE;
    memset(out, 0, sizeof *out);
    out->tileExtent.width = out->tileExtent.height = 128;
    out->tileExtent.depth = 1;
    out->miptailFirstLevel = 0;
    out->miptailSize = ARRAY_ALIGNMENT;
    return CUDA_SUCCESS;
}

CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *out, CUarray handle) {
    SIM_ENTER();
    struct sim_array *array = sim_object_get(handle, SIM_OBJECT_ARRAY);
    return sparse(out, array != NULL ? &array->descriptor : NULL);
}

/* NV12 alone has planes here: luma as it is, chroma of half the size with two channels. */
CUresult cuArrayGetPlane(CUarray *out, CUarray handle, unsigned int plane) {
    SIM_ENTER();
    struct sim_array *array = sim_object_get(handle, SIM_OBJECT_ARRAY);
    if (array == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (out == NULL || plane > 1 || array->descriptor.Format != CU_AD_FORMAT_NV12)
        return CUDA_ERROR_INVALID_VALUE;
    if (plane == 0) {
        *out = handle;
        return CUDA_SUCCESS;
    }
    if (array->plane == NULL) {
        struct sim_array *half =
            sim_object_new(sizeof *half, SIM_OBJECT_ARRAY, array->object.context, drop_array);
        if (half == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        CUDA_ARRAY3D_DESCRIPTOR chroma = array->descriptor;
        chroma.Width /= 2;
        chroma.Height /= 2;
        chroma.Format = CU_AD_FORMAT_UNSIGNED_INT8;
        chroma.NumChannels = 2;
        half->device = array->device;
        measure(half, &chroma);
        half->pitch = array->pitch;
        half->data = array->data != NULL ? array->data + array->pitch * array->height : NULL;
        half->is_plane = true;
        array->plane = half;
    }
    *out = (CUarray)(void *)array->plane;
    return CUDA_SUCCESS;
}

/* ---- mipmapped arrays ---- */

static void drop_chain(struct sim_object *object) {
    struct sim_mipmap *chain = (struct sim_mipmap *)object;
    for (unsigned i = 0; i < chain->count; i++)
        sim_object_drop(chain->levels[i]);
    sim_array_unmap_all(chain->tiles);
    if (chain->bytes != 0)
        sim_count(chain->device, VRAMTRACE_SIM_ARRAY, -(int64_t)chain->bytes, -1);
    free(chain->levels);
    sim_object_free(object);
}

static CUDA_ARRAY3D_DESCRIPTOR level_of(const CUDA_ARRAY3D_DESCRIPTOR *whole, unsigned level) {
    CUDA_ARRAY3D_DESCRIPTOR d = *whole;
    d.Width = d.Width >> level != 0 ? d.Width >> level : 1;
    d.Height = d.Height == 0 ? 0 : d.Height >> level != 0 ? d.Height >> level : 1;
    if ((d.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) == 0) /* layers do not shrink */
        d.Depth = d.Depth == 0 ? 0 : d.Depth >> level != 0 ? d.Depth >> level : 1;
    return d;
}

CUresult sim_mipmap_new(struct sim_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                        unsigned levels, bool imported, struct sim_mipmap **out) {
    size_t longest =
        descriptor->Width > descriptor->Height ? descriptor->Width : descriptor->Height;
    unsigned most = 1;
    if ((descriptor->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) == 0 &&
        descriptor->Depth > longest)
        longest = descriptor->Depth;
    while (longest >> most != 0)
        most++;
    if (levels == 0)
        return CUDA_ERROR_INVALID_VALUE;
    levels = levels < most ? levels : most;
    struct sim_mipmap *chain =
        sim_object_new(sizeof *chain, SIM_OBJECT_MIPMAP, context, drop_chain);
    if (chain == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    chain->device = context->device;
    chain->descriptor = *descriptor;
    chain->levels = calloc(levels, sizeof *chain->levels);
    CUresult result = chain->levels != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    size_t tight = 0;
    for (unsigned i = 0; i < levels && result == CUDA_SUCCESS; i++) {
        CUDA_ARRAY3D_DESCRIPTOR d = level_of(descriptor, i);
        struct sim_array *level = sim_object_new(sizeof *level, SIM_OBJECT_ARRAY, NULL, drop_array);
        if (level == NULL) {
            result = CUDA_ERROR_OUT_OF_MEMORY;
            break;
        }
        level->device = context->device;
        level->parent = chain;
        chain->levels[chain->count++] = level;
        if (!measure(level, &d))
            result = CUDA_ERROR_INVALID_VALUE;
        else if (!has_no_memory(descriptor->Flags) && !imported && !give_memory(level))
            result = CUDA_ERROR_OUT_OF_MEMORY;
        tight += tight_bytes(level);
    }
    if (result != CUDA_SUCCESS) {
        sim_object_drop(chain);
        return result;
    }
    if (!has_no_memory(descriptor->Flags) && !imported) {
        chain->bytes = tight;
        sim_count(chain->device, VRAMTRACE_SIM_ARRAY, (int64_t)tight, 1);
    }
    *out = chain;
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                                unsigned int levels) {
    SIM_ENTER_CONTEXT(context);
    struct sim_mipmap *chain;
    if (out == NULL || descriptor == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_mipmap_new(context, descriptor, levels, false, &chain);
    if (result == CUDA_SUCCESS)
        *out = (CUmipmappedArray)(void *)chain;
    return result;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
    SIM_ENTER();
    struct sim_mipmap *chain = sim_object_get(handle, SIM_OBJECT_MIPMAP);
    if (chain == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_object_drop(chain);
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(CUarray *out, CUmipmappedArray handle, unsigned int level) {
    SIM_ENTER();
    struct sim_mipmap *chain = sim_object_get(handle, SIM_OBJECT_MIPMAP);
    if (chain == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (out == NULL || level >= chain->count)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUarray)(void *)chain->levels[level];
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out,
                                               CUmipmappedArray handle, CUdevice device) {
    SIM_ENTER();
    struct sim_mipmap *chain = sim_object_get(handle, SIM_OBJECT_MIPMAP);
    if (out == NULL || chain == NULL || sim_device_get(device) == NULL ||
        (chain->descriptor.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) == 0)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUDA_ARRAY_MEMORY_REQUIREMENTS){.alignment = ARRAY_ALIGNMENT};
    for (unsigned i = 0; i < chain->count; i++)
        out->size += driver_bytes(chain->levels[i]);
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *out,
                                             CUmipmappedArray handle) {
    SIM_ENTER();
    struct sim_mipmap *chain = sim_object_get(handle, SIM_OBJECT_MIPMAP);
    return sparse(out, chain != NULL ? &chain->descriptor : NULL);
}
