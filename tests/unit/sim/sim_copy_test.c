/* SPDX-License-Identifier: MIT */
/* Copies and fills of the simulated driver move the bytes they should, and refuse the rest. */
#include "sim_test.h"

static void straight_body(void) {
    CUdeviceptr a, b;
    CUstream stream;
    unsigned char in[1000], out[1000];
    new_context(0);
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(i * 7);
    OK(cuMemAlloc_v2(&a, sizeof in));
    OK(cuMemAlloc_v2(&b, sizeof in));
    OK(cuMemcpyHtoD_v2(a, in, sizeof in));
    OK(cuMemcpyDtoD_v2(b, a, sizeof in));
    OK(cuMemcpyDtoH_v2(out, b, sizeof out));
    EXPECT(memcmp(in, out, sizeof in) == 0);
    OK(cuStreamCreate(&stream, 0));
    OK(cuMemcpyHtoDAsync_v2(a + 10, in, 100, stream));
    OK(cuMemcpyDtoHAsync_v2_ptsz(out, a + 10, 100, NULL));
    EXPECT(memcmp(in, out, 100) == 0);
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)out, b, 500)); /* the driver tells host from device */
    EXPECT(memcmp(in, out, 500) == 0);
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(a, in, sizeof in + 1));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(out, a + 999, 2));
    OK(cuMemFree_v2(b));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD_v2(b, a, 1));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(out, 0x1000, 1));
    OK(cuStreamDestroy_v2(stream));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuMemcpyHtoDAsync_v2(a, in, 1, stream));
}

static void straight(void **state) {
    (void)state;
    in_child(NULL, straight_body);
}

static void fills_body(void) {
    CUdeviceptr a;
    unsigned char out[64], *byte = out;
    new_context(0);
    OK(cuMemAlloc_v2(&a, sizeof out));
    OK(cuMemsetD8_v2(a, 0xee, sizeof out));
    OK(cuMemsetD16_v2(a + 2, 0x1234, 3));
    OK(cuMemsetD32_v2(a + 16, 0xa1b2c3d4, 2));
    OK(cuMemsetD2D8_v2(a + 32, 8, 0x11, 3, 4));
    OK(cuMemcpyDtoH_v2(out, a, sizeof out));
    EXPECT(byte[0] == 0xee && byte[2] == 0x34 && byte[3] == 0x12 && byte[7] == 0x12);
    EXPECT(byte[8] == 0xee && byte[16] == 0xd4 && byte[23] == 0xa1 && byte[24] == 0xee);
    for (int y = 0; y < 4; y++)
        EXPECT(byte[32 + 8 * y + 2] == 0x11 && byte[32 + 8 * y + 3] == 0xee);
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(a, 0, sizeof out + 1));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(a + 2, 0, 1));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(a, 0, SIZE_MAX));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8_v2(a, 8, 0, 8, SIZE_MAX));
}

static void fills(void **state) {
    (void)state;
    in_child(NULL, fills_body);
}

#define W 30
#define H 20

static void shaped_body(void) {
    CUdeviceptr image, volume;
    size_t pitch;
    unsigned char in[H][W], out[H][W], cube[3][H][W], back[3][H][W];
    new_context(0);
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++) {
            in[y][x] = (unsigned char)(y * W + x);
            for (int z = 0; z < 3; z++)
                cube[z][y][x] = (unsigned char)(z * 99 + y * W + x);
        }
    }
    OK(cuMemAllocPitch_v2(&image, &pitch, W, H, 4));
    OK(cuMemcpy2D_v2(&(CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                                      .srcHost = in,
                                      .srcPitch = W,
                                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                      .dstDevice = image,
                                      .dstPitch = pitch,
                                      .WidthInBytes = W,
                                      .Height = H}));
    memset(out, 0, sizeof out);
    /* A window of it: 10 columns from 5, 4 rows from 7, to the window's own place. */
    CUDA_MEMCPY2D window = {.srcXInBytes = 5,
                            .srcY = 7,
                            .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                            .srcDevice = image,
                            .srcPitch = pitch,
                            .dstXInBytes = 5,
                            .dstY = 7,
                            .dstMemoryType = CU_MEMORYTYPE_HOST,
                            .dstHost = out,
                            .dstPitch = W,
                            .WidthInBytes = 10,
                            .Height = 4};
    OK(cuMemcpy2D_v2(&window));
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++)
            EXPECT(out[y][x] == (y >= 7 && y < 11 && x >= 5 && x < 15 ? in[y][x] : 0));
    }
    window.Height = H; /* runs off the end of the allocation */
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(&window));

    OK(cuMemAlloc_v2(&volume, sizeof cube));
    OK(cuMemcpy3D_v2(&(CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                                      .srcHost = cube,
                                      .srcPitch = W,
                                      .srcHeight = H,
                                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                      .dstDevice = volume,
                                      .dstPitch = W,
                                      .dstHeight = H,
                                      .WidthInBytes = W,
                                      .Height = H,
                                      .Depth = 3}));
    OK(cuMemcpyDtoH_v2(back, volume, sizeof back));
    EXPECT(memcmp(cube, back, sizeof cube) == 0);
}

static void shaped(void **state) {
    (void)state;
    in_child(NULL, shaped_body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight),
        cmocka_unit_test(fills),
        cmocka_unit_test(shaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
