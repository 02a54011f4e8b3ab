/* SPDX-License-Identifier: MIT */
/*
 * places SEED EVENTS: allocates from many kinds of places, by chance, one call after the other: recursion, virtual
 * calls, lambdas, frames that are realigned, that grow (alloca) or that are large, destructors while an exception
 * unwinds, coroutines, fibers, handlers of signals on stacks of their own, code made at run time with and without a frame
 * pointer (no table tells of it), leaves by longjmp, and threads that do the same. Prints how many were allocated.
 */
#include <alloca.h>
#include <coroutine>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>
#include <vector>

extern "C" int cuInit(unsigned);
extern "C" int cuCtxCreate_v2(void **, unsigned, int);
extern "C" int cuCtxSetCurrent(void *);
extern "C" int cuMemAlloc_v2(uint64_t *, size_t);
extern "C" int cuMemFree_v2(uint64_t);

namespace {

thread_local uint64_t state;
thread_local unsigned long left, made;

unsigned chance(unsigned n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<unsigned>(state >> 33) % n;
}

__attribute__((noinline)) void allocate() {
    uint64_t p = 0;
    if (cuMemAlloc_v2(&p, 256 + 256 * chance(4)) || cuMemFree_v2(p))
        abort();
    made++;
}

void go(unsigned depth);

/* What comes after the call keeps it from being the last thing, which would be a jump. */
thread_local volatile unsigned sink;

__attribute__((noinline)) void plain(unsigned depth) {
    go(depth - 1);
    sink = depth;
}

__attribute__((noinline)) void with_alloca(unsigned depth) {
    auto *room = static_cast<volatile char *>(
        alloca(16 + 48 * chance(40))); /* not cleared: old stacks are in it */
    go(depth - 1);
    room[0] = static_cast<char>(depth);
}

__attribute__((noinline)) void realigned(unsigned depth) {
    alignas(64) volatile char room[192];
    room[0] = static_cast<char>(depth);
    go(depth - 1);
    sink = static_cast<unsigned char>(room[0]);
}

__attribute__((noinline)) void realigned_and_growing(unsigned depth) {
    alignas(128) volatile char room[128];
    auto *more = static_cast<volatile char *>(alloca(8 + chance(300)));
    room[0] = 1;
    more[0] = 1;
    go(depth - 1);
    sink = static_cast<unsigned char>(room[0] + more[0]);
}

__attribute__((noinline)) void large(unsigned depth) {
    volatile char room[6000];
    room[chance(6000)] = 1;
    go(depth - 1);
    sink = static_cast<unsigned char>(room[chance(6000)]);
}

__attribute__((noinline)) unsigned many_arguments(unsigned depth, unsigned b, unsigned c,
                                                  unsigned d, unsigned e, unsigned f, unsigned g,
                                                  unsigned h, double x) {
    go(depth - 1);
    return b + c + d + e + f + g + h + static_cast<unsigned>(x);
}

struct Base {
    virtual ~Base() = default;
    virtual void call(unsigned depth) = 0;
};
struct Left : Base {
    void call(unsigned depth) override {
        go(depth - 1);
        sink = 1;
    }
};
struct Right : Base {
    std::vector<int> some = std::vector<int>(3);
    void call(unsigned depth) override {
        std::function<void()> f = [this, depth] {
            some[0] = 1;
            go(depth - 1);
            sink = 4;
        };
        f();
        sink = 2;
    }
};

__attribute__((noinline)) void virtually(unsigned depth) {
    std::unique_ptr<Base> one;
    if (chance(2))
        one = std::make_unique<Left>();
    else
        one = std::make_unique<Right>();
    one->call(depth);
}

/* Allocates while an exception unwinds the stack. */
struct Last {
    ~Last() {
        allocate();
    }
};

__attribute__((noinline)) void throws(unsigned depth) {
    Last last;
    go(depth - 1);
    throw std::runtime_error("on purpose");
}

__attribute__((noinline)) void catches(unsigned depth) {
    try {
        if (depth < 2)
            throw 1;
        throws(depth - 1);
    } catch (const std::exception &e) {
        allocate();
        sink = static_cast<unsigned>(strlen(e.what()));
    } catch (int) {
        allocate();
    }
}

thread_local std::jmp_buf place;
__attribute__((noinline)) void jumps(unsigned depth) {
    volatile char *room = static_cast<volatile char *>(alloca(8 * (1 + chance(30))));
    room[0] = 1;
    if (depth == 0) {
        allocate();
        std::longjmp(place, 1);
    }
    jumps(depth - 1);
    sink = static_cast<unsigned char>(room[0]);
}
__attribute__((noinline)) void returns_by_a_jump(unsigned depth) {
    if (setjmp(place) == 0)
        jumps(1 + chance(6));
    allocate();
    sink = depth;
}

/* --- coroutines: their frames are on the heap, and whoever resumes them is their caller --- */

struct Task {
    struct promise_type {
        Task get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept {
            return {};
        }
        std::suspend_always final_suspend() noexcept {
            return {};
        }
        void return_void() {}
        void unhandled_exception() {
            abort();
        }
    };
    std::coroutine_handle<promise_type> handle;
};

Task steps(unsigned count, unsigned depth) {
    for (unsigned i = 0; i < count; i++) {
        go(depth);
        co_await std::suspend_always{};
    }
    allocate();
}

__attribute__((noinline)) void resume(std::coroutine_handle<> h) {
    h.resume();
    sink = 3;
}
__attribute__((noinline)) void resume_further_down(std::coroutine_handle<> h, unsigned depth) {
    volatile char room[100];
    room[depth % 100] = 1;
    resume(h);
    sink = static_cast<unsigned char>(room[depth % 100]);
}
__attribute__((noinline)) void coroutine(unsigned depth) {
    Task task = steps(1 + chance(3), depth / 2);
    while (!task.handle.done()) {
        if (chance(2))
            resume(task.handle);
        else
            resume_further_down(task.handle, depth);
    }
    task.handle.destroy();
}

/* --- fibers --- */

struct Fiber {
    ucontext_t here, there;
    unsigned depth;
    alignas(16) char stack[96 * 1024];
};
void fiber_main(unsigned low, unsigned high) {
    auto *fiber = reinterpret_cast<Fiber *>(static_cast<uintptr_t>(high) << 32 | low);
    go(fiber->depth);
    swapcontext(&fiber->there, &fiber->here);
    go(fiber->depth);
    /* at its end it returns to `here` by uc_link */
}
thread_local bool in_fiber;
__attribute__((noinline)) void fiber(unsigned depth) {
    if (in_fiber) {
        allocate();
        return;
    }
    in_fiber = true;
    auto one = std::make_unique<Fiber>();
    one->depth = depth / 2 < 6 ? depth / 2 : 6;
    getcontext(&one->there);
    one->there.uc_stack.ss_sp = one->stack;
    one->there.uc_stack.ss_size = sizeof one->stack;
    one->there.uc_link = &one->here;
    auto address = reinterpret_cast<uintptr_t>(one.get());
    makecontext(&one->there, reinterpret_cast<void (*)()>(fiber_main), 2,
                static_cast<unsigned>(address), static_cast<unsigned>(address >> 32));
    swapcontext(&one->here, &one->there);
    allocate();
    swapcontext(&one->here, &one->there);
    in_fiber = false;
}

/* --- signals --- */

void handler(int) {
    allocate();
}
thread_local char *other_stack;
__attribute__((noinline)) void signalled(unsigned depth) {
    raise(chance(2) ? SIGUSR1 : SIGUSR2); /* one of them on a stack of its own */
    sink = depth;
}

/* --- code made at run time --- */

unsigned char *code;
#ifdef __aarch64__
constexpr unsigned with_frame[] = {0xa9bf7bfd,     /* stp x29, x30, [sp, #-16]! */
                                   0x910003fd,     /* mov x29, sp */
                                   0xaa0003e2,     /* mov x2, x0 */
                                   0x2a0103e0,     /* mov w0, w1 */
                                   0xd63f0040,     /* blr x2 */
                                   0xa8c17bfd,     /* ldp x29, x30, [sp], #16 */
                                   0xd65f03c0};    /* ret */
constexpr unsigned without_frame[] = {0xf81d0ffe,  /* str x30, [sp, #-48]! */
                                      0xaa0003e2,  /* mov x2, x0 */
                                      0x2a0103e0,  /* mov w0, w1 */
                                      0xd63f0040,  /* blr x2 */
                                      0xf84307fe,  /* ldr x30, [sp], #48 */
                                      0xd65f03c0}; /* ret */
#else
constexpr unsigned char with_frame[] = {0x55,                      /* push rbp */
                                        0x48, 0x89, 0xe5,          /* mov rbp, rsp */
                                        0x48, 0x89, 0xf8,          /* mov rax, rdi */
                                        0x89, 0xf7,                /* mov edi, esi */
                                        0xff, 0xd0,                /* call rax */
                                        0x5d,                      /* pop rbp */
                                        0xc3};                     /* ret */
constexpr unsigned char without_frame[] = {0x48, 0x83, 0xec, 0x28, /* sub rsp, 40 */
                                           0x48, 0x89, 0xf8,       /* mov rax, rdi */
                                           0x89, 0xf7,             /* mov edi, esi */
                                           0xff, 0xd0,             /* call rax */
                                           0x48, 0x83, 0xc4, 0x28, /* add rsp, 40 */
                                           0xc3};                  /* ret */
#endif
constexpr size_t second = 64;

void make_code() {
    void *page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        abort();
    code = static_cast<unsigned char *>(page);
    memcpy(code, with_frame, sizeof with_frame);
    memcpy(code + second, without_frame, sizeof without_frame);
    if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0)
        abort();
    __builtin___clear_cache(static_cast<char *>(page), static_cast<char *>(page) + 4096);
}
__attribute__((noinline)) void generated(unsigned depth) {
    using Code = void (*)(void (*)(unsigned), unsigned);
    auto call = reinterpret_cast<Code>(code + (chance(2) ? second : 0));
    call(go, depth - 1);
    sink = depth;
}

/* --- */

void go(unsigned depth) {
    if (left)
        left--;
    if (!depth || !left) {
        allocate();
        return;
    }
    switch (chance(20)) {
    case 0:
        with_alloca(depth);
        break;
    case 1:
        realigned(depth);
        break;
    case 2:
        realigned_and_growing(depth);
        break;
    case 3:
        large(depth);
        break;
    case 4:
        sink = many_arguments(depth, 1, 2, 3, 4, 5, 6, 7, 8.0);
        break;
    case 5:
        virtually(depth);
        break;
    case 6:
        catches(depth);
        break;
    case 7:
        returns_by_a_jump(depth);
        break;
    case 8:
        coroutine(depth);
        break;
    case 9:
        chance(8) ? plain(depth) : fiber(depth);
        break;
    case 10:
        chance(4) ? plain(depth) : signalled(depth);
        break;
    case 11:
        chance(8) ? plain(depth) : generated(depth);
        break;
    case 12:
        go(depth - 1);
        go(depth / 2);
        break;
    case 13:
        for (unsigned i = chance(20); i; i--)
            allocate();
        plain(depth);
        break;
    default:
        plain(depth);
        break;
    }
}

void run(uint64_t seed, unsigned long events, void *context, unsigned long *count) {
    stack_t own = {};
    state = seed;
    other_stack = static_cast<char *>(malloc(128 * 1024));
    own.ss_sp = other_stack;
    own.ss_size = 128 * 1024;
    if (sigaltstack(&own, nullptr) != 0 || cuCtxSetCurrent(context))
        abort();
    while (made < events) {
        left = 60;
        go(1 + chance(24));
    }
    own.ss_flags = SS_DISABLE;
    sigaltstack(&own, nullptr);
    free(other_stack);
    *count = made;
}

} /* namespace */

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    uint64_t seed = strtoull(argv[1], nullptr, 10);
    unsigned long events = strtoul(argv[2], nullptr, 10), counts[2] = {};
    void *context;
    struct sigaction action = {};
    action.sa_handler = handler;
    sigaction(SIGUSR2, &action, nullptr);
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, nullptr);
    make_code();
    if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0))
        return 1;
    std::thread other(run, seed + 1, events / 2, context, &counts[1]);
    run(seed, events / 2, context, &counts[0]);
    other.join();
    std::printf("%lu\n", counts[0] + counts[1]);
    return 0;
}
