/* SPDX-License-Identifier: MIT */
/*
 * Names and texts of the simulated runtimes' errors. A text is the words of the name without its
 * prefix, except for texts that programs are known to search for.
 */
#include "runtime.h"

#include <ctype.h>
#include <string.h>

static const struct name {
    cudaError_t code;
    const char *name;
} names[] = {
#define SIM_ERROR(name) {name, #name},
#include "tests/sim/runtime_errors.def"
#undef SIM_ERROR
};

static const struct name texts[] = {
    {cudaSuccess, "no error"},
    {cudaErrorInvalidValue, "invalid argument"},
    {cudaErrorMemoryAllocation, "out of memory"},
    {cudaErrorInitializationError, "initialization error"},
    {cudaErrorNoDevice, "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "invalid device ordinal"},
    {cudaErrorNotSupported, "operation not supported"},
    {cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"},
};

static const char *find(const struct name *list, size_t count, cudaError_t code) {
    for (size_t i = 0; i < count; i++) {
        if (list[i].code == code)
            return list[i].name;
    }
    return NULL;
}

const char *cudaGetErrorName(cudaError_t code) {
    const char *name = find(names, sizeof names / sizeof *names, code);
    return name != NULL ? name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t code) {
    static __thread char made[96];
    const char *text = find(texts, sizeof texts / sizeof *texts, code);
    if (text != NULL)
        return text;
    const char *name = cudaGetErrorName(code);
    if (strncmp(name, "cudaError", 9) != 0)
        return name;
    size_t length = 0;
    for (const char *c = name + 9; *c != '\0' && length < sizeof made - 2; c++) {
        if (isupper((unsigned char)*c) && length != 0)
            made[length++] = ' ';
        made[length++] = (char)tolower((unsigned char)*c);
    }
    made[length] = '\0';
    return made;
}
