/* SPDX-License-Identifier: MIT */
/*
 * What the exit scan's flood tells apart: the program's blocks, to which a CUDA library happens to
 * point, and the library's own, to which the program happens to point. The heap is made here, block
 * by block: a library's records of ten allocations, and the program's objects.
 */
#include "scan/flood.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { TARGETS = 10, PAGES = 18 };

static struct {
    struct vt_scan *scan;
    uint64_t *cuda_data, *roots; /* the library's data; the program's */
    uintptr_t next;              /* free in the heap */
    struct vt_span *heap;
    uint64_t *records[TARGETS]; /* the library's: of each allocation */
    uint64_t *centre, *list;    /* to which its data points; which leads to all records */
} h;

static uint64_t address(unsigned target) {
    return h.scan->targets[target].start;
}

static uint64_t *block(unsigned words) {
    uint64_t *made = (uint64_t *)h.next;
    vt_bit_set(h.heap->bits[VT_BITS_START], (h.next - h.heap->base) / 16);
    h.next += 16 * ((words + 1) / 2) + 16;
    assert_true(h.next <= h.heap->end);
    return made;
}

static uint64_t to(const void *block) {
    return (uint64_t)(uintptr_t)block;
}

/* A record: its address, two words that lead back, and one that the library never writes. */
static uint64_t *record(unsigned target) {
    uint64_t *r = block(6);
    r[0] = address(target);
    r[1] = to(h.centre);
    r[2] = to(h.cuda_data);
    return r;
}

static int make(void **state) {
    (void)state;
    static struct vt_scan scan;
    static struct vt_target targets[TARGETS];
    static struct vt_span spans[3];
    uint64_t *memory =
        mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    memset(memory, 1, PAGES * 4096); /* all pages are there */
    memset(memory, 0, PAGES * 4096);
    scan = (struct vt_scan){.targets = targets,
                            .target_count = TARGETS,
                            .spans = spans,
                            .span_count = 3,
                            .alone = true,
                            .most_work = UINT64_MAX};
    for (unsigned i = 0; i < TARGETS; i++)
        targets[i] = (struct vt_target){.start = 0x7e0000000000 + i * 0x10000,
                                        .end = 0x7e0000000000 + i * 0x10000 + 4096};
    scan.target_low = targets[0].start;
    scan.target_high = targets[TARGETS - 1].end;
    assert_true(vt_scan_read_open(&scan));
    uintptr_t at = (uintptr_t)memory;
    spans[0] =
        (struct vt_span){.start = at, .end = at + 4096, .kind = VT_SPAN_CUDA, .steady = true};
    spans[1] = (struct vt_span){
        .start = at + 4096, .end = at + 8192, .kind = VT_SPAN_ROOT, .steady = true};
    spans[2] = (struct vt_span){.start = at + 8192,
                                .end = at + PAGES * 4096,
                                .base = at + 8192,
                                .kind = VT_SPAN_CELLS,
                                .heap = true,
                                .steady = true};
    for (unsigned i = 0; i < VT_BITS_MARK + VT_MARKS; i++)
        spans[2].bits[i] = vt_scan_allocate(&scan, PAGES * 4096 / 128);
    spans[2].pages = vt_scan_allocate(&scan, 4096);
    h.scan = &scan;
    h.heap = &spans[2];
    h.next = h.heap->base;
    vt_scan_note_present(&scan, h.heap->base, h.heap->start, h.heap->end, h.heap->pages);
    h.cuda_data = memory;
    h.roots = memory + 512;
    h.centre = block(4);
    h.cuda_data[0] = to(h.centre);
    h.list = NULL;
    for (unsigned i = 0; i < TARGETS; i++) {
        uint64_t *entry = block(4); /* an entry of a list, which does not point back itself */
        entry[0] = to(h.records[i] = record(i));
        entry[1] = to(h.list);
        h.list = entry;
    }
    h.centre[0] = to(h.list);
    return 0;
}

static int drop(void **state) {
    (void)state;
    vt_scan_read_close(h.scan);
    vt_scan_release(h.scan);
    munmap(h.cuda_data, PAGES * 4096);
    return 0;
}

static unsigned reached(void) {
    const uintptr_t registers[1] = {0};
    unsigned n = 0;
    assert_true(vt_scan_flood(h.scan, registers, 1));
    for (unsigned i = 0; i < TARGETS; i++)
        n += h.scan->targets[i].reached;
    return n;
}

/* roots -> an array -> objects -> what each holds -> an allocation. */
static uint64_t *objects[TARGETS], *holders[TARGETS];
static void make_objects(unsigned count) {
    uint64_t *array = block(TARGETS);
    h.roots[0] = to(array);
    for (unsigned i = 0; i < count; i++) {
        objects[i] = block(8);
        holders[i] = block(2);
        array[i] = to(objects[i]);
        objects[i][3] = to(holders[i]);
        holders[i][1] = address(i);
    }
}

static void known_to_the_library_only(void **state) {
    (void)state;
    assert_int_equal(reached(), 0);
}

static void left_in_a_record(void **state) {
    (void)state;
    make_objects(TARGETS);
    h.records[4][4] = to(objects[7]);
    assert_int_equal(reached(), TARGETS);
}

static void left_for_all_objects(void **state) {
    (void)state;
    make_objects(TARGETS);
    for (unsigned i = 0; i < TARGETS; i++)
        h.records[i][4] = to(objects[i]);
    assert_int_equal(reached(), TARGETS);
}

/* Each object leads to one with a handle. */
static void objects_with_a_context(void **state) {
    (void)state;
    make_objects(TARGETS);
    uint64_t *scene = block(4);
    scene[0] = to(h.roots);
    scene[1] = to(h.centre);
    scene[2] = h.roots[0];
    for (unsigned i = 0; i < TARGETS; i++) {
        objects[i][0] = to(scene);
        holders[i][0] = to(scene);
    }
    h.roots[1] = to(scene);
    h.records[4][4] = to(objects[7]);
    assert_int_equal(reached(), TARGETS);
}

static void behind_a_handle(void **state) {
    (void)state;
    uint64_t *handle = block(4);
    handle[0] = to(h.centre);
    handle[1] = to(h.cuda_data);
    handle[2] = to(h.list);
    h.centre[1] = to(handle);
    h.roots[0] = to(handle);
    for (uint64_t *entry = h.list; entry; entry = (uint64_t *)entry[1])
        entry[2] = *(uint64_t *)entry[0]; /* a second table */
    assert_int_equal(reached(), 0);
}

/* A word of the program's that was left there leads into the library's list. */
static void left_in_the_program(void **state) {
    (void)state;
    make_objects(3);
    objects[1][6] = to(h.list);
    assert_int_equal(reached(), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(known_to_the_library_only, make, drop),
        cmocka_unit_test_setup_teardown(left_in_a_record, make, drop),
        cmocka_unit_test_setup_teardown(left_for_all_objects, make, drop),
        cmocka_unit_test_setup_teardown(objects_with_a_context, make, drop),
        cmocka_unit_test_setup_teardown(behind_a_handle, make, drop),
        cmocka_unit_test_setup_teardown(left_in_the_program, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
