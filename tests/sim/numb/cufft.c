/* SPDX-License-Identifier: MIT */
/*
 * libcufft: plans, and their work areas (see numb.h). A plan allocates its work area when it is made and
 * frees it when it ends, unless the program said that it brings one.
 */
#include "numb.h"

#include <pthread.h>
#include <stdlib.h>

enum { INVALID_PLAN = 1, ALLOC_FAILED = 2, PLANS = 4096 };

struct plan {
    uint64_t area;
    size_t size;
    bool used, brings_its_own;
};

static struct plan plans[PLANS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

NUMB_API int cufftCreate(int *plan);
NUMB_API int cufftDestroy(int plan);
NUMB_API int cufftSetAutoAllocation(int plan, int on);
NUMB_API int cufftSetWorkArea(int plan, void *area);
NUMB_API int cufftGetSize(int plan, size_t *size);
NUMB_API int cufftGetVersion(int *version);
NUMB_API int cufftMakePlan1d(int plan, int x, int type, int batch, size_t *size);
NUMB_API int cufftMakePlan2d(int plan, int x, int y, int type, size_t *size);
NUMB_API int cufftMakePlan3d(int plan, int x, int y, int z, int type, size_t *size);
NUMB_API int cufftMakePlanMany(int plan, int rank, const int *n, const int *in, int in_stride,
                               int in_distance, const int *out, int out_stride, int out_distance,
                               int type, int batch, size_t *size);
NUMB_API int cufftMakePlanMany64(int plan, int rank, const long long *n, const long long *in,
                                 long long in_stride, long long in_distance, const long long *out,
                                 long long out_stride, long long out_distance, int type,
                                 long long batch, size_t *size);
NUMB_API int cufftXtMakePlanMany(int plan, int rank, const long long *n, const long long *in,
                                 long long in_stride, long long in_distance, int in_type,
                                 const long long *out, long long out_stride, long long out_distance,
                                 int out_type, long long batch, size_t *size, int execution);
NUMB_API int cufftPlan1d(int *plan, int x, int type, int batch);
NUMB_API int cufftPlan2d(int *plan, int x, int y, int type);
NUMB_API int cufftPlan3d(int *plan, int x, int y, int z, int type);
NUMB_API int cufftPlanMany(int *plan, int rank, const int *n, const int *in, int in_stride,
                           int in_distance, const int *out, int out_stride, int out_distance,
                           int type, int batch);

static struct plan *find(int plan) {
    return plan > 0 && plan < PLANS && plans[plan].used ? &plans[plan] : NULL;
}

int cufftCreate(int *plan) {
    int result = ALLOC_FAILED;
    pthread_mutex_lock(&lock);
    for (int i = 1; i < PLANS && result != 0; i++)
        if (!plans[i].used) {
            plans[i] = (struct plan){.used = true};
            *plan = i;
            result = 0;
        }
    pthread_mutex_unlock(&lock);
    return result;
}

int cufftDestroy(int plan) {
    struct plan *known = find(plan);
    if (known == NULL)
        return INVALID_PLAN;
    numb_device_free(known->area);
    pthread_mutex_lock(&lock);
    *known = (struct plan){0};
    pthread_mutex_unlock(&lock);
    return 0;
}

int cufftSetAutoAllocation(int plan, int on) {
    struct plan *known = find(plan);
    if (known == NULL)
        return INVALID_PLAN;
    known->brings_its_own = on == 0;
    return 0;
}

int cufftSetWorkArea(int plan, void *area) {
    struct plan *known = find(plan);
    (void)area;
    if (known == NULL)
        return INVALID_PLAN;
    numb_device_free(known->area);
    known->area = 0;
    return 0;
}

int cufftGetSize(int plan, size_t *size) {
    struct plan *known = find(plan);
    if (known == NULL)
        return INVALID_PLAN;
    *size = known->size;
    return 0;
}

int cufftGetVersion(int *version) {
    *version = NUMB_MAJOR == 12 ? 11401 : 12200;
    return 0;
}

/* The data's size at 8 bytes an element: the usual estimate. */
static int make(int plan, double elements, size_t *size) {
    struct plan *known = find(plan);
    if (known == NULL)
        return INVALID_PLAN;
    known->size = (size_t)(elements * 8);
    if (size != NULL)
        *size = known->size;
    return known->brings_its_own || known->area != 0 ||
                   numb_device_allocate(&known->area, known->size)
               ? 0
               : ALLOC_FAILED;
}

int cufftMakePlan1d(int plan, int x, int type, int batch, size_t *size) {
    (void)type;
    return make(plan, (double)x * batch, size);
}

int cufftMakePlan2d(int plan, int x, int y, int type, size_t *size) {
    (void)type;
    return make(plan, (double)x * y, size);
}

int cufftMakePlan3d(int plan, int x, int y, int z, int type, size_t *size) {
    (void)type;
    return make(plan, (double)x * y * z, size);
}

int cufftMakePlanMany(int plan, int rank, const int *n, const int *in, int in_stride,
                      int in_distance, const int *out, int out_stride, int out_distance, int type,
                      int batch, size_t *size) {
    double elements = batch;
    (void)in, (void)in_stride, (void)in_distance;
    (void)out, (void)out_stride, (void)out_distance, (void)type;
    for (int i = 0; i < rank; i++)
        elements *= n[i];
    return make(plan, elements, size);
}

int cufftMakePlanMany64(int plan, int rank, const long long *n, const long long *in,
                        long long in_stride, long long in_distance, const long long *out,
                        long long out_stride, long long out_distance, int type, long long batch,
                        size_t *size) {
    double elements = (double)batch;
    (void)in, (void)in_stride, (void)in_distance;
    (void)out, (void)out_stride, (void)out_distance, (void)type;
    for (int i = 0; i < rank; i++)
        elements *= (double)n[i];
    return make(plan, elements, size);
}

int cufftXtMakePlanMany(int plan, int rank, const long long *n, const long long *in,
                        long long in_stride, long long in_distance, int in_type,
                        const long long *out, long long out_stride, long long out_distance,
                        int out_type, long long batch, size_t *size, int execution) {
    (void)in_type, (void)out_type;
    return cufftMakePlanMany64(plan, rank, n, in, in_stride, in_distance, out, out_stride,
                               out_distance, execution, batch, size);
}

int cufftPlan1d(int *plan, int x, int type, int batch) {
    int result = cufftCreate(plan);
    return result != 0 ? result : cufftMakePlan1d(*plan, x, type, batch, NULL);
}

int cufftPlan2d(int *plan, int x, int y, int type) {
    int result = cufftCreate(plan);
    return result != 0 ? result : cufftMakePlan2d(*plan, x, y, type, NULL);
}

int cufftPlan3d(int *plan, int x, int y, int z, int type) {
    int result = cufftCreate(plan);
    return result != 0 ? result : cufftMakePlan3d(*plan, x, y, z, type, NULL);
}

int cufftPlanMany(int *plan, int rank, const int *n, const int *in, int in_stride, int in_distance,
                  const int *out, int out_stride, int out_distance, int type, int batch) {
    int result = cufftCreate(plan);
    return result != 0 ? result
                       : cufftMakePlanMany(*plan, rank, n, in, in_stride, in_distance, out,
                                           out_stride, out_distance, type, batch, NULL);
}
