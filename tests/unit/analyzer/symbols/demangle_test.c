/* SPDX-License-Identifier: MIT */
/* Names as they were written, from what compilers of C++, Rust, D and Fortran made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbols/dwarf.h"

#include <stdlib.h>

static void symbols(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"_ZL6filleri", "filler(int)"},
        {"_ZL11kept_static", "kept_static"},
        {"_ZL4kept.lto_priv.0", "kept"},
        {"_ZL4kept.llvm.8412345", "kept"},
        {"_ZZL6filleriE4slot.0", "filler(int)::slot"},
        {"_ZZL12templ_holdervENK3$_0clEi", "templ_holder()::$_0::operator()(int) const"},
        {"_ZN3app4grow17h3207b7b43a82e547E", "app::grow"},
        {"_ZN3app4grow17h3207b7b43a82e547E.llvm.99", "app::grow"},
        {"_ZN33_$LT$r..Sq$u20$as$u20$r..Area$GT$4area17h3207b7b43a82e547E",
         "<r::Sq as r::Area>::area"},
        {"_RINvCs6GmmlP4bgsG_1r4leaflEB2_", "r::leaf::<i32>"},
        {"_RNCNvCs6GmmlP4bgsG_1r4main0B3_", "r::main::{closure#0}"},
        {"_D4main4growFiZPv", "main.grow(int)"},
        {"__cache_MOD_grow", "cache::grow"},
        /* C */
        {"_ZERO", NULL},
        {"_Rest", NULL},
        {"_Done", NULL},
        {"__libc_start_main", NULL},
        {"_MOD_x", NULL},
        {"___MOD_", NULL},
        {"main", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *found = vt_demangle_symbol(rows[i][0]);
        if (rows[i][1])
            assert_string_equal(found ? found : rows[i][0], rows[i][1]);
        else
            assert_null(found);
        free(found);
    }
}

static void types(void **state) {
    (void)state;
    char *found = vt_demangle_type("N3foo3BarE");
    assert_string_equal(found, "foo::Bar");
    free(found);
    assert_null(vt_demangle_type("N3foo"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(symbols), cmocka_unit_test(types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
