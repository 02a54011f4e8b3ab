/* SPDX-License-Identifier: MIT */
/* A phase's name is in the log before the first phase that has it, whatever becomes of the thread that saw it first:
 * phases.c is compiled here with a log whose space the test controls. */
#define _GNU_SOURCE
#include "log/log.h"

#include <string.h>

static void (*before_write)(void); /* another thread, before a record is written */
static uint32_t no_room;           /* so many records find none */

enum { RECORDS = 64 };
static uint64_t records[RECORDS][64];
static unsigned count;

static uint64_t *reserve(struct vt_thread *thread, uint32_t bytes) {
    void (*other)(void) = before_write;
    (void)thread;
    before_write = NULL;
    if (other)
        other();
    if (no_room) {
        no_room--;
        return NULL;
    }
    memset(records[count], 0, sizeof records[count]);
    return bytes <= sizeof records[count] ? records[count++] : NULL;
}

static void commit(uint64_t *record, uint64_t word) {
    *record = word;
}

#define vt_log_reserve                        reserve
#define vt_log_reserve_entry                  reserve
#define vt_log_commit(thread, r, word, bytes) ((void)(thread), (void)(bytes), commit(r, word))

#include "log/log_record.c"

#include "state/phases.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct vt_thread thread;

static void write_phase(const char *name) {
    struct vt_open_phase p = {.range = 1, .bytes = (uint32_t)strlen(name)};
    memcpy(p.text, name, p.bytes);
    vt_phases_write(&thread, VT_PHASE_MARK, &p);
}

/* The types of the records since `from`, in the order in which they were reserved: N and P. */
static const char *written(unsigned from) {
    static char text[RECORDS + 1];
    unsigned n = 0;
    for (; from < count; from++)
        text[n++] = vt_word_type(records[from][0]) == VT_REC_NAME    ? 'N'
                    : vt_word_type(records[from][0]) == VT_REC_PHASE ? 'P'
                                                                     : '-';
    text[n] = 0;
    return text;
}

static void write_a(void) {
    write_phase("a");
}

/* The first thread may be killed before it wrote the name, so the second does not rely on it. */
static void name_before_each_phase(void **state) {
    (void)state;
    before_write = write_a;
    write_phase("a");
    assert_string_equal(written(0), "NPNP");
    write_phase("a");
    assert_string_equal(written(4), "P");
    write_phase("b");
    assert_string_equal(written(5), "NP");
}

/* A name for which there was no room is written with the next phase. */
static void name_without_room(void **state) {
    (void)state;
    unsigned from = count;
    no_room = 1;
    write_phase("c");
    assert_string_equal(written(from), "P");
    write_phase("c");
    assert_string_equal(written(from), "PNP");
    write_phase("c");
    assert_string_equal(written(from), "PNPP");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(name_before_each_phase),
                                       cmocka_unit_test(name_without_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
