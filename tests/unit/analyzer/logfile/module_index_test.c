/* SPDX-License-Identifier: MIT */
/* The index of modules against a look at all of them: random modules, many at one address. */
#include "logfile/log_tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { MODULES = 60, ROUNDS = 300, ASKED = 200 };

/* The modules that cover the address: the last one seen up to `ticks`, else the first one later. */
static uint32_t slow(const struct vt_log_module *m, uint32_t count, uint64_t address,
                     uint64_t ticks) {
    uint32_t best = VT_MAP_NONE;
    for (uint32_t i = 0; i < count; i++) {
        if (address < m[i].start || address >= m[i].end)
            continue;
        if (best == VT_MAP_NONE ||
            (m[i].ticks <= ticks ? m[best].ticks > ticks || m[i].ticks > m[best].ticks
                                 : m[best].ticks > ticks && m[i].ticks < m[best].ticks))
            best = i;
    }
    return best;
}

static void random_modules(void **state) {
    uint64_t random = 1;
    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct vt_log_module m[MODULES] = {0};
        uint32_t count = round % MODULES;
        for (uint32_t i = 0; i < count; i++) {
            random = vt_mix(random + i);
            m[i].start = random % 100;
            m[i].end = m[i].start + (random >> 32) % (i % 3 ? 10 : 100); /* including empty ones */
            m[i].ticks = 2 * ((i * 37) % MODULES);
        }
        struct vt_module_index *index = vt_module_index_make(m, count);
        for (uint32_t i = 0; i < ASKED; i++) {
            random = vt_mix(random + i);
            uint64_t address = random % 210, ticks = (random >> 32) % (2 * MODULES);
            assert_int_equal(vt_module_index_at(index, address, ticks),
                             slow(m, count, address, ticks));
        }
        vt_module_index_free(index);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_modules)};
    return cmocka_run_group_tests_name("module_index", tests, NULL, NULL);
}
