/* SPDX-License-Identifier: MIT */
/*
 * A frame as text (see frame_text.h).
 */
#define _GNU_SOURCE /* getline, memrchr */
#include "frame_text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

unsigned vt_frame_text_columns(const char *text) {
    unsigned columns = 0;
    size_t left = strlen(text);
    while (left) {
        unsigned bytes = vt_utf8_length(text, left);
        bytes = bytes ? bytes : 1;
        text += bytes;
        left -= bytes;
        columns++;
    }
    return columns;
}

/* Cuts to `width` columns, in place; a shortened text ends in three dots. */
static void cut_end(char *text, unsigned width) {
    if (vt_frame_text_columns(text) <= width)
        return;
    unsigned columns = 0;
    char *at = text;
    while (columns + 3 < width) {
        unsigned bytes = vt_utf8_length(at, strlen(at));
        at += bytes ? bytes : 1;
        columns++;
    }
    strcpy(at, width >= 3 ? "..." : "");
}

/* Cuts the beginning of a path, up to a slash if there is one. Frees `path`. */
static char *cut_start(char *path, unsigned width) {
    unsigned columns = vt_frame_text_columns(path);
    if (columns <= width)
        return path;
    const char *at = path;
    for (unsigned drop = columns + 3 - (width > 3 ? width : 3); drop && *at; drop--) {
        unsigned bytes = vt_utf8_length(at, strlen(at));
        at += bytes ? bytes : 1;
    }
    const char *slash = strchr(at, '/');
    char *cut = vt_formatted("...%s", slash ? slash : at);
    free(path);
    return cut;
}

/* The file, relative to the process's working directory if inside it; for an IPython cell its name. NULL: unknown. */
static char *file_of(const struct vt_process *p, const struct vt_frame *frame) {
    const char *file = frame->file;
    if (!file)
        return NULL;
    char *cell = frame->python ? vt_python_file_cell_name(file, true) : NULL;
    if (cell)
        return vt_printable(cell);
    if (p->cwd) {
        size_t length = strlen(p->cwd);
        if (length > 1 && !strncmp(file, p->cwd, length) && file[length] == '/')
            file += length + 1;
    }
    while (!strncmp(file, "./", 2))
        file += 2;
    return vt_printable(vt_strdup(file));
}

/* Returns the position after the bracket that closes the one at `at`; if there is none, the end of the text. */
static const char *past_bracket(const char *at) {
    int depth = 0;
    for (; *at; at++) {
        bool arrow = at[0] == '-' && at[1] == '>';
        if (arrow)
            at++;
        else if (strchr("(<{", *at))
            depth++;
        else if (strchr(")>}", *at) && --depth == 0)
            return at + 1;
    }
    return at;
}

static bool is_letter(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The length of "operator()", "operator<<" and the like at `at`, else 0: their brackets do not enclose anything. */
static size_t operator_length(const char *name, const char *at) {
    static const char word[] = "operator";
    size_t length = sizeof word - 1;
    if (strncmp(at, word, length) || (at > name && is_letter(at[-1])))
        return 0;
    if (!strncmp(at + length, "()", 2))
        return length + 2;
    while (at[length] && strchr("<>=-", at[length]))
        length++;
    return length;
}

/* The rest of the name after the parameters of an enclosing function, as in "f(int) const::{lambda()#1}::operator()".
 * NULL: they are the function's own parameters. */
static const char *past_inner(const char *open, const char *name) {
    const char *after = past_bracket(open), *scope = after;
    while (!strncmp(scope, " const", 6) || !strncmp(scope, " &", 2))
        scope += scope[1] == 'c' ? 6 : 2;
    if (!strncmp(scope, "::", 2))
        return scope;
    return open == name || open[-1] == ' ' ? after : NULL;
}

/* After code that torch.compile cannot compile, it continues in a separate function,
 * "Net.torch_dynamo_resume_in_step_at_9". The user's function is "Net.step". */
static char *python_function(const char *name) {
    static const char mark[] = "torch_dynamo_resume_in_";
    const char *at = strstr(name, mark), *inner = at ? at + sizeof mark - 1 : NULL, *end = NULL;
    for (const char *next = inner; next && (next = strstr(next, "_at_")); next++)
        end = next;
    if (!end || end == inner || !end[4] || end[4 + strspn(end + 4, "0123456789")])
        return vt_strdup(name);
    return vt_formatted("%.*s%.*s", (int)(at - name), name, (int)(end - inner), inner);
}

char *vt_frame_text_function(const struct vt_frame *frame) {
    const char *name = frame->function;
    if (!name)
        return NULL;
    if (frame->python)
        return vt_printable(python_function(name));
    struct vt_string out = {0};
    size_t begin = 0;
    bool in_operator = false;
    vt_string_add(&out, "");
    for (const char *at = name; *at;) {
        const char *from = at;
        size_t length = operator_length(name, at);
        bool anonymous = !strncmp(at, "(anonymous", 10);
        in_operator = in_operator || length;
        if (length) {
            at += length;
        } else if (*at == '(' && !anonymous) {
            from = at = past_inner(at, name);
            if (!at)
                break;
        } else if (*at == '<' && at > name && at[-1] != ':' && (at[-1] != ' ' || in_operator)) {
            at = past_bracket(at);
            vt_string_add(&out, "<...>");
            from = at;
        } else if (*at == '<' || *at == '{' || *at == '(') {
            at = past_bracket(at);
        } else if (*at == ' ' && at[1] == '[') {
            break;
        } else {
            at++;
        }
        vt_string_add_bytes(&out, from, (size_t)(at - from));
        if (*from == ' ' && from < at && !in_operator)
            begin = out.length;
    }
    if (begin < out.length)
        memmove(out.text, out.text + begin, out.length - begin + 1);
    return vt_printable(out.text);
}

/* Drops leading scopes until the function fits, but keeps its own name: "Loader.batch" becomes "...batch". Frees
 * `function`. */
static char *cut_scopes(char *function, unsigned width, bool python) {
    const char *separator = python ? "." : "::";
    size_t length = strlen(separator);
    const char *kept = function;
    unsigned columns = vt_frame_text_columns(function);
    for (const char *at = function; *at && columns > width;) {
        if (!strncmp(at, separator, length)) {
            kept = at += length;
            columns = vt_frame_text_columns(kept) + 3;
        } else {
            at = strchr("(<{", *at) ? past_bracket(at) : at + 1;
        }
    }
    if (kept == function)
        return function;
    char *cut = vt_formatted("...%s", kept);
    free(function);
    return cut;
}

static char *fitted(const char *text, unsigned width, bool python) {
    const char *in = strstr(text, " in ");
    while (in && in > text && !strchr("0123456789", in[-1]) && strstr(in + 1, " in "))
        /* an " in " without a line number before it is part of a folder's name */
        in = strstr(in + 1, " in ");
    size_t length = in ? (size_t)(in - text) : strlen(text);
    VT_SCOPED char *file = vt_strndup(text, length), *function = vt_strdup(in ? in + 4 : "");
    unsigned columns = vt_frame_text_columns(text), before = vt_frame_text_columns(file);
    if (columns <= width)
        return vt_strdup(text);
    /* the path is shortened first, down to its base name */
    unsigned least = vt_frame_text_columns(vt_basename(file)) + 4;
    unsigned room = width + before > columns ? width + before - columns : 0;
    file = cut_start(file, room < least ? least : room);
    if (in) {
        unsigned used = vt_frame_text_columns(file) + 4;
        function = cut_scopes(function, width > used ? width - used : 0, python);
    }
    char *cut = vt_formatted("%s%s%s", file, in ? " in " : "", function);
    cut_end(cut, width);
    return cut;
}

/* Shortens "in backward of NODE, from `loss.backward()` at train.py:24": drops first the source, then the first words,
 * then the place. */
static char *fit_backward(const char *text, const char *node, unsigned width) {
    static const char from[] = ", from ", at[] = "` at ";
    const char *end = strstr(node, from), *place = end ? end + sizeof from - 1 : NULL;
    for (const char *next = place; next && *place == '`' && (next = strstr(next, at));)
        place = next += sizeof at - 1;
    for (const char *start = text; place; start = node) {
        VT_SCOPED char *head = vt_strndup(start, (size_t)(end - start));
        unsigned used = vt_frame_text_columns(head) + (unsigned)(sizeof from - 1);
        VT_SCOPED char *rest = fitted(place, width > used ? width - used : 0, true);
        size_t length = strlen(rest);
        if (length && (length < 3 || strcmp(rest + length - 3, "...") != 0))
            return vt_formatted("%s%s%s", head, from, rest);
        if (start == node)
            return vt_strdup(head);
    }
    return vt_strdup(node);
}

char *vt_frame_text_fit(const char *text, unsigned width) {
    static const char called[] = ", called by ", by[] = "called by ", in[] = "in backward of ";
    const char *caller = strstr(text, called);
    if (vt_frame_text_columns(text) <= width)
        return vt_strdup(text);
    if (!strncmp(text, in, sizeof in - 1))
        return fit_backward(text, text + sizeof in - 1, width);
    if (!strncmp(text, by, sizeof by - 1) && width > sizeof by) {
        VT_SCOPED char *rest = vt_frame_text_fit(text + sizeof by - 1, width - sizeof by + 1);
        return vt_formatted("%s%s", by, rest);
    }
    if (!caller || width < 2 * sizeof called)
        return fitted(text, width, strstr(text, ".py:") != NULL);
    VT_SCOPED char *whole = vt_strndup(text, (size_t)(caller - text)),
                   *first = vt_frame_text_fit(whole, width / 2);
    unsigned used = vt_frame_text_columns(first) + (unsigned)(sizeof called - 1);
    VT_SCOPED char *rest = vt_frame_text_fit(caller + sizeof called - 1, width - used);
    return vt_formatted("%s%s%s", first, called, rest);
}

char *vt_frame_text(const struct vt_process *p, const struct vt_frame *frame, unsigned width) {
    if (!frame)
        return vt_strdup(p->evicted_sites ? "other call sites" : "unknown (no stack)");
    VT_SCOPED char *file = file_of(p, frame), *function = vt_frame_text_function(frame);
    VT_SCOPED_STRING text = {0};
    if (file) {
        vt_string_add(&text, file);
        if (frame->line)
            vt_string_format(&text, ":%u", frame->line);
        if (function)
            vt_string_format(&text, " in %s", function);
    } else if (function && frame->module) {
        vt_string_format(&text, "%s in %s", function, vt_basename(frame->module));
    } else if (frame->module) {
        vt_string_format(&text, "%s+0x%llx", frame->module[0] ? vt_basename(frame->module) : "?",
                         (unsigned long long)frame->offset);
    } else if (function) {
        vt_string_add(&text, function);
    } else {
        vt_string_add(&text, "generated code");
    }
    return fitted(vt_printable(text.text), width, frame->python);
}

/* A line of a file, and the file's modification time: seconds since 1970. */
struct source_line {
    const char *text;
    uint64_t changed;
};

static void line_fields(struct vt_reply *reply, void *what) {
    struct source_line *line = what;
    vt_reply_text(reply, &line->text);
    vt_reply_number(reply, &line->changed);
}

/* Returns the text, which the caller frees. NULL: there is no such line. */
static char *read_file(const char *path, uint32_t number, uint64_t *changed) {
    VT_SCOPED_FILE *in = vt_file_stream(path, NULL);
    struct stat st;
    char *line = NULL;
    size_t room = 0;
    ssize_t length = -1;
    if (!in || fstat(fileno(in), &st))
        return NULL;
    *changed = (uint64_t)st.st_mtim.tv_sec;
    for (uint32_t i = 0; i < number && (length = getline(&line, &room, in)) >= 0; i++)
        continue;
    if (length >= 0)
        return line;
    free(line);
    return NULL;
}

/* Reads a frame's line from its file, whose path may be relative to the process's working directory. Free it. NULL: it
 * cannot be read, its file changed after the run began, or the process hides its sources. */
static char *read_line(const struct vt_process *p, const struct vt_frame *frame) {
    VT_SCOPED_STRING path = {0};
    VT_SCOPED char *read = NULL;
    struct source_line line = {.text = NULL};
    if (frame->file[0] != '/' && p->cwd)
        vt_string_format(&path, "%s/", p->cwd);
    vt_string_add(&path, frame->file);
    uint64_t question = vt_hash_bytes(frame->line, path.text, path.length);
    if (p->hides_source)
        return NULL;
    if (!vt_answers_replays(p->answers))
        line.text = read = read_file(path.text, frame->line, &line.changed);
    else if (!vt_answers_find(p->answers, question, line_fields, &line))
        return NULL;
    if (!line.text || (p->started_at && line.changed > p->started_at / 1000000000))
        return NULL;
    vt_answers_keep(p->answers, question, line_fields, &line);
    return vt_strdup(line.text);
}

char *vt_frame_text_source(const struct vt_process *p, const struct vt_frame *frame,
                           unsigned width) {
    if (!frame || !frame->file || !frame->line || width < 8)
        return NULL;
    char *line = frame->source ? vt_strdup(frame->source) : read_line(p, frame);
    if (!line)
        return NULL;
    size_t length = strlen(line);
    while (length > 0 && strchr(" \t\r\n", line[length - 1]))
        line[--length] = 0;
    char *start = line + strspn(line, " \t");
    memmove(line, start, strlen(start) + 1);
    if (!line[0]) {
        free(line);
        return NULL;
    }
    vt_printable(line);
    cut_end(line, width);
    return line;
}

char *vt_text_cut(const char *text, unsigned width) {
    static const char dots[] = "...";
    size_t length = strlen(text), end = 0;
    if (vt_frame_text_columns(text) <= width || width < sizeof dots)
        return vt_strdup(text);
    for (unsigned columns = 0; columns + sizeof dots - 1 < width; columns++) {
        unsigned bytes = vt_utf8_length(text + end, length - end);
        end += bytes ? bytes : 1;
    }
    return vt_formatted("%.*s%s", (int)end, text, dots);
}
