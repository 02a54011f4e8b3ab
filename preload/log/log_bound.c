/* SPDX-License-Identifier: MIT */
/*
 * The log's limit: three quarters of VRAMTRACE_MAX_LOG; the last quarter is for its summary. At the limit, events are
 * recorded only in recycled chunks (log_free.c). A part is reserved for later records: call stacks and names of later
 * allocations, the results of the end (snapshot, exit scan), and the live list.
 *
 * Called by log.c when the log opens, by log_chunks.c, and when the process ends.
 */
#define _GNU_SOURCE
#include "log_file.h"
#include "base/base.h"
#include "vramtrace/text.h"

#include <sys/vfs.h>

#define AUTO_SHARE 10u /* of the file system's free space */
#define AUTO_LEAST (1ull << 30)
#define AUTO_MOST  (16ull << 30)
#define KEPT_SHARE 16u /* 1/16 of the bound is reserved for the end */
#define KEPT_LEAST 8u  /* chunks */

struct vt_log_bound vt_log_bound = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                    UINT64_MAX, UINT64_MAX, 0};

/* The number of ranks that the launcher has started on this machine. */
static uint64_t ranks_here(void) {
    static const char *const names[] = {"LOCAL_WORLD_SIZE",      "OMPI_COMM_WORLD_LOCAL_SIZE",
                                        "MPI_LOCALNRANKS",       "MV2_COMM_WORLD_LOCAL_SIZE",
                                        "SLURM_NTASKS_PER_NODE", "PALS_LOCAL_SIZE"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = vt_settings_env(names[i]);
        uint64_t n = 0;
        for (; value && *value >= '0' && *value <= '9' && n < 10000; value++)
            n = n * 10 + (uint64_t)(*value - '0');
        if (n)
            return n;
    }
    return 1;
}

static uint64_t automatic(int fd) {
    struct statfs fs;
    uint64_t share = AUTO_LEAST;
    if (VT_SYS2(SYS_fstatfs, fd, &fs) == 0)
        share = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize / AUTO_SHARE;
    share = share < AUTO_LEAST ? AUTO_LEAST : share > AUTO_MOST ? AUTO_MOST : share;
    share /= ranks_here();
    return share < VT_TEXT_MAX_LOG_LEAST ? VT_TEXT_MAX_LOG_LEAST : share;
}

uint64_t vt_log_bound_start(int fd) {
    uint64_t bytes = vt_settings.max_log ? vt_settings.max_log : automatic(fd),
             chunks = bytes / VT_CHUNK_BYTES / 4 * 3, kept = chunks / KEPT_SHARE;
    if (bytes == UINT64_MAX)
        bytes = chunks = kept = 0;
    else if (kept < KEPT_LEAST)
        kept = KEPT_LEAST;
    vt_log_bound.most = chunks ? chunks : UINT64_MAX;
    vt_log_bound.scan = vt_log_bound.most - kept / 2;
    vt_log_bound.end = vt_log_bound.scan - kept / 8;
    vt_log_bound.events = vt_log_bound.most - kept;
    vt_log_bound.entries = vt_log_bound.events + kept / 8;
    vt_log_bound.kept_free = kept / 8 < VT_FREE_KEPT_MOST ? kept / 8 : VT_FREE_KEPT_MOST;
    vt_put(&vt_log_bound.now, vt_log_bound.entries);
    return bytes;
}

uint64_t vt_log_bound_number(uint64_t *chunks) {
    uint64_t number;
    do
        if ((number = vt_get(chunks)) >= vt_get(&vt_log_bound.now))
            return 0;
    while (!vt_claim(chunks, number, number + 1));
    return number;
}

void vt_log_ends(bool scan) {
    uint64_t until = scan ? vt_log_bound.scan : vt_log_bound.end;
    if (vt_get(&vt_log_bound.now) < until)
        vt_put(&vt_log_bound.now, until);
}
