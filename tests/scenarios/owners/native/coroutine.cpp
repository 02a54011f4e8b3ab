/* SPDX-License-Identifier: MIT */
/* OWNER loader in global: 64 KiB */
/* STANDARD gnu++20 */
/* A coroutine that is suspended: its locals are on the heap. */
#include "scene.h"

#include <coroutine>
#include <unistd.h>

struct Task {
    struct promise_type {
        Task get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() {
            return {};
        }
        std::suspend_always final_suspend() noexcept {
            return {};
        }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};

static Task load() {
    CUdeviceptr batch = ALLOC(64 * KIB);
    KEEP(batch);
    co_await std::suspend_always{};
    FREE(batch);
}

static Task loader;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    loader = load();
    loader.handle.resume();
    KEEP(loader);
    _exit(0);
}
