/* SPDX-License-Identifier: MIT */
/* Which names of functions are those of constructors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "judge/advice.c"

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(constructors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
