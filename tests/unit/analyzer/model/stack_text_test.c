/* SPDX-License-Identifier: MIT */
/* Unit tests of a call site's text: what runs inside PyTorch's backward pass, and which frame names a
 * site without user code. */
#include "model/model.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define CPU "/x/lib/libtorch_cpu.so"
#define NATIVE(name)                                                                               \
    { .function = name, .module = CPU, .offset = 1 }
#define PYTHON(name, path, number, own)                                                            \
    { .function = name, .file = path, .line = number, .python = true, .user_code = own }

static struct vt_frame allocator[] = {
    NATIVE("c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(unsigned long, "
           "CUstream_st*)"),
    NATIVE("at::detail::empty_generic(c10::ArrayRef<long>, c10::Allocator*)"),
    NATIVE("at::native::empty_cuda(c10::ArrayRef<long>)"),
    NATIVE("at::_ops::empty_memory_format::redispatch(c10::DispatchKeySet)"),
};
static struct vt_frame operation[] = {
    NATIVE("at::(anonymous namespace)::wrapper_CUDA_mul_Tensor(at::Tensor const&)"),
    NATIVE("at::_ops::mul_Tensor::redispatch(c10::DispatchKeySet, at::Tensor const&)"),
    NATIVE("torch::autograd::VariableType::(anonymous namespace)::mul_Tensor(c10::DispatchKeySet)"),
};
static struct vt_frame node[] = {
    NATIVE("torch::autograd::generated::MulBackward0::apply(std::vector<at::Tensor, "
           "std::allocator<at::Tensor> >&&)"),
    NATIVE("torch::autograd::Node::operator()(std::vector<at::Tensor>&&)"),
    NATIVE("torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask>)"),
};
static struct vt_frame python_node[] = {
    PYTHON("Twice.backward", "/x/site-packages/twice.py", 7, false),
    PYTHON("BackwardCFunction.apply", "/x/site-packages/torch/autograd/function.py", 310, false),
    NATIVE("torch::autograd::PyNode::apply(std::vector<at::Tensor>&&)"),
};
static struct vt_frame caller[] = {
    PYTHON("Tensor.backward", "/x/site-packages/torch/_tensor.py", 630, false),
    PYTHON("step", "train.py", 24, true),
    PYTHON("<module>", "train.py", 30, true),
};

/* The parts of a stack, innermost first; ended by NULL. */
#define PART(name) name, sizeof name / sizeof *name
static struct vt_stack stack_of(struct vt_frame *first, size_t count, ...) {
    static struct vt_frame frames[32];
    struct vt_stack stack = {.frames = frames};
    va_list rest;
    va_start(rest, count);
    while (first) {
        memcpy(frames + stack.count, first, count * sizeof *first);
        stack.count += (uint32_t)count;
        first = va_arg(rest, struct vt_frame *);
        count = first ? va_arg(rest, size_t) : 0;
    }
    va_end(rest);
    while (stack.user_frame < stack.count && !frames[stack.user_frame].user_code)
        stack.user_frame++;
    return stack;
}

static void expect(const struct vt_stack *stack, unsigned width, const char *want) {
    struct vt_process process = {0};
    char *text = vt_stack_text(&process, stack, width, true);
    assert_string_equal(text, want);
    free(text);
}

static void test_node(void **state) {
    (void)state;
    struct vt_stack stack =
        stack_of(PART(allocator), PART(operation), PART(node), PART(caller), NULL);
    expect(&stack, UINT_MAX, "in backward of MulBackward0, from train.py:24");
    expect(&stack, 40, "MulBackward0, from train.py:24");
    expect(&stack, 25, "MulBackward0");
    /* a user's frame inside of the node is the place */
    stack = stack_of(PART(allocator), PART(caller), PART(node), PART(caller), NULL);
    expect(&stack, UINT_MAX, "train.py:24 in step");
    stack = stack_of(PART(allocator), PART(operation), PART(caller), NULL);
    expect(&stack, UINT_MAX, "train.py:24 in step");
    expect(NULL, UINT_MAX, "unknown (no stack)");
}

static void test_python_node(void **state) {
    (void)state;
    struct vt_stack stack =
        stack_of(PART(allocator), PART(operation), PART(python_node), PART(caller), NULL);
    expect(&stack, UINT_MAX, "in backward of Twice, from train.py:24");
    /* before Python 3.11 a function's class is not known */
    stack = stack_of(PART(allocator), python_node + 2, (size_t)1, PART(caller), NULL);
    expect(&stack, UINT_MAX, "in backward of a Python function, from train.py:24");
}

/* The source line, where it can be read. */
static void test_source(void **state) {
    (void)state;
    char path[] = "/tmp/vt-stack-text-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    assert_non_null(file);
    fputs("    loss.backward()\n", file);
    fclose(file);
    struct vt_frame line = PYTHON("step", path, 1, true);
    struct vt_stack stack = stack_of(PART(allocator), PART(node), &line, (size_t)1, NULL);
    char *want = vt_formatted("in backward of MulBackward0, from `loss.backward()` at %s:1", path);
    expect(&stack, UINT_MAX, want);
    expect(&stack, (unsigned)strlen(want), want);
    free(want);
    want = vt_formatted("in backward of MulBackward0, from %s:1", path);
    expect(&stack, (unsigned)strlen(want) + 12, want);
    free(want);
    remove(path);
}

/* Without user code: never an allocator's frame. */
static void test_no_user_code(void **state) {
    (void)state;
    struct vt_stack stack = stack_of(PART(allocator), PART(operation), PART(node), NULL);
    expect(&stack, UINT_MAX, "in backward of MulBackward0");
    stack = stack_of(PART(allocator), PART(operation), NULL);
    expect(&stack, UINT_MAX, "at::_ops::mul_Tensor::redispatch in libtorch_cpu.so");
    stack = stack_of(PART(allocator), operation, (size_t)1, NULL);
    expect(&stack, UINT_MAX,
           "at::(anonymous namespace)::wrapper_CUDA_mul_Tensor in libtorch_cpu.so");
    stack = stack_of(PART(allocator), PART(operation), caller, (size_t)1, NULL);
    expect(&stack, UINT_MAX, "/x/site-packages/torch/_tensor.py:630 in Tensor.backward");
    stack = stack_of(allocator, (size_t)1, NULL);
    expect(&stack, UINT_MAX,
           "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc in "
           "libtorch_cpu.so");
}

/* Of an allocation helper: out of recursion and the library in between, but not a script's own line. */
static void test_helper_caller(void **state) {
    (void)state;
    struct vt_frame helper = PYTHON("malloc", "server.py", 7, true),
                    outer = PYTHON("malloc", "server.py", 9, true),
                    between = PYTHON("call", "/x/site-packages/lib.py", 3, false),
                    user = PYTHON("exchange", "server.py", 12, true),
                    script = PYTHON("<module>", "server.py", 30, true),
                    other_script = PYTHON("<module>", "main.py", 2, true);
    struct vt_stack stack = stack_of(&helper, (size_t)1, &outer, (size_t)1, &between, (size_t)1,
                                     &user, (size_t)1, &script, (size_t)1, NULL);
    stack.user_frame = 0;
    assert_ptr_equal(vt_stack_helper_caller(&stack), &stack.frames[3]);
    stack.user_frame = 3;
    assert_null(vt_stack_helper_caller(&stack));
    stack = stack_of(&helper, (size_t)1, &other_script, (size_t)1, NULL);
    stack.user_frame = 0;
    assert_ptr_equal(vt_stack_helper_caller(&stack), &stack.frames[1]);
    stack.user_frame = stack.count;
    assert_null(vt_stack_helper_caller(&stack));
    assert_null(vt_stack_helper_caller(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node),          cmocka_unit_test(test_python_node),
        cmocka_unit_test(test_source),        cmocka_unit_test(test_no_user_code),
        cmocka_unit_test(test_helper_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
