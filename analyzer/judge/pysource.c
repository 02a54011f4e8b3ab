/* SPDX-License-Identifier: MIT */
/*
 * Python source as statements (see pysource.h). No parser: brackets, strings, comments and indents
 * are followed, and that is enough to tell where a statement begins and ends.
 */
#include "pysource.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_FILE = 4 << 20,
    LONGEST_STATEMENT = 4000 /* tables of data; what is longer is not looked into */
};

struct reader {
    struct vt_pysource *out;
    const char *at;
    uint32_t line;
    /* the statement that is being read */
    struct vt_string text;
    uint32_t first, last;
    unsigned indent;
    int depth;
    bool blank; /* one was passed */
};

bool vt_pysource_begins(const char *text, const char *keyword) {
    size_t length = strlen(keyword);
    return !strncmp(text, keyword, length) && !vt_pysource_is_word(text[length]);
}

bool vt_pysource_is_scope(const char *text) {
    return vt_pysource_begins(text, "def") || vt_pysource_begins(text, "async def") ||
           vt_pysource_begins(text, "class");
}

bool vt_pysource_is_loop(const char *text) {
    return vt_pysource_begins(text, "for") || vt_pysource_begins(text, "async for") ||
           vt_pysource_begins(text, "while");
}

static bool is_head(const char *text) {
    static const char *const words[] = {"if",   "elif", "else",    "for",   "while", "try",
                                        "with", "def",  "finally", "class", "async", "except"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (vt_pysource_begins(text, words[i]))
            return true;
    return false;
}

/* --- reading --- */

static void add_statement(struct reader *r, const char *text, size_t length, unsigned indent) {
    while (length && *text == ' ') {
        text++;
        length--;
    }
    if (!length)
        return;
    bool opaque = length > LONGEST_STATEMENT;
    struct vt_pysource *s = r->out;
    VT_GROW(s->statements, s->count, s->room);
    s->statements[s->count++] = (struct vt_statement){
        r->first, r->last, indent, opaque ? vt_strdup("...") : vt_strndup(text, length)};
}

/* Ends a statement; "if x: y" is two. */
static void end_statement(struct reader *r) {
    const char *text = r->text.text;
    size_t length = r->text.length, head = 0;
    int depth = 0;
    for (size_t i = 0; length && is_head(text) && i < length && !head; i++) {
        depth += strchr("([{", text[i]) ? 1 : strchr(")]}", text[i]) ? -1 : 0;
        if (text[i] == ':' && text[i + 1] != '=' && depth == 0)
            head = i + 1;
    }
    if (head && head < length) {
        add_statement(r, text, head, r->indent);
        add_statement(r, text + head, length - head, r->indent + 1);
    } else {
        add_statement(r, text, length, r->indent);
    }
    r->text.length = 0;
    r->first = 0;
    r->blank = false;
    r->depth = 0;
}

static void add_character(struct reader *r, char c) {
    char before = r->text.length ? r->text.text[r->text.length - 1] : 0;
    if (r->blank && before && vt_pysource_is_word(c) &&
        (vt_pysource_is_word(before) || strchr(")]}\"", before)))
        vt_string_add(&r->text, " ");
    r->blank = false;
    r->first = r->first ? r->first : r->line;
    r->last = r->line;
    vt_string_add_bytes(&r->text, &c, 1);
}

/* A string's prefix was taken for a word. */
static void drop_prefix(struct reader *r) {
    size_t word = r->text.length;
    while (word && vt_pysource_is_word(r->text.text[word - 1]) && r->text.length - word < 3)
        word--;
    if (r->text.length - word > 2 || r->blank)
        return;
    for (size_t i = word; i < r->text.length; i++)
        if (!strchr("rRbBfFuU", r->text.text[i]))
            return;
    r->text.length = word;
}

static void read_string(struct reader *r) {
    char quote = *r->at;
    size_t quotes = r->at[1] == quote && r->at[2] == quote ? 3 : 1;
    const char close[] = {quote, quote, quote};
    drop_prefix(r);
    add_character(r, '"');
    const char *from = r->at += quotes;
    while (*r->at && strncmp(r->at, close, quotes) && !(quotes == 1 && *r->at == '\n')) {
        r->at += *r->at == '\\' && r->at[1];
        r->line += *r->at++ == '\n';
    }
    if (r->at - from == 3 && !strncmp(from, "cpu", 3))
        vt_string_add(&r->text, "cpu");
    add_character(r, '"');
    r->at += *r->at == quote ? quotes : 0;
}

static void read_indent(struct reader *r) {
    r->indent = 0;
    for (; *r->at == ' ' || *r->at == '\t' || *r->at == '\f'; r->at++)
        r->indent = *r->at == '\t' ? (r->indent / 8 + 1) * 8 : r->indent + 1;
    r->indent *= 2; /* room for the second part of "if x: y" */
}

static void read_statements(struct reader *r) {
    read_indent(r);
    while (*r->at) {
        char c = *r->at;
        if (c == '"' || c == '\'') {
            read_string(r);
            continue;
        }
        r->at++;
        if (c == '#') {
            r->at += strcspn(r->at, "\n");
        } else if (c == '\\' && (*r->at == '\n' || *r->at == '\r')) {
            r->at += strcspn(r->at, "\n");
            r->at += *r->at == '\n';
            r->line++;
            r->blank = true;
        } else if (c == '\n') {
            if (r->depth <= 0)
                end_statement(r);
            r->line++;
            r->blank = true;
            if (!r->text.length)
                read_indent(r);
        } else if (c == ';' && r->depth <= 0) {
            unsigned indent = r->indent;
            bool inner = is_head(r->text.length ? r->text.text : "");
            end_statement(r);
            r->indent = indent + inner;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
            r->blank = true;
        } else {
            r->depth += strchr("([{", c) ? 1 : strchr(")]}", c) ? -1 : 0;
            add_character(r, c);
        }
    }
    end_statement(r);
}

struct vt_pysource *vt_pysource_read(const struct vt_process *p, const char *file) {
    FILE *in = file ? vt_frame_text_open_source(p, file) : NULL;
    if (!in)
        return NULL;
    char *bytes = vt_alloc(LONGEST_FILE + 1, 1);
    size_t length = fread(bytes, 1, LONGEST_FILE + 1, in);
    bool whole = !ferror(in) && length <= LONGEST_FILE && !memchr(bytes, 0, length);
    fclose(in);
    struct vt_pysource *source = NULL;
    if (whole) {
        source = vt_alloc(1, sizeof *source);
        source->file = file;
        struct reader r = {.out = source, .at = bytes, .line = 1};
        r.at += !strncmp(bytes, "\xef\xbb\xbf", 3) ? 3 : 0;
        vt_string_add(&r.text, "");
        read_statements(&r);
        vt_string_free(&r.text);
    }
    free(bytes);
    return source;
}

void vt_pysource_free(struct vt_pysource *source) {
    if (!source)
        return;
    for (size_t i = 0; i < source->count; i++)
        free(source->statements[i].text);
    free(source->statements);
    free(source);
}

const struct vt_pysource *vt_pyfiles_get(struct vt_pyfiles *files, const char *file) {
    for (unsigned i = 0; file && i < files->count; i++)
        if (!strcmp(files->read[i].file, file))
            return files->read[i].source;
    if (!file || files->count == sizeof files->read / sizeof *files->read)
        return NULL;
    files->read[files->count].file = file;
    return files->read[files->count++].source = vt_pysource_read(files->process, file);
}

void vt_pyfiles_free(struct vt_pyfiles *files) {
    for (unsigned i = 0; i < files->count; i++)
        vt_pysource_free(files->read[i].source);
    files->count = 0;
}

/* --- finding one's way --- */

uint32_t vt_pysource_at(const struct vt_pysource *s, uint32_t line) {
    uint32_t found = VT_NO_STATEMENT;
    for (uint32_t i = 0; i < s->count && s->statements[i].first <= line; i++) {
        if (s->statements[i].last < line)
            continue;
        if (found != VT_NO_STATEMENT && s->statements[found].indent == s->statements[i].indent)
            return VT_NO_STATEMENT;
        found = i;
    }
    return found;
}

uint32_t vt_pysource_above(const struct vt_pysource *s, uint32_t i) {
    unsigned indent = s->statements[i].indent;
    while (i-- > 0)
        if (s->statements[i].indent < indent)
            return i;
    return VT_NO_STATEMENT;
}

uint32_t vt_pysource_scope(const struct vt_pysource *s, uint32_t i) {
    do
        i = vt_pysource_above(s, i);
    while (i != VT_NO_STATEMENT && !vt_pysource_is_scope(s->statements[i].text));
    return i;
}

uint32_t vt_pysource_end(const struct vt_pysource *s, uint32_t head) {
    uint32_t i = head + 1;
    while (i < s->count && s->statements[i].indent > s->statements[head].indent)
        i++;
    return i;
}

uint32_t vt_pysource_next(const struct vt_pysource *s, uint32_t i) {
    return vt_pysource_is_scope(s->statements[i].text) ? vt_pysource_end(s, i) : i + 1;
}

const char *vt_pysource_name(const struct vt_frame *frame) {
    const char *name = frame->function ? frame->function : "", *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

uint32_t vt_pysource_frame(const struct vt_pysource *s, const struct vt_frame *frame) {
    uint32_t i = s && frame->line ? vt_pysource_at(s, frame->line) : VT_NO_STATEMENT;
    if (i == VT_NO_STATEMENT)
        return i;
    const char *name = vt_pysource_name(frame);
    uint32_t scope = vt_pysource_scope(s, i);
    if (scope == VT_NO_STATEMENT)
        return strcmp(name, "<module>") ? VT_NO_STATEMENT : i;
    const char *text = s->statements[scope].text;
    text += vt_pysource_begins(text, "async def") ? 10 : 4;
    return vt_pysource_begins(text, name) ? i : VT_NO_STATEMENT;
}

uint32_t vt_pysource_compiled(const struct vt_pysource *s, const struct vt_frame *frame) {
    uint32_t i = s && frame->line ? vt_pysource_at(s, frame->line) : VT_NO_STATEMENT;
    while (i != VT_NO_STATEMENT && i + 1 < s->count && s->statements[i].text[0] == '@')
        i++;
    if (i == VT_NO_STATEMENT)
        return i;
    const char *text = s->statements[i].text, *name = vt_pysource_name(frame);
    text += vt_pysource_begins(text, "async def") ? 6 : 0;
    bool itself = vt_pysource_begins(text, "def") && vt_pysource_begins(text + 4, name);
    return itself ? i : VT_NO_STATEMENT;
}
