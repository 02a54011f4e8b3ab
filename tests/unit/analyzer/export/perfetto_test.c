/* SPDX-License-Identifier: MIT */
/*
 * Phases that overlap by the hundred: a bounded number of tracks, and no phase is lost.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "export/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PHASES = 100 };

static unsigned count_of(const char *bytes, size_t length, const char *text) {
    unsigned count = 0;
    for (const char *at = bytes;
         (at = memmem(at, length - (size_t)(at - bytes), text, strlen(text))); at++)
        count++;
    return count;
}

/* Each begins within the one before it, and ends after it. */
static void staircase(void **state) {
    (void)state;
    static struct vt_phase phases[PHASES];
    struct vt_process process = {.ending.how = VT_END_EXITED, .pid = 7, .rank = -1};
    struct vt_model model = {.processes = &process, .process_count = 1};
    char *bytes = NULL;
    size_t length = 0;
    for (uint64_t i = 0; i < PHASES; i++)
        phases[i] =
            (struct vt_phase){.name = "stair", .start = 10 * i, .end = 10000 + 10 * i, .thread = 7};
    process.phases = phases;
    process.phase_count = PHASES;
    FILE *out = open_memstream(&bytes, &length);
    assert_int_equal(vt_export_perfetto_write(&model, &(struct vt_export_options){0}, out), 0);
    fclose(out);
    assert_int_equal(count_of(bytes, length, "overlapping phases"), 63);
    assert_int_equal(count_of(bytes, length, "stair"), PHASES);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(staircase)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
