/* SPDX-License-Identifier: MIT */
/*
 * Names and texts of the simulated driver's errors. A text is the name in lower case without its
 * prefix, except for texts that programs are known to search for.
 */
#include "driver.h"

#include <ctype.h>
#include <string.h>

static const struct name {
    CUresult code;
    const char *name;
} names[] = {
#define SIM_ERROR(name) {name, #name},
#include "tests/sim/driver_errors.def"
#undef SIM_ERROR
};

static const struct name texts[] = {
    {CUDA_SUCCESS, "no error"},
    {CUDA_ERROR_INVALID_VALUE, "invalid argument"},
    {CUDA_ERROR_NOT_INITIALIZED, "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "invalid device context"},
    {CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"},
    {CUDA_ERROR_NOT_SUPPORTED, "operation not supported"},
};

static const char *find(const struct name *list, size_t count, CUresult code) {
    for (size_t i = 0; i < count; i++) {
        if (list[i].code == code)
            return list[i].name;
    }
    return NULL;
}

CUresult cuGetErrorName(CUresult code, const char **name) {
    if (name == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *name = find(names, sizeof names / sizeof *names, code);
    return *name != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult code, const char **text) {
    static __thread char made[96];
    if (text == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *text = find(texts, sizeof texts / sizeof *texts, code);
    if (*text != NULL)
        return CUDA_SUCCESS;
    const char *name = find(names, sizeof names / sizeof *names, code);
    if (name == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    name += strncmp(name, "CUDA_ERROR_", 11) == 0 ? 11 : 0;
    size_t i = 0;
    for (; name[i] != '\0' && i < sizeof made - 1; i++)
        made[i] = name[i] == '_' ? ' ' : (char)tolower((unsigned char)name[i]);
    made[i] = '\0';
    *text = made;
    return CUDA_SUCCESS;
}
