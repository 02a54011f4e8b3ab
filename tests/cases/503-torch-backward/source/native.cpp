// SPDX-License-Identifier: MIT
// Backward passes without Python. One is left by a jump out of a signal handler, on the thread that waits.
#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstdlib>

struct standin_node {
    int kind, device;
    size_t size;
    void (*function)(void);
    void *address;
};
enum { ADDMM, MUL, PYTHON, FAIL };
extern "C" int standin_backward(standin_node *nodes, size_t count, int version);
extern "C" void standin_backward_unseen(standin_node *nodes, size_t count);
extern "C" void *standin_malloc(size_t size, int device);

static sigjmp_buf back;

static void handler(int) {
    siglongjmp(back, 1);
}

static void raises(void) {
    raise(SIGUSR1);
}

static __attribute__((noinline)) int step(standin_node *nodes, size_t count) {
    int done = standin_backward(nodes, count, 2); // pass
    __asm__ volatile("" ::: "memory");
    return done;
}

int main(void) {
    standin_malloc(64 << 20, 0);
    standin_node simple[] = {{ADDMM, 0, 2 << 20, nullptr, nullptr}};
    if (step(simple, 1) != 15) // main calls
        return 1;
    signal(SIGUSR1, handler);
    standin_node jumps[] = {{PYTHON, -1, 0, raises, nullptr}};
    if (sigsetjmp(back, 1) == 0) {
        step(jumps, 1);
        return 2;
    }
    standin_node after[] = {{ADDMM, 0, 3 << 20, nullptr, nullptr}};
    standin_backward_unseen(after, 1);
    standin_node later[] = {{ADDMM, 0, 4 << 20, nullptr, nullptr}};
    int done = standin_backward(later, 1, 1); // later
    _Exit(done == 7 ? 0 : 3);
}
