/* SPDX-License-Identifier: MIT */
/*
 * What is said of memory without an owner: an object that holds it and that no named way leads to.
 */
#include "owners_log.h"

/* What a site's blocks were last seen in: no owner, and the block may be lost. */
static void last_hops(void **state) {
    (void)state;
    static const struct {
        const char *class;
        uint32_t items, objects, flags, blocks_without;
        const char *expected;
    } rows[] = {
        {"list", 12, 1, 0, 0, "a list (12 items)"},
        {"OrderedDict", 1, 1, 0, 1, "an OrderedDict (1 item)"},
        {"Renderer", 0, 1, 0, 0, "an object of class Renderer"},
        {"list", 2, 3, 0, 0, "3 objects of class list"},
        {"tuple", 0, 1, VT_STEP_MANY, 0, "objects of class tuple"},
        {"list", 12, 1, 0, 2, NULL}, /* of less than half */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        start();
        uint64_t lost[1];
        for (uint32_t k = 0; k < rows[i].objects; k++) {
            uint32_t hop = maker_step(&m, 0,
                                      (struct maker_step){0, VT_STEP_UNREACHED, rows[i].class, NULL,
                                                          (uint16_t)rows[i].flags, rows[i].items,
                                                          0x1000 * (k + 1)});
            uint64_t address = block(4096);
            uint32_t item = step(hop, VT_STEP_INDEX, NULL, "Buffer");
            own(address, item, 0);
            own(address, item, 0); /* and no other holder */
            lost[0] = vt_lost_entry(address, VT_SPACE_DEVICE);
        }
        for (uint32_t k = 0; k < rows[i].blocks_without; k++)
            block(4096);
        snapshot();
        struct vt_rec_lost l = {.count = 1};
        put_parts(&m, 0, &l, sizeof l, VT_REC_LOST, lost, sizeof lost, NULL, 0);
        struct vt_rec_scan scan = {.looked_for = 1, .lost = 1, .threads = 1};
        put_parts(&m, 0, &scan, sizeof scan, VT_REC_SCAN, NULL, 0, NULL, 0);
        const struct vt_process *p = finish();
        const struct vt_snapshot *s = &p->snapshots[0];
        assert_int_equal(s->owner_count, 0);
        assert_int_equal(s->unowned_count, rows[i].objects + rows[i].blocks_without);
        assert_int_equal(p->sites[0].owned.count, 0);
        assert_int_equal(p->sites[0].lost_count, 1);
        if (rows[i].expected)
            assert_string_equal(p->sites[0].last_hop, rows[i].expected);
        else
            assert_null(p->sites[0].last_hop);
        end();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(last_hops)};
    return cmocka_run_group_tests_name("last_hop", tests, maker_make_folder, maker_remove_folder);
}
