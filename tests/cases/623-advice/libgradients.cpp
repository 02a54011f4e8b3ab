// SPDX-License-Identifier: MIT
// The part of autograd that makes a parameter's gradient, by its name; never reset, it adds up.
#include <cstddef>
#include <thread>

using Malloc = void *(*)(size_t, int);

namespace torch::autograd {
struct AccumulateGrad {
    __attribute__((noinline)) void *apply(Malloc malloc, size_t size) {
        void *gradient = malloc(size, 0);
        asm volatile("" : "+r"(gradient)); // no tail call: this frame is what the case is about
        return gradient;
    }
};
} // namespace torch::autograd

extern "C" void accumulate(void *malloc, size_t size) {
    torch::autograd::AccumulateGrad().apply((Malloc)malloc, size);
}

extern "C" void accumulate_apart(void *malloc, size_t size) {
    std::thread([=] { torch::autograd::AccumulateGrad().apply((Malloc)malloc, size); }).join();
}
