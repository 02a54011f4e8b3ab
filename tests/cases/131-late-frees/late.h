/* SPDX-License-Identifier: MIT */
/* Allocates one piece; whoever calls give() late frees it. */
#include <cstdio>
#include <cstdlib>

extern "C" int cuInit(unsigned);
extern "C" int cuCtxCreate_v2(void **, unsigned, int);
extern "C" int cuCtxSetCurrent(void *);
extern "C" int cuMemAlloc_v2(unsigned long long *, std::size_t);
extern "C" int cuMemFree_v2(unsigned long long);
extern "C" unsigned long long vramtrace_sim_live_count(int);

struct Piece {
    unsigned long long at = 0;
    const char *who;
    explicit Piece(const char *name) : who(name) {
        static void *context = nullptr;
        if (!context)
            cuInit(0), cuCtxCreate_v2(&context, 0, 0);
        if (cuMemAlloc_v2(&at, 1024) != 0)
            abort();
    }
    void give() {
        if (at && cuMemFree_v2(at) != 0)
            abort();
        at = 0;
        std::printf("freed by %s\n", who);
    }
    ~Piece() {
        if (at)
            give();
    }
};
