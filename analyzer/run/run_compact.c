/* SPDX-License-Identifier: MIT */
/*
 * The compactor of a run (see run_compact.h).
 */
#include "run_compact.h"

#include "compact/compact.h"
#include "log/log.h"

#include <stdlib.h>
#include <unistd.h>

#define MOST_LOGS 400 /* at a time: each takes a descriptor */

struct compactors {
    struct vt_compactor **all;
    size_t count, room;
};

static bool is_wanted(const char *path) {
    struct vt_log_header header;
    VT_SCOPED_STRING message = {0};
    uint64_t bytes;
    VT_SCOPED_FD fd = vt_log_file_open(path, VT_PACK_LOG, UINT64_MAX, NULL, &message);
    return fd >= 0 && !vt_log_read_header(fd, path, &header, &bytes, &message) &&
           vt_log_is_running(&header) && vt_compact_wanted(&header);
}

static void add(void *of, const char *path) {
    struct compactors *c = of;
    struct vt_compactor *compactor;
    VT_SCOPED_STRING message = {0};
    if (c->count == MOST_LOGS || !is_wanted(path))
        return;
    if (!vt_compactor_open(path, &compactor, &message)) /* else somebody has it already */
        *VT_ADD(c->all, c->count, c->room) = compactor;
}

static uint64_t work(void *of, uint64_t now) {
    struct compactors *c = of;
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < c->count;) {
        VT_SCOPED_STRING message = {0};
        bool ended;
        int error = vt_compactor_go_on(c->all[i], &ended, &message);
        if (error)
            vt_error("%s; it is not compacted any more", message.text);
        if (!error && !ended) {
            uint64_t again = now + vt_compactor_wait_ms(c->all[i++]) * 1000000ull;
            next = again < next ? again : next;
            continue;
        }
        vt_compactor_close(c->all[i]);
        c->all[i] = c->all[--c->count];
    }
    return next;
}

void vt_run_compact_start(struct vt_run_beside *beside, const char *list) {
    static const struct vt_run_care care = {
        .name = "vramtrace-tidy", .add = add, .work = work, .keeps_stderr = true};
    struct compactors compactors = {0};
    vt_run_beside_start(beside, &care, &compactors, list);
}
