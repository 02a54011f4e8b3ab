/* SPDX-License-Identifier: MIT */
/*
 * The compactor of a run (see run_compact.h).
 */
#include "run_compact.h"

#include "compact/compact.h"
#include "logfile/logfile.h"

#include <errno.h>
#include <stdlib.h>

#define MOST_LOGS 400 /* at the same time: each takes a descriptor */

struct compacted {
    struct vt_compactor *compactor;
    char *path;
};

struct compactors {
    struct compacted *all;
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
    struct compacted new = {0};
    VT_SCOPED_STRING message = {0};
    VT_SCOPED_RIGHTS rights = vt_rights_lower(path);
    if (rights < 0 || c->count == MOST_LOGS || !is_wanted(path) ||
        vt_compactor_open(path, &new.compactor, &message))
        return; /* or if another process compacts it */
    new.path = vt_strdup(path);
    *VT_ADD(c->all, c->count, c->room) = new;
}

static int go_on(const struct compacted *log, bool *ended, struct vt_string *message) {
    VT_SCOPED_RIGHTS rights = vt_rights_lower(log->path);
    return rights < 0 ? vt_rights_refuse(log->path, message)
                      : vt_compactor_go_on(log->compactor, ended, message);
}

static uint64_t work(void *of, uint64_t now) {
    struct compactors *c = of;
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < c->count;) {
        VT_SCOPED_STRING message = {0};
        bool ended;
        int error = go_on(&c->all[i], &ended, &message);
        if (error)
            vt_error("%s; the log is not compacted any more%s", message.text,
                     error == -EFBIG ? " (a larger --max-log has room)" : "");
        if (!error && !ended) {
            uint64_t again = now + vt_compactor_wait_ms(c->all[i++].compactor) * 1000000ull;
            next = again < next ? again : next;
            continue;
        }
        vt_compactor_close(c->all[i].compactor);
        free(c->all[i].path);
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
