/* SPDX-License-Identifier: MIT */
/*
 * Which functions append, and how far out they count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbols/appends.h"

#include <string.h>

/* A native function inside of the program's own `main`. */
static const char *under(const char *function) {
    struct vt_frame frames[] = {{.function = "cuMemAlloc"},
                                {.function = function},
                                {.function = "main", .user_code = true}};
    struct vt_stack stack = {.frames = frames, .count = 3, .user_frame = 2};
    return vt_appends_name(&stack);
}

static void functions(void **state) {
    static const struct {
        const char *function, *name;
    } rows[] = {
        {"at::_ops::cat::call(c10::IListRef<at::Tensor> const&, long)", "cat"},
        {"at::_ops::concatenation::call(long)", NULL},
        {"at::(anonymous namespace)::wrapper_CUDA_cat(c10::IListRef<at::Tensor> const&)", NULL},
        {"at::_ops::resize_::call(at::Tensor const&, c10::ArrayRef<c10::SymInt>)", "resize_"},
        {"at::native::resize_impl_cuda_(c10::TensorImpl*, c10::ArrayRef<long>)", NULL},
        {"void std::vector<int, A<int> >::_M_realloc_insert<int const&>(int*, int const&)",
         "a vector"},
        {"thrust::THRUST_200_SM_800_NS::detail::vector_base<float, B>::append(unsigned long)",
         "append"},
        {"std::vector<int>::push_back(int&&)", "push_back"},
        {"gpu::(anonymous namespace)::append(unsigned long)", "append"},
        {"append", "append"},
        {"Bank.append", "append"},
        {"append::Writer::flush()", NULL},
        {"appendix", NULL},
        {"gpu_realloc", "realloc"},
        {"std::vector<cat::Cat>::reserve(unsigned long)", NULL},
        {"operator new(unsigned long)", NULL},
        {"", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = under(rows[i].function);
        if (!name != !rows[i].name || (name && strcmp(name, rows[i].name)))
            fail_msg("%s: expected %s, found %s", rows[i].function,
                     rows[i].name ? rows[i].name : "nothing", name ? name : "nothing");
    }
}

static void reach(void **state) {
    struct vt_frame stack[] = {
        {.function = "at::_ops::cat::call(c10::IListRef<at::Tensor> const&)"},
        {.function = "at::_ops::stack::call(c10::ArrayRef<at::Tensor>)"},
        {.function = "collate", .user_code = true}};
    struct vt_frame out[] = {{.function = "at::_ops::resize_::call(at::Tensor const&)"},
                             {.function = "at::native::resize_output(at::Tensor const&)"},
                             {.function = "at::_ops::cat_out::call(at::Tensor&)"},
                             {.function = "step", .user_code = true}};
    struct vt_frame vector[] = {{.function = "Pinned<int>::allocate(int)", .user_code = true},
                                {.function = "std::vector<int>::push_back(int&&)"},
                                {.function = "main", .user_code = true}};
    struct vt_frame helper[] = {{.function = "scratch", .user_code = true},
                                {.function = "append", .user_code = true}};
    (void)state;
    assert_null(vt_appends_name(&(struct vt_stack){.frames = stack, .count = 3, .user_frame = 2}));
    stack[1].function = "at::_ops::vstack::call(c10::ArrayRef<at::Tensor>)";
    assert_non_null(
        vt_appends_name(&(struct vt_stack){.frames = stack, .count = 3, .user_frame = 2}));
    /* what an operator writes to by out= has no content that matters, unless the operator appends */
    assert_string_equal(
        vt_appends_name(&(struct vt_stack){.frames = out, .count = 4, .user_frame = 3}), "cat");
    out[2].function = "at::_ops::mul_out::call(at::Tensor&)";
    assert_null(vt_appends_name(&(struct vt_stack){.frames = out, .count = 4, .user_frame = 3}));
    /* a vector calls the program's allocator; a program's append may call anything */
    assert_string_equal(vt_appends_name(&(struct vt_stack){.frames = vector, .count = 3}),
                        "push_back");
    assert_null(vt_appends_name(&(struct vt_stack){.frames = helper, .count = 2}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions),
        cmocka_unit_test(reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
