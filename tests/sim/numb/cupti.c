/* SPDX-License-Identifier: MIT */
/*
 * libcupti: it accepts every request, and has nothing to report (see numb.h). PyTorch's profiler then
 * shows what the CPU did.
 */
#include "numb.h"

#include <time.h>

enum { NO_MORE_RECORDS = 12 };

NUMB_API int cuptiGetVersion(uint32_t *version);
NUMB_API int cuptiGetTimestamp(uint64_t *now);
NUMB_API int cuptiSubscribe(void **subscriber, void *callback, void *data);
NUMB_API int cuptiSubscribe_v2(void **subscriber, void *callback, void *data, void *params);
NUMB_API int cuptiUnsubscribe(void *subscriber);
NUMB_API int cuptiGetResultString(int result, const char **text);
NUMB_API int cuptiGetErrorMessage(int result, const char **text);
NUMB_API int cuptiGetCallbackName(int domain, uint32_t number, const char **name);
NUMB_API int cuptiActivityGetNextRecord(void *buffer, size_t bytes, void **record);

int cuptiGetVersion(uint32_t *version) {
    *version = NUMB_MAJOR == 12 ? 26 : 130200;
    return 0;
}

int cuptiGetTimestamp(uint64_t *now) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    *now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return 0;
}

int cuptiSubscribe(void **subscriber, void *callback, void *data) {
    (void)callback, (void)data;
    *subscriber = numb_new(0);
    return 0;
}

int cuptiSubscribe_v2(void **subscriber, void *callback, void *data, void *params) {
    (void)params;
    return cuptiSubscribe(subscriber, callback, data);
}

int cuptiUnsubscribe(void *subscriber) {
    numb_end(subscriber);
    return 0;
}

int cuptiGetResultString(int result, const char **text) {
    *text = result == 0 ? "success" : "simulated error";
    return 0;
}

int cuptiGetErrorMessage(int result, const char **text) {
    return cuptiGetResultString(result, text);
}

int cuptiGetCallbackName(int domain, uint32_t number, const char **name) {
    (void)domain, (void)number;
    *name = "";
    return 0;
}

int cuptiActivityGetNextRecord(void *buffer, size_t bytes, void **record) {
    (void)buffer, (void)bytes;
    *record = NULL;
    return NO_MORE_RECORDS;
}
