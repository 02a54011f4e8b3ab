/* SPDX-License-Identifier: MIT */
/* Memory, contexts and devices of the simulated driver: exact to the byte, and cheap to have. */
#include "sim_test.h"

#include <unistd.h>

static void full_to_the_byte_body(void) {
    CUdeviceptr most, last, none = 7;
    new_context(0);
    EXPECT(available() == 64 * MIB);
    OK(cuMemAlloc_v2(&most, 64 * MIB - 3));
    EXPECT(available() == 3);
    ANSWERS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&none, 4));
    EXPECT(none == 7 && available() == 3);
    OK(cuMemAlloc_v2(&last, 3));
    ANSWERS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&none, 1));
    EXPECT(available() == 0 && vramtrace_sim_live_bytes(0) == 64 * MIB);
    OK(cuMemFree_v2(most));
    EXPECT(available() == 64 * MIB - 3 && vramtrace_sim_live_count(0) == 1);
    OK(cuMemAlloc_v2(&most, 64 * MIB - 3));
}

static void full_to_the_byte(void **state) {
    (void)state;
    in_child(WITH("VRAMTRACE_SIM_MEMORY=64M"), full_to_the_byte_body);
}

static void bad_arguments_body(void) {
    CUdeviceptr a = 0;
    size_t pitch;
    ANSWERS(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc_v2(&a, 1));
    OK(cuInit(0));
    ANSWERS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc_v2(&a, 1));
    new_context(0);
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v2(NULL, 1));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v2(&a, 0));
    ANSWERS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&a, SIZE_MAX));
    ANSWERS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&a, SIZE_MAX / 2));
    ANSWERS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocPitch_v2(&a, &pitch, SIZE_MAX / 4, 4096, 4));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch_v2(&a, &pitch, SIZE_MAX, 1, 4));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch_v2(&a, &pitch, 100, 1, 5));
    EXPECT(vramtrace_sim_live_count(-1) == 0);
    OK(cuMemFree_v2(0));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(4096));
    OK(cuMemAlloc_v2(&a, 100));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(a + 1));
    OK(cuMemFree_v2(a));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(a));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(&a));
}

static void bad_arguments(void **state) {
    (void)state;
    in_child(NULL, bad_arguments_body);
}

static void sizes_and_addresses_body(void) {
    CUdeviceptr a, b, base;
    CUdeviceptr_v1 low;
    size_t pitch, bytes;
    new_context(0);
    OK(cuMemAllocPitch_v2(&a, &pitch, 1000, 30, 4));
    EXPECT(pitch == 1024 && vramtrace_sim_live_bytes(0) == 1024 * 30);
    OK(cuMemGetAddressRange_v2(&base, &bytes, a + 5000));
    EXPECT(base == a && bytes == 1024 * 30);
    OK(cuMemFree_v2(a));
    OK(cuMemAlloc_v2(&a, 1000));
    OK(cuMemFree_v2(a));
    OK(cuMemAlloc_v2(&b, 1000));
    EXPECT(a == b && a % 512 == 0); /* the last freed is the first reused */
    OK(cuMemAlloc_v2(&a, 5 * MIB));
    EXPECT(a % (2 * MIB) == 0);
    OK(cuMemAlloc(&low, 777));
    EXPECT(low != 0 && vramtrace_sim_live_bytes(0) == 1000 + 5 * MIB + 777);
    OK(cuMemFree(low));
    OK(cuMemAllocManaged(&a, GIB, CU_MEM_ATTACH_GLOBAL));
    EXPECT(vramtrace_sim_kind_bytes(0, VRAMTRACE_SIM_MANAGED) == GIB);
    *(volatile int *)(uintptr_t)a = 1; /* the host may touch it */
    EXPECT(vramtrace_sim_live_bytes(0) == 1000 + 5 * MIB);
}

static void sizes_and_addresses(void **state) {
    (void)state;
    in_child(NULL, sizes_and_addresses_body);
}

static size_t resident_kib(void) {
    size_t pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    EXPECT(file != NULL && fscanf(file, "%zu %zu", &pages, &resident) == 2);
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE) / 1024;
}

static void huge_device_body(void) {
    CUdeviceptr a[141];
#ifdef __SANITIZE_THREAD__ /* it remembers every access in several times the memory */
    const size_t most = (size_t)1 << 40;
#else
    const size_t most = 10 * 1024;
#endif
    size_t before = resident_kib();
    new_context(0);
    for (int i = 0; i < 141; i++)
        OK(cuMemAlloc_v2(&a[i], GIB));
    EXPECT(available() == 0);
    OK(cuMemsetD8_v2(a[70] + GIB / 2, 7, MIB));
    EXPECT(resident_kib() - before < most);
    /* Touched memory is given back. */
    OK(cuMemsetD8_v2(a[3], 7, 64 * MIB));
    EXPECT(resident_kib() - before > 60 * 1024);
    OK(cuMemFree_v2(a[3]));
    EXPECT(resident_kib() - before < most);
}

static void huge_device(void **state) {
    (void)state;
    in_child(WITH("VRAMTRACE_SIM_MEMORY=141G"), huge_device_body);
}

static void contexts_free_body(void) {
    CUdeviceptr a;
    CUcontext first = new_context(0), second, current;
    void *host;
    static char registered[4096];
    OK(cuMemAlloc_v2(&a, MIB));
    OK(cuCtxCreate_v2(&second, 0, 0));
    OK(cuMemAlloc_v2(&a, 2 * MIB));
    OK(cuMemAllocManaged(&a, 3 * MIB, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemHostAlloc(&host, 4 * MIB, 0));
    OK(cuMemHostRegister_v2(registered, sizeof registered, 0));
    EXPECT(vramtrace_sim_kind_bytes(-1, VRAMTRACE_SIM_HOST) == 4 * MIB);
    EXPECT(vramtrace_sim_kind_bytes(-1, VRAMTRACE_SIM_REGISTERED) == 4096);
    OK(cuMemAllocAsync(&a, 5 * MIB, NULL));
    OK(cuCtxDestroy_v2(second));
    /* Gone is what the context owned; pools' memory is not its own. */
    EXPECT(vramtrace_sim_kind_bytes(0, VRAMTRACE_SIM_LINEAR) == MIB);
    EXPECT(vramtrace_sim_kind_bytes(0, VRAMTRACE_SIM_MANAGED) == 0);
    EXPECT(vramtrace_sim_kind_bytes(-1, VRAMTRACE_SIM_HOST) == 0);
    EXPECT(vramtrace_sim_kind_bytes(-1, VRAMTRACE_SIM_REGISTERED) == 0);
    EXPECT(vramtrace_sim_kind_bytes(0, VRAMTRACE_SIM_ASYNC) == 5 * MIB);
    OK(cuCtxGetCurrent(&current));
    EXPECT(current == first);
    ANSWERS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxDestroy_v2(second));
    OK(cuMemFree_v2(a));
    EXPECT(vramtrace_sim_live_bytes(0) == MIB);
}

static void contexts_free(void **state) {
    (void)state;
    in_child(NULL, contexts_free_body);
}

static void primary_context_body(void) {
    CUcontext primary, again;
    CUdeviceptr a;
    OK(cuInit(0));
    ANSWERS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease_v2(0));
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cuDevicePrimaryCtxRetain(&again, 0));
    EXPECT(primary == again);
    OK(cuCtxSetCurrent(primary));
    OK(cuMemAlloc_v2(&a, MIB));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    EXPECT(vramtrace_sim_live_bytes(0) == MIB);
    OK(cuDevicePrimaryCtxRelease_v2(0));
    EXPECT(vramtrace_sim_live_bytes(0) == 0);
    ANSWERS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc_v2(&a, MIB));
    OK(cuDevicePrimaryCtxRetain(&again, 0));
    EXPECT(primary == again);
    OK(cuMemAlloc_v2(&a, MIB));
    OK(cuDevicePrimaryCtxReset_v2(0));
    EXPECT(vramtrace_sim_live_bytes(0) == 0);
    OK(cuDevicePrimaryCtxRelease_v2(0)); /* a reset does not release */
    ANSWERS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease_v2(0));
}

static void primary_context(void **state) {
    (void)state;
    in_child(NULL, primary_context_body);
}

static void several_devices_body(void) {
    CUdeviceptr a;
    CUdevice device;
    CUuuid first, second;
    size_t total;
    int count;
    char name[64];
    CUcontext zero = new_context(0);
    CUcontext two = new_context(2);
    OK(cuDeviceGetCount(&count));
    EXPECT(count == 3);
    OK(cuMemAlloc_v2(&a, GIB));
    EXPECT(vramtrace_sim_live_bytes(2) == GIB && vramtrace_sim_live_bytes(0) == 0);
    EXPECT(vramtrace_sim_live_bytes(-1) == GIB);
    OK(cuCtxGetDevice(&device));
    EXPECT(device == 2);
    OK(cuCtxGetDevice_v2(&device, zero));
    EXPECT(device == 0);
    OK(cuCtxGetDevice_v2(&device, (CUcontext)0x1234)); /* an old caller's stray register */
    EXPECT(device == 2);
    OK(cuCtxPopCurrent_v2(&two));
    EXPECT(available() == 2 * GIB);
    OK(cuMemFree_v2(a)); /* from another device's context */
    EXPECT(vramtrace_sim_live_bytes(2) == 0);
    OK(cuDeviceTotalMem_v2(&total, 1));
    EXPECT(total == 2 * GIB);
    OK(cuDeviceGetName(name, sizeof name, 1));
    EXPECT(strcmp(name, "Test GPU") == 0);
    OK(cuDeviceGetUuid_v2(&first, 0));
    OK(cuDeviceGetUuid_v2(&second, 1));
    EXPECT(memcmp(&first, &second, sizeof first) != 0);
    ANSWERS(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate_v2(&zero, 0, 3));
}

static void several_devices(void **state) {
    (void)state;
    in_child(
        WITH("VRAMTRACE_SIM_MEMORY=2G", "VRAMTRACE_SIM_DEVICES=3", "VRAMTRACE_SIM_NAME=Test GPU"),
        several_devices_body);
}

static unsigned char last_of_uuid(CUdevice device) {
    CUuuid uuid;
    OK(cuDeviceGetUuid_v2(&uuid, device));
    return (unsigned char)uuid.bytes[15];
}

static void expect_two_one(void) {
    int count;
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    EXPECT(count == 2);
    EXPECT(last_of_uuid(0) == 3 && last_of_uuid(1) == 2);
}

static void expect_none(void) {
    ANSWERS(CUDA_ERROR_NO_DEVICE, cuInit(0));
}

static void visible_devices(void **state) {
    (void)state;
    in_child(WITH("VRAMTRACE_SIM_DEVICES=4", "CUDA_VISIBLE_DEVICES=2,1"), expect_two_one);
    in_child(WITH("VRAMTRACE_SIM_DEVICES=4", "CUDA_VISIBLE_DEVICES=2,1,9,0"), expect_two_one);
    in_child(WITH("VRAMTRACE_SIM_DEVICES=4",
                  "CUDA_VISIBLE_DEVICES=GPU-7673696d-0000-4000-8000-000000000003,1"),
             expect_two_one);
    in_child(WITH("VRAMTRACE_SIM_DEVICES=4", "CUDA_VISIBLE_DEVICES="), expect_none);
    in_child(WITH("VRAMTRACE_SIM_DEVICES=4", "CUDA_VISIBLE_DEVICES=-1"), expect_none);
    in_child(WITH("VRAMTRACE_SIM_DEVICES=0"), expect_none);
}

static void fork_rule_body(void) {
    CUdeviceptr a;
    int count;
    new_context(0);
    OK(cuMemAlloc_v2(&a, MIB));
    pid_t child = fork();
    if (child == 0) {
        ANSWERS(CUDA_ERROR_NOT_INITIALIZED, cuInit(0));
        ANSWERS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
        ANSWERS(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc_v2(&a, MIB));
        ANSWERS(CUDA_ERROR_NOT_INITIALIZED, cuMemFree_v2(a));
        _exit(0);
    }
    int status;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    OK(cuMemFree_v2(a)); /* the parent goes on */
}

static void fork_rule(void **state) {
    (void)state; /* in_child is itself a fork of a process that never used CUDA: that is allowed */
    in_child(NULL, fork_rule_body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_to_the_byte),    cmocka_unit_test(bad_arguments),
        cmocka_unit_test(sizes_and_addresses), cmocka_unit_test(huge_device),
        cmocka_unit_test(contexts_free),       cmocka_unit_test(primary_context),
        cmocka_unit_test(several_devices),     cmocka_unit_test(visible_devices),
        cmocka_unit_test(fork_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
