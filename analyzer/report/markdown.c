/* SPDX-License-Identifier: MIT */
/*
 * Markdown's escapes (see markdown.h), by the specification of GitHub-flavoured Markdown.
 */
#define _GNU_SOURCE /* memmem */
#include "markdown.h"
#include "text_page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c & 0x80;
}

/* Whether some reader would turn a word into a link or a mention: "train.py" looks like a domain. As code it stays
 * text, and file names look right. */
static bool is_link(const char *word, size_t length) {
    if (memchr(word, '@', length) || memmem(word, length, "://", 3) ||
        memmem(word, length, "www.", 4))
        return true;
    for (size_t i = 1; i + 2 < length; i++)
        if (word[i] == '.' && is_word(word[i - 1]) && isalpha((unsigned char)word[i + 1]) &&
            isalpha((unsigned char)word[i + 2]))
            return true;
    return false;
}

/* Underscores inside a word are not markup: train_step, but not __main__. */
static bool needs_escape(const char *text, size_t at) {
    if (text[at] == '_')
        return !(at && is_word(text[at - 1]) && is_word(text[at + 1]));
    return text[at] && strchr("\\`*{}[]<>#|~$&!", text[at]);
}

/* A fence with more backticks than any run of them in the text, and more than `least`. Free it. */
static char *fence_for(const char *text, size_t length, size_t least) {
    for (size_t i = 0, run = 0; i < length; i++) {
        run = text[i] == '`' ? run + 1 : 0;
        least = run > least ? run : least;
    }
    char *fence = vt_alloc(least + 2, 1);
    memset(fence, '`', least + 1);
    return fence;
}

static void add_code(struct vt_string *out, const char *text, size_t length, bool in_table) {
    VT_SCOPED char *fence = fence_for(text, length, 0);
    /* Markdown removes one blank at both ends */
    const char *pad = length && (text[0] == '`' || text[length - 1] == '`' || text[0] == ' ' ||
                                 text[length - 1] == ' ')
                          ? " "
                          : "";
    vt_string_format(out, "%s%s", fence, pad);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '|' && in_table)
            vt_string_add(out, "\\");
        vt_string_add_bytes(out, text + i, 1);
    }
    vt_string_format(out, "%s%s", pad, fence);
}

/* One line of bounded length. Free it. */
static char *cleaned(const char *text) {
    VT_SCOPED char *line = vt_printable(vt_strdup(text));
    return vt_text_cut(line, VT_MARKDOWN_WIDEST);
}

/* The length of `code` in backticks, as in our own sentences; 0: there is none. */
static size_t code_length(const char *at) {
    const char *end = *at == '`' ? strchr(at + 1, '`') : NULL;
    return end && end > at + 1 && !memchr(at, '|', (size_t)(end - at)) ? (size_t)(end + 1 - at) : 0;
}

static void add_escaped(struct vt_string *out, const char *line, const char *at, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (needs_escape(line, (size_t)(at - line) + i))
            vt_string_add(out, "\\");
        vt_string_add_bytes(out, at + i, 1);
    }
}

/* A word at `at` of the line. */
static void add_word(struct vt_string *out, const char *line, const char *at, size_t length) {
    size_t before = strspn(at, "("), end = length;
    while (end > before && strchr(",;:.)", at[end - 1]) &&
           !(end > 1 && at[end - 1] == ')' && at[end - 2] == '('))
        end--;
    /* escaped pipes are also correct outside tables, but not in code */
    if (end <= before || !is_link(at + before, end - before) || memchr(at, '|', length)) {
        add_escaped(out, line, at, length);
        return;
    }
    add_escaped(out, line, at, before);
    add_code(out, at + before, end - before, false);
    add_escaped(out, line, at + end, length - end);
}

void vt_markdown_text(struct vt_string *out, const char *text) {
    VT_SCOPED char *line = cleaned(text);
    for (const char *at = line; *at;) {
        size_t length = code_length(at);
        if (length)
            add_code(out, at + 1, length - 2, false);
        else if ((length = strcspn(at, " ")))
            add_word(out, line, at, length);
        at += length;
        length = strspn(at, " ");
        /* a gap between columns, which Markdown would collapse */
        vt_string_add(out, length > 1 && *(at + length) ? ", " : length ? " " : "");
        at += length;
    }
}

void vt_markdown_code(struct vt_string *out, const char *text, bool in_table) {
    VT_SCOPED char *line = cleaned(text);
    if (*line)
        add_code(out, line, strlen(line), in_table);
}

void vt_markdown_block(struct vt_string *out, const char *lines) {
    VT_SCOPED char *fence = fence_for(lines, strlen(lines), 2);
    vt_string_format(out, "%stext\n%s%s\n", fence, lines, fence);
}
