/* SPDX-License-Identifier: MIT */
/*
 * The compactor of a run (see run_compact.h).
 */
#include "run_compact.h"

#include "compact/compact.h"
#include "log/log.h"
#include "run_copies.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_LOGS 400 /* at a time: each takes a descriptor */

struct compactors {
    struct vt_compactor **all;
    size_t count, room;
    struct vt_run_copies *copies; /* NULL: the logs are where they belong */
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
    if (c->copies && !vt_run_copies_add(c->copies, path))
        return; /* its disk may hang */
    if (c->count == MOST_LOGS || !is_wanted(path))
        return;
    if (!vt_compactor_open(path, &compactor, &message)) /* else somebody has it already */
        *VT_ADD(c->all, c->count, c->room) = compactor;
}

static uint64_t work(void *of, uint64_t now) {
    struct compactors *c = of;
    uint64_t next = c->copies ? vt_run_copies_work(c->copies, now) : UINT64_MAX;
    for (size_t i = 0; i < c->count;) {
        VT_SCOPED_STRING message = {0};
        bool ended;
        int error = vt_compactor_go_on(c->all[i], &ended, &message);
        if (error)
            vt_error("%s; the log is not compacted any more%s", message.text,
                     error == -EFBIG ? " (a larger --max-log has room)" : "");
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

/* Nobody reads what is said any more, and a reader of the command's output waits for its end. */
static void over(void *of) {
    struct compactors *c = of;
    dup2(0, 2);
    vt_run_copies_over(c->copies);
}

void vt_run_compact_start(struct vt_run_beside *beside, const char *list, const char *memory) {
    static const struct vt_run_care
        care = {.name = "vramtrace-tidy", .add = add, .work = work, .keeps_stderr = true},
        outlives = {
            .name = "vramtrace-tidy", .add = add, .work = work, .over = over, .keeps_stderr = true};
    struct compactors compactors = {.copies = memory ? vt_run_copies_make(memory, list) : NULL};
    vt_run_beside_start(beside, memory ? &outlives : &care, &compactors, list);
}
