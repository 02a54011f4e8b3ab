/* SPDX-License-Identifier: MIT */
/*
 * How a process ended, in each form of words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "content/content.h"

#include <signal.h>
#include <stdlib.h>

static void forms(void **state) {
    (void)state;
    static const struct {
        struct vt_ending ending;
        const char *words[VT_ENDING_FORMS];
    } all[] = {
        {{VT_END_EXITED, 3},
         {"exit status 3", "exited with status 3", "exited with status 3", "exit 3",
          "exit status 3 after"}},
        {{VT_END_SIGNALED, SIGKILL},
         {"killed by signal 9 (Killed)", "was killed by signal 9 (Killed)",
          "were killed by signal 9 (Killed)", "signal 9", "signal 9 (Killed) after"}},
        {{VT_END_EXEC, VT_NO_STATUS},
         {"replaced itself by exec", "replaced itself by exec", "replaced themselves by exec",
          "exec", "another program since"}},
        {{VT_END_RUNNING, VT_NO_STATUS},
         {"still running", "is still running", "are still running", "running", "running"}},
        {{VT_END_UNKNOWN, VT_NO_STATUS},
         {"end not recorded", "ended unrecorded", "ended unrecorded", "no end",
          "ended unrecorded after"}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (unsigned form = 0; form < VT_ENDING_FORMS; form++) {
            char *words = vt_ending_text(all[i].ending, (enum vt_ending_form)form);
            assert_string_equal(words, all[i].words[form]);
            free(words);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
