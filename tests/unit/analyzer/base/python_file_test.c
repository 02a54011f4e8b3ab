/* SPDX-License-Identifier: MIT */
/* Unit tests of file names that stand for cells of a notebook: their names, and which are the same
 * code. */
#include "base/python_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>

static void test_names(void **state) {
    static const struct {
        const char *file, *name; /* NULL: no cell */
    } rows[] = {
        {"<ipython-input-12-0123456789ab>", "In [12]"},
        {"<ipython-input-0123456789ab>", "IPython cell 0123456789ab"},
        {"/tmp/ipykernel_77/123456.py", "IPython cell 123456"},
        {"/tmp/ipython-input-3-99.py", "In [3]"},
        {"/tmp/ipython-input-99.py", "IPython cell 99"},
        {"<ipython-input->", NULL},
        {"<ipython-input-12-", NULL},
        {"/tmp/ipykernel_77/train.py", NULL},
        {"/tmp/ipykernel_77/12.pyc", NULL},
        {"/home/me/123456.py", NULL},
        {"123456.py", NULL},
        {"<string>", NULL},
        {"", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *name = vt_python_file_cell_name(rows[i].file, true);
        if (rows[i].name)
            assert_string_equal(name ? name : "no cell", rows[i].name);
        else
            assert_null(name);
        assert_int_equal(vt_python_file_is_cell(rows[i].file), rows[i].name != NULL);
        free(name);
    }
}

static void test_same_code(void **state) {
    (void)state;
#define HASH(file) vt_python_file_hash(7, file)
    assert_int_equal(HASH("<ipython-input-12-ab01>"), HASH("<ipython-input-3-ab01>"));
    assert_int_equal(HASH("/tmp/ipykernel_1/55.py"), HASH("/tmp/ipykernel_2/55.py"));
    assert_int_not_equal(HASH("<ipython-input-12-ab01>"), HASH("<ipython-input-12-ab02>"));
    assert_int_not_equal(HASH("/tmp/ipykernel_1/55.py"), HASH("/tmp/ipykernel_1/56.py"));
    assert_int_not_equal(HASH("a/train.py"), HASH("b/train.py"));
#undef HASH
    char *name = vt_python_file_cell_name("<ipython-input-12-ab01>", false);
    assert_string_equal(name, "IPython cell ab01");
    free(name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_same_code),
    };
    return cmocka_run_group_tests_name("python_file", tests, NULL, NULL);
}
