/* SPDX-License-Identifier: MIT */
/* OWNER Server::serve(CUctx_st*) in native_stack: 2 x 64 KiB */
/* A thread that waits in a member function, with its own object. */
#include "scene.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

static std::mutex mutex;
static std::condition_variable changed;
static bool ready;

struct Server {
    std::vector<CUdeviceptr> buffers;
    void __attribute__((noinline)) serve(CUcontext context) {
        CHECK(cuCtxSetCurrent(context));
        std::vector<CUdeviceptr> local = {ALLOC(64 * KIB), ALLOC(64 * KIB)};
        KEEP(local);
        std::unique_lock<std::mutex> lock(mutex);
        ready = true;
        changed.notify_all();
        changed.wait(lock, [&] { return local.empty(); });
    }
};

int main(int argc, char **argv) {
    SCENE(argc, argv);
    Server server;
    std::thread thread([&] { server.serve(context); });
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [] { return ready; });
    lock.unlock();
    _exit(0);
}
