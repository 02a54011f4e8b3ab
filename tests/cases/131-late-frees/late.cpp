/* SPDX-License-Identifier: MIT */
#include "late.h"

#include <dlfcn.h>

static Piece in_static("a static destructor of the program");
static Piece *in_atexit, *in_on_exit, *in_destructor;

static Piece &in_function() {
    static Piece p("a static destructor of a function");
    return p;
}

thread_local Piece in_thread("a thread_local destructor of the main thread");

__attribute__((destructor)) static void destructor() {
    in_destructor->give();
    std::printf("driver's count %llu\n", vramtrace_sim_live_count(-1));
    std::fflush(stdout);
}

int main(int, char **argv) {
    in_function();
    in_thread.who = "a thread_local destructor of the main thread"; /* used, so it is made */
    in_atexit = new Piece("atexit");
    in_on_exit = new Piece("on_exit");
    in_destructor = new Piece("a destructor function");
    std::atexit([] { in_atexit->give(); });
    on_exit([](int, void *) { in_on_exit->give(); }, nullptr);
    if (!dlopen("./libopened.so", RTLD_NOW))
        return std::fprintf(stderr, "%s\n", dlerror()), 1;
    return argv[1] ? std::quick_exit(0), 0 : 0;
}
