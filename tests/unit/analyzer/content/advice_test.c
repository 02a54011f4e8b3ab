/* SPDX-License-Identifier: MIT */
/* Which names of functions are those of constructors, and whether one threw. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "content/advice.c"

static void constructors(void **state) {
    static const struct {
        const char *function;
        bool is;
    } rows[] = {
        {"Decoder::Decoder(Picture const&)", true},
        {"video::Decoder::Decoder()", true},
        {"Buffer<float>::Buffer(unsigned long)", true},
        {"Pool<std::vector<int>, 4>::Pool(int)", true},
        {"Decoder::~Decoder()", false},
        {"Decoder::decode(Picture const&)", false},
        {"Recoder::coder()", false},
        {"coder::Decoder()", false},
        {"Decoder(Picture const&)", false},
        {"main", false},
        {"::", false},
        {NULL, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vt_frame frame = {.function = rows[i].function};
        if (is_constructor(&frame) != rows[i].is)
            fail_msg("%s: expected %d", rows[i].function, rows[i].is);
    }
}

/* A constructor lost 25 of 200 blocks; the line behind it allocated so often. */
static void assert_thrown(uint64_t behind, const char *expected) {
    struct vt_frame frames[] = {
        {.function = "Decoder::Decoder()", .file = "d.cpp", .line = 7, .user_code = true},
        {.function = "Decoder::Decoder()", .file = "d.cpp", .line = 9, .user_code = true}};
    struct vt_stack stacks[] = {{.frames = &frames[0], .count = 1, .line = 7},
                                {.frames = &frames[1], .count = 1, .line = 9}};
    struct vt_site sites[] = {
        {.api = "cudaMalloc",
         .stack = &stacks[0],
         .alloc_count = 200,
         .free_count = 175,
         .live_count = 25},
        {.api = "cudaMalloc", .stack = &stacks[1], .alloc_count = behind, .free_count = behind}};
    struct vt_leak leak = {.verdict = VT_VERDICT_LOST,
                           .stack = &stacks[0],
                           .sites = (uint32_t[]){0},
                           .site_count = 1,
                           .live_count = 25};
    struct vt_process p = {
        .sites = sites, .site_count = 2, .leaks = &leak, .leak_count = 1, .found_count = 1};
    vt_advice_add(&p);
    assert_string_equal(leak.advice, expected);
    free(leak.advice);
}

static void thrown(void **state) {
    (void)state;
    assert_thrown(
        175, "175 of 200 are freed: the other times the constructor threw before line 9, so no "
             "destructor called cudaFree");
    assert_thrown(
        200,
        "175 of 200 are freed: some path drops memory allocated at d.cpp:7 in Decoder::Decoder "
        "without cudaFree");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(constructors), cmocka_unit_test(thrown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
