/* SPDX-License-Identifier: MIT */
/*
 * A document as text: rows whose texts stand below each other, tables whose columns are as wide as they must be,
 * and styles only where they are asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/report.h"

#include <stdlib.h>

static void prints(struct vt_doc *doc, bool colour, const char *expected) {
    char *text = NULL;
    size_t length;
    struct vt_text t = {.width = 40, .colour = colour};
    t.out = open_memstream(&text, &length);
    vt_doc_print(doc, &t);
    fclose(t.out);
    assert_string_equal(text, expected);
    free(text);
    vt_doc_free(doc);
}

static void rows(void **state) {
    struct vt_doc doc = {.digits = 4, .column = 12};
    (void)state;
    vt_doc_heading(&doc, VT_STYLE_BAD, "LEAK", "%s kept", "1.00 MiB");
    vt_doc_row(&doc, "kept by", "a list of which the name is long enough\nto be wrapped");
    vt_doc_row(&doc, "", "and another");
    vt_doc_line(&doc, "as %s is", "it");
    prints(&doc, false,
           "\nLEAK   1.00 MiB kept\n"
           "  kept by   a list of which the name is\n"
           "            long enough to be wrapped\n"
           "            and another\n"
           "as it is\n");
}

static void places(void **state) {
    struct vt_doc doc = {.digits = 4, .column = 4};
    (void)state;
    struct vt_doc_item *place = vt_doc_add(&doc, VT_DOC_PLACE, "a.py:1 in f");
    place->label = ">";
    place->style = VT_STYLE_HEAD;
    place->source = "x = f()";
    prints(&doc, true, "  > \033[1ma.py:1 in f\033[0m   x = f()\n");
}

static void tables(void **state) {
    static const struct vt_doc_column columns[] = {
        {"held", 0, 10, .right = true},
        {"n", 1, 2, .right = true, .fixed = true},
        {"allocated at", 2, 0, .style = VT_STYLE_HEAD},
        {.title = "site", .before = 2},
    };
    struct vt_doc doc = {.digits = 4};
    (void)state;
    vt_doc_table(&doc, columns, 4);
    vt_doc_cells(&doc, "1.00 MiB", "12", "a.py:1", "12ab");
    vt_doc_cells(&doc, "2.00 MiB", "1234", "a.py:200 in function", "34cd");
    vt_doc_add(&doc, VT_DOC_SOURCE, "x = f()")->column = 15;
    vt_doc_cells(&doc, "3 B", "1", "", "");
    vt_doc_rest(&doc, 1024, "in %u more lines", 2);
    prints(&doc, false,
           "      held  n  allocated at          site\n"
           "  1.00 MiB 12  a.py:1                12ab\n"
           "  2.00 MiB 1234  a.py:200 in function  34cd\n"
           "               x = f()\n"
           "       3 B  1\n"
           "  1.00 KiB  in 2 more lines\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(places),
        cmocka_unit_test(tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
