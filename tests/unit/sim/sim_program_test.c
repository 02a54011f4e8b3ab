/* SPDX-License-Identifier: MIT */
/*
 * What ordinary programs use besides memory: copies to arrays by bytes, attributes of streams,
 * launch shapes, code linked at run time, events of other processes, compressible memory.
 */
#include "sim_test.h"

/* clang-format off */
CUresult cuModuleLoadData(CUmodule *, const void *);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuLinkCreate_v2(unsigned int, CUjit_option *, void **, CUlinkState *);
CUresult cuLinkAddData_v2(CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned int, CUjit_option *, void **);
CUresult cuLinkAddFile_v2(CUlinkState, CUjitInputType, const char *, unsigned int, CUjit_option *, void **);
CUresult cuLinkComplete(CUlinkState, void **, size_t *);
CUresult cuLinkDestroy(CUlinkState);
CUresult cuOccupancyMaxPotentialBlockSize(int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int);
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int, unsigned int);
CUresult cuStreamSetAttribute(CUstream, CUstreamAttrID, const CUstreamAttrValue *);
CUresult cuStreamGetAttribute(CUstream, CUstreamAttrID, CUstreamAttrValue *);
CUresult cuStreamCopyAttributes(CUstream, CUstream);
CUresult cuStreamGetPriority(CUstream, int *);
CUresult cuEventCreate(CUevent *, unsigned int);
CUresult cuEventDestroy_v2(CUevent);
CUresult cuEventQuery(CUevent);
CUresult cuEventRecord(CUevent, CUstream);
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned int);
CUresult cuDeviceGetAttribute(int *, CUdevice_attribute, CUdevice);
CUresult cuMemCreate(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long);
CUresult cuMemRelease(CUmemGenericAllocationHandle);
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *, CUmemGenericAllocationHandle);
CUresult cuIpcGetEventHandle(CUipcEventHandle *, CUevent);
CUresult cuIpcOpenEventHandle(CUevent *, CUipcEventHandle);
/* clang-format on */

/* ---- arrays, by bytes ---- */

static void array_bytes_of(struct runtime rt) {
    struct cudaChannelFormatDesc floats = {.x = 32, .f = cudaChannelFormatKindFloat};
    struct cudaChannelFormatDesc bytes = {.x = 8, .f = cudaChannelFormatKindUnsigned};
    cudaArray_t array, other, line;
    float in[4][6], out[4][6];
    char text[16] = "0123456789abcde", back[16] = "";
    FUNCTION(rt, cudaMallocArray,
             (cudaArray_t *, const struct cudaChannelFormatDesc *, size_t, size_t, unsigned));
    FUNCTION(rt, cudaFreeArray, (cudaArray_t));
    FUNCTION(rt, cudaMemcpyToArray,
             (cudaArray_t, size_t, size_t, const void *, size_t, enum cudaMemcpyKind));
    FUNCTION(rt, cudaMemcpyFromArray,
             (void *, cudaArray_const_t, size_t, size_t, size_t, enum cudaMemcpyKind));
    FUNCTION(rt, cudaMemcpyArrayToArray,
             (cudaArray_t, size_t, size_t, cudaArray_const_t, size_t, size_t, size_t,
              enum cudaMemcpyKind));
    FUNCTION(
        rt, cudaMemcpyToArrayAsync,
        (cudaArray_t, size_t, size_t, const void *, size_t, enum cudaMemcpyKind, cudaStream_t));
    FUNCTION(
        rt, cudaMemcpyFromArrayAsync,
        (void *, cudaArray_const_t, size_t, size_t, size_t, enum cudaMemcpyKind, cudaStream_t));
    for (int i = 0; i < 24; i++)
        in[i / 6][i % 6] = (float)i;
    OK(cudaMallocArray(&array, &floats, 6, 4, 0));
    OK(cudaMemcpyToArray(array, 0, 0, in, sizeof in, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromArray(out, array, 0, 0, sizeof out, cudaMemcpyDeviceToHost));
    EXPECT(memcmp(in, out, sizeof in) == 0);
    /* From the middle of a row into the middle of a later one: 5 elements, 6, and 2. */
    OK(cudaMemcpyFromArrayAsync(out, array, 4, 1, 13 * 4, cudaMemcpyDeviceToHost, NULL));
    EXPECT(out[0][0] == 7 && out[0][4] == 11 && out[0][5] == 12 && out[1][5] == 18 &&
           out[2][0] == 19 && out[2][1] == in[2][1]);
    memset(out, 0, sizeof out);
    OK(cudaMemcpyToArrayAsync(array, 20, 0, out, 8, cudaMemcpyHostToDevice, NULL));
    OK(cudaMemcpyFromArray(out, array, 0, 0, sizeof out, cudaMemcpyDefault));
    EXPECT(out[0][4] == 4 && out[0][5] == 0 && out[1][0] == 0 && out[1][1] == 7);
    ANSWERS(cudaErrorInvalidValue,
            cudaMemcpyToArray(array, 0, 1, in, sizeof in, cudaMemcpyHostToDevice));
    ANSWERS(cudaErrorInvalidValue, cudaMemcpyToArray(array, 24, 0, in, 4, cudaMemcpyHostToDevice));
    ANSWERS(cudaErrorInvalidMemcpyDirection, cudaMemcpyToArray(array, 0, 0, in, 4, 9));
    OK(cudaMemcpyToArray(array, 0, 0, in, 0, cudaMemcpyHostToDevice));

    OK(cudaMallocArray(&line, &bytes, 16, 0, 0)); /* one row, no height */
    OK(cudaMallocArray(&other, &bytes, 5, 4, 0));
    OK(cudaMemcpyToArray(line, 0, 0, text, 16, cudaMemcpyHostToDevice));
    OK(cudaMemcpyArrayToArray(other, 2, 0, line, 1, 0, 15, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyFromArray(back, other, 2, 0, 15, cudaMemcpyDeviceToHost));
    EXPECT(strcmp(back, text + 1) == 0);
    OK(cudaFreeArray(other));
    OK(cudaFreeArray(line));
    OK(cudaFreeArray(array));
    EXPECT(vramtrace_sim_live_bytes(0) == 0);
}

static void array_bytes_body(void) {
    array_bytes_of(open_runtime("12"));
    array_bytes_of(open_runtime("13"));
}

static void array_bytes(void **state) {
    (void)state;
    in_child(NULL, array_bytes_body);
}

/* ---- streams ---- */

static void stream_attributes_body(void) {
    CUstream one, two;
    CUstreamAttrValue in = {.accessPolicyWindow = {.base_ptr = &in, .num_bytes = 5, .hitRatio = 1}};
    CUstreamAttrValue out;
    int priority;
    new_context(0);
    OK(cuStreamCreate(&one, 0));
    OK(cuStreamCreate(&two, 0));
    OK(cuStreamGetAttribute(one, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &out));
    EXPECT(out.syncPolicy == CU_SYNC_POLICY_AUTO);
    OK(cuStreamSetAttribute(one, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &in));
    OK(cuStreamGetAttribute(one, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &out));
    EXPECT(out.accessPolicyWindow.base_ptr == &in && out.accessPolicyWindow.num_bytes == 5);
    OK(cuStreamGetAttribute(two, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &out));
    EXPECT(out.accessPolicyWindow.base_ptr == NULL);
    in.priority = -2;
    OK(cuStreamSetAttribute(one, CU_LAUNCH_ATTRIBUTE_PRIORITY, &in));
    OK(cuStreamCopyAttributes(two, one));
    OK(cuStreamGetAttribute(two, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &out));
    EXPECT(out.accessPolicyWindow.num_bytes == 5);
    OK(cuStreamGetPriority(two, &priority));
    EXPECT(priority == -2);
    ANSWERS(CUDA_ERROR_INVALID_VALUE,
            cuStreamSetAttribute(one, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &in)); /* a launch's */
    ANSWERS(CUDA_ERROR_INVALID_VALUE,
            cuStreamGetAttribute(one, CU_LAUNCH_ATTRIBUTE_PRIORITY, NULL));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE,
            cuStreamGetAttribute((CUstream)(void *)&in, CU_LAUNCH_ATTRIBUTE_PRIORITY, &out));

    struct runtime rt = open_runtime("13");
    FUNCTION(rt, cudaStreamSetAttribute, (CUstream, int, const CUstreamAttrValue *));
    FUNCTION(rt, cudaStreamGetAttribute, (CUstream, int, CUstreamAttrValue *));
    FUNCTION(rt, cudaStreamCopyAttributes, (CUstream, CUstream));
    in.priority = -3;
    OK(cudaStreamSetAttribute(one, CU_LAUNCH_ATTRIBUTE_PRIORITY, &in));
    OK(cudaStreamCopyAttributes(two, one));
    OK(cudaStreamGetAttribute(two, CU_LAUNCH_ATTRIBUTE_PRIORITY, &out));
    EXPECT(out.priority == -3);
}

static void stream_attributes(void **state) {
    (void)state;
    in_child(NULL, stream_attributes_body);
}

/* ---- launch shapes, linked code ---- */

static int sizes_asked;

static size_t shared_for(int threads) {
    CUcontext current;
    sizes_asked++;
    EXPECT(threads > 0 && threads <= 1024);
    OK(cuCtxGetCurrent(&current)); /* the program may call CUDA in it */
    return 0;
}

static void shapes_body(void) {
    CUmodule module;
    CUfunction function;
    int grid, block;
    new_context(0);
    OK(cuModuleLoadData(&module, "any"));
    OK(cuModuleGetFunction(&function, module, "kernel"));
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, 0));
    EXPECT(block == 1024 && grid == 2 * 108); /* as many blocks as are resident at once */
    OK(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, function, shared_for, 0, 100, 1));
    EXPECT(block == 64 && grid == 32 * 108); /* more of this size fit at once than of 96 or 100 */
    EXPECT(sizes_asked > 0);
    ANSWERS(CUDA_ERROR_INVALID_HANDLE,
            cuOccupancyMaxPotentialBlockSize(&grid, &block, NULL, NULL, 0, 0));
    ANSWERS(CUDA_ERROR_INVALID_VALUE,
            cuOccupancyMaxPotentialBlockSize(NULL, &block, function, NULL, 0, 0));
    ANSWERS(CUDA_ERROR_INVALID_VALUE,
            cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, function, NULL, 0, 0, 2));
}

static void shapes(void **state) {
    (void)state;
    in_child(NULL, shapes_body);
}

static void linked_body(void) {
    float milliseconds;
    char info[16] = "not written", errors[16] = "not written", source[] = ".version 8.0";
    CUjit_option options[] = {CU_JIT_WALL_TIME, CU_JIT_INFO_LOG_BUFFER,
                              CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {&values, info, (void *)sizeof info, errors, (void *)sizeof errors};
    CUlinkState state;
    CUmodule module;
    CUfunction function;
    void *image = NULL;
    size_t bytes = 0;
    new_context(0);
    OK(cuLinkCreate_v2(5, options, values, &state));
    OK(cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, source, sizeof source, NULL, 0, NULL, NULL));
    OK(cuLinkAddFile_v2(state, CU_JIT_INPUT_LIBRARY, "/proc/self/exe", 0, NULL, NULL));
    ANSWERS(CUDA_ERROR_FILE_NOT_FOUND,
            cuLinkAddFile_v2(state, CU_JIT_INPUT_PTX, "/nowhere.ptx", 0, NULL, NULL));
    ANSWERS(CUDA_ERROR_INVALID_VALUE,
            cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, NULL, 1, NULL, 0, NULL, NULL));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuLinkComplete(state, NULL, &bytes));
    OK(cuLinkComplete(state, &image, &bytes));
    memcpy(&milliseconds, &values[0], sizeof milliseconds); /* in place of the option's value */
    EXPECT(image != NULL && bytes > 0 && milliseconds >= 0 && milliseconds < 1000);
    EXPECT(*info == '\0' && *errors == '\0' && values[2] == NULL && values[4] == NULL);
    OK(cuModuleLoadData(&module, image));
    OK(cuLinkDestroy(state));
    OK(cuModuleGetFunction(&function, module, "kernel"));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuLinkComplete(state, &image, &bytes));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuLinkDestroy(state));
    EXPECT(vramtrace_sim_live_bytes(-1) == 0); /* all of it is in host memory */
}

static void linked(void **state) {
    (void)state;
    in_child(NULL, linked_body);
}

/* ---- events of other processes ---- */

static void shared_events_body(void) {
    enum { INTERPROCESS = CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS };
    CUipcEventHandle handle;
    CUevent event, plain;
    int pipes[2], status;
    EXPECT(pipe(pipes) == 0);
    pid_t child = fork(); /* before any CUDA */
    if (child == 0) {
        CUstream stream;
        close(pipes[1]);
        EXPECT(read(pipes[0], &handle, sizeof handle) == sizeof handle);
        new_context(0);
        OK(cuIpcOpenEventHandle(&event, handle));
        OK(cuEventQuery(event));
        OK(cuStreamCreate(&stream, 0));
        OK(cuStreamWaitEvent(stream, event, 0));
        OK(cuEventRecord(event, stream));
        OK(cuIpcGetEventHandle(&handle, event));
        OK(cuEventDestroy_v2(event));
        handle.reserved[0] ^= 1;
        ANSWERS(CUDA_ERROR_INVALID_VALUE, cuIpcOpenEventHandle(&event, handle));
        _exit(0);
    }
    new_context(0);
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&event, CU_EVENT_INTERPROCESS)); /* no times */
    OK(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuIpcGetEventHandle(&handle, plain));
    OK(cuEventCreate(&event, INTERPROCESS));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuIpcGetEventHandle(NULL, event));
    OK(cuIpcGetEventHandle(&handle, event));
    EXPECT(write(pipes[1], &handle, sizeof handle) == sizeof handle);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    EXPECT(vramtrace_sim_kind_count(-1, VRAMTRACE_SIM_IMPORTED) == 0); /* no memory goes along */
}

static void shared_events(void **state) {
    (void)state;
    in_child(NULL, shared_events_body);
}

/* ---- compressible memory ---- */

/* Compression saves bandwidth, not memory: it takes as much of the device as any other. */
static void compressible_body(void) {
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                                .allocFlags = {.compressionType = 1}};
    CUmemAllocationProp found = {0};
    CUmemGenericAllocationHandle handle;
    int supported = 0;
    new_context(0);
    OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED, 0));
    EXPECT(supported == 1);
    OK(cuMemCreate(&handle, 4 * MIB, &prop, 0));
    OK(cuMemGetAllocationPropertiesFromHandle(&found, handle));
    EXPECT(found.allocFlags.compressionType == 1);
    EXPECT(vramtrace_sim_kind_bytes(0, VRAMTRACE_SIM_PHYSICAL) == 4 * MIB);
    OK(cuMemRelease(handle));
    EXPECT(available() == 24 * GIB);
}

static void compressible(void **state) {
    (void)state;
    in_child(NULL, compressible_body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(array_bytes),   cmocka_unit_test(stream_attributes),
        cmocka_unit_test(shapes),        cmocka_unit_test(linked),
        cmocka_unit_test(shared_events), cmocka_unit_test(compressible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
