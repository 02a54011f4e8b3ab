/* SPDX-License-Identifier: MIT */
/*
 * Text output for people (see text_page.h).
 */
#include "text_page.h"

#include "model/model.h"

#include <stdlib.h>
#include <string.h>

const char *vt_text_style(const struct vt_text *t, const char *escape) {
    return t->colour ? escape : "";
}

/* Prints a word. One that is wider than its line loses its end, or as a path its beginning. Returns its columns. */
static unsigned put_word(FILE *out, const char *word, size_t length, unsigned width) {
    static const char dots[] = "...";
    const char *tail = word, *end = word + length;
    while (tail && (size_t)(end - tail) + (tail > word ? sizeof dots - 1 : 0) > width)
        tail = tail + 1 < end ? memchr(tail + 1, '/', (size_t)(end - tail) - 1) : NULL;
    VT_SCOPED char *rest = vt_strndup(tail ? tail : word, (size_t)(end - (tail ? tail : word))),
                   *cut = vt_text_cut(rest, width);
    bool path = tail && tail > word;
    fprintf(out, "%s%s", path ? dots : "", path ? rest : cut);
    return vt_frame_text_columns(path ? rest : cut) + (path ? sizeof dots - 1 : 0);
}

void vt_text_wrap(const struct vt_text *t, const char *label, unsigned indent, const char *text) {
    unsigned column = indent;
    if (label)
        fprintf(t->out, "%-*s", (int)indent, label);
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > indent && column + 1 + length > t->width) {
            fprintf(t->out, "\n%*s", (int)indent, "");
            column = indent;
        }
        if (column > indent) {
            fputc(' ', t->out);
            column++;
        }
        column += put_word(t->out, text, length, t->width - indent);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', t->out);
}

/* Number of bytes of whole words that fit into `width` columns: at least one word. Blanks between words stay. */
static size_t fitting(const char *text, unsigned width) {
    size_t length = 0;
    unsigned columns = 0;
    while (text[length]) {
        size_t next = length + strspn(text + length, " ");
        next += strcspn(text + next, " ");
        columns += vt_frame_text_columns(text + length) - vt_frame_text_columns(text + next);
        if (columns > width && length)
            break;
        length = next;
    }
    return length;
}

void vt_text_heading(const struct vt_text *t, const char *style, const char *heading,
                     const char *rest) {
    enum { GAP = 3, INDENT = 4 };
    unsigned column = vt_frame_text_columns(heading), gap = GAP;
    fprintf(t->out, "\n%s%s%s", vt_text_style(t, style), heading, vt_text_style(t, VT_STYLE_NONE));
    while (rest && *rest) {
        size_t length = fitting(rest, t->width - column - gap);
        fprintf(t->out, "%*s", (int)gap, "");
        if (memchr(rest, ' ', length))
            fwrite(rest, 1, length, t->out);
        else
            put_word(t->out, rest, length, t->width - column - gap);
        rest += length + strspn(rest + length, " ");
        if (*rest)
            fputc('\n', t->out);
        column = 0;
        gap = INDENT;
    }
    fputc('\n', t->out);
}
