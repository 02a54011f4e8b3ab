/* SPDX-License-Identifier: MIT */
/*
 * A weak function for each name of a numb library's list, NUMB_NAMES (see numb.h). Definitions in the
 * library's own file replace them at link time.
 */
#include "numb.h"

#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* As many parameters as a function of any list has before the last one that its row names. */
#define PARAMETERS                                                                                 \
    long a1, long a2, long a3, long a4, long a5, long a6, long a7, long a8, long a9, long a10,     \
        long a11, long a12, long a13, long a14, long a15, long a16, long a17, long a18, long a19,  \
        long a20, long a21, long a22, long a23, long a24, long a25, long a26, long a27, long a28

/* Rooms for workspaces: enough for small problems. The real ones are not documented. */
enum { ROOM_ELEMENTS = 4096, ROOM_BYTES = 65536 };

__attribute__((unused)) static void put(long place, uint64_t value, size_t size) {
    if (place != 0)
        memcpy((void *)place, &value, size); /* little-endian, as every machine with a GPU */
}

#define WEAK NUMB_API __attribute__((weak))
#define PUT(name, p, q, value, size)                                                               \
    WEAK int name(PARAMETERS) {                                                                    \
        put(a##p, value, size);                                                                    \
        put(a##q, value, size);                                                                    \
        return 0;                                                                                  \
    }
#define NUMB(name)                                                                                 \
    WEAK long name(void) {                                                                         \
        return 0;                                                                                  \
    }
#define NUMB_TEXT(name)                                                                            \
    WEAK const char *name(int status) {                                                            \
        return status == 0 ? "success" : "simulated error";                                        \
    }
#define NUMB_NEW(name, p)                                                                          \
    WEAK int name(PARAMETERS) {                                                                    \
        struct numb_handle *handle = numb_new(0);                                                  \
        put(a##p, (uintptr_t)handle, sizeof handle);                                               \
        return 0;                                                                                  \
    }
#define NUMB_END(name, p)                                                                          \
    WEAK int name(PARAMETERS) {                                                                    \
        numb_end((void *)a##p);                                                                    \
        return 0;                                                                                  \
    }
#define NUMB_SIZE4(name, p, q) PUT(name, p, q, ROOM_ELEMENTS, 4)
#define NUMB_SIZE8(name, p, q) PUT(name, p, q, ROOM_BYTES, 8)
#define NUMB_ZERO4(name, p, q) PUT(name, p, q, 0, 4)
#define NUMB_ZERO8(name, p, q) PUT(name, p, q, 0, 8)
#define NUMB_INFO(name, p)     PUT(name, p, p, 0, 4)

#include NUMB_NAMES

#pragma GCC diagnostic pop
