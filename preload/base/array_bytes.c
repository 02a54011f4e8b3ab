/* SPDX-License-Identifier: MIT */
#include "array_bytes.h"

/* A format's size, in one of three units: bytes per channel of an element, bytes per 4 x 4 block, or (for a picture of
 * several planes) bytes per 2 x 2 elements. */
struct shape {
    uint8_t channel, block, picture;
};

static struct shape shape_of(unsigned format) {
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_UNORM_INT8X1:
    case CU_AD_FORMAT_UNORM_INT8X2:
    case CU_AD_FORMAT_UNORM_INT8X4:
    case CU_AD_FORMAT_SNORM_INT8X1:
    case CU_AD_FORMAT_SNORM_INT8X2:
    case CU_AD_FORMAT_SNORM_INT8X4:
    case CU_AD_FORMAT_UNORM_INT_101010_2: /* four channels in 32 bits */
        return (struct shape){.channel = 1};
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
    case CU_AD_FORMAT_UNORM_INT16X1:
    case CU_AD_FORMAT_UNORM_INT16X2:
    case CU_AD_FORMAT_UNORM_INT16X4:
    case CU_AD_FORMAT_SNORM_INT16X1:
    case CU_AD_FORMAT_SNORM_INT16X2:
    case CU_AD_FORMAT_SNORM_INT16X4:
        return (struct shape){.channel = 2};
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return (struct shape){.channel = 4};
    case CU_AD_FORMAT_BC1_UNORM:
    case CU_AD_FORMAT_BC1_UNORM_SRGB:
    case CU_AD_FORMAT_BC4_UNORM:
    case CU_AD_FORMAT_BC4_SNORM:
        return (struct shape){.block = 8};
    case CU_AD_FORMAT_BC2_UNORM:
    case CU_AD_FORMAT_BC2_UNORM_SRGB:
    case CU_AD_FORMAT_BC3_UNORM:
    case CU_AD_FORMAT_BC3_UNORM_SRGB:
    case CU_AD_FORMAT_BC5_UNORM:
    case CU_AD_FORMAT_BC5_SNORM:
    case CU_AD_FORMAT_BC6H_UF16:
    case CU_AD_FORMAT_BC6H_SF16:
    case CU_AD_FORMAT_BC7_UNORM:
    case CU_AD_FORMAT_BC7_UNORM_SRGB:
        return (struct shape){.block = 16};
    case CU_AD_FORMAT_NV12: /* 4:2:0: 4 luma, 2 chroma samples */
        return (struct shape){.picture = 6};
    case CU_AD_FORMAT_P010:
    case CU_AD_FORMAT_P016:
        return (struct shape){.picture = 12};
    case CU_AD_FORMAT_NV16: /* 4:2:2: 4 luma, 4 chroma samples */
    case CU_AD_FORMAT_YUY2:
        return (struct shape){.picture = 8};
    case CU_AD_FORMAT_P210:
    case CU_AD_FORMAT_P216:
    case CU_AD_FORMAT_Y210:
    case CU_AD_FORMAT_Y216:
        return (struct shape){.picture = 16};
    case CU_AD_FORMAT_Y444_PLANAR8: /* 4:4:4: 3 times 4 samples */
    case CU_AD_FORMAT_YUV444_8bit_SemiPlanar:
        return (struct shape){.picture = 12};
    case CU_AD_FORMAT_Y444_PLANAR10:
    case CU_AD_FORMAT_YUV444_16bit_SemiPlanar:
        return (struct shape){.picture = 24};
    case CU_AD_FORMAT_AYUV: /* 4:4:4 with alpha, packed */
    case CU_AD_FORMAT_Y410:
        return (struct shape){.picture = 16};
    case CU_AD_FORMAT_Y416:
        return (struct shape){.picture = 32};
    default:
        return (struct shape){0};
    }
}

static uint64_t at_least_1(uint64_t n) {
    return n ? n : 1;
}

static uint64_t plane_bytes(struct shape shape, unsigned channels, uint64_t width,
                            uint64_t height) {
    if (shape.block)
        return (width + 3) / 4 * ((height + 3) / 4) * shape.block;
    if (shape.picture)
        return (width + 1) / 2 * ((height + 1) / 2) * shape.picture;
    return width * height * channels * shape.channel;
}

uint64_t vt_array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels) {
    if (!d || d->Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING))
        return 0;
    struct shape shape = shape_of((unsigned)d->Format);
    /* Depth then counts layers and cube faces, which do not shrink from level to level. */
    bool layered = d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    uint64_t width = d->Width, height = at_least_1(d->Height), depth = at_least_1(d->Depth);
    uint64_t bytes = 0;
    for (unsigned level = 0; level < at_least_1(levels); level++) {
        bytes += plane_bytes(shape, d->NumChannels, width, height) * depth;
        if (width <= 1 && height <= 1 && (layered || depth <= 1))
            break; /* a mip chain ends here, even if more levels were requested */
        width = at_least_1(width / 2);
        height = at_least_1(height / 2);
        depth = layered ? depth : at_least_1(depth / 2);
    }
    return bytes;
}
