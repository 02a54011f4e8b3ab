/* SPDX-License-Identifier: MIT */
/* Globals and statics that hold memory by value: each is destroyed before the end, and forgets its memory or frees it.
 * argv[1]: how the program ends. */
#include "holder.h"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <err.h>
#include <malloc.h>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

static Sign first{"the first global's"};
static std::vector<CUdeviceptr> global;

static std::vector<CUdeviceptr> &in_vector() {
    static Sign sign{"in_vector's"};
    static std::vector<CUdeviceptr> held;
    return held;
}

static std::map<std::string, CUdeviceptr> &in_map() {
    static std::map<std::string, CUdeviceptr> held;
    return held;
}

static std::deque<CUdeviceptr> &in_deque() {
    static std::deque<CUdeviceptr> held;
    return held;
}

static std::unique_ptr<CUdeviceptr> &in_pointer() {
    static std::unique_ptr<CUdeviceptr> held;
    return held;
}

static std::vector<std::unique_ptr<Owned>> &that_frees() {
    static Sign sign{"that_frees's"};
    static std::vector<std::unique_ptr<Owned>> held;
    return held;
}

/* Allocates as it is made, which is the last that happens. */
struct Forgetful {
    CUdeviceptr memory = allocate(3 << 10);
    ~Forgetful() {
        *const_cast<volatile CUdeviceptr *>(&memory) = 0;
    }
};

static CUdeviceptr *in_table;

int main(int, char **argv) {
    const char *how = argv[1];
    start_cuda();
    std::atexit([] { std::puts("the first handler"); });
    if (!std::strcmp(how, "nothing"))
        return 0;
    for (int i = 0; i < 5; i++) {
        global.push_back(allocate(64 << 10));
        in_vector().push_back(allocate(32 << 10));
        in_map()[std::to_string(i)] = allocate(16 << 10);
        in_deque().push_back(allocate(8 << 10));
        that_frees().push_back(std::make_unique<Owned>(4 << 10));
    }
    in_pointer() = std::make_unique<CUdeviceptr>(allocate(2 << 10));
    in_table = static_cast<CUdeviceptr *>(std::calloc(4, sizeof *in_table));
    in_table[0] = allocate(512);
    std::atexit([] {
        std::puts("the second handler");
        std::free(in_table);
        in_table = nullptr;
    });
    on_exit([](int status, void *) { std::printf("on_exit: %d\n", status); }, nullptr);
    void *library = dlopen("./libopened.so", RTLD_NOW);
    if (!library)
        return std::fprintf(stderr, "%s\n", dlerror()), 9;
    reinterpret_cast<void (*)()>(dlsym(library, "fill_opened"))();
    static Forgetful forgetful;
    std::fflush(stdout);
    if (!std::strcmp(how, "plug-ins")) {
        std::size_t before = mallinfo2().uordblks;
        dlclose(library);
        for (int i = 0; i < 20000; i++)
            dlclose(dlopen("./libopened.so", RTLD_NOW));
        std::printf("%zu\n", mallinfo2().uordblks - before);
        std::fflush(stdout);
        _exit(0);
    }
    if (!std::strcmp(how, "exit"))
        std::exit(3);
    if (!std::strcmp(how, "err"))
        err(3, "ends");
    if (!std::strcmp(how, "quick_exit"))
        std::quick_exit(3);
    if (!std::strcmp(how, "_exit"))
        _exit(3);
    return 3;
}
