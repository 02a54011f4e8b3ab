/* SPDX-License-Identifier: MIT */
/*
 * The leak gate after a run (see run_check.h).
 */
#include "run_check.h"

#include "base/base.h"
#include "run_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

char *vt_run_check_folder(void) {
    char *path = vt_run_places_temporary("vramtrace-check", "/tmp", 01733, NULL, NULL);
    if (!path)
        vt_error("cannot make a temporary folder in TMPDIR, /tmp or /dev/shm: %s", strerror(errno));
    return path;
}

/* Finds why no log can be judged; stays empty if one can. */
static void find_reason(const struct vt_run_plan *plan, const struct vt_run_child *child,
                        const struct vt_run_logs *logs, struct vt_string *why) {
    if (child->untraced.length)
        vt_string_add(why, child->untraced.text);
    else if (logs->failed)
        vt_string_add(why, "cannot judge: a process could not write its log");
    else if (!logs->count && child->refused.length)
        vt_string_add(why, child->refused.text);
    else if (!logs->count && !plan->options.check.allow_no_cuda) {
        VT_SCOPED char *none = vt_run_logs_why_none(plan->options.simulated);
        vt_string_format(why, "nothing was judged: %s (--allow-no-cuda lets this pass)", none);
    }
}

/* Runs the gate, and writes its text to stderr unless it passes and `quiet` is set. */
static int run_gate(struct vt_check *check, const struct vt_run_logs *logs, bool quiet) {
    VT_SCOPED char *text = NULL;
    size_t length = 0;
    FILE *out = quiet ? open_memstream(&text, &length) : stderr;
    fflush(stdout);
    int status = vt_check_run(check, logs->paths, (uint32_t)logs->count, out ? out : stderr);
    if (quiet && out) {
        fclose(out);
        if (status == VT_STATUS_GATE)
            fputs(text, stderr);
    }
    return status;
}

int vt_run_check_judge(struct vt_run_plan *plan, const struct vt_run_child *child,
                       const struct vt_run_logs *logs) {
    struct vt_check *check = &plan->options.check;
    VT_SCOPED_STRING why = {0};
    find_reason(plan, child, logs, &why);
    if (why.length) {
        vt_error("%s; the command's own exit status was %d", why.text, child->status);
        return VT_STATUS_CANNOT_TRACE;
    }
    int status = run_gate(check, logs, plan->quiet);
    if (child->status && !check->ignore_status) {
        if (status != VT_STATUS_OK && status != VT_STATUS_GATE)
            vt_error("the gate did not judge this run");
        return child->status;
    }
    if (status == VT_STATUS_GATE)
        return status;
    if (status != VT_STATUS_OK) {
        vt_error("the gate did not judge this run; the command's own exit status was %d",
                 child->status);
        return VT_STATUS_CANNOT_TRACE;
    }
    /* A command ended by a signal may not have reached its leaks, so it does not pass. */
    return child->signal ? child->status : VT_STATUS_OK;
}
