/* SPDX-License-Identifier: MIT */
/*
 * A GoogleTest listener: a test that leaves GPU memory behind fails.
 *
 *     #include "vramtrace_gtest.h"
 *
 *     int main(int argc, char **argv) {
 *         testing::InitGoogleTest(&argc, argv);
 *         vramtrace::FailOnLeaks();
 *         return RUN_ALL_TESTS();
 *     }
 *
 *     vramtrace run --check -- ./tests
 *
 * Each test is a phase in the trace, so a report can be limited to it. The listener says how much a
 * test left; the call stacks come from the gate (--check) or `vramtrace report`. It needs vramtrace.h
 * and links to nothing. In a program that is not traced it does nothing. What SetUpTestSuite
 * allocates does not count, because that happens before the first test starts.
 */
#ifndef VRAMTRACE_GTEST_H
#define VRAMTRACE_GTEST_H

#include <gtest/gtest.h>
#include <vramtrace.h>

#include <cstdint>
#include <string>

namespace vramtrace {

class LeakListener : public testing::EmptyTestEventListener {
  public:
    /* allowed: the bytes that a test may leave */
    explicit LeakListener(std::int64_t allowed = 0) : allowed_(allowed) {}

    void OnTestStart(const testing::TestInfo &test) override {
        const std::string name = std::string(test.test_suite_name()) + "." + test.name();
        before_ = vramtrace_live_bytes(-1);
        vramtrace_push(name.c_str());
    }

    /* A failure added here still counts for the test that ends. */
    void OnTestEnd(const testing::TestInfo &test) override {
        vramtrace_pop();
        const std::int64_t left = vramtrace_live_bytes(-1) - before_;
        if (vramtrace_active() && left > allowed_)
            ADD_FAILURE_AT(test.file(), test.line())
                << left << " bytes of GPU memory left by this test (allowed: " << allowed_ << ")";
    }

  private:
    std::int64_t allowed_, before_ = 0;
};

/* Appended after the listener that prints. OnTestEnd runs in reverse order, so ours fails the test
 * before that one prints "OK". */
inline void FailOnLeaks(std::int64_t allowed = 0) {
    testing::UnitTest::GetInstance()->listeners().Append(new LeakListener(allowed));
}

} // namespace vramtrace

#endif
