/* SPDX-License-Identifier: MIT */
/*
 * What is said of memory without an owner: an object that holds it, with no named path to it, or
 * memory that has a word which points to it.
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
        struct vt_rec_scan scan = {
            .looked_for = 1, .lost = 1, .threads = 1, .at = vt_scan_at(VT_TICKS_MASK)};
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

/* A step that stands for what the second leads to, or for what a word lies in. */
struct seen {
    const char *name, *type;
    uint32_t bytes;
};

/* What a word lies in, and what leads there. */
static void seen_hops(void **state) {
    (void)state;
    enum { NOBODY, SCENE, LIST, HISTORY, SLOT };
    static const struct {
        struct seen seen;
        uint32_t count, behind;
        enum vt_hop kind;
        const char *expected;
    } rows[] = {
        {{"block", "", 24}, 1, NOBODY, VT_HOP_SEEN, "a block of 24 bytes on the heap"},
        {{"block", "", 24}, 3, NOBODY, VT_HOP_SEEN, "3 blocks of 24 bytes on the heap"},
        {{"block", "", 24},
         1,
         SCENE,
         VT_HOP_SEEN,
         "a block of 24 bytes on the heap behind an object of class Scene"},
        {{"block", "", 24},
         2,
         LIST,
         VT_HOP_SEEN,
         "2 blocks of 24 bytes on the heap behind a list (12 items)"},
        {{"object", "N3net4PoolINS_5ImageEEE", 64},
         2,
         NOBODY,
         VT_HOP_SEEN,
         "2 objects of class net::Pool<net::Image>"},
        {{"object", "pool.Buffer", 64},
         1,
         HISTORY,
         VT_HOP_SEEN_NAMED,
         "an object of class pool.Buffer behind history[0] (tuple) in __main__, train.py"},
        {{"object", "pool.Buffer", 64},
         1,
         SLOT,
         VT_HOP_SEEN_NAMED,
         "loader.staging (pool.Buffer) in __main__, train.py"},
        {{"data", "", 8}, 1, NOBODY, VT_HOP_SEEN_NAMED, "data of a library"},
        {{"stack", "", 4096},
         1,
         NOBODY,
         VT_HOP_SEEN_NAMED,
         "a thread's stack, perhaps left there by a call that has returned"},
        {{"pinned", "", 16384}, 1, NOBODY, VT_HOP_SEEN, "16.0 KiB of pinned host memory"},
        {{"mapping", "", 8192}, 1, NOBODY, VT_HOP_SEEN, "8.00 KiB of mapped memory"},
        {{"/dev/shm/table", "", 8192}, 1, NOBODY, VT_HOP_SEEN, "a mapping of /dev/shm/table"},
        {{"", "", 0}, 1, NOBODY, VT_HOP_SEEN, "a mapping of "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        start();
        uint32_t behind =
            rows[i].behind == SCENE ? step(0, VT_STEP_SEEN, "object", "Scene")
            : rows[i].behind == LIST
                ? maker_step(&m, 0,
                             (struct maker_step){0, VT_STEP_UNREACHED, "list", NULL, 0, 12, 0x1000})
            : rows[i].behind == HISTORY
                ? step(step(module(), VT_STEP_NAME, "history", "list"), VT_STEP_INDEX, "0", "tuple")
            : rows[i].behind == SLOT ? step(step(module(), VT_STEP_NAME, "loader", "Loader"),
                                            VT_STEP_ATTRIBUTE, "staging", "pool.Buffer")
                                     : 0;
        for (uint32_t k = 0; k < rows[i].count; k++)
            own(block(4096),
                maker_step(&m, 0,
                           (struct maker_step){behind, VT_STEP_SEEN, rows[i].seen.name,
                                               rows[i].seen.type, 0, rows[i].seen.bytes,
                                               0x2000 * (k + 1)}),
                0);
        snapshot();
        const struct vt_process *p = finish();
        assert_int_equal(p->snapshots[0].owner_count, 0);
        assert_int_equal(p->snapshots[0].unowned_count, rows[i].count);
        assert_string_equal(p->sites[0].last_hop, rows[i].expected);
        assert_int_equal(p->sites[0].hop, rows[i].kind);
        end();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(last_hops), cmocka_unit_test(seen_hops)};
    return cmocka_run_group_tests_name("last_hop", tests, maker_make_folder, maker_remove_folder);
}
