/* SPDX-License-Identifier: MIT */
/*
 * The end of a process, in the words of every report and of watch (see report_doc.h).
 */

#include "report_doc.h"

#include <string.h>

/* Arguments: the status; for a signal its name. */
static const char *const forms[VT_ENDS][VT_ENDING_FORMS] = {
    [VT_END_EXITED] = {[VT_ENDING_PHRASE] = "exit status %d",
                       [VT_ENDING_OF_ONE] = "exited with status %d",
                       [VT_ENDING_OF_MANY] = "exited with status %d",
                       [VT_ENDING_COLUMN] = "exit %d",
                       [VT_ENDING_TIMED] = "exit status %d after"},
    [VT_END_SIGNALED] = {[VT_ENDING_PHRASE] = "killed by signal %d (%s)",
                         [VT_ENDING_OF_ONE] = "was killed by signal %d (%s)",
                         [VT_ENDING_OF_MANY] = "were killed by signal %d (%s)",
                         [VT_ENDING_COLUMN] = "signal %d",
                         [VT_ENDING_TIMED] = "signal %d (%s) after"},
    [VT_END_EXEC] = {[VT_ENDING_PHRASE] = "replaced itself by exec",
                     [VT_ENDING_OF_ONE] = "replaced itself by exec",
                     [VT_ENDING_OF_MANY] = "replaced themselves by exec",
                     [VT_ENDING_COLUMN] = "exec",
                     [VT_ENDING_TIMED] = "another program since"},
    [VT_END_RUNNING] = {[VT_ENDING_PHRASE] = "still running",
                        [VT_ENDING_OF_ONE] = "is still running",
                        [VT_ENDING_OF_MANY] = "are still running",
                        [VT_ENDING_COLUMN] = "running",
                        [VT_ENDING_TIMED] = "running"},
    [VT_END_UNKNOWN] = {[VT_ENDING_PHRASE] = "end not recorded",
                        [VT_ENDING_OF_ONE] = "ended unrecorded",
                        [VT_ENDING_OF_MANY] = "ended unrecorded",
                        [VT_ENDING_COLUMN] = "no end",
                        [VT_ENDING_TIMED] = "ended unrecorded after"},
};

char *vt_ending_text(struct vt_ending ending, enum vt_ending_form form) {
    return vt_formatted(forms[ending.how][form], ending.status,
                        ending.how == VT_END_SIGNALED ? strsignal(ending.status) : "");
}
