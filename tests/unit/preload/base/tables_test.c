/* SPDX-License-Identifier: MIT */
/* The tracer's lock-free books: tables, counted entries, numbered items, references to physical
 * memory, and the bytes of arrays; by one thread, then by many at once. */
#define _GNU_SOURCE
#include "base/arena.h"
#include "base/array_bytes.h"
#include "state/state.h"
#include "base/table.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static bool count_all(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data) {
    assert_int_equal(words[0], key + 1);
    ++*(uint64_t *)data;
    return key & 1;
}

/* A walk is part of a program's end: it must not have the kernel map the whole table. */
static void walks(void **state) {
    (void)state;
    static struct vt_table table;
    unsigned char there[128];
    uint64_t n = 0, pages = 0;
    assert_true(vt_table_insert(&table, 4, (uint64_t[3]){5, 0, 0}));
    vt_table_each(&table, count_all, NULL, &n);
    assert_int_equal(n, 1);
    assert_int_equal(mincore(table.parts[0], sizeof there * 4096, there), 0);
    for (size_t i = 0; i < sizeof there; i++)
        pages += there[i] & 1;
    assert_in_range(pages, 1, 31); /* neighbours that the kernel may add */
}

static void tables(void **state) {
    (void)state;
    static struct vt_table table;
    uint64_t words[VT_TABLE_WORDS], n = 0;
    enum { MANY = 200000 };                /* several tables' worth */
    for (uint64_t key = 0; key < 3; key++) /* not keys */
        assert_false(vt_table_insert(&table, key, (uint64_t[3]){1, 2, 3}));
    assert_false(vt_table_find(&table, 0, words));
    assert_false(vt_table_take(&table, 1, words));
    for (uint64_t key = 3; key < MANY; key++)
        assert_true(vt_table_insert(&table, key, (uint64_t[3]){key + 1, 2 * key, 3 * key}));
    for (uint64_t key = 3; key < MANY; key++) {
        assert_true(vt_table_find(&table, key, words));
        assert_true(words[0] == key + 1 && words[1] == 2 * key && words[2] == 3 * key);
    }
    assert_false(vt_table_find(&table, MANY, words));
    vt_table_each(&table, count_all, NULL, &n); /* takes the odd ones out */
    assert_int_equal(n, MANY - 3);
    for (uint64_t key = 3; key < MANY; key++)
        assert_int_equal(vt_table_take(&table, key, words), !(key & 1));
    n = 0;
    vt_table_each(&table, count_all, NULL, &n);
    assert_int_equal(n, 0);
    assert_true(vt_table_insert(&table, ~0ull, (uint64_t[3]){0, 7, 0}));
    assert_true(vt_table_replace(&table, ~0ull, (uint64_t[3]){0, 8, 0}));
    assert_true(vt_table_take(&table, ~0ull, words) && words[1] == 8);
    assert_false(vt_table_take(&table, ~0ull, words));
}

/* The slot that has the key; NULL: none. */
static const struct vt_slot *slot_with(const struct vt_table *table, uint64_t key) {
    for (unsigned i = 0; i < 1u << 14; i++)
        if (table->parts[0][i].key == key)
            return &table->parts[0][i];
    return NULL;
}

/* A key that was put before is put into its slot again, though other keys came to slots before it. */
static void put_again(void **state) {
    (void)state;
    static struct vt_table table;
    enum { MANY = 100000 }; /* more than the first two parts hold */
    uint64_t words[VT_TABLE_WORDS], n = 0;
    assert_int_equal(vt_table_put(&table, 2, (uint64_t[3]){1, 2, 3}, words), VT_TABLE_FULL);
    for (uint64_t key = 3; key < 8000; key++)
        assert_int_equal(vt_table_put(&table, key, (uint64_t[3]){key + 1, 1, 0}, words),
                         VT_TABLE_NEW);
    for (uint64_t key = 3; key < 8000; key++)
        assert_true(vt_table_take(&table, key, words));
    for (uint64_t key = 8000 - 1; key >= 3; key--) {
        const struct vt_slot *slot = slot_with(&table, key);
        assert_int_equal(vt_table_put(&table, key, (uint64_t[3]){key + 1, 2, 0}, words),
                         VT_TABLE_NEW);
        assert_ptr_equal(slot, slot_with(&table, key));
        assert_true(vt_table_find(&table, key, words) && words[1] == 2);
    }
    for (uint64_t key = 3; key < MANY; key++) {
        enum vt_table_put put =
            vt_table_put(&table, key, (uint64_t[3]){key + 1, 3 * key, 5}, words);
        assert_int_equal(put, key < 8000 ? VT_TABLE_REPLACED : VT_TABLE_NEW);
        if (put == VT_TABLE_REPLACED)
            assert_true(words[0] == key + 1 && words[1] == 2 && words[2] == 0);
    }
    vt_table_each(&table, count_all, NULL, &n); /* takes the odd ones out */
    assert_int_equal(n, MANY - 3);
    for (uint64_t key = 3; key < MANY; key++)
        assert_int_equal(vt_table_put(&table, key, (uint64_t[3]){key + 1, 0, 0}, words),
                         key & 1 ? VT_TABLE_NEW : VT_TABLE_REPLACED);
    n = 0;
    vt_table_each(&table, count_all, NULL, &n);
    assert_int_equal(n, MANY - 3);
}

static void counted(void **state) {
    (void)state;
    static struct vt_table table;
    uint64_t words[VT_TABLE_WORDS];
    assert_false(vt_table_count_up(&table, 5, words));
    assert_false(vt_table_count_down(&table, 5, words));
    assert_true(vt_table_insert(&table, 5, (uint64_t[3]){42, 43, 1}));
    assert_true(vt_table_count_up(&table, 5, words));
    assert_true(words[0] == 42 && words[1] == 43 && words[2] == 2);
    assert_true(vt_table_count_down(&table, 5, words));
    assert_true(words[0] == 42 && words[2] == 1);
    assert_true(vt_table_count_down(&table, 5, words));
    assert_true(words[0] == 42 && words[2] == 0);
    assert_false(vt_table_count_down(&table, 5, words));
    assert_false(vt_table_find(&table, 5, words));
}

static void taken_by_its_owner(void **state) {
    (void)state;
    static struct vt_table table;
    uint64_t words[VT_TABLE_WORDS];
    assert_true(vt_table_insert(&table, 5, (uint64_t[3]){42, 0, 0}));
    assert_false(vt_table_take_own(&table, 5, 41));
    assert_true(vt_table_find(&table, 5, words));
    assert_true(vt_table_take_own(&table, 5, 42));
    assert_false(vt_table_find(&table, 5, words));
}

/* What another thread may do between a walk's look at an entry and the take: it gives the key, and
 * with it the slot, to a new entry. That one stays. */
static struct vt_table walked;
static unsigned walk_took;

static bool given_away(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data) {
    if (words[0] != 1)
        return false;
    assert_true(vt_table_replace(&walked, key, (uint64_t[3]){2, 0, 0}));
    (void)data;
    return true;
}

static void count_taken(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data) {
    (void)key;
    (void)words;
    ++*(unsigned *)data;
}

static void walk_meets_new_entry(void **state) {
    (void)state;
    uint64_t words[VT_TABLE_WORDS];
    assert_true(vt_table_insert(&walked, 5, (uint64_t[3]){1, 0, 0}));
    vt_table_each(&walked, given_away, count_taken, &walk_took);
    assert_int_equal(walk_took, 0);
    assert_true(vt_table_find(&walked, 5, words));
    assert_int_equal(words[0], 2);
}

/* Threads make, count and end the same few entries, whose keys share their slots; exactly one drop
 * is an entry's last, and every reference counts for the entry that was answered. */
#ifdef ALONE /* sanitizers are slow */
enum { TURNS = 20000 };
#else
enum { TURNS = 300000 };
#endif
enum { THREADS = 4, KEYS = 4 };
static struct vt_table shared;
static uint64_t inserts, lasts;
static uint64_t key_of[KEYS];

/* Keys that all begin their search at one slot. */
static void find_keys(void) {
    static struct vt_table table;
    uint64_t words[VT_TABLE_WORDS], n = 0, first = 0;
    assert_true(vt_table_insert(&table, 1000, (uint64_t[3]){0, 0, 0}));
    while (table.parts[0][first].key != 1000)
        first++;
    assert_true(vt_table_take(&table, 1000, words));
    for (uint64_t key = 1000; n < KEYS; key++) {
        assert_true(vt_table_insert(&table, key, (uint64_t[3]){0, 0, 0}));
        if (table.parts[0][first].key == key)
            key_of[n++] = key;
        assert_true(vt_table_take(&table, key, words));
    }
}

static void *up_and_down(void *unused) {
    (void)unused;
    for (unsigned i = 0; i < TURNS; i++) {
        uint64_t words[VT_TABLE_WORDS], key = key_of[i % KEYS];
        if (!vt_table_count_up(&shared, key, words)) {
            /* gone for now: make it again, as an import of a handle does */
            words[0] = words[1] = key;
            words[2] = 1;
            vt_table_insert(&shared, key, words);
            __atomic_fetch_add(&inserts, 1, __ATOMIC_RELAXED);
        }
        if (words[0] != key || words[1] != key)
            return (void *)1; /* another entry's */
        if (!vt_table_count_down(&shared, key, words))
            return (void *)2; /* our reference was lost */
        if (words[0] != key || words[1] != key)
            return (void *)3;
        if (words[2] == 0)
            __atomic_fetch_add(&lasts, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void counted_by_many(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    uint64_t words[VT_TABLE_WORDS];
    void *result;
    find_keys();
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, up_and_down, NULL);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        assert_null(result);
    }
    for (size_t i = 0; i < KEYS; i++)
        assert_false(vt_table_find(&shared, key_of[i], words)); /* nothing is left */
    assert_int_equal(lasts, inserts);
}

/* The same with plain entries that hold their maker's number: who takes one gets it whole, and each
 * is taken once. A walk takes some of them as well. */
static struct vt_table plain;
static uint64_t made_sum, taken_sum;

static bool every_third(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data) {
    (void)key;
    (void)data;
    return words[0] % 3 == 0;
}

static void add_taken(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data) {
    (void)key;
    (void)data;
    __atomic_fetch_add(&taken_sum, words[0], __ATOMIC_RELAXED);
}

static void *make_and_take(void *which) {
    for (uint64_t i = 0; i < TURNS; i++) {
        uint64_t key = key_of[i % KEYS], number = i * THREADS + (uintptr_t)which;
        uint64_t words[VT_TABLE_WORDS] = {number, ~number, (uint32_t)number};
        vt_table_insert(&plain, key, words);
        __atomic_fetch_add(&made_sum, number, __ATOMIC_RELAXED);
        if (i % 8 == 0)
            vt_table_each(&plain, every_third, add_taken, NULL);
        if (vt_table_find(&plain, key, words) && words[0] != ~words[1])
            return (void *)1;
        if (!vt_table_take(&plain, key, words))
            continue;
        if (words[0] != ~words[1] || words[2] != (uint32_t)words[0])
            return (void *)2;
        add_taken(key, words, NULL);
    }
    return NULL;
}

static bool every(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data) {
    (void)key;
    (void)words;
    (void)data;
    return true;
}

static void taken_by_many(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    void *result;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, make_and_take, (void *)i);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        assert_null(result);
    }
    vt_table_each(&plain, every, add_taken, NULL);
    assert_int_equal(made_sum, taken_sum);
}

/* ---- numbered items ---- */

struct item {
    struct vt_item item;
    uint64_t owner, zero;
};
static struct vt_arena arena = {.bytes = sizeof(struct item)};

static void *take_and_give(void *which) {
    uint32_t mine[50];
    for (unsigned turn = 0; turn < 2000; turn++) {
        for (unsigned i = 0; i < 50; i++) {
            mine[i] = vt_arena_take(&arena);
            struct item *item = vt_arena_get(&arena, mine[i]);
            item->owner = (uintptr_t)which;
        }
        for (unsigned i = 0; i < 50; i++) {
            struct item *item = vt_arena_get(&arena, mine[i]);
            if (item->owner != (uintptr_t)which)
                return (void *)1;
            vt_arena_give(&arena, mine[i]);
        }
    }
    return NULL;
}

static void items(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    void *result;
    assert_null(vt_arena_get(&arena, 0));
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, take_and_give, (void *)(i + 1));
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        assert_null(result); /* no item was two threads' at once */
    }
    assert_in_range(arena.used, 1, THREADS * 50); /* all were used again */
}

/* ---- physical memory ---- */

static void references(void **state) {
    (void)state;
    unsigned kind, device;
    uint64_t number, end;
    uint64_t a = vt_vmm_made(1000, VT_KIND_PHYSICAL, 1);
    assert_int_equal(vt_vmm_device(a), 1);
    assert_int_equal(vt_vmm_hold_handle(1000), a);
    vt_vmm_mapped(0x10000, 0x1000, a);
    assert_int_equal(vt_vmm_hold_handle(1000), a);
    vt_vmm_mapped(0x11000, 0x2000, a);
    assert_true(vt_vmm_release(1000, &number) && number == a);
    assert_false(vt_vmm_drop(a, &kind, &device));
    assert_false(vt_vmm_release(1000, &number)); /* once too often */
    assert_int_equal(vt_vmm_hold_handle(1000), 0);
    /* the driver uses the handle again while the old memory is still mapped */
    uint64_t b = vt_vmm_made(1000, VT_KIND_PHYSICAL_HOST, VT_DEVICE_HOST);
    assert_int_not_equal(a, b);
    assert_int_equal(vt_vmm_hold_address(0x12fff), a); /* inside the second mapping */
    assert_int_equal(vt_vmm_hold_address(0x13000), 0);
    assert_false(vt_vmm_drop(a, &kind, &device));
    end = 0x10000;
    assert_true(vt_vmm_unmapped(&end, 0x13000, &number) && number == a && end == 0x11000);
    assert_false(vt_vmm_drop(a, &kind, &device));
    assert_true(vt_vmm_unmapped(&end, 0x13000, &number) && number == a && end == 0x13000);
    assert_false(vt_vmm_unmapped(&end, 0x13000, &number));
    assert_true(vt_vmm_drop(a, &kind, &device));
    assert_true(kind == VT_KIND_PHYSICAL && device == 1);
    assert_false(vt_vmm_drop(a, &kind, &device));
    assert_true(vt_vmm_release(1000, &number) && number == b);
    assert_true(vt_vmm_drop(b, &kind, &device) && kind == VT_KIND_PHYSICAL_HOST);
    /* a range with a hole */
    uint64_t c = vt_vmm_made(~0ull - 50, 0, 0);
    vt_vmm_mapped(0x20000, 0x1000, c);
    vt_vmm_mapped(0x28000, 0x1000, c);
    end = 0x1f000;
    assert_true(vt_vmm_unmapped(&end, 0x30000, &number) && end == 0x21000);
    assert_true(vt_vmm_unmapped(&end, 0x30000, &number) && end == 0x29000);
    assert_false(vt_vmm_unmapped(&end, 0x30000, &number));
}

/* ---- arrays ---- */

static uint64_t bytes(size_t w, size_t h, size_t d, int format, unsigned channels, unsigned flags,
                      unsigned levels) {
    CUDA_ARRAY3D_DESCRIPTOR what = {.Width = w,
                                    .Height = h,
                                    .Depth = d,
                                    .Format = (CUarray_format)format,
                                    .NumChannels = channels,
                                    .Flags = flags};
    return vt_array_bytes(&what, levels);
}

static void arrays(void **state) {
    (void)state;
    assert_int_equal(vt_array_bytes(NULL, 1), 0);
    assert_int_equal(bytes(10, 0, 0, CU_AD_FORMAT_FLOAT, 4, 0, 1), 160);
    assert_int_equal(bytes(10, 5, 0, CU_AD_FORMAT_HALF, 2, 0, 1), 200);
    assert_int_equal(bytes(10, 0, 7, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_LAYERED, 1), 70);
    assert_int_equal(bytes(10, 10, 6, CU_AD_FORMAT_UNSIGNED_INT16, 1, CUDA_ARRAY3D_CUBEMAP, 1),
                     1200);
    assert_int_equal(bytes(9, 5, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0, 1), 3 * 2 * 8); /* in blocks */
    assert_int_equal(bytes(9, 5, 0, CU_AD_FORMAT_BC7_UNORM, 4, 0, 1), 3 * 2 * 16);
    assert_int_equal(bytes(1920, 1080, 0, CU_AD_FORMAT_NV12, 3, 0, 1), 3110400);
    assert_int_equal(bytes(1920, 1080, 0, CU_AD_FORMAT_P010, 3, 0, 1), 2 * 3110400);
    assert_int_equal(bytes(4, 4, 0, CU_AD_FORMAT_UNORM_INT8X4, 4, 0, 1), 64);
    assert_int_equal(bytes(8, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0, 3), 64 + 16 + 4);
    assert_int_equal(bytes(8, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0, 99), 64 + 16 + 4 + 1);
    assert_int_equal(bytes(8, 2, 8, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0, 99),
                     8 * 2 * 8 + 4 * 1 * 4 + 2 * 1 * 2 + 1);
    assert_int_equal(bytes(8, 8, 3, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_LAYERED, 2),
                     3 * (64 + 16));
    assert_int_equal(bytes(100, 100, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SPARSE, 1), 0);
    assert_int_equal(bytes(100, 100, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_DEFERRED_MAPPING, 4),
                     0);
    assert_int_equal(bytes(100, 100, 0, 0x7777, 1, 0, 1), 0); /* a format of tomorrow */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks),
        cmocka_unit_test(tables),
        cmocka_unit_test(put_again),
        cmocka_unit_test(counted),
        cmocka_unit_test(taken_by_its_owner),
        cmocka_unit_test(walk_meets_new_entry),
        cmocka_unit_test(counted_by_many),
        cmocka_unit_test(taken_by_many),
        cmocka_unit_test(items),
        cmocka_unit_test(references),
        cmocka_unit_test(arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
