/* SPDX-License-Identifier: MIT */
/*
 * Makes logs for tests of the analyzer: whatever a test wants to find in one, in the format of
 * log_format.h, without the library that writes them. The log grows in memory; a test may damage it
 * there before it is saved.
 */
#ifndef VRAMTRACE_TESTS_LOG_MAKER_H
#define VRAMTRACE_TESTS_LOG_MAKER_H

#include "vramtrace/log_format.h"

#include <stdbool.h>

struct vt_maker {
    uint8_t *bytes; /* the file */
    size_t length, room;
    struct {
        uint32_t tid, chunk, used; /* chunk: its number in the file; 0: none yet */
    } threads[64];
    uint32_t steps; /* made */
    uint64_t ticks; /* of the last event, for events without a time */
};

/* A chunk of slots, newest of all, whose first slot is the thread's. Returns the offset of its `entered_at`. */
size_t maker_slot(struct vt_maker *maker, unsigned thread);

/* For a group of tests (cmocka's setup and teardown): a folder of its own, and the path of a log in it. */
extern char maker_path[64];
int maker_make_folder(void **state);
int maker_remove_folder(void **state);

/* A log of a process that exited with status 0, clock in ns, no chunks. Free with maker_free. */
void maker_start(struct vt_maker *maker);
void maker_free(struct vt_maker *maker);

/* The header, to change. Valid until something is added. */
struct vt_log_header *maker_header(struct vt_maker *maker);

/* Writes the file. 0 or -errno. */
int maker_save(struct vt_maker *maker, const char *path);

/* Any record, into the chunk of a thread (0 to 63); takes a new chunk where it does not fit.
 * Returns its offset. */
size_t maker_put(struct vt_maker *maker, unsigned thread, const void *record, uint32_t length);

/* What tests need most. A time of 0 means: one tick after the last event. `hook`: 2 is
 * cuMemAlloc_v2, 1000 cudaMalloc. */
void maker_alloc(struct vt_maker *maker, unsigned thread, uint64_t ticks, unsigned kind,
                 unsigned hook, unsigned device, uint32_t stack, uint64_t address, uint64_t size,
                 unsigned context);
void maker_free_at(struct vt_maker *maker, unsigned thread, uint64_t ticks, unsigned kind,
                   uint64_t address);
void maker_fail(struct vt_maker *maker, unsigned thread, uint64_t ticks, unsigned device,
                uint32_t stack, uint64_t size, int result);
void maker_bulk(struct vt_maker *maker, unsigned thread, uint64_t ticks, unsigned context,
                bool teardown);
void maker_stack(struct vt_maker *maker, unsigned thread, uint32_t number, const uint64_t *frames,
                 uint16_t count);
void maker_module(struct vt_maker *maker, unsigned thread, uint64_t ticks, uint64_t start,
                  uint64_t end, uint64_t bias, const char *build_id, uint32_t build_id_bytes,
                  const char *path);
void maker_code(struct vt_maker *maker, unsigned thread, uint32_t number, uint32_t first_line,
                const char *name, const char *file);
void maker_device(struct vt_maker *maker, unsigned thread, uint32_t ordinal, uint64_t total,
                  const char *name);
void maker_meminfo(struct vt_maker *maker, unsigned thread, uint64_t ticks, unsigned device,
                   uint64_t free_bytes, uint64_t total_bytes);

void maker_name(struct vt_maker *maker, unsigned thread, uint32_t number, const char *text);

/* A step of a way by which memory is held; its number is returned, from 1. `line` and `address` as
 * in VT_REC_STEP. */
struct maker_step {
    uint32_t parent;
    unsigned kind;
    const char *name, *type; /* NULL: "" */
    unsigned flags;
    uint32_t line;
    uint64_t address;
};
uint32_t maker_step(struct vt_maker *maker, unsigned thread, struct maker_step step);
/* One entry of a snapshot, in a record of its own. */
void maker_owned(struct vt_maker *maker, unsigned thread, uint32_t snapshot, uint64_t address,
                 unsigned space, uint32_t step, unsigned roles);
/* The same for an allocation; tensors see this many times 512 bytes of it; `step` 0: without the owner. */
void maker_owned_part(struct vt_maker *maker, unsigned thread, uint32_t snapshot, uint64_t address,
                      unsigned space, uint32_t step, uint32_t units);
/* Its end: it stands behind its entries. */
void maker_snapshot(struct vt_maker *maker, unsigned thread, uint32_t number, unsigned why,
                    uint64_t ticks, unsigned flags);

/* Makes the process one that never ended. */
void maker_unended(struct vt_maker *maker);

#endif
