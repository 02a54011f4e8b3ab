/* SPDX-License-Identifier: MIT */
/*
 * Whole logs for the fuzz targets of files that belong to a log or contain one: seeds of the target `log`, linked in.
 */
#ifndef VRAMTRACE_TESTS_FUZZ_LOGS_H
#define VRAMTRACE_TESTS_FUZZ_LOGS_H

#include "parts.h"

#include <stdlib.h>
#include <unistd.h>

#define VT_FUZZ_LOGS(row) row(driver) row(owners) row(phases) row(torch)

#define DECLARE(name) extern const uint8_t _binary_##name##_start[], _binary_##name##_end[];
VT_FUZZ_LOGS(DECLARE)
#undef DECLARE

static const struct {
    const uint8_t *bytes, *end;
} vt_fuzz_logs[] = {
#define ROW(name) {_binary_##name##_start, _binary_##name##_end},
    VT_FUZZ_LOGS(ROW)
#undef ROW
};
enum { VT_FUZZ_LOG_COUNT = sizeof vt_fuzz_logs / sizeof *vt_fuzz_logs };

/* Writes one to a file. */
static inline void vt_fuzz_log_write(unsigned number, int fd) {
    struct vt_fuzz_part part;
    size_t at = 0, size = (size_t)(vt_fuzz_logs[number].end - vt_fuzz_logs[number].bytes);
    while (vt_fuzz_part_next(vt_fuzz_logs[number].bytes, size, &at, &part)) {
        off_t where = (off_t)(part.where & VT_FUZZ_OFFSET);
        unsigned kind = part.where & VT_FUZZ_KIND;
        if ((kind == VT_FUZZ_LOG &&
             pwrite(fd, part.bytes, part.length, where) != (ssize_t)part.length) ||
            (kind == VT_FUZZ_SIZE && ftruncate(fd, where)))
            abort();
    }
}

#endif
