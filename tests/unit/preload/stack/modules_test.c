/* SPDX-License-Identifier: MIT */
/* A module whose record found no space is written later: modules.c is compiled here with a log whose space the test
 * controls. */
#define _GNU_SOURCE
#include "log/log.h"

enum { RECORDS = 512 };
static uint64_t record_bytes[1024];
static unsigned room_for, count;

static uint64_t *reserve(struct vt_thread *thread, uint32_t bytes) {
    (void)thread;
    if (count >= room_for || bytes > sizeof record_bytes)
        return NULL;
    count++;
    return record_bytes;
}

#define vt_log_reserve                        reserve
#define vt_log_reserve_entry                  reserve
#define vt_log_commit(thread, r, word, bytes) ((void)(thread), (void)(bytes), *(r) = (word))

#include "log/log_record.c"

#include "stack/modules.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct vt_thread thread = {.entered_at = &thread.nowhere};

static unsigned written(unsigned room) {
    count = 0;
    room_for = room;
    vt_modules_write(&thread, NULL, 0);
    return count;
}

static void written_when_there_is_room(void **state) {
    (void)state;
    unsigned all = written(RECORDS);
    assert_in_range(all, 3, RECORDS - 1); /* the program, the C library, the loader */
    assert_int_equal(written(RECORDS), 0);
    vt_modules_forked();
    assert_int_equal(written(0), 0);
    assert_int_equal(written(1), 1);
    assert_int_equal(written(RECORDS), all - 1);
    assert_int_equal(written(RECORDS), 0);
}

/* More modules than the table of written ones can hold: each is written at least once. */
static void written_when_the_table_is_full(void **state) {
    (void)state;
    vt_modules_forked();
    for (unsigned i = 0; i < KNOWN_MAX; i++)
        known[i].hash = 1;
    assert_in_range(written(RECORDS), 3, RECORDS - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(written_when_there_is_room),
                                       cmocka_unit_test(written_when_the_table_is_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
