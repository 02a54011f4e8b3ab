/* SPDX-License-Identifier: MIT */
/*
 * The model of PyTorch's allocator by its rules: pools, segments, splitting, streams, what returns to
 * the driver, and the settings. tests/cases/522 and tests/frameworks/run_oom hold it against more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "replay/cache_model.h"

#define MIB (1ull << 20)

static const struct vt_cache_settings defaults = {.max_split = UINT64_MAX,
                                                  .max_rounding = VT_CACHE_LARGE_SEGMENT,
                                                  .large_segment = VT_CACHE_LARGE_SEGMENT,
                                                  .fraction = 1};

static struct vt_cache_model *open_with(struct vt_cache_settings settings, uint64_t bytes) {
    return vt_cache_open(&settings, bytes, bytes);
}

static uint32_t alloc(struct vt_cache_model *m, uint64_t size, uint8_t stream) {
    return vt_cache_alloc(m, (struct vt_cache_request){.size = size, .stream = stream});
}

static uint64_t reserved(const struct vt_cache_model *m) {
    return vt_cache_figures(m)->reserved;
}

static struct vt_cache_settings read_as(const char *value, const char *refused) {
    struct vt_cache_settings s;
    struct vt_string said = {0};
    assert_true(vt_cache_settings_read(value, &s, &said) == !refused);
    if (refused)
        assert_string_equal(said.text, refused);
    vt_string_free(&said);
    return s;
}

static void settings(void **state) {
    (void)state;
    struct vt_cache_settings s = read_as(NULL, NULL);
    assert_false(s.expandable);
    assert_true(s.max_split == UINT64_MAX && s.fraction == 1 && s.collect_from == 0);
    s = read_as("garbage_collection_threshold:0.8, expandable_segments:True", NULL);
    assert_true(s.expandable && s.collect_from == 0.8);
    s = read_as("max_split_size_mb:64,expandable_segments:False", NULL);
    assert_false(s.expandable);
    assert_true(s.max_split == 64 * MIB);
    assert_true(read_as(" large_segment_size_mb : 40 ", NULL).large_segment == 40 * MIB);
    assert_true(read_as("per_process_memory_fraction:0.5", NULL).fraction == 0.5);
    read_as("pinned_use_background_threads:True,backend:native", NULL);
    read_as(",", NULL);
    s = read_as("roundup_power2_divisions:4", NULL);
    assert_true(s.divisions[0] == 4 && s.divisions[15] == 4);
    /* before the first boundary its value holds, between others none, behind > its own */
    s = read_as("roundup_power2_divisions:[64:8,256:4,1024:2,>:1],expandable_segments:True", NULL);
    assert_true(s.divisions[0] == 8 && s.divisions[6] == 8 && s.divisions[7] == 0);
    assert_true(s.divisions[8] == 4 && s.divisions[10] == 2 && s.divisions[11] == 1);
    assert_true(s.divisions[15] == 1 && s.expandable);
}

static void refusals(void **state) {
    (void)state;
    read_as("backend:cudaMallocAsync",
            "backend:cudaMallocAsync is not in the model of PyTorch's allocator");
    struct vt_cache_settings s =
        read_as("expandable_segment:True,max_split_size_mb:64",
                "expandable_segment:True is not in the model of PyTorch's allocator");
    assert_true(s.max_split == 64 * MIB); /* the rest is read */
    read_as("max_split_size_mb", "max_split_size_mb: is not a value that PyTorch accepts");
    read_as("max_split_size_mb:8", "max_split_size_mb:8 is not a value that PyTorch accepts");
    read_as("expandable_segments:true",
            "expandable_segments:true is not a value that PyTorch accepts");
    read_as("roundup_power2_divisions:3",
            "roundup_power2_divisions:3 is not a value that PyTorch accepts");
    read_as("roundup_power2_divisions:[8:2",
            "roundup_power2_divisions:[8:2 is not a value that PyTorch accepts");
    read_as("roundup_power2_divisions:[8",
            "roundup_power2_divisions:[8 is not a value that PyTorch accepts");
    read_as("garbage_collection_threshold:1",
            "garbage_collection_threshold:1 is not a value that PyTorch accepts");
    read_as(",,:", NULL);
}

static void pools(void **state) {
    struct vt_cache_model *m = open_with(defaults, 64 * MIB);
    (void)state;
    uint32_t small = alloc(m, 1, 0);
    assert_true(reserved(m) == 2 * MIB);
    assert_true(alloc(m, MIB, 0) && reserved(m) == 2 * MIB);
    uint32_t large = alloc(m, MIB + 1, 0);
    assert_true(reserved(m) == 22 * MIB);
    assert_true(alloc(m, 5 * MIB, 1) && reserved(m) == 42 * MIB); /* a stream */
    assert_true(alloc(m, 11 * MIB, 0) && reserved(m) == 42 * MIB);
    assert_true(alloc(m, 20 * MIB + 1, 0) && reserved(m) == 64 * MIB);
    assert_false(alloc(m, 9 * MIB, 0));
    vt_cache_free(m, large); /* 8.5 MiB are idle beside it, as there were before */
    assert_true(alloc(m, 2 * MIB, 0));
    vt_cache_free(m, small);
    assert_false(alloc(m, 10 * MIB, 0));
    vt_cache_close(m);
}

/* Wholly free segments are returned when a request fails, others never. */
static void releases(void **state) {
    struct vt_cache_model *m = open_with(defaults, 60 * MIB);
    uint32_t blocks[3];
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(blocks[i] = alloc(m, 20 * MIB, 0));
    vt_cache_free(m, blocks[0]);
    vt_cache_free(m, blocks[1]);
    assert_true(reserved(m) == 60 * MIB);
    uint32_t pin = alloc(m, 3 * MIB, 0);
    assert_false(alloc(m, 30 * MIB, 0));
    assert_true(reserved(m) == 40 * MIB);
    vt_cache_free(m, pin);
    assert_true(alloc(m, 30 * MIB, 0));
    vt_cache_close(m);
}

static void expandable(void **state) {
    (void)state;
    struct vt_cache_settings s = read_as("expandable_segments:True", NULL);
    struct vt_cache_model *m = open_with(s, 100 * MIB);
    uint32_t blocks[5];
    for (int i = 0; i < 5; i++)
        assert_true(blocks[i] = alloc(m, 18 * MIB, 0));
    assert_true(reserved(m) == 100 * MIB);
    for (int i = 0; i < 4; i++)
        vt_cache_free(m, blocks[i]);
    assert_true(blocks[0] = alloc(m, 70 * MIB, 0)); /* in one piece */
    vt_cache_free(m, blocks[0]);
    /* of the 72 MiB before the live block 60 are whole pieces; behind it are 10 more */
    assert_false(alloc(m, 75 * MIB, 0));
    assert_true(reserved(m) == 40 * MIB);
    assert_true(alloc(m, MIB / 2, 0) && reserved(m) == 42 * MIB);
    assert_false(alloc(m, 68 * MIB, 0));
    assert_true(alloc(m, 40 * MIB, 0) && reserved(m) == 82 * MIB);
    vt_cache_close(m);
}

static void max_split(void **state) {
    (void)state;
    struct vt_cache_model *m = open_with(read_as("max_split_size_mb:32", NULL), 100 * MIB);
    uint32_t big = alloc(m, 40 * MIB, 0);
    vt_cache_free(m, big);
    assert_true(alloc(m, 4 * MIB, 0)); /* not out of the big one */
    assert_true(reserved(m) == 60 * MIB);
    assert_true(big = alloc(m, 35 * MIB, 0)); /* which is given whole */
    assert_true(reserved(m) == 60 * MIB);
    vt_cache_free(m, big);
    assert_true(alloc(m, 70 * MIB, 0)); /* and returned for this one */
    assert_true(reserved(m) == 90 * MIB);
    vt_cache_close(m);
}

/* Between two powers of 2 there are so many sizes; below 512 B times that, all of them. */
static void rounding(void **state) {
    (void)state;
    struct vt_cache_model *m = open_with(read_as("roundup_power2_divisions:4", NULL), UINT64_MAX);
    assert_true(alloc(m, 33 * MIB, 0) && reserved(m) == 40 * MIB);
    assert_true(alloc(m, 48 * MIB, 0) && reserved(m) == 88 * MIB);
    assert_true(alloc(m, 64 * MIB, 0) && reserved(m) == 152 * MIB);
    /* 1.1 MiB are 1.25: not in the small pool; 0.9 MiB are 1 MiB, and two of them a segment */
    assert_true(alloc(m, 1153434, 0) && reserved(m) == 172 * MIB);
    assert_true(alloc(m, 943718, 0) && alloc(m, 943718, 0) && reserved(m) == 174 * MIB);
    vt_cache_close(m);
}

static void fraction(void **state) {
    (void)state;
    struct vt_cache_settings s = read_as("per_process_memory_fraction:0.5", NULL);
    struct vt_cache_model *m = open_with(s, 100 * MIB);
    uint32_t block = alloc(m, 40 * MIB, 0);
    assert_true(block);
    assert_false(alloc(m, 11 * MIB, 0));
    assert_true(vt_cache_figures(m)->missing_bytes == 2 * MIB); /* 12 of 10 that are left */
    vt_cache_free(m, block);
    assert_true(alloc(m, 50 * MIB, 0));
    vt_cache_close(m);
}

/* From 60 % of the fraction on, segments that have been idle for longer than the mean return. */
static void collection(void **state) {
    (void)state;
    struct vt_cache_settings s =
        read_as("garbage_collection_threshold:0.6,per_process_memory_fraction:0.5", NULL);
    struct vt_cache_model *m = open_with(s, 400 * MIB);
    uint32_t old = alloc(m, 40 * MIB, 0), young = alloc(m, 60 * MIB, 0);
    vt_cache_free(m, old);
    for (int i = 0; i < 10; i++)
        vt_cache_free(m, alloc(m, 35 * MIB, 0)); /* each time out of the old one */
    vt_cache_free(m, young);
    assert_true(reserved(m) == 100 * MIB);
    assert_true(alloc(m, 70 * MIB, 0) && reserved(m) == 170 * MIB); /* was not above it */
    assert_true(alloc(m, 80 * MIB, 0));
    assert_true(reserved(m) == 150 * MIB);
    vt_cache_close(m);
}

/* Pieces of expandable segments are counted from where their range begins, whatever their size. */
static void uneven_pieces(void **state) {
    (void)state;
    struct vt_cache_model *m =
        open_with(read_as("large_segment_size_mb:13,expandable_segments:True", NULL), UINT64_MAX);
    assert_true(alloc(m, 5 * MIB, 0) && reserved(m) == 13 * MIB);
    uint32_t small = alloc(m, MIB, 1), large = alloc(m, 30 * MIB, 1);
    assert_true(reserved(m) == (13 + 2 + 39) * MIB);
    vt_cache_free(m, small);
    vt_cache_free(m, large);
    vt_cache_empty(m, 0);
    assert_true(reserved(m) == 13 * MIB);
    vt_cache_close(m);
}

/* A graph's pool serves only that graph, and is kept until the graph is gone. */
static void private_pools(void **state) {
    (void)state;
    struct vt_cache_model *m = open_with(defaults, 60 * MIB);
    uint32_t own = vt_cache_alloc(m, (struct vt_cache_request){15 * MIB, 7, 0});
    vt_cache_free(m, own);
    assert_true(alloc(m, 5 * MIB, 0) && reserved(m) == 36 * MIB);
    vt_cache_empty(m, 0);
    assert_true(reserved(m) == 36 * MIB);
    assert_false(alloc(m, 30 * MIB, 0));
    vt_cache_empty(m, 7);
    assert_true(reserved(m) == 20 * MIB);
    assert_true(alloc(m, 30 * MIB, 0));
    vt_cache_close(m);
}

static void outside(void **state) {
    (void)state;
    struct vt_cache_model *m = open_with(defaults, 100 * MIB);
    assert_true(vt_cache_set_outside(m, 70 * MIB));
    assert_false(alloc(m, 32 * MIB, 0));
    assert_true(alloc(m, 20 * MIB, 0) && vt_cache_set_outside(m, 80 * MIB));
    assert_false(vt_cache_set_outside(m, 81 * MIB));
    assert_true(vt_cache_figures(m)->missing_bytes == MIB);
    assert_true(vt_cache_figures(m)->peak_bytes == 100 * MIB);
    vt_cache_close(m);
}

/* --- rehearsals --- */

enum { ROWS = 24, LIVE = 300, STEPS = 20000 };

static uint64_t random_below(uint64_t limit) {
    static uint64_t seed = 88172645463325252ull;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % limit;
}

/* Rows that share a model as long as they can say what each would have said alone. */
static void rows_alone(void **state) {
    static const char *const confs[] = {
        "",
        "expandable_segments:True",
        "max_split_size_mb:32",
        "roundup_power2_divisions:[4:2,>:4]",
        "garbage_collection_threshold:0.7,per_process_memory_fraction:0.8",
        "expandable_segments:True,roundup_power2_divisions:8"};
    struct vt_rehearsal_setup setups[ROWS];
    struct vt_cache_model *alone[ROWS];
    struct vt_rehearsal_result expected[ROWS] = {0};
    static uint32_t blocks[ROWS][LIVE];
    static bool live[LIVE];
    (void)state;
    for (unsigned i = 0; i < ROWS; i++) {
        uint64_t usable = i / 6 == 3 ? UINT64_MAX : (600 + 300 * (i / 6)) * MIB;
        setups[i] = (struct vt_rehearsal_setup){read_as(confs[i % 6], NULL), usable, usable};
        alone[i] = vt_cache_open(&setups[i].settings, usable, i % 6 == 4 ? usable : UINT64_MAX);
    }
    struct vt_rehearsal *r = vt_rehearsal_open(0, setups, ROWS);
    unsigned ended = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned at = (unsigned)random_below(LIVE);
        struct vt_rehearsal_event event = {
            .request = {.size = random_below(random_below(4) ? MIB / 2 : 24 * MIB) + 1,
                        .private = random_below(20) == 0,
                        .stream = random_below(10) == 0},
            .outside = step / 1000 % 7 * 10 * MIB,
            .ticks = step};
        bool empties = random_below(3000) == 0;
        if (empties)
            vt_rehearsal_empty(r, 1);
        (live[at] ? vt_rehearsal_free(r, at + 1) : vt_rehearsal_alloc(r, at + 1, &event));
        live[at] = !live[at];
        for (unsigned i = 0; i < ROWS; i++) {
            struct vt_rehearsal_result *e = &expected[i];
            if (e->failed.happened)
                continue;
            if (empties)
                vt_cache_empty(alone[i], 1);
            if (!live[at])
                vt_cache_free(alone[i], blocks[i][at]);
            else if (!vt_cache_set_outside(alone[i], event.outside))
                e->failed = (struct vt_rehearsal_refusal){.happened = true, .ticks = step};
            else if (!(blocks[i][at] = vt_cache_alloc(alone[i], event.request)))
                e->failed = (struct vt_rehearsal_refusal){
                    .happened = true, .ticks = step, .requested_bytes = event.request.size};
            e->failed.missing_bytes = vt_cache_figures(alone[i])->missing_bytes;
        }
    }
    for (unsigned i = 0; i < ROWS; i++) {
        const struct vt_rehearsal_result *is = vt_rehearsal_result(r, i), *e = &expected[i];
        assert_int_equal(is->failed.happened, e->failed.happened);
        assert_true(is->peak_reserved == vt_cache_figures(alone[i])->peak_reserved);
        assert_true(is->peak_bytes == vt_cache_figures(alone[i])->peak_bytes);
        assert_true(is->failed.ticks == e->failed.ticks);
        assert_true(is->failed.requested_bytes == e->failed.requested_bytes);
        if (is->failed.happened)
            assert_true(is->failed.missing_bytes == e->failed.missing_bytes);
        ended += is->failed.happened;
        vt_cache_close(alone[i]);
    }
    assert_in_range(ended, 4, ROWS - 7);
    vt_rehearsal_close(r);
}

static void scaled(void **state) {
    const struct vt_rehearsal_setup setup = {defaults, UINT64_MAX, UINT64_MAX};
    const double factors[] = {1, 2};
    struct vt_rehearsal *r = vt_rehearsal_open(0, &setup, 1);
    (void)state;
    vt_rehearsal_scale(r, factors, 2);
    for (uint32_t site = 0; site < 3; site++)
        vt_rehearsal_alloc(r, site + 1,
                           &(struct vt_rehearsal_event){.request.size = 20 * MIB, .site = site});
    assert_true(vt_rehearsal_result(r, 0)->peak_reserved == 80 * MIB);
    vt_rehearsal_close(r);
}

/* A damaged log's sizes. */
static void hostile(void **state) {
    struct vt_cache_model *m = open_with(defaults, UINT64_MAX);
    (void)state;
    assert_false(alloc(m, UINT64_MAX, 0));
    assert_true(alloc(m, 0, 0));
    uint32_t taken = 0;
    for (int i = 0; i < 1 << 20; i++)
        taken += alloc(m, 10ull << 40, 0) != 0;
    assert_in_range(taken, 1 << 10, (1 << 21) - 1); /* until the addresses end */
    assert_false(alloc(m, 30ull << 40, 0));
    vt_cache_close(m);
}

/* Site 0 is outside of backward passes, 1 makes temporary blocks in them, 2 what lives on. */
static void outlives_backward(void **state) {
    const struct vt_rehearsal_setup setup = {defaults, UINT64_MAX, UINT64_MAX};
    static const bool in_backward[] = {false, true, true};
    uint32_t outlived[3] = {0};
    struct vt_rehearsal *r = vt_rehearsal_open(0, &setup, 1);
    (void)state;
    vt_rehearsal_watch_backward(r, in_backward, outlived, 3);
    for (unsigned pass = 0; pass < 2000; pass++) {
        static const uint32_t sites[] = {0, 1, 2, 1};
        for (unsigned i = 0; i < 4; i++) {
            uint64_t address = i == 2 ? 10 + pass : i + 1;
            vt_rehearsal_alloc(r, address,
                               &(struct vt_rehearsal_event){.request.size = 1, .site = sites[i]});
            if (i != 2)
                vt_rehearsal_free(r, address);
        }
    }
    assert_int_equal(outlived[0], 0);
    assert_int_equal(outlived[1], 0);
    assert_int_equal(outlived[2], 1999);
    vt_rehearsal_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings),      cmocka_unit_test(refusals),
        cmocka_unit_test(pools),         cmocka_unit_test(releases),
        cmocka_unit_test(expandable),    cmocka_unit_test(max_split),
        cmocka_unit_test(rounding),      cmocka_unit_test(fraction),
        cmocka_unit_test(collection),    cmocka_unit_test(uneven_pieces),
        cmocka_unit_test(private_pools), cmocka_unit_test(outside),
        cmocka_unit_test(hostile),       cmocka_unit_test(rows_alone),
        cmocka_unit_test(scaled),        cmocka_unit_test(outlives_backward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
