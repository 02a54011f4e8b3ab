/* SPDX-License-Identifier: MIT */
/*
 * A dump of what the exit scan reads: parts, one after the other, as dump.c writes and replay.c reads them. The structs in
 * it are those of the sources that both were built from.
 */
#ifndef VT_TESTS_GPU_SCAN_DUMP_H
#define VT_TESTS_GPU_SCAN_DUMP_H

#include <stdint.h>

enum dump_what {
    DUMP_SCAN = 1,  /* struct vt_scan, before the flood */
    DUMP_REGISTERS, /* those that the scan starts from */
    DUMP_TARGETS,   /* struct vt_target, all */
    DUMP_SPANS,     /* struct vt_span, all */
    DUMP_CONTEXT,   /* a: a context's handle */
    DUMP_STREAM,    /* a: a stream's handle */
    DUMP_LIVE,      /* a: address, b: size of what is live */
    DUMP_MAPS,      /* text: /proc/self/maps */
    DUMP_TLS, /* a: address, b: size of a module's thread-local storage, of the scanning thread; text: its path */
    DUMP_BITS, /* a: a span's number, b: the first word; its bits, where blocks start, then those that are free */
    DUMP_MEMORY, /* a: address, b: size; bytes: 0 if all are zero */
    DUMP_END
};

struct dump_part {
    uint64_t what, a, b, bytes; /* `bytes` follow */
};

#endif
