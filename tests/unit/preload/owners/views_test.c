/* SPDX-License-Identifier: MIT */
/*
 * The part of an allocation that PyTorch's tensors see, on artificial objects: in all known layouts, and reported
 * only if nothing else holds it.
 */
#include "objects.h"
#include "torch/torch.h"

/* --- made-up objects of C++ --- */

struct info {
    uint64_t table;
    const char *name;
    const struct info *base;
};
struct table {
    const struct info *info;
    uint64_t first;
};
#define CLASS(n, mangled, of)                                                                      \
    static const struct info n##_info = {0, mangled, of};                                          \
    static const struct table n##_table = {&n##_info, 0}

CLASS(tensor, "N3c1010TensorImplE", NULL);
CLASS(storage, "N3c1011StorageImplE", NULL);
CLASS(meta, "N5torch8autograd12AutogradMetaE", NULL);
CLASS(view_meta, "N5torch8autograd22DifferentiableViewMetaE", &meta_info);

enum { FLOAT = 6, DOUBLE = 7, BITS = 18, CPU = 0, CUDA = 1, TENSORS = 4 };
#define FLAG (1ull << 63)

/* Words of objects. `counts` and `slot`: how many words these take. */
static uint64_t tensors[TENSORS][32], bases[2][32], metas[TENSORS][48], storage[4], wrapper[2];

static void make_storage(uint64_t references, unsigned counts) {
    memset(storage, 0, sizeof storage);
    storage[0] = (uintptr_t)&storage_table.first;
    storage[1] = references;
    storage[counts + 1] = AT(0);
    if (counts == 2)
        storage[2] = 1; /* weak */
}

static void make_tensor(uint64_t *t, unsigned counts, unsigned slot, uint64_t elements,
                        unsigned type, unsigned device) {
    uint64_t *sizes = t + 1 + counts + 4 + slot;
    memset(t, 0, sizeof tensors[0]);
    t[0] = (uintptr_t)&tensor_table.first;
    t[1] = 1;
    t[counts + 1] = (uintptr_t)storage;
    sizes[0] = 2;
    sizes[1] = 2;
    sizes[2] = elements / 2;
    sizes[12] = elements;
    sizes[13] = type | device << 16 | 0xffu << 24 | 1ull << 32;
}

/* Makes a tensor a view that keeps a base, as its meta's last word or nearly. */
static void make_view(unsigned i, const uint64_t *base) {
    memset(metas[i], 0, sizeof metas[i]);
    metas[i][0] = (uintptr_t)&view_meta_table.first;
    metas[i][i % 2 ? 38 : 12] = (uintptr_t)base;
    tensors[i][3] = (uintptr_t)metas[i];
}

/* One view and the base that it keeps, `count` times referred to. */
static void make_pair(uint64_t count, uint64_t of_python) {
    make_storage(2, 1);
    make_tensor(tensors[0], 1, 1, 4, FLOAT, CUDA);
    make_tensor(bases[0], 1, 1, 1024, FLOAT, CUDA);
    make_view(0, bases[0]);
    wrapper[0] = of_python;
    bases[0][1] = count;
    bases[0][6] = (uintptr_t)wrapper;
}

/* The bytes that the first tensors are told to see; 0: nothing is told. */
static uint64_t told(unsigned count) {
    struct vt_edge edges[TENSORS];
    uint64_t part = 0;
    for (unsigned i = 0; i < count; i++)
        edges[i] = (struct vt_edge){.kind = VT_STEP_NAME,
                                    .as = VT_AS_CLASS,
                                    .name = {&"abcd"[i], 1},
                                    .to = (uintptr_t)tensors[i],
                                    .class_ = VT_CLASS_TENSOR};
    const struct root module = {
        {.level = VT_LEVEL_USER, .kind = VT_STEP_MODULE, .name = TEXT("main")}, edges, count};
    roots = &module;
    root_count = 1;
    walk(1, UINT64_MAX, VT_KIND_BLOCK);
    for (uint64_t at = 0; at < w->answer->bytes;) {
        const struct vt_rec_owned *r = (const void *)(w->records + at);
        const struct vt_owned *e = (const void *)(r + 1);
        for (uint32_t i = 1; vt_word_type(r->word) == VT_REC_OWNED && i < r->count; i++)
            if (!e[i].step) {
                assert_int_equal(i, 1); /* behind the owner */
                assert_int_equal(e[i].allocation, e[0].allocation);
                part = ((uint64_t)e[i].roles << 16 | e[i].holders) * 512;
            }
        at += vt_record_length(r->word);
    }
    char text_[200];
    assert_non_null(owned(0, 0, text_));
    assert_string_equal(text_, "main.a");
    end();
    return part;
}

/* --- reported --- */

static void in_all_layouts(void **state) {
    (void)state;
    for (unsigned layout = 0; layout < 4; layout++) {
        unsigned counts = 1 + layout % 2, slot = 1 + layout / 2;
        make_storage(1, counts);
        make_tensor(tensors[0], counts, slot, 4, FLOAT, CUDA);
        assert_int_equal(told(1), 512);
    }
}

static void less_than_half(void **state) {
    (void)state;
    make_storage(1, 1);
    make_tensor(tensors[0], 1, 1, 384, FLOAT, CUDA);
    assert_int_equal(told(1), 1536);
    make_tensor(tensors[0], 1, 1, 386, FLOAT, CUDA);
    assert_int_equal(told(1), 0); /* in units of 512 it is half */
    make_tensor(tensors[0], 1, 1, 384, DOUBLE, CUDA);
    assert_int_equal(told(1), 0);
}

static void of_several_the_sum(void **state) {
    (void)state;
    make_storage(3, 1);
    for (unsigned i = 0; i < TENSORS; i++)
        make_tensor(tensors[i], 1, 1, 4, FLOAT, CUDA);
    assert_int_equal(told(3), 1536);
    make_storage(4, 1);
    assert_int_equal(told(4), 0);
}

/* --- unknown --- */

static void other_references(void **state) {
    (void)state;
    make_storage(2, 1);
    make_tensor(tensors[0], 1, 1, 4, FLOAT, CUDA);
    assert_int_equal(told(1), 0);
    make_storage(0, 1);
    assert_int_equal(told(1), 0);
}

static void other_layouts(void **state) {
    (void)state;
    make_storage(1, 1);
    make_tensor(tensors[0], 1, 1, 4, FLOAT, CPU);
    assert_int_equal(told(1), 0);
    make_tensor(tensors[0], 1, 1, 4, BITS, CUDA);
    assert_int_equal(told(1), 0);
    make_tensor(tensors[0], 1, 1, 4, 50, CUDA);
    assert_int_equal(told(1), 0);
    make_tensor(tensors[0], 1, 1, 4, FLOAT, CUDA);
    tensors[0][20] &= UINT32_MAX; /* no device */
    assert_int_equal(told(1), 0);
    make_tensor(tensors[0], 1, 3, 4, FLOAT, CUDA); /* a longer slot */
    assert_int_equal(told(1), 0);
    make_tensor(tensors[0], 1, 1, 4, FLOAT, CUDA);
    tensors[0][19] = 6; /* elements that are not the sizes' product */
    assert_int_equal(told(1), 0);
    make_tensor(tensors[0], 1, 1, 4, FLOAT, CUDA);
    tensors[0][7] = 6; /* sizes that stand elsewhere */
    assert_int_equal(told(1), 0);
}

/* --- bases --- */

static void a_base_of_views_alone(void **state) {
    (void)state;
    make_pair(1, 0);
    assert_int_equal(told(1), 512);
    make_pair(FLAG | 1ull << 32 | 2, 1); /* it also has a Python object */
    assert_int_equal(told(1), 512);
    make_pair(2, 0); /* two views keep it */
    make_storage(3, 1);
    make_tensor(tensors[1], 1, 1, 4, FLOAT, CUDA);
    make_view(1, bases[0]);
    assert_int_equal(told(2), 1024);
}

static void a_base_that_others_hold(void **state) {
    (void)state;
    make_pair(2, 0);
    assert_int_equal(told(1), 0);
    make_pair(FLAG | 1ull << 32 | 3, 1);
    assert_int_equal(told(1), 0);
    make_pair(FLAG | 1ull << 32 | 2, 2); /* Python does */
    assert_int_equal(told(1), 0);
    make_pair(1, 0);
    make_storage(3, 1); /* the base's is one, the third one's is unknown */
    assert_int_equal(told(1), 0);
    make_pair(2, 0); /* a variable does, which is seen */
    memcpy(tensors[1], bases[0], sizeof tensors[1]);
    make_view(0, tensors[1]);
    assert_int_equal(told(2), 0);
}

static void two_bases(void **state) {
    (void)state;
    make_pair(1, 0);
    make_storage(4, 1);
    make_tensor(tensors[1], 1, 1, 4, FLOAT, CUDA);
    make_tensor(bases[1], 1, 1, 1024, FLOAT, CUDA);
    make_view(1, bases[1]);
    assert_int_equal(told(2), 0);
    make_storage(3, 1);
    bases[1][1] = 2; /* only one of the two is a view of it */
    assert_int_equal(told(2), 0);
}

/* A tensor of another storage is no base, nor is one behind the meta of a tensor that is no view. */
static void no_base(void **state) {
    (void)state;
    static uint64_t other[4];
    make_pair(1, 0);
    memcpy(other, storage, sizeof other);
    bases[0][2] = (uintptr_t)other;
    assert_int_equal(told(1), 0);
    make_pair(1, 0);
    metas[0][0] = (uintptr_t)&meta_table.first;
    assert_int_equal(told(1), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_all_layouts),
        cmocka_unit_test(less_than_half),
        cmocka_unit_test(of_several_the_sum),
        cmocka_unit_test(other_references),
        cmocka_unit_test(other_layouts),
        cmocka_unit_test(a_base_of_views_alone),
        cmocka_unit_test(a_base_that_others_hold),
        cmocka_unit_test(two_bases),
        cmocka_unit_test(no_base),
    };
    readers.class_ = vt_torch_class;
    readers.class_key = vt_class_key;
    readers.class_name = vt_class_name;
    return cmocka_run_group_tests_name("owners_views", tests, NULL, NULL);
}
