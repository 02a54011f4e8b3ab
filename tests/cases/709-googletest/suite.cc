/* SPDX-License-Identifier: MIT */
/* Four tests, of which one leaks; see run. */
#include "../../../examples/googletest/vramtrace_gtest.h"

#include <dlfcn.h>

static void *symbol(const char *name) {
    static void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    return driver ? dlsym(driver, name) : nullptr;
}

typedef unsigned long long address;

static address allocate(size_t bytes) {
    address a = 0;
    auto call = reinterpret_cast<int (*)(address *, size_t)>(symbol("cuMemAlloc_v2"));
    EXPECT_EQ(call(&a, bytes), 0);
    return a;
}

static void release(address a) {
    auto call = reinterpret_cast<int (*)(address)>(symbol("cuMemFree_v2"));
    EXPECT_EQ(call(a), 0);
}

class Gpu : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        void *context;
        reinterpret_cast<int (*)(unsigned)>(symbol("cuInit"))(0);
        reinterpret_cast<int (*)(void **, unsigned, int)>(symbol("cuCtxCreate_v2"))(&context, 0, 0);
        shared = allocate(1000);
    }
    static void TearDownTestSuite() {
        release(shared);
    }
    void SetUp() override {
        own = allocate(2000);
    }
    void TearDown() override {
        release(own);
    }
    static address shared;
    address own = 0;
};
address Gpu::shared;

TEST_F(Gpu, Clean) {
    release(allocate(10));
}
TEST_F(Gpu, Leaks) {
    allocate(12345);
}
TEST_F(Gpu, CleanToo) {}
TEST(NoGpu, Clean) {}

int main(int argc, char **argv) {
    testing::InitGoogleTest(&argc, argv);
    vramtrace::FailOnLeaks();
    return RUN_ALL_TESTS();
}
