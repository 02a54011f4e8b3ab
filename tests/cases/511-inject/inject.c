/* SPDX-License-Identifier: MIT */
/* Allocates eight times, in eight ways, and prints which were refused. A refused one is not freed;
 * everything else is. `inject threads`: eight threads share the eight. */
#include "../../cuda_case.h"

#include <pthread.h>
#include <string.h>

static CUcontext context;

static CUresult allocate(int which, CUdeviceptr *device, void **host) {
    size_t pitch;
    switch (which) {
    case 0:
        return cuMemAlloc_v2(device, 1000);
    case 1:
        return cuMemAllocPitch_v2(device, &pitch, 100, 100, 4);
    case 2:
        return cuMemAllocManaged(device, 1000, 1);
    case 3:
        return cuMemAllocAsync(device, 1000, NULL);
    case 4:
        return cuMemAllocAsync_ptsz(device, 1000, NULL);
    case 5:
        return cuMemHostAlloc(host, 1000, 0);
    case 6:
        return cuMemAllocHost_v2(host, 1000);
    default:
        return cuMemAlloc_v2(device, 2000);
    }
}

static char said[9] = "........";

static void *one(void *argument) {
    int which = (int)(intptr_t)argument;
    CUdeviceptr device = 0;
    void *host = NULL;
    CHECK(cuCtxSetCurrent(context));
    CUresult result = allocate(which, &device, &host);
    said[which] = result == CUDA_SUCCESS ? '.' : result == CUDA_ERROR_OUT_OF_MEMORY ? 'X' : '?';
    if (device)
        CHECK(cuMemFree_v2(device));
    if (host)
        CHECK(cuMemFreeHost(host));
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[8];
    int at_once = argc > 1 && strcmp(argv[1], "threads") == 0;
    context = start_cuda();
    for (intptr_t i = 0; i < 8; i++) {
        if (at_once)
            pthread_create(&threads[i], NULL, one, (void *)i);
        else
            one((void *)i);
    }
    for (int i = 0; at_once && i < 8; i++)
        pthread_join(threads[i], NULL);
    puts(said);
    return 0;
}
