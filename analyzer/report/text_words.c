/* SPDX-License-Identifier: MIT */
/*
 * Lays out rows of words (words.h) on the text report's page.
 */
#include "fmt_text.h"
#include "words.h"

#include <stdlib.h>

enum { BYTES = 11 }; /* columns of a holder's size, and of the gap behind it */

/* "5.11 GiB  train.py:22 in main   3f2a", or an owner. */
static void print_holder(const struct vt_text *t, const struct vt_words_row *row, unsigned indent) {
    char *head = vt_formatted("  %-*s%9s", (int)indent - 2, row->label, VT_BYTES(row->bytes));
    unsigned width = VT_TEXT_WIDTH - indent - BYTES - t->digits - 2; /* ids stay near */
    unsigned columns = vt_frame_text_columns(row->text);
    if (row->site)
        fprintf(t->out, "%s  %s%*s  %.*s\n", head, row->text,
                columns < width ? (int)(width - columns) : 0, "", (int)t->digits, row->site->name);
    else
        vt_text_wrap(t, head, indent + BYTES, row->text);
    free(head);
}

void vt_text_row(const struct vt_text *t, const struct vt_words_row *row, unsigned indent) {
    char *label;
    switch (row->kind) {
    case VT_WORDS_HOLDER:
        print_holder(t, row, indent);
        break;
    case VT_WORDS_CALLER:
        fprintf(t->out, "%*s%scalled by %s%s\n", (int)(indent + BYTES), "",
                vt_text_style(t, VT_STYLE_DIM), row->text, vt_text_style(t, VT_STYLE_NONE));
        break;
    case VT_WORDS_MORE:
        vt_text_wrap(t, "", indent + BYTES, row->text);
        break;
    case VT_WORDS_SOURCE:
        fprintf(t->out, "%*s%s\n", (int)indent, "", row->text);
        break;
    case VT_WORDS_ALARM:
        fprintf(t->out, "  %s%-*s%s", vt_text_style(t, VT_STYLE_WARN), (int)indent - 2, row->label,
                vt_text_style(t, VT_STYLE_NONE));
        vt_text_wrap(t, NULL, indent, row->text);
        break;
    default:
        label = vt_formatted("  %s", row->label);
        vt_text_wrap(t, label, indent, row->text);
        free(label);
    }
}
