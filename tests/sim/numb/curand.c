/* SPDX-License-Identifier: MIT */
/*
 * libcurand: a generator's state, which is allocated when it first generates or is told to prepare for
 * it (see numb.h). Generators on the host have none.
 */
#include "numb.h"

enum { ALLOCATION_FAILED = 102, NOT_INITIALIZED = 101, ON_HOST = 0, STATE_BYTES = 48 * 4096 };

NUMB_API int curandCreateGeneratorHost(void **out, int type);
NUMB_API int curandGenerateSeeds(void *generator);
NUMB_API int curandGenerate(void *generator, void *to, size_t count);
NUMB_API int curandGenerateLongLong(void *generator, void *to, size_t count);
NUMB_API int curandGenerateUniform(void *generator, void *to, size_t count);
NUMB_API int curandGenerateUniformDouble(void *generator, void *to, size_t count);
NUMB_API int curandGenerateNormal(void *generator, void *to, size_t count, float mean,
                                  float deviation);
NUMB_API int curandGenerateNormalDouble(void *generator, void *to, size_t count, double mean,
                                        double deviation);
NUMB_API int curandGenerateLogNormal(void *generator, void *to, size_t count, float mean,
                                     float deviation);
NUMB_API int curandGenerateLogNormalDouble(void *generator, void *to, size_t count, double mean,
                                           double deviation);
NUMB_API int curandGeneratePoisson(void *generator, void *to, size_t count, double lambda);
NUMB_API int curandGetVersion(int *version);

int curandCreateGeneratorHost(void **out, int type) {
    struct numb_handle *handle = numb_new(0);
    (void)type;
    *out = handle;
    if (handle == NULL)
        return ALLOCATION_FAILED;
    handle->mode[ON_HOST] = 1;
    return 0;
}

int curandGenerateSeeds(void *generator) {
    struct numb_handle *known = numb_handle(generator);
    if (known == NULL)
        return NOT_INITIALIZED;
    return known->mode[ON_HOST] || known->memory[0] != 0 || numb_allocate(known, 0, STATE_BYTES)
               ? 0
               : ALLOCATION_FAILED;
}

int curandGenerate(void *generator, void *to, size_t count) {
    (void)to, (void)count;
    return curandGenerateSeeds(generator);
}

int curandGenerateLongLong(void *generator, void *to, size_t count) {
    return curandGenerate(generator, to, count);
}

int curandGenerateUniform(void *generator, void *to, size_t count) {
    return curandGenerate(generator, to, count);
}

int curandGenerateUniformDouble(void *generator, void *to, size_t count) {
    return curandGenerate(generator, to, count);
}

int curandGenerateNormal(void *generator, void *to, size_t count, float mean, float deviation) {
    (void)mean, (void)deviation;
    return curandGenerate(generator, to, count);
}

int curandGenerateNormalDouble(void *generator, void *to, size_t count, double mean,
                               double deviation) {
    (void)mean, (void)deviation;
    return curandGenerate(generator, to, count);
}

int curandGenerateLogNormal(void *generator, void *to, size_t count, float mean, float deviation) {
    return curandGenerateNormal(generator, to, count, mean, deviation);
}

int curandGenerateLogNormalDouble(void *generator, void *to, size_t count, double mean,
                                  double deviation) {
    return curandGenerateNormalDouble(generator, to, count, mean, deviation);
}

int curandGeneratePoisson(void *generator, void *to, size_t count, double lambda) {
    (void)lambda;
    return curandGenerate(generator, to, count);
}

int curandGetVersion(int *version) {
    *version = 10425;
    return 0;
}
